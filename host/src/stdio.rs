//! The terminal.

use std::io::{Read, Write};

use memdir_core::flow::{Bytes, Failure, FailureCode, Stream};

use crate::failure::failure;

/// Writes text as it is. A reader that has gone away is a failure like any other.
pub(crate) fn print(stream: Stream, text: &str) -> Result<(), Failure> {
    let written = match stream {
        Stream::Stdout => write(std::io::stdout().lock(), text),
        Stream::Stderr => write(std::io::stderr().lock(), text),
    };
    written.map_err(|error| failure(&error))
}

fn write(mut to: impl Write, text: &str) -> std::io::Result<()> {
    to.write_all(text.as_bytes())?;
    to.flush()
}

/// All of the standard input; `too-large` when there is more than `max_bytes`.
pub(crate) fn read_stdin(max_bytes: u64) -> Result<Bytes, Failure> {
    let mut bytes = Vec::new();
    let limit = max_bytes.saturating_add(1);
    std::io::stdin()
        .lock()
        .take(limit)
        .read_to_end(&mut bytes)
        .map_err(|error| failure(&error))?;
    if bytes.len() as u64 > max_bytes {
        return Err(Failure::new(
            FailureCode::TooLarge,
            format!("the input is larger than {max_bytes} bytes"),
        ));
    }
    Ok(Bytes(bytes))
}
