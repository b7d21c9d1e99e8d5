//! Three writers, each in a process of its own, in an order that a seed decides: sometimes one
//! effect each, sometimes one of them until it is done while the others are held up for longer than
//! the lock is waited for; some die. What is there in the end is what some order gives, of the dead
//! whole, in part or not at all. `MEMDIR_SEEDS` says how many seeds there are, `MEMDIR_SEED` where
//! they begin.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests fail as tests do"
)]

use crate::common::seeds;
use memdir_core::flow::Effect;
use memdir_core::write::WriteResult;
use memdir_simulation::{
    Act, Ended, FaultKind, Folder, Process, Progress, Random, Running, STORE, Serial, SimHost,
    Traced, Tree, end, hash_of, written_tree,
};

const PATHS: [&str; 2] = ["a.md", "x.md"];

/// The store after `x.md` was saved and forgotten again, so that both can be undone or saved.
fn tree() -> Tree {
    let mut host = SimHost::with_tree(3, written_tree());
    host.clock_ms -= 3_600_000;
    for act in [Act::save("x.md", "before"), Act::forget("x.md")] {
        host.run(act.flow(STORE)).unwrap();
    }
    host.tree
}

fn acts(tree: &Tree) -> Vec<Act> {
    let mut acts = Vec::new();
    for path in PATHS {
        acts.extend(["one", "two"].map(|word| Act::save(path, word)));
        acts.push(Act::forget(path));
        acts.push(Act::undo(path));
    }
    acts.push(Act::save("a.md", "three").expecting(&hash_of(tree, "a.md").unwrap()));
    acts.push(Act::save("x.md", "three").expecting("absent"));
    acts.push(Act::save("y.md", "y"));
    acts
}

struct Writers {
    host: SimHost,
    running: Vec<Running<WriteResult>>,
    ends: Vec<Option<Ended>>,
    left: Vec<usize>,
    /// One of them may wait for the other.
    random: Random,
}

impl Writers {
    fn run(&mut self) {
        while !self.left.is_empty() {
            let at = usize::try_from(self.random.below(self.left.len() as u64)).unwrap();
            // Long enough for a takeover now and then.
            let steps = match self.random.below(100) {
                0..60 => 1 + self.random.below(3),
                60..95 => 1 + self.random.below(25),
                _ => u64::MAX,
            };
            for _ in 0..steps {
                let who = self.left[at];
                match self.host.step(&mut self.running[who]) {
                    Progress::Working => continue,
                    Progress::Ended(result) => self.ends[who] = Some(result),
                    Progress::Crashed => {}
                }
                self.left.remove(at);
                break;
            }
        }
    }
}

fn one_seed(seed: u64, tree: &Tree, acts: &[Act], serial: &mut Serial<'_>) -> bool {
    let mut random = Random::new(seed);
    let mut host = SimHost::with_tree(seed, tree.clone()).timeless();
    if random.percent(30) {
        let at = usize::try_from(random.below(90)).unwrap();
        let kinds = [FaultKind::Crash, FaultKind::Tear];
        host = host.with_fault(at, kinds[usize::from(random.percent(50))]);
    }
    let draw = |random: &mut Random| usize::try_from(random.below(acts.len() as u64)).unwrap();
    let chosen: Vec<usize> = (0..3).map(|_| draw(&mut random)).collect();
    let running = chosen.iter().zip(11_u32..).map(|(act, pid)| {
        host.start_in(
            Process::new(Some(pid), seed ^ u64::from(pid)),
            acts[*act].flow(STORE),
        )
    });
    let running = running.collect();
    let mut writers = Writers {
        host,
        running,
        ends: vec![None, None, None],
        left: vec![0, 1, 2],
        random,
    };
    writers.run();
    let Writers { mut host, ends, .. } = writers;

    let show = |host: &SimHost| {
        let asked: Vec<_> = chosen.iter().map(|act| &acts[*act]).collect();
        let everything = Folder::new(&host.tree, STORE).everything();
        format!("seed {seed}\n{asked:#?}\n{ends:#?}\n{everything:#?}")
    };
    let ended: Vec<_> = chosen
        .iter()
        .copied()
        .zip(ends.iter().map(Option::as_ref))
        .collect();
    assert!(serial.explains(&ended, &host.tree), "{}", show(&host));
    // Whatever became of it, what was there before is somewhere.
    let everything = Folder::new(tree, STORE).everything();
    for (path, content) in everything {
        let is_memory = path.ends_with(".bytes") || PATHS.contains(&path.as_str());
        let is_kept = Folder::new(&host.tree, STORE).holds(&content);
        assert!(!is_memory || is_kept, "{path} is gone: {}", show(&host));
    }
    // The next writer gets the lock and clears away what the dead have left.
    let next = Act::save("z.md", "z").flow(STORE);
    let mut next = host.start_in(Process::new(Some(99), 99), next);
    let before = host.clock_ms;
    host.faults.clear();
    end(&mut host, &mut next).unwrap().unwrap();
    assert!(host.clock_ms - before < 5_100, "{}", show(&host));
    assert_eq!(
        Folder::new(&host.tree, STORE).left_over(),
        [""; 0],
        "{}",
        show(&host)
    );
    // Whether a lock was taken over from somebody who lived.
    let took = |traced: &Traced| matches!(&traced.effect, Effect::Rename { from, .. } if from.ends_with("/lock"));
    ends.iter().all(Option::is_some) && host.trace.iter().any(took)
}

#[test]
fn three_writers_leave_what_some_order_gives() {
    let tree = tree();
    let acts = acts(&tree);
    let mut serial = Serial::new(STORE, &tree, &acts);
    let seeds = seeds(10_000);
    let taken = seeds
        .clone()
        .filter(|seed| one_seed(*seed, &tree, &acts, &mut serial))
        .count();
    assert!(taken > seeds.count() / 4, "{taken}");
}
