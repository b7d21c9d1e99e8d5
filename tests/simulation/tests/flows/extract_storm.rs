//! Several programs on one disk whose conversations are extracted at once, by a model that does anything: it
//! writes, removes, calls what there is not, tries to get out, gives away secrets, fails; meanwhile a person
//! edits the same files, and runs are cancelled and processes die. Through all of it nothing outside the store
//! changes, no secret gets out, nothing that a person has written is lost, and each message is shown to one run
//! unless that one failed. `MEMDIR_SEEDS` says how many seeds there are, `MEMDIR_SEED` where they begin.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests fail as tests do"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use crate::common::{seeds, token};
use memdir_core::ErrorCode;
use memdir_core::conversation::Message;
use memdir_core::error::Error;
use memdir_core::extract::{
    AgentRole, ExtractOptions, Extraction, ExtractionOutcome, ExtractionState, Skip,
};
use memdir_core::flow::FailureCode;
use memdir_core::lint::Severity;
use memdir_core::model::{Key, ModelOptions};
use memdir_core::report::ReportCode;
use memdir_core::store::{Features, OpenOptions, Store};
use memdir_simulation::{
    Attempt, Fault, FaultKind, Folder, Network, Process, Progress, Random, Running, STORE, SimHost,
    call, extract_options, extract_tree, results, turn,
};
use serde_json::{Value, json};

const NAMES: [&str; 4] = ["a", "b", "deep/c", "feedback_tests"];
/// Longer than a provider is left alone, milliseconds.
const REST_MS: i64 = 900_001;

/// A text that is whole when its last line is there.
fn memory(number: u64, kind: &str, more: &str) -> String {
    format!(
        "---\nname: n{number}\ndescription: d{number}\ntype: {kind}\n---\nbody {number}{more}\nend {number}\n"
    )
}

fn pick<T: Copy>(random: &mut Random, from: &[T]) -> T {
    from[usize::try_from(random.below(from.len() as u64)).unwrap()]
}

/// What is known of one conversation, by the names of its messages.
#[derive(Debug, Default)]
struct Talk {
    /// Where the cursor can be: several places only after a cancellation.
    cursors: BTreeSet<usize>,
    /// The run under way.
    run: Option<Seen>,
    /// How many messages there were for the calls under way, and for those that have to wait.
    asked: Vec<usize>,
    queued: Vec<usize>,
    /// The messages in which the agent writes a memory itself.
    direct: BTreeSet<usize>,
    /// What each run has tried to write or remove, and what was answered with success.
    tried: BTreeSet<(u64, String)>,
    done: BTreeSet<(u64, String)>,
    /// The calls of the last answer.
    last: Vec<(String, String)>,
}

/// A run as the model sees it: the messages that it was shown, and whether it can be over by now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    number: u64,
    first: usize,
    last: usize,
    can_be_over: bool,
}

/// The model, and what it has seen.
struct Brain {
    seed: u64,
    random: Random,
    number: u64,
    /// How many runs have begun.
    begun: u64,
    talks: BTreeMap<String, Talk>,
    is_quiet: bool,
    is_provider: bool,
}

enum Said {
    Answer(Value),
    Fail(FailureCode),
    Hang,
    Status(u16),
}

impl Brain {
    fn next(&mut self) -> u64 {
        self.number += 1;
        self.number
    }

    fn calls(&mut self) -> Vec<(String, Value)> {
        let count = 1 + self.random.below(4);
        (0..count).map(|_| self.one_call()).collect()
    }

    fn one_call(&mut self) -> (String, Value) {
        let number = self.next();
        let random = &mut self.random;
        let name = pick(random, &NAMES);
        let path = format!("/mem/{name}.md");
        let outside = pick(
            random,
            &[
                "/etc/passwd",
                "/etc/new.md",
                "/mem/../etc/x.md",
                "/code/shop/main.rs",
                "/code/shop/new.md",
                "/mem/.memdir/lock",
                "/mem/.memdir/x.md",
                "/mem/out/x.md",
                "/mem/out/passwd",
                "/code/shop/out/x.md",
                "../../etc/x.md",
                "",
            ],
        );
        let kind = pick(random, &["feedback", "project", "reference"]);
        let write = |path: &str, content: String| {
            (
                "Write".to_owned(),
                json!({"file_path": path, "content": content}),
            )
        };
        let file = |tool: &str, path: &str| (tool.to_owned(), json!({"file_path": path}));
        match random.below(22) {
            0..3 => file("Read", &path),
            3 => file("Read", "/mem/MEMORY.md"),
            4..7 => write(&path, memory(number, kind, "")),
            7 => write(&format!("/mem/new-{number}.md"), memory(number, kind, "")),
            8..10 => (
                "Edit".to_owned(),
                json!({"file_path": path, "old_string": "\nend ", "new_string": format!("\nmore {number}\nend ")}),
            ),
            10..12 => (
                "Edit".to_owned(),
                json!({"file_path": "/mem/MEMORY.md", "old_string": "# Index\n",
                    "new_string": format!("# Index\n- [n{number}]({name}.md) — n{number}\n")}),
            ),
            12 => write(
                "/mem/MEMORY.md",
                format!("# Index\n- [n{number}]({name}.md) — n{number}\n"),
            ),
            13 => file("Delete", &path),
            14 => ("Bash".to_owned(), json!({"command": format!("rm {path}")})),
            15 => write(
                "/mem/team/t.md",
                memory(number, kind, &format!(" {}", token())),
            ),
            16 => write(
                &format!("/mem/team/t-{number}.md"),
                memory(number, pick(random, &["user", "project"]), ""),
            ),
            17 => write(
                &format!("/mem/secret-{number}.md"),
                memory(number, "project", &format!(" {}", token())),
            ),
            18 => write(
                &format!("/mem/broken-{number}.md"),
                format!("---\nname: x\nend {number}\n"),
            ),
            19 => {
                let tool = pick(random, &["Write", "Read", "Delete", "Edit"]);
                let content = memory(number, kind, "");
                (
                    tool.to_owned(),
                    json!({"file_path": outside, "content": content, "old_string": "o", "new_string": "0"}),
                )
            }
            20 => {
                let command = pick(
                    random,
                    &[
                        "cat /etc/passwd",
                        "ls /mem/out/",
                        "rm -r /mem",
                        "cat main.rs > /mem/a.md",
                        "rm /etc/passwd",
                    ],
                );
                ("Bash".to_owned(), json!({"command": command}))
            }
            _ => {
                let tool = pick(random, &["Task", "mcp__x", "Write", "Grep", ""]);
                let input = pick(random, &[0, 1, 2]);
                let input = [json!("broken"), json!({"file_path": 7}), json!({})][input].clone();
                (tool.to_owned(), input)
            }
        }
    }

    /// Answers a request, and looks whether it may come now.
    fn answer(&mut self, request: &str) -> Said {
        let seed = self.seed;
        let request: Value = serde_json::from_str(request).unwrap();
        let messages = request["messages"].as_array().unwrap();
        let prompt = messages[0].to_string();
        let (name, shown) = markers(&prompt);
        let results = results(&request);
        let number = messages.len();
        let talk = self.talks.get_mut(&name).unwrap();
        if number == 1 {
            // A run begins.
            let (first, last) = (*shown.first().unwrap(), *shown.last().unwrap());
            self.begun += 1;
            let seen = Seen {
                number: self.begun,
                first,
                last,
                can_be_over: false,
            };
            let all: Vec<usize> = (first..=last).collect();
            assert_eq!(shown, all, "seed {seed}: {name} is shown in part");
            let is_over = talk.run.is_none_or(|run| run.can_be_over);
            assert!(is_over, "seed {seed}: two runs of {name} at once");
            let is_next = talk.reached().contains(&(first - 1));
            assert!(is_next, "seed {seed}: {name} from {first}, {talk:?}");
            // The first request again, of a provider that had failed.
            let is_again = talk
                .run
                .is_some_and(|run| (run.first, run.last) == (first, last));
            let is_asked = talk.asked.contains(&last) || talk.queued.contains(&last) || is_again;
            assert!(is_asked, "seed {seed}: {name} up to {last}, {talk:?}");
            talk.queued.retain(|queued| *queued > last);
            talk.cursors = BTreeSet::from([first - 1]);
            talk.last.clear();
            talk.run = Some(seen);
        } else {
            let asked = talk.last.len();
            let run = talk.run.unwrap().number;
            let answers = results.len() - asked..;
            for ((tool, path), (_, failed)) in talk.last.iter().zip(&results[answers]) {
                let writes = ["Write", "Edit", "Delete", "Bash"].contains(&tool.as_str());
                if !failed && writes && !path.ends_with("MEMORY.md") {
                    talk.done.insert((run, path.clone()));
                }
            }
        }
        let chance = self.random.below(100);
        let chance = if self.is_quiet { 99 } else { chance };
        if chance < 10 {
            talk.can_be_over();
            talk.last.clear();
            let status = pick(&mut self.random, &[429, 401, 500]);
            return match chance {
                0..3 => Said::Hang,
                3..5 => Said::Fail(FailureCode::Network),
                _ if self.is_provider => Said::Status(status),
                _ => Said::Fail(FailureCode::Other),
            };
        }
        let is_last = number == 9;
        if chance < 65 {
            let calls = self.calls();
            let talk = self.talks.get_mut(&name).unwrap();
            talk.last = calls
                .iter()
                .map(|(tool, input)| (tool.clone(), target(input)))
                .collect();
            let run = talk.run.unwrap().number;
            let paths = talk.last.iter().map(|(_, path)| (run, path.clone()));
            talk.tried.extend(paths);
            if is_last {
                talk.succeeded();
            }
            let calls: Vec<Value> = calls
                .iter()
                .map(|(tool, input)| call(tool, input))
                .collect();
            return Said::Answer(turn(&calls));
        }
        talk.succeeded();
        Said::Answer(if chance < 70 {
            json!({"content": []})
        } else {
            json!({"content": [{"type": "text", "text": "That is all."}]})
        })
    }
}

impl Talk {
    /// Where the cursor can be: what waited behind a run moves it further when the agent has written itself.
    fn reached(&self) -> BTreeSet<usize> {
        let mut reached = self.cursors.clone();
        for cursor in &self.cursors {
            let further = self.queued.iter().filter(|queued| **queued > *cursor);
            reached.extend(further.filter(|queued| {
                let mut writes = self.direct.range(cursor + 1..=**queued);
                writes.next().is_some()
            }));
        }
        reached
    }

    fn can_be_over(&mut self) {
        if let Some(run) = &mut self.run {
            run.can_be_over = true;
        }
    }

    /// The model has given its last answer.
    fn succeeded(&mut self) {
        self.can_be_over();
        self.cursors.clear();
        self.cursors.extend(self.run.map(|run| run.last));
    }

    /// The flow that ran is over, and whatever waited behind it.
    fn over(&mut self) {
        self.run = None;
        self.queued.clear();
        self.last.clear();
    }

    /// The same when it was cancelled: the last answer may have counted or not.
    fn cancelled(&mut self) {
        self.cursors = self.reached();
        self.cursors.extend(self.run.map(|run| run.first - 1));
        self.over();
    }
}

/// The path of a call, below the store.
fn target(input: &Value) -> String {
    let path = input.get("file_path").and_then(Value::as_str);
    let command = input.get("command").and_then(Value::as_str);
    let path = path
        .or_else(|| command?.strip_prefix("rm "))
        .unwrap_or_default();
    path.strip_prefix("/mem/").unwrap_or(path).to_owned()
}

/// Which conversation is shown, and which of its messages: they say `<NAME:NUMBER>`.
fn markers(prompt: &str) -> (String, Vec<usize>) {
    let mut name = String::new();
    let mut shown = Vec::new();
    for part in prompt.split("<<").skip(1) {
        let Some((marker, _)) = part.split_once(">>") else {
            continue;
        };
        let (talk, number) = marker.split_once(':').unwrap();
        talk.clone_into(&mut name);
        shown.push(number.parse().unwrap());
    }
    (name, shown)
}

/// A call of `extract` under way.
struct Call {
    talk: String,
    /// How many messages the conversation had.
    count: usize,
    agent: AgentRole,
    /// Its runs.
    runs: Vec<u64>,
    running: Running<Extraction>,
}

/// A program with its conversations.
struct Program {
    pid: u32,
    store: Store,
    talks: Vec<(String, Vec<Message>, Option<ExtractionState>)>,
    calls: Vec<Call>,
}

struct World {
    seed: u64,
    random: Random,
    host: SimHost,
    brain: Arc<Mutex<Brain>>,
    options: OpenOptions,
    review: bool,
    programs: Vec<Program>,
    pids: u32,
    written: Vec<(String, String)>,
    lines: Vec<String>,
    told: String,
    /// How often what became of a call.
    became: BTreeMap<String, usize>,
    outside: Vec<BTreeMap<String, String>>,
}

const OUTSIDE: [&str; 2] = ["/etc", "/code"];

impl World {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut tree = extract_tree();
        tree.file(
            "/mem/MEMORY.md",
            "# Index\n- [Tests](feedback_tests.md) — how\n",
        );
        tree.file("/mem/feedback_tests.md", memory(0, "feedback", ""));
        tree.file("/mem/kept.md", memory(0, "feedback", ""));
        tree.link("/code/shop/out", "/etc");
        if random.percent(30) {
            tree.link("/mem/out", "/etc");
        }
        let mut host = SimHost::with_tree(seed, tree);
        let is_provider = random.percent(50);
        let review = random.percent(25);
        let brain = Arc::new(Mutex::new(Brain {
            seed,
            random: Random::new(random.bits()),
            number: 0,
            begun: 0,
            talks: BTreeMap::new(),
            is_quiet: false,
            is_provider,
        }));
        let mut options = extract_options(Features {
            team: true,
            extract_every: u32::try_from(1 + random.below(3)).unwrap(),
            ..Features::default()
        });
        let mind = Arc::clone(&brain);
        if is_provider {
            options.model = Some(ModelOptions {
                name: "anthropic/claude-x".to_owned(),
                api_key: Some(Key("k".repeat(30))),
                base_url: None,
            });
            host.network = Some(Network::serving(move |exchange| {
                let body = exchange.body.as_ref().unwrap().as_bytes();
                let body = String::from_utf8_lossy(body).into_owned();
                match mind.lock().unwrap().answer(&body) {
                    Said::Answer(answer) => Attempt::http(200, &[], &answer.to_string()),
                    Said::Status(status) => Attempt::http(status, &[], ""),
                    Said::Fail(code) => Attempt::fail(code),
                    Said::Hang => Attempt::hang(),
                }
            }));
        } else {
            host.model = Some(Box::new(move |request| {
                match mind.lock().unwrap().answer(request) {
                    Said::Answer(answer) => Attempt::answer(answer.to_string()),
                    Said::Fail(code) => Attempt::fail(code),
                    Said::Hang | Said::Status(_) => Attempt::hang(),
                }
            }));
        }
        let outside = OUTSIDE.map(|folder| Folder::new(&host.tree, folder).everything());
        let mut world = Self {
            seed,
            random,
            host,
            brain,
            options,
            review,
            programs: Vec::new(),
            pids: 10,
            written: Vec::new(),
            lines: Vec::new(),
            told: String::new(),
            became: BTreeMap::new(),
            outside: outside.to_vec(),
        };
        for at in 0..2 + world.random.below(2) {
            let count = 1 + world.random.below(2);
            let talks = (0..count).map(|talk| (format!("p{at}t{talk}"), Vec::new(), None));
            let talks: Vec<_> = talks.collect();
            for (name, ..) in &talks {
                let talk = Talk {
                    cursors: BTreeSet::from([0]),
                    ..Talk::default()
                };
                world.brain.lock().unwrap().talks.insert(name.clone(), talk);
            }
            world.pids += 1;
            world.programs.push(Program {
                pid: world.pids,
                store: Store::new(world.options.clone()),
                talks,
                calls: Vec::new(),
            });
        }
        world
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.random.below(bound as u64)).unwrap()
    }

    /// An editor writes a text, or a line of the index.
    fn person(&mut self) {
        let number = self.brain.lock().unwrap().next();
        let files = Folder::new(&self.host.tree, STORE).files();
        let now = self.host.clock_ms;
        if self.random.percent(30) {
            // Of a memory that nobody removes: its lines would go with it.
            let line = format!("- [person {number}](kept.md)");
            let old = files.get("MEMORY.md").cloned();
            let old = old.unwrap_or_else(|| "# Index\n".to_owned());
            self.host
                .tree
                .overwrite("/mem/MEMORY.md", format!("{old}{line}\n"), now);
            self.lines.push(line);
            return;
        }
        let name = pick(&mut self.random, &NAMES);
        let path = format!("{name}.md");
        // Whoever writes over their own words has given them up.
        let old = files.get(&path);
        self.written
            .retain(|(known, text)| *known != path || Some(text) != old);
        let text = memory(number, "project", " of a person");
        self.host.tree.overwrite(format!("/mem/{path}"), &text, now);
        self.written.push((path, text));
    }

    /// A turn of a conversation, and the call at its end.
    fn turn(&mut self) {
        let at = self.below(self.programs.len());
        let talks = self.programs[at].talks.len();
        let which = self.below(talks);
        if self.programs[at].calls.len() >= 4 {
            return;
        }
        let kind = self.random.below(20);
        let fault = self.random.percent(12);
        let program = &mut self.programs[at];
        let (name, messages, state) = &mut program.talks[which];
        let before = messages.len();
        let mut direct = None;
        let mut say = |role: &str, more: &str, call: Value| {
            let number = messages.len() + 1;
            let mut content =
                vec![json!({"type": "text", "text": format!("<<{name}:{number}>>{more}")})];
            content.extend(Some(call).filter(|call| !call.is_null()));
            let message =
                json!({"id": format!("{name}:{number}"), "role": role, "content": content});
            messages.push(serde_json::from_value(message).unwrap());
        };
        let more = match kind {
            // Too little to remember.
            0..2 => "",
            _ => " please keep this in mind",
        };
        say("user", more, Value::Null);
        if kind == 2 {
            // The agent writes itself.
            let input = json!({"file_path": "/mem/feedback_tests.md", "content": "x"});
            say("assistant", "", call("Write", &input));
            direct = Some(before + 2);
            say(
                "user",
                "",
                json!({"type": "tool_result", "tool_use_id": "x", "content": "ok"}),
            );
        }
        if kind != 3 {
            say("assistant", " I will.", Value::Null);
        }
        let agent = if kind == 4 {
            AgentRole::Sub
        } else {
            AgentRole::Main
        };
        let count = messages.len();
        let mut brain = self.brain.lock().unwrap();
        let talk = brain.talks.get_mut(name.as_str()).unwrap();
        talk.asked.push(count);
        talk.direct.extend(direct);
        drop(brain);
        let options = ExtractOptions {
            agent,
            session: name.clone(),
            state: state.clone(),
            review: self.review,
            ..ExtractOptions::default()
        };
        let flow = program.store.extract(messages, options);
        let process = Process::new(Some(program.pid), self.random.bits());
        let talk = name.clone();
        let running = self.host.start_in(process, flow);
        self.programs[at].calls.push(Call {
            talk,
            count,
            agent,
            runs: Vec::new(),
            running,
        });
        if fault {
            let at = self.host.trace.len() + self.below(150);
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
        for _ in 0..=self.below(60) {
            let call = &mut self.programs[at].calls[which];
            let before = self.brain.lock().unwrap().begun;
            let progress = self.host.step(&mut call.running);
            let begun = self.brain.lock().unwrap().begun;
            call.runs.extend((begun > before).then_some(begun));
            match progress {
                Progress::Working => {}
                Progress::Ended(result) => {
                    let call = self.programs[at].calls.remove(which);
                    self.ended(at, &call, result);
                    return;
                }
                Progress::Crashed => {
                    self.crashed(at);
                    return;
                }
            }
        }
    }

    /// A process dies: its store knows nothing any more but what its program has kept.
    fn crashed(&mut self, at: usize) {
        self.pids += 1;
        let program = &mut self.programs[at];
        self.host.processes.remove(&program.pid);
        program.pid = self.pids;
        program.calls.clear();
        program.store = Store::new(self.options.clone());
        let mut brain = self.brain.lock().unwrap();
        for (name, _, state) in &program.talks {
            let talk = brain.talks.get_mut(name).unwrap();
            talk.over();
            talk.asked.clear();
            let cursor = state.as_ref().and_then(|state| state.cursor.clone());
            talk.cursors = BTreeSet::from([position(cursor.as_deref())]);
        }
    }

    fn ended(&mut self, at: usize, call: &Call, result: Result<Extraction, Error>) {
        let seed = self.seed;
        self.told.push_str(&format!("{result:?}"));
        let became = match &result {
            Ok(result) => match result.reason {
                Some(reason) => format!("{reason:?}"),
                None => format!("{:?}", result.outcome),
            },
            Err(error) => format!("{:?}", error.code),
        };
        *self.became.entry(became).or_default() += 1;
        let mut brain = self.brain.lock().unwrap();
        let talk = brain.talks.get_mut(&call.talk).unwrap();
        let which = talk.asked.iter().position(|count| *count == call.count);
        talk.asked.remove(which.unwrap());
        // Another one may have begun in the very moment in which this one was done.
        let is_its = talk.run.is_some_and(|run| call.runs.contains(&run.number));
        let mine = |all: &BTreeSet<(u64, String)>| {
            let all = all.iter().filter(|(run, _)| call.runs.contains(run));
            all.map(|(_, path)| path.clone()).collect::<BTreeSet<_>>()
        };
        let result = match result {
            Ok(result) => result,
            Err(error) => {
                assert_eq!(error.code, ErrorCode::Aborted, "seed {seed}: {error:?}");
                if is_its {
                    talk.cancelled();
                }
                return;
            }
        };
        let cursor = position(result.state.cursor.as_deref());
        self.programs[at]
            .talks
            .iter_mut()
            .filter(|(name, ..)| *name == call.talk)
            .for_each(|(_, _, state)| *state = Some(result.state.clone()));
        let what = format!(
            "seed {seed}, {} up to {}: {result:?}\n{talk:?}",
            call.talk, call.count
        );
        if call.agent == AgentRole::Sub {
            assert!(
                matches!(result.reason, Some(Skip::SubAgent | Skip::Paused)),
                "{what}"
            );
            return;
        }
        match result.outcome {
            ExtractionOutcome::Queued => talk.queued.push(call.count),
            ExtractionOutcome::Skipped => {
                assert!(result.paths.is_empty() && result.notice.is_none(), "{what}");
                if result.reason == Some(Skip::DirectWrite) {
                    assert_eq!(cursor, call.count, "{what}");
                    // With a run under way it would have had to wait.
                    assert!(talk.run.is_none_or(|run| run.can_be_over), "{what}");
                    talk.over();
                    talk.cursors = BTreeSet::from([cursor]);
                }
            }
            ExtractionOutcome::Done | ExtractionOutcome::Failed => {
                let told: BTreeSet<String> = result
                    .paths
                    .iter()
                    .chain(&result.removed)
                    .cloned()
                    .collect();
                assert!(told.is_subset(&mine(&talk.tried)), "{what}");
                let is_done = result.outcome == ExtractionOutcome::Done;
                if is_done && !self.review {
                    assert!(mine(&talk.done).is_subset(&told), "{what}");
                }
                if is_its {
                    // A direct write behind the run moves it further.
                    assert!(talk.cursors.iter().any(|known| *known <= cursor), "{what}");
                    talk.over();
                    talk.cursors = BTreeSet::from([cursor]);
                }
            }
        }
    }

    fn storm(&mut self) {
        for _ in 0..20 + self.below(60) {
            match self.random.below(20) {
                0..2 => self.person(),
                2..7 => self.turn(),
                7 if self.random.percent(20) => self.host.clock_ms += REST_MS,
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

    /// The storm is over: everything that has not been looked at is, by a model that does nothing.
    fn calm(&mut self) {
        let seed = self.seed;
        self.brain.lock().unwrap().is_quiet = true;
        self.host.clock_ms += REST_MS;
        for at in 0..self.programs.len() {
            for which in 0..self.programs[at].talks.len() {
                let program = &mut self.programs[at];
                let (name, messages, state) = &mut program.talks[which];
                for _ in 0..3 {
                    for (role, text) in [("user", "and this is the end"), ("assistant", "Yes.")] {
                        let number = messages.len() + 1;
                        let text = format!("<<{name}:{number}>> {text}");
                        let message = json!({"id": format!("{name}:{number}"), "role": role, "content": text});
                        messages.push(serde_json::from_value(message).unwrap());
                    }
                    let mut brain = self.brain.lock().unwrap();
                    let talk = brain.talks.get_mut(name.as_str()).unwrap();
                    talk.asked = vec![messages.len()];
                    drop(brain);
                    let options = ExtractOptions {
                        session: name.clone(),
                        state: state.clone(),
                        ..ExtractOptions::default()
                    };
                    let result = self
                        .host
                        .run(program.store.extract(messages, options))
                        .unwrap();
                    let is_direct = result.reason == Some(Skip::DirectWrite);
                    if is_direct || result.outcome == ExtractionOutcome::Done {
                        let cursor = position(result.state.cursor.as_deref());
                        assert_eq!(cursor, messages.len(), "seed {seed}: {result:?}");
                        *state = Some(result.state);
                        break;
                    }
                    assert_eq!(
                        result.reason,
                        Some(Skip::Throttled),
                        "seed {seed}: {result:?}"
                    );
                    *state = Some(result.state);
                }
            }
        }
        // What waits is applied as far as it can be.
        let store = Store::new(self.options.clone());
        let inbox = self.host.run(store.inbox()).unwrap();
        assert!(inbox.report.is_empty(), "seed {seed}: {:?}", inbox.report);
        for item in inbox.items {
            self.host.run(store.apply_proposal(item.id, None)).unwrap();
        }
        // The next writer clears away what the dead have left.
        self.host.run(store.log("over\nend 0".to_owned())).unwrap();
    }

    fn check(&mut self) {
        let seed = self.seed;
        let everything = Folder::new(&self.host.tree, STORE).everything();
        let show = || format!("seed {seed}: {everything:#?}");
        let outside = OUTSIDE.map(|folder| Folder::new(&self.host.tree, folder).everything());
        assert_eq!(outside.to_vec(), self.outside, "seed {seed}: outside");
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
        let files = folder.files();
        for (path, text) in &files {
            let is_index = path.ends_with("MEMORY.md");
            let last = text.lines().last().unwrap_or_default();
            let whole =
                is_index || path.starts_with("logs/") || path == "out" || last.starts_with("end ");
            assert!(
                whole && (text.ends_with('\n') || path == "out"),
                "{path} is torn: {}",
                show()
            );
            if path.starts_with("team/") {
                assert!(
                    !text.contains(&token()) && !text.contains("type: user"),
                    "{path}: {}",
                    show()
                );
            }
        }
        let told = format!("{} {:?}", self.told, self.host.events);
        assert!(!told.contains(&token()), "seed {seed}: a secret was told");
        let lint = self
            .host
            .run(Store::new(self.options.clone()).lint())
            .unwrap();
        for finding in lint.findings {
            let is_models = finding.path.starts_with("broken-")
                || finding.path == "out"
                || finding.code == ReportCode::IndexLinkBroken;
            assert!(
                is_models || finding.severity != Severity::Error,
                "{finding:?}: {}",
                show()
            );
        }
    }
}

/// The number of a message, 0 for none.
fn position(cursor: Option<&str>) -> usize {
    let number = cursor.and_then(|cursor| cursor.rsplit_once(':'));
    number.map_or(0, |(_, number)| number.parse().unwrap())
}

#[test]
fn through_the_storm_nothing_is_lost_and_nothing_gets_out() {
    let seeds = seeds(5_000);
    let mut became: BTreeMap<String, usize> = BTreeMap::new();
    for seed in seeds.clone() {
        let mut world = World::new(seed);
        world.storm();
        world.calm();
        world.check();
        for (what, times) in world.became {
            *became.entry(what).or_default() += times;
        }
    }
    // A storm in which something never comes about shows nothing of it.
    let all = [
        "Done",
        "Failed",
        "Queued",
        "Aborted",
        "SubAgent",
        "NotFinal",
        "NothingNew",
        "DirectWrite",
        "TooLittle",
        "Throttled",
        "Paused",
    ];
    for what in all.into_iter().filter(|_| seeds.clone().count() >= 500) {
        assert!(became.contains_key(what), "{what} is missing: {became:?}");
    }
}
