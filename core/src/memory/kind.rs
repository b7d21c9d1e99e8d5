//! The closed taxonomy: four types, two scopes (document 002).

use serde::{Deserialize, Serialize};

use crate::limits::TEAM_FOLDER;

/// The four types of memory. There is no fifth; anything else counts as no type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryType {
    /// Who the user is and what they know.
    User,
    /// How the agent should work, as corrected or confirmed by the user.
    Feedback,
    /// What goes on in the project that its files do not tell.
    Project,
    /// Where things are in systems outside.
    Reference,
}

impl MemoryType {
    /// All of them, in the order in which they are explained.
    pub const ALL: [Self; 4] = [Self::User, Self::Feedback, Self::Project, Self::Reference];

    /// As written in frontmatter.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Feedback => "feedback",
            Self::Project => "project",
            Self::Reference => "reference",
        }
    }

    /// The type with exactly this name, case included.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Where a memory belongs when nothing else is said (documents 000 §8 and 002): what is about one
/// person stays private, what is about the project goes to the team, if there is one.
#[must_use]
pub fn default_scope(kind: Option<MemoryType>, team: bool) -> Scope {
    match kind {
        Some(MemoryType::Project | MemoryType::Reference) if team => Scope::Team,
        _ => Scope::Private,
    }
}

/// Who sees a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// One person on one machine.
    Private,
    /// Everybody who works on the project.
    Team,
}

impl Scope {
    /// The scope of a memory, by its place in the store (facts 11.1).
    #[must_use]
    pub fn of(path: &str) -> Self {
        match path.split_once('/') {
            Some((TEAM_FOLDER, _)) => Self::Team,
            _ => Self::Private,
        }
    }
}
