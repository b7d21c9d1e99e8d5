//! Looks at files of instructions, and reads those that were not read before or have changed since.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rustc_hash::FxBuildHasher;

use crate::error::Error;
use crate::flow::{Bytes, Failure, FailureCode, FileKind, Head, Host, Stat, join_all};
use crate::instructions::{
    ParsedInstructions, RulePatterns, is_markdown, parse_instructions, without_unseen,
};
use crate::limits::{FILE_MAX_BYTES, IMPORTS_MAX, READ_MANY_BYTES, READ_MANY_FILES};
use crate::paths::Platform;
use crate::report::ReportCode;
use crate::store::cache::is_unchanged;
use crate::store::into_text;
use crate::text;

/// Why a file cannot be loaded, for a program and for a person.
pub(super) type Refusal = (ReportCode, String);

/// What is at a path.
#[derive(Clone, Debug)]
pub(super) enum Look {
    Missing,
    /// A regular file, with every link on the way to it resolved.
    File {
        real: String,
        stat: Stat,
    },
    Folder {
        real: String,
    },
    Refused(Refusal),
}

/// What one file says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Content {
    pub parsed: ParsedInstructions,
    pub bytes: u64,
    pub lines: u64,
    /// Whether characters were left out that nobody sees.
    pub is_hiding: bool,
    /// Whether less is shown than there is.
    pub differs: bool,
    /// Whether it has more imports than are followed.
    pub imports_over: bool,
    /// The files that it is about, when it is not about all.
    pub patterns: Option<RulePatterns>,
}

impl Content {
    pub fn new(text: &str, is_markdown: bool) -> Self {
        let mut parsed = if is_markdown {
            parse_instructions(text)
        } else {
            ParsedInstructions {
                text: text::trim(text).to_owned(),
                ..ParsedInstructions::default()
            }
        };
        let whole = text::trim(text).len();
        let written = parsed.text.len();
        let is_plain = |byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
        let mut is_hiding = false;
        // Most texts have nothing to leave out.
        if !parsed.text.bytes().all(is_plain) {
            let seen = without_unseen(&parsed.text);
            is_hiding = seen.len() < written;
            parsed.text = text::lines(&seen);
        }
        let differs = is_hiding || written < whole;
        let imports_over = parsed.imports.len() > IMPORTS_MAX;
        parsed.imports.truncate(IMPORTS_MAX);
        let patterns = parsed.paths.as_deref().map(RulePatterns::new);
        Self {
            parsed,
            bytes: text.len() as u64,
            lines: text.lines().count() as u64,
            is_hiding,
            differs,
            imports_over,
            patterns,
        }
    }
}

/// What was read of a file, and when.
#[derive(Debug)]
pub(super) struct Known {
    stat: Stat,
    looked_ms: i64,
    content: Result<Arc<Content>, Refusal>,
}

/// What was read, by real paths.
pub(super) type Library = HashMap<String, Arc<Known>, FxBuildHasher>;

/// The files of one load.
#[derive(Debug)]
pub(super) struct Files {
    platform: Platform,
    /// What was known before, and what was read since.
    known: Library,
    /// What could not be read for the moment, which says nothing of the next load.
    failed: HashMap<String, Refusal, FxBuildHasher>,
    /// What was read in this load.
    current: HashSet<String, FxBuildHasher>,
    /// When the load began, milliseconds since the epoch.
    now_ms: i64,
}

impl Files {
    pub fn new(platform: Platform, known: Library, now_ms: i64) -> Self {
        Self {
            platform,
            known,
            failed: HashMap::default(),
            current: HashSet::default(),
            now_ms,
        }
    }

    /// All that is known now.
    pub fn into_library(self) -> Library {
        self.known
    }

    /// What a file says that was read.
    pub fn content(&self, real: &str) -> Result<Arc<Content>, Refusal> {
        if let Some(refusal) = self.failed.get(real) {
            return Err(refusal.clone());
        }
        match self.known.get(real) {
            Some(known) => known.content.clone(),
            None => Err((ReportCode::Unreadable, "it was not read".to_owned())),
        }
    }

    /// Reads the files that have changed since they were read, and those that never were.
    pub async fn read(&mut self, host: &Host, files: Vec<(String, Stat)>) -> Result<(), Error> {
        let mut wanted: Vec<(String, Stat)> = Vec::new();
        for (path, stat) in files {
            if !self.is_fresh(&path, &stat) {
                if stat.size > FILE_MAX_BYTES {
                    self.put(path, stat, Err(too_large()));
                } else {
                    wanted.push((path, stat));
                }
            }
        }
        let mut chunks = Vec::new();
        let mut chunk: Vec<(String, Stat)> = Vec::new();
        let mut longest = 0_u64;
        for (path, stat) in wanted {
            // A byte more than there was shows a file that has grown since.
            let length = stat.size.saturating_add(1);
            let together = length.max(longest).saturating_mul(chunk.len() as u64 + 1);
            if chunk.len() >= READ_MANY_FILES || together > READ_MANY_BYTES as u64 {
                chunks.push((std::mem::take(&mut chunk), longest));
                longest = 0;
            }
            longest = longest.max(length);
            chunk.push((path, stat));
        }
        chunks.push((chunk, longest));
        for (chunk, length) in chunks {
            self.read_chunk(host, chunk, length).await?;
        }
        Ok(())
    }

    async fn read_chunk(
        &mut self,
        host: &Host,
        chunk: Vec<(String, Stat)>,
        length: u64,
    ) -> Result<(), Error> {
        if chunk.is_empty() {
            return Ok(());
        }
        let heads = if length > READ_MANY_BYTES as u64 {
            // One that is as large as a file may be.
            Vec::new()
        } else {
            let paths = chunk.iter().map(|(path, _)| path.clone()).collect();
            host.read_many(paths, None, length)
                .await
                .unwrap_or_default()
        };
        host.stop_if_cancelled()?;
        let mut heads = heads.into_iter();
        for (path, stat) in chunk {
            let head = heads.next();
            let bytes = match head {
                Some(Head::Content(Bytes(bytes))) if bytes.len() as u64 == stat.size => Ok(bytes),
                Some(Head::Failed(failure)) => Err(failure),
                _ => {
                    host.read(&path, None, FILE_MAX_BYTES.saturating_add(1))
                        .await
                }
            };
            host.stop_if_cancelled()?;
            let content = self.content_of(&path, bytes);
            self.put(path, stat, content);
        }
        Ok(())
    }

    fn content_of(
        &self,
        path: &str,
        bytes: Result<Vec<u8>, Failure>,
    ) -> Result<Arc<Content>, Refusal> {
        let bytes = bytes.map_err(|failure| match failure.code {
            FailureCode::NotFound => (
                ReportCode::Vanished,
                "it went away before it was read".to_owned(),
            ),
            _ => unreadable(&failure),
        })?;
        if bytes.len() as u64 > FILE_MAX_BYTES {
            return Err(too_large());
        }
        let text = into_text(bytes, true).map_err(|(code, what)| (code, format!("it {what}")))?;
        Ok(Arc::new(Content::new(
            &text,
            is_markdown(self.platform, path),
        )))
    }

    fn put(&mut self, path: String, stat: Stat, content: Result<Arc<Content>, Refusal>) {
        if let Err(refusal @ (ReportCode::Unreadable | ReportCode::Vanished, _)) = content {
            self.failed.insert(path, refusal);
            return;
        }
        self.current.insert(path.clone());
        let known = Known {
            stat,
            looked_ms: self.now_ms,
            content,
        };
        self.known.insert(path, Arc::new(known));
    }

    /// Whether what is known of a file holds still. What was read in this load is not read again in it.
    fn is_fresh(&self, path: &str, stat: &Stat) -> bool {
        self.failed.contains_key(path)
            || self.known.get(path).is_some_and(|known| {
                is_unchanged(&known.stat, known.looked_ms, stat)
                    || (known.stat == *stat && self.current.contains(path))
            })
    }
}

/// What is at a path. `real` is what it is with the links in its folders resolved, where that is known.
pub(super) async fn look(host: &Host, path: &str, real: Option<String>) -> Look {
    let stat = match host.lstat(path).await {
        Ok(stat) => stat,
        Err(failure) if is_missing(failure.code) => return Look::Missing,
        Err(failure) => return Look::Refused(unreadable(&failure)),
    };
    if stat.kind == FileKind::Other {
        return Look::Refused(not_a_file());
    }
    let real = match real {
        Some(real) if stat.kind != FileKind::Link => Ok(real),
        _ => host.real_path(path).await,
    };
    match (stat.kind, real) {
        (FileKind::Link, real) => follow(host, real).await,
        (_, Err(failure)) => Look::Refused(unreadable(&failure)),
        (FileKind::File, Ok(real)) => Look::File { real, stat },
        (_, Ok(real)) => Look::Folder { real },
    }
}

/// What a link leads to.
async fn follow(host: &Host, real: Result<String, Failure>) -> Look {
    let real = match real {
        Ok(real) => real,
        Err(failure) => {
            let (code, message) = match failure.code {
                FailureCode::NotFound | FailureCode::NotADirectory => (
                    ReportCode::LinkDangling,
                    "it is a link to nothing".to_owned(),
                ),
                FailureCode::Loop => (
                    ReportCode::LinkLoop,
                    "it is a link that leads in a circle".to_owned(),
                ),
                _ => unreadable(&failure),
            };
            return Look::Refused((code, message));
        }
    };
    match host.lstat(&real).await {
        Ok(stat) if stat.kind == FileKind::File => Look::File { real, stat },
        Ok(stat) if stat.kind == FileKind::Directory => Look::Folder { real },
        Ok(_) => Look::Refused(not_a_file()),
        Err(failure) => Look::Refused(unreadable(&failure)),
    }
}

/// What is at many paths, of which nothing is known.
pub(super) async fn look_at(host: &Host, paths: &[String]) -> Result<Vec<Look>, Error> {
    let looks = join_all(paths.iter().map(|path| look(host, path, None))).await;
    host.stop_if_cancelled()?;
    Ok(looks)
}

pub(super) fn is_missing(code: FailureCode) -> bool {
    matches!(
        code,
        FailureCode::NotFound
            | FailureCode::NotADirectory
            | FailureCode::NameTooLong
            | FailureCode::InvalidName
    )
}

pub(super) fn unreadable(failure: &Failure) -> Refusal {
    let message = format!("it could not be read: {}", failure.message);
    (ReportCode::Unreadable, message)
}

pub(super) fn not_a_file() -> Refusal {
    (
        ReportCode::NotAFile,
        "it is no regular file, and nothing else is opened".to_owned(),
    )
}

fn too_large() -> Refusal {
    let message = format!(
        "it is larger than {FILE_MAX_BYTES} bytes, so nothing of it is loaded; split it up"
    );
    (ReportCode::TooLarge, message)
}
