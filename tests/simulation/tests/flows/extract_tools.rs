//! What a background run may read and write, tool by tool, and what it is told: nothing leaves the folders that
//! it was given, nobody's change is written over, and what it does wrong it hears at once (facts 6.3).
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::sync::{Arc, Mutex};

use crate::common::token;
use memdir_core::ErrorCode;
use memdir_core::extract::{ExtractOptions, Extraction, ExtractionOutcome, RunEnd};
use memdir_core::flow::{Bytes, Content, Effect, Outcome, RunAnswer};
use memdir_core::store::{Features, Store};
use memdir_simulation::{
    Asked, Folder, STORE, SimHost, Tree, answering, call, extract_options, extract_tree, results,
    said, turn,
};
use serde_json::{Value, json};

const MEMORY: &str = "---\nname: Small commits\ndescription: commits are small\ntype: feedback\n---\nKeep commits small.\n";

/// A run in which the model makes these calls, turn by turn.
struct Ran {
    host: SimHost,
    asked: Asked,
    result: Extraction,
}

impl Ran {
    fn on(tree: Tree, options: ExtractOptions, features: Features, turns: &[Vec<Value>]) -> Self {
        let (host, asked) = answering(tree, turns.iter().map(|calls| turn(calls)).collect());
        Self::with(host, asked, options, features)
    }

    fn with(mut host: SimHost, asked: Asked, options: ExtractOptions, features: Features) -> Self {
        let talk = said(&[
            ("u1", "user", "please write small commits"),
            ("a1", "", "Yes."),
        ]);
        let store = Store::new(extract_options(features));
        let result = host.run(store.extract(&talk, options)).unwrap();
        Self {
            host,
            asked,
            result,
        }
    }

    fn new(tree: Tree, turns: &[Vec<Value>]) -> Self {
        Self::on(tree, ExtractOptions::default(), Features::default(), turns)
    }

    /// What all calls were answered, and whether they failed.
    fn answers(&self) -> Vec<(String, bool)> {
        results(self.asked.all().last().unwrap())
    }

    fn files(&self) -> Vec<String> {
        let files = Folder::new(&self.host.tree, STORE).files();
        files.into_keys().collect()
    }
}

fn read(path: &str) -> Value {
    call("Read", &json!({"file_path": path}))
}

fn write(path: &str, content: &str) -> Value {
    call("Write", &json!({"file_path": path, "content": content}))
}

fn bash(command: &str) -> Value {
    call("Bash", &json!({"command": command}))
}

fn team() -> Features {
    Features {
        team: true,
        ..Features::default()
    }
}

#[test]
fn an_index_that_grows_too_long_is_told() {
    let index: String = (0..210)
        .map(|number| format!("- [m{number}](m{number}.md) — x\n"))
        .collect();
    let calls = [
        vec![read("/mem/MEMORY.md")],
        vec![write("/mem/MEMORY.md", &index)],
    ];
    let ran = Ran::new(extract_tree(), &calls);
    let (answer, failed) = &ran.answers()[1];
    assert!(!failed, "{answer}");
    assert!(
        answer.contains("210 lines") && answer.contains("10 entries are not loaded"),
        "{answer}"
    );
    // An index is no memory, so nothing is told of it.
    assert!(ran.result.paths.is_empty() && ran.result.notice.is_none());
}

#[test]
fn a_secret_for_the_team_is_refused_and_one_for_oneself_is_told() {
    for review in [false, true] {
        let text = format!("{MEMORY}The token is {}\n", token());
        let calls = [vec![
            write("/mem/team/a.md", &text),
            write("/mem/b.md", &text),
        ]];
        let options = ExtractOptions {
            review,
            ..ExtractOptions::default()
        };
        let ran = Ran::on(extract_tree(), options, team(), &calls);
        let answers = ran.answers();
        assert!(
            answers[0].1 && answers[0].0.contains("remove it"),
            "{answers:?}"
        );
        assert!(
            !answers[1].1 && answers[1].0.contains("Mind that"),
            "{answers:?}"
        );
        assert!(!answers[0].0.contains(&token()), "{answers:?}");
        assert_eq!(ran.result.paths, ["b.md"]);
        let team = Folder::new(&ran.host.tree, "/mem/team").everything();
        assert!(team.is_empty(), "{team:?}");
        let told = format!("{:?} {:?}", ran.result, ran.host.events);
        assert!(!told.contains(&token()), "{told}");
    }
}

#[test]
fn a_name_that_is_a_secret_is_shown_nowhere() {
    let calls = [
        vec![write(&format!("/mem/{}.md", token()), MEMORY)],
        vec![
            read(&format!("/code/{}.md", token())),
            bash(&format!("cat {}", token())),
        ],
    ];
    let ran = Ran::new(extract_tree(), &calls);
    let told = format!("{:?} {:?}", ran.result, ran.host.events);
    assert!(!told.contains(&token()), "{told}");
}

#[test]
fn memories_of_the_user_are_not_the_teams() {
    let user = MEMORY.replace("feedback", "user");
    let calls = [vec![
        write("/mem/team/me.md", &user),
        write("/mem/me.md", &user),
    ]];
    let ran = Ran::on(extract_tree(), ExtractOptions::default(), team(), &calls);
    let answers = ran.answers();
    assert!(answers[0].1 && !answers[1].1, "{answers:?}");
    assert_eq!(ran.result.paths, ["me.md"]);
}

#[test]
fn a_memory_of_a_broken_form_is_written_and_told() {
    let broken = [
        "No frontmatter.\n",
        "---\nname: a\ndescription: b\n---\nNo type.\n",
        "---\nname: a\ndescription: b\ntype: thought\n---\nNo such type.\n",
        "---\nname: a\nNever closed.\n",
    ];
    for text in broken {
        let ran = Ran::new(extract_tree(), &[vec![write("/mem/a.md", text)]]);
        let (answer, failed) = &ran.answers()[0];
        assert!(
            !failed && answer.contains("Mind that"),
            "{text:?}: {answer}"
        );
    }
    let ran = Ran::new(extract_tree(), &[vec![write("/mem/a.md", MEMORY)]]);
    assert!(!ran.answers()[0].0.contains("Mind that"));
}

#[test]
fn what_a_person_has_written_meanwhile_is_not_written_over() {
    for review in [false, true] {
        for tool in ["Write", "Delete"] {
            let last = match tool {
                "Write" => write("/mem/feedback_tests.md", MEMORY),
                _ => call("Delete", &json!({"file_path": "/mem/feedback_tests.md"})),
            };
            let turns = vec![turn(&[read("/mem/feedback_tests.md")]), turn(&[last])];
            let (mut host, asked) = answering(extract_tree(), turns);
            let mut model_calls = 0;
            host.script = Some(Box::new(move |effect, tree: &mut Tree| {
                if matches!(effect, Effect::Model { .. }) {
                    model_calls += 1;
                    if model_calls == 2 {
                        tree.overwrite("/mem/feedback_tests.md", "A person's words.\n", 1);
                    }
                }
                None
            }));
            let options = ExtractOptions {
                review,
                ..ExtractOptions::default()
            };
            let ran = Ran::with(host, asked, options, Features::default());
            let files = Folder::new(&ran.host.tree, STORE).files();
            assert_eq!(
                files["feedback_tests.md"], "A person's words.\n",
                "{tool} {review}"
            );
            let answers = ran.answers();
            assert!(answers[1].1, "{tool} {review}: {answers:?}");
            let result = &ran.result;
            assert!(
                result.paths.is_empty() && result.removed.is_empty(),
                "{result:?}"
            );
            assert!(
                result.inbox.is_empty() && result.notice.is_none(),
                "{result:?}"
            );
        }
    }
}

#[test]
fn what_was_not_changed_is_not_told_as_changed() {
    let same =
        "---\nname: Tests\ndescription: how tests are run\ntype: feedback\n---\nRun them all.\n";
    let edit = |old: &str, new: &str| {
        call(
            "Edit",
            &json!({"file_path": "/mem/feedback_tests.md", "old_string": old, "new_string": new}),
        )
    };
    // The same text again; in a run that is reviewed also a change that is taken back.
    let again = vec![
        vec![read("/mem/feedback_tests.md")],
        vec![write("/mem/feedback_tests.md", same)],
    ];
    let back = vec![
        vec![edit("Run them all.", "Run some.")],
        vec![edit("Run some.", "Run them all.")],
    ];
    for (review, calls) in [(false, &again), (true, &again), (true, &back)] {
        let options = ExtractOptions {
            review,
            ..ExtractOptions::default()
        };
        let ran = Ran::on(extract_tree(), options, Features::default(), calls);
        assert!(ran.answers().iter().all(|(_, failed)| !failed));
        let result = &ran.result;
        assert_eq!(result.outcome, ExtractionOutcome::Done);
        assert!(result.paths.is_empty(), "{review}: {result:?}");
        assert!(
            result.notice.is_none() && result.inbox.is_empty(),
            "{review}: {result:?}"
        );
    }
}

#[test]
fn the_tokens_of_a_run_are_bounded() {
    let spend = |used: [u64; 4]| {
        let [input, output, cached, written] = used;
        json!({"content": [call("Glob", &json!({"pattern": "*"}))], "usage": {
            "input_tokens": input, "output_tokens": output,
            "cache_read_input_tokens": cached, "cache_creation_input_tokens": written}})
    };
    // The next request needs a few itself; what comes from the cache counts a tenth.
    for (used, turns, ended) in [
        ([199_000, 0, 0, 0], 2, RunEnd::Answered),
        ([200_000, 0, 0, 0], 1, RunEnd::Tokens),
        ([50_000, 50_000, 500_000, 49_000], 2, RunEnd::Answered),
        ([50_000, 50_000, 500_000, 50_000], 1, RunEnd::Tokens),
    ] {
        let (host, asked) = answering(extract_tree(), vec![spend(used)]);
        let ran = Ran::with(host, asked, ExtractOptions::default(), Features::default());
        assert_eq!(
            (ran.result.turns, ran.result.ended),
            (turns, Some(ended)),
            "{used:?}"
        );
        assert_eq!(ran.result.usage.total(), used.iter().sum::<u64>());
        assert_eq!(ran.result.outcome, ExtractionOutcome::Done);
    }
}

#[test]
fn a_model_has_two_hundred_calls() {
    let calls: Vec<Value> = (0..201).map(|_| call("Nothing", &json!({}))).collect();
    let ran = Ran::new(extract_tree(), &[calls, vec![]]);
    let answers = ran.answers();
    assert_eq!(answers.len(), 201);
    assert!(
        !answers[199].0.contains("200") && answers[200].0.contains("200"),
        "{:?}",
        answers[200]
    );
}

#[test]
fn a_folder_is_read_when_it_was_named() {
    let mut tree = extract_tree();
    tree.file("/srv/docs/a.txt", "the docs\n");
    let calls = [vec![
        read("/srv/docs/a.txt"),
        call(
            "Grep",
            &json!({"pattern": "docs", "path": "/srv/docs", "output_mode": "content"}),
        ),
        call("Glob", &json!({"pattern": "/srv/docs/*.txt"})),
        read("/srv/docs/../other.txt"),
    ]];
    let ran = Ran::new(tree.clone(), &calls);
    assert!(
        ran.answers().iter().all(|(_, failed)| *failed),
        "{:?}",
        ran.answers()
    );
    let options = ExtractOptions {
        read_roots: vec!["/srv/docs".to_owned(), "/srv/nowhere".to_owned()],
        ..ExtractOptions::default()
    };
    let ran = Ran::on(tree, options, Features::default(), &calls);
    let answers = ran.answers();
    assert!(answers[0].0.contains("the docs"), "{answers:?}");
    assert_eq!(
        answers[1],
        ("/srv/docs/a.txt:1:the docs\n".to_owned(), false)
    );
    assert_eq!(answers[2], ("/srv/docs/a.txt\n".to_owned(), false));
    assert!(answers[3].1, "{answers:?}");
}

#[test]
fn a_folder_to_read_in_is_absolute() {
    let (mut host, _) = answering(extract_tree(), Vec::new());
    let talk = said(&[
        ("u1", "user", "please write small commits"),
        ("a1", "", "Yes."),
    ]);
    let store = Store::new(extract_options(Features::default()));
    let options = ExtractOptions {
        read_roots: vec!["docs".to_owned()],
        ..ExtractOptions::default()
    };
    let error = host.run(store.extract(&talk, options)).unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidArgument);
    // The conversation is free again.
    let result = host
        .run(store.extract(&talk, ExtractOptions::default()))
        .unwrap();
    assert_eq!(result.outcome, ExtractionOutcome::Done);
}

/// Answers every program with this, and remembers what was run.
fn running(host: &mut SimHost, stdout: &'static str) -> Arc<Mutex<Vec<Effect>>> {
    let runs = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&runs);
    host.script = Some(Box::new(move |effect, _: &mut Tree| {
        matches!(effect, Effect::Run { .. }).then(|| {
            log.lock().unwrap().push(effect.clone());
            Outcome::Ran(RunAnswer {
                exit_code: Some(0),
                stdout: Bytes(stdout.as_bytes().to_vec()),
                stderr: Bytes(Vec::new()),
            })
        })
    }));
    runs
}

#[test]
fn links_lead_nowhere_else() {
    let mut tree = extract_tree();
    tree.file("/etc/secrets/key.md", "the key\n");
    tree.file("/mem/.memdir/trash/old.bytes", "the old\n");
    tree.link("/code/shop/out.txt", "/etc/passwd");
    tree.link("/code/shop/etc", "/etc");
    tree.link("/mem/out", "/etc/secrets");
    tree.link("/mem/out.md", "/etc/secrets/key.md");
    tree.link("/mem/own", ".memdir/trash");
    tree.link("/code/shop/own", "/mem/.memdir");
    let denied = vec![
        read("out.txt"),
        read("etc/passwd"),
        read("/mem/out/key.md"),
        read("/mem/out.md"),
        read("/mem/own/old.bytes"),
        read("own/trash/old.bytes"),
        bash("cat out.txt"),
        bash("cat etc/passwd"),
        bash("cat /mem/out/key.md"),
        bash("cat /mem/out.md"),
        bash("ls /mem/out/"),
        bash("cat /mem/own/old.bytes"),
        bash("cat own/trash/old.bytes"),
        write("/mem/out/new.md", MEMORY),
        write("/mem/out.md", MEMORY),
        write("/mem/own/new.md", MEMORY),
        call(
            "Edit",
            &json!({"file_path": "/mem/out.md", "old_string": "the", "new_string": "a"}),
        ),
        call(
            "Edit",
            &json!({"file_path": "/mem/out/key.md", "old_string": "the", "new_string": "a"}),
        ),
        call("Delete", &json!({"file_path": "/mem/out/key.md"})),
        bash("rm /mem/out/key.md"),
    ];
    let searches = vec![
        call(
            "Grep",
            &json!({"pattern": "the", "path": "/mem/own/old.bytes", "output_mode": "content"}),
        ),
        call(
            "Grep",
            &json!({"pattern": "the", "path": "own/trash", "output_mode": "content"}),
        ),
        call(
            "Grep",
            &json!({"pattern": "the", "path": "/mem", "output_mode": "content"}),
        ),
        call(
            "Grep",
            &json!({"pattern": "the", "path": "/mem/out", "output_mode": "content"}),
        ),
        call(
            "Grep",
            &json!({"pattern": "the", "path": "/mem/out/key.md", "output_mode": "content"}),
        ),
        call(
            "Grep",
            &json!({"pattern": "o", "path": "/code/shop", "output_mode": "content"}),
        ),
        call(
            "Grep",
            &json!({"pattern": "o", "path": "etc", "output_mode": "content"}),
        ),
        call("Glob", &json!({"pattern": "**", "path": "/mem/own"})),
        call("Glob", &json!({"pattern": "**", "path": "/mem/out"})),
        call("Glob", &json!({"pattern": "etc/*"})),
    ];
    for review in [false, true] {
        let turns = vec![turn(&denied), turn(&searches)];
        let (mut host, asked) = answering(tree.clone(), turns);
        let runs = running(&mut host, "whatever");
        let before: Vec<_> = ["/etc", "/code", "/mem/.memdir/trash"]
            .map(|folder| Folder::new(&host.tree, folder).everything())
            .to_vec();
        let options = ExtractOptions {
            review,
            ..ExtractOptions::default()
        };
        let ran = Ran::with(host, asked, options, Features::default());
        let answers = ran.answers();
        for (call, (answer, failed)) in denied.iter().zip(&answers) {
            assert!(failed, "{review} {call}: {answer}");
        }
        for (answer, _) in &answers {
            for secret in ["root", "the key", "the old", "passwd\n", "old.bytes\n"] {
                assert!(!answer.contains(secret), "{answer}");
            }
        }
        assert_eq!(*runs.lock().unwrap(), [], "programs");
        let after: Vec<_> = ["/etc", "/code", "/mem/.memdir/trash"]
            .map(|folder| Folder::new(&ran.host.tree, folder).everything())
            .to_vec();
        assert_eq!(after, before);
        assert!(ran.result.paths.is_empty() && ran.result.removed.is_empty());
    }
}

#[test]
fn a_link_to_another_memory_is_followed() {
    let mut tree = extract_tree();
    tree.link("/mem/also.md", "feedback_tests.md");
    let (mut host, asked) = answering(
        tree,
        vec![turn(&[read("/mem/also.md"), bash("cat /mem/also.md")])],
    );
    let runs = running(&mut host, "Run them all.\n");
    let ran = Ran::with(host, asked, ExtractOptions::default(), Features::default());
    let answers = ran.answers();
    assert!(answers[0].0.contains("Run them all."), "{answers:?}");
    assert_eq!(answers[1], ("Run them all.\n".to_owned(), false));
    assert_eq!(runs.lock().unwrap().len(), 1);
}

#[test]
fn searches_say_what_they_left_out() {
    let mut tree = extract_tree();
    let lines: String = (0..300)
        .map(|number| format!("needle {number}\n"))
        .collect();
    tree.file("/code/shop/many.txt", &lines);
    for number in 0..120 {
        tree.file(format!("/code/shop/sub/f{number}.rs"), "x\n");
    }
    tree.file("/code/shop/large.txt", "needle\n".repeat(200_000));
    let grep = |more: Value| {
        let mut input = json!({"pattern": "needle", "output_mode": "content"});
        for (key, value) in more.as_object().unwrap() {
            input[key] = value.clone();
        }
        call("Grep", &input)
    };
    let calls = [vec![
        grep(json!({"path": "many.txt"})),
        grep(json!({"path": "many.txt", "head_limit": 3})),
        grep(json!({"output_mode": "count", "glob": "many.*"})),
        grep(json!({"output_mode": "files_with_matches"})),
        call("Glob", &json!({"pattern": "sub/*.rs"})),
        grep(json!({"pattern": "("})),
        grep(json!({"path": "nowhere"})),
        grep(json!({"pattern": "nothing like it"})),
        grep(json!({"output_mode": "count", "glob": "large.*"})),
    ]];
    let ran = Ran::new(tree, &calls);
    let answers = ran.answers();
    let lines = |at: usize| answers[at].0.lines().collect::<Vec<_>>();
    let notes = |at: usize| {
        lines(at)
            .into_iter()
            .filter(|line| line.starts_with('('))
            .count()
    };
    assert_eq!((lines(0).len(), notes(0)), (251, 1), "250 lines and a note");
    assert_eq!(lines(0)[249], "/code/shop/many.txt:250:needle 249");
    assert_eq!((lines(1).len(), notes(1)), (4, 1), "three lines and a note");
    assert_eq!(lines(2), ["/code/shop/many.txt:300"]);
    assert_eq!(lines(3), ["/code/shop/large.txt", "/code/shop/many.txt"]);
    assert_eq!(lines(8), ["/code/shop/large.txt:200000"], "in pieces");
    assert_eq!((lines(4).len(), notes(4)), (101, 1), "100 paths and a note");
    assert!(
        answers[5].1 && answers[6].1 && !answers[7].1,
        "{:?}",
        &answers[5..]
    );
}

#[test]
fn a_pipe_runs_program_by_program_without_a_shell() {
    let (mut host, asked) = answering(
        extract_tree(),
        vec![turn(&[bash("grep -n main main.rs | head -1 | wc -l")])],
    );
    let runs = running(&mut host, "1:fn main() {}\n");
    let ran = Ran::with(host, asked, ExtractOptions::default(), Features::default());
    assert_eq!(ran.answers(), [("1:fn main() {}\n".to_owned(), false)]);
    let runs = runs.lock().unwrap();
    let seen: Vec<(Vec<&str>, Option<&[u8]>)> = runs
        .iter()
        .map(|effect| match effect {
            Effect::Run {
                argv,
                cwd,
                stdin,
                env,
                ..
            } => {
                assert_eq!(cwd, "/code/shop");
                assert_eq!(env.len(), 1, "{env:?}");
                let argv = argv.iter().map(String::as_str).collect();
                (argv, stdin.as_ref().map(Content::as_bytes))
            }
            other => panic!("{other:?}"),
        })
        .collect();
    let input = Some("1:fn main() {}\n".as_bytes());
    assert_eq!(
        seen,
        [
            // What was forgotten is not looked through.
            (
                vec!["grep", "--exclude-dir=.memdir", "-n", "main", "main.rs"],
                None
            ),
            (vec!["head", "-1"], input),
            (vec!["wc", "-l"], input),
        ]
    );
}

#[test]
fn a_program_that_fails_is_told_and_so_is_one_that_there_is_not() {
    let turns = vec![turn(&[bash("ls nowhere"), bash("cat main.rs")])];
    let (mut host, asked) = answering(extract_tree(), turns);
    let mut count = 0;
    host.script = Some(Box::new(move |effect, _: &mut Tree| {
        if !matches!(effect, Effect::Run { .. }) {
            return None;
        }
        count += 1;
        (count == 1).then(|| {
            Outcome::Ran(RunAnswer {
                exit_code: Some(2),
                stdout: Bytes(Vec::new()),
                stderr: Bytes(b"ls: cannot access 'nowhere'\n".to_vec()),
            })
        })
    }));
    let ran = Ran::with(host, asked, ExtractOptions::default(), Features::default());
    let answers = ran.answers();
    assert!(
        answers[0].0.contains("cannot access") && answers[0].0.contains("code 2"),
        "{answers:?}"
    );
    assert!(
        answers[1].1 && answers[1].0.contains("Read, Grep and Glob"),
        "{answers:?}"
    );
}

#[test]
fn without_a_store_the_first_memory_makes_it() {
    for review in [false, true] {
        let mut tree = Tree::new();
        tree.file("/code/shop/main.rs", "fn main() {}\n");
        let calls = [
            vec![
                read("/mem/MEMORY.md"),
                call("Glob", &json!({"pattern": "*", "path": "/mem"})),
                call(
                    "Edit",
                    &json!({"file_path": "/mem/a.md", "old_string": "a", "new_string": "b"}),
                ),
                call("Delete", &json!({"file_path": "/mem/a.md"})),
            ],
            vec![
                write("/mem/a.md", MEMORY),
                write("/mem/MEMORY.md", "- [a](a.md) — small\n"),
            ],
        ];
        let options = ExtractOptions {
            review,
            ..ExtractOptions::default()
        };
        let ran = Ran::on(tree, options, Features::default(), &calls);
        let answers = ran.answers();
        assert!(answers[0].1 && answers[2].1 && answers[3].1, "{answers:?}");
        assert!(!answers[4].1 && !answers[5].1, "{answers:?}");
        assert_eq!(ran.result.paths, ["a.md"]);
        if review {
            assert_eq!(ran.files(), [""; 0]);
            assert_eq!(ran.result.inbox.len(), 1);
        } else {
            assert_eq!(ran.files(), ["MEMORY.md", "a.md"]);
        }
    }
}
