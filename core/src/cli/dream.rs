//! `memdir dream`: puts the memory in order, shows what that would change, or takes the last time back.

use super::{print, print_json, report};
use crate::dream::{Awake, Dream, DreamOptions, DreamOutcome};
use crate::error::Error;
use crate::flow::Host;
use crate::store::Store;
use crate::text;

pub(super) async fn run(
    host: &Host,
    store: &Store,
    options: DreamOptions,
    json: bool,
) -> Result<u8, Error> {
    let opened = store.open_in(host).await?;
    report(host, &opened.report).await?;
    let dream = store.dream_in(host, options, !json).await?;
    let code = u8::from(dream.outcome == DreamOutcome::Failed);
    if json {
        print_json(host, &dream).await?;
        return Ok(code);
    }
    report(host, &dream.report).await?;
    print(host, lines(&dream)).await?;
    match (dream.code, dream.message) {
        (Some(code), Some(message)) => Err(Error::new(code, message)),
        _ => Ok(code),
    }
}

pub(super) async fn undo(host: &Host, store: &Store, json: bool) -> Result<u8, Error> {
    let opened = store.open_in(host).await?;
    report(host, &opened.report).await?;
    let undone = store.undo_dream_in(host).await?;
    let code = u8::from(!undone.conflicts.is_empty());
    if json {
        print_json(host, &undone).await?;
        return Ok(code);
    }
    let mut lines = named("restored", &undone.restored);
    lines.push_str(&named("changed since, left as it is", &undone.conflicts));
    if undone.id.is_none() {
        lines = "there is no dream to take back\n".to_owned();
    }
    print(host, lines).await?;
    Ok(code)
}

fn lines(dream: &Dream) -> String {
    let mut lines = String::new();
    for change in &dream.changes {
        lines.push_str(&text::lines(&change.diff));
    }
    lines.push_str(&named("improved", &dream.improved));
    lines.push_str(&named("removed", &dream.removed));
    lines.push_str(&named("changed meanwhile, left as it is", &dream.conflicts));
    if let Some(id) = &dream.id {
        lines.push_str(&format!("take it back with memdir dream --undo ({id})\n"));
    }
    if lines.is_empty() && dream.outcome != DreamOutcome::Failed {
        let reason = dream.reason.map_or("all is in order", Awake::told);
        lines = format!("nothing to do: {reason}\n");
    }
    lines
}

fn named(what: &str, paths: &[String]) -> String {
    let lines = paths
        .iter()
        .map(|path| format!("{what}: {}\n", text::one_line(path)));
    lines.collect()
}
