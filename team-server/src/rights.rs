//! What a repository may be called, and which repositories a right is about.

use std::fmt;

use crate::storage::StorageError;

/// Bytes of a repository's name; no source, those of the big forges are shorter.
const NAME_BYTES: usize = 512;

/// The name of a repository, `owner/repo`; where there are groups, with all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository(String);

impl Repository {
    /// Takes what the client takes for a repository.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let is_valid = name.len() <= NAME_BYTES
            && name.split('/').count() >= 2
            && name.split('/').all(is_part);
        is_valid.then(|| Self(name.to_owned()))
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0
    }
}

/// `owner/repo`, `owner/*` for everything below an owner or a group, `*` for everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(String);

impl Pattern {
    /// Takes a pattern; a star stands only for everything that follows.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_valid = match text.strip_suffix('*') {
            Some("") => true,
            Some(rest) => rest
                .strip_suffix('/')
                .is_some_and(|owner| owner.len() <= NAME_BYTES && owner.split('/').all(is_part)),
            None => Repository::parse(text).is_some(),
        };
        is_valid.then(|| Self(text.to_owned()))
    }

    /// Whether it is about a repository.
    #[must_use]
    pub fn covers(&self, repository: &str) -> bool {
        match self.0.strip_suffix('*') {
            Some(owner) => repository.starts_with(owner),
            None => repository == self.0,
        }
    }

    /// The pattern.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }
}

/// What somebody may do with the repositories of a pattern. All may read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Right {
    /// With which.
    pub pattern: Pattern,
    /// Whether to write, too.
    pub can_write: bool,
}

impl Right {
    pub(crate) fn stored(pattern: &str, can_write: i64) -> Result<Self, StorageError> {
        let pattern =
            Pattern::parse(pattern).ok_or(StorageError::Damaged("a right is for no pattern"))?;
        Ok(Self {
            pattern,
            can_write: can_write != 0,
        })
    }
}

impl fmt::Display for Right {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.can_write { "write" } else { "read" };
        write!(f, "{kind} {}", self.pattern.0)
    }
}

fn is_part(part: &str) -> bool {
    !matches!(part, "" | "." | "..")
        && part
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'\\' | b'?' | b'#' | b'*'))
}

#[cfg(test)]
mod tests {
    use super::{Pattern, Repository};

    #[test]
    fn a_repository_has_an_owner_and_no_odd_parts() {
        for name in ["acme/app", "group/sub/project", "a.b/c_d-e~", "a/..."] {
            assert!(Repository::parse(name).is_some(), "{name}");
        }
        let long = format!("a/{}", "b".repeat(511));
        for name in [
            "", "acme", "acme/", "/app", "a//b", "a/..", "a/b?c", "a/é", "a/*", &long,
        ] {
            assert!(Repository::parse(name).is_none(), "{name}");
        }
    }

    #[test]
    fn a_pattern_is_one_repository_or_all_below() {
        let covers = |pattern: &str, name: &str| Pattern::parse(pattern).unwrap().covers(name);
        assert!(covers("acme/app", "acme/app"));
        assert!(!covers("acme/app", "acme/app2"));
        assert!(!covers("acme/app", "acme/app/more"));
        assert!(covers("acme/*", "acme/app") && covers("acme/*", "acme/group/app"));
        assert!(!covers("acme/*", "acme2/app"));
        assert!(covers("*", "any/thing"));
        for pattern in [
            "",
            "acme",
            "ac*",
            "*/app",
            "acme/a*",
            "/*",
            "**",
            "acme/*/app",
        ] {
            assert!(Pattern::parse(pattern).is_none(), "{pattern}");
        }
    }
}
