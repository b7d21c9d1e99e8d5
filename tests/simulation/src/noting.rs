//! What the tests of session notes begin with: a store, a conversation that makes notes due, and what a model
//! writes down.

use memdir_core::conversation::{Block, Content, Message};
use memdir_core::model::Role;
use memdir_core::store::{Features, OpenOptions};
use serde_json::{Value, json};

use crate::{call, extract_options};

/// The notes of the session `s-1`.
pub const NOTES_FILE: &str = "/home/ada/.claude/projects/-code-shop/s-1/session-memory/summary.md";

/// How a store with notes is opened.
#[must_use]
pub fn notes_options() -> OpenOptions {
    OpenOptions {
        home: Some("/home/ada".to_owned()),
        ..extract_options(Features::default())
    }
}

/// A conversation of so many turns, each with one call of a tool and 4,000 tokens: 12,000 and three calls are three
/// turns. A turn is the messages `u1`, `c1` (the call), `r1` (its result) and `a1`.
#[must_use]
pub fn talk(turns: usize) -> Vec<Message> {
    (1..=turns).flat_map(talk_turn).collect()
}

fn talk_turn(number: usize) -> [Message; 4] {
    let id = format!("call{number}");
    let said = |text: &str| Block::Text {
        text: text.to_owned(),
    };
    let called = Block::ToolUse {
        id: id.clone(),
        name: "Read".to_owned(),
        input: json!({}),
    };
    let result = Block::ToolResult {
        tool_use_id: id,
        content: json!("what it says"),
        is_error: false,
    };
    let asked = said(&format!("question number {number} of mine"));
    [
        ("u", Role::User, asked),
        ("c", Role::Assistant, called),
        ("r", Role::User, result),
        ("a", Role::Assistant, said("Done.")),
    ]
    .map(|(kind, role, block)| Message {
        id: Some(format!("{kind}{number}")),
        role,
        content: Content::Blocks(vec![block]),
        is_meta: false,
        tokens: Some(1_000),
    })
}

/// An edit of the notes.
#[must_use]
pub fn edit_notes(old: &str, new: &str) -> Value {
    call(
        "Edit",
        &json!({"file_path": NOTES_FILE, "old_string": old, "new_string": new}),
    )
}

/// Writes a line into the section Current State.
#[must_use]
pub fn note(line: &str) -> Value {
    edit_notes(
        "\n\n# Task specification",
        &format!("\n{line}\n\n# Task specification"),
    )
}
