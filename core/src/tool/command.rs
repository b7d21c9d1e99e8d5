//! Which commands there are, and what they may name.

use serde_json::Value;

use super::{ROOT, wrong};
use crate::error::Error;

/// One command; paths are relative to the store, empty for the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    View {
        path: String,
        /// First and last line, from 1; a last one of -1 is the end.
        range: Option<(i64, i64)>,
    },
    Create {
        path: String,
        text: String,
    },
    Replace {
        path: String,
        old: String,
        new: String,
    },
    Insert {
        path: String,
        line: i64,
        text: String,
    },
    Delete {
        path: String,
    },
    Rename {
        from: String,
        to: String,
    },
}

impl Command {
    /// The paths that it names, relative to the store.
    pub fn paths(&self) -> Vec<String> {
        match self {
            Self::View { path, .. }
            | Self::Create { path, .. }
            | Self::Replace { path, .. }
            | Self::Insert { path, .. }
            | Self::Delete { path } => vec![path.clone()],
            Self::Rename { from, to } => vec![from.clone(), to.clone()],
        }
    }
}

/// Reads the input of a call of the tool, as a model gives it.
///
/// # Errors
/// `invalid-argument` for what is no such command, `path-outside-store` is left to those who use the
/// path.
pub(crate) fn parse(input: &str) -> Result<Command, Error> {
    let input: Value = serde_json::from_str(input)
        .map_err(|error| wrong(&format!("the input is no JSON object: {error}")))?;
    let text = |name: &str| match input.get(name) {
        Some(Value::String(text)) => Ok(text.clone()),
        _ => Err(wrong(&format!("{name} is missing; give a text"))),
    };
    let path = |name: &str| relative(&text(name)?);
    // A file is not named with a separator at its end.
    let file = |name: &str| {
        let given = text(name)?;
        let path = relative(&given)?;
        if given.ends_with('/') && !path.is_empty() {
            let message = format!(
                "{} is the path of a folder; name a file, without / at its end",
                crate::text::quoted(&given)
            );
            return Err(wrong(&message));
        }
        Ok(path)
    };
    Ok(match text("command")?.as_str() {
        "view" => Command::View {
            path: path("path")?,
            range: range(input.get("view_range"))?,
        },
        "create" => Command::Create {
            path: file("path")?,
            text: text("file_text")?,
        },
        "str_replace" => Command::Replace {
            path: file("path")?,
            old: text("old_str")?,
            // Left out, it is removed.
            new: match input.get("new_str") {
                None | Some(Value::Null) => String::new(),
                _ => text("new_str")?,
            },
        },
        "insert" => Command::Insert {
            path: file("path")?,
            line: match input.get("insert_line") {
                None | Some(Value::Null) => {
                    return Err(wrong(
                        "insert_line is missing; give a line number, 0 for the beginning",
                    ));
                }
                Some(line) => whole(line).ok_or_else(|| {
                    wrong("insert_line is no whole number of a line; give one, 0 for the beginning")
                })?,
            },
            text: text("insert_text")?,
        },
        "delete" => Command::Delete {
            path: path("path")?,
        },
        "rename" => Command::Rename {
            from: path("old_path")?,
            to: path("new_path")?,
        },
        other => {
            let message = format!(
                "there is no command {}; use view, create, str_replace, insert, delete or rename",
                crate::text::quoted(other)
            );
            return Err(wrong(&message));
        }
    })
}

fn range(value: Option<&Value>) -> Result<Option<(i64, i64)>, Error> {
    let numbers = match value {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Array(numbers)) => numbers.as_slice(),
        _ => &[],
    };
    match numbers {
        [first, last] => match (whole(first), whole(last)) {
            (Some(first), Some(last)) => Ok(Some((first, last))),
            _ => Err(wrong(
                "view_range holds what is no whole number of a line; give the first and the last line",
            )),
        },
        _ => Err(wrong("view_range is no pair of line numbers")),
    }
}

/// A whole number, however it is written: JSON does not tell 1.0 from 1.
fn whole(value: &Value) -> Option<i64> {
    /// Beyond it a float does not tell one whole number from the next.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let whole = |number: &f64| number.fract() == 0.0 && number.abs() <= EXACT;
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and fits")]
    let number = |number: f64| number as i64;
    let float = || value.as_f64().filter(whole).map(number);
    value.as_i64().or_else(float)
}

/// The path below the virtual root.
fn relative(path: &str) -> Result<String, Error> {
    let rest = path.strip_prefix(ROOT).and_then(|rest| match rest {
        "" => Some(""),
        rest => rest.strip_prefix('/'),
    });
    let Some(rest) = rest else {
        let message = format!(
            "{} does not lie in {ROOT}; every path begins with {ROOT}/",
            crate::text::quoted(path)
        );
        return Err(Error::new(
            crate::error::ErrorCode::PathOutsideStore,
            message,
        ));
    };
    // A folder may be named with a separator at its end.
    Ok(rest.strip_suffix('/').unwrap_or(rest).to_owned())
}
