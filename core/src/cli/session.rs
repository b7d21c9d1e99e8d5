//! `memdir session`: the notes of a session, shown, or brought up to date from a transcript. Each call looks at the
//! whole transcript, in as many updates as it takes.

use serde::Serialize;

use super::{extract, print, print_json, report};
use crate::conversation::Message;
use crate::error::{Error, ErrorCode};
use crate::flow::{Host, Stream};
use crate::report::ReportCode;
use crate::session::{NotesOptions, NotesOutcome, NotesResult, NotesSkip};
use crate::store::{SessionNotes, Store};
use crate::text;
use crate::transcript::Transcript;

/// What `session ID --json` prints.
#[derive(Serialize)]
struct NotesJson<'a> {
    path: &'a str,
    notes: Option<&'a str>,
}

pub(super) async fn run(
    host: &Host,
    store: &Store,
    id: String,
    file: Option<(String, Option<&str>)>,
    force: bool,
    json: bool,
) -> Result<u8, Error> {
    let opened = store.open_in(host).await?;
    report(host, &opened.report).await?;
    let session = store.session(id);
    let path = session.path_in(host).await?;
    let Some((file, cwd)) = file else {
        return show(host, &session, &path, json).await;
    };
    // Before a transcript is read that nobody could be shown.
    if !store.has_model(host).await? {
        let message = "session needs a model to bring notes up to date; name it with --model, such as --model anthropic/NAME";
        return Err(Error::new(ErrorCode::NoModel, message));
    }
    let (_, transcript) = extract::read(host, file, cwd).await?;
    let Transcript {
        messages,
        left_out,
        report: said,
    } = transcript;
    report(host, &said).await?;
    let mut result = update(host, &session, &messages, force, json).await?;
    let mut cursor = None;
    // One that has not moved would end as it did once more.
    while is_left(&result) && result.state.cursor != cursor {
        let next = update(host, &session, &messages, true, json).await?;
        let mut usage = result.usage;
        usage.add(next.usage);
        cursor = result.state.cursor;
        result = NotesResult {
            changed: result.changed || next.changed,
            turns: result.turns.saturating_add(next.turns),
            usage,
            ..next
        };
    }
    let code = u8::from(result.outcome == NotesOutcome::Failed);
    if json {
        print_json(host, &result).await?;
        return Ok(code);
    }
    report(host, &result.report).await?;
    let mut said = String::new();
    if left_out > 0 {
        said.push_str(&format!(
            "the transcript's first {left_out} messages were not looked at\n"
        ));
    }
    for section in &result.over_limit {
        let heading = text::one_line(&section.heading);
        said.push_str(&format!(
            "the section \"{heading}\" has about {} tokens; the next update is told to shorten it\n",
            section.tokens
        ));
    }
    if !said.is_empty() {
        super::write(host, Stream::Stderr, said).await?;
    }
    print(host, line(&result, &path)).await?;
    match (result.code, result.message) {
        (Some(code), Some(message)) => Err(Error::new(code, message)),
        _ => Ok(code),
    }
}

async fn update(
    host: &Host,
    session: &SessionNotes,
    messages: &Vec<Message>,
    force: bool,
    json: bool,
) -> Result<NotesResult, Error> {
    let options = NotesOptions {
        force,
        ..NotesOptions::default()
    };
    let asked = session.asked(messages, options)?;
    session.update_in(host, asked, !json).await
}

/// Whether an update did its part, and left messages to the next one.
fn is_left(result: &NotesResult) -> bool {
    let mut report = result.report.iter();
    result.outcome == NotesOutcome::Done
        && report.any(|entry| entry.code == ReportCode::MessagesLeftOut)
}

async fn show(host: &Host, session: &SessionNotes, path: &str, json: bool) -> Result<u8, Error> {
    let notes = session.notes_in(host).await?;
    if json {
        let notes = notes.as_deref();
        print_json(host, &NotesJson { path, notes }).await?;
        return Ok(u8::from(notes.is_none()));
    }
    match notes {
        Some(notes) => print(host, notes).await.map(|()| 0),
        None => {
            let message = format!("there are no notes of this session yet, at {path}");
            Err(Error::new(ErrorCode::NotFound, message))
        }
    }
}

fn line(result: &NotesResult, path: &str) -> String {
    let path = text::one_line(path);
    match (result.outcome, result.changed) {
        (_, true) => format!("updated: {path}\n"),
        (NotesOutcome::Failed, false) => String::new(),
        (NotesOutcome::Done, false) => format!("unchanged: {path}\n"),
        (NotesOutcome::Skipped, false) => {
            let reason = result.reason.map_or("", NotesSkip::told);
            format!("nothing to do: {reason}\n")
        }
    }
}
