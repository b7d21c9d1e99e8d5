//! What somebody found who tried to break a background run: how it got out, how it ran away, what it lost.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use memdir_core::conversation::Message;
use memdir_core::extract::{ExtractOptions, Extraction, ExtractionOutcome, RunEnd, Skip};
use memdir_core::flow::{Effect, Failure, FailureCode, Outcome, RunAnswer};
use memdir_core::store::{Features, Store};
use memdir_simulation::{
    Attempt, Folder, SimHost, Tree, answering, call, extract_options, extract_tree, results, said,
    turn,
};
use serde_json::{Value, json};

fn store() -> Store {
    Store::new(extract_options(Features::default()))
}

fn talk() -> Vec<Message> {
    said(&[
        ("u1", "user", "please always write small commits"),
        ("a1", "assistant", "I will."),
    ])
}

/// One turn of calls; what each was answered, and whether that was an error.
fn calls(tree: Tree, calls: &[Value]) -> (Vec<(String, bool)>, SimHost, Extraction) {
    let (mut host, asked) = answering(tree, vec![turn(calls)]);
    // Every program that is started has something to tell.
    host.script = Some(Box::new(|effect, _| match effect {
        Effect::Run { .. } => Some(Outcome::Ran(RunAnswer {
            exit_code: Some(0),
            stdout: memdir_core::flow::Bytes(b"SECRET".to_vec()),
            stderr: memdir_core::flow::Bytes::default(),
        })),
        _ => None,
    }));
    let result = host.run(store().extract(&talk(), ExtractOptions::default()));
    let answers = results(asked.all().get(1).unwrap());
    (answers, host, result.unwrap())
}

fn bash(command: &str) -> Value {
    call("Bash", &json!({"command": command}))
}

#[test]
fn programs_are_given_no_way_out_behind_links() {
    let mut tree = extract_tree();
    tree.file("/outside/deep/x.txt", "x");
    tree.file("/outside/secret.txt", "secret");
    tree.link("/code/shop/link", "/outside/deep");
    tree.file("/mem/sub/a.md", "a");
    tree.file("/mem/.memdir/trash/old.md", "old");
    tree.link("/code/shop/store", "/mem/sub");
    tree.file("/code/shop/a/x", "x");
    tree.file("/code/shop/b/x", "x");
    let refused = [
        "cat link/../secret.txt",
        "ls link/..",
        "grep -r s link/..",
        "cat store/../.memdir/trash/old.md",
        "diff a b",
        "diff b/x a",
    ];
    let input: Vec<Value> = refused.iter().map(|command| bash(command)).collect();
    let (answers, host, _) = calls(tree.clone(), &input);
    for (command, (answer, is_error)) in refused.iter().zip(&answers) {
        assert!(
            *is_error && !answer.contains("SECRET"),
            "{command}: {answer}"
        );
    }
    let is_run = |traced: &&memdir_simulation::Traced| matches!(traced.effect, Effect::Run { .. });
    assert_eq!(host.trace.iter().filter(is_run).count(), 0);
    // What stays within is run.
    let allowed = ["cat a/x", "cat a/../b/x", "diff a/x b/x"];
    let input: Vec<Value> = allowed.iter().map(|command| bash(command)).collect();
    let (answers, _, _) = calls(tree, &input);
    assert!(answers.iter().all(|(_, is_error)| !is_error), "{answers:?}");
}

#[test]
fn no_edit_grows_beyond_what_a_memory_may_be() {
    let mut tree = extract_tree();
    tree.file("/mem/a.md", "a".repeat(1_000_000));
    let edit = json!({"file_path": "/mem/a.md", "old_string": "a", "new_string": "b".repeat(100_000), "replace_all": true});
    let (answers, host, _) = calls(tree, &[call("Edit", &edit)]);
    assert!(
        answers[0].1 && answers[0].0.contains("more than"),
        "{}",
        answers[0].0
    );
    assert_eq!(
        Folder::new(&host.tree, "/mem").files()["a.md"].len(),
        1_000_000
    );
}

#[test]
fn patterns_that_take_for_ever_are_refused() {
    let grep = |pattern: &str| call("Grep", &json!({"pattern": pattern, "path": "/mem"}));
    let glob = |pattern: String| call("Glob", &json!({"pattern": pattern}));
    let (answers, ..) = calls(
        extract_tree(),
        &[
            grep("(?:(?:a?){1000}){60}b"),
            grep(&"a".repeat(501)),
            glob(format!("x/{{{}}}b", "*a*a*a*a0,".repeat(40))),
            glob("*a".repeat(11)),
            grep("^(name|type): [a-z]+$"),
        ],
    );
    let errors: Vec<bool> = answers.iter().map(|(_, is_error)| *is_error).collect();
    assert_eq!(errors, [true, true, true, true, false], "{answers:?}");
}

#[test]
fn one_turn_is_answered_with_so_much_and_no_more() {
    let mut tree = extract_tree();
    tree.file("/code/shop/long.txt", "0123456789\n".repeat(100_000));
    let read = call(
        "Read",
        &json!({"file_path": "/code/shop/long.txt", "limit": 100_000}),
    );
    let many: Vec<Value> = std::iter::repeat_n(read, 50).collect();
    let (answers, ..) = calls(tree, &many);
    let bytes: usize = answers.iter().map(|(answer, _)| answer.len()).sum();
    assert_eq!(answers.len(), 50, "each call has an answer");
    // 200,000, what one answer may have beyond, and a line for each that waits.
    assert!(bytes < 200_000 + 65_536 + 50 * 200, "{bytes}");
}

#[test]
fn an_answer_that_was_cut_writes_nothing() {
    let mut tree = extract_tree();
    tree.file("/mem/long.md", "whole");
    let write = |id: &str| {
        json!({"type": "tool_use", "id": id, "name": "Write",
        "input": {"file_path": "/mem/half.md", "content": "ha"}})
    };
    let cut = json!({"content": [write("1")], "stop_reason": "max_tokens"});
    let (mut host, _) = answering(tree, vec![cut]);
    let result = host
        .run(store().extract(&talk(), ExtractOptions::default()))
        .unwrap();
    assert!(result.paths.is_empty(), "{result:?}");
    assert!(
        !Folder::new(&host.tree, "/mem")
            .files()
            .contains_key("half.md")
    );
}

#[test]
fn a_path_that_is_no_memory_is_refused_at_once() {
    let paths = [
        "/mem/.md",
        "/mem/MEMORY.md/x.md",
        "/mem/a.md/b.md",
        "/mem/a\u{202e}b.md",
        "/mem/a\nb.md",
        "/mem/agents/a.md",
    ];
    let write = |path: &&str| call("Write", &json!({"file_path": path, "content": "x"}));
    let input: Vec<Value> = paths.iter().map(write).collect();
    let before = Folder::new(&extract_tree(), "/mem").files();
    let (answers, host, _) = calls(extract_tree(), &input);
    assert!(answers.iter().all(|(_, is_error)| *is_error), "{answers:?}");
    assert_eq!(Folder::new(&host.tree, "/mem").files(), before);
}

#[test]
fn what_was_not_read_is_not_removed() {
    let delete = call("Delete", &json!({"file_path": "/mem/feedback_tests.md"}));
    let (answers, host, _) = calls(
        extract_tree(),
        &[delete.clone(), bash("rm /mem/feedback_tests.md")],
    );
    assert!(answers.iter().all(|(_, is_error)| *is_error), "{answers:?}");
    assert!(
        Folder::new(&host.tree, "/mem")
            .files()
            .contains_key("feedback_tests.md")
    );
    let read = call("Read", &json!({"file_path": "/mem/feedback_tests.md"}));
    let (answers, host, _) = calls(extract_tree(), &[read, delete]);
    assert!(!answers[1].1, "{answers:?}");
    assert!(
        !Folder::new(&host.tree, "/mem")
            .files()
            .contains_key("feedback_tests.md")
    );
}

#[test]
fn a_disk_that_takes_nothing_is_a_failure_and_the_turn_is_looked_at_again() {
    let write = json!({"file_path": "/mem/new.md", "content": "x"});
    let (mut host, _) = answering(extract_tree(), vec![turn(&[call("Write", &write)])]);
    host.script = Some(Box::new(|effect, _| match effect {
        Effect::Write { .. } => Some(Outcome::Failed(Failure::new(
            FailureCode::NoSpace,
            "the disk is full",
        ))),
        _ => None,
    }));
    let store = store();
    let result = host
        .run(store.extract(&talk(), ExtractOptions::default()))
        .unwrap();
    assert_eq!(result.outcome, ExtractionOutcome::Failed, "{result:?}");
    assert_eq!(result.state.cursor, None);
    host.script = None;
    let again = host
        .run(store.extract(&talk(), ExtractOptions::default()))
        .unwrap();
    assert_eq!(again.outcome, ExtractionOutcome::Done);
}

#[test]
fn an_extraction_that_was_asked_for_is_waited_for() {
    let write = json!({"file_path": "/mem/new.md", "content": "x"});
    let (mut host, _) = answering(extract_tree(), vec![turn(&[call("Write", &write)])]);
    let store = store();
    host.run(store.open()).unwrap();
    // Asked for, but nobody has driven it yet when the store is closed.
    let asked = store.extract(&talk(), ExtractOptions::default());
    assert!(
        !host.run(store.drain(Some(50))).unwrap(),
        "it is waited for"
    );
    drop(store.close());
    let result = host.run(asked).unwrap();
    assert_eq!(result.paths, ["new.md"], "{result:?}");
    assert!(host.run(store.drain(Some(50))).unwrap());
}

#[test]
fn a_provider_that_counts_wrong_has_no_more_room() {
    let mut tree = extract_tree();
    tree.file("/code/shop/long.txt", "0123456789\n".repeat(100_000));
    let read = call(
        "Read",
        &json!({"file_path": "/code/shop/long.txt", "limit": 100_000}),
    );
    let calls: Vec<Value> = std::iter::repeat_n(read, 4).collect();
    let (mut host, asked) = answering(tree, Vec::new());
    host.model = Some(Box::new({
        let asked = asked.clone();
        move |request| {
            asked.push(request);
            Attempt::answer(
                json!({"content": calls, "usage": {"input_tokens": 1, "output_tokens": 1}})
                    .to_string(),
            )
        }
    }));
    let result = host
        .run(store().extract(&talk(), ExtractOptions::default()))
        .unwrap();
    // Each turn is answered with about 50,000 tokens, and all turns before are sent again.
    assert_eq!(result.ended, Some(RunEnd::Tokens), "{}", result.turns);
    let longest = asked
        .all()
        .iter()
        .map(|request| request.to_string().len())
        .max();
    assert!(longest.unwrap() < 1_200_000, "{longest:?}");
}

#[test]
fn nothing_new_is_said_only_of_what_was_said_before() {
    let (mut host, _) = answering(extract_tree(), Vec::new());
    let store = store();
    let without = |messages: &[(&str, &str, &str)]| -> Vec<Message> {
        let messages = said(messages).into_iter();
        messages
            .map(|message| Message {
                id: None,
                ..message
            })
            .collect()
    };
    let first = without(&[
        ("", "user", "please use tabs here"),
        ("", "assistant", "Done."),
    ]);
    let more = without(&[
        ("", "user", "please use tabs here"),
        ("", "assistant", "Done."),
        ("", "user", "my cat is named Schnurri"),
        ("", "assistant", "Done."),
    ]);
    let ask = |host: &mut SimHost, messages: &Vec<Message>| {
        host.run(store.extract(messages, ExtractOptions::default()))
            .unwrap()
    };
    assert_eq!(ask(&mut host, &first).outcome, ExtractionOutcome::Done);
    assert_eq!(ask(&mut host, &first).reason, Some(Skip::NothingNew));
    assert_eq!(ask(&mut host, &more).outcome, ExtractionOutcome::Done);
    assert_eq!(ask(&mut host, &more).reason, Some(Skip::NothingNew));
}
