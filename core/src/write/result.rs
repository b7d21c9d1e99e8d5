//! What comes of a write.

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::guard::{hidden, secret_in_path};
use crate::error::{Error, ErrorCode};
use crate::paths::check_relative;
use crate::report::ReportEntry;
use crate::store::Place;

/// How a write ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WriteOutcome {
    /// The store is as it was asked for.
    Written,
    /// It was so already; nothing was touched.
    Unchanged,
    /// It is not as it was expected to be; nothing was touched.
    Conflict,
    /// A rule forbids it; nothing was touched.
    Refused,
}

/// The answer to a save, a forgetting, or its undoing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WriteResult {
    /// How it ended.
    pub outcome: WriteOutcome,
    /// Relative to the store, with `/`; null when it was refused before there was one, because it is
    /// none, or because it holds a secret.
    pub path: Option<String>,
    /// The same in the host's own form.
    pub absolute_path: Option<String>,
    /// `sha256:` and hex of the file as it is now; null when there is none.
    pub hash: Option<String>,
    /// Whether the file is new.
    pub created: bool,
    /// Whether an index was changed.
    pub index_changed: bool,
    /// Why it was refused, or `exists` and the like for a conflict; null otherwise.
    pub code: Option<ErrorCode>,
    /// The same for a person; null otherwise.
    pub message: Option<String>,
    /// What else should be known: an index near or over its limits, a second frontmatter block, a
    /// copy that teammates still have.
    pub report: Vec<ReportEntry>,
}

impl WriteResult {
    /// Nothing was to be done.
    pub(super) fn at(path: &str, place: &Place, hash: Option<String>) -> Self {
        Self {
            outcome: WriteOutcome::Unchanged,
            path: Some(path.to_owned()),
            absolute_path: Some(place.path(path)),
            hash,
            created: false,
            index_changed: false,
            code: None,
            message: None,
            report: Vec::new(),
        }
    }

    pub(super) fn written(self) -> Self {
        Self {
            outcome: WriteOutcome::Written,
            ..self
        }
    }

    pub(crate) fn refused(path: Option<&str>, place: &Place, error: Error) -> Self {
        let named: Vec<String> = path.map(str::to_owned).into_iter().collect();
        // What is no path of the store is none in the result either.
        let path = path.filter(|path| check_relative(path, place.platform).is_ok());
        Self {
            outcome: WriteOutcome::Refused,
            path: path.map(str::to_owned),
            absolute_path: path.map(|path| place.path(path)),
            code: Some(error.code),
            message: Some(error.message),
            ..Self::at("", place, None)
        }
        .without_secrets(&named)
    }

    /// The same with no secret in a path or a message: results are kept in logs. `named` are the paths
    /// that the caller gave.
    pub(super) fn without_secrets(self, named: &[String]) -> Self {
        let mut paths = named.to_vec();
        paths.extend(self.path.clone());
        let is_told = |path: &String| secret_in_path(path).is_none();
        let report = self.report.into_iter().map(|entry| ReportEntry {
            path: hidden(&entry.path, &paths),
            message: hidden(&entry.message, &paths),
            ..entry
        });
        let has_path = self.path.as_ref().is_some_and(is_told);
        Self {
            report: report.collect(),
            message: self.message.map(|message| hidden(&message, &paths)),
            path: self.path.filter(|_| has_path),
            absolute_path: self.absolute_path.filter(|_| has_path),
            ..self
        }
    }

    /// What a refusal is to a caller who expects a text.
    pub(crate) fn settled(self) -> Result<Self, Error> {
        match (self.outcome, self.code, &self.message) {
            (WriteOutcome::Refused | WriteOutcome::Conflict, Some(code), Some(message)) => {
                let error = Error::new(code, message.clone());
                Err(match self.path {
                    Some(path) => error.at(path),
                    None => error,
                })
            }
            _ => Ok(self),
        }
    }

    /// The file is not what was expected; `hash` is what it is.
    pub(super) fn conflict(path: &str, place: &Place, hash: Option<String>) -> Self {
        let message = match hash {
            Some(_) => format!("{path} is not what was expected: it has changed; read it again"),
            None => {
                format!("{path} is not what was expected: it is not there; read the store again")
            }
        };
        Self {
            outcome: WriteOutcome::Conflict,
            code: Some(if hash.is_some() {
                ErrorCode::Exists
            } else {
                ErrorCode::NotFound
            }),
            message: Some(message),
            ..Self::at(path, place, hash)
        }
    }
}

/// What a file is recognised by: `sha256:` and the lower-case hex of its bytes.
pub(crate) fn hash(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    let mut hash = String::from("sha256:");
    for byte in digest {
        for half in [byte >> 4, byte & 15] {
            hash.extend(char::from_digit(u32::from(half), 16));
        }
    }
    hash
}
