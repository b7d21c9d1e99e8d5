//! Saves one memory: its file and its line in the index, in one locked step (document 000 §4).

use serde::{Deserialize, Serialize};

use super::Next;
use super::commit::{Change, Look, commit, look};
use super::edit::{MemoryChanges, update_memory};
use super::guard::{Readers, check_added, check_content, refusal_of_new};
use super::index::{IndexEntry, is_generated, is_linked, update_index};
use super::lock::Lock;
use super::name::memory_file_name;
use super::result::{WriteResult, hash};
use super::target::{ABSENT, check_expect, check_target, index_folder, index_path, unexpected};
use super::tombstones;
use crate::error::{Error, ErrorCode};
use crate::flow::Host;
use crate::limits::FILE_MAX_NUMBER;
use crate::memory::{IndexSize, MemoryType, Scope, default_scope, format_iso, index_size};
use crate::report::{ReportCode, ReportEntry};
use crate::store::{Features, Found, Place};
use crate::text::quoted;

/// What is to be saved. A new memory needs a type and a name; of one that is there already, what is
/// null stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct SaveOptions {
    /// One of the four.
    #[serde(rename = "type")]
    pub kind: Option<MemoryType>,
    /// A few words; not empty.
    pub name: Option<String>,
    /// One line that says when the memory helps.
    pub description: Option<String>,
    /// Markdown, without frontmatter.
    pub body: Option<String>,
    /// Where a new memory goes; by its type when null.
    pub scope: Option<Scope>,
    /// The file, relative to the store, with `/`, ending in `.md`; it is created or updated. Without
    /// it a new file is made and named after type and name.
    pub path: Option<String>,
    /// `absent`, or the hash of what was read: nothing is written when it is not so (`conflict`).
    pub expect: Option<String>,
}

/// A save under way, over all its attempts.
pub(crate) struct Save {
    changes: MemoryChanges,
    scope: Scope,
    path: Option<String>,
    expect: Option<String>,
    one_step: bool,
    is_agent: bool,
    /// The file is written already; what is left is the index.
    written: Option<Written>,
}

/// A file that was written before the index could be.
struct Written {
    path: String,
    hash: String,
    created: bool,
    /// Its index line must be written anew.
    renamed: bool,
}

impl Save {
    /// # Errors
    /// What makes it refused before anything is looked at.
    pub fn new(
        options: SaveOptions,
        place: &Place,
        features: &Features,
        is_agent: bool,
    ) -> Result<Self, Error> {
        let SaveOptions {
            kind,
            name,
            description,
            body,
            scope,
            path,
            expect,
        } = options;
        check_expect(expect.as_deref())?;
        let wrong = |message: &str| Err(Error::new(ErrorCode::InvalidArgument, message));
        let scope = match &path {
            Some(path) => {
                check_target(path, place)?;
                let of_path = Scope::of(path);
                if scope.is_some_and(|scope| scope != of_path) {
                    return wrong(
                        "the scope is not that of the path: team memories lie below team/, and no others; leave one of the two out",
                    );
                }
                of_path
            }
            None if kind.is_none() || name.is_none() => {
                return wrong(
                    "a new memory needs a type and a name; to change one that is there, give its path",
                );
            }
            None if expect.as_deref().is_some_and(|expect| expect != ABSENT) => {
                return wrong(
                    "only a memory with a path can be expected to have a hash; give its path",
                );
            }
            None => scope.unwrap_or_else(|| default_scope(kind, features.team && !is_agent)),
        };
        Ok(Self {
            changes: MemoryChanges {
                name,
                description,
                kind,
                modified: None,
                body,
            },
            scope,
            path,
            expect,
            one_step: features.one_step,
            is_agent,
            written: None,
        })
    }

    pub(super) fn path(&self) -> Option<&str> {
        self.path.as_deref()
    }

    pub(super) async fn attempt(&mut self, host: &Host, lock: &Lock<'_>) -> Result<Next, Error> {
        // Begun is finished, whoever cancels.
        let shielded = host.shielded();
        let host = if self.written.is_some() {
            &shielded
        } else {
            host
        };
        let place = lock.found().place();
        let Some((path, look)) = self.find(host, &place).await? else {
            return Ok(Next::Done(WriteResult::refused(
                None,
                &place,
                self.too_many(),
            )));
        };
        let refused =
            |error: Error| Ok(Next::Done(WriteResult::refused(Some(&path), &place, error)));
        let old = match look {
            Look::Refused(error) | Look::NoText(_, error) => return refused(error),
            Look::Absent => None,
            Look::File(current) => Some(current),
        };
        // A link is written through: what counts is whose memory that is.
        let real = old.as_ref().map_or(&path, |old| &old.path).clone();
        self.scope = Scope::of(&real);
        let readers = Readers::of(&real, lock.found());
        // What is there after our own write is what somebody made of it: no conflict, and not ours to
        // write again.
        let expect = self.expect.as_deref().filter(|_| self.written.is_none());
        if let Some(result) = unexpected(expect, &path, &place, old.as_ref()) {
            return Ok(Next::Done(result));
        }
        let now = host.now().await;
        host.stop_if_cancelled()?;
        let now_ms = now.map_or(0, |now| now.ms);
        let text = old.as_ref().map(|old| old.text.as_str());
        let content = match (&self.written, text) {
            (Some(written), None) => {
                // Forgotten by somebody between our two steps, and its line with it.
                let mut result = WriteResult::at(&path, &place, None).written();
                result.created = written.created;
                return Ok(Next::Done(result));
            }
            (Some(_), Some(text)) => text.to_owned(),
            (None, text) => match self.content(text, now_ms) {
                Ok(content) => content,
                Err(error) => return refused(error.at(&path)),
            },
        };
        if old.is_none()
            && let Some(error) = refusal_of_new(host, &place, &path, None).await?
        {
            return refused(error.at(&path));
        }
        let mut report = match check_content(&path, &content, readers) {
            Ok(report) => report,
            Err(error) => return refused(error.at(&path)),
        };
        let index = self
            .index(host, lock.found(), &real, (text, &content), &mut report)
            .await?;
        let index = match index {
            Ok(index) => index,
            Err(error) => return refused(error.at(&path)),
        };
        let new_hash = hash(content.as_bytes());
        let changed = text != Some(content.as_str());
        let written = Written {
            path: path.clone(),
            hash: new_hash.clone(),
            created: old.is_none(),
            renamed: text
                .is_none_or(|text| IndexEntry::of(text, &real) != IndexEntry::of(&content, &real)),
        };
        let index_changed = index.is_some();
        let mut changes = Vec::new();
        if changed {
            changes.push(Change {
                path: path.clone(),
                old,
                new: content,
                keep: true,
            });
        }
        changes.extend(index);
        if !changes.is_empty() {
            let committed = commit(host, lock, &place, &changes, now_ms).await?;
            // Whatever becomes of the index: what is written is not written again.
            if changed && committed.done > 0 {
                self.written = Some(written);
            }
            if let Some(again) = committed.end?.again() {
                return Ok(again);
            }
        }
        if self.scope == Scope::Team {
            let marked = tombstones::mark(&shielded, lock, &real, None).await?;
            if let Some(again) = marked.again() {
                return Ok(again);
            }
        }
        let mut result = WriteResult::at(&path, &place, Some(new_hash));
        if let Some(written) = &self.written {
            result.created = written.created;
            result.hash = Some(written.hash.clone());
        }
        result.index_changed = index_changed;
        result.report = report;
        if self.written.is_some() || index_changed {
            result = result.written();
        }
        Ok(Next::Done(result))
    }

    /// What comes of a save that ends with this error: the path that it is about, and the result if the
    /// memory is written and only its line is missing.
    pub(super) fn ended(
        self,
        place: &Place,
        error: &Error,
    ) -> (Option<String>, Option<WriteResult>) {
        let Some(written) = self.written else {
            return (self.path.or_else(|| error.path.clone()), None);
        };
        let mut result = WriteResult::at(&written.path, place, Some(written.hash)).written();
        result.created = written.created;
        let message = format!("the memory is saved, but not its line in the index: {error}");
        let index = index_path(index_folder(self.scope));
        result
            .report
            .push(ReportEntry::new(index, ReportCode::NotIndexed, message));
        (Some(written.path), Some(result))
    }

    /// The file to write to, and what is there; none when every name is taken.
    async fn find(&self, host: &Host, place: &Place) -> Result<Option<(String, Look)>, Error> {
        let known = self.written.as_ref().map(|written| &written.path);
        if let Some(path) = known.or(self.path.as_ref()) {
            return Ok(Some((path.clone(), look(host, place, path).await?)));
        }
        let (Some(kind), Some(name)) = (self.changes.kind, &self.changes.name) else {
            return Ok(None);
        };
        for number in 1..=FILE_MAX_NUMBER {
            let file = memory_file_name(kind, name, number);
            let path = match index_folder(self.scope) {
                "" => file,
                folder => format!("{folder}/{file}"),
            };
            let look = look(host, place, &path).await?;
            let taken = match &look {
                Look::Absent => false,
                // Saved twice is saved once.
                Look::File(current) => !update_memory(Some(&current.text), &self.changes)
                    .is_ok_and(|edited| !edited.changed),
                Look::Refused(_) | Look::NoText(..) => true,
            };
            if !taken {
                return Ok(Some((path, look)));
            }
        }
        Ok(None)
    }

    fn too_many(&self) -> Error {
        let name = quoted(self.changes.name.as_deref().unwrap_or_default());
        let message = format!(
            "{FILE_MAX_NUMBER} memories are called like {name} already; give this one another name, or a path"
        );
        Error::new(ErrorCode::Exists, message)
    }

    /// The text to be written; the old one when there is nothing to change.
    fn content(&self, text: Option<&str>, now_ms: i64) -> Result<String, Error> {
        let MemoryChanges { name, kind, .. } = &self.changes;
        if text.is_none() && (name.is_none() || kind.is_none()) {
            return Err(Error::new(
                ErrorCode::InvalidArgument,
                "there is no such memory yet, and a new one needs a type and a name",
            ));
        }
        let mut edited = update_memory(text, &self.changes)?;
        if edited.changed && now_ms > 0 {
            let changes = MemoryChanges {
                modified: Some(format_iso(now_ms)),
                ..self.changes.clone()
            };
            edited = update_memory(text, &changes)?;
        }
        Ok(edited.content)
    }

    /// What becomes of the index, if anything, or why the memory is refused. A line that a person has
    /// written stays as long as name and description do.
    async fn index(
        &self,
        host: &Host,
        found: &Found,
        path: &str,
        (old, new): (Option<&str>, &str),
        report: &mut Vec<ReportEntry>,
    ) -> Result<Result<Option<Change>, Error>, Error> {
        if self.one_step {
            return Ok(Ok(None));
        }
        let place = &found.place();
        let folder = index_folder(self.scope);
        let index = index_path(folder);
        let mut note = |code, message: String| report.push(ReportEntry::new(index, code, message));
        let current = match look(host, place, index).await? {
            // Agents keep an index only where there is one already.
            Look::Absent if self.is_agent => return Ok(Ok(None)),
            Look::Absent => None,
            Look::File(current) => Some(current),
            Look::Refused(error) | Look::NoText(_, error) => {
                let message = format!("the memory has no line in the index: {}", error.message);
                note(ReportCode::Unreadable, message);
                return Ok(Ok(None));
            }
        };
        let readers = current.as_ref().map_or(index, |current| &current.path);
        let readers = Readers::of(readers, found);
        if readers == Readers::Team && self.scope == Scope::Private {
            let message = format!(
                "the memory has no line in the index: {index} is a link to a file of the team, who would see it"
            );
            note(ReportCode::NotIndexed, message);
            return Ok(Ok(None));
        }
        let text = current.as_ref().map(|current| current.text.as_str());
        let entry = |text: &str| IndexEntry::of(text, path);
        let renamed = self.written.as_ref().is_some_and(|written| written.renamed);
        let stays = !renamed && old.is_some_and(|old| entry(old) == entry(new));
        let edited = if stays && text.is_some_and(|text| is_linked(text, folder, path)) {
            Ok(None)
        } else {
            update_index(text, folder, path, Some(&entry(new))).map(Some)
        };
        let edited = match edited {
            Ok(edited) => edited.filter(|edited| edited.changed),
            Err(error) => {
                let message = format!("the memory has no line in the index: {}", error.message);
                note(ReportCode::IndexOverLimit, message);
                return Ok(Ok(None));
            }
        };
        let after = edited.as_ref().map(|edited| edited.content.as_str());
        if let Some(size) = index_size(after.or(text).unwrap_or_default()) {
            let whose = match self.scope {
                Scope::Private => "private",
                Scope::Team => "team",
            };
            let IndexSize {
                code,
                message,
                remedy,
            } = size;
            note(code, format!("the {whose} index {message}; {remedy}"));
        }
        if let Some(after) = after {
            match check_added(index, (text.unwrap_or_default(), after), readers) {
                Err(error) => return Ok(Err(error)),
                // It is said of the memory already.
                Ok(warning) if !report.iter().any(is_secret) => report.extend(warning),
                Ok(_) => {}
            }
        }
        // A line in somebody's own words is kept when it is written anew.
        let keep = text.is_some_and(|text| {
            is_linked(text, folder, path)
                && !old.is_some_and(|old| is_generated(text, folder, path, &entry(old)))
        });
        Ok(Ok(edited.map(|edited| Change {
            path: index.to_owned(),
            old: current,
            new: edited.content,
            keep,
        })))
    }
}

fn is_secret(entry: &ReportEntry) -> bool {
    entry.code == ReportCode::SecretFound
}
