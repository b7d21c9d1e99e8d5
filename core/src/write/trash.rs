//! What was replaced or forgotten, so that it can be had back: two files for each, the bytes and a
//! record of what they were, in `.memdir/trash` (design: 100 items or 30 days).

use serde::{Deserialize, Serialize};

use super::lock::Lock;
use crate::flow::{Content, Failure, Host, join_all};
use crate::limits::{
    FILE_MAX_BYTES, FILE_MODE, FOLDER_MODE, TRASH_FOLDER, TRASH_MAX_AGE_MS, TRASH_MAX_ITEMS,
};
use crate::order;

const BYTES: &str = ".bytes";
const RECORD: &str = ".json";

/// What an item of the trash was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Record {
    /// Relative to the store.
    pub path: String,
    pub reason: Reason,
    /// When, milliseconds since the epoch; 0 without a clock.
    pub at_ms: i64,
    /// What went from the indexes with it.
    #[serde(default)]
    pub cuts: Vec<IndexCut>,
}

/// What came before then came without a clock, so how old it is is not known.
const NO_CLOCK_MS: i64 = 86_400_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Reason {
    Replaced,
    Forgotten,
}

/// What was cut out of an index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IndexCut {
    /// Where the index lies, relative to the store.
    pub folder: String,
    /// The whole index before.
    pub text: String,
    /// The hash of what it was after.
    pub after: String,
    /// The lines that are gone, without line ends.
    pub lines: Vec<IndexLine>,
}

/// A line of an index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IndexLine {
    /// The line before it; none when it was the first.
    pub before: Option<String>,
    pub line: String,
}

impl From<(Option<String>, String)> for IndexLine {
    fn from((before, line): (Option<String>, String)) -> Self {
        Self { before, line }
    }
}

impl Record {
    pub fn replaced(path: &str, at_ms: i64) -> Self {
        Self {
            path: path.to_owned(),
            reason: Reason::Replaced,
            at_ms,
            cuts: Vec::new(),
        }
    }
}

/// The trash as the holder of the lock found it.
pub(crate) struct Trash<'a> {
    lock: &'a Lock<'a>,
    /// Names without endings, newest first, each with the endings that are there.
    items: Vec<(String, Vec<&'static str>)>,
    now_ms: i64,
}

impl<'a> Trash<'a> {
    /// Makes the folder if there is none.
    pub async fn open(host: &Host, lock: &'a Lock<'a>, now_ms: i64) -> Result<Self, Failure> {
        let folder = lock.path(TRASH_FOLDER);
        host.make_dir(&folder, lock.within(), FOLDER_MODE).await?;
        let listing = host.list(&folder, lock.within()).await?;
        let mut items: Vec<(String, Vec<&'static str>)> = Vec::new();
        for entry in listing.entries {
            for ending in [BYTES, RECORD] {
                let Some(name) = entry.name.strip_suffix(ending) else {
                    continue;
                };
                match items.iter_mut().find(|(known, _)| known == name) {
                    Some((_, endings)) => endings.push(ending),
                    None => items.push((name.to_owned(), vec![ending])),
                }
            }
        }
        order::sort(&mut items, |(a, _), (b, _)| b.cmp(a));
        Ok(Self {
            lock,
            items,
            now_ms,
        })
    }

    /// A new item: where its bytes go. It comes after all that are there, whatever the clock says.
    pub fn item(&self) -> String {
        let newest = self.items.first().and_then(|(name, _)| time_of(name));
        let after = newest.map_or(0, |newest| newest.saturating_add(1));
        let at_ms = self.now_ms.max(after);
        let (token, number) = (self.lock.token(), self.lock.number());
        self.path(&format!("{at_ms:015}-{token}-{number:03}"), BYTES)
    }

    /// Writes what the bytes of an item are.
    pub async fn describe(&self, host: &Host, bytes: &str, record: &Record) -> Result<(), Failure> {
        let json = serde_json::to_string(record).unwrap_or_default();
        let (path, content) = (record_of(bytes), Content::Text(json));
        host.write(&path, self.lock.within(), content, None, (FILE_MODE, false))
            .await
    }

    /// Removes what is too much or too old of what was there before the `added` ones. Best effort.
    pub async fn prune(&self, host: &Host, added: usize) {
        let oldest = self.now_ms.saturating_sub(TRASH_MAX_AGE_MS);
        let mut gone = Vec::new();
        for (number, (name, endings)) in self.items.iter().enumerate() {
            let is_old = time_of(name).is_some_and(|at_ms| (NO_CLOCK_MS..oldest).contains(&at_ms));
            if number.saturating_add(added) >= TRASH_MAX_ITEMS || is_old {
                gone.extend(endings.iter().map(|ending| self.path(name, ending)));
            }
        }
        let within = self.lock.within();
        join_all(gone.iter().map(|path| host.remove(path, within))).await;
    }

    /// The last item that was forgotten, of one path if it is given: where its bytes are, if they are,
    /// and its record.
    pub async fn last_forgotten(
        &self,
        host: &Host,
        path: Option<&str>,
    ) -> Option<(String, bool, Record)> {
        for (name, endings) in &self.items {
            if let Some(record) = self.forgotten(host, name, endings, path).await {
                let bytes = self.path(name, BYTES);
                return Some((bytes, endings.contains(&BYTES), record));
            }
        }
        None
    }

    /// The record of a path whose bytes are not there: an undoing, or another forgetting, has not come to
    /// its end. Where its bytes would be, and the record.
    pub async fn unfinished(&self, host: &Host, path: &str) -> Option<(String, Record)> {
        for (name, endings) in &self.items {
            if !endings.contains(&BYTES)
                && let Some(record) = self.forgotten(host, name, endings, Some(path)).await
            {
                return Some((self.path(name, BYTES), record));
            }
        }
        None
    }

    async fn forgotten(
        &self,
        host: &Host,
        name: &str,
        endings: &[&str],
        path: Option<&str>,
    ) -> Option<Record> {
        if !endings.contains(&RECORD) {
            return None;
        }
        let record = self.read(host, &self.path(name, RECORD)).await?;
        let fits = path.is_none_or(|path| path == record.path);
        (record.reason == Reason::Forgotten && fits).then_some(record)
    }

    /// A record, if there is one.
    pub async fn read(&self, host: &Host, file: &str) -> Option<Record> {
        let json = host.read(file, self.lock.within(), FILE_MAX_BYTES).await;
        serde_json::from_slice(&json.ok()?).ok()
    }

    fn path(&self, name: &str, ending: &str) -> String {
        self.lock.path(&format!("{TRASH_FOLDER}/{name}{ending}"))
    }
}

/// The record that belongs to the bytes of an item.
pub(crate) fn record_of(bytes: &str) -> String {
    let item = bytes.strip_suffix(BYTES).unwrap_or(bytes);
    format!("{item}{RECORD}")
}

/// When an item came.
fn time_of(name: &str) -> Option<i64> {
    name.split('-').next()?.parse().ok()
}
