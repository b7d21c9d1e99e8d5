//! The tools of a background agent: their names and inputs are those of Claude Code, so that a fork of a
//! conversation can go on with the tool list that its model knows already. What a call may do is decided in
//! [`super::desk`].

use serde_json::{Value, json};

use crate::error::{Error, ErrorCode};
use crate::model::ToolDefinition;
use crate::text::quoted;

/// One call that the tools know.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Call {
    Read {
        path: String,
        /// The first line, from 1.
        offset: usize,
        /// How many lines.
        limit: Option<usize>,
    },
    Grep(Grep),
    Glob {
        pattern: String,
        folder: Option<String>,
    },
    Shell {
        command: String,
    },
    Edit {
        path: String,
        old: String,
        new: String,
        all: bool,
    },
    Write {
        path: String,
        text: String,
    },
    Delete {
        path: String,
    },
}

/// A search through texts.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Grep {
    pub pattern: String,
    pub path: Option<String>,
    /// Which files, by name.
    pub glob: Option<String>,
    pub ignore_case: bool,
    pub mode: GrepMode,
    /// How many lines of the answer at most.
    pub most: Option<usize>,
}

/// What a search answers with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GrepMode {
    Lines,
    Files,
    Counts,
}

/// The tools, for a model that is not told of others.
pub(crate) fn definitions() -> Vec<ToolDefinition> {
    let text = |what: &str| json!({"type": "string", "description": what});
    let number = |what: &str| json!({"type": "integer", "minimum": 1, "description": what});
    let flag = |what: &str| json!({"type": "boolean", "description": what});
    let path = || text("Absolute, or relative to the working directory");
    let tool = |name: &str, description: &str, required: &[&str], properties: Value| {
        let input_schema =
            json!({"type": "object", "properties": properties, "required": required});
        ToolDefinition {
            name: name.to_owned(),
            description: description.to_owned(),
            input_schema,
        }
    };
    vec![
        tool(
            "Read",
            "Reads a text file, with line numbers.",
            &["file_path"],
            json!({
                "file_path": path(),
                "offset": number("The first line"),
                "limit": number("How many lines"),
            }),
        ),
        tool(
            "Grep",
            "Finds the lines of text files that match a regular expression.",
            &["pattern"],
            json!({
                "pattern": text("The regular expression"),
                "path": text("A file or folder; the working directory when left out"),
                "glob": text("Only files whose names match, such as *.md"),
                "output_mode": json!({
                    "type": "string",
                    "enum": ["content", "files_with_matches", "count"],
                    "description": "files_with_matches when left out",
                }),
                "-i": flag("Whether upper and lower case are the same"),
                "head_limit": number("How many lines of the answer"),
            }),
        ),
        tool(
            "Glob",
            "Finds files by their paths, newest first.",
            &["pattern"],
            json!({
                "pattern": text("Such as **/*.md"),
                "path": text("The folder; the working directory when left out"),
            }),
        ),
        tool(
            "Bash",
            "Runs a command that only reads: ls, find, grep, cat, stat, wc, head, tail and the like, also in a pipe.",
            &["command"],
            json!({"command": text("The command")}),
        ),
        tool(
            "Edit",
            "Replaces a text in a memory.",
            &["file_path", "old_string", "new_string"],
            json!({
                "file_path": path(),
                "old_string": text("Exactly as it stands in the file, and only once"),
                "new_string": text("What takes its place"),
                "replace_all": flag("Whether every place is replaced"),
            }),
        ),
        tool(
            "Write",
            "Writes a memory, a new one or a whole one anew; read one that is there first.",
            &["file_path", "content"],
            json!({"file_path": path(), "content": text("The whole text")}),
        ),
        tool(
            "Delete",
            "Removes a memory and its line in the index.",
            &["file_path"],
            json!({"file_path": path()}),
        ),
    ]
}

/// Whether a list of tools has one that can write memories.
pub(crate) fn can_write<'a>(mut names: impl Iterator<Item = &'a str>) -> bool {
    names.any(|name| matches!(plain(name).as_str(), "write" | "edit"))
}

/// A tool's name as it is compared.
pub(super) fn plain(name: &str) -> String {
    name.trim().to_ascii_lowercase()
}

/// Reads a call of a model.
///
/// # Errors
/// `invalid-argument` for a tool that is not one of these or an input of another shape; the message is meant
/// for the model.
pub(super) fn parse(name: &str, input: &str) -> Result<Call, Error> {
    let known = plain(name);
    let is_known = matches!(
        known.as_str(),
        "read" | "grep" | "glob" | "bash" | "shell" | "edit" | "write" | "delete"
    );
    if !is_known {
        return Err(wrong(format!(
            "{} is not available while memories are brought up to date; use Read, Grep, Glob, Bash, Edit, Write or Delete",
            quoted(name)
        )));
    }
    let input: Value = serde_json::from_str(input)
        .map_err(|error| wrong(format!("the input of {known} is no JSON: {error}")))?;
    if !input.is_object() {
        return Err(wrong(format!("the input of {known} is no JSON object")));
    }
    let input = Input(&input);
    Ok(match known.as_str() {
        "read" => Call::Read {
            path: input.path()?,
            offset: input.number("offset")?.unwrap_or(1),
            limit: input.number("limit")?,
        },
        "grep" => Call::Grep(Grep {
            pattern: input.text("pattern")?,
            path: input.optional("path")?,
            glob: input.optional("glob")?,
            ignore_case: input.flag("-i")?,
            mode: match input.optional("output_mode")?.as_deref() {
                None | Some("files_with_matches") => GrepMode::Files,
                Some("content") => GrepMode::Lines,
                Some("count") => GrepMode::Counts,
                Some(other) => {
                    return Err(wrong(format!(
                        "there is no output_mode {}; use content, files_with_matches or count",
                        quoted(other)
                    )));
                }
            },
            most: input.number("head_limit")?,
        }),
        "glob" => Call::Glob {
            pattern: input.text("pattern")?,
            folder: input.optional("path")?,
        },
        "bash" | "shell" => Call::Shell {
            command: input.text("command")?,
        },
        "edit" => Call::Edit {
            path: input.path()?,
            old: input.text("old_string")?,
            new: input.text("new_string")?,
            all: input.flag("replace_all")?,
        },
        "write" => Call::Write {
            path: input.path()?,
            text: input.text("content")?,
        },
        _ => Call::Delete {
            path: input.path()?,
        },
    })
}

/// The arguments of a call.
struct Input<'a>(&'a Value);

impl Input<'_> {
    fn optional(&self, name: &str) -> Result<Option<String>, Error> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(wrong(format!("{name} is no text; give a text"))),
        }
    }

    fn text(&self, name: &str) -> Result<String, Error> {
        self.optional(name)?
            .ok_or_else(|| wrong(format!("{name} is missing; give a text")))
    }

    /// The file; other agents call it `path`.
    fn path(&self) -> Result<String, Error> {
        match self.optional("file_path")? {
            Some(path) => Ok(path),
            None => self
                .optional("path")?
                .ok_or_else(|| wrong("file_path is missing; give the path of a file")),
        }
    }

    fn number(&self, name: &str) -> Result<Option<usize>, Error> {
        let number = match self.0.get(name) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Number(number)) => number.as_u64(),
            // Models write numbers as texts now and then.
            Some(Value::String(text)) => text.trim().parse().ok(),
            Some(_) => None,
        };
        // Zero is a line for some.
        match number.and_then(|number| usize::try_from(number).ok()) {
            Some(number) => Ok(Some(number.max(1))),
            None => Err(wrong(format!("{name} is no number; give one from 1"))),
        }
    }

    fn flag(&self, name: &str) -> Result<bool, Error> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(Value::String(text)) if text == "true" => Ok(true),
            Some(Value::String(text)) if text == "false" => Ok(false),
            Some(_) => Err(wrong(format!("{name} is neither true nor false"))),
        }
    }
}

pub(super) fn wrong(message: impl Into<String>) -> Error {
    Error::new(ErrorCode::InvalidArgument, message)
}
