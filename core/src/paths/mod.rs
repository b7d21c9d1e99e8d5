//! Paths as text: which ones a store may live at, how a project is named, how a memory is named.
//!
//! `std::path` is banned here because its meaning changes with the compile target; the platform
//! is a parameter instead.

mod classify;
mod directory;
pub(crate) mod git;
mod memory_path;
mod relative;
pub(crate) mod settings;
mod slug;
mod switches;

use serde::{Deserialize, Serialize};

pub use classify::{
    MemoryPlaces, PathKind, ToolAction, ToolClass, classify_path, classify_tool_call, may_write,
    summarise_tool_calls,
};
pub use directory::{Choice, DirectoryQuestion, Refused, Source, choose_directory};
pub(crate) use directory::{config_home, key_of};
pub use memory_path::validate_memory_path;
pub use relative::check_relative;
pub(crate) use relative::is_own;
pub(crate) use settings::{InstructionSettings, parse_instruction_settings};
pub use settings::{PerSource, Settings, SettingsProblem, SettingsProblemCode, parse_settings};
pub use slug::{injective_key, project_slug};
pub(crate) use switches::variable;
pub use switches::{Enabled, EnabledBecause, Environment, env_flag, memory_enabled};

/// Whose path rules hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Platform {
    /// `/` separates, `/` is the root.
    Posix,
    /// `\` and `/` separate, drives have letters.
    Windows,
}

impl Platform {
    /// The separator that this platform writes.
    #[must_use]
    pub fn separator(self) -> char {
        match self {
            Self::Posix => '/',
            Self::Windows => '\\',
        }
    }

    /// Whether the platform reads `c` as a separator.
    #[must_use]
    pub fn separates(self, c: char) -> bool {
        c == '/' || (self == Self::Windows && c == '\\')
    }

    /// Whether `path` does not depend on a working directory or a current drive.
    #[must_use]
    pub fn is_absolute(self, path: &str) -> bool {
        match self {
            Self::Posix => path.starts_with('/'),
            Self::Windows => {
                let mut chars = path.chars();
                chars.next().is_some_and(|c| c.is_ascii_alphabetic())
                    && chars.next() == Some(':')
                    && chars.next().is_some_and(|c| self.separates(c))
            }
        }
    }

    /// `folder` and a path relative to it that is written with `/`, as one path of the platform.
    #[must_use]
    pub fn join(self, folder: &str, relative: &str) -> String {
        let mut path = folder.trim_end_matches(|c| self.separates(c)).to_owned();
        for part in relative.split('/').filter(|part| !part.is_empty()) {
            path.push(self.separator());
            path.push_str(part);
        }
        path
    }

    /// The folder above a normalised absolute path; none above a root.
    #[must_use]
    pub fn parent(self, path: &str) -> Option<String> {
        let end = path.rfind(|c| self.separates(c))?;
        let (parent, name) = path.split_at_checked(end)?;
        if name.chars().count() < 2 {
            return None;
        }
        let with_separator = path.get(..end.saturating_add(1))?;
        // The parent of `/a` is `/`, that of `C:\a` is `C:\`: a root keeps its separator.
        let is_root = parent.is_empty() || (self == Self::Windows && parent.ends_with(':'));
        Some(if is_root { with_separator } else { parent }.to_owned())
    }

    /// The last name of a normalised path.
    #[must_use]
    pub fn file_name(self, path: &str) -> &str {
        path.rsplit(|c| self.separates(c))
            .next()
            .unwrap_or_default()
    }

    /// The way from `folder` to `path`, both absolute and normalised, empty when they are the same;
    /// none when `path` does not lie below it.
    #[must_use]
    pub fn below<'a>(self, path: &'a str, folder: &str) -> Option<&'a str> {
        let separates = |c| self.separates(c);
        let rest = path.strip_prefix(folder.trim_end_matches(separates))?;
        (rest.is_empty() || rest.starts_with(separates)).then(|| rest.trim_start_matches(separates))
    }

    /// Resolves `.`, `..` and repeated separators of an absolute path, never above its root, or of
    /// a relative one, where leading `..` stay. No trailing separator but a root's own.
    #[must_use]
    pub fn normalise(self, path: &str) -> String {
        let absolute = self.is_absolute(path);
        let (root, rest) = if absolute {
            let end = path.find(|c| self.separates(c)).map_or(0, |at| at + 1);
            (
                path.get(..end).unwrap_or_default(),
                path.get(end..).unwrap_or_default(),
            )
        } else {
            ("", path)
        };
        let mut parts: Vec<&str> = Vec::new();
        for part in rest.split(|c| self.separates(c)) {
            match part {
                "" | "." => {}
                ".." if parts.last().is_some_and(|last| *last != "..") => {
                    parts.pop();
                }
                ".." if absolute => {}
                part => parts.push(part),
            }
        }
        let separator = self.separator().to_string();
        let mut normal = root.replace(|c| self.separates(c), &separator);
        normal.push_str(&parts.join(&separator));
        if normal.is_empty() {
            ".".to_owned()
        } else {
            normal
        }
    }
}
