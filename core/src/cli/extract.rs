//! `memdir extract`: brings the memory up to date from a transcript. A transcript that has grown since is looked
//! at from where the last extraction ended.

use super::{absolute, print, print_json, report};
use crate::error::{Error, ErrorCode};
use crate::extract::{ExtractOptions, Extraction, ExtractionOutcome, RunEnd, finished};
use crate::flow::Host;
use crate::limits::SECRETS_MAX_BYTES;
use crate::store::Store;
use crate::text;
use crate::transcript::{self, Transcript, parse_transcript};

pub(super) async fn run(
    host: &Host,
    store: &Store,
    (file, cwd): (String, Option<&str>),
    review: bool,
    json: bool,
) -> Result<u8, Error> {
    let opened = store.open_in(host).await?;
    report(host, &opened.report).await?;
    // Before a transcript is read that nobody could be shown.
    if opened.enabled && !store.has_model(host).await? {
        let message = "extract needs a model; name it with --model, such as --model anthropic/NAME";
        return Err(Error::new(ErrorCode::NoModel, message));
    }
    let (path, transcript) = read(host, file, cwd).await?;
    let Transcript {
        mut messages,
        left_out,
        report: said,
    } = transcript;
    report(host, &said).await?;
    let state = match &path {
        Some(path) => store.cursor_of(host, path).await?,
        None => None,
    };
    // Whoever asks for it wants what there is: up to the last answer, and without what the agent has saved
    // itself.
    finished(&mut messages, &opened.places);
    let options = ExtractOptions {
        state,
        review,
        ..ExtractOptions::default()
    };
    let asked = store.asked(&messages, options)?;
    let result = store.extract_in(host, asked, !json).await?;
    if let Some(path) = &path
        && result.state.cursor.is_some()
    {
        store.keep_cursor(host, path, result.state.clone()).await?;
    }
    let code = u8::from(result.outcome == ExtractionOutcome::Failed);
    if json {
        print_json(host, &result).await?;
        return Ok(code);
    }
    report(host, &result.report).await?;
    if left_out > 0 {
        let line = format!("the transcript's first {left_out} messages were not looked at\n");
        super::write(host, crate::flow::Stream::Stderr, line).await?;
    }
    print(host, lines(&result)).await?;
    match (result.code, result.message) {
        (Some(code), Some(message)) => Err(Error::new(code, message)),
        _ => Ok(code),
    }
}

/// Reads a transcript, `-` from the standard input; and its path, if it has one.
pub(super) async fn read(
    host: &Host,
    file: String,
    cwd: Option<&str>,
) -> Result<(Option<String>, Transcript), Error> {
    let path = match file.as_str() {
        "-" => None,
        // Under whatever name it is given, it is the same.
        _ => match absolute(host, cwd, Some(file)).await? {
            Some(path) => Some(host.real_path(&path).await.unwrap_or(path)),
            None => None,
        },
    };
    host.stop_if_cancelled()?;
    let transcript = match &path {
        Some(path) => transcript::read_file(host, path).await?,
        None => {
            let bytes = host.read_stdin(SECRETS_MAX_BYTES).await;
            let bytes = bytes
                .map_err(|failure| Error::from_failure(&failure, "reading", "standard input"))?;
            parse_transcript(&String::from_utf8_lossy(&bytes))
        }
    };
    Ok((path, transcript))
}

fn lines(result: &Extraction) -> String {
    let verb = |done: &str, proposed: &str| match result.inbox.is_empty() {
        true => done.to_owned(),
        false => proposed.to_owned(),
    };
    let (saved, removed) = (verb("saved", "to save"), verb("removed", "to remove"));
    let mut lines = String::new();
    let named = |what: &str, paths: &[String]| -> String {
        let lines = paths
            .iter()
            .map(|path| format!("{what}: {}\n", text::one_line(path)));
        lines.collect()
    };
    lines.push_str(&named(&saved, &result.paths));
    lines.push_str(&named(&removed, &result.removed));
    lines.push_str(&named("inbox", &result.inbox));
    if lines.is_empty() && result.outcome != ExtractionOutcome::Failed {
        let reason = match (result.reason, result.ended) {
            (Some(reason), _) => reason.told(),
            (None, Some(RunEnd::Turns)) => "the model has used up its turns",
            (None, Some(RunEnd::Tokens)) => "the model has used up its tokens",
            (None, _) => "the model found nothing worth it",
        };
        lines = format!("nothing to save: {reason}\n");
    }
    lines
}
