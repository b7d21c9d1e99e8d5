//! Finds the files of a chain: what is at its places, and the rules in their folders.

use std::collections::{HashMap, HashSet};

use super::fence::Fence;
use super::files::{Look, Refusal, look, look_at, not_a_file, unreadable};
use crate::error::Error;
use crate::flow::{Entry, FileKind, Host, Stat, join, join_all};
use crate::instructions::{
    InstructionPlace, InstructionSource, LoadKind, PlaceKind, PlaceSkip, PlacesQuestion,
    instruction_places,
};
use crate::limits::SCAN_MAX_DEPTH;
use crate::order;
use crate::paths::Platform;
use crate::report::ReportCode;

/// One file that may be loaded.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    /// As it was found.
    pub path: String,
    pub source: InstructionSource,
    pub kind: LoadKind,
    /// The folder that the patterns of a rule are relative to, and that links may lead to.
    pub base: String,
    /// What it is.
    pub found: Result<(String, Stat), Refusal>,
}

/// The files at the places that a question is about, in order. Its folders are no links.
pub(super) async fn gather(
    host: &Host,
    question: &PlacesQuestion,
    fence: &mut Fence,
) -> Result<Vec<Candidate>, Error> {
    let PlacesQuestion { platform, cwd, .. } = question;
    let (platform, cwd) = (*platform, cwd.as_deref());
    let places = &instruction_places(question);
    let holder = |place: &InstructionPlace| platform.parent(&place.path).unwrap_or_default();
    let is_walked = |folder: &str| {
        cwd.is_some_and(|cwd| platform.below(cwd, folder).is_some())
            || question.additional.iter().any(|known| known == folder)
            || question.config_home.as_deref() == Some(folder)
    };
    // Most places are in folders that are not there.
    let mut holders: Vec<String> = Vec::new();
    for place in places.iter().filter(|place| is_looked_at(place)) {
        let folder = holder(place);
        if !is_walked(&folder) && holders.last() != Some(&folder) {
            holders.push(folder);
        }
    }
    let folders = join_all(holders.iter().map(|folder| async {
        let above = platform.parent(folder);
        let is_plain = above.is_some_and(|above| is_walked(&above));
        look(host, folder, is_plain.then(|| folder.clone())).await
    }));
    let walked = join_all(places.iter().map(|place| async {
        let is_beside = place.kind == PlaceKind::File && is_walked(&holder(place));
        if is_beside && is_looked_at(place) {
            at_file(look(host, &place.path, Some(place.path.clone())).await)
        } else {
            At::Nothing
        }
    }));
    let (folders, walked) = join(folders, walked).await;
    host.stop_if_cancelled()?;
    let folders: HashMap<String, Look> = holders.into_iter().zip(folders).collect();
    let found = join_all(places.iter().zip(walked).map(|(place, at)| async {
        let real = match folders.get(&holder(place)) {
            Some(Look::Folder { real }) => platform.join(real, platform.file_name(&place.path)),
            Some(Look::Refused(refusal)) => return At::File(Err(refusal.clone())),
            None if place.kind == PlaceKind::Rules && is_walked(&holder(place)) => {
                place.path.clone()
            }
            Some(Look::Missing | Look::File { .. }) | None => return at,
        };
        match place.kind {
            _ if !is_looked_at(place) => At::Nothing,
            PlaceKind::File => at_file(look(host, &place.path, Some(real)).await),
            PlaceKind::Rules => match look(host, &place.path, Some(real)).await {
                Look::Folder { real } => At::Rules(real),
                Look::Missing => At::Nothing,
                Look::File { .. } => At::File(Err(not_a_folder())),
                Look::Refused(refusal) => At::File(Err(refusal)),
            },
        }
    }))
    .await;
    host.stop_if_cancelled()?;
    let mut candidates = Vec::new();
    for (place, at) in places.iter().zip(found) {
        let base = base(platform, place, cwd);
        let worktree = place.skipped == Some(PlaceSkip::Worktree);
        let refused = |found| {
            if worktree {
                Err(nested_worktree())
            } else {
                found
            }
        };
        match at {
            At::Nothing => {}
            At::File(found) => candidates.push(Candidate {
                path: place.path.clone(),
                source: place.source,
                kind: match place.kind {
                    PlaceKind::File => LoadKind::File,
                    PlaceKind::Rules => LoadKind::Rule,
                },
                base,
                found: refused(found),
            }),
            At::Rules(real) => {
                let is_of_project = place.source == InstructionSource::Project;
                let fence = is_of_project.then_some(&mut *fence);
                let rules = rules(host, platform, &place.path, real, fence).await?;
                candidates.extend(rules.into_iter().map(|(path, found)| Candidate {
                    path,
                    source: place.source,
                    kind: LoadKind::Rule,
                    base: base.clone(),
                    found: refused(found),
                }))
            }
        }
    }
    Ok(candidates)
}

/// What is switched off is not looked at.
fn is_looked_at(place: &InstructionPlace) -> bool {
    place.skipped != Some(PlaceSkip::Off)
}

fn at_file(look: Look) -> At {
    match look {
        Look::Missing => At::Nothing,
        Look::File { real, stat } => At::File(Ok((real, stat))),
        Look::Folder { .. } => At::File(Err(not_a_file())),
        Look::Refused(refusal) => At::File(Err(refusal)),
    }
}

fn not_a_folder() -> Refusal {
    let message = "it is no folder, so there are no rules in it";
    (ReportCode::NotAFolder, message.to_owned())
}

enum At {
    Nothing,
    File(Result<(String, Stat), Refusal>),
    /// A folder, with links resolved.
    Rules(String),
}

fn nested_worktree() -> Refusal {
    let message =
        "the worktree that is worked in lies inside this repository and has the same files";
    (ReportCode::NestedWorktree, message.to_owned())
}

/// The folder that the rules of a place are about.
fn base(platform: Platform, place: &InstructionPlace, cwd: Option<&str>) -> String {
    let holder = match (place.source, place.kind) {
        (InstructionSource::Managed | InstructionSource::User, PlaceKind::Rules) => {
            return cwd.unwrap_or_default().to_owned();
        }
        // In `.claude/rules`.
        (_, PlaceKind::Rules) => platform.parent(&place.path),
        (_, PlaceKind::File) => Some(place.path.clone()),
    };
    let folder = holder.and_then(|holder| platform.parent(&holder));
    match folder {
        Some(folder)
            if platform.file_name(&folder) == ".claude" && place.kind == PlaceKind::File =>
        {
            platform.parent(&folder).unwrap_or(folder)
        }
        folder => folder.unwrap_or_default(),
    }
}

type Rules = Vec<(String, Result<(String, Stat), Refusal>)>;

/// The rules in a folder and in those below it, links followed, sorted by their paths.
async fn rules(
    host: &Host,
    platform: Platform,
    folder: &str,
    real: String,
    mut fence: Option<&mut Fence>,
) -> Result<Rules, Error> {
    let mut rules: Rules = Vec::new();
    let mut seen = HashSet::new();
    // As it is named, and with links resolved.
    let mut level: Vec<(String, String)> = Vec::new();
    let top = real.clone();
    match refusal(host, &mut fence, &real, folder).await? {
        Some(refusal) => rules.push((folder.to_owned(), Err(refusal))),
        None => level.push((folder.to_owned(), real)),
    }
    for depth in 0..=SCAN_MAX_DEPTH {
        if level.is_empty() {
            break;
        }
        let listings = join_all(level.iter().map(|(_, real)| host.list(real, None))).await;
        host.stop_if_cancelled()?;
        let mut next = Vec::new();
        let mut links = Vec::new();
        for ((path, real), listing) in level.into_iter().zip(listings) {
            let listing = match listing {
                Ok(listing) => listing,
                Err(failure) => {
                    let (_, message) = unreadable(&failure);
                    rules.push((path, Err((ReportCode::Unlistable, message))));
                    continue;
                }
            };
            if !seen.insert(real.clone()) {
                rules.push((path, Err(circle())));
                continue;
            }
            if listing.incomplete {
                let message = "the host could not list the folder to its end";
                rules.push((
                    path.clone(),
                    Err((ReportCode::ListingIncomplete, message.to_owned())),
                ));
            }
            for entry in listing.entries {
                let (is_rule, named) = (
                    entry.name.ends_with(".md"),
                    platform.join(&path, &entry.name),
                );
                let Entry {
                    name,
                    invalid_name,
                    stat,
                } = entry;
                let Some(stat) = stat else {
                    let message = "what it is could not be asked";
                    rules.push((named, Err((ReportCode::Unreadable, message.to_owned()))));
                    continue;
                };
                let real = platform.join(&real, &name);
                match stat.kind {
                    _ if invalid_name && (is_rule || stat.kind != FileKind::File) => {
                        let message = "its name is not UTF-8; rename it";
                        rules.push((named, Err((ReportCode::InvalidName, message.to_owned()))));
                    }
                    FileKind::Directory if depth == SCAN_MAX_DEPTH => {
                        let message = format!(
                            "folders nested more than {SCAN_MAX_DEPTH} deep are not entered"
                        );
                        rules.push((named, Err((ReportCode::TooDeep, message))));
                    }
                    FileKind::Directory => next.push((named, real)),
                    FileKind::File if is_rule => rules.push((named, Ok((real, stat)))),
                    FileKind::Link => links.push((named, is_rule)),
                    FileKind::Other if is_rule => rules.push((named, Err(not_a_file()))),
                    FileKind::File | FileKind::Other => {}
                }
            }
        }
        let paths: Vec<String> = links.iter().map(|(path, _)| path.clone()).collect();
        for ((path, is_rule), look) in links.into_iter().zip(look_at(host, &paths).await?) {
            match look {
                Look::File { real, stat } if is_rule => rules.push((path, Ok((real, stat)))),
                // What holds these rules would bring all that lies beside them.
                Look::Folder { real } if platform.below(&top, &real).is_some() => {
                    rules.push((path, Err(circle())));
                }
                Look::Folder { real } => match refusal(host, &mut fence, &real, &path).await? {
                    Some(refusal) => rules.push((path, Err(refusal))),
                    None => next.push((path, real)),
                },
                // Whatever it was meant to be, what is behind it is not there.
                Look::Refused(refusal) => rules.push((path, Err(refusal))),
                Look::File { .. } | Look::Missing => {}
            }
        }
        level = next;
    }
    order::sort(&mut rules, |a, b| a.0.cmp(&b.0));
    Ok(rules)
}

fn circle() -> Refusal {
    let message = "a link leads in a circle, or to rules that are there already";
    (ReportCode::LinkLoop, message.to_owned())
}

/// Why a folder of rules is not entered; before it is listed, as it may be the whole disk.
async fn refusal(
    host: &Host,
    fence: &mut Option<&mut Fence>,
    real: &str,
    path: &str,
) -> Result<Option<Refusal>, Error> {
    match fence {
        Some(fence) if real != path => fence.refusal(host, real, path, "is a link").await,
        _ => Ok(None),
    }
}
