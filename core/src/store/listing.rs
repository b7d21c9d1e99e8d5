//! Lists a store, folder by folder, and says of every file that should be a memory why it is none
//! (facts 4.4, document 000 §6).

use std::sync::Arc;

use super::Place;
use super::cache::Known;
use crate::error::Error;
use crate::flow::{Failure, FailureCode, FileKind, Host, Listing, Stat, join, join_all};
use crate::limits::{INDEX_NAME, OWN_FOLDER, SCAN_MAX_DEPTH, TEMPORARY_ENDING};
use crate::memory::MemoryHeader;
use crate::order;
use crate::paths::is_own;
use crate::report::{ReportCode, ReportEntry};

/// A file that may be a memory.
pub(super) struct Candidate {
    /// Relative to the store.
    pub path: String,
    /// Where a link leads, relative to the store; none for what is no link.
    pub target: Option<String>,
    pub stat: Stat,
}

impl Candidate {
    /// What is opened.
    pub fn file(&self, place: &Place) -> String {
        place.path(self.target.as_ref().unwrap_or(&self.path))
    }

    pub fn known(
        &self,
        listed_ms: i64,
        header: Option<MemoryHeader>,
        report: Vec<ReportEntry>,
    ) -> Arc<Known> {
        Known::new(
            self.target.clone(),
            self.stat.clone(),
            listed_ms,
            header,
            report,
        )
    }
}

/// Collects what the walk finds.
#[derive(Default)]
pub(super) struct Found {
    pub candidates: Vec<Candidate>,
    links: Vec<String>,
    folders: Vec<String>,
    pub report: Vec<ReportEntry>,
    /// Whether there is no such folder at all.
    pub missing: bool,
    /// When the listing began, milliseconds since the epoch; the least value without a clock, so
    /// that nothing that is read now is trusted later.
    pub listed_ms: i64,
}

/// What is in the store, links followed, newest first.
pub(super) async fn list(place: &Place, host: &Host) -> Result<Found, Error> {
    let mut found = look(place, host).await?;
    sort_by_age(&mut found.candidates);
    Ok(found)
}

/// What is in the store, links followed, in any order.
pub(super) async fn look(place: &Place, host: &Host) -> Result<Found, Error> {
    let mut found = walk(place, host).await?;
    follow_links(place, host, &mut found).await?;
    Ok(found)
}

pub(super) fn sort_by_age(candidates: &mut Vec<Candidate>) {
    order::sort(candidates, |a, b| {
        (b.stat.mtime_ms, b.stat.mtime_ns)
            .cmp(&(a.stat.mtime_ms, a.stat.mtime_ns))
            .then_with(|| a.path.cmp(&b.path))
    });
}

/// Lists folder by folder, level by level; the folders of a level share a step.
async fn walk(place: &Place, host: &Host) -> Result<Found, Error> {
    let mut found = Found::default();
    let mut level = vec![String::new()];
    for depth in 0.. {
        if level.is_empty() {
            break;
        }
        if depth > SCAN_MAX_DEPTH {
            for folder in level {
                found.report.push(ReportEntry::new(
                    folder,
                    ReportCode::TooDeep,
                    format!(
                        "folders deeper than {SCAN_MAX_DEPTH} are not entered; move its memories up"
                    ),
                ));
            }
            break;
        }
        let paths: Vec<String> = level.iter().map(|folder| place.path(folder)).collect();
        let within = Some(place.directory.as_str());
        let lists = join_all(paths.iter().map(|path| host.list(path, within)));
        let listings = if depth == 0 {
            let (now, listings) = join(host.now(), lists).await;
            found.listed_ms = now.map_or(i64::MIN, |now| now.ms);
            listings
        } else {
            lists.await
        };
        host.stop_if_cancelled()?;
        for (folder, listing) in level.iter().zip(listings) {
            match listing {
                Ok(listing) => found.take_listing(folder, listing),
                Err(failure) => {
                    found.missing |= folder.is_empty() && failure.code == FailureCode::NotFound;
                    found.report.push(unlistable(folder, &failure));
                }
            }
        }
        level = std::mem::take(&mut found.folders);
    }
    Ok(found)
}

impl Found {
    fn take_listing(&mut self, folder: &str, listing: Listing) {
        if listing.incomplete {
            self.report.push(ReportEntry::new(
                folder,
                ReportCode::ListingIncomplete,
                "the folder could not be listed to its end, so memories may be missing; rename files whose names are not UTF-8",
            ));
        }
        for entry in listing.entries {
            if entry.name == OWN_FOLDER || entry.name.ends_with(TEMPORARY_ENDING) {
                continue;
            }
            let is_memory = entry.name.ends_with(".md") && entry.name != INDEX_NAME;
            let path = if folder.is_empty() {
                entry.name
            } else {
                format!("{folder}/{}", entry.name)
            };
            self.take_entry(path, is_memory, entry.invalid_name, entry.stat);
        }
    }

    fn take_entry(
        &mut self,
        path: String,
        is_memory: bool,
        invalid_name: bool,
        stat: Option<Stat>,
    ) {
        if invalid_name {
            self.note(
                path,
                ReportCode::InvalidName,
                "the name is not UTF-8, so the file cannot be used; rename it",
            );
            return;
        }
        let Some(stat) = stat else {
            if is_memory {
                self.note(
                    path,
                    ReportCode::Vanished,
                    "it went away while the folder was listed",
                );
            }
            return;
        };
        match stat.kind {
            FileKind::File if is_memory => {
                let target = None;
                self.candidates.push(Candidate { path, target, stat });
            }
            FileKind::Directory => {
                if is_memory {
                    self.note(
                        path.clone(),
                        ReportCode::NotAFile,
                        "it is a folder with the name of a memory; rename it",
                    );
                }
                self.folders.push(path);
            }
            FileKind::Link => self.links.push(path),
            FileKind::Other if is_memory => {
                self.note(
                    path,
                    ReportCode::NotAFile,
                    "it is no regular file and was not opened; replace it by one",
                );
            }
            FileKind::File | FileKind::Other => {}
        }
    }

    fn note(&mut self, path: String, code: ReportCode, message: &str) {
        self.report.push(ReportEntry::new(path, code, message));
    }
}

/// A link to a file inside the store is a memory like any other; every other link is reported.
async fn follow_links(place: &Place, host: &Host, found: &mut Found) -> Result<(), Error> {
    let links = std::mem::take(&mut found.links);
    if links.is_empty() {
        return Ok(());
    }
    let root = host.real_path(&place.directory).await;
    host.stop_if_cancelled()?;
    let Ok(root) = root else {
        for path in links {
            found.note(
                path,
                ReportCode::Unreadable,
                "the store's own path cannot be resolved, so its links are not followed",
            );
        }
        return Ok(());
    };
    let targets = join_all(links.iter().map(|path| resolve(host, place.path(path)))).await;
    host.stop_if_cancelled()?;
    for (path, target) in links.into_iter().zip(targets) {
        let target = target.map(|(file, stat)| {
            let inside = place.platform.below(&file, &root).map(str::to_owned);
            (inside, stat)
        });
        let is_memory = path.ends_with(".md")
            && path != INDEX_NAME
            && !path.ends_with(&format!("/{INDEX_NAME}"));
        match target {
            Ok((_, stat)) if stat.kind == FileKind::Directory => {
                found.note(
                    path,
                    ReportCode::LinkToFolder,
                    "it is a link to a folder, which is not entered; move the folder here",
                );
            }
            Err(failure) if path == INDEX_NAME && failure.code == FailureCode::NotFound => {
                found.note(
                    path,
                    ReportCode::LinkDangling,
                    "it is a link to nothing; remove it",
                );
            }
            _ if !is_memory => {}
            Ok((None, _)) => {
                found.note(
                    path,
                    ReportCode::LinkOutside,
                    "it is a link that leaves the store; keep the file itself in the store",
                );
            }
            Ok((Some(file), _)) if is_own(&file, place.platform) => {
                found.note(
                    path,
                    ReportCode::LinkOutside,
                    "it is a link to one of memdir's own files; remove it",
                );
            }
            Ok((target, stat)) if stat.kind == FileKind::File => {
                found.candidates.push(Candidate { path, target, stat });
            }
            Ok(_) => found.note(
                path,
                ReportCode::NotAFile,
                "it leads to no regular file and was not opened",
            ),
            Err(failure) if failure.code == FailureCode::NotFound => {
                found.note(
                    path,
                    ReportCode::LinkDangling,
                    "it is a link to nothing; remove it",
                );
            }
            Err(failure) if failure.code == FailureCode::Loop => {
                found.note(
                    path,
                    ReportCode::LinkLoop,
                    "it is a link that leads in a circle; remove it",
                );
            }
            Err(failure) => {
                let message = format!("its target cannot be found: {}", failure.message);
                found.note(path, ReportCode::Unreadable, &message);
            }
        }
    }
    Ok(())
}

async fn resolve(host: &Host, path: String) -> Result<(String, Stat), Failure> {
    let target = host.real_path(&path).await?;
    let stat = host.lstat(&target).await?;
    Ok((target, stat))
}

fn unlistable(folder: &str, failure: &Failure) -> ReportEntry {
    let message = match (folder, failure.code) {
        ("", FailureCode::NotFound) => {
            "the memory folder does not exist; it is created when it is first needed".to_owned()
        }
        _ => format!("the folder could not be listed: {}", failure.message),
    };
    ReportEntry::new(folder, ReportCode::Unlistable, message)
}
