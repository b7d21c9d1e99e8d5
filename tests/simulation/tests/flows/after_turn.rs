//! What is done after a turn, on the simulated machine: what fails or is not begun any more is told in its place,
//! and takes nothing from the others (document 001 §3).

use memdir_core::conversation::Message;
use memdir_core::dream::{Awake, DreamOptions, DreamOutcome};
use memdir_core::error::ErrorCode;
use memdir_core::extract::{ExtractionOutcome, ExtractionState};
use memdir_core::flow::Effect;
use memdir_core::session::{NotesOutcome, NotesSkip, NotesState};
use memdir_core::store::{AfterTurnOptions, Features, OpenOptions, Store};
use memdir_simulation::{
    Folder, Progress, answering, call, extract_options, extract_tree, said, turn,
};
use serde_json::json;

fn options() -> OpenOptions {
    OpenOptions {
        home: Some("/home/ada".to_owned()),
        ..extract_options(Features {
            dream: true,
            ..Features::default()
        })
    }
}

fn session() -> AfterTurnOptions {
    AfterTurnOptions {
        session: Some("mine".to_owned()),
        ..AfterTurnOptions::default()
    }
}

/// A conversation that extractions, notes and, in a store of so few sessions, no dream are due for.
fn long() -> Vec<Message> {
    let mut messages = said(&[
        ("u0", "user", "please keep commits small"),
        ("a0", "assistant", "I will."),
        ("u1", "user", "and always write tests first"),
        ("a1", "assistant", "I will."),
    ]);
    for message in &mut messages {
        message.tokens = Some(5_000);
    }
    messages
}

#[test]
fn what_fails_says_how_far_things_had_come() {
    let (mut host, _) = answering(extract_tree(), Vec::new());
    let store = Store::new(OpenOptions {
        model: None,
        ..options()
    });
    let extraction = ExtractionState {
        cursor: Some("a0".to_owned()),
        turns: 0,
    };
    let notes = NotesState {
        last_tokens: Some(5_000),
        cursor: Some("a0".to_owned()),
        last_summarised: Some("a0".to_owned()),
    };
    let asked = AfterTurnOptions {
        natural_break: true,
        extraction: Some(extraction.clone()),
        notes: Some(notes.clone()),
        ..session()
    };
    let result = host.run(store.after_turn(&long(), asked)).unwrap();
    assert_eq!(result.extraction.outcome, ExtractionOutcome::Failed);
    assert_eq!(result.extraction.code, Some(ErrorCode::NoModel));
    assert_eq!(result.extraction.state, extraction);
    let told = result.notes.unwrap();
    assert_eq!(told.outcome, NotesOutcome::Failed);
    assert_eq!(told.code, Some(ErrorCode::NoModel));
    assert_eq!(told.state, notes);
}

#[test]
fn closing_keeps_what_was_done_and_begins_nothing_more() {
    let write = call(
        "Write",
        &json!({"file_path": "/mem/one.md", "content": "---\nname: one\ndescription: one\ntype: project\n---\none\n"}),
    );
    let (mut host, _) = answering(extract_tree(), vec![turn(&[write]), json!("Done.")]);
    let store = Store::new(options());
    let mut running = host.start(store.after_turn(&long(), session()));
    let is_model = |effect: &Effect| matches!(effect, Effect::Model { .. });
    while !host.trace.iter().any(|entry| is_model(&entry.effect)) {
        assert!(matches!(host.step(&mut running), Progress::Working));
    }
    let mut close = host.start(store.close());
    let refused = host.run(store.after_turn(&long(), session()));
    assert_eq!(refused.unwrap_err().code, ErrorCode::Closed);
    let mut result = None;
    let mut is_closed = false;
    while result.is_none() || !is_closed {
        if !is_closed && let Progress::Ended(ended) = host.step(&mut close) {
            ended.unwrap();
            is_closed = true;
        }
        if result.is_none()
            && let Progress::Ended(ended) = host.step(&mut running)
        {
            result = Some(ended.unwrap());
        }
    }
    let result = result.unwrap();
    assert_eq!(result.extraction.paths, ["one.md"]);
    let notes = result.notes.unwrap();
    let seen = (notes.outcome, notes.reason, notes.code);
    let wanted = (NotesOutcome::Skipped, Some(NotesSkip::Closed), None);
    assert_eq!(seen, wanted);
    let dream = result.dream;
    let seen = (dream.outcome, dream.reason, dream.code);
    let wanted = (DreamOutcome::Skipped, Some(Awake::Closed), None);
    assert_eq!(seen, wanted);
    let files = Folder::new(&host.tree, "/mem").files();
    assert!(files.contains_key("one.md"));
}

#[test]
fn a_closed_store_dreams_no_more_also_without_the_feature() {
    let (mut host, _) = answering(extract_tree(), Vec::new());
    let store = Store::new(extract_options(Features::default()));
    drop(store.close());
    let refused = host.run(store.dream(DreamOptions::default()));
    assert_eq!(refused.unwrap_err().code, ErrorCode::Closed);
}
