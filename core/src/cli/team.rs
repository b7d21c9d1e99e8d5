//! `memdir team`: results on stdout, what was left out on stderr.

use serde::Serialize;

use super::arguments::TeamCommand;
use super::{print, print_json, report, write, wrote};
use crate::error::Error;
use crate::flow::{Host, Stream};
use crate::memory::format_iso;
use crate::store::{Store, Way};
use crate::team::{Conflict, TeamStatus, TeamSync, flush, summary};
use crate::text;

pub(super) async fn run(
    host: &Host,
    store: &Store,
    command: TeamCommand,
    json: bool,
) -> Result<u8, Error> {
    let opened = store.open_in(host).await?;
    report(host, &opened.report).await?;
    match command {
        TeamCommand::Pull => sync(host, store, Way::Pull, json).await?,
        TeamCommand::Push => sync(host, store, Way::Push, json).await?,
        TeamCommand::Sync => sync(host, store, Way::Both, json).await?,
        TeamCommand::Status => status(host, store, json).await?,
        TeamCommand::Watch => watch(host, store).await?,
        TeamCommand::Conflicts => conflicts(host, store, json).await?,
        TeamCommand::ShowConflict { id } => {
            let file = store.conflict_in(host, &id).await?;
            if json {
                print_json(host, &file).await?;
            } else {
                print(host, file.content).await?;
            }
        }
        TeamCommand::RestoreConflict { id } => {
            let result = store.restore_in(host, &id).await?;
            return wrote(host, store, "restored", &result, json).await;
        }
        TeamCommand::DropConflict { id } => {
            store.drop_in(host, &id).await?;
            print(host, format!("dropped: {}\n", text::one_line(&id))).await?;
        }
    }
    Ok(0)
}

/// Goes on until it is interrupted, and then uploads what is left, as closing a store does.
async fn watch(host: &Host, store: &Store) -> Result<(), Error> {
    let watched = store.watch_in(host, None, true).await;
    if host.cancelled() {
        flush(store, &host.shielded(), true).await?;
    }
    watched
}

/// A line for each file, and how many there were.
async fn sync(host: &Host, store: &Store, way: Way, json: bool) -> Result<(), Error> {
    let result = store.team_in(host, way, true).await?;
    if json {
        return print_json(host, &result).await;
    }
    report(host, &result.report).await?;
    let TeamSync {
        received,
        removed,
        sent,
        deleted,
        conflicts,
        report: _,
    } = &result;
    let mut lines = String::new();
    for (what, keys) in [
        ("received", received),
        ("removed", removed),
        ("sent", sent),
        ("deleted", deleted),
        ("conflict", conflicts),
    ] {
        for key in keys {
            lines.push_str(&text::one_line(&format!("{what}: {key}")));
            lines.push('\n');
        }
    }
    if !lines.is_empty() {
        print(host, lines).await?;
    }
    write(host, Stream::Stderr, summary(&result) + "\n").await
}

async fn status(host: &Host, store: &Store, json: bool) -> Result<(), Error> {
    let status = store.team_status_in(host).await?;
    if json {
        return print_json(host, &status).await;
    }
    let TeamStatus {
        repository,
        url,
        synced_ms,
        to_send,
        conflicts,
        report: entries,
    } = status;
    report(host, &entries).await?;
    let mut lines = String::new();
    let mut line = |what: &str, value: &str| {
        lines.push_str(&text::one_line(&format!("{what}: {value}")));
        lines.push('\n');
    };
    line("repository", repository.as_deref().unwrap_or("none"));
    line("server", url.as_deref().unwrap_or("none"));
    let synced = synced_ms.map_or_else(|| "never".to_owned(), format_iso);
    line("last sync", &synced);
    for key in to_send {
        line("to send", &key);
    }
    for Conflict { id, path, .. } in conflicts {
        line("kept", &format!("{id} {path}"));
    }
    print(host, lines).await
}

/// What `team conflicts --json` prints.
#[derive(Serialize)]
struct ConflictsJson {
    conflicts: Vec<Conflict>,
}

async fn conflicts(host: &Host, store: &Store, json: bool) -> Result<(), Error> {
    let conflicts = store.conflicts_in(host).await?;
    if json {
        return print_json(host, &ConflictsJson { conflicts }).await;
    }
    let mut lines = String::new();
    for Conflict {
        id,
        path,
        at_ms,
        size,
    } in &conflicts
    {
        let line = format!("{id}  {}  {size} bytes  {path}", format_iso(*at_ms));
        lines.push_str(&text::one_line(&line));
        lines.push('\n');
    }
    if !lines.is_empty() {
        print(host, lines).await?;
    }
    write(
        host,
        Stream::Stderr,
        format!("kept versions: {}\n", conflicts.len()),
    )
    .await
}
