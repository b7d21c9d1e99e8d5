//! How a background agent changes memories: through the write contract like everybody else, or, in a run that
//! is to be reviewed, into drafts that pass the same rules.

use std::collections::BTreeSet;

use super::desk::{Desk, Draft, Target, denied, missing};
use crate::error::{Error, ErrorCode};
use crate::flow::Host;
use crate::limits::{
    DREAM_MAX_REMOVED, FILE_MAX_BYTES, INDEX_NAME, LOGS_FOLDER, SCAN_MAX_DEPTH, TEAM_INDEX,
};
use crate::memory::{index_size, links, memory_of, parse_frontmatter};
use crate::report::{ReportCode, ReportEntry};
use crate::store::Place;
use crate::text::{is_hostile, quoted};
use crate::tool::{around, as_in, replace};
use crate::write::{
    Forget, Put, Task, TextEdit, WriteOutcome, check_draft, hash, indexed_folder, update_index,
};

/// Folders that are kept for others, besides hidden ones (facts 6.3).
const PROTECTED: &str = "agents";

/// Replaces a text in a memory.
pub(super) async fn edit(
    desk: &Desk,
    host: &Host,
    path: &str,
    (old, new): (String, String),
    all: bool,
) -> Result<String, Error> {
    let memory = memory(desk, host, path).await?;
    let shown = quoted(path);
    let edit: TextEdit = Box::new(move |text| {
        let Some(text) = text else {
            let message = format!("there is no {shown}; use Write to make it");
            return Err(Error::new(ErrorCode::NotFound, message));
        };
        edited(text, &shown, (&old, &new), all)
    });
    // Without a store there is nothing to edit, and none is made.
    let is_empty = desk
        .store
        .nothing_there(host, Some(&memory))
        .await?
        .is_some();
    if is_empty && !desk.is_reviewed() {
        return Err(missing(path));
    }
    put(desk, host, path, memory, edit).await
}

/// A text with another one replaced in it, once or everywhere, and the answer.
pub(super) fn edited(
    text: &str,
    shown: &str,
    (old, new): (&str, &str),
    all: bool,
) -> Result<(String, String), Error> {
    if !all || old.is_empty() {
        return replace(text, shown, "old_string", old, new);
    }
    let (old, new) = as_in(text, old, new);
    match text.matches(&old).count() {
        0 => replace(text, shown, "old_string", &old, &new),
        // Before it is made, as it may be larger than anybody can hold.
        count if grown(text, (&old, &new), count) > FILE_MAX_BYTES => {
            let message = format!("{shown} would have more than {FILE_MAX_BYTES} bytes");
            Err(Error::new(ErrorCode::TooLarge, message))
        }
        count => {
            let edited = text.replace(&old, &new);
            Ok((edited, format!("Edited {shown} in {count} places.\n")))
        }
    }
}

/// How many bytes a text has when so many places of it are replaced.
fn grown(text: &str, (old, new): (&str, &str), count: usize) -> u64 {
    let rest = text.len().saturating_sub(old.len().saturating_mul(count));
    rest.saturating_add(new.len().saturating_mul(count)) as u64
}

/// Writes a whole memory.
pub(super) async fn write(
    desk: &Desk,
    host: &Host,
    path: &str,
    text: String,
) -> Result<String, Error> {
    let memory = memory(desk, host, path).await?;
    let shown = quoted(path);
    let seen = desk.state().seen.get(&memory).cloned();
    let edit: TextEdit = Box::new(move |old| {
        let refuse = |message: String| Err(Error::new(ErrorCode::Exists, message));
        match (old, &seen) {
            (None, _) => {}
            (Some(_), None) => {
                return refuse(format!(
                    "{shown} is there already; read it before you write it"
                ));
            }
            (Some(old), Some(seen)) if hash(old.as_bytes()) != *seen => {
                return refuse(format!(
                    "{shown} has changed since you read it; read it again"
                ));
            }
            (Some(_), Some(_)) => {}
        }
        let lines = text.lines().count();
        let view = around(&text, 1, lines.min(1));
        let done = if old.is_some() { "Wrote" } else { "Created" };
        Ok((text.clone(), format!("{done} {shown}:\n{view}")))
    });
    put(desk, host, path, memory, edit).await
}

/// Removes a memory and its lines in the indexes.
pub(super) async fn delete(desk: &Desk, host: &Host, path: &str) -> Result<String, Error> {
    let (drafts, seen) = {
        let state = desk.state();
        (state.drafts.clone(), state.seen.clone())
    };
    let deleted = try_delete(desk, host, path).await;
    if deleted.is_err() && desk.is_dream() {
        // Lines that are taken out already come back.
        let mut state = desk.state();
        (state.drafts, state.seen) = (drafts, seen);
    }
    deleted
}

async fn try_delete(desk: &Desk, host: &Host, path: &str) -> Result<String, Error> {
    let memory = memory(desk, host, path).await?;
    let shown = quoted(path);
    if is_index(&memory) {
        return Err(denied(format!(
            "{shown} is an index; edit its lines instead"
        )));
    }
    if desk.memory_text(host, &memory).await?.is_none() {
        return Err(missing(path));
    }
    // Its description alone does not say what would be lost.
    if !desk.state().seen.contains_key(&memory) {
        let message = format!("{shown} was not read; read it before you remove it");
        return Err(Error::new(ErrorCode::Exists, message));
    }
    check_dream(desk, host, path, &memory).await?;
    if desk.is_dream() && desk.state().removed.len() >= DREAM_MAX_REMOVED {
        return Err(denied(format!(
            "a dream removes {DREAM_MAX_REMOVED} memories at most; leave the others for the next one"
        )));
    }
    if desk.is_dream() {
        take_entries(desk, host, &memory).await?;
    }
    if desk.is_reviewed() {
        let stored = desk.stored_text(host, &memory).await?;
        let mut state = desk.state();
        // What somebody has changed since it was read is not what the model wants to remove.
        let old = match (state.drafts.get(&memory), state.seen.get(&memory), stored) {
            (Some(draft), _, _) => draft.old.clone(),
            (None, Some(seen), Some(old)) if hash(old.as_bytes()) != *seen => {
                let message = format!("{shown} has changed since you read it; read it again");
                return Err(Error::new(ErrorCode::Exists, message));
            }
            (None, _, stored) => stored,
        };
        state.removed.retain(|known| *known != memory);
        state.saved.retain(|known| *known != memory);
        match old {
            // It was never there but for this run.
            None => {
                state.drafts.remove(&memory);
            }
            old => {
                state
                    .drafts
                    .insert(memory.clone(), Draft { old, new: None });
                state.removed.push(memory);
            }
        }
        let line = if desk.is_dream() {
            "Its line in the index goes with it."
        } else {
            "Take its line out of MEMORY.md too."
        };
        return Ok(format!("{shown} will be removed. {line}"));
    }
    let forget = memory.clone();
    // What somebody has changed since it was read is not what the model wants to remove.
    let expect = desk.state().seen.get(&memory).cloned();
    let task = |place: &Place| Forget::new(forget, expect, place).map(Task::Forget);
    let written = desk.store.write_in(host, task).await;
    let (result, _) = desk.noted(written)?;
    let result = result.settled()?;
    let mut state = desk.state();
    state.saved.retain(|known| *known != memory);
    state.seen.remove(&memory);
    state.removed.push(memory);
    let line = if result.index_changed {
        ", and its line in the index with it"
    } else {
        ""
    };
    Ok(format!("Removed {shown}{line}."))
}

/// The memory that a path names, if it may be written.
async fn memory(desk: &Desk, host: &Host, path: &str) -> Result<String, Error> {
    let shown = quoted(path);
    let Target::Memory(memory) = desk.target(host, path).await? else {
        return Err(denied(format!(
            "{shown} is not written: only memories are, in {}",
            desk.place.directory
        )));
    };
    check_memory_path(&memory)?;
    Ok(memory)
}

/// Takes a memory's lines out of the indexes, as drafts.
async fn take_entries(desk: &Desk, host: &Host, memory: &str) -> Result<(), Error> {
    for index in [INDEX_NAME, TEAM_INDEX] {
        let Some(folder) = indexed_folder(index) else {
            continue;
        };
        let Some(text) = desk.memory_text(host, index).await? else {
            continue;
        };
        let edited = update_index(Some(&text), folder, memory, None)?;
        if !edited.changed {
            continue;
        }
        let going = memory.to_owned();
        // Of what is there then: somebody may write it meanwhile.
        let edit: TextEdit = Box::new(move |text| {
            let edited = update_index(text, folder, &going, None)?;
            Ok((edited.content, String::new()))
        });
        let seen = hash(text.as_bytes());
        let (_, content, ..) = draft(desk, host, index, &edit, Some(memory)).await?;
        // What the run has read it knows still, unless somebody has.
        let mut state = desk.state();
        if content == edited.content && state.seen.get(index) == Some(&seen) {
            state
                .seen
                .insert(index.to_owned(), hash(content.as_bytes()));
        }
    }
    Ok(())
}

/// What a dream leaves alone.
async fn check_dream(desk: &Desk, host: &Host, path: &str, memory: &str) -> Result<(), Error> {
    if !desk.is_dream() {
        return Ok(());
    }
    if memory.split('/').next() == Some(LOGS_FOLDER) {
        return Err(denied(format!(
            "{} is a daily log: it stays as it is, write what it says into memories",
            quoted(path)
        )));
    }
    if is_pinned(desk, host, memory).await? {
        return Err(denied(format!(
            "{} is pinned: it stays as it is",
            quoted(path)
        )));
    }
    Ok(())
}

async fn is_pinned(desk: &Desk, host: &Host, memory: &str) -> Result<bool, Error> {
    let stored = desk.stored_text(host, memory).await?;
    Ok(stored.is_some_and(|text| parse_frontmatter(&text).pinned))
}

/// Refuses a text that leaves nothing of a memory: that is a removal, of which there are only some.
fn check_rest(memory: &str, old: Option<&str>, new: &str) -> Result<(), Error> {
    let has_body = |text: &str| {
        let body = text.get(parse_frontmatter(text).body..);
        body.is_some_and(|body| !body.trim().is_empty())
    };
    if !is_index(memory) && old.is_some_and(has_body) && !has_body(new) {
        return Err(denied(format!(
            "{} would have no text any more; use Delete to remove it",
            quoted(memory)
        )));
    }
    Ok(())
}

/// Refuses an index from which a dream takes too much: entries go with their memories, and only some without.
/// Gives the memories of those that would.
fn check_entries(
    memory: &str,
    (old, new): (Option<&str>, &str),
    gone: &[String],
) -> Result<Vec<String>, Error> {
    let Some(folder) = indexed_folder(memory) else {
        return Ok(Vec::new());
    };
    let linked = |text: &str| -> BTreeSet<String> {
        let links = text.lines().flat_map(links);
        links
            .filter_map(|link| memory_of(folder, link.target))
            .collect()
    };
    let kept = linked(new);
    let lost = linked(old.unwrap_or_default());
    let lost = lost.difference(&kept).filter(|path| !gone.contains(path));
    let lost: Vec<String> = lost.cloned().collect();
    if kept.is_empty() && !lost.is_empty() {
        return Err(denied(format!(
            "this leaves no entry in {}, though its memories are still there; keep their entries",
            quoted(memory)
        )));
    }
    if lost.len() > DREAM_MAX_REMOVED {
        return Err(denied(format!(
            "this takes more than {DREAM_MAX_REMOVED} entries from {} whose memories are still there; remove a memory to remove its entry, or shorten entries",
            quoted(memory)
        )));
    }
    Ok(lost)
}

/// Refuses the path of what no run may change: memories only, in folders that are not kept for others, and
/// under names that can be shown (facts 6.3).
///
/// # Errors
/// `permission`; the message is meant for the model.
pub(crate) fn check_memory_path(memory: &str) -> Result<(), Error> {
    let refuse = |what: &str| Err(denied(format!("{} {what}", quoted(memory))));
    let mut folders: Vec<&str> = memory.split('/').collect();
    let name = folders.pop().unwrap_or_default();
    if name.len() <= ".md".len() || !name.ends_with(".md") {
        return refuse("is no memory: its name must end in .md");
    }
    if memory.chars().any(|c| is_hostile(c) || c.is_control()) {
        return refuse("has characters that cannot be shown; choose a plain name");
    }
    if folders.len() >= SCAN_MAX_DEPTH {
        return refuse(&format!("lies more than {SCAN_MAX_DEPTH} folders deep"));
    }
    let is_kept = |folder: &&str| {
        folder.starts_with('.') || *folder == PROTECTED || folder.to_lowercase().ends_with(".md")
    };
    match folders.into_iter().find(is_kept) {
        Some(folder) => refuse(&format!(
            "lies in {}, which is no folder for memories",
            quoted(folder)
        )),
        None => Ok(()),
    }
}

/// The same for a memory that is to be there again: its entries are gone already.
fn check_return(desk: &Desk, memory: &str) -> Result<(), Error> {
    let state = desk.state();
    if !desk.is_dream() || !state.removed.iter().any(|gone| gone == memory) {
        return Ok(());
    }
    let mut gone = state.removed.clone();
    gone.retain(|known| known != memory);
    for index in [INDEX_NAME, TEAM_INDEX] {
        if let Some(draft) = state.drafts.get(index) {
            let new = draft.new.as_deref().unwrap_or_default();
            check_entries(index, (draft.old.as_deref(), new), &gone)?;
        }
    }
    Ok(())
}

fn is_index(memory: &str) -> bool {
    let name = memory.rsplit('/').next().unwrap_or(memory);
    name.eq_ignore_ascii_case(INDEX_NAME)
}

async fn put(
    desk: &Desk,
    host: &Host,
    path: &str,
    memory: String,
    edit: TextEdit,
) -> Result<String, Error> {
    check_dream(desk, host, path, &memory).await?;
    check_return(desk, &memory)?;
    let is_return = desk.state().removed.contains(&memory);
    let (mut answer, content, report, is_changed) = if desk.is_reviewed() {
        draft(desk, host, &memory, &edit, None).await?
    } else {
        let task = |place: &Place| Put::new(memory.clone(), edit, place).map(Task::Put);
        let written = desk.store.write_in(host, task).await;
        let (result, task) = desk.noted(written)?;
        let result = result.settled()?;
        let (answer, content) = match task {
            Some(Task::Put(put)) => (put.answer, put.written),
            _ => (String::new(), String::new()),
        };
        let is_changed = result.outcome == WriteOutcome::Written;
        (answer, content, result.report, is_changed)
    };
    {
        let mut state = desk.state();
        state.seen.insert(memory.clone(), hash(content.as_bytes()));
        state.removed.retain(|known| *known != memory);
        // Drafts know whether there is a change in the end; in the store each one is one.
        if desk.is_reviewed() && !is_changed {
            state.saved.retain(|known| *known != memory);
        }
        if is_changed && !is_index(&memory) && !state.saved.contains(&memory) {
            state.saved.push(memory.clone());
        }
    }
    if is_return {
        answer.push_str("Mind that its line in the index went with it; add it again.\n");
    }
    for notice in notices(path, &memory, &content, &report) {
        answer.push_str(&format!("Mind that {notice}.\n"));
    }
    Ok(answer)
}

/// What the writer should mend.
fn notices(path: &str, memory: &str, content: &str, report: &[ReportEntry]) -> Vec<String> {
    let mut notices: Vec<String> = report.iter().map(|entry| entry.message.clone()).collect();
    let shown = quoted(path);
    if is_index(memory) {
        if let Some(size) = index_size(content) {
            let over = if size.code == ReportCode::IndexOverLimit {
                " now"
            } else {
                ""
            };
            notices.push(format!("{shown} {}; {}{over}", size.message, size.remedy));
        }
    } else {
        let read = parse_frontmatter(content);
        if !read.found {
            notices.push(format!(
                "{shown} does not begin with a block of name, description and type between --- lines"
            ));
        } else if read.kind.is_none() {
            notices.push(format!(
                "{shown} has no type of memory: user, feedback, project or reference"
            ));
        }
    }
    notices
}

/// Makes the change a draft: what it answers, the text, what else should be known, and whether the text is
/// another one than in the store. `going` is a memory that is about to be removed.
async fn draft(
    desk: &Desk,
    host: &Host,
    memory: &str,
    edit: &TextEdit,
    going: Option<&str>,
) -> Result<(String, String, Vec<ReportEntry>, bool), Error> {
    let seen = desk.memory_text(host, memory).await?;
    let (content, answer) = edit(seen.as_deref())?;
    let known = desk.state().drafts.get(memory).cloned();
    let old = match known {
        Some(draft) => draft.old,
        None => seen,
    };
    if desk.is_dream() {
        let mut gone = desk.state().removed.clone();
        gone.extend(going.map(str::to_owned));
        for lost in check_entries(memory, (old.as_deref(), &content), &gone)? {
            // What cannot be read cannot be pinned.
            if is_pinned(desk, host, &lost).await.unwrap_or_default() {
                return Err(denied(format!(
                    "{} is pinned: its entry stays in {}",
                    quoted(&lost),
                    quoted(memory)
                )));
            }
        }
        check_rest(memory, old.as_deref(), &content)?;
    }
    let report = check_draft(host, desk.found(), memory, &content, old.is_none()).await?;
    let mut state = desk.state();
    let is_changed = old.as_deref() != Some(content.as_str());
    if !is_changed {
        state.drafts.remove(memory);
    } else {
        let new = Some(content.clone());
        state.drafts.insert(memory.to_owned(), Draft { old, new });
    }
    Ok((answer, content, report, is_changed))
}
