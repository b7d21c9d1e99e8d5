//! What a run may touch that brings the notes of a session up to date (facts 8.2): it edits one file and
//! reads it again when somebody else has changed it. Everything else is denied with a reason that the model
//! sees.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::change::edited;
use super::desk::{ToolReply, denied, missing, part};
use super::run::Hands;
use super::tools::{self, Call, definitions, plain, wrong};
use crate::error::{Error, ErrorCode};
use crate::flow::Host;
use crate::limits::{FILE_MAX_BYTES, RUN_MAX_CALLS, SESSION_NOTES_TOKENS, SESSION_SECTION_TOKENS};
use crate::model::ToolDefinition;
use crate::secrets::scan_secrets;
use crate::session::file::NotesFile;
use crate::session::{frame, measure_notes, notes_are_empty};
use crate::text::quoted;

/// One run's hold on the notes of a session.
#[derive(Debug)]
pub(crate) struct NotesDesk {
    file: NotesFile,
    template: String,
    /// Never locked over an await.
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    calls: u32,
    is_stopped: bool,
    has_refused: bool,
    is_changed: bool,
    /// The notes as the model knows them.
    text: String,
    /// What the disk did not let the run do.
    failure: Option<Error>,
}

/// The tools of such a run, for a model that is not told of others.
pub(crate) fn notes_tools() -> Vec<ToolDefinition> {
    let tools = definitions().into_iter();
    tools
        .filter_map(|tool| {
            let description = match tool.name.as_str() {
                "Read" => "Reads the notes, with line numbers.",
                "Edit" => "Replaces a text in the notes.",
                _ => return None,
            };
            Some(ToolDefinition {
                description: description.to_owned(),
                ..tool
            })
        })
        .collect()
}

/// Whether a list of tools has the one that such a run needs.
pub(crate) fn can_edit<'a>(mut names: impl Iterator<Item = &'a str>) -> bool {
    names.any(|name| plain(name) == "edit")
}

impl NotesDesk {
    /// `text` is what the model is shown of the notes at the beginning.
    pub fn new(file: NotesFile, template: String, text: String) -> Self {
        Self {
            file,
            template,
            state: Mutex::new(State {
                calls: 0,
                is_stopped: false,
                has_refused: false,
                is_changed: false,
                text,
                failure: None,
            }),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets no further call through.
    pub fn stop(&self) {
        self.state().is_stopped = true;
    }

    /// Whether a call was not let through, because the run was stopped.
    pub fn has_refused(&self) -> bool {
        self.state().has_refused
    }

    /// Whether the run has changed the notes.
    pub fn is_changed(&self) -> bool {
        self.state().is_changed
    }

    /// The notes as the run saw them last.
    pub fn text(&self) -> String {
        self.state().text.clone()
    }

    /// Whether nothing was noted yet.
    pub fn is_empty(&self) -> bool {
        notes_are_empty(&self.state().text, &self.template)
    }

    /// What the disk did not let the run do.
    pub fn failure(&self) -> Option<Error> {
        self.state().failure.clone()
    }

    async fn act(&self, host: &Host, name: &str, input: &str) -> Result<String, Error> {
        {
            let mut state = self.state();
            if state.is_stopped {
                state.has_refused = true;
                return Err(denied("the run was stopped, so nothing more is done"));
            }
            if state.calls >= RUN_MAX_CALLS {
                return Err(denied(format!(
                    "this run has made {RUN_MAX_CALLS} calls, which is all it may make"
                )));
            }
            state.calls = state.calls.saturating_add(1);
        }
        if !matches!(plain(name).as_str(), "read" | "edit") {
            return Err(denied(format!(
                "{} is not available in this turn; only Edit of {} is, and Read of it",
                quoted(name),
                quoted(&self.file.path)
            )));
        }
        match tools::parse(name, input)? {
            Call::Edit {
                path,
                old,
                new,
                all,
            } => {
                self.check_path(&path)?;
                self.edit(host, (&old, &new), all).await
            }
            Call::Read {
                path,
                offset,
                limit,
            } => {
                self.check_path(&path)?;
                let text = self.disk(self.file.read(host).await)?;
                let text = text.ok_or_else(|| missing(&path))?;
                let shown = part(&text, &path, offset, limit);
                self.state().text = text;
                shown
            }
            _ => Err(denied("only Read and Edit are available in this turn")),
        }
    }

    fn check_path(&self, path: &str) -> Result<(), Error> {
        let platform = self.file.platform;
        let own = platform.normalise(&self.file.path);
        if platform.is_absolute(path) && platform.normalise(path) == own {
            return Ok(());
        }
        Err(denied(format!(
            "{} is not touched in this turn; only {} is",
            quoted(path),
            quoted(&self.file.path)
        )))
    }

    /// Remembers what the disk refused, which is no fault of the model's.
    fn disk<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        if let Err(error) = &result {
            let first = &mut self.state().failure;
            first.get_or_insert_with(|| error.clone());
        }
        result
    }

    async fn edit(
        &self,
        host: &Host,
        (old, new): (&str, &str),
        all: bool,
    ) -> Result<String, Error> {
        let shown = quoted(&self.file.path);
        let known = self.text();
        let (text, mut answer) = edited(&known, &shown, (old, new), all)?;
        if text == known {
            return Ok(answer);
        }
        self.check(&known, &text)?;
        let changed = || {
            let message = format!("{shown} was changed by somebody else meanwhile; read it again");
            Error::new(ErrorCode::Exists, message)
        };
        if !self.disk(self.file.put(host, Some(&known), &text).await)? {
            return Err(changed());
        }
        let notices = notices(&text);
        {
            let mut state = self.state();
            state.text = text;
            state.is_changed = true;
        }
        for notice in notices {
            answer.push_str(&format!("Mind that {notice}.\n"));
        }
        Ok(answer)
    }

    /// What the notes must not become.
    fn check(&self, known: &str, text: &str) -> Result<(), Error> {
        let (before, after) = (frame(known, &self.template), frame(text, &self.template));
        if before != after {
            let gone = before.iter().find(|line| !after.contains(line));
            return Err(wrong(match gone {
                Some(line) => format!(
                    "nothing was replaced: the line {} must stay as it is; write below it",
                    quoted(line)
                ),
                None => "nothing was replaced: headings and lines in italics stay where they are, each once".to_owned(),
            }));
        }
        if text.trim().is_empty() {
            return Err(wrong("nothing was replaced: the notes would be empty"));
        }
        if text.contains('\0') {
            return Err(wrong("nothing was replaced: a NUL character is no text"));
        }
        if text.len() as u64 > FILE_MAX_BYTES {
            return Err(wrong(format!(
                "nothing was replaced: the notes would have more than {FILE_MAX_BYTES} bytes"
            )));
        }
        Ok(())
    }
}

impl Hands for NotesDesk {
    fn is_stopped(&self) -> bool {
        self.state().is_stopped
    }

    async fn call(&self, host: &Host, name: &str, input: &str) -> Result<ToolReply, Error> {
        let reply = self.act(host, name, input).await;
        host.stop_if_cancelled()?;
        Ok(ToolReply::of(reply))
    }
}

/// What the writer should mend.
fn notices(text: &str) -> Vec<String> {
    let measure = measure_notes(text);
    let mut notices = Vec::new();
    if measure.is_over {
        notices.push(format!(
            "the notes have about {} tokens, and at most {SESSION_NOTES_TOKENS} is good",
            measure.tokens
        ));
    }
    for section in measure.sections.iter().filter(|section| section.is_over) {
        notices.push(format!(
            "{} has about {} tokens, and at most {SESSION_SECTION_TOKENS} is good",
            quoted(&section.heading),
            section.tokens
        ));
    }
    if let Some(secret) = scan_secrets(text).first() {
        notices.push(format!(
            "line {} holds what looks like a secret ({}); leave its value out",
            secret.line, secret.label
        ));
    }
    notices
}
