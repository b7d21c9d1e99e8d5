//! Two programs on one disk that dream, with a model that does anything: it removes everything, empties the index,
//! tries to get out, is at what is pinned, gives away secrets, never ends, fails. Meanwhile a person edits the same
//! files, dreams are taken back, cancelled, and processes die. Through all of it nothing that a person has written
//! is lost, what is pinned stays, a dream takes only so much, nothing outside the store changes; and a dream that
//! is taken back at once leaves no trace, whatever has disturbed it. `MEMDIR_SEEDS` says how many seeds there are,
//! `MEMDIR_SEED` where they begin.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests fail as tests do"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use crate::common::{seeds, token};
use memdir_core::ErrorCode;
use memdir_core::dream::{Awake, Dream, DreamOptions, DreamOutcome, DreamUndone};
use memdir_core::error::Error;
use memdir_core::flow::FailureCode;
use memdir_core::store::{Features, OpenOptions, Store};
use memdir_simulation::{
    Attempt, DREAM_LOCK, Fault, FaultKind, Folder, Process, Progress, Random, Running, STORE,
    SimHost, Tree, at_once, call, dream_lock, dream_store_options, turn,
};
use serde_json::{Value, json};

/// How many memories there are in the beginning.
const MANY: u64 = 28;
const PINNED: [&str; 2] = ["pinned.md", "team/pinned.md"];
const OUTSIDE: [&str; 2] = ["/etc", "/code"];
const HOUR: i64 = 3_600_000;

/// A text that is whole when its last line is there.
fn memory(number: u64, more: &str) -> String {
    format!(
        "---\nname: n{number}\ndescription: d{number}\ntype: project\n{more}---\nbody {number}\nend {number}\n"
    )
}

fn pick<T: Copy>(random: &mut Random, from: &[T]) -> T {
    from[usize::try_from(random.below(from.len() as u64)).unwrap()]
}

fn options() -> OpenOptions {
    OpenOptions {
        features: Features {
            team: true,
            dream: true,
            ..Features::default()
        },
        ..dream_store_options()
    }
}

fn tree(random: &mut Random) -> Tree {
    let mut tree = Tree::new();
    let mut index = "# Index\n".to_owned();
    for number in 0..MANY {
        tree.file(format!("/mem/m{number}.md"), memory(number, ""));
        index.push_str(&format!("- [M{number}](m{number}.md) — m{number}\n"));
    }
    for path in PINNED {
        let text = memory(99, "metadata:\n  pinned: true\n");
        tree.file(format!("/mem/{path}"), text);
    }
    tree.file("/mem/deep/c.md", memory(98, ""));
    index.push_str("- [P](pinned.md) — p\n- [C](deep/c.md) — c\n");
    // Of what a model may write, and what is written in strange ways.
    index.push_str("- [gone](new-0.md)\n\n* [M0](m0.md) again");
    tree.file("/mem/MEMORY.md", index);
    tree.file("/mem/team/t.md", memory(97, ""));
    tree.file(
        "/mem/team/MEMORY.md",
        "- [T](t.md) — t\r\n- [P](pinned.md)\r\n",
    );
    tree.file("/code/shop/main.rs", "fn main() {}\n");
    tree.file("/etc/passwd", "root\n");
    tree.link("/code/shop/out", "/etc");
    if random.percent(30) {
        tree.link("/mem/out", "/etc");
    }
    if random.percent(50) {
        tree.file(DREAM_LOCK, "").at(0);
    }
    tree
}

/// The model.
struct Brain {
    random: Random,
    number: u64,
    is_quiet: bool,
}

impl Brain {
    fn next(&mut self) -> u64 {
        self.number += 1;
        self.number
    }

    fn name(&mut self) -> String {
        match self.random.below(12) {
            0 => "deep/c".to_owned(),
            1 => "team/t".to_owned(),
            2 => format!("new-{}", self.random.below(3)),
            _ => format!("m{}", self.random.below(MANY)),
        }
    }

    fn answer(&mut self, request: &str) -> Attempt<String> {
        if self.is_quiet {
            return Attempt::answer("All is in order.".to_owned());
        }
        let request: Value = serde_json::from_str(request).unwrap();
        let count = request["messages"].as_array().unwrap().len();
        let chance = self.random.below(100);
        let took = self.random.below(600_000);
        let said = match chance {
            0..2 => Attempt::hang(),
            2..5 => Attempt::fail(pick(
                &mut self.random,
                &[FailureCode::Network, FailureCode::Other],
            )),
            5..7 => Attempt::answer("{broken".to_owned()),
            _ if chance < 70 && (count < 9 || chance < 12) => {
                let calls: Vec<Value> = (0..1 + self.random.below(3))
                    .flat_map(|_| self.calls())
                    .map(|(tool, input)| call(&tool, &input))
                    .collect();
                Attempt::answer(turn(&calls).to_string())
            }
            _ => Attempt::answer("Better now.".to_owned()),
        };
        // Most answers take no time; some take long enough for a lock to be over.
        said.after(if chance % 10 == 7 { took } else { 0 })
    }

    fn calls(&mut self) -> Vec<(String, Value)> {
        let number = self.next();
        let name = self.name();
        let path = format!("/mem/{name}.md");
        let file = |tool: &str, path: &str| (tool.to_owned(), json!({"file_path": path}));
        let write = |path: &str, content: String| {
            (
                "Write".to_owned(),
                json!({"file_path": path, "content": content}),
            )
        };
        let edit = |path: &str, old: &str, new: String| {
            (
                "Edit".to_owned(),
                json!({"file_path": path, "old_string": old, "new_string": new}),
            )
        };
        let index = "/mem/MEMORY.md";
        let entry = format!("- [n{number}]({name}.md) — n{number}\n");
        let random = &mut self.random;
        match random.below(22) {
            0..3 => vec![file("Read", &path), write(&path, memory(number, ""))],
            3..5 => vec![edit(&path, "\nend ", format!("\nmore {number}\nend "))],
            5..7 => vec![write(
                &format!("/mem/new-{}.md", random.below(3)),
                memory(number, ""),
            )],
            7..9 => vec![file("Delete", &path)],
            9 => {
                let all = 0..MANY;
                all.map(|number| file("Delete", &format!("/mem/m{number}.md")))
                    .collect()
            }
            10 => {
                // An index with fewer entries, or none.
                let kept = random.below(MANY + 1);
                let lines =
                    (0..kept).map(|number| format!("- [M{number}](m{number}.md) — m{number}\n"));
                vec![
                    file("Read", index),
                    write(index, format!("# Index\n{}", lines.collect::<String>())),
                ]
            }
            11 => vec![file("Read", index), write(index, String::new())],
            12 => vec![edit(index, "# Index\n", format!("# Index\n{entry}"))],
            13 => {
                // Removed, and there again.
                let content = memory(number, "");
                vec![file("Delete", &path), write(&path, content)]
            }
            14 => {
                let old = format!("- [M{number}](m{number}.md) — m{number}\n");
                vec![edit(index, &old, String::new())]
            }
            15 => {
                let pinned = format!("/mem/{}", pick(random, &PINNED));
                vec![
                    file("Read", &pinned),
                    write(&pinned, memory(number, "")),
                    edit(&pinned, "body", "no body".to_owned()),
                    file("Delete", &pinned),
                ]
            }
            16 => {
                let outside = pick(
                    random,
                    &[
                        "/etc/passwd",
                        "/etc/new.md",
                        "/mem/../etc/x.md",
                        "/code/shop/main.rs",
                        "/code/shop/new.md",
                        "/mem/.memdir/dreams/x.md",
                        "/mem/.consolidate-lock",
                        "/mem/out/x.md",
                        "/mem/out/passwd",
                        "/code/shop/out/x.md",
                        "../../etc/x.md",
                        "",
                    ],
                );
                vec![
                    write(outside, memory(number, "")),
                    edit(outside, "o", "0".to_owned()),
                    file("Delete", outside),
                ]
            }
            17 => vec![
                write(
                    "/mem/team/s.md",
                    format!("{}{}", memory(number, ""), token()),
                ),
                write(
                    &format!("/mem/team/new-{}.md", random.below(2)),
                    memory(number, ""),
                ),
            ],
            18 => vec![write(
                &format!("/mem/broken-{}.md", random.below(3)),
                format!("---\nname: x\nend {number}\n"),
            )],
            19 => vec![(
                "Bash".to_owned(),
                json!({"command": pick(random, &["rm -r /mem", "rm /mem/m0.md", "cat /etc/passwd", "ls /mem/"])}),
            )],
            20 => vec![
                edit(
                    "/mem/team/MEMORY.md",
                    "- [T]",
                    format!("- [N{number}](new-0.md)\n- [T]"),
                ),
                (
                    "Grep".to_owned(),
                    json!({"pattern": "body", "path": "/mem"}),
                ),
                ("Glob".to_owned(), json!({"pattern": "/mem/**/*.md"})),
            ],
            _ => {
                let tool = pick(random, &["Task", "Write", "Delete", "Grep", ""]);
                let input = pick(random, &[0, 1, 2]);
                let input = [json!("broken"), json!({"file_path": 7}), json!({})][input].clone();
                vec![(tool.to_owned(), input)]
            }
        }
    }
}

enum Call {
    Dream(DreamOptions, Box<Running<Dream>>),
    Undo(Running<DreamUndone>),
}

struct Program {
    pid: u32,
    store: Store,
    calls: Vec<Call>,
}

struct World {
    seed: u64,
    random: Random,
    host: SimHost,
    brain: Arc<Mutex<Brain>>,
    programs: Vec<Program>,
    pids: u32,
    written: Vec<(String, String)>,
    lines: Vec<String>,
    told: String,
    became: BTreeMap<String, usize>,
    outside: Vec<BTreeMap<String, String>>,
    pinned: Vec<Option<String>>,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut host = SimHost::with_tree(seed, tree(&mut random));
        let brain = Arc::new(Mutex::new(Brain {
            random: Random::new(random.bits()),
            number: 100,
            is_quiet: false,
        }));
        let mind = Arc::clone(&brain);
        host.model = Some(Box::new(move |request| {
            mind.lock().unwrap().answer(request)
        }));
        let outside = OUTSIDE.map(|folder| Folder::new(&host.tree, folder).everything());
        let mut world = Self {
            seed,
            random,
            host,
            brain,
            programs: Vec::new(),
            pids: 10,
            written: Vec::new(),
            lines: Vec::new(),
            told: String::new(),
            became: BTreeMap::new(),
            outside: outside.to_vec(),
            pinned: Vec::new(),
        };
        world.pinned = world.pinned_now();
        for _ in 0..2 {
            world.pids += 1;
            world.host.processes.insert(world.pids);
            world.programs.push(Program {
                pid: world.pids,
                store: Store::new(options()),
                calls: Vec::new(),
            });
        }
        world
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.random.below(bound as u64)).unwrap()
    }

    fn memories(&self) -> BTreeMap<String, String> {
        let mut files = Folder::new(&self.host.tree, STORE).files();
        files.retain(|path, _| path.ends_with(".md"));
        files
    }

    fn pinned_now(&self) -> Vec<Option<String>> {
        let files = self.memories();
        PINNED
            .iter()
            .map(|path| files.get(*path).cloned())
            .collect()
    }

    /// A person writes a memory, removes one, or adds a line to the index.
    fn person(&mut self) {
        let number = self.brain.lock().unwrap().next();
        let files = self.memories();
        let now = self.host.clock_ms;
        if self.random.percent(30) {
            // Of a memory that nobody removes: its line would go with it.
            let line = format!("- [person {number}](pinned.md)");
            let old = files.get("MEMORY.md").cloned().unwrap_or_default();
            let end = if old.is_empty() || old.ends_with('\n') {
                ""
            } else {
                "\n"
            };
            let text = format!("{old}{end}{line}\n");
            self.host.tree.overwrite("/mem/MEMORY.md", text, now);
            self.lines.push(line);
            return;
        }
        let path = format!("{}.md", self.brain.lock().unwrap().name());
        // Whoever writes over their own words has given them up.
        let old = files.get(&path);
        self.written
            .retain(|(known, text)| *known != path || Some(text) != old);
        if self.random.percent(15) {
            self.host.tree.take(format!("/mem/{path}"));
            return;
        }
        let text = memory(number, "metadata:\n  by: a person\n");
        self.host.tree.overwrite(format!("/mem/{path}"), &text, now);
        self.written.push((path, text));
    }

    /// A program begins something.
    fn begin(&mut self) {
        let at = self.below(self.programs.len());
        if self.programs[at].calls.len() >= 2 {
            return;
        }
        let kind = self.random.below(20);
        let process = Process::new(Some(self.programs[at].pid), self.random.bits());
        let program = &mut self.programs[at];
        let new = if kind < 4 {
            Call::Undo(self.host.start_in(process, program.store.undo_dream()))
        } else {
            let asked = DreamOptions {
                force: kind != 4,
                dry_run: kind == 5,
                logs: kind == 6,
                ..DreamOptions::default()
            };
            let flow = program.store.dream(asked.clone());
            Call::Dream(asked, Box::new(self.host.start_in(process, flow)))
        };
        program.calls.push(new);
        if self.random.percent(20) {
            let at = self.host.trace.len() + self.below(200);
            let kinds = [
                FaultKind::Crash,
                FaultKind::Tear,
                FaultKind::Cancel,
                FaultKind::Cancel,
            ];
            let kind = pick(&mut self.random, &kinds);
            self.host.faults.push(Fault { at, kind });
        }
    }

    fn step(&mut self) {
        let at = self.below(self.programs.len());
        let count = self.programs[at].calls.len();
        if count == 0 {
            return;
        }
        let which = self.below(count);
        for _ in 0..=self.below(80) {
            match &mut self.programs[at].calls[which] {
                Call::Dream(asked, running) => match self.host.step(running) {
                    Progress::Working => {}
                    Progress::Crashed => return self.crashed(at),
                    Progress::Ended(result) => {
                        let asked = asked.clone();
                        self.programs[at].calls.remove(which);
                        return self.ended(&asked, &result, false);
                    }
                },
                Call::Undo(running) => match self.host.step(running) {
                    Progress::Working => {}
                    Progress::Crashed => return self.crashed(at),
                    Progress::Ended(result) => {
                        self.programs[at].calls.remove(which);
                        return self.taken_back(&result);
                    }
                },
            }
        }
    }

    fn crashed(&mut self, at: usize) {
        self.pids += 1;
        let program = &mut self.programs[at];
        self.host.processes.remove(&program.pid);
        self.host.processes.insert(self.pids);
        program.pid = self.pids;
        program.calls.clear();
        program.store = Store::new(options());
        *self.became.entry("Crashed".to_owned()).or_default() += 1;
    }

    fn ended(&mut self, asked: &DreamOptions, result: &Result<Dream, Error>, disturbed: bool) {
        let seed = self.seed;
        self.told.push_str(&format!("{result:?}"));
        let became = match result {
            Ok(dream) => match dream.reason {
                Some(reason) => format!("{reason:?}"),
                None => format!("{:?}", dream.outcome),
            },
            Err(error) => format!("{:?}", error.code),
        };
        *self.became.entry(became).or_default() += 1;
        let what = || format!("seed {seed}, {asked:?}: {result:?}");
        let dream = match result {
            Ok(dream) => dream,
            Err(error) => {
                let is_expected = if disturbed {
                    !matches!(error.code, ErrorCode::Internal | ErrorCode::Protocol)
                } else {
                    error.code == ErrorCode::Aborted
                };
                assert!(is_expected, "{}", what());
                return;
            }
        };
        assert!(dream.removed.len() <= 20, "{}", what());
        let lists = [&dream.improved, &dream.removed];
        let all: Vec<&String> = lists.into_iter().flatten().collect();
        let unique: BTreeSet<&&String> = all.iter().collect();
        assert_eq!(unique.len(), all.len(), "{}", what());
        assert!(
            all.iter().all(|path| !PINNED.contains(&path.as_str())),
            "{}",
            what()
        );
        assert!(
            all.iter().all(|path| !dream.conflicts.contains(path)),
            "{}",
            what()
        );
        match dream.outcome {
            DreamOutcome::Done => {
                assert!(dream.reason.is_none() && dream.code.is_none(), "{}", what());
                assert!(
                    !asked.dry_run || (all.is_empty() && dream.id.is_none()),
                    "{}",
                    what()
                );
            }
            DreamOutcome::Skipped => {
                assert!(dream.id.is_none() && all.is_empty(), "{}", what());
                let is_locked = dream.reason == Some(Awake::Locked);
                assert!(!asked.dry_run || !is_locked, "{}", what());
                assert!(is_locked || !asked.force, "{}", what());
            }
            DreamOutcome::Failed => {
                // Only where the disk failed twice is there anything to take back.
                let is_nothing = dream.id.is_none() && all.is_empty();
                assert!(is_nothing || disturbed, "{}", what());
                assert!(dream.code.is_some(), "{}", what());
            }
        }
    }

    fn taken_back(&mut self, result: &Result<DreamUndone, Error>) {
        self.told.push_str(&format!("{result:?}"));
        let became = match result {
            Ok(undone) if undone.id.is_none() => "Nothing",
            Ok(undone) if undone.conflicts.is_empty() => "Undone",
            Ok(_) => "Conflicts",
            Err(error) => {
                let what = format!("seed {}: {error:?}", self.seed);
                match error.code {
                    // One takes effect at this moment.
                    ErrorCode::Busy => "Busy",
                    code => {
                        assert_eq!(code, ErrorCode::Aborted, "{what}");
                        "Cancelled"
                    }
                }
            }
        };
        *self.became.entry(became.to_owned()).or_default() += 1;
    }

    fn storm(&mut self) {
        for _ in 0..10 + self.below(50) {
            match self.random.below(20) {
                0..3 => self.person(),
                3..6 => self.begin(),
                6 if self.random.percent(30) => self.host.clock_ms += HOUR,
                7 if self.random.percent(10) => self.host.clock_ms -= HOUR,
                _ => self.step(),
            }
        }
        while self
            .programs
            .iter()
            .any(|program| !program.calls.is_empty())
        {
            self.step();
        }
        self.host.faults.clear();
    }

    fn records(&self) -> BTreeSet<String> {
        let everything = Folder::new(&self.host.tree, STORE).everything();
        let records = everything.into_keys();
        records
            .filter(|path| path.starts_with(".memdir/dreams/"))
            .collect()
    }

    /// A dream that nobody is beside, but something may disturb; what it takes; and then it is taken back.
    fn alone(&mut self) {
        let seed = self.seed;
        // Locks of the dead are over.
        self.host.clock_ms += 2 * HOUR;
        let before = self.memories();
        let records = self.records();
        if self.random.percent(60) {
            let at = self.host.trace.len() + self.below(300);
            let kind = match self.random.below(5) {
                0 => FaultKind::Crash,
                1 => FaultKind::Tear,
                2 => FaultKind::Cancel,
                _ => FaultKind::Fail(pick(
                    &mut self.random,
                    &[
                        FailureCode::Permission,
                        FailureCode::NoSpace,
                        FailureCode::Busy,
                        FailureCode::Other,
                    ],
                )),
            };
            self.host.faults.push(Fault { at, kind });
        }
        let at = self.below(self.programs.len());
        let program = &self.programs[at];
        let process = Process::new(Some(program.pid), self.random.bits());
        let asked = at_once();
        let running = self
            .host
            .start_in(process, program.store.dream(asked.clone()));
        let result = self.host.finish(running);
        self.host.faults.clear();
        match &result {
            None => self.crashed(at),
            Some(result) => self.ended(&asked, result, true),
        }
        let after = self.memories();
        let what = || format!("seed {seed}: {result:#?}\nbefore {before:#?}\nafter {after:#?}");
        let is_index = |path: &str| path.ends_with("MEMORY.md");
        let gone = before
            .keys()
            .filter(|path| !is_index(path) && !after.contains_key(*path));
        assert!(gone.count() <= 20, "{}", what());
        for (index, folder) in [("MEMORY.md", ""), ("team/MEMORY.md", "team/")] {
            let linked = |files: &BTreeMap<String, String>, path: &str| {
                let index = files.get(index).map(String::as_str).unwrap_or_default();
                let below = path.strip_prefix(folder);
                below.is_some_and(|below| index.contains(&format!("({below})")))
            };
            let lost = after
                .keys()
                .filter(|path| linked(&before, path) && !linked(&after, path));
            assert!(lost.count() <= 20, "{}", what());
        }
        if self.records().is_subset(&records) {
            assert_eq!(before, after, "{}", what());
            return;
        }
        // It died before it had changed anything, so that the one before it would be taken back.
        if before == after {
            return;
        }
        let undone = self.host.run(Store::new(options()).undo_dream()).unwrap();
        self.told.push_str(&format!("{undone:?}"));
        assert_eq!(undone.conflicts, [""; 0], "{}", what());
        assert_eq!(self.memories(), before, "{}", what());
        *self.became.entry("Back".to_owned()).or_default() += 1;
    }

    /// All is over: the next dream changes nothing, and clears away what the dead have left.
    fn calm(&mut self) {
        let seed = self.seed;
        self.brain.lock().unwrap().is_quiet = true;
        self.host.clock_ms += 2 * HOUR;
        let before = self.memories();
        let dreamt = self
            .host
            .run(Store::new(options()).dream(at_once()))
            .unwrap();
        assert_eq!(dreamt.outcome, DreamOutcome::Done, "seed {seed}");
        assert_eq!(self.memories(), before, "seed {seed}");
        let lock = Some((String::new(), self.host.clock_ms));
        assert_eq!(dream_lock(&self.host), lock, "seed {seed}");
        let log = Store::new(options()).log("over\nend 0".to_owned());
        self.host.run(log).unwrap();
    }

    fn check(&self) -> bool {
        let seed = self.seed;
        let everything = Folder::new(&self.host.tree, STORE).everything();
        let show = || format!("seed {seed}: {everything:#?}");
        let outside = OUTSIDE.map(|folder| Folder::new(&self.host.tree, folder).everything());
        assert_eq!(outside.to_vec(), self.outside, "seed {seed}: outside");
        assert_eq!(self.pinned_now(), self.pinned, "{}", show());
        let folder = Folder::new(&self.host.tree, STORE);
        assert_eq!(folder.left_over(), [""; 0], "seed {seed}");
        // What is older than the hundred things that the trash holds is gone.
        let is_full = folder.trash().len() > 95;
        for (path, text) in self.written.iter().filter(|_| !is_full) {
            assert!(folder.holds(text), "{path}, {text:?} is lost: {}", show());
        }
        for line in self.lines.iter().filter(|_| !is_full) {
            let kept = everything.iter().any(|(path, text)| {
                (path == "MEMORY.md" || path.starts_with(".memdir/trash/")) && text.contains(line)
            });
            assert!(kept, "{line} is lost: {}", show());
        }
        for (path, text) in folder.files() {
            let is_index = path.ends_with("MEMORY.md");
            let last = text.lines().last().unwrap_or_default();
            let whole = is_index
                || !path.ends_with(".md")
                || path.starts_with("logs/")
                || last.starts_with("end ");
            assert!(whole, "{path} is torn: {}", show());
            let is_team = path.starts_with("team/");
            assert!(!is_team || !text.contains(&token()), "{path}: {}", show());
        }
        let told = format!("{} {:?}", self.told, self.host.events);
        assert!(!told.contains(&token()), "seed {seed}: a secret was told");
        is_full
    }
}

#[test]
fn through_the_storm_nothing_is_lost_and_all_comes_back() {
    let seeds = seeds(5_000);
    let mut became: BTreeMap<String, usize> = BTreeMap::new();
    let mut full = 0_usize;
    for seed in seeds.clone() {
        let mut world = World::new(seed);
        world.storm();
        world.alone();
        world.alone();
        world.calm();
        full += usize::from(world.check());
        for (what, times) in world.became {
            *became.entry(what).or_default() += times;
        }
    }
    // A storm in which something never comes about shows nothing of it.
    let all = [
        "Done",
        "Failed",
        "Locked",
        "Aborted",
        "Crashed",
        "Nothing",
        "Undone",
        "Conflicts",
        "Busy",
        "Back",
    ];
    for what in all.into_iter().filter(|_| seeds.clone().count() >= 500) {
        assert!(became.contains_key(what), "{what} is missing: {became:?}");
    }
    let count = seeds.count();
    assert!(full * 3 <= count.max(10), "{full} of {count} are full");
}
