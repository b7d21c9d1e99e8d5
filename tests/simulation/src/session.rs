//! A conversation with one store on one machine, as a test of recall has it.

use memdir_core::error::Error;
use memdir_core::flow::{Effect, HttpAnswer};
use memdir_core::model::{Key, ModelOptions};
use memdir_core::report::ReportCode;
use memdir_core::store::{ForgetOptions, OpenOptions, Recall, RecallOptions, Store};
use memdir_core::write::{SaveOptions, WriteResult};

use crate::{Attempt, Network, SimHost, Traced, Tree, script};

/// Long before every simulated clock begins: files of this time are trusted once read.
pub const OLD_MS: i64 = 1_773_000_000_000;

/// A memory with a description and a body.
#[must_use]
pub fn memory(description: &str, body: &str) -> String {
    format!("---\nname: note\ndescription: {description}\ntype: project\n---\n{body}\n")
}

/// What was recalled, in its order.
#[must_use]
pub fn paths(recall: &Recall) -> Vec<&str> {
    let paths = recall.memories.iter().map(|memory| memory.path.as_str());
    paths.collect()
}

/// What the report says, by path.
#[must_use]
pub fn codes(recall: &Recall) -> Vec<(&str, ReportCode)> {
    let entries = recall.report.iter();
    entries
        .map(|entry| (entry.path.as_str(), entry.code))
        .collect()
}

/// A machine, a store that was opened on it, and what it was asked last.
#[derive(Debug)]
pub struct Session {
    /// The machine.
    pub host: SimHost,
    /// The store.
    pub store: Store,
    options: OpenOptions,
    began: usize,
}

impl Session {
    /// A store at this folder, without a model.
    #[must_use]
    pub fn new(tree: Tree, directory: &str) -> Self {
        let options = OpenOptions {
            directory: Some(directory.to_owned()),
            ..OpenOptions::default()
        };
        Self::with(SimHost::with_tree(5, tree), options)
    }

    /// Any store.
    #[must_use]
    pub fn with(host: SimHost, options: OpenOptions) -> Self {
        Self {
            host,
            store: Store::new(options.clone()),
            options,
            began: 0,
        }
    }

    /// The same with the caller's own function, which does this with each attempt.
    #[must_use]
    pub fn function(mut self, attempts: Vec<Attempt<String>>) -> Self {
        self.host.model = Some(Box::new(script(attempts)));
        self.model("function", None)
    }

    /// The same with a function that always answers this.
    #[must_use]
    pub fn saying(mut self, answer: &str) -> Self {
        let answer = answer.to_owned();
        self.host.model = Some(Box::new(move |_| Attempt::answer(answer.clone())));
        self.model("function", None)
    }

    /// The same with the model of a provider, which does this with each attempt.
    #[must_use]
    pub fn provider(mut self, name: &str, key: &str, attempts: Vec<Attempt<HttpAnswer>>) -> Self {
        self.host.network = Some(Network::scripted(attempts));
        self.model(name, Some(key))
    }

    fn model(mut self, name: &str, key: Option<&str>) -> Self {
        self.options.model = Some(ModelOptions {
            name: name.to_owned(),
            api_key: key.map(|key| Key(key.to_owned())),
            base_url: None,
        });
        self.restart();
        self
    }

    /// A new process on the same machine.
    pub fn restart(&mut self) {
        self.store = Store::new(self.options.clone());
    }

    /// A store that knows nothing, opened as this one on a copy of its disk, without a model.
    #[must_use]
    pub fn fresh(&self) -> Self {
        let mut host = SimHost::with_tree(9, self.host.tree.clone());
        host.clock_ms = self.host.clock_ms;
        let options = OpenOptions {
            model: None,
            ..self.options.clone()
        };
        Self::with(host, options)
    }

    /// A recall as it is by default.
    ///
    /// # Errors
    /// What the flow fails with.
    pub fn recall(&mut self, query: &str) -> Result<Recall, Error> {
        self.recall_with(query, RecallOptions::default())
    }

    /// A recall.
    ///
    /// # Errors
    /// What the flow fails with.
    pub fn recall_with(&mut self, query: &str, options: RecallOptions) -> Result<Recall, Error> {
        self.began = self.host.trace.len();
        self.host.run(self.store.recall(query.to_owned(), options))
    }

    /// A save.
    ///
    /// # Errors
    /// What the flow fails with.
    pub fn save(&mut self, options: SaveOptions) -> Result<WriteResult, Error> {
        self.began = self.host.trace.len();
        self.host.run(self.store.save(options))
    }

    /// A forgetting.
    ///
    /// # Errors
    /// What the flow fails with.
    pub fn forget(&mut self, path: &str, expect: Option<&str>) -> Result<WriteResult, Error> {
        let options = ForgetOptions {
            expect: expect.map(str::to_owned),
        };
        self.began = self.host.trace.len();
        self.host.run(self.store.forget(path.to_owned(), options))
    }

    /// The undoing of the last forgetting, of this path or of any.
    ///
    /// # Errors
    /// What the flow fails with.
    pub fn undo(&mut self, path: Option<&str>) -> Result<WriteResult, Error> {
        self.began = self.host.trace.len();
        self.host
            .run(self.store.undo_forget(path.map(str::to_owned)))
    }

    /// Closes the store.
    ///
    /// # Errors
    /// What the flow fails with.
    pub fn close(&mut self) -> Result<(), Error> {
        self.began = self.host.trace.len();
        self.host.run(self.store.close())
    }

    /// What was performed since the last flow began.
    #[must_use]
    pub fn performed(&self) -> &[Traced] {
        self.host.trace.get(self.began..).unwrap_or_default()
    }

    /// Of those, the effects that this holds for.
    pub fn asked(&self, fits: impl Fn(&Effect) -> bool) -> Vec<&Effect> {
        let effects = self.performed().iter().map(|traced| &traced.effect);
        effects.filter(|effect| fits(effect)).collect()
    }

    /// How often a model was asked, over the wire or as a function.
    #[must_use]
    pub fn asked_model(&self) -> usize {
        let is_model =
            |effect: &Effect| matches!(effect, Effect::Model { .. } | Effect::Http { .. });
        self.asked(is_model).len()
    }

    /// The pauses that were made, in milliseconds.
    #[must_use]
    pub fn pauses(&self) -> Vec<u64> {
        let effects = self.performed().iter().map(|traced| &traced.effect);
        effects
            .filter_map(|effect| match effect {
                Effect::Sleep { ms } => Some(*ms),
                _ => None,
            })
            .collect()
    }

    /// The files that were read, sorted.
    #[must_use]
    pub fn read(&self) -> Vec<String> {
        let effects = self.performed().iter().map(|traced| &traced.effect);
        let mut read: Vec<String> = effects
            .flat_map(|effect| match effect {
                Effect::ReadMany { paths, .. } => paths.clone(),
                Effect::Read { path, .. } => vec![path.clone()],
                _ => Vec::new(),
            })
            .collect();
        read.sort();
        read
    }

    /// The content of a file on the disk, as text.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<String> {
        match &self.host.tree.nodes().get(path.as_bytes())?.body {
            crate::Body::File(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            _ => None,
        }
    }
}
