//! Which folder holds the memory of an agent (facts 9, document 000 §7): three scopes, one folder for each
//! name, and no two names in one folder.

use icu_normalizer::ComposingNormalizerBorrowed;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::{Error, ErrorCode};
use crate::limits::AGENT_NAME_MAX_BYTES;
use crate::team::is_device;

/// Who shares an agent's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgentScope {
    /// All projects of this user.
    User,
    /// Everybody who works on the project: it is kept with its files.
    Project,
    /// This project on this machine.
    Local,
}

impl AgentScope {
    /// As written on the command line.
    pub(crate) const ALL: [Self; 3] = [Self::User, Self::Project, Self::Local];

    /// Whether others may have written it, and the model is told so: it lies in the project's folder, so it
    /// may have come with it, though a local one should not have.
    pub(crate) fn is_shared(self) -> bool {
        self != Self::User
    }

    /// The folder of all agents' memories, below the memory base (`user`) or the project's `.claude`.
    pub(crate) fn folder(self) -> &'static str {
        match self {
            Self::User | Self::Project => "agent-memory",
            Self::Local => "agent-memory-local",
        }
    }
}

/// Whose memory is opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentOptions {
    /// The agent's name, also called its type.
    pub name: String,
    /// Who shares it.
    pub scope: AgentScope,
}

/// The folder name of an agent: its own name where that is one on every system; else what is legible of it
/// and a hash of the whole.
///
/// # Errors
/// `invalid-argument` for a name without anything in it, `path-nul`.
pub fn agent_folder_name(name: &str) -> Result<String, Error> {
    let trimmed = crate::text::trim(name);
    if trimmed.is_empty() {
        return Err(Error::new(
            ErrorCode::InvalidArgument,
            "the name of the agent is empty; give the one that it is started by",
        ));
    }
    if name.contains('\0') {
        return Err(Error::new(
            ErrorCode::PathNul,
            "the name of the agent holds a NUL character; remove it",
        ));
    }
    Ok(if is_safe(name) {
        name.to_owned()
    } else {
        hashed_folder_name(name)
    })
}

/// What Claude Code calls the folder of an agent that has a `:` in its name, as those of plugins do (facts 9).
/// An agent with a `-` there would have the same, so it is only for folders that are there already.
pub(crate) fn shared_folder_name(name: &str) -> Option<String> {
    let plain = name.replace(':', "-");
    (plain != name && is_safe(&plain)).then_some(plain)
}

fn is_safe(name: &str) -> bool {
    let is_fit = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    name.chars().all(is_fit)
        && !name.starts_with('.')
        && !name.ends_with('.')
        && !is_device(name)
        && name.len() <= AGENT_NAME_MAX_BYTES
        && ComposingNormalizerBorrowed::new_nfc().normalize(name) == name
}

/// A folder name that no other agent can have.
pub(crate) fn hashed_folder_name(name: &str) -> String {
    let mut legible = String::new();
    for c in ComposingNormalizerBorrowed::new_nfc()
        .normalize(name)
        .chars()
    {
        if legible.len() >= AGENT_NAME_MAX_BYTES {
            break;
        }
        if c.is_alphanumeric() {
            legible.push(c);
        } else if !legible.is_empty() && !legible.ends_with('-') {
            legible.push('-');
        }
    }
    let legible = legible.trim_end_matches('-');
    let hash: String = Sha256::digest(name.as_bytes())
        .iter()
        .take(4)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    if legible.is_empty() {
        hash
    } else {
        format!("{legible}-{hash}")
    }
}
