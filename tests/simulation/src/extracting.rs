//! What the tests of extraction begin with: a store, a conversation, and a model that says what a test wants.

use std::sync::{Arc, Mutex, PoisonError};

use memdir_core::conversation::{Content, Message};
use memdir_core::model::{ModelOptions, Role};
use memdir_core::store::{Features, OpenOptions};
use serde_json::{Value, json};

use crate::{Attempt, SimHost, Tree};

/// What a model was asked, request by request.
#[derive(Clone, Debug, Default)]
pub struct Asked(Arc<Mutex<Vec<Value>>>);

impl Asked {
    /// All of it so far.
    #[must_use]
    pub fn all(&self) -> Vec<Value> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// One more.
    pub fn push(&self, request: &str) {
        let request = serde_json::from_str(request).unwrap_or_default();
        let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        asked.push(request);
    }
}

/// A store at `/mem` for a project at `/code/shop`, with extraction and the caller's function as its model.
#[must_use]
pub fn extract_options(features: Features) -> OpenOptions {
    OpenOptions {
        directory: Some("/mem".to_owned()),
        cwd: Some("/code/shop".to_owned()),
        model: Some(ModelOptions {
            name: "function".to_owned(),
            api_key: None,
            base_url: None,
        }),
        features: Features {
            extract: true,
            ..features
        },
        ..OpenOptions::default()
    }
}

/// The disk of such a project, and something that is nobody's business.
#[must_use]
pub fn extract_tree() -> Tree {
    let mut tree = Tree::new();
    tree.file(
        "/mem/feedback_tests.md",
        "---\nname: Tests\ndescription: how tests are run\ntype: feedback\n---\nRun them all.\n",
    );
    tree.file("/mem/MEMORY.md", "- [Tests](feedback_tests.md) — how\n");
    tree.file("/code/shop/main.rs", "fn main() {}\n");
    tree.file("/etc/passwd", "root\n");
    tree
}

/// A machine whose model answers with these turns; and what it was asked.
#[must_use]
pub fn answering(tree: Tree, turns: Vec<Value>) -> (SimHost, Asked) {
    let mut host = SimHost::with_tree(3, tree);
    let asked = say(&mut host, turns);
    (host, asked)
}

/// Lets the model of a machine answer with these turns, one after the other, and then have nothing more to
/// say. A turn that is a text is an answer as it stands.
pub fn say(host: &mut SimHost, turns: Vec<Value>) -> Asked {
    let asked = Asked::default();
    let log = asked.clone();
    let mut turns = turns.into_iter();
    host.model = Some(Box::new(move |request| {
        log.push(request);
        Attempt::answer(match turns.next().unwrap_or(json!("Nothing more.")) {
            Value::String(text) => text,
            other => other.to_string(),
        })
    }));
    asked
}

/// A call of a tool.
#[must_use]
pub fn call(name: &str, input: &Value) -> Value {
    json!({"type": "tool_use", "id": format!("{name}-1"), "name": name, "input": input})
}

/// An answer of a model that calls tools.
#[must_use]
pub fn turn(calls: &[Value]) -> Value {
    json!({"content": calls})
}

/// A conversation: ids, `user` or whatever else for the assistant, and what was said.
#[must_use]
pub fn said(messages: &[(&str, &str, &str)]) -> Vec<Message> {
    let message = |(id, role, content): &(&str, &str, &str)| Message {
        id: Some((*id).to_owned()),
        role: if *role == "user" {
            Role::User
        } else {
            Role::Assistant
        },
        content: Content::Text((*content).to_owned()),
        is_meta: false,
        tokens: None,
    };
    messages.iter().map(message).collect()
}

/// What the tools have answered in a request to the model, in order, each with whether it failed.
#[must_use]
pub fn results(request: &Value) -> Vec<(String, bool)> {
    let messages = request.get("messages").and_then(Value::as_array);
    let blocks = messages
        .into_iter()
        .flatten()
        .filter_map(|message| message.get("content")?.as_array());
    blocks
        .flatten()
        .filter(|block| block.get("type").and_then(Value::as_str) == Some("tool_result"))
        .map(|block| {
            let content = block.get("content").map_or_else(String::new, text_of);
            let failed = block.get("is_error").and_then(Value::as_bool);
            (content, failed.unwrap_or_default())
        })
        .collect()
}

/// A text, or the JSON of anything else.
#[must_use]
pub fn text_of(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}
