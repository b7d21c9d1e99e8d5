//! What stands where a token stood.

use crate::secrets::scan::tokens;

/// How it begins. No token begins or goes on with it, and it says nothing of what was there.
pub(crate) const REMOVED: &str = "[secret removed: ";

/// The text with every token replaced by a note of its kind, and all else as it was. A text without
/// tokens stays as it is, so doing it again changes nothing.
#[must_use]
pub fn redact_secrets(text: &str) -> String {
    let mut redacted = String::with_capacity(text.len());
    let mut done = 0;
    for token in tokens(text) {
        redacted.push_str(text.get(done..token.start).unwrap_or_default());
        redacted.push_str(REMOVED);
        redacted.push_str(token.rule.id);
        redacted.push(']');
        done = token.end;
    }
    redacted.push_str(text.get(done..).unwrap_or_default());
    redacted
}
