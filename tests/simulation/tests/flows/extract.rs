//! Extraction on the simulated machine with a scripted model: when it runs, what the model is told, what it may
//! do, and what becomes of it (facts 6).
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use memdir_core::ErrorCode;
use memdir_core::conversation::Message;
use memdir_core::extract::{ExtractOptions, Extraction, ExtractionOutcome, RunEnd, Skip};
use memdir_core::flow::Effect;
use memdir_core::store::{Features, OpenOptions, Store};
use memdir_simulation::{
    Asked, Folder, SimHost, answering, extract_options, extract_tree, results, said,
};
use serde_json::{Value, json};

const STORE: &str = "/mem";

/// A store whose model is the caller's function.
fn store(features: Features) -> Store {
    Store::new(extract_options(features))
}

fn host(turns: Vec<Value>) -> (SimHost, Asked) {
    answering(extract_tree(), turns)
}

fn call(name: &str, input: Value) -> Value {
    memdir_simulation::call(name, &input)
}

fn turn(calls: Vec<Value>) -> Value {
    memdir_simulation::turn(&calls)
}

fn talk() -> Vec<Message> {
    said(&[
        ("u1", "user", "please always write small commits"),
        ("a1", "assistant", "I will."),
    ])
}

fn extract(host: &mut SimHost, store: &Store, messages: &Vec<Message>) -> Extraction {
    host.run(store.extract(messages, ExtractOptions::default()))
        .unwrap()
}

/// What the tools answered in a request to the model.
fn answers(request: &Value) -> Vec<String> {
    let answers = results(request).into_iter();
    answers.map(|(content, _)| content).collect()
}

const MEMORY: &str = "---\nname: Small commits\ndescription: commits are small\ntype: feedback\n---\nKeep commits small.\n";

#[test]
fn what_is_worth_it_is_written_and_told() {
    let (mut host, asked) = host(vec![
        turn(vec![call("Read", json!({"file_path": "/mem/MEMORY.md"}))]),
        turn(vec![
            call(
                "Write",
                json!({"file_path": "/mem/feedback_commits.md", "content": MEMORY}),
            ),
            call(
                "Edit",
                json!({"file_path": "/mem/MEMORY.md",
                "old_string": "- [Tests](feedback_tests.md) — how\n",
                "new_string": "- [Tests](feedback_tests.md) — how\n- [Commits](feedback_commits.md) — small\n"}),
            ),
        ]),
    ]);
    let store = store(Features::default());
    let result = extract(&mut host, &store, &talk());
    assert_eq!(result.outcome, ExtractionOutcome::Done, "{result:?}");
    assert_eq!(result.paths, ["feedback_commits.md"], "{:#?}", asked.all());
    assert_eq!(
        result.notice.as_deref(),
        Some("Memory updated in feedback_commits.md")
    );
    assert_eq!((result.turns, result.ended), (3, Some(RunEnd::Answered)));
    assert_eq!(result.state.cursor.as_deref(), Some("a1"));
    let files = Folder::new(&host.tree, STORE).files();
    assert_eq!(files["feedback_commits.md"], MEMORY);
    assert!(files["MEMORY.md"].ends_with("- [Commits](feedback_commits.md) — small\n"));
    // Nothing has come since.
    let again = extract(&mut host, &store, &talk());
    assert_eq!(
        (again.outcome, again.reason),
        (ExtractionOutcome::Skipped, Some(Skip::NothingNew))
    );
}

#[test]
fn everything_else_is_denied_with_a_reason() {
    let denied = [
        call(
            "Write",
            json!({"file_path": "/code/shop/main.rs", "content": "x"}),
        ),
        call(
            "Write",
            json!({"file_path": "/mem/../code/x.md", "content": "x"}),
        ),
        call(
            "Write",
            json!({"file_path": "/mem/.memdir/x.md", "content": "x"}),
        ),
        call(
            "Write",
            json!({"file_path": "/mem/script.sh", "content": "x"}),
        ),
        call(
            "Write",
            json!({"file_path": "/mem/feedback_tests.md", "content": "unread"}),
        ),
        call(
            "Edit",
            json!({"file_path": "/code/shop/main.rs", "old_string": "fn", "new_string": "x"}),
        ),
        call("Delete", json!({"file_path": "/code/shop/main.rs"})),
        call("Delete", json!({"file_path": "/mem/MEMORY.md"})),
        call("Read", json!({"file_path": "/etc/passwd"})),
        call("Bash", json!({"command": "cat /etc/passwd"})),
        call("Bash", json!({"command": "rm -r /mem"})),
        call("Bash", json!({"command": "echo x > /mem/a.md"})),
        call("Task", json!({"prompt": "x"})),
        call("Write", json!({"file_path": 3, "content": "x"})),
        call("Read", json!("x")),
    ];
    let count = denied.len();
    let (mut host, asked) = host(vec![turn(denied.to_vec())]);
    let before = Folder::new(&host.tree, STORE).files();
    let result = extract(&mut host, &store(Features::default()), &talk());
    assert_eq!(result.outcome, ExtractionOutcome::Done);
    assert!(
        result.paths.is_empty() && result.notice.is_none(),
        "{result:?}"
    );
    assert_eq!(Folder::new(&host.tree, STORE).files(), before);
    let code = Folder::new(&host.tree, "/code/shop").files();
    assert_eq!(code["main.rs"], "fn main() {}\n");
    let asked = asked.all();
    let answers = answers(&asked[1]);
    assert_eq!(answers.len(), count);
    let block = asked[1]["messages"].as_array().unwrap().last().unwrap();
    for result in block["content"].as_array().unwrap() {
        assert_eq!(result["is_error"], true, "{result}");
    }
    for answer in answers {
        assert!(!answer.contains("root"), "{answer}");
    }
}

#[test]
fn a_model_that_never_ends_has_five_turns() {
    let endless = (0..20).map(|_| turn(vec![call("Glob", json!({"pattern": "**"}))]));
    let (mut host, asked) = host(endless.collect());
    let result = extract(&mut host, &store(Features::default()), &talk());
    assert_eq!((result.turns, result.ended), (5, Some(RunEnd::Turns)));
    assert_eq!(asked.all().len(), 5);
    assert_eq!(result.outcome, ExtractionOutcome::Done);
}

#[test]
fn nothing_is_read_where_nothing_is_to_be_done() {
    let (mut host, _) = host(Vec::new());
    let store = store(Features {
        extract_every: 3,
        ..Features::default()
    });
    host.run(store.open()).unwrap();
    let before = host.trace.len();
    let result = extract(&mut host, &store, &talk());
    assert_eq!(result.reason, Some(Skip::Throttled));
    assert_eq!(result.state.turns, 1);
    let reads = host.trace[before..]
        .iter()
        .filter(|traced| !matches!(traced.effect, Effect::Emit { .. }));
    assert_eq!(reads.count(), 0);
}

#[test]
fn a_run_that_is_reviewed_sees_its_own_changes_and_leaves_the_store_alone() {
    let (mut host, asked) = host(vec![
        turn(vec![call(
            "Write",
            json!({"file_path": "/mem/feedback_commits.md", "content": MEMORY}),
        )]),
        turn(vec![
            call("Read", json!({"file_path": "/mem/feedback_commits.md"})),
            call("Read", json!({"file_path": "/mem/feedback_tests.md"})),
            call("Grep", json!({"pattern": "commits small", "path": "/mem"})),
            call("Delete", json!({"file_path": "/mem/feedback_tests.md"})),
            call("Glob", json!({"pattern": "*.md", "path": "/mem"})),
        ]),
    ]);
    let before = Folder::new(&host.tree, STORE).files();
    let store = store(Features::default());
    let options = ExtractOptions {
        review: true,
        ..ExtractOptions::default()
    };
    let result = host.run(store.extract(&talk(), options)).unwrap();
    assert_eq!(result.inbox.len(), 1, "{result:?}");
    assert_eq!(Folder::new(&host.tree, STORE).files(), before);
    let asked = asked.all();
    let answers = answers(&asked[2]);
    assert!(answers[1].contains("Keep commits small."), "{answers:?}");
    assert_eq!(answers[3], "/mem/feedback_commits.md\n");
    assert_eq!(answers[5], "/mem/feedback_commits.md\n/mem/MEMORY.md\n");
    let inbox = host.run(store.inbox()).unwrap();
    let paths: Vec<&str> = inbox.items[0]
        .changes
        .iter()
        .map(|change| change.path.as_str())
        .collect();
    assert_eq!(paths, ["feedback_commits.md", "feedback_tests.md"]);
    host.run(store.apply_proposal(inbox.items[0].id.clone(), None))
        .unwrap();
    let files = Folder::new(&host.tree, STORE).files();
    assert_eq!(files["feedback_commits.md"], MEMORY);
    assert!(!files.contains_key("feedback_tests.md"));
}

#[test]
fn a_closed_store_refuses_also_without_the_feature() {
    let store = Store::new(OpenOptions::default());
    drop(store.close());
    let (mut host, _) = host(Vec::new());
    let refused = host.run(store.extract(&talk(), ExtractOptions::default()));
    assert_eq!(refused.unwrap_err().code, ErrorCode::Closed);
}

#[test]
fn without_a_model_there_is_an_error_and_the_next_one_runs() {
    let (mut host, _) = host(Vec::new());
    let options = OpenOptions {
        directory: Some(STORE.to_owned()),
        features: Features {
            extract: true,
            ..Features::default()
        },
        ..OpenOptions::default()
    };
    let store = Store::new(options);
    for _ in 0..2 {
        let error = host
            .run(store.extract(&talk(), ExtractOptions::default()))
            .unwrap_err();
        assert_eq!(error.code, ErrorCode::NoModel);
    }
}
