//! What the notes of a session cover, on the simulated machine: nothing goes in a compaction that a model has not
//! looked at and written down (facts 8.4).
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests fail as tests do"
)]

use std::cell::Cell;

use memdir_core::conversation::{Block, Content, Conversation, Message};
use memdir_core::error::Error;
use memdir_core::extract::RunEnd;
use memdir_core::model::Role;
use memdir_core::report::ReportCode;
use memdir_core::session::{
    Compaction, CompactionOptions, CompactionReason, NotesOptions, NotesOutcome, NotesResult,
    NotesSkip, NotesState,
};
use memdir_core::store::Store;
use memdir_simulation::{
    Asked, NOTES_FILE, SimHost, answering, edit_notes, extract_tree, note, notes_options, results,
    say, talk, turn,
};
use serde_json::{Value, json};

fn host(turns: Vec<Value>) -> (SimHost, Asked) {
    answering(extract_tree(), turns)
}

fn store() -> Store {
    Store::new(notes_options())
}

fn update_with(
    host: &mut SimHost,
    store: &Store,
    messages: &Vec<Message>,
    options: NotesOptions,
) -> NotesResult {
    let session = store.session("s-1".to_owned());
    host.run(session.update(messages, options)).unwrap()
}

fn update(host: &mut SimHost, store: &Store, messages: &Vec<Message>) -> NotesResult {
    update_with(host, store, messages, NotesOptions::default())
}

fn forced(host: &mut SimHost, store: &Store, messages: &Vec<Message>) -> NotesResult {
    let options = NotesOptions {
        force: true,
        ..NotesOptions::default()
    };
    update_with(host, store, messages, options)
}

fn compaction(
    host: &mut SimHost,
    store: &Store,
    messages: &Vec<Message>,
    boundary: Option<usize>,
) -> Compaction {
    let options = CompactionOptions {
        boundary,
        state: None,
    };
    let session = store.session("s-1".to_owned());
    host.run(session.for_compaction(messages, options)).unwrap()
}

/// How far it has come: the cursor, and what is covered.
fn places(state: &NotesState) -> (Option<&str>, Option<&str>) {
    (state.cursor.as_deref(), state.last_summarised.as_deref())
}

/// What the model is told in the first request after so many.
fn told(asked: &Asked, after: usize) -> String {
    asked.all()[after]["messages"][0].to_string()
}

fn plain(id: Option<&str>, role: Role, text: &str, tokens: u64) -> Message {
    Message {
        id: id.map(str::to_owned),
        role,
        content: Content::Text(text.to_owned()),
        is_meta: false,
        tokens: Some(tokens),
    }
}

/// Every question of it is 30,000 bytes long, so that three fit into what a model is shown at a time, and not
/// four.
fn long_talk(turns: usize) -> Vec<Message> {
    let mut messages = talk(turns);
    for (number, asked) in (1..).zip(messages.iter_mut().step_by(4)) {
        let text = format!("question {number}: {}", "x".repeat(30_000));
        asked.content = Content::Text(text);
    }
    messages
}

#[test]
fn what_the_model_was_not_shown_is_not_covered() {
    let notes = ["one", "two", "three"].map(|line| turn(&[note(line)]));
    let turns = notes.into_iter().flat_map(|note| [note, json!("Done.")]);
    let (mut host, asked) = host(turns.collect());
    let store = store();
    let messages = long_talk(7);
    let result = update(&mut host, &store, &messages);
    let first = told(&asked, 0);
    assert!(
        first.contains("question 3:") && !first.contains("question 4:"),
        "{}",
        first.len()
    );
    // c3, r3 and a3 are short; 16 of 28 are left.
    assert_eq!(result.report[0].code, ReportCode::MessagesLeftOut);
    assert!(
        result.report[0].message.starts_with("16 of the new"),
        "{}",
        result.report[0].message
    );
    assert_eq!(places(&result.state), (Some("a3"), Some("a3")));
    assert_eq!(result.state.last_tokens, Some(12_000));
    // What came after a3 stays.
    let cut = compaction(&mut host, &store, &messages, None);
    assert_eq!((cut.reason, cut.keep_from), (None, Some(12)));
    // The next update goes on there, though nothing more was said, and the one after it too.
    let result = update(&mut host, &store, &messages);
    let second = told(&asked, 2);
    assert!(!second.contains("question 3:") && second.contains("question 6:"));
    assert_eq!(places(&result.state), (Some("a6"), Some("a6")));
    assert_eq!(
        update(&mut host, &store, &messages).reason,
        Some(NotesSkip::NotDue)
    );
    let result = forced(&mut host, &store, &messages);
    assert!(told(&asked, 4).contains("question 7:"));
    assert!(result.report.is_empty(), "{result:?}");
    assert_eq!(places(&result.state), (Some("a7"), Some("a7")));
    assert_eq!(result.state.last_tokens, Some(28_000));
}

#[test]
fn a_message_that_is_longer_than_what_is_shown_is_shown_whole() {
    let (mut host, asked) = host(vec![turn(&[note("one")])]);
    let mut messages = talk(3);
    messages[0].content = Content::Text(format!("{}the end", "x".repeat(150_000)));
    let result = update(&mut host, &store(), &messages);
    assert!(told(&asked, 0).contains("the end"));
    // Behind it there is no room for more, and u1 ends no turn.
    assert_eq!(places(&result.state), (Some("u1"), None));
}

#[test]
fn the_summary_of_an_earlier_compaction_is_shown() {
    let (mut host, asked) = host(vec![turn(&[note("one")])]);
    let mut messages = talk(3);
    messages[0].is_meta = true;
    messages[0].content = Content::Text("what was said before".to_owned());
    update(&mut host, &store(), &messages);
    let told = told(&asked, 0);
    assert!(told.contains("Program: what was said before"), "{told}");
}

#[test]
fn a_run_that_is_cut_covers_nothing() {
    let again = || turn(&[edit_notes("does not stand there", "x")]);
    let limited = [turn(&[note("one")]), again(), again(), again(), again()];
    // It writes to the last, and who knows what else it wanted to.
    let busy = ["2", "3", "4", "5", "6"].map(|line| turn(&[note(line)]));
    let (mut host, asked) = host(limited.into_iter().chain(busy).collect());
    let store = store();
    for turns in [3, 6] {
        let result = update(&mut host, &store, &talk(turns));
        assert_eq!(
            (result.outcome, result.ended, result.changed),
            (NotesOutcome::Done, Some(RunEnd::Turns), true)
        );
        assert_eq!(places(&result.state), (None, None));
        // It is not tried again before the conversation has grown.
        assert_eq!(
            update(&mut host, &store, &talk(turns)).reason,
            Some(NotesSkip::NotDue)
        );
    }
    let cut = compaction(&mut host, &store, &talk(6), None);
    assert_eq!(cut.reason, Some(CompactionReason::UnknownMessage));
    // The same messages are looked at again.
    let result = {
        say(&mut host, vec![turn(&[note("seven")])]);
        update(&mut host, &store, &talk(8))
    };
    assert_eq!(places(&result.state), (Some("a8"), Some("a8")));
    assert!(told(&asked, 5).contains("question number 1 of mine"));
}

#[test]
fn what_was_not_written_down_is_shown_again() {
    // Nothing at all; an edit that was refused; one of two that was.
    let wrong = edit_notes("does not stand there", "x");
    for turns in [
        vec![json!("Nothing.")],
        vec![turn(std::slice::from_ref(&wrong)), json!("Done.")],
        vec![turn(&[wrong.clone(), note("one")]), json!("Done.")],
    ] {
        let (mut host, _) = host(turns);
        let store = store();
        let result = update(&mut host, &store, &talk(3));
        assert_eq!(
            (result.outcome, result.ended),
            (NotesOutcome::Done, Some(RunEnd::Answered))
        );
        assert_eq!(places(&result.state), (None, None));
        assert_eq!(result.state.last_tokens, Some(12_000));
        let asked = say(&mut host, vec![turn(&[note("two")])]);
        let result = update(&mut host, &store, &talk(5));
        assert!(told(&asked, 0).contains("question number 1 of mine"));
        assert_eq!(places(&result.state), (Some("a5"), Some("a5")));
    }
    // One that was made good.
    let (mut host, asked) = host(vec![turn(&[wrong]), turn(&[note("one")])]);
    let result = update(&mut host, &store(), &talk(3));
    assert!(results(&asked.all()[1])[0].1);
    assert_eq!(places(&result.state), (Some("a3"), Some("a3")));
}

#[test]
fn what_holds_nothing_new_does_not_hold_up_what_comes_behind_it() {
    let (mut host, asked) = host(vec![
        turn(&[note("one")]),
        json!("Done."),
        json!("Nothing."),
        turn(&[note("two")]),
    ]);
    let store = store();
    let messages = long_talk(9);
    update(&mut host, &store, &messages);
    let result = forced(&mut host, &store, &messages);
    assert_eq!((result.changed, result.report.len()), (false, 1));
    assert_eq!(places(&result.state), (Some("a6"), Some("a3")));
    let result = forced(&mut host, &store, &messages);
    assert!(told(&asked, 3).contains("question 9:"));
    assert_eq!(places(&result.state), (Some("a9"), Some("a9")));
}

#[test]
fn within_a_turn_the_turns_before_it_are_covered() {
    let (mut host, _) = host(vec![turn(&[note("one")])]);
    let store = store();
    let mut messages = talk(4);
    messages.truncate(14);
    let result = update(&mut host, &store, &messages);
    assert_eq!(places(&result.state), (Some("c4"), Some("a3")));
    // And then twenty turns of plain talk, in which no update is due.
    messages = talk(4);
    for number in 1..=20 {
        let id = format!("q{number}");
        messages.push(plain(Some(&id), Role::User, "question", 2_000));
        let id = format!("p{number}");
        messages.push(plain(Some(&id), Role::Assistant, "answer", 2_000));
    }
    assert_eq!(
        update(&mut host, &store, &messages).reason,
        Some(NotesSkip::NotDue)
    );
    let cut = compaction(&mut host, &store, &messages, None);
    assert_eq!((cut.reason, cut.keep_from), (None, Some(12)));
}

#[test]
fn within_the_first_turn_nothing_is_covered() {
    let (mut host, _) = host(vec![turn(&[note("one")])]);
    let store = store();
    // One question, and nothing but calls since.
    let mut messages: Vec<Message> = talk(4)
        .into_iter()
        .enumerate()
        .filter(|(at, _)| *at == 0 || at % 4 == 1 || at % 4 == 2)
        .map(|(_, message)| message)
        .collect();
    messages[0].tokens = Some(9_000);
    let result = update(&mut host, &store, &messages);
    assert!(result.changed, "{result:?}");
    assert_eq!(places(&result.state), (Some("r4"), None));
    let cut = compaction(&mut host, &store, &messages, None);
    assert_eq!(cut.reason, Some(CompactionReason::UnknownMessage));
}

#[test]
fn a_first_part_of_an_answer_ends_no_turn() {
    let (mut host, _) = host(vec![turn(&[note("one")])]);
    let store = store();
    let mut messages = talk(4);
    messages.truncate(14);
    let part = plain(Some("c4"), Role::Assistant, "I look at it.", 100);
    messages.insert(13, part);
    let result = update(&mut host, &store, &messages);
    assert_eq!(places(&result.state), (Some("c4"), Some("a3")));
}

#[test]
fn what_a_compaction_has_replaced_does_not_come_back() {
    let (mut host, _) = host(vec![turn(&[note("one")])]);
    let store = store();
    assert_eq!(
        places(&update(&mut host, &store, &talk(3)).state).1,
        Some("a3")
    );
    let messages = talk(10);
    // The message at 28 stands for those from 12 on, which the notes do not have.
    let cut = compaction(&mut host, &store, &messages, Some(28));
    assert_eq!(cut.keep_from, Some(28), "{cut:?}");
}

#[test]
fn notes_that_somebody_has_removed_cover_nothing() {
    let removed: fn(&mut SimHost) = |host| {
        host.tree.file(NOTES_FILE, "\n");
    };
    // The run that finds it comes to its end, or it does not.
    let cut = (0..5).map(|_| turn(&[note("two")]));
    for turns in [vec![turn(&[note("two")])], cut.collect()] {
        let (mut host, _) = host(vec![turn(&[note("one")])]);
        let store = store();
        let state = update(&mut host, &store, &talk(3)).state;
        removed(&mut host);
        say(&mut host, turns);
        let given = NotesOptions {
            state: Some(state),
            ..NotesOptions::default()
        };
        let result = update_with(&mut host, &store, &talk(6), given.clone());
        assert!(result.changed);
        assert_eq!(places(&result.state), (None, None));
        let cut = compaction(&mut host, &store, &talk(6), None);
        assert_eq!(cut.reason, Some(CompactionReason::UnknownMessage));
        let asked = say(&mut host, vec![turn(&[note("three")])]);
        let result = update_with(&mut host, &store, &talk(9), given);
        assert!(told(&asked, 0).contains("question number 1 of mine"));
        assert_eq!(places(&result.state), (Some("a9"), Some("a9")));
    }
}

/// "continue" and "ok" again and again, 1,000 tokens each.
fn same(count: usize) -> Vec<Message> {
    let turn = [
        plain(None, Role::User, "continue", 1_000),
        plain(None, Role::Assistant, "ok", 1_000),
    ];
    turn.into_iter().cycle().take(count).collect()
}

#[test]
fn what_is_said_again_without_ids_is_not_taken_for_what_is_covered() {
    let (mut host, asked) = host(vec![turn(&[note("one")]), json!("Done.")]);
    let store = store();
    let mut messages = same(40);
    let result = forced(&mut host, &store, &messages);
    assert!(result.changed);
    messages = same(60);
    let cut = compaction(&mut host, &store, &messages, None);
    assert!(cut.keep_from <= Some(40), "{:?}", cut.keep_from);
    // Nor is anything left out that may be new.
    let word = "something else";
    messages[45].content = Content::Text(word.to_owned());
    forced(&mut host, &store, &messages);
    assert!(told(&asked, 2).contains(word));
}

/// Tells how many messages were looked at.
struct Counting(Vec<Message>, Cell<usize>);

impl Conversation for Counting {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn id(&self, at: usize) -> Result<Option<String>, Error> {
        self.0.id(at)
    }

    fn message(&self, at: usize) -> Result<Message, Error> {
        self.1.set(self.1.get() + 1);
        self.0.message(at)
    }
}

#[test]
fn what_was_counted_is_not_counted_again_without_ids() {
    let (mut host, _) = host(Vec::new());
    let session = store().session("s-1".to_owned());
    let messages = |count: u64| {
        let message = |number| plain(None, Role::User, &format!("message {number}"), 0);
        (0..count).map(message).collect()
    };
    let mut looked_at = |count| {
        let counting = Counting(messages(count), Cell::new(0));
        let result = host.run(session.update(&counting, NotesOptions::default()));
        assert_eq!(result.unwrap().reason, Some(NotesSkip::NotDue));
        counting.1.get()
    };
    assert!(looked_at(1_000) >= 1_000);
    // Those that one is recognised by, before and after, and what is new.
    assert!(looked_at(1_002) <= 12);
    assert!(looked_at(1_002) <= 12);
}

#[test]
fn the_command_goes_on_until_everything_was_shown() {
    use memdir_core::cli::{CommandOptions, command};
    let (mut host, _) = host(Vec::new());
    let lines: Vec<String> = long_talk(7)
        .iter()
        .map(|message| serde_json::to_string(message).unwrap() + "\n")
        .collect();
    host.tree.file("/code/shop/said.jsonl", lines.concat());
    let answer = |content: Value| {
        let body = json!({"choices": [{"message": content}]}).to_string();
        memdir_simulation::Attempt::answer(memdir_core::flow::HttpAnswer {
            status: 200,
            headers: Vec::new(),
            body: memdir_core::flow::Bytes(body.into_bytes()),
        })
    };
    let edit = |line: &str| {
        let input = note(line)["input"].to_string();
        let call = json!({"id": "1", "type": "function", "function": {"name": "Edit", "arguments": input}});
        answer(json!({"role": "assistant", "tool_calls": [call]}))
    };
    let done = || answer(json!({"role": "assistant", "content": "Done."}));
    let answers = ["one", "two", "three"].map(|line| [edit(line), done()]);
    host.network = Some(memdir_simulation::Network::scripted(
        answers.into_iter().flatten().collect(),
    ));
    let line = "session s-1 said.jsonl --model openai/x --json";
    let flow = command(CommandOptions {
        args: line.split(' ').map(str::to_owned).collect(),
        cwd: Some("/code/shop".to_owned()),
        home: Some("/home/ada".to_owned()),
        env: [(
            "OPENAI_BASE_URL".to_owned(),
            "http://127.0.0.1:1/v1".to_owned(),
        )]
        .into(),
    });
    assert_eq!(host.run(flow).unwrap(), 0, "{}", host.stderr);
    let shown: Value = serde_json::from_str(&host.stdout).unwrap();
    assert_eq!(shown["state"]["lastSummarised"], "a7");
    assert_eq!(
        (&shown["turns"], &shown["changed"]),
        (&json!(6), &json!(true))
    );
    assert_eq!(shown["report"], json!([]));
}

#[test]
fn parts_of_an_answer_are_all_shown_and_stay_together() {
    // The results of calls that were made at once stand between the parts of the answer.
    let (mut host, asked) = host(vec![turn(&[note("one")]), json!("Done.")]);
    let store = store();
    let mut messages = talk(3);
    let part = |call: &str| {
        let input = json!({});
        let block = Block::ToolUse {
            id: call.to_owned(),
            name: "Read".to_owned(),
            input,
        };
        Message {
            content: Content::Blocks(vec![block]),
            ..plain(Some("m"), Role::Assistant, "", 1_000)
        }
    };
    let result = |call: &str| {
        let block = Block::ToolResult {
            tool_use_id: call.to_owned(),
            content: json!(format!("result of {call}")),
            is_error: false,
        };
        Message {
            content: Content::Blocks(vec![block]),
            ..plain(Some(call), Role::User, "", 1_000)
        }
    };
    messages.push(plain(Some("u4"), Role::User, "question", 1_000));
    messages.push(part("x"));
    let first = update(&mut host, &store, &messages);
    assert_eq!(places(&first.state), (Some("m"), Some("a3")));
    messages.extend([result("x"), part("y"), result("y")]);
    messages.push(plain(Some("a4"), Role::Assistant, "answer", 40_000));
    // What is recognised by the id of all parts begins behind the first of them.
    let second = forced(&mut host, &store, &messages);
    let told = told(&asked, 2);
    assert!(told.contains("result of x") && told.contains("result of y"));
    assert_eq!(places(&second.state), (Some("m"), Some("a3")));
    assert!(!second.changed);
    let cut = compaction(&mut host, &store, &messages, None);
    assert_eq!(cut.keep_from, Some(12));
}
