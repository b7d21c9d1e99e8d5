//! The daily log (facts 12): short bullets with the time, one file a day, only ever appended to.

use crate::error::{Error, ErrorCode};
use crate::flow::Clock;
use crate::limits::LOGS_FOLDER;
use crate::memory::format_iso;
use crate::text::{line_end, lines, trim};

/// The file of the day and the bullet that is to be appended, in the zone of the clock.
///
/// # Errors
/// `invalid-argument` for a note without text, `invalid-text` for a NUL.
pub(crate) fn log_entry(text: &str, now: Clock) -> Result<(String, String), Error> {
    if text.contains('\0') {
        let message = "the note holds a NUL character; remove it";
        return Err(Error::new(ErrorCode::InvalidText, message));
    }
    let note = lines(trim(text));
    if note.is_empty() {
        let message = "the note is empty; say in a line what happened";
        return Err(Error::new(ErrorCode::InvalidArgument, message));
    }
    let offset = i64::from(now.offset_minutes).saturating_mul(60_000);
    let local = format_iso(now.ms.saturating_add(offset));
    let (day, time) = local.split_once('T').unwrap_or((&local, ""));
    let (month, _) = day.rsplit_once('-').unwrap_or((day, ""));
    let folder = month.replace('-', "/");
    let time = time.get(..5).unwrap_or(time);
    // Further lines stay part of the bullet.
    let note = note.replace('\n', "\n  ");
    Ok((
        format!("{LOGS_FOLDER}/{folder}/{day}.md"),
        format!("- {time} {note}"),
    ))
}

/// The log with one bullet more at its end.
pub(crate) fn with_entry(text: Option<&str>, bullet: &str) -> String {
    let old = text.unwrap_or_default();
    let end = line_end(old);
    let gap = if old.is_empty() || old.ends_with('\n') {
        ""
    } else {
        end
    };
    format!("{old}{gap}{}{end}", bullet.replace('\n', end))
}
