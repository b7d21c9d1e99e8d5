//! Keeps a team folder and the server together while an agent runs (facts 11.5): what changes here is
//! uploaded once it has been quiet for two seconds, what changes there is brought from time to time.

use super::local::{self, Snapshot};
use super::remote::Patience;
use super::sync::{Session, TeamSync};
use crate::error::{Error, ErrorCode};
use crate::flow::{Event, Host};
use crate::limits::{
    RETRY_MAX_MS, TEAM_DEBOUNCE_MS, TEAM_FLUSH_LOOK_MS, TEAM_FLUSH_MS, TEAM_FOLDER, TEAM_PERIOD_MS,
    TEAM_POLL_MS, TEAM_WATCH_MS,
};
use crate::progress::tell;
use crate::report::{ReportCode, ReportEntry};
use crate::store::{Place, Store, Way};
use crate::text::wire_name;

/// Rounds of a pause after which a folder that never rests is uploaded all the same.
const MAX_ROUNDS: usize = 15;

/// Syncs until the store is closed or the flow cancelled. What goes wrong is told as an event; what the
/// server refuses stops the uploads, not what comes from it, until a file disappears (facts 11.5).
///
/// # Errors
/// What is missing to begin at all: `no-server`, `no-token`, `no-repository`, `invalid-argument`,
/// `unsupported`, `disabled`.
pub(crate) async fn watch(
    store: &Store,
    host: &Host,
    period_ms: Option<u64>,
    progress: bool,
) -> Result<(), Error> {
    let place = store.place_or_disabled(host).await?;
    let period_ms = period_ms.unwrap_or(TEAM_PERIOD_MS).max(TEAM_DEBOUNCE_MS);
    let mut seen = look(host, &place).await?;
    let ended = run(store, host, progress, Way::Both).await?;
    let mut is_refused = ended == Ended::Refused;
    let mut since = ended.head_start(period_ms);
    while !store.is_closed() {
        since += wait(host, &place, period_ms.saturating_sub(since)).await?;
        let mut now = look(host, &place).await?;
        let is_edited = now != seen;
        if is_edited {
            for _ in 0..MAX_ROUNDS {
                pause(host, TEAM_DEBOUNCE_MS).await?;
                since += TEAM_DEBOUNCE_MS;
                let again = look(host, &place).await?;
                if again == now {
                    break;
                }
                now = again;
            }
        }
        let is_due = since >= period_ms;
        if is_due {
            since = 0;
        }
        // Whoever takes away what the server refuses wants another try.
        is_refused &= seen.keys().all(|key| now.contains_key(key));
        seen = now;
        let way = match (is_due, is_refused) {
            (true, false) => Some(Way::Both),
            (true, true) => Some(Way::Pull),
            (false, false) if is_edited => Some(Way::Push),
            (false, _) => None,
        };
        if let Some(way) = way {
            let ended = run(store, host, progress, way).await?;
            is_refused |= ended == Ended::Refused;
            since = since.max(ended.head_start(period_ms));
            if is_due {
                // What has come is no edit of ours; one that was made meanwhile is found by its checksum
                // the next time.
                seen = look(host, &place).await?;
            }
        }
    }
    Ok(())
}

/// How a sync ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Fine,
    /// It is worth another try soon.
    Failed,
    /// It is of no use to try again.
    Refused,
}

impl Ended {
    /// How much of the period counts as over already.
    fn head_start(self, period_ms: u64) -> u64 {
        match self {
            Self::Failed => period_ms.saturating_sub(RETRY_MAX_MS),
            Self::Fine | Self::Refused => 0,
        }
    }
}

/// One sync, or one way of it.
async fn run(store: &Store, host: &Host, progress: bool, way: Way) -> Result<Ended, Error> {
    let error = match store.team_in(host, way, progress).await {
        Ok(result) => {
            if result != TeamSync::default() {
                let event = event("team-sync", None, &summary(&result));
                tell(host, progress, event).await?;
            }
            for ReportEntry {
                path,
                code,
                message,
            } in result.report
            {
                let mut event = event("warning", Some(code), &message);
                event.path = Some(path);
                tell(host, progress, event).await?;
            }
            return Ok(Ended::Fine);
        }
        Err(error) => error,
    };
    host.stop_if_cancelled()?;
    if error.code == ErrorCode::Closed {
        return Ok(Ended::Fine);
    }
    // What is missing will not come while it runs.
    if matches!(
        error.code,
        ErrorCode::NoServer
            | ErrorCode::NoToken
            | ErrorCode::NoRepository
            | ErrorCode::InvalidArgument
            | ErrorCode::Unsupported
            | ErrorCode::Disabled
    ) {
        return Err(error);
    }
    let message = format!("the team's memories are not in sync: {error}");
    tell(host, progress, event("warning", None, &message)).await?;
    // Whoever gives tokens may give another one the next time.
    let is_refused = error.code == ErrorCode::TeamAuth && !store.team_options().ask_token;
    Ok(if is_refused || error.code == ErrorCode::TeamRefused {
        Ended::Refused
    } else {
        Ended::Failed
    })
}

/// The last upload of a session: at most two seconds, and an event that says what it did not reach.
pub(crate) async fn flush(store: &Store, host: &Host, on_terminal: bool) -> Result<(), Error> {
    let now = host.now().await;
    host.stop_if_cancelled()?;
    let now_ms = now.ok().map(|now| now.ms);
    let after = |ms| now_ms.map(|now_ms| now_ms.saturating_add_unsigned(ms));
    let until = |end_ms: Option<i64>| end_ms.map_or_else(|| host.clone(), |ms| host.until(ms));
    let patience = Patience {
        deadline_ms: after(TEAM_FLUSH_MS),
        timeout_ms: TEAM_FLUSH_MS,
        retries: 0,
    };
    let limited = until(patience.deadline_ms);
    let mut result = TeamSync::default();
    let (error, known) = match Session::new(store, &limited, false, patience).await {
        Ok(mut session) => {
            let error = session.push().await.err();
            result = std::mem::take(&mut session.result);
            (error, session.not_sent())
        }
        Err(error) => (Some(error), None),
    };
    host.stop_if_cancelled()?;
    // On the command line it is the last line of many.
    if on_terminal && summary(&result) != summary(&TeamSync::default()) {
        let event = event("team-sync", None, &summary(&result));
        tell(host, true, event).await?;
    }
    let Some(error) = error else {
        return Ok(());
    };
    let keys = match known {
        Some(keys) => Ok(keys),
        // The server has taken nothing then.
        None => {
            let limited = until(after(TEAM_FLUSH_MS.saturating_add(TEAM_FLUSH_LOOK_MS)));
            let status = super::sync::status(store, &limited).await;
            status.map(|status| status.to_send.into_iter().collect())
        }
    };
    host.stop_if_cancelled()?;
    let told = |message| event("warning", Some(ReportCode::TeamNotSent), message);
    // What cannot even be looked at is told as a whole.
    let Ok(keys) = keys else {
        let message = format!("the team's memories are not uploaded: {error}");
        return tell(host, on_terminal, told(&message)).await;
    };
    let message = format!("it is not uploaded yet: {error}");
    for key in keys {
        let mut event = told(&message);
        event.path = Some(format!("{TEAM_FOLDER}/{key}"));
        tell(host, on_terminal, event).await?;
    }
    Ok(())
}

/// Waits for a change, or for a while; about how long, in milliseconds.
async fn wait(host: &Host, place: &Place, left_ms: u64) -> Result<u64, Error> {
    let at_most = left_ms.clamp(TEAM_POLL_MS, TEAM_WATCH_MS);
    let watched = host.watch(&place.path(TEAM_FOLDER), at_most).await;
    host.stop_if_cancelled()?;
    if watched == Ok(false) {
        return Ok(at_most);
    }
    // Not every host can watch, and a change is often one of many.
    pause(host, TEAM_POLL_MS).await?;
    Ok(TEAM_POLL_MS)
}

async fn pause(host: &Host, ms: u64) -> Result<(), Error> {
    let _ = host.sleep(ms).await;
    host.stop_if_cancelled()
}

/// What is in the folder; nothing where it cannot be looked at.
async fn look(host: &Host, place: &Place) -> Result<Snapshot, Error> {
    let listed = local::list(host, place).await;
    host.stop_if_cancelled()?;
    Ok(listed.map_or_else(|_| Snapshot::new(), |(files, _)| files))
}

/// What a sync has done, for a person.
pub(crate) fn summary(result: &TeamSync) -> String {
    let counts = [
        ("received", &result.received),
        ("removed", &result.removed),
        ("sent", &result.sent),
        ("deleted", &result.deleted),
        ("conflicts", &result.conflicts),
    ];
    let counts = counts.iter().filter(|(_, keys)| !keys.is_empty());
    let words: Vec<String> = counts
        .map(|(what, keys)| format!("{what}: {}", keys.len()))
        .collect();
    if words.is_empty() {
        "nothing to do".to_owned()
    } else {
        words.join(", ")
    }
}

fn event(kind: &str, code: Option<ReportCode>, message: &str) -> Event {
    Event {
        kind: kind.to_owned(),
        path: None,
        code: code.map(|code| wire_name(&code)),
        message: message.to_owned(),
    }
}
