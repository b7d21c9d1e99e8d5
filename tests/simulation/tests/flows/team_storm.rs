//! Teammates who edit and sync at once, over a line that loses, delays and repeats, and whose processes
//! die: when the storm is over, all folders agree with the server, and every edit ever made is in the
//! server's history or kept where it was made. `MEMDIR_SEEDS` says how many seeds there are, `MEMDIR_SEED`
//! where they begin.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests fail as tests do"
)]

use std::collections::BTreeSet;

use crate::common::seeds;
use memdir_core::store::Store;
use memdir_core::team::TeamSync;
use memdir_simulation::{
    Fault, FaultKind, Folder, Process, Progress, Random, Running, STORE, SimHost, TeamServer, Tree,
    team_files, team_options,
};

const INDEX: &str = "MEMORY.md";
const KEYS: [&str; 4] = ["a.md", "b.md", "deep/c.md", INDEX];

fn store() -> Store {
    Store::new(team_options())
}

/// One teammate: a disk, at most two processes that sync it, and what was written by hand.
struct Mate {
    host: SimHost,
    running: Vec<Running<TeamSync>>,
    /// The last edit of each key, if nobody has seen it yet.
    edits: Vec<(String, String)>,
    lines: BTreeSet<String>,
    processes: u32,
}

impl Mate {
    fn new(seed: u64, server: &TeamServer) -> Self {
        let mut host = SimHost::with_tree(seed, Tree::new());
        let mut network = server.network();
        network.lose_requests = 10;
        network.lose_answers = 10;
        network.repeat_requests = 5;
        network.delay_ms = 50;
        host.network = Some(network);
        Self {
            host,
            running: Vec::new(),
            edits: Vec::new(),
            lines: BTreeSet::new(),
            processes: 10,
        }
    }

    /// An editor writes a new text, or a new line into the index.
    fn edit(&mut self, who: usize, number: usize, key: &str) {
        let old = team_files(&self.host.tree).remove(key);
        let text = if key == INDEX {
            let line = format!("- [m{who}-{number}](m{who}-{number}.md)");
            let text = format!("{}{line}\n", old.unwrap_or_default());
            self.lines.insert(line);
            text
        } else {
            // Whoever writes over their own words has given them up.
            self.edits
                .retain(|(known, text)| known != key || Some(text) != old.as_ref());
            let text = format!("edit {number} of {who}\n");
            self.edits.push((key.to_owned(), text.clone()));
            text
        };
        let now = self.host.clock_ms;
        self.host
            .tree
            .overwrite(format!("/mem/team/{key}"), text, now);
    }

    fn begin(&mut self, random: &mut Random) {
        if self.running.len() >= 2 {
            return;
        }
        self.processes += 1;
        let flow = match random.below(4) {
            0 => store().team_pull(),
            1 => store().team_push(),
            _ => store().team_sync(),
        };
        let process = Process::new(Some(self.processes), random.bits());
        let running = self.host.start_in(process, flow);
        self.running.push(running);
        if random.percent(15) {
            let at = self.host.trace.len() + usize::try_from(random.below(120)).unwrap();
            let kind = [FaultKind::Crash, FaultKind::Tear, FaultKind::Cancel]
                [usize::try_from(random.below(3)).unwrap()];
            self.host.faults.push(Fault { at, kind });
        }
    }

    fn step(&mut self, random: &mut Random) {
        if self.running.is_empty() {
            return;
        }
        let at = usize::try_from(random.below(self.running.len() as u64)).unwrap();
        for _ in 0..=random.below(40) {
            match self.host.step(&mut self.running[at]) {
                Progress::Working => {}
                Progress::Ended(_) | Progress::Crashed => {
                    self.running.remove(at);
                    return;
                }
            }
        }
    }
}

fn one_seed(seed: u64) {
    let mut random = Random::new(seed);
    let server = TeamServer::default();
    let count = 2 + random.below(2);
    let mut mates: Vec<Mate> = (0..count)
        .map(|who| Mate::new(seed ^ (who << 32), &server))
        .collect();
    for number in 0..usize::try_from(20 + random.below(60)).unwrap() {
        let who = usize::try_from(random.below(count)).unwrap();
        match random.below(10) {
            0..2 => {
                let key = KEYS[usize::try_from(random.below(KEYS.len() as u64)).unwrap()];
                mates[who].edit(who, number, key);
            }
            2..4 => mates[who].begin(&mut random),
            _ => mates[who].step(&mut random),
        }
    }
    // The storm is over: those who still run come to their end, then everybody syncs on a good line.
    for mate in &mut mates {
        while !mate.running.is_empty() {
            mate.step(&mut random);
        }
        mate.host.faults.clear();
        mate.host.network = Some(server.network());
    }
    let mut rounds = 0;
    loop {
        let mut quiet = true;
        for mate in &mut mates {
            let result = mate.host.run(store().team_sync());
            assert!(result.is_ok(), "seed {seed}: {result:?}");
            quiet &= result == Ok(TeamSync::default());
        }
        if quiet {
            break;
        }
        rounds += 1;
        assert!(rounds < 12, "seed {seed}: no rest");
    }
    let entries = server.entries();
    for (who, mate) in mates.iter_mut().enumerate() {
        let show = || {
            let everything = Folder::new(&mate.host.tree, STORE).everything();
            format!("seed {seed}, mate {who}\n{entries:#?}\n{everything:#?}")
        };
        assert_eq!(team_files(&mate.host.tree), entries, "{}", show());
        let folder = Folder::new(&mate.host.tree, STORE).everything();
        let kept: BTreeSet<&String> = folder
            .iter()
            // What is written in the very moment in which a file is replaced goes to the trash.
            .filter(|(path, _)| path.ends_with(".bytes"))
            .map(|(_, text)| text)
            .collect();
        for (key, text) in &mate.edits {
            assert!(
                server.took(key, text) || kept.contains(text),
                "{text:?} of {key} is lost: {}",
                show()
            );
        }
        let index = entries.get(INDEX).cloned().unwrap_or_default();
        for line in &mate.lines {
            let times = index.lines().filter(|known| known == line).count();
            let is_kept = kept.iter().any(|text| text.contains(line));
            assert!(
                times == 1 || (times == 0 && is_kept),
                "{line} in the index: {}",
                show()
            );
        }
        // The next writer clears away what the dead have left.
        mate.host.run(store().log("over".to_owned())).unwrap();
        let left = Folder::new(&mate.host.tree, STORE).left_over();
        assert_eq!(left, [""; 0], "seed {seed}, mate {who}");
    }
}

#[test]
fn after_the_storm_all_agree_and_nothing_is_lost() {
    for seed in seeds(10_000) {
        one_seed(seed);
    }
}
