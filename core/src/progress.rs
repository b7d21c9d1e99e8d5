//! What long work says while it goes on: an event for whoever listens; on the command line a line on
//! standard error.

use crate::error::Error;
use crate::flow::{Event, Host, Stream};
use crate::text::one_line;

/// Tells something.
///
/// # Errors
/// `aborted`.
pub(crate) async fn tell(host: &Host, on_terminal: bool, event: Event) -> Result<(), Error> {
    if on_terminal {
        let path = event
            .path
            .map_or_else(String::new, |path| format!("{path}: "));
        let line = one_line(&format!("{path}{}", event.message)) + "\n";
        let _ = host.print(Stream::Stderr, line).await;
        return host.stop_if_cancelled();
    }
    host.emit(event);
    Ok(())
}
