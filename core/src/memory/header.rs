//! What a scan knows of a memory without reading its body.

use serde::{Deserialize, Serialize};

use super::frontmatter::Frontmatter;
use super::kind::{MemoryType, Scope};
use crate::flow::{FileKind, Stat};

/// One memory as listed by a scan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MemoryHeader {
    /// Relative to the store, with `/`.
    pub path: String,
    /// From the frontmatter.
    pub name: Option<String>,
    /// From the frontmatter.
    pub description: Option<String>,
    /// One of the four, else null.
    #[serde(rename = "type")]
    pub kind: Option<MemoryType>,
    /// By its place: `team/` or not.
    pub scope: Scope,
    /// From the frontmatter.
    pub pinned: bool,
    /// The frontmatter's `modified` time, whole milliseconds since the epoch.
    pub modified_ms: Option<i64>,
    /// The file's modification time, whole milliseconds since the epoch.
    pub mtime_ms: i64,
    /// Bytes.
    pub size: u64,
}

impl MemoryHeader {
    /// The header of a text that is no file: without times, without size.
    #[must_use]
    pub(crate) fn of_text(path: String, frontmatter: Frontmatter) -> Self {
        let stat = Stat {
            kind: FileKind::File,
            size: 0,
            mtime_ms: 0,
            mtime_ns: 0,
            ctime_ms: None,
            inode: None,
            mode: None,
        };
        Self::new(path, &stat, frontmatter)
    }

    /// The header of the file at `path`.
    #[must_use]
    pub fn new(path: String, stat: &Stat, frontmatter: Frontmatter) -> Self {
        Self {
            scope: Scope::of(&path),
            path,
            name: frontmatter.name,
            description: frontmatter.description,
            kind: frontmatter.kind,
            pinned: frontmatter.pinned,
            modified_ms: frontmatter.modified_ms,
            mtime_ms: stat.mtime_ms,
            size: stat.size,
        }
    }
}
