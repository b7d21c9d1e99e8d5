//! The notes of a session on the simulated machine with a scripted model: when they are written, what the model
//! may do, what a compaction gets (facts 8).
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "helpers of tests fail as tests do"
)]

use memdir_core::ErrorCode;
use memdir_core::conversation::{Content, Conversation, Message};
use memdir_core::error::Error;
use memdir_core::extract::RunEnd;
use memdir_core::flow::{Effect, FailureCode};
use memdir_core::report::ReportCode;
use memdir_core::session::{
    Compaction, CompactionOptions, CompactionReason, NotesOptions, NotesOutcome, NotesResult,
    NotesSkip, NotesState,
};
use memdir_core::store::{OpenOptions, Store};
use memdir_simulation::{
    Asked, Attempt, Body, FaultKind, NOTES_FILE, Network, Process, Progress, Running, SimHost,
    answering, call, edit_notes, end, extract_tree, note, notes_options, results, say, talk, turn,
};
use serde_json::{Value, json};

const PROJECT: &str = "/home/ada/.claude/projects/-code-shop";
const FOLDER: &str = "/home/ada/.claude/projects/-code-shop/s-1/session-memory";
const CONFIG: &str = "/home/ada/.claude/session-memory/config";
const HEADINGS: [&str; 10] = [
    "# Session Title",
    "# Current State",
    "# Task specification",
    "# Files and Functions",
    "# Workflow",
    "# Errors & Corrections",
    "# Codebase and System Documentation",
    "# Learnings",
    "# Key results",
    "# Worklog",
];

fn store() -> Store {
    Store::new(notes_options())
}

fn host(turns: Vec<Value>) -> (SimHost, Asked) {
    answering(extract_tree(), turns)
}

fn update_with(
    host: &mut SimHost,
    store: &Store,
    messages: &Vec<Message>,
    options: NotesOptions,
) -> Result<NotesResult, Error> {
    host.run(store.session("s-1".to_owned()).update(messages, options))
}

fn update(host: &mut SimHost, store: &Store, messages: &Vec<Message>) -> NotesResult {
    update_with(host, store, messages, NotesOptions::default()).unwrap()
}

fn compaction(host: &mut SimHost, store: &Store, messages: &Vec<Message>) -> Compaction {
    let session = store.session("s-1".to_owned());
    host.run(session.for_compaction(messages, CompactionOptions::default()))
        .unwrap()
}

fn file(host: &SimHost, path: &str) -> Option<String> {
    match &host.tree.nodes().get(path.as_bytes())?.body {
        Body::File(bytes) => Some(String::from_utf8(bytes.clone()).unwrap()),
        other => panic!("{other:?}"),
    }
}

fn notes(host: &SimHost) -> String {
    file(host, NOTES_FILE).unwrap()
}

/// Everything on the disk but the notes, and what is left over beside them.
fn others(host: &SimHost) -> Vec<(String, Vec<u8>)> {
    let nodes = host.tree.nodes().iter();
    nodes
        .filter_map(|(path, node)| match &node.body {
            Body::File(bytes) if path != NOTES_FILE.as_bytes() => {
                Some((String::from_utf8_lossy(path).into_owned(), bytes.clone()))
            }
            _ => None,
        })
        .collect()
}

fn headings(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.starts_with('#')).collect()
}

fn until<T: Send + 'static>(
    host: &mut SimHost,
    running: &mut Running<T>,
    fits: impl Fn(&Effect) -> bool,
) {
    loop {
        let before = host.trace.len();
        assert!(matches!(host.step(running), Progress::Working));
        if host.trace[before..]
            .iter()
            .any(|traced| fits(&traced.effect))
        {
            return;
        }
    }
}

fn is_model(effect: &Effect) -> bool {
    matches!(effect, Effect::Model { .. })
}

#[test]
fn the_first_update_makes_the_file_and_the_model_edits_it() {
    let (mut host, asked) = host(vec![turn(&[note("Mending the login.")])]);
    let before = others(&host);
    let store = store();
    let result = update(&mut host, &store, &talk(3));
    assert_eq!(
        result.outcome,
        NotesOutcome::Done,
        "{result:?} {:?}",
        asked.all().last()
    );
    assert_eq!((result.changed, result.turns), (true, 2));
    assert_eq!(result.path.as_deref(), Some(NOTES_FILE));
    assert_eq!(result.ended, Some(RunEnd::Answered));
    assert_eq!(
        result.state,
        NotesState {
            last_tokens: Some(12_000),
            cursor: Some("a3".to_owned()),
            last_summarised: Some("a3".to_owned()),
        }
    );
    let text = notes(&host);
    assert_eq!(headings(&text), HEADINGS);
    let italics = text
        .lines()
        .filter(|line| line.starts_with('_') && line.ends_with('_'));
    assert_eq!(italics.count(), HEADINGS.len());
    assert_eq!(text.matches("Mending the login.").count(), 1);
    let modes = |path: &str| host.tree.nodes()[path.as_bytes()].mode & 0o777;
    assert_eq!((modes(FOLDER), modes(NOTES_FILE)), (0o700, 0o600));
    assert_eq!(others(&host), before);
    // What the model is told.
    let first = &asked.all()[0];
    assert_eq!(first["purpose"], "session-notes");
    let tools = first["tools"].as_array().unwrap();
    let names: Vec<&str> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["Read", "Edit"]);
    let told = first["messages"][0].to_string();
    for part in [
        NOTES_FILE,
        "question number 1 of mine",
        "question number 3 of mine",
        "# Worklog",
        "Current State",
    ] {
        assert!(told.contains(part), "{part} in {told}");
    }
    assert!(!told.contains("{{"), "{told}");
    let session = store.session("s-1".to_owned());
    assert_eq!(host.run(session.notes()).unwrap(), Some(text));
    assert_eq!(host.run(session.path()).unwrap(), NOTES_FILE);
}

#[test]
fn it_is_done_when_the_conversation_has_grown_and_tools_were_called() {
    let (mut host, asked) = host(vec![
        turn(&[note("one")]),
        json!("Done."),
        turn(&[note("two")]),
    ]);
    let store = store();
    let early = update(&mut host, &store, &talk(2));
    assert_eq!(
        (early.outcome, early.reason),
        (NotesOutcome::Skipped, Some(NotesSkip::NotDue))
    );
    assert_eq!(early.state, NotesState::default());
    assert!(
        file(&host, NOTES_FILE).is_none() && !host.tree.nodes().contains_key(PROJECT.as_bytes())
    );
    assert_eq!(
        update(&mut host, &store, &talk(3)).outcome,
        NotesOutcome::Done
    );
    // 8,000 tokens more, but two calls only; then three.
    assert_eq!(
        update(&mut host, &store, &talk(5)).reason,
        Some(NotesSkip::NotDue)
    );
    let before = asked.all().len();
    let third = update(&mut host, &store, &talk(6));
    assert_eq!(third.outcome, NotesOutcome::Done);
    assert_eq!(third.state.last_tokens, Some(24_000));
    let told = asked.all()[before]["messages"][0].to_string();
    assert!(
        told.contains("number 4") && !told.contains("number 3"),
        "{told}"
    );
    assert!(told.contains("one"), "{told}");
    // Nothing new, however much it is wished for.
    let options = NotesOptions {
        force: true,
        ..NotesOptions::default()
    };
    let again = update_with(&mut host, &store, &talk(6), options).unwrap();
    assert_eq!(again.reason, Some(NotesSkip::NothingNew));
}

#[test]
fn force_and_a_natural_break() {
    let (mut host, _) = host(Vec::new());
    let forced = NotesOptions {
        force: true,
        ..NotesOptions::default()
    };
    let at_breaks = NotesOptions {
        natural_break: true,
        ..NotesOptions::default()
    };
    let store = store();
    let result = update_with(&mut host, &store, &talk(1), forced.clone()).unwrap();
    assert_eq!(result.outcome, NotesOutcome::Done);
    let result = update_with(&mut host, &store, &Vec::new(), forced).unwrap();
    assert_eq!(result.reason, Some(NotesSkip::NothingNew));
    // 12,000 tokens and two calls since: a break only where it is asked for, and none within a turn.
    say(&mut host, vec![turn(&[note("one")])]);
    let store = self::store();
    assert_eq!(
        update(&mut host, &store, &talk(3)).outcome,
        NotesOutcome::Done
    );
    let mut within = talk(5);
    within.truncate(18);
    assert_eq!(
        update_with(&mut host, &store, &within, at_breaks.clone())
            .unwrap()
            .reason,
        Some(NotesSkip::NotDue)
    );
    assert_eq!(
        update(&mut host, &store, &talk(5)).reason,
        Some(NotesSkip::NotDue)
    );
    let result = update_with(&mut host, &store, &talk(5), at_breaks).unwrap();
    assert_eq!(result.outcome, NotesOutcome::Done);
}

#[test]
fn what_the_model_was_not_shown_comes_the_next_time() {
    let mut messages = talk(12);
    for number in 1..=12 {
        let mut long = format!("question-{number}. ");
        long.push_str(&"word ".repeat(6_000));
        messages[(number - 1) * 4].content = Content::Text(long);
    }
    let turns = (0..4).flat_map(|round| [turn(&[note(&format!("round {round}"))]), json!("Done.")]);
    let (mut host, asked) = host(turns.collect());
    let store = store();
    let mut seen = 0;
    for round in 0.. {
        let result = update(&mut host, &store, &messages);
        assert_eq!(result.outcome, NotesOutcome::Done, "{result:?}");
        let last = result.state.last_summarised.clone().unwrap();
        let covered: usize = last.trim_start_matches('a').parse().unwrap();
        assert!(covered > seen, "{last}");
        seen = covered;
        // Nothing that is not in the notes yet is dropped.
        let kept = compaction(&mut host, &store, &messages).keep_from.unwrap();
        assert!(kept <= covered * 4, "{kept}, {last}");
        let codes: Vec<ReportCode> = result.report.iter().map(|entry| entry.code).collect();
        if covered == 12 {
            assert_eq!((codes, round), (Vec::new(), 3));
            assert_eq!(result.state.last_tokens, Some(48_000));
            break;
        }
        assert_eq!(codes, [ReportCode::MessagesLeftOut]);
        assert_eq!(result.state.cursor, Some(last));
    }
    let asked: String = asked.all().iter().map(Value::to_string).collect();
    for number in 1..=12 {
        assert!(asked.contains(&format!("question-{number}. ")), "{number}");
    }
}

#[test]
fn code_may_hold_lines_that_look_like_headings() {
    let fenced = "```md\n# Workflow\n_what it is_\n```";
    let (mut host, asked) = host(vec![
        turn(&[note(fenced)]),
        // A block that is not closed would hide the headings behind it.
        turn(&[note("```md")]),
    ]);
    update(&mut host, &store(), &talk(3));
    assert!(notes(&host).contains(fenced));
    let answers: Vec<bool> = (1..=2)
        .map(|at| results(&asked.all()[at]).last().unwrap().1)
        .collect();
    assert_eq!(answers, [false, true]);
}

#[test]
fn everything_else_is_denied_with_a_reason() {
    let file = |name: &str, path: &str| {
        let input =
            json!({"file_path": path, "old_string": "x", "new_string": "y", "content": "z"});
        call(name, &input)
    };
    let denied = vec![
        file("Write", NOTES_FILE),
        file("Edit", "/code/shop/main.rs"),
        file("Edit", "/mem/feedback_tests.md"),
        file(
            "Edit",
            "/home/ada/.claude/projects/-code-shop/s-2/session-memory/summary.md",
        ),
        file("Edit", "summary.md"),
        file("Edit", ""),
        file("Read", "/etc/passwd"),
        file(
            "Read",
            "/home/ada/.claude/projects/-code-shop/s-1/session-memory/../../../../x",
        ),
        file("Delete", NOTES_FILE),
        call("Bash", &json!({"command": "ls"})),
        call("Grep", &json!({"pattern": "root", "path": "/etc"})),
        call("Task", &json!({})),
        call("Edit", &json!("x")),
        call(
            "Edit",
            &json!({"file_path": NOTES_FILE, "old_string": 3, "new_string": "x"}),
        ),
        edit_notes("", "x"),
        edit_notes("does not stand there", "x"),
        edit_notes("\n# Worklog", "\n# Work log"),
        edit_notes("# Current State\n", ""),
        edit_notes("# Worklog\n", "# Worklog\n# Worklog\n"),
        edit_notes("# Session Title", "# Session Title\n\0"),
    ];
    let count = denied.len();
    let italic = edit_notes("_What was done, step by step, in a few words each_\n", "");
    let all: Vec<Value> = denied.into_iter().chain([italic]).collect();
    let (mut host, asked) = host(vec![turn(&all)]);
    let before = others(&host);
    let result = update(&mut host, &store(), &talk(3));
    assert_eq!(
        (result.outcome, result.changed),
        (NotesOutcome::Done, false),
        "{result:?}"
    );
    let answers = results(&asked.all()[1]);
    assert_eq!(answers.len(), count + 1);
    for (answer, is_error) in answers {
        assert!(
            is_error && !answer.is_empty() && !answer.contains("root:"),
            "{answer}"
        );
    }
    assert_eq!(others(&host), before);
    assert_eq!(headings(&notes(&host)), HEADINGS);
}

#[test]
fn a_model_that_never_ends_has_five_turns() {
    let endless = (0..20).map(|number| turn(&[note(&format!("- {number}"))]));
    let (mut host, asked) = host(endless.collect());
    let result = update(&mut host, &store(), &talk(3));
    assert_eq!((result.turns, result.ended), (5, Some(RunEnd::Turns)));
    assert_eq!(asked.all().len(), 5);
    assert_eq!(result.outcome, NotesOutcome::Done);
    assert_eq!(notes(&host).matches("\n- ").count(), 5);
}

#[test]
fn an_edit_of_a_person_meanwhile_wins() {
    let (mut host, asked) = host(Vec::new());
    let turns = [
        turn(&[note("of the model")]),
        turn(&[
            call("Read", &json!({"file_path": NOTES_FILE})),
            note("of the model"),
        ]),
    ];
    let mut turns = turns.into_iter();
    let log = asked.clone();
    host.model = Some(Box::new(move |request| {
        log.push(request);
        Attempt::answer(turns.next().unwrap_or(json!("Done.")).to_string())
    }));
    let mut is_first = true;
    host.script = Some(Box::new(move |effect, tree| {
        if is_model(effect) && std::mem::take(&mut is_first) {
            let Body::File(bytes) = tree.nodes()[NOTES_FILE.as_bytes()].body.clone() else {
                panic!("no file");
            };
            let text = String::from_utf8(bytes).unwrap();
            tree.file(
                NOTES_FILE,
                text.replace("# Worklog\n", "# Worklog\n- of a person\n"),
            );
        }
        None
    }));
    let result = update(&mut host, &store(), &talk(3));
    assert!(result.changed, "{result:?}");
    let requests = asked.all();
    let (first, is_error) = &results(&requests[1])[0];
    assert!(*is_error && first.contains("read it again"), "{first}");
    let text = notes(&host);
    assert!(
        text.contains("- of a person\n") && text.contains("\nof the model\n"),
        "{text}"
    );
}

/// Whatever a person writes and whenever, it is not lost, but for the moment between the last look and the
/// rename, in which no effect comes.
#[test]
fn a_person_may_write_before_each_effect() {
    for at in 0.. {
        let (mut host, _) = host(vec![turn(&[note("of the model")])]);
        let mut number = 0;
        let mut wrote = false;
        let done = std::rc::Rc::new(std::cell::Cell::new(false));
        let seen = std::rc::Rc::clone(&done);
        host.script = Some(Box::new(move |effect, tree| {
            let is_rename = matches!(effect, Effect::Rename { .. });
            if number >= at && !wrote && !is_rename && tree.nodes().contains_key(FOLDER.as_bytes())
            {
                tree.file(NOTES_FILE, "# Current State\nof a person\n");
                wrote = true;
                seen.set(true);
            }
            number += 1;
            None
        }));
        let result = update(&mut host, &store(), &talk(3));
        if !done.get() {
            assert!(at > 10, "{at}");
            break;
        }
        assert!(notes(&host).contains("of a person"), "{at}: {result:?}");
        assert!(
            others(&host)
                .iter()
                .all(|(path, _)| !path.ends_with("-tmp")),
            "{at}"
        );
    }
}

#[test]
fn notes_that_are_there_are_kept_and_empty_ones_begin_anew() {
    let (mut host, asked) = host(vec![turn(&[edit_notes("old", "new")])]);
    host.tree.file(NOTES_FILE, "\u{FEFF}my own\r\nold\r\n");
    let result = update(&mut host, &store(), &talk(3));
    assert!(result.changed, "{:?}", asked.all().last());
    assert_eq!(notes(&host), "\u{FEFF}my own\r\nnew\r\n");
    host.tree.file(NOTES_FILE, " \n");
    update(&mut host, &store(), &talk(3));
    assert_eq!(headings(&notes(&host)), HEADINGS);
}

#[test]
fn what_is_too_long_is_to_be_condensed() {
    let (mut host, asked) = host(vec![turn(&[note("short")])]);
    let long = "记".repeat(2_001);
    let mut text: String = HEADINGS
        .iter()
        .map(|heading| format!("{heading}\n{long}\n"))
        .collect();
    host.tree.file(NOTES_FILE, &text);
    let result = update(&mut host, &store(), &talk(3));
    let told = asked.all()[0]["messages"][0].to_string();
    for part in [
        "must condense",
        "at most 2000",
        "more than 12000",
        "- Worklog: about 20",
        "Errors & Corrections",
    ] {
        assert!(told.contains(part), "{part}");
    }
    let over: Vec<&str> = result
        .over_limit
        .iter()
        .map(|section| section.heading.as_str())
        .collect();
    assert_eq!(over.len(), 10, "{over:?}");
    text.truncate(0);
    for heading in HEADINGS {
        text.push_str(&format!("{heading}\nfine\n"));
    }
    host.tree.file(NOTES_FILE, text);
    let asked = say(
        &mut host,
        vec![turn(&[edit_notes(
            "# Worklog\nfine",
            &format!("# Worklog\n{long}"),
        )])],
    );
    let result = update(&mut host, &store(), &talk(3));
    assert!(
        !asked.all()[0]["messages"][0]
            .to_string()
            .contains("## Shorten")
    );
    let (answer, is_error) = &results(&asked.all()[1])[0];
    assert!(
        !is_error && answer.contains("\"Worklog\" has about 20"),
        "{answer}"
    );
    assert_eq!(result.over_limit.len(), 1, "{result:?}");
    assert!(result.over_limit[0].is_over && result.over_limit[0].heading == "Worklog");
}

#[test]
fn templates_and_prompts_of_the_user() {
    let (mut host, asked) = host(vec![turn(&[edit_notes("Notes:\n", "Notes:\nMending.\n")])]);
    host.tree.file(format!("{CONFIG}/template.md"), "Notes:\n");
    host.tree.file(
        format!("{CONFIG}/prompt.md"),
        "Keep {{notesPath}}. It says: {{currentNotes}} {{other}}",
    );
    let store = store();
    let empty = update_with(&mut host, &store, &talk(3), NotesOptions::default());
    assert!(empty.unwrap().changed);
    assert_eq!(notes(&host), "Notes:\nMending.\n");
    let told = asked.all()[0]["messages"][0].to_string();
    assert!(
        told.contains(&format!("Keep {NOTES_FILE}. It says: Notes:")) && told.contains("{{other}}"),
        "{told}"
    );
    assert!(told.contains("question number 3"), "{told}");
    assert_eq!(
        compaction(&mut host, &store, &talk(3)).notes.as_deref(),
        Some("Notes:\nMending.\n")
    );
    host.tree.file(NOTES_FILE, "Notes:\n");
    let none = compaction(&mut host, &store, &talk(3));
    assert_eq!(none.reason, Some(CompactionReason::EmptyNotes));
}

#[test]
fn a_template_that_cannot_be_used_is_reported() {
    for bad in [b"\xFF\xFE".as_slice(), b"  \n", b"a\0b"] {
        let (mut host, _) = host(Vec::new());
        host.tree.file(format!("{CONFIG}/template.md"), bad);
        let result = update(&mut host, &store(), &talk(3));
        assert_eq!(headings(&notes(&host)), HEADINGS, "{bad:?}");
        let codes: Vec<ReportCode> = result.report.iter().map(|entry| entry.code).collect();
        assert_eq!(codes, [ReportCode::Unreadable], "{bad:?}");
    }
    let (mut host, _) = host(Vec::new());
    host.tree.put(format!("{CONFIG}/prompt.md"), Body::Other);
    let result = update(&mut host, &store(), &talk(3));
    assert_eq!(result.report.len(), 1, "{result:?}");
}

#[test]
fn a_secret_in_the_notes_is_warned_of() {
    let token = format!("ghp_{}", "16C7e42F292c6912E7710c838347Ae178B4a");
    let (mut host, asked) = host(vec![turn(&[note(&token)])]);
    let result = update(&mut host, &store(), &talk(3));
    assert!(result.changed);
    let codes: Vec<ReportCode> = result.report.iter().map(|entry| entry.code).collect();
    assert_eq!(codes, [ReportCode::SecretFound]);
    assert!(
        !format!("{result:?}").contains(&token) && !format!("{:?}", host.events).contains(&token)
    );
    let (answer, _) = &results(&asked.all()[1])[0];
    assert!(answer.contains("secret"), "{answer}");
}

#[test]
fn with_a_request_the_conversation_goes_on() {
    let request = |tools: Value| {
        json!({"system": "be kind", "tools": tools, "messages": [{"role": "user", "content": "hi"}]}).to_string()
    };
    let with = |request: String| NotesOptions {
        request: Some(request),
        ..NotesOptions::default()
    };
    let (mut host, asked) = host(vec![turn(&[note("one")])]);
    let own = request(json!([{"name": "Edit"}, {"name": "Bash"}]));
    let result = update_with(&mut host, &store(), &talk(3), with(own)).unwrap();
    assert!(result.changed && result.report.is_empty(), "{result:?}");
    let told = asked.all()[0].to_string();
    assert!(
        told.contains("be kind") && !told.contains("question number"),
        "{told}"
    );
    let none = request(json!([{"name": "Bash"}]));
    let store = store();
    let result = update_with(&mut host, &store, &talk(3), with(none)).unwrap();
    assert_eq!(result.report[0].code, ReportCode::ToolsAdded);
    let error = update_with(&mut host, &store, &talk(6), with("[]".to_owned())).unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidArgument);
    // And the session is free again.
    assert_eq!(
        update(&mut host, &store, &talk(6)).outcome,
        NotesOutcome::Done
    );
}

/// Asks for the request only when there is something to do, and for few messages otherwise.
struct Lazy {
    messages: Vec<Message>,
    asked: std::cell::RefCell<Vec<usize>>,
    requests: std::cell::Cell<usize>,
}

impl Conversation for Lazy {
    fn len(&self) -> usize {
        self.messages.len()
    }

    fn id(&self, at: usize) -> Result<Option<String>, Error> {
        self.messages.id(at)
    }

    fn message(&self, at: usize) -> Result<Message, Error> {
        self.asked.borrow_mut().push(at);
        self.messages.message(at)
    }

    fn request(&self) -> Result<Option<String>, Error> {
        self.requests.set(self.requests.get() + 1);
        Ok(None)
    }
}

#[test]
fn what_was_counted_is_not_looked_at_again() {
    let (mut host, _) = host(Vec::new());
    let store = store();
    let lazy = |turns: usize| Lazy {
        messages: talk(turns),
        asked: std::cell::RefCell::default(),
        requests: std::cell::Cell::default(),
    };
    let session = store.session("s-1".to_owned());
    let first = lazy(1);
    host.run(session.update(&first, NotesOptions::default()))
        .unwrap();
    assert_eq!(first.asked.borrow().len(), 4);
    let second = lazy(2);
    host.run(session.update(&second, NotesOptions::default()))
        .unwrap();
    assert_eq!(*second.asked.borrow(), [3, 4, 5, 6, 7]);
    assert_eq!(second.requests.get(), 0);
    let third = lazy(3);
    let result = host
        .run(session.update(&third, NotesOptions::default()))
        .unwrap();
    assert_eq!(
        (result.outcome, third.requests.get()),
        (NotesOutcome::Done, 1)
    );
    // Another conversation of the same id, as after a compaction, is counted anew.
    let mut other = lazy(2);
    other.messages.remove(0);
    let result = host
        .run(session.update(&other, NotesOptions::default()))
        .unwrap();
    assert_eq!(result.state.last_tokens, Some(7_000));
}

#[test]
fn a_failing_model_leaves_the_state() {
    let (mut host, _) = host(Vec::new());
    host.model = Some(Box::new(|_| Attempt::fail(FailureCode::Network)));
    let store = store();
    let result = update(&mut host, &store, &talk(3));
    assert_eq!(result.outcome, NotesOutcome::Failed);
    assert_eq!(result.code, Some(ErrorCode::Network));
    assert_eq!(result.state, NotesState::default());
    assert_eq!(headings(&notes(&host)), HEADINGS);
    say(&mut host, vec![turn(&[note("one")])]);
    assert!(update(&mut host, &store, &talk(3)).changed);
}

#[test]
fn a_provider_that_has_no_more_to_give_is_left_alone_for_a_while() {
    let mut options = notes_options();
    options.model = Some(memdir_core::model::ModelOptions {
        name: "openai/x".to_owned(),
        api_key: None,
        base_url: Some("http://127.0.0.1:1/v1".to_owned()),
    });
    let (mut host, _) = host(Vec::new());
    let refused = memdir_core::flow::HttpAnswer {
        status: 401,
        headers: Vec::new(),
        body: memdir_core::flow::Bytes(b"{}".to_vec()),
    };
    host.network = Some(Network::scripted(vec![Attempt::answer(refused)]));
    let store = Store::new(options);
    assert_eq!(
        update(&mut host, &store, &talk(3)).code,
        Some(ErrorCode::ModelAuth)
    );
    host.clock_ms += 899_000;
    assert_eq!(
        update(&mut host, &store, &talk(3)).reason,
        Some(NotesSkip::Paused)
    );
    host.clock_ms += 1_000;
    assert_eq!(
        update(&mut host, &store, &talk(3)).outcome,
        NotesOutcome::Failed
    );
}

#[test]
fn a_restart_goes_on_with_the_state_that_was_given() {
    let (mut host, asked) = host(vec![turn(&[note("one")])]);
    let first = update(&mut host, &store(), &talk(3));
    let store = store();
    let options = NotesOptions {
        state: Some(first.state.clone()),
        ..NotesOptions::default()
    };
    let before = asked.all().len();
    let again = update_with(&mut host, &store, &talk(4), options).unwrap();
    assert_eq!(again.reason, Some(NotesSkip::NotDue));
    assert_eq!((asked.all().len(), again.state), (before, first.state));
}

#[test]
fn two_updates_at_once_are_one() {
    let (mut host, asked) = host(vec![turn(&[note("one")])]);
    let store = store();
    let session = store.session("s-1".to_owned());
    let mut first = host.start(session.update(&talk(3), NotesOptions::default()));
    until(&mut host, &mut first, is_model);
    assert_eq!(
        update(&mut host, &store, &talk(3)).reason,
        Some(NotesSkip::Running)
    );
    // Another session is not its business.
    let other = store.session("s-2".to_owned());
    let result = host
        .run(other.update(&talk(3), NotesOptions::default()))
        .unwrap();
    assert_eq!(result.outcome, NotesOutcome::Done);
    let result = end(&mut host, &mut first).unwrap().unwrap();
    assert!(result.changed, "{:?}", asked.all());
    assert_eq!(
        update(&mut host, &store, &talk(3)).reason,
        Some(NotesSkip::NotDue)
    );
    // Two that were asked for before either began: the second has nothing to add.
    say(&mut host, vec![turn(&[note("two")])]);
    let store = self::store();
    let session = store.session("s-1".to_owned());
    let older = session.update(&talk(3), NotesOptions::default());
    let newer = session.update(&talk(4), NotesOptions::default());
    assert_eq!(host.run(newer).unwrap().outcome, NotesOutcome::Done);
    let older = host.run(older).unwrap();
    assert_eq!(older.reason, Some(NotesSkip::NothingNew));
    assert_eq!(older.state.cursor.as_deref(), Some("a4"));
}

#[test]
fn two_processes_at_once_lose_no_edit() {
    let (mut host, _) = host(Vec::new());
    host.model = Some(Box::new(|request| {
        let is_first = !request.contains("tool_result");
        let line = format!("line {}", request.len() % 7);
        Attempt::answer(if is_first {
            turn(&[note(&line)]).to_string()
        } else {
            json!("Done.").to_string()
        })
    }));
    let (one, two) = (store(), store());
    let flow = |store: &Store, turns| {
        store
            .session("s-1".to_owned())
            .update(&talk(turns), NotesOptions::default())
    };
    let (one, two) = (flow(&one, 3), flow(&two, 4));
    let mut one = host.start_in(Process::new(Some(11), 11), one);
    let mut two = host.start_in(Process::new(Some(22), 22), two);
    until(&mut host, &mut one, is_model);
    until(&mut host, &mut two, is_model);
    let one = end(&mut host, &mut one).unwrap().unwrap();
    let two = end(&mut host, &mut two).unwrap().unwrap();
    // The second one saw that somebody had been faster, and its model did not try again.
    assert!(one.changed && !two.changed, "{one:?} {two:?}");
    assert_eq!(two.state.last_summarised, None);
    assert_eq!(headings(&notes(&host)), HEADINGS);
}

#[test]
fn a_compaction_gets_the_notes_and_what_they_do_not_cover() {
    let (mut host, _) = host(vec![turn(&[note("Mending the login.")])]);
    let store = store();
    let none = compaction(&mut host, &store, &talk(3));
    assert_eq!(
        (none.notes, none.reason),
        (None, Some(CompactionReason::NoNotes))
    );
    update(&mut host, &store, &talk(3));
    let done = compaction(&mut host, &store, &talk(4));
    let text = done.notes.unwrap();
    assert!(text.contains("Mending the login."));
    // 4,000 tokens are new, and with six messages more there are ten of 1,000, of which a2, u3, a3, u4 and a4
    // have text. The first of them, r2, is a result whose call comes along.
    assert_eq!(done.keep_from, Some(5));
    // The message that was covered last is gone.
    let other = talk(5).split_off(12);
    let gone = compaction(&mut host, &store, &other);
    assert_eq!(gone.reason, Some(CompactionReason::UnknownMessage));
    // A session that is taken up again without its state.
    let resumed = compaction(&mut host, &self::store(), &talk(4));
    assert_eq!(resumed.reason, Some(CompactionReason::UnknownMessage));
    let mut off = notes_options();
    off.env
        .insert("DISABLE_CLAUDE_CODE_SM_COMPACT".to_owned(), "1".to_owned());
    let off = compaction(&mut host, &Store::new(off), &talk(3));
    assert_eq!(off.reason, Some(CompactionReason::Off));
    host.tree.file(NOTES_FILE, b"\xFF\xFE");
    let broken = compaction(&mut host, &store, &talk(3));
    assert_eq!(broken.reason, Some(CompactionReason::Unreadable));
    assert_eq!(host.events.last().unwrap().kind, "warning");
}

#[test]
fn a_compaction_waits_for_an_update() {
    let run = |took_ms: u64, since_ms: i64| {
        let (mut host, _) = host(vec![turn(&[note("one")])]);
        let store = store();
        let session = store.session("s-1".to_owned());
        let mut update = host.start(session.update(&talk(3), NotesOptions::default()));
        until(&mut host, &mut update, is_model);
        host.clock_ms += since_ms;
        let began = host.clock_ms;
        let flow = session.for_compaction(&talk(3), CompactionOptions::default());
        let mut waiting = host.start(flow);
        let mut ended = false;
        loop {
            if !ended && u64::try_from(host.clock_ms - began).unwrap() >= took_ms {
                end(&mut host, &mut update).unwrap().unwrap();
                ended = true;
            }
            match host.step(&mut waiting) {
                Progress::Working => {}
                Progress::Ended(result) => {
                    return (host.clock_ms - began, result.unwrap().notes.is_some());
                }
                Progress::Crashed => panic!(),
            }
        }
    };
    // Done after three and a half seconds: seen at the fourth look.
    assert_eq!(run(3_500, 0), (4_000, true));
    assert_eq!(run(60_000, 0), (15_000, false));
    assert_eq!(run(60_000, 59_000), (1_000, false));
    assert_eq!(run(60_000, 60_000), (0, false));
}

#[test]
fn closing_waits_for_an_update_and_stops_it_in_the_end() {
    let (mut host, _) = host(vec![turn(&[note("one")])]);
    let store = store();
    let session = store.session("s-1".to_owned());
    let mut update = host.start(session.update(&talk(3), NotesOptions::default()));
    until(&mut host, &mut update, is_model);
    let mut drain = host.start(store.drain(Some(1_000)));
    for _ in 0..6 {
        assert!(matches!(host.step(&mut drain), Progress::Working));
    }
    let updated = end(&mut host, &mut update).unwrap().unwrap();
    assert!(updated.changed);
    assert!(end(&mut host, &mut drain).unwrap().unwrap());

    say(&mut host, vec![turn(&[note("two")])]);
    let mut update = host.start(session.update(&talk(6), NotesOptions::default()));
    until(&mut host, &mut update, is_model);
    let before = notes(&host);
    host.run(store.close()).unwrap();
    let stopped = end(&mut host, &mut update).unwrap().unwrap();
    assert_eq!(
        (stopped.outcome, stopped.code),
        (NotesOutcome::Failed, Some(ErrorCode::Aborted))
    );
    assert_eq!(stopped.ended, Some(RunEnd::Stopped));
    assert_eq!(stopped.state, updated.state);
    assert_eq!(notes(&host), before);
    let closed = host.run(session.update(&talk(9), NotesOptions::default()));
    assert_eq!(closed.unwrap_err().code, ErrorCode::Closed);
}

#[test]
fn where_there_are_no_notes() {
    let (mut host, asked) = host(Vec::new());
    let before = others(&host);
    for id in ["", "..", "a/b", "a.b", "memory", "a\u{7}"] {
        let session = store().session(id.to_owned());
        for code in [
            host.run(session.path()).unwrap_err().code,
            host.run(session.notes()).unwrap_err().code,
            host.run(session.update(&talk(3), NotesOptions::default()))
                .unwrap_err()
                .code,
            host.run(session.for_compaction(&talk(3), CompactionOptions::default()))
                .unwrap_err()
                .code,
        ] {
            assert_eq!(code, ErrorCode::InvalidArgument, "{id:?}");
        }
    }
    let without = [
        OpenOptions {
            cwd: None,
            ..notes_options()
        },
        OpenOptions {
            directory: Some(format!("{PROJECT}/s-1")),
            ..notes_options()
        },
    ];
    for options in without {
        let error = update_with(
            &mut host,
            &Store::new(options),
            &talk(3),
            NotesOptions::default(),
        );
        assert_eq!(error.unwrap_err().code, ErrorCode::InvalidArgument);
    }
    let mut relative = notes_options();
    relative
        .env
        .insert("CLAUDE_CONFIG_DIR".to_owned(), "config".to_owned());
    let error = update_with(
        &mut host,
        &Store::new(relative),
        &talk(3),
        NotesOptions::default(),
    );
    assert_eq!(error.unwrap_err().code, ErrorCode::PathRelative);
    let none = OpenOptions {
        model: None,
        ..notes_options()
    };
    let error = update_with(
        &mut host,
        &Store::new(none),
        &talk(3),
        NotesOptions::default(),
    );
    assert_eq!(error.unwrap_err().code, ErrorCode::NoModel);
    let mut off = notes_options();
    off.env
        .insert("CLAUDE_CODE_DISABLE_AUTO_MEMORY".to_owned(), "1".to_owned());
    let off = Store::new(off);
    let result = update(&mut host, &off, &talk(3));
    assert_eq!(
        (result.reason, result.path),
        (Some(NotesSkip::Disabled), None)
    );
    let session = off.session("s-1".to_owned());
    assert_eq!(host.run(session.notes()).unwrap(), None);
    assert_eq!(
        host.run(session.path()).unwrap_err().code,
        ErrorCode::Disabled
    );
    assert_eq!(
        compaction(&mut host, &off, &talk(3)).reason,
        Some(CompactionReason::Off)
    );
    assert!(asked.all().is_empty());
    assert_eq!(others(&host), before);
}

#[test]
fn links_lead_nowhere() {
    for link in [
        format!("{PROJECT}/s-1"),
        FOLDER.to_owned(),
        NOTES_FILE.to_owned(),
    ] {
        let (mut host, _) = host(vec![turn(&[note("one")])]);
        host.tree
            .file("/secret/summary.md", "# Current State\nmine\n");
        host.tree.file(
            "/secret/session-memory/summary.md",
            "# Current State\nmine\n",
        );
        let target = if link == NOTES_FILE {
            "/secret/summary.md"
        } else {
            "/secret"
        };
        host.tree.put(PROJECT, Body::Folder);
        if link != format!("{PROJECT}/s-1") {
            host.tree.put(format!("{PROJECT}/s-1"), Body::Folder);
        }
        if link == NOTES_FILE {
            host.tree.put(FOLDER, Body::Folder);
        }
        host.tree.link(&link, target);
        let before = others(&host);
        let result = update_with(&mut host, &store(), &talk(3), NotesOptions::default());
        assert!(result.is_err(), "{link}: {result:?}");
        assert_eq!(others(&host), before, "{link}");
    }
}

type Ended = Option<Result<NotesResult, Error>>;

/// One update with a fault; none when it was over before that.
fn disturbed(at: usize, kind: FaultKind) -> Option<(SimHost, Store, Ended)> {
    let (host, _) = host(vec![turn(&[note("one")]), turn(&[note("two")])]);
    let mut host = host.with_fault(at, kind);
    let store = store();
    let flow = store
        .session("s-1".to_owned())
        .update(&talk(3), NotesOptions::default());
    let running = host.start_in(Process::new(Some(11), 11), flow);
    let result = host.finish(running);
    if host.trace.len() <= at && result.is_some() {
        return None;
    }
    host.faults.clear();
    Some((host, store, result))
}

/// The notes are whole, nothing else was touched, and the next update ends well.
fn recovers(host: &mut SimHost, store: &Store, cursor: Option<&str>, what: &str) {
    if let Some(text) = file(host, NOTES_FILE) {
        assert_eq!(headings(&text), HEADINGS, "{what}");
        let (one, two) = (text.contains("\none\n"), text.contains("\ntwo\n"));
        assert!(one || !two || what.contains("Fail"), "{what}: {text}");
    }
    host.clock_ms += 900_000;
    let asked = say(host, vec![turn(&[note("three")])]);
    let result = update(host, store, &talk(6));
    assert_eq!(result.outcome, NotesOutcome::Done, "{what}: {result:?}");
    assert!(result.changed, "{what}: {result:?}");
    assert_eq!(result.state.cursor.as_deref(), Some("a6"), "{what}");
    let shown = asked.all()[0]["messages"][0].to_string();
    assert_eq!(
        shown.contains("question number 1 of mine"),
        cursor.is_none(),
        "{what}"
    );
    assert!(notes(host).contains("\nthree\n"), "{what}");
    let left: Vec<String> = others(host).into_iter().map(|(path, _)| path).collect();
    let known = [
        "/code/shop/main.rs",
        "/etc/passwd",
        "/mem/MEMORY.md",
        "/mem/feedback_tests.md",
    ];
    assert_eq!(left, known, "{what}");
}

#[test]
fn each_fault_at_each_effect() {
    let failures = memdir_simulation::FAILURES.map(FaultKind::Fail);
    let mut last = 0;
    for kind in failures
        .into_iter()
        .chain([FaultKind::Cancel, FaultKind::Crash, FaultKind::Tear])
    {
        for at in 0.. {
            let Some((mut host, mut store, result)) = disturbed(at, kind) else {
                break;
            };
            last = last.max(at);
            let effect = host.trace.get(at).map(|traced| traced.effect.clone());
            let what = format!("{kind:?} at {at}, {effect:?}: {result:?}");
            let is_temporary = |path: &str| path.ends_with("-tmp");
            let left = others(&host).iter().any(|(path, _)| is_temporary(path));
            match kind {
                FaultKind::Cancel => {
                    let code = result
                        .as_ref()
                        .unwrap()
                        .as_ref()
                        .err()
                        .map(|error| error.code);
                    assert_eq!(code, Some(ErrorCode::Aborted), "{what}");
                    assert!(!left, "{what}");
                }
                FaultKind::Fail(_) => {
                    let removes = matches!(effect, Some(Effect::Remove { .. }));
                    assert!(!left || removes, "{what}");
                    let failed = match result.as_ref().unwrap() {
                        Ok(result) => result.code,
                        Err(error) => Some(error.code),
                    };
                    let is_ours = matches!(failed, Some(ErrorCode::Internal | ErrorCode::Protocol));
                    assert!(!is_ours, "{what}");
                    if let Ok(result) = result.as_ref().unwrap()
                        && file(&host, NOTES_FILE).is_some()
                    {
                        let text = notes(&host);
                        let is_changed = text.contains("\none\n") || text.contains("\ntwo\n");
                        assert_eq!(result.changed, is_changed, "{what}");
                    }
                }
                // A new process knows of nothing.
                FaultKind::Crash | FaultKind::Tear => store = self::store(),
            }
            let done = result.and_then(Result::ok);
            let cursor = done.and_then(|result| result.state.cursor);
            recovers(&mut host, &store, cursor.as_deref(), &what);
        }
    }
    assert!(last > 30, "{last}");
}

#[test]
fn the_command_shows_and_updates() {
    use memdir_core::cli::{CommandOptions, command};
    let run = |host: &mut SimHost, line: &str| {
        host.stdout.clear();
        host.stderr.clear();
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
        host.run(flow).unwrap()
    };
    let (mut host, _) = host(Vec::new());
    assert_eq!(run(&mut host, "session s-1"), 1);
    assert!(host.stderr.contains("not-found"), "{}", host.stderr);
    assert_eq!(run(&mut host, "session s-1 --json"), 1);
    assert!(
        host.stdout.ends_with("\"notes\":null}\n"),
        "{}",
        host.stdout
    );
    let lines = talk(2)
        .iter()
        .map(|message| serde_json::to_string(message).unwrap() + "\n")
        .collect::<String>();
    host.tree.file("/code/shop/said.jsonl", lines);
    assert_eq!(run(&mut host, "session s-1 said.jsonl"), 1);
    assert!(host.stderr.contains("--model"), "{}", host.stderr);
    assert_eq!(run(&mut host, "session s-1 said.jsonl --model openai/x"), 0);
    assert!(
        host.stdout
            .starts_with("nothing to do: the conversation has not grown"),
        "{}",
        host.stdout
    );
    let edit = json!({"file_path": NOTES_FILE, "old_string": "\n\n# Task", "new_string": "\nMending.\n\n# Task"});
    let answers = [
        json!({"choices": [{"message": {"role": "assistant", "tool_calls": [{"id": "1", "type": "function",
            "function": {"name": "Edit", "arguments": edit.to_string()}}]}}]}),
        json!({"choices": [{"message": {"role": "assistant", "content": "Done."}}]}),
    ];
    let answers = answers.iter().map(|answer| {
        Attempt::answer(memdir_core::flow::HttpAnswer {
            status: 200,
            headers: Vec::new(),
            body: memdir_core::flow::Bytes(answer.to_string().into_bytes()),
        })
    });
    host.network = Some(Network::scripted(answers.collect()));
    assert_eq!(
        run(&mut host, "session s-1 said.jsonl --model openai/x --force"),
        0,
        "{}",
        host.stderr
    );
    assert_eq!(host.stdout, format!("updated: {NOTES_FILE}\n"));
    assert!(
        host.stderr.contains("session-notes: turn 1 of 5"),
        "{}",
        host.stderr
    );
    assert_eq!(run(&mut host, "session s-1 --show"), 0);
    assert_eq!(host.stdout, notes(&host));
    assert!(host.stdout.contains("\nMending.\n"));
    assert_eq!(run(&mut host, "session s-1 --json"), 0);
    let shown: Value = serde_json::from_str(&host.stdout).unwrap();
    assert_eq!(
        (shown["path"].as_str(), shown["notes"].as_str()),
        (Some(NOTES_FILE), Some(notes(&host).as_str()))
    );
    assert_eq!(run(&mut host, "session a/b"), 1);
    assert!(host.stderr.contains("invalid-argument"), "{}", host.stderr);
}
