//! `memdir instructions` and `memdir context`: what an agent is shown, and what became of every file that was considered,
//! as a table, as a tree of who imports whom, or as JSON.

use super::arguments::InstructionsView;
use super::{print, print_json, report, write};
use crate::error::Error;
use crate::flow::{Host, Stream};
use crate::instructions::{Context, Instructions, InstructionsOptions, LoadEntry, LoadOutcome};
use crate::store::Store;
use crate::text::{one_line, wire_name};

pub(super) async fn run(
    host: &Host,
    store: &Store,
    options: &InstructionsOptions,
    file: Option<String>,
    view: InstructionsView,
    json: bool,
) -> Result<u8, Error> {
    let opened = store.open_in(host).await?;
    report(host, &opened.report).await?;
    let loaded = store
        .instructions_in(host, options, file.as_deref())
        .await?;
    if json {
        print_json(host, &loaded).await?;
        return Ok(0);
    }
    let Instructions { text, report, .. } = loaded;
    if report.is_empty() {
        let why = if store.hides_memory() {
            "CLAUDE_CODE_DISABLE_CLAUDE_MDS keeps all instructions out of what an agent is shown\n"
        } else {
            "there are no instructions\n"
        };
        write(host, Stream::Stderr, why.to_owned()).await?;
        return Ok(0);
    }
    match view {
        InstructionsView::Table => print(host, table(&report)).await?,
        InstructionsView::Tree => print(host, tree(&report)).await?,
        InstructionsView::Text => {
            if !text.is_empty() {
                print(host, text + "\n").await?;
            }
            write(host, Stream::Stderr, left_out(&report)).await?;
        }
    }
    Ok(0)
}

pub(super) async fn context(
    host: &Host,
    store: &Store,
    options: InstructionsOptions,
    json: bool,
) -> Result<u8, Error> {
    let opened = store.open_in(host).await?;
    report(host, &opened.report).await?;
    let context = store.context_in(host, options).await?;
    if json {
        print_json(host, &context).await?;
        return Ok(0);
    }
    let Context { text, report, .. } = context;
    if !text.is_empty() {
        print(host, text + "\n").await?;
    }
    write(host, Stream::Stderr, left_out(&report)).await?;
    Ok(0)
}

/// One line for each file: what became of it, whose it is, how long it is, where, and why.
fn table(entries: &[LoadEntry]) -> String {
    let rows: Vec<[String; 5]> = entries
        .iter()
        .map(|entry| {
            let lines = entry.lines.map(|lines| lines.to_string());
            let bytes = entry.bytes.map(|bytes| bytes.to_string());
            [
                wire_name(&entry.outcome),
                format!("{} {}", wire_name(&entry.source), wire_name(&entry.kind)),
                lines.unwrap_or_else(|| "-".to_owned()),
                bytes.unwrap_or_else(|| "-".to_owned()),
                about(entry, true),
            ]
        })
        .collect();
    let heading = ["STATUS", "SOURCE", "LINES", "BYTES", "FILE"].map(str::to_owned);
    let widths = [0, 1, 2, 3].map(|column| {
        let cells = std::iter::once(&heading).chain(&rows);
        let cells = cells.filter_map(|row| row.get(column));
        cells
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or_default()
    });
    let [status, source, lines, bytes] = widths;
    let mut table = String::new();
    for [outcome, whose, many, size, file] in std::iter::once(&heading).chain(&rows) {
        table.push_str(&format!(
            "{outcome:status$}  {whose:source$}  {many:>lines$}  {size:>bytes$}  {file}\n"
        ));
    }
    table + &total(entries)
}

/// Each file below the one that imports it.
fn tree(entries: &[LoadEntry]) -> String {
    let mut tree = String::new();
    for entry in entries {
        let indent = "  ".repeat(entry.depth as usize);
        let outcome = match entry.outcome {
            LoadOutcome::Loaded => String::new(),
            outcome => format!("[{}] ", wire_name(&outcome)),
        };
        tree.push_str(&format!("{indent}{outcome}{}\n", about(entry, false)));
    }
    tree + &total(entries)
}

/// The path of a file, and what there is to say of it.
fn about(entry: &LoadEntry, with_parent: bool) -> String {
    let mut about = one_line(&entry.path);
    if let Some(globs) = &entry.globs {
        about.push_str(&format!(" (for {})", one_line(&globs.join(", "))));
    }
    if let Some(parent) = entry.parent.as_ref().filter(|_| with_parent) {
        about.push_str(&format!(" (imported by {})", one_line(parent)));
    }
    let why = entry.code.iter().zip(entry.message.as_ref());
    let notes = entry.notes.iter().map(|note| (&note.code, &note.message));
    for (code, message) in why.chain(notes) {
        about.push_str(&format!(": {} [{}]", one_line(message), code.name()));
    }
    about
}

fn total(entries: &[LoadEntry]) -> String {
    let count = |outcome| {
        entries
            .iter()
            .filter(|entry| entry.outcome == outcome)
            .count()
    };
    format!(
        "loaded: {}, conditional: {}, skipped: {}\n",
        count(LoadOutcome::Loaded),
        count(LoadOutcome::Conditional),
        count(LoadOutcome::Skipped)
    )
}

/// What an agent is not shown, and what there is to know of what it is shown.
fn left_out(entries: &[LoadEntry]) -> String {
    let mut lines = String::new();
    for entry in entries {
        let is_plain = entry.outcome == LoadOutcome::Loaded && entry.notes.is_empty();
        if !is_plain && entry.outcome != LoadOutcome::Conditional {
            lines.push_str(&format!("{}\n", about(entry, true)));
        }
    }
    lines
}
