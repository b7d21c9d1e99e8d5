//! What may be written where: who would see it, and what they must not see.

use std::collections::BTreeSet;

use super::commit::failed;
use crate::error::{Error, ErrorCode};
use crate::flow::{FailureCode, Host, join_all};
use crate::limits::{TEAM_FOLDER, TEAM_KEY_PART_MAX_BYTES};
use crate::memory::{MemoryType, parse_frontmatter};
use crate::report::{ReportCode, ReportEntry};
use crate::secrets::{SecretFinding, redact_secrets, scan_secrets};
use crate::store::{Found, Place};
use crate::team::validate_team_key;
use crate::text::{lines_with_ends, one_line, quoted};

/// Who sees what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Readers {
    /// The user alone.
    User,
    /// The team, through its server.
    Team,
    /// Whoever gets the project's files.
    Project,
}

impl Readers {
    /// The readers of a file of the store; `path` is where it really lies.
    pub fn of(path: &str, found: &Found) -> Self {
        if is_team(path) {
            Self::Team
        } else if found.is_with_project() {
            Self::Project
        } else {
            Self::User
        }
    }

    /// Those who would see it and should not.
    fn others(self) -> Option<&'static str> {
        match self {
            Self::User => None,
            Self::Team => Some("teammates"),
            Self::Project => Some("everybody who works on the project"),
        }
    }
}

/// Whether a path lies in the folder of the team on some machine: where case does not count, TEAM is that
/// folder too, and Windows drops blanks and dots at the end of a name.
fn is_team(path: &str) -> bool {
    let first = path.split('/').next().unwrap_or_default();
    first
        .trim_end_matches([' ', '.'])
        .eq_ignore_ascii_case(TEAM_FOLDER)
}

/// What a text may not say where it is to be written, and what else its reader will complain about.
///
/// # Errors
/// `user-private`, and `secret-found` for what others would see; it names the kind, never the value.
pub(super) fn check_content(
    path: &str,
    content: &str,
    readers: Readers,
) -> Result<Vec<ReportEntry>, Error> {
    let read = parse_frontmatter(content);
    if readers == Readers::Team && read.kind == Some(MemoryType::User) {
        return Err(Error::new(
            ErrorCode::UserPrivate,
            "a memory of type user stays private; save it without the team scope, or give it another type",
        ));
    }
    let mut secrets: Vec<(String, SecretFinding)> = secrets_in(content)
        .into_iter()
        .map(|secret| (format!("line {}", secret.line), secret))
        .collect();
    // An escape can hide in the file what a reader of it sees.
    for (what, value) in [
        ("the name", &read.name),
        ("the description", &read.description),
    ] {
        let value = value.as_deref().unwrap_or_default();
        let shown = [secrets_in(value), secrets_in(&one_line(value))];
        for secret in shown.into_iter().flatten() {
            if secrets.iter().all(|(_, known)| known.rule != secret.rule) {
                secrets.push((what.to_owned(), secret));
            }
        }
    }
    if let (Some(others), Some((place, secret))) = (readers.others(), secrets.first()) {
        return Err(refused(place, &secret.label, others).at(path));
    }
    let problems = read.problems.into_iter();
    let problems = problems.map(|problem| ReportEntry::new(path, problem.code, problem.message));
    let secrets = secrets
        .iter()
        .map(|(place, secret)| warning(path, place, &secret.label));
    Ok(problems.chain(secrets).collect())
}

/// What the lines that an index gets may not say. What it says already is not asked for.
///
/// # Errors
/// `secret-found` for what others than the user would see.
pub(super) fn check_added(
    index: &str,
    (old, new): (&str, &str),
    readers: Readers,
) -> Result<Option<ReportEntry>, Error> {
    let known: BTreeSet<&str> = lines_with_ends(old).collect();
    let added: String = lines_with_ends(new)
        .filter(|line| !known.contains(line))
        .collect();
    let secrets = secrets_in(&added);
    let place = "the line in the index";
    match (readers.others(), secrets.first()) {
        (_, None) => Ok(None),
        (Some(others), Some(secret)) => Err(refused(place, &secret.label, others)),
        (None, Some(secret)) => Ok(Some(warning(index, place, &secret.label))),
    }
}

fn refused(place: &str, label: &str, others: &str) -> Error {
    let remedy = if others == "teammates" {
        "remove it, or keep the memory private"
    } else {
        "remove it"
    };
    let message = format!(
        "{place} holds what looks like a secret ({label}), and {others} would see it; {remedy}"
    );
    Error::new(ErrorCode::SecretFound, message)
}

fn warning(path: &str, place: &str, label: &str) -> ReportEntry {
    let message = format!(
        "{place} holds what looks like a secret ({label}); everybody who can read the memory sees it"
    );
    ReportEntry::new(path, ReportCode::SecretFound, message)
}

/// Why a file or folder that would be new cannot have its path, if it cannot: a name holds a secret, which
/// indexes and lists would show; or, in the team's folder, it is none for every teammate's disk (facts
/// 11.1). What is there already may be changed, whatever it is called. `leaving` is what goes away when
/// it comes.
///
/// # Errors
/// Why the folders of the team cannot be looked at.
pub(super) async fn refusal_of_new(
    host: &Host,
    place: &Place,
    path: &str,
    leaving: Option<&str>,
) -> Result<Option<Error>, Error> {
    if let Some(SecretFinding { label, .. }) = secret_in_path(path) {
        let message = format!(
            "the path holds what looks like a secret ({label}), which every list of memories would show; choose a name that says what it is about"
        );
        return Ok(Some(Error::new(ErrorCode::SecretFound, message)));
    }
    let Some((folder, key)) = path.split_once('/') else {
        return Ok(None);
    };
    if !folder.eq_ignore_ascii_case(TEAM_FOLDER) {
        return Ok(None);
    }
    let refusal = |key: &str, others: &[String]| {
        let error = validate_team_key(key, others).err()?;
        let whole = quoted(&format!("{folder}/{key}"));
        let message = error.message.replacen(&quoted(key), &whole, 1);
        Some(Error { message, ..error })
    };
    if let Some(error) = refusal(key, &[]) {
        return Ok(Some(error));
    }
    // Each name on the way stands beside the others in its folder.
    let ends = key.match_indices('/').map(|(at, _)| at).chain([key.len()]);
    let keys: Vec<&str> = ends.filter_map(|end| key.get(..end)).collect();
    let parents = keys
        .iter()
        .map(|key| key.rsplit_once('/').map(|(at, _)| at));
    let parents: Vec<Option<&str>> = parents.collect();
    let folders = parents.iter().map(|parent| match parent {
        None => place.path(folder),
        Some(parent) => place.path(&format!("{folder}/{parent}")),
    });
    let folders: Vec<String> = folders.collect();
    let within = Some(place.directory.as_str());
    let listings = join_all(folders.iter().map(|folder| host.list(folder, within))).await;
    host.stop_if_cancelled()?;
    let leaving = leaving.and_then(|path| path.strip_prefix(folder)?.strip_prefix('/'));
    for ((key, parent), listing) in keys.iter().zip(parents).zip(listings) {
        let listing = match listing {
            Ok(listing) => listing,
            Err(failure) if failure.code == FailureCode::NotFound => break,
            Err(failure) => return Err(failed(&failure, path)),
        };
        let others = listing.entries.into_iter().map(|entry| match parent {
            None => entry.name,
            Some(parent) => format!("{parent}/{}", entry.name),
        });
        let others: Vec<String> = others
            .filter(|other| Some(other.as_str()) != leaving)
            .collect();
        if let Some(error) = refusal(key, &others) {
            return Ok(Some(error));
        }
    }
    Ok(None)
}

/// The secrets in a text: as it stands, and with a gap wherever something may be hidden, as before a
/// hidden character a letter takes from a token that it is a word.
fn secrets_in(text: &str) -> Vec<SecretFinding> {
    let secrets = scan_secrets(text);
    match with_gaps(text) {
        Some(text) if secrets.is_empty() => scan_secrets(&text),
        _ => secrets,
    }
}

/// The text with blanks for everything but plain ASCII, if there is anything else.
fn with_gaps(text: &str) -> Option<String> {
    let is_plain = |c: char| matches!(c, ' '..='~' | '\n' | '\r' | '\t');
    (!text.chars().all(is_plain)).then(|| {
        let gap = |c| if is_plain(c) { c } else { ' ' };
        text.chars().map(gap).collect()
    })
}

/// The text with no secret in it that [`secrets_in`] would find.
pub(super) fn without_secrets(text: &str) -> String {
    let redacted = redact_secrets(text);
    match with_gaps(&redacted) {
        Some(gaps) if !scan_secrets(&gaps).is_empty() => redact_secrets(&gaps),
        _ => redacted,
    }
}

/// A secret in the names of a path. There a token may follow a `_` and an ending may follow it, where a
/// scan of prose takes neither for a token.
#[must_use]
pub fn secret_in_path(path: &str) -> Option<SecretFinding> {
    let first = |text: &str| secrets_in(text).into_iter().next();
    first(path).or_else(|| {
        path.split('/').find_map(|name| {
            // No disk takes a longer one.
            let is_short = name.len() <= TEAM_KEY_PART_MAX_BYTES.saturating_mul(4);
            let after = name.match_indices('_').filter(|_| is_short);
            let mut begins = after.map(|(at, _)| at.saturating_add(1)).chain([0]);
            begins.find_map(|at| {
                let rest = name.get(at..)?;
                first(rest).or_else(|| first(&rest.replace('.', " ")))
            })
        })
    })
}

/// A text about paths in which no secret stands, neither in them nor beside them.
pub(crate) fn hidden(text: &str, paths: &[impl AsRef<str>]) -> String {
    let mut hidden = text.to_owned();
    for path in paths.iter().map(AsRef::as_ref) {
        if secret_in_path(path).is_none() {
            continue;
        }
        let names = path.split('/');
        for name in names.filter(|name| secret_in_path(name).is_some()) {
            for written in [name, &one_line(name)] {
                hidden = hidden.replace(written, "[secret removed]");
            }
        }
    }
    without_secrets(&hidden)
}
