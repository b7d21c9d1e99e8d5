//! Which shell commands of a model only read (facts 6.3), for whoever runs them: a command becomes the
//! words of a few programs, joined by pipes, or is refused in a line that the model can act on.
//!
//! No shell ever sees the command. So a word must mean to a shell what it means here, or is refused; and
//! whatever is not known to be harmless is refused: programs and flags stand in a table.

mod arguments;
mod programs;
mod words;

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorCode};
use crate::limits::{COMMAND_MAX_CHARS, COMMAND_MAX_STAGES, COMMAND_MAX_WORDS};
use crate::text::{is_hostile, quoted};

/// One program of a pipe, to be run without a shell, with a fixed `PATH` and no environment. What the one
/// before prints is its input; the first has none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ShellStage {
    /// The program's name and its words.
    pub argv: Vec<String>,
    /// The words, or parts of them, that name a file or folder, as they are written: relative ones lie in
    /// the folder that the program runs in, and a program that is given none may look at that folder.
    /// Below these no link is followed, but by `diff`, when one of them is a folder.
    pub paths: Vec<String>,
}

/// Takes a model's shell command apart, if it does nothing but read.
///
/// # Errors
/// The first `shell-…` code that holds: of the whole command, then of its characters in order, then of its
/// programs in order. The message is meant for the model.
pub fn read_only_command(command: &str) -> Result<Vec<ShellStage>, Error> {
    if command.chars().nth(COMMAND_MAX_CHARS).is_some() {
        return Err(too_long(COMMAND_MAX_CHARS, "characters"));
    }
    let unseen = |c: &char| is_hostile(*c) && !matches!(c, '\t' | '\n');
    if let Some(c) = command.chars().find(unseen) {
        let code = u32::from(c);
        return refuse(
            ErrorCode::ShellControl,
            format!("leave out the character U+{code:04X}, which is not shown"),
        );
    }
    let pipe = words::split(command)?;
    if pipe.len() > COMMAND_MAX_STAGES {
        return Err(too_long(COMMAND_MAX_STAGES, "programs"));
    }
    if pipe.iter().map(Vec::len).sum::<usize>() > COMMAND_MAX_WORDS {
        return Err(too_long(COMMAND_MAX_WORDS, "words"));
    }
    let stages = pipe.into_iter().enumerate();
    stages
        .map(|(at, words)| arguments::stage(words, at > 0))
        .collect()
}

/// The words of a command of one program, of which nothing is judged.
///
/// # Errors
/// A `shell-…` code when its words cannot be told, or it is more than one program.
pub(super) fn command_words(command: &str) -> Result<Vec<String>, Error> {
    let mut pipe = words::split(command)?;
    match (pipe.pop(), pipe.is_empty()) {
        (Some(words), true) => Ok(words),
        _ => refuse(ErrorCode::ShellEmpty, "give one program"),
    }
}

fn refuse<T>(code: ErrorCode, message: impl Into<String>) -> Result<T, Error> {
    Err(Error::new(code, message))
}

fn too_long(most: usize, what: &str) -> Error {
    Error::new(
        ErrorCode::ShellTooLong,
        format!("a command has at most {most} {what}: ask for less at once"),
    )
}

/// A word in a message, of which the beginning is enough.
fn shown(word: &str) -> String {
    const SHOWN: usize = 60;
    match word.char_indices().nth(SHOWN) {
        Some((end, _)) => quoted(&format!("{}…", word.get(..end).unwrap_or_default())),
        None => quoted(word),
    }
}
