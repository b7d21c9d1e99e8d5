//! Who may dream, and when: several processes at once, numbers of processes that are used again, clocks that are
//! set, hosts without processes, and whatever can lie where the lock is.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "helpers of tests fail as tests do"
)]

use std::collections::BTreeMap;

use memdir_core::dream::{Awake, Dream, DreamOptions, DreamOutcome};
use memdir_core::error::Error;
use memdir_core::flow::{Effect, FailureCode, Outcome};
use memdir_simulation::{
    Attempt, Body, DREAM_LOCK, Folder, PID, Process, Progress, Random, Running, STORE, SimHost,
    at_once, call, dream_lock, dream_store, dream_tree, dreamt_memory, merging, say, turn,
};
use serde_json::{Value, json};

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

fn host() -> SimHost {
    let mut host = SimHost::with_tree(3, dream_tree());
    say(&mut host, merging());
    host
}

/// A lock of this text and age, and what becomes of a dream.
fn beside(body: &str, age: i64, alive: &[u32]) -> (SimHost, Dream) {
    let mut host = host();
    host.processes.extend(alive);
    let now = host.clock_ms;
    host.tree.file(DREAM_LOCK, body).at(now - age);
    let dreamt = host.run(dream_store().dream(at_once())).unwrap();
    (host, dreamt)
}

fn memories(host: &SimHost) -> BTreeMap<String, String> {
    let mut files = Folder::new(&host.tree, STORE).files();
    files.retain(|path, _| path.ends_with(".md"));
    files
}

fn is_model(effect: &Effect) -> bool {
    matches!(effect, Effect::Model { .. })
}

#[test]
fn one_that_is_under_way_is_waited_for() {
    for (body, age, alive) in [
        ("77", MINUTE, vec![77]),
        (" 77\n", HOUR - 1, vec![77]),
        ("77", 1 - HOUR, vec![77]),
        // That of another store object of this process.
        ("1", 0, vec![]),
    ] {
        let (host, dreamt) = beside(body, age, &alive);
        assert_eq!(
            (dreamt.outcome, dreamt.reason),
            (DreamOutcome::Skipped, Some(Awake::Locked)),
            "{body:?}, {age}"
        );
        assert_eq!(
            dream_lock(&host),
            Some((body.to_owned(), host.clock_ms - age))
        );
        assert_eq!(memories(&host), memories(&self::host()));
    }
    assert_eq!(PID, 1);
}

#[test]
fn what_is_over_or_nobodys_is_taken() {
    let huge = "7".repeat(3 * 1024 * 1024);
    for (body, age, alive) in [
        ("77", MINUTE, vec![]),
        // The number is another process's by now.
        ("77", HOUR, vec![77]),
        ("77", 400 * DAY, vec![77]),
        ("77", -HOUR, vec![77]),
        ("", 0, vec![]),
        ("garbage", 0, vec![77]),
        ("77 77", 0, vec![77]),
        ("-77", 0, vec![77]),
        ("\0\u{FFFD}", 0, vec![]),
        (huge.as_str(), 0, vec![77]),
    ] {
        let (host, dreamt) = beside(body, age, &alive);
        assert_eq!(
            (dreamt.outcome, dreamt.improved.len()),
            (DreamOutcome::Done, 2),
            "{body:.20}, {age}"
        );
        assert_eq!(dream_lock(&host), Some((String::new(), host.clock_ms)));
    }
}

#[test]
fn the_time_of_the_lock_is_that_of_the_last_dream() {
    let mut host = host();
    let store = dream_store();
    let ask = |host: &mut SimHost| {
        let dreamt = host.run(store.dream(DreamOptions::default())).unwrap();
        // Sessions are counted again.
        host.clock_ms += 10 * MINUTE;
        dreamt.reason
    };
    let mut wanted = |body: &str, age: i64, reason: Awake| {
        let now = host.clock_ms;
        host.tree.file(DREAM_LOCK, body).at(now - age);
        assert_eq!(ask(&mut host), Some(reason), "{body:?}, {age}");
        assert_eq!(dream_lock(&host), Some((body.to_owned(), now - age)));
    };
    // Claude Code leaves its number there.
    wanted("4711", DAY - 1, Awake::TooSoon);
    wanted("4711", DAY, Awake::FewSessions);
    wanted("", 0, Awake::TooSoon);
    // The clock was set back since: that says nothing.
    wanted("", -1, Awake::FewSessions);
    wanted("", -400 * DAY, Awake::FewSessions);
    // A file that was unpacked without a time.
    wanted("", 20_000 * DAY, Awake::FewSessions);
}

#[test]
fn a_clock_that_is_set_during_a_dream_stops_nobody_for_long() {
    for by in [-400 * DAY, -HOUR, HOUR, 400 * DAY] {
        let mut host = host();
        let mut running = host.start(dream_store().dream(at_once()));
        until(&mut host, &mut running, is_model);
        host.clock_ms += by;
        let dreamt = memdir_simulation::end(&mut host, &mut running).unwrap();
        assert_eq!(dreamt.unwrap().outcome, DreamOutcome::Done, "{by}");
        assert_eq!(dream_lock(&host), Some((String::new(), host.clock_ms)));
        // And back again.
        host.clock_ms -= by;
        let again = host.run(dream_store().dream(at_once())).unwrap();
        assert_eq!(again.outcome, DreamOutcome::Done, "{by}");
    }
}

#[test]
fn whatever_lies_there_leads_nowhere() {
    let secret = "not yours";
    type Put = fn(&mut SimHost);
    let things: [(&str, Put); 5] = [
        ("a link to a file", |host| {
            host.tree.link(DREAM_LOCK, "/etc/secret");
        }),
        ("a link to nothing", |host| {
            host.tree.link(DREAM_LOCK, "/etc/none");
        }),
        ("a link to itself", |host| {
            host.tree.link(DREAM_LOCK, ".consolidate-lock");
        }),
        ("a FIFO", |host| {
            host.tree.put(DREAM_LOCK, Body::Other);
        }),
        ("a folder", |host| {
            host.tree.file(format!("{DREAM_LOCK}/x"), "x");
        }),
    ];
    for (what, put) in things {
        for fails in [false, true] {
            let mut host = host();
            host.tree.file("/etc/secret", secret);
            put(&mut host);
            if fails {
                host.model = Some(Box::new(|_| Attempt::fail(FailureCode::Other)));
            }
            let outside = Folder::new(&host.tree, "/etc").everything();
            let before = memories(&host);
            let dreamt = host.run(dream_store().dream(at_once()));
            assert_eq!(Folder::new(&host.tree, "/etc").everything(), outside);
            assert_eq!(Folder::new(&host.tree, STORE).left_over(), [""; 0]);
            if what == "a folder" {
                // Said, and nothing done.
                assert!(dreamt.is_err(), "{what}: {dreamt:?}");
                assert_eq!(memories(&host), before);
                continue;
            }
            let dreamt = dreamt.unwrap();
            let lock = dream_lock(&host);
            if fails {
                assert_eq!(dreamt.outcome, DreamOutcome::Failed, "{what}");
                assert_eq!((lock, memories(&host)), (None, before), "{what}");
            } else {
                assert_eq!(dreamt.outcome, DreamOutcome::Done, "{what}");
                assert_eq!(lock, Some((String::new(), host.clock_ms)), "{what}");
            }
        }
    }
}

#[test]
fn a_lock_that_cannot_be_read_or_written_is_told() {
    let mut host = host();
    let now = host.clock_ms;
    host.tree.file(DREAM_LOCK, "77").at(now).mode(0);
    let before = memories(&host);
    let error = host.run(dream_store().dream(at_once())).unwrap_err();
    assert!(error.message.contains(".consolidate-lock"), "{error:?}");
    assert_eq!(memories(&host), before);
    // A store that is read-only.
    let mut host = self::host();
    host.tree.node(STORE).unwrap().mode(0o500);
    let error = host.run(dream_store().dream(at_once())).unwrap_err();
    assert_ne!(error.message, "");
    assert_eq!((memories(&host), dream_lock(&host)), (before, None));
}

#[test]
fn where_there_are_no_processes_an_hour_has_to_do() {
    let mut host = host();
    host.pid = None;
    host.processes.clear();
    host.script = Some(Box::new(|effect, _| {
        let asks = matches!(effect, Effect::ProcessAlive { .. });
        asks.then(|| {
            Outcome::Failed(memdir_core::flow::Failure::new(
                FailureCode::Unsupported,
                "no processes",
            ))
        })
    }));
    // One that dies leaves its lock.
    let mut running = host.start(dream_store().dream(at_once()));
    until(&mut host, &mut running, is_model);
    drop(running);
    let (body, _) = dream_lock(&host).unwrap();
    assert_eq!(body, "0");
    let reason = |host: &mut SimHost| host.run(dream_store().dream(at_once())).unwrap().reason;
    assert_eq!(reason(&mut host), Some(Awake::Locked));
    host.clock_ms += HOUR - 1;
    assert_eq!(reason(&mut host), Some(Awake::Locked));
    host.clock_ms += 1;
    assert_eq!(reason(&mut host), None);
    assert_eq!(dream_lock(&host), Some((String::new(), host.clock_ms)));
    // That of a process elsewhere is held to live.
    let now = host.clock_ms;
    host.tree.file(DREAM_LOCK, "77").at(now - HOUR + 1);
    assert_eq!(reason(&mut host), Some(Awake::Locked));
    host.clock_ms += 1;
    assert_eq!(reason(&mut host), None);
}

#[test]
fn a_failure_that_comes_too_late_leaves_the_lock_to_who_has_it() {
    for fails in [false, true] {
        let mut host = host();
        if fails {
            host.model = Some(Box::new(|_| Attempt::fail(FailureCode::Other)));
        }
        let mut running = host.start(dream_store().dream(at_once()));
        until(
            &mut host,
            &mut running,
            |effect| matches!(effect, Effect::Write { path, .. } if path == DREAM_LOCK),
        );
        host.clock_ms += 2 * HOUR;
        let now = host.clock_ms;
        host.processes.insert(77);
        host.tree.file(DREAM_LOCK, "77").at(now);
        // It has read back its own number before that.
        host.script = Some(Box::new({
            let mut is_first = true;
            move |effect, _| {
                let reads = matches!(effect, Effect::Read { path, .. } if path == DREAM_LOCK);
                (reads && std::mem::take(&mut is_first)).then(|| {
                    Outcome::Content(memdir_core::flow::Bytes(PID.to_string().into_bytes()))
                })
            }
        }));
        let dreamt = memdir_simulation::end(&mut host, &mut running).unwrap();
        let wanted = if fails {
            DreamOutcome::Failed
        } else {
            DreamOutcome::Done
        };
        assert_eq!(dreamt.unwrap().outcome, wanted);
        assert_eq!(dream_lock(&host), Some(("77".to_owned(), now)));
    }
}

#[test]
fn a_success_of_somebody_else_is_not_set_back() {
    // One sleeps for hours in the middle; meanwhile another one takes the lock over, and is done with it.
    for prior in [None, Some(10 * DAY)] {
        for fails in [false, true] {
            let mut host = host();
            if fails {
                host.model = Some(Box::new(|_| Attempt::fail(FailureCode::Other)));
            }
            let start = host.clock_ms;
            if let Some(prior) = prior {
                host.tree.file(DREAM_LOCK, "").at(start - prior);
            }
            let mut running = host.start(dream_store().dream(at_once()));
            until(&mut host, &mut running, is_model);
            host.clock_ms += 2 * HOUR;
            let now = host.clock_ms;
            host.tree.overwrite(DREAM_LOCK, "", now);
            host.clock_ms += MINUTE;
            let dreamt = memdir_simulation::end(&mut host, &mut running).unwrap();
            let is_done = dreamt.unwrap().outcome == DreamOutcome::Done;
            assert_eq!(is_done, !fails);
            assert_eq!(dream_lock(&host), Some((String::new(), now)), "{prior:?}");
            let own = Folder::new(&host.tree, STORE).everything();
            assert!(!own.contains_key(".memdir/dream-before.json"), "{own:?}");
        }
    }
}

#[test]
fn one_store_dreams_once_at_a_time() {
    let mut host = host();
    let store = dream_store();
    let mut both = vec![
        host.start(store.dream(at_once())),
        host.start(store.clone().dream(at_once())),
    ];
    let mut ended = Vec::new();
    while !both.is_empty() {
        both.retain_mut(|running| match host.step(running) {
            Progress::Ended(result) => {
                ended.push(result.unwrap());
                false
            }
            _ => true,
        });
    }
    let outcomes: Vec<_> = ended.iter().map(|it| (it.outcome, it.reason)).collect();
    let locked = (DreamOutcome::Skipped, Some(Awake::Locked));
    assert_eq!(outcomes, [locked, (DreamOutcome::Done, None)]);
    // Not for ever, however the one before has ended.
    host.model = Some(Box::new(|_| Attempt::fail(FailureCode::Other)));
    for _ in 0..2 {
        let failed = host.run(store.dream(at_once())).unwrap();
        assert_eq!(failed.outcome, DreamOutcome::Failed);
    }
    let mut running = host.start(store.dream(at_once()));
    until(&mut host, &mut running, is_model);
    drop(running);
    host.clock_ms += HOUR;
    say(&mut host, Vec::new());
    let again = host.run(store.dream(at_once())).unwrap();
    assert_eq!(again.outcome, DreamOutcome::Done);
}

fn until(host: &mut SimHost, running: &mut Running<Dream>, fits: impl Fn(&Effect) -> bool) {
    loop {
        let before = host.trace.len();
        match host.step(running) {
            Progress::Working => {}
            other => panic!("it ended: {other:?}"),
        }
        let done = host.trace.get(before);
        if done.is_some_and(|traced| fits(&traced.effect)) {
            return;
        }
    }
}

/// What a model does for one of two: each writes its own memory and entry, removes its own, and both write one.
fn turns(who: usize) -> Vec<Value> {
    let file = |tool: &str, path: &str| call(tool, &json!({"file_path": format!("/mem/{path}")}));
    let write = |path: &str, name: &str| {
        let input =
            json!({"file_path": format!("/mem/{path}"), "content": dreamt_memory(name, "")});
        call("Write", &input)
    };
    let (mine, gone) = [("x", "a.md"), ("y", "b.md")][who];
    let entry = format!("- [C](c.md) — c\n- [{mine}]({mine}.md) — {mine}\n");
    vec![
        turn(&[
            file("Read", "MEMORY.md"),
            file("Read", "c.md"),
            file("Read", gone),
        ]),
        turn(&[
            write(&format!("{mine}.md"), mine),
            file("Delete", gone),
            write("c.md", &format!("c of {mine}")),
            call(
                "Edit",
                &json!({"file_path": "/mem/MEMORY.md",
                "old_string": "- [C](c.md) — c\n", "new_string": entry}),
            ),
        ]),
    ]
}

fn two_at_once(seed: u64, has_processes: bool) -> [Result<Dream, Error>; 2] {
    let mut random = Random::new(seed);
    let mut host = SimHost::with_tree(seed, dream_tree());
    let before = memories(&host);
    let mut sides = [turns(0).into_iter(), turns(1).into_iter()];
    // Who asks is known by what it was answered last.
    let asking = std::rc::Rc::new(std::cell::Cell::new(0));
    let who = std::rc::Rc::clone(&asking);
    host.model = Some(Box::new(move |_| {
        let turn = sides.get_mut(who.get()).and_then(Iterator::next);
        Attempt::answer(turn.unwrap_or(json!("Done.")).to_string())
    }));
    let mut running: Vec<Option<Running<Dream>>> = (0..2)
        .map(|number| {
            let pid = has_processes.then_some(11 + number);
            let process = Process::new(pid, seed + u64::from(number));
            Some(host.start_in(process, dream_store().dream(at_once())))
        })
        .collect();
    let mut ended = [None, None];
    // At a random pace, so that often one sees what the other has just done.
    while ended.iter().any(Option::is_none) {
        let number = usize::from(random.percent(50));
        for _ in 0..=random.below(if seed.is_multiple_of(2) { 3 } else { 40 }) {
            let Some(flow) = running.get_mut(number).and_then(Option::as_mut) else {
                break;
            };
            asking.set(number);
            match host.step(flow) {
                Progress::Working => {}
                Progress::Ended(result) => {
                    *ended.get_mut(number).unwrap() = Some(result);
                    *running.get_mut(number).unwrap() = None;
                }
                Progress::Crashed => panic!("{seed}"),
            }
        }
    }
    let ended = ended.map(Option::unwrap);
    let what = format!("seed {seed}: {ended:?}");
    let files = memories(&host);
    let index = files.get("MEMORY.md").cloned().unwrap_or_default();
    assert_eq!(
        Folder::new(&host.tree, STORE).left_over(),
        [""; 0],
        "{what}"
    );
    let mut done = 0;
    for (number, result) in ended.iter().enumerate() {
        let dreamt = result
            .as_ref()
            .unwrap_or_else(|error| panic!("{seed}: {error:?}"));
        let (mine, gone) = [("x.md", "a.md"), ("y.md", "b.md")][number];
        let is_done = dreamt.outcome == DreamOutcome::Done;
        done += usize::from(is_done);
        assert!(is_done || dreamt.reason == Some(Awake::Locked), "{what}");
        let linked = |path: &str| index.contains(&format!("({path})"));
        assert_eq!(
            (files.contains_key(mine), linked(mine)),
            (is_done, is_done),
            "{what}: {files:?}"
        );
        // Where the other one had written what it was merged into, it stays.
        let stays = !is_done || dreamt.conflicts.iter().any(|path| path == gone);
        assert_eq!(
            (files.contains_key(gone), linked(gone)),
            (stays, stays),
            "{what}: {files:?}"
        );
    }
    assert!(done > 0, "{what}");
    for path in ["c.md", "pinned.md"] {
        assert!(index.contains(&format!("({path})")), "{what}: {index}");
    }
    // All of it comes back, the last one first.
    for _ in 0..done {
        let undone = host.run(dream_store().undo_dream()).unwrap();
        assert!(undone.id.is_some(), "{what}");
    }
    let mut back = memories(&host);
    if done == 2 {
        // The order of entries that both have moved is not what counts.
        let lines = |text: &str| {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        let index = back.remove("MEMORY.md").unwrap();
        assert_eq!(lines(&index), lines(&before["MEMORY.md"]), "{what}");
        back.insert("MEMORY.md".to_owned(), before["MEMORY.md"].clone());
    }
    assert_eq!(back, before, "{what}");
    ended
}

#[test]
fn two_processes_at_once() {
    for has_processes in [true, false] {
        let (mut one, mut both) = (0, 0);
        for seed in 0..150 {
            let ended = two_at_once(seed, has_processes);
            let is_done = |result: &&Result<Dream, Error>| matches!(result, Ok(dreamt) if dreamt.outcome == DreamOutcome::Done);
            match ended.iter().filter(is_done).count() {
                1 => one += 1,
                _ => both += 1,
            }
        }
        assert!(one > 0 && both > 0, "{one} and {both}");
    }
}
