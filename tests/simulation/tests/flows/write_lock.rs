//! The lock: whatever lies in its place is taken over after five seconds of the waiter's own sleeps,
//! or at once from the dead, and not before; nobody waits longer than thirty; clocks do not matter.

#![expect(clippy::indexing_slicing, reason = "helpers of tests fail as tests do")]

use std::cell::Cell;
use std::rc::Rc;

use memdir_core::ErrorCode;
use memdir_core::flow::{Effect, Failure, FailureCode, Outcome};
use memdir_core::limits::{LOCK_MAX_PAUSE_MS, LOCK_TAKEOVER_MS, LOCK_WAIT_MS};
use memdir_core::store::{OpenOptions, Store};
use memdir_core::write::{WriteOutcome, WriteResult};
use memdir_simulation::{
    Act, Body, Ended, FaultKind, Folder, PID, Process, Progress, Running, STORE, SimHost, Traced,
    Tree, end, written_tree,
};

const LOCK: &str = "/mem/.memdir/lock";
const HOST_ID: &str = memdir_simulation::HOST_ID;

fn save() -> Act {
    Act::save("x.md", "x")
}

fn is_look(effect: &Effect) -> bool {
    matches!(effect, Effect::Read { path, .. } if path == LOCK)
}

fn is_taking(effect: &Effect) -> bool {
    matches!(effect, Effect::Rename { from, .. } if from == LOCK)
}

/// How long a writer slept between its first look at the lock and taking it away, and how long in
/// all; none for the first when it took nothing away.
fn slept(trace: &[Traced]) -> (Option<u64>, u64) {
    let (mut since_look, mut in_all, mut taken) = (None, 0, None);
    for Traced { effect, .. } in trace {
        match effect {
            Effect::Sleep { ms } => {
                in_all += ms;
                since_look = since_look.map(|slept: u64| slept + ms);
            }
            effect if is_look(effect) => since_look = since_look.or(Some(0)),
            effect if is_taking(effect) => taken = taken.or(since_look),
            _ => {}
        }
    }
    (taken, in_all)
}

/// Saves where this lies in the place of the lock.
fn save_at(lock: impl Fn(&mut Tree)) -> (Ended, SimHost) {
    let mut tree = written_tree();
    lock(&mut tree);
    let mut host = SimHost::with_tree(1, tree);
    let ended = host.run(save().flow(STORE));
    (ended, host)
}

fn lock_of(host_id: &str, pid: u32) -> String {
    format!("{{\"token\":\"0123456789abcdef\",\"hostId\":\"{host_id}\",\"pid\":{pid}}}")
}

/// Goes on until this holds, which it must before the flow has ended.
fn step_until(
    host: &mut SimHost,
    flow: &mut Running<WriteResult>,
    holds: impl Fn(&SimHost) -> bool,
) {
    while !holds(host) {
        assert!(matches!(host.step(flow), Progress::Working));
    }
}

/// The store is written, and clean.
fn assert_written(ended: &Ended, host: &SimHost) {
    let outcome = ended.as_ref().map(|it| it.outcome);
    assert_eq!(outcome, Ok(WriteOutcome::Written));
    let folder = Folder::new(&host.tree, STORE);
    assert_eq!(folder.left_over(), [""; 0]);
    assert!(folder.files()["MEMORY.md"].contains("(x.md)"));
}

#[test]
fn whatever_lies_there_is_taken_over_after_five_seconds() {
    let alive = lock_of(HOST_ID, PID);
    let contents: Vec<Vec<u8>> = vec![
        Vec::new(),
        b"garbage".to_vec(),
        b"\xff\xfe\0".to_vec(),
        b"{".to_vec(),
        b"[]".to_vec(),
        b"null".to_vec(),
        vec![b'x'; 10 * 1024 * 1024],
        lock_of("another-host", 4_000).into_bytes(),
        lock_of(HOST_ID, 0).into_bytes(),
        format!("{{\"hostId\":\"{HOST_ID}\",\"pid\":-1}}").into_bytes(),
        format!("{{\"hostId\":\"{HOST_ID}\",\"pid\":99999999999}}").into_bytes(),
        format!("{{\"hostId\":\"{HOST_ID}\",\"pid\":\"4000\"}}").into_bytes(),
        format!("{{\"hostId\":\"{HOST_ID}\"}}").into_bytes(),
        alive.into_bytes(),
    ];
    for content in contents {
        let (ended, host) = save_at(|tree| {
            tree.file(LOCK, &content);
        });
        let shown = String::from_utf8_lossy(&content[..content.len().min(80)]).into_owned();
        assert_written(&ended, &host);
        let (taken, in_all) = slept(&host.trace);
        let taken = taken.unwrap();
        assert!(taken >= LOCK_TAKEOVER_MS, "{shown}: {taken} ms");
        assert!(
            in_all < LOCK_TAKEOVER_MS + LOCK_MAX_PAUSE_MS,
            "{shown}: {in_all} ms"
        );
        // It is compared by its beginning.
        assert!(host.reads[LOCK] <= 4_096, "{shown}");
    }
}

#[test]
fn what_is_no_readable_file_is_taken_over_too() {
    let set_ups: [fn(&mut Tree); 5] = [
        |tree| {
            tree.put(LOCK, Body::Folder);
        },
        |tree| {
            tree.link(LOCK, "/nowhere");
        },
        |tree| {
            tree.link(LOCK, "/mem/b.md");
        },
        |tree| {
            tree.file(LOCK, "secret").mode(0);
        },
        |tree| {
            tree.put(LOCK, Body::Other);
        },
    ];
    for set_up in set_ups {
        let (ended, host) = save_at(set_up);
        assert_written(&ended, &host);
        assert!(slept(&host.trace).0.unwrap() >= LOCK_TAKEOVER_MS);
        // What a link leads to is left alone.
        assert!(Folder::new(&host.tree, STORE).files()["b.md"].ends_with("\nb\n"));
    }
}

#[test]
fn a_folder_with_something_in_it_is_moved_aside_and_kept() {
    let (ended, host) = save_at(|tree| {
        tree.file(format!("{LOCK}/precious"), "kept");
    });
    assert_eq!(ended.unwrap().outcome, WriteOutcome::Written);
    assert!(slept(&host.trace).0.unwrap() >= LOCK_TAKEOVER_MS);
    let everything = Folder::new(&host.tree, STORE).everything();
    assert!(everything.values().any(|content| content == "kept"));
    assert!(!host.tree.nodes().contains_key(LOCK.as_bytes()));
}

#[test]
fn the_lock_of_a_dead_process_is_taken_over_at_once() {
    let (ended, host) = save_at(|tree| {
        tree.file(LOCK, lock_of(HOST_ID, 4_000));
    });
    assert_written(&ended, &host);
    assert_eq!(slept(&host.trace), (Some(0), 0));
}

// Numbers of processes say nothing on another machine, or where there are none.
#[test]
fn only_a_process_of_this_machine_can_be_dead() {
    let (_, host) = save_at(|tree| {
        tree.file(LOCK, lock_of("another-host", 4_000));
    });
    let asked = |traced: &Traced| matches!(traced.effect, Effect::ProcessAlive { .. });
    assert!(!host.trace.iter().any(asked));
    // A host that cannot say whether a process lives leaves it the benefit of the doubt.
    let mut tree = written_tree();
    tree.file(LOCK, lock_of(HOST_ID, 4_000));
    let mut host = SimHost::with_tree(1, tree);
    host.script = Some(Box::new(|effect, _| {
        matches!(effect, Effect::ProcessAlive { .. })
            .then(|| Outcome::Failed(Failure::new(FailureCode::Unsupported, "no processes")))
    }));
    host.run(save().flow(STORE)).unwrap();
    assert!(slept(&host.trace).0.unwrap() >= LOCK_TAKEOVER_MS);
}

// Sleeps count as they were asked for, whatever the clocks of the machine and of its files say.
#[test]
fn clocks_do_not_matter() {
    let jumps: [fn(i64) -> i64; 4] = [
        |now| now - 60_000,
        |now| now + 3_600_000,
        |_| 0,
        |now| now + i64::from(now % 2 == 0) * 86_400_000 - 43_200_000,
    ];
    for jump in jumps {
        for mtime in [0, i64::from(i32::MAX) * 1_000] {
            let mut tree = written_tree();
            tree.file(LOCK, "garbage").at(mtime).ctime_ms = mtime;
            let mut host = SimHost::with_tree(1, tree);
            let mut flow = host.start(save().flow(STORE));
            let ended = loop {
                match host.step(&mut flow) {
                    Progress::Ended(ended) => break ended,
                    _ => host.clock_ms = jump(host.clock_ms),
                }
            };
            let (taken, in_all) = slept(&host.trace);
            assert!(taken.unwrap() >= LOCK_TAKEOVER_MS, "{taken:?}");
            assert!(in_all < LOCK_TAKEOVER_MS + LOCK_MAX_PAUSE_MS, "{in_all}");
            assert_written(&ended, &host);
        }
    }
    // A host that cannot tell the time at all.
    let mut tree = written_tree();
    tree.file(LOCK, "garbage");
    let mut host = SimHost::with_tree(1, tree);
    host.script = Some(Box::new(|effect, _| {
        matches!(effect, Effect::Now)
            .then(|| Outcome::Failed(Failure::new(FailureCode::Unsupported, "no clock")))
    }));
    let ended = host.run(save().flow(STORE));
    assert_written(&ended, &host);
}

/// A machine on which the lock is another one each time so many effects were performed.
fn busy(every: usize) -> SimHost {
    let mut tree = written_tree();
    tree.file(LOCK, "0");
    let mut host = SimHost::with_tree(1, tree);
    let number = Rc::new(Cell::new(0_usize));
    host.script = Some(Box::new(move |_, tree| {
        number.set(number.get() + 1);
        if number.get().is_multiple_of(every) {
            tree.file(LOCK, format!("{}", number.get()));
        }
        None
    }));
    host
}

#[test]
fn a_lock_that_changes_hands_is_waited_for_and_never_broken() {
    // A new holder every four seconds or so.
    let mut host = busy(250);
    let error = host.run(save().flow(STORE)).unwrap_err();
    assert_eq!(error.code, ErrorCode::Busy);
    assert!(error.message.contains(".memdir/lock"), "{error}");
    let (taken, in_all) = slept(&host.trace);
    assert_eq!(taken, None);
    assert!(in_all >= LOCK_WAIT_MS, "{in_all}");
    assert!(in_all < LOCK_WAIT_MS + LOCK_MAX_PAUSE_MS, "{in_all}");
    let files = Folder::new(&host.tree, STORE).files();
    assert!(!files.contains_key("x.md"));
}

// The holder was faster: what was moved away is another lock than the one that was looked at.
#[test]
fn a_lock_that_changed_in_the_last_moment_is_put_back() {
    let mut tree = written_tree();
    tree.file(LOCK, lock_of(HOST_ID, 4_000));
    let mut host = SimHost::with_tree(1, tree);
    let live = lock_of("another-host", 7);
    let put = live.clone();
    let mut done = false;
    host.script = Some(Box::new(move |effect, tree| {
        if !done && is_taking(effect) {
            done = true;
            tree.file(LOCK, &put);
        }
        None
    }));
    let mut flow = host.start(save().flow(STORE));
    step_until(&mut host, &mut flow, |host| {
        let last = host.trace.last();
        last.is_some_and(|it| matches!(it.effect, Effect::Sleep { .. }))
    });
    let everything = Folder::new(&host.tree, STORE).everything();
    assert_eq!(everything[".memdir/lock"], live);
    // Its five seconds begin anew.
    let ended = end(&mut host, &mut flow).unwrap();
    assert_written(&ended, &host);
    assert!(slept(&host.trace).1 >= LOCK_TAKEOVER_MS);
}

// Looks do not add up over different holders.
#[test]
fn five_seconds_begin_anew_with_every_holder() {
    let mut host = busy(250);
    let mut flow = host.start(save().flow(STORE));
    step_until(&mut host, &mut flow, |host| host.trace.len() >= 600);
    let changed = host.trace.len();
    host.script = None;
    let ended = end(&mut host, &mut flow).unwrap();
    assert_written(&ended, &host);
    let (taken, _) = slept(&host.trace[changed..]);
    // It has seen the last one for at most the hundred effects before.
    assert!(
        taken.unwrap() > LOCK_TAKEOVER_MS - 100 * LOCK_MAX_PAUSE_MS,
        "{taken:?}"
    );
}

#[test]
fn a_full_or_read_only_disk_is_said_at_once() {
    for (code, expected) in [
        (FailureCode::NoSpace, ErrorCode::NoSpace),
        (FailureCode::ReadOnly, ErrorCode::ReadOnly),
        (FailureCode::Permission, ErrorCode::Permission),
    ] {
        for dead in [false, true] {
            let mut tree = written_tree();
            if dead {
                tree.file(LOCK, lock_of(HOST_ID, 4_000));
            }
            let before = Folder::new(&tree, STORE).files();
            let mut host = SimHost::with_tree(1, tree);
            host.script = Some(Box::new(move |effect, tree| {
                let is_there = tree.nodes().contains_key(LOCK.as_bytes());
                let fails = match effect {
                    // A name that is taken is said first, also there.
                    Effect::Write { path, .. } => path != LOCK || !is_there,
                    Effect::MakeDir { .. } | Effect::Link { .. } => true,
                    Effect::Rename { .. } | Effect::Remove { .. } => code != FailureCode::NoSpace,
                    _ => false,
                };
                fails.then(|| Outcome::Failed(Failure::new(code, "the disk")))
            }));
            let ended = host.run(save().flow(STORE));
            assert_eq!(ended.unwrap_err().code, expected, "{code:?} {dead}");
            assert_eq!(Folder::new(&host.tree, STORE).files(), before);
            assert_eq!(slept(&host.trace).1, 0);
            // What is there of a dead writer stays where nothing can be removed.
            if !dead || code == FailureCode::NoSpace {
                assert_eq!(Folder::new(&host.tree, STORE).left_over(), [""; 0]);
            }
        }
    }
}

// The next holder removes what the one before it has staged, before it reads anything.
#[test]
fn what_others_staged_goes_before_anything_is_read() {
    let mut tree = written_tree();
    let staged = [
        "write-00-0.memdir-tmp",
        "write-00-1.memdir-tmp",
        "lock.00.memdir-tmp",
    ];
    for name in staged {
        tree.file(format!("/mem/.memdir/{name}"), "staged");
    }
    let mut host = SimHost::with_tree(1, tree);
    host.run(save().flow(STORE)).unwrap();
    let at = |fits: &dyn Fn(&Effect) -> bool| host.trace.iter().position(|it| fits(&it.effect));
    let read = at(
        &|effect| matches!(effect, Effect::Read { path, .. } | Effect::Lstat { path } if path.ends_with(".md")),
    );
    for name in staged {
        let removed =
            at(&|effect| matches!(effect, Effect::Remove { path, .. } if path.ends_with(name)));
        assert!(removed.unwrap() < read.unwrap(), "{name}");
    }
    // A temporary file of somebody who needs no lock stays until it is surely left behind.
    for (age, stays) in [(59_999, true), (60_000, false), (-1_000, true)] {
        let mut tree = written_tree();
        let path = "/mem/.memdir/uses.json.00.memdir-tmp";
        let mut host = SimHost::new(1);
        tree.file(path, "{}").at(host.clock_ms - age);
        host.tree = tree;
        host.run(save().flow(STORE)).unwrap();
        assert_eq!(
            host.tree.nodes().contains_key(path.as_bytes()),
            stays,
            "{age}"
        );
    }
}

#[test]
fn the_lock_says_who_has_it() {
    for (pid, shown) in [(Some(7), "7"), (None, "null")] {
        let mut host = SimHost::with_tree(1, written_tree());
        let mut flow = host.start_in(Process::new(pid, 3), save().flow(STORE));
        step_until(&mut host, &mut flow, |host| {
            host.tree.nodes().contains_key(LOCK.as_bytes())
        });
        let everything = Folder::new(&host.tree, STORE).everything();
        let lock: serde_json::Value = serde_json::from_str(&everything[".memdir/lock"]).unwrap();
        assert_eq!(lock["hostId"], HOST_ID);
        assert_eq!(lock["pid"].to_string(), shown);
        assert_eq!(lock["token"].as_str().unwrap().len(), 16);
        let node = &host.tree.nodes()[LOCK.as_bytes()];
        assert_eq!(node.mode, 0o600);
        end(&mut host, &mut flow).unwrap().unwrap();
    }
}

// Flows of one store wait for each other without asking for the lock.
#[test]
fn flows_of_one_store_pass_a_gate() {
    let store = Store::new(OpenOptions {
        directory: Some(STORE.to_owned()),
        ..Default::default()
    });
    let mut host = SimHost::with_tree(1, written_tree());
    let mut flows: Vec<_> = (0..4)
        .map(|n| host.start(Act::save(&format!("n{n}.md"), &format!("n{n}")).of(&store)))
        .collect();
    let mut left = flows.len();
    let mut ended = [false; 4];
    while left > 0 {
        for (flow, ended) in flows.iter_mut().zip(&mut ended) {
            if !*ended && let Progress::Ended(result) = host.step(flow) {
                assert_eq!(result.unwrap().outcome, WriteOutcome::Written);
                *ended = true;
                left -= 1;
            }
        }
    }
    let refused = |it: &&Traced| {
        matches!(&it.effect, Effect::Write { path, .. } if path == LOCK)
            && matches!(it.outcome, Some(Outcome::Failed(_)))
    };
    assert_eq!(host.trace.iter().filter(refused).count(), 0);
    let files = Folder::new(&host.tree, STORE).files();
    assert!((0..4).all(|n| files["MEMORY.md"].contains(&format!("(n{n}.md)"))));
}

// A flow that died inside the gate leaves it open.
#[test]
fn a_dead_flow_opens_the_gate() {
    let store = Store::new(OpenOptions {
        directory: Some(STORE.to_owned()),
        ..Default::default()
    });
    for at in 0.. {
        let mut host = SimHost::with_tree(1, written_tree()).with_fault(at, FaultKind::Crash);
        if host.run_to_end(Act::save("x.md", "x").of(&store)).is_some() {
            break;
        }
        host.faults.clear();
        host.processes.clear();
        let ended = host.run(Act::save("y.md", "y").of(&store));
        assert_eq!(ended.unwrap().outcome, WriteOutcome::Written, "{at}");
    }
}
