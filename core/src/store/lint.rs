//! Reads a whole store for [`crate::lint`] and adds what only the file system knows.

use std::collections::BTreeSet;

use serde::Serialize;

use super::find::Opened;
use super::{Place, read, scan};
use crate::error::{Error, ErrorCode};
use crate::flow::Host;
use crate::inbox;
use crate::limits::{CONFLICTS_FOLDER, FILE_MAX_BYTES, INBOX_FOLDER, INDEX_NAME, TEAM_FOLDER};
use crate::lint::{Finding, Linter, Severity, sort};
use crate::report::{ReportCode, ReportEntry};
use crate::team::{Conflict, list_conflicts};

/// What is wrong with a store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Lint {
    /// Sorted by path, line and code.
    pub findings: Vec<Finding>,
}

/// The memory folder may not exist yet, or memory may be off: both are findings, not errors.
pub(super) async fn lint(
    opened: &Opened,
    place: Option<&Place>,
    host: &Host,
) -> Result<Lint, Error> {
    let mut findings: Vec<Finding> = opened.report.iter().map(finding).collect();
    if let Some(place) = place {
        let mut linter = Linter::default();
        let everything = scan::read_all(place, host, |path, text, empty| {
            linter.memory(path, text, empty);
        })
        .await?;
        findings.extend(everything.report.iter().map(finding));
        if everything.missing {
            // A project that has no memories yet is in order.
            for finding in findings
                .iter_mut()
                .filter(|finding| finding.code == ReportCode::Unlistable)
            {
                finding.severity = Severity::Warning;
            }
        }
        kept_versions(place, host, &mut findings).await?;
        proposals(place, host, &mut findings).await?;
        let team_index = format!("{TEAM_FOLDER}/{INDEX_NAME}");
        let team_index = index(place, host, &team_index, &mut findings).await?;
        let index = index(place, host, INDEX_NAME, &mut findings).await?;
        let unseen = unseen(&everything.report);
        findings.extend(linter.finish(index.as_deref(), team_index.as_deref(), &unseen));
    } else {
        let message = format!("memory is off ({})", opened.because.name());
        findings.push(Finding::new(
            "",
            None,
            ReportCode::Disabled,
            (message, "switch it on to use it"),
        ));
    }
    sort(&mut findings);
    Ok(Lint { findings })
}

/// The text of an index; one that is there and cannot be read is a finding.
/// Our versions that a sync has kept are for a person to deal with.
async fn kept_versions(
    place: &Place,
    host: &Host,
    findings: &mut Vec<Finding>,
) -> Result<(), Error> {
    let conflicts = list_conflicts(host, place).await;
    host.stop_if_cancelled()?;
    match conflicts {
        Ok(conflicts) => {
            findings.extend(conflicts.into_iter().map(|Conflict { id, path, .. }| {
                let message =
                    format!("our version {id} is kept, because a teammate changed it too");
                let remedy = "see memdir team conflicts, then restore or drop it";
                Finding::new(path, None, ReportCode::TeamConflict, (message, remedy))
            }))
        }
        Err(error) => {
            let remedy = "make it readable to see which of your versions were kept";
            let problem = (error.message, remedy);
            findings.push(Finding::new(
                CONFLICTS_FOLDER,
                None,
                ReportCode::Unlistable,
                problem,
            ));
        }
    }
    Ok(())
}

/// So is what background runs propose.
async fn proposals(place: &Place, host: &Host, findings: &mut Vec<Finding>) -> Result<(), Error> {
    let waiting = inbox::ids(host, place).await;
    host.stop_if_cancelled()?;
    let (path, code, problem) = match waiting.map(|ids| ids.len()) {
        Ok(0) => return Ok(()),
        Ok(count) => {
            let message = match count {
                1 => "1 proposal of a background run waits".to_owned(),
                _ => format!("{count} proposals of background runs wait"),
            };
            let remedy = "see memdir inbox, then apply or drop what is there";
            ("", ReportCode::InboxWaiting, (message, remedy))
        }
        Err(error) => {
            let remedy = "make it readable to see what background runs propose";
            (
                INBOX_FOLDER,
                ReportCode::Unlistable,
                (error.message, remedy),
            )
        }
    };
    findings.push(Finding::new(path, None, code, problem));
    Ok(())
}

async fn index(
    place: &Place,
    host: &Host,
    path: &str,
    findings: &mut Vec<Finding>,
) -> Result<Option<String>, Error> {
    match read::read_beginning(place, host, path).await {
        Ok((text, whole)) => {
            if !whole {
                let message = format!(
                    "it has more than {FILE_MAX_BYTES} bytes, and what follows was not looked at; shorten it"
                );
                findings.push(finding(&ReportEntry::new(path, ReportCode::Large, message)));
            }
            Ok(Some(text))
        }
        Err(error) => match error.code {
            _ if host.cancelled() => Err(error),
            ErrorCode::NotFound | ErrorCode::NotADirectory => Ok(None),
            code => {
                let code = match code {
                    ErrorCode::LinkOutside => ReportCode::LinkOutside,
                    ErrorCode::NotText => ReportCode::NotUtf8,
                    ErrorCode::IsADirectory | ErrorCode::Unsupported => ReportCode::NotAFile,
                    _ => ReportCode::Unreadable,
                };
                findings.push(finding(&ReportEntry::new(path, code, error.message)));
                Ok(None)
            }
        },
    }
}

/// What is there, or may be, without its text being known.
fn unseen(report: &[ReportEntry]) -> BTreeSet<String> {
    let mut unseen = BTreeSet::new();
    for entry in report {
        if !matches!(entry.code, ReportCode::Vanished | ReportCode::LinkDangling) {
            unseen.insert(entry.path.clone());
        }
    }
    unseen
}

/// An entry of a report as a finding; its message holds what and remedy, parted by a semicolon.
fn finding(entry: &ReportEntry) -> Finding {
    let (message, remedy) = entry
        .message
        .rsplit_once("; ")
        .unwrap_or((&entry.message, "look at it"));
    Finding::new(&entry.path, None, entry.code, (message, remedy))
}
