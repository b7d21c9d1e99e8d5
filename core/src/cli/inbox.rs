//! `memdir inbox`: what background runs propose on stdout, what stayed and why on stderr.

use serde::Serialize;

use super::arguments::InboxCommand;
use super::{print, print_json, report, write};
use crate::error::Error;
use crate::flow::{Host, Stream};
use crate::inbox::{Inbox, InboxChange, InboxItem, InboxResult};
use crate::memory::memory_age;
use crate::store::Store;
use crate::text;
use crate::write::{WriteOutcome, WriteResult};

pub(super) async fn run(
    host: &Host,
    store: &Store,
    command: InboxCommand,
    json: bool,
) -> Result<u8, Error> {
    let opened = store.open_in(host).await?;
    report(host, &opened.report).await?;
    match command {
        InboxCommand::List => list(host, store, json).await?,
        InboxCommand::Show { id } => show(host, store, &id, json).await?,
        InboxCommand::Apply { id, paths } => return apply(host, store, &id, paths, json).await,
        InboxCommand::Drop { id, paths } => {
            let left = store.drop_proposal_in(host, &id, paths).await?;
            if json {
                print_json(host, &LeftJson { left: &left }).await?;
            } else {
                print(host, line(&format!("dropped: {id}"))).await?;
                tell_left(host, &left).await?;
            }
        }
    }
    Ok(0)
}

/// What `inbox drop --json` prints.
#[derive(Serialize)]
struct LeftJson<'a> {
    left: &'a [String],
}

/// A line for each proposal, and below it one for each of its changes.
async fn list(host: &Host, store: &Store, json: bool) -> Result<(), Error> {
    let inbox = store.inbox_in(host).await?;
    if json {
        return print_json(host, &inbox).await;
    }
    let Inbox {
        items,
        report: entries,
    } = inbox;
    report(host, &entries).await?;
    let now = host.now().await;
    host.stop_if_cancelled()?;
    let mut lines = String::new();
    for InboxItem {
        id,
        purpose,
        at_ms,
        changes,
    } in &items
    {
        // Without a clock everything is of today.
        let now_ms = now.as_ref().map_or(*at_ms, |now| now.ms);
        let age = memory_age(*at_ms, None, now_ms).text;
        lines.push_str(&line(&format!("{id}  {age}  {purpose}")));
        for InboxChange {
            path,
            kind,
            diff: _,
            added,
            removed,
            is_stale,
        } in changes
        {
            let kind = text::wire_name(kind);
            let stale = if *is_stale { "  (changed since)" } else { "" };
            lines.push_str(&line(&format!(
                "  {kind}  {path}  +{added} -{removed}{stale}"
            )));
        }
    }
    if !lines.is_empty() {
        print(host, lines).await?;
    }
    let waiting = format!("proposals: {}\n", items.len());
    write(host, Stream::Stderr, waiting).await
}

async fn show(host: &Host, store: &Store, id: &str, json: bool) -> Result<(), Error> {
    let item = store.proposal_in(host, id).await?;
    if json {
        return print_json(host, &item).await;
    }
    let mut diffs = String::new();
    for InboxChange {
        path,
        kind,
        diff,
        is_stale,
        ..
    } in &item.changes
    {
        if *is_stale {
            let note = line(&format!("{path}: it has changed since the run saw it"));
            write(host, Stream::Stderr, note).await?;
        }
        if diff.is_empty() {
            // An empty file that comes or goes has no lines to differ in.
            diffs.push_str(&line(&format!("{}: {path}", text::wire_name(kind))));
        }
        diffs.push_str(&text::lines(diff));
    }
    print(host, diffs).await
}

/// A line for each change; 1 when one could not be made.
async fn apply(
    host: &Host,
    store: &Store,
    id: &str,
    paths: Option<Vec<String>>,
    json: bool,
) -> Result<u8, Error> {
    let result = store.apply_in(host, id, paths).await?;
    let has_failed = |result: &WriteResult| {
        matches!(
            result.outcome,
            WriteOutcome::Conflict | WriteOutcome::Refused
        )
    };
    let code = u8::from(result.results.iter().any(has_failed));
    if json {
        print_json(host, &result).await?;
        return Ok(code);
    }
    let InboxResult { results, left } = result;
    let (mut done, mut failed) = (String::new(), String::new());
    for result in &results {
        report(host, &result.report).await?;
        let path = result.path.as_deref().unwrap_or("(a change)");
        match (result.outcome, result.code, &result.message) {
            (WriteOutcome::Conflict | WriteOutcome::Refused, Some(code), Some(message)) => {
                let what = text::wire_name(&result.outcome);
                failed.push_str(&line(&format!(
                    "{what}: {path}: {message} [{}]",
                    code.name()
                )));
            }
            (WriteOutcome::Unchanged, ..) => done.push_str(&line(&format!("unchanged: {path}"))),
            _ => done.push_str(&line(&format!("applied: {path}"))),
        }
    }
    if !done.is_empty() {
        print(host, done).await?;
    }
    if !failed.is_empty() {
        write(host, Stream::Stderr, failed).await?;
    }
    tell_left(host, &left).await?;
    Ok(code)
}

async fn tell_left(host: &Host, left: &[String]) -> Result<(), Error> {
    let lines: String = left
        .iter()
        .map(|path| line(&format!("still waits: {path}")))
        .collect();
    if lines.is_empty() {
        return Ok(());
    }
    write(host, Stream::Stderr, lines).await
}

fn line(text: &str) -> String {
    text::one_line(text) + "\n"
}
