//! The terminal.

use std::io::{BufRead, Read, Write};

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

/// All of the standard input, or its next line without its end; `too-large` when there is more than `max_bytes`.
pub(crate) fn read_stdin(max_bytes: u64, line: bool) -> Result<Bytes, Failure> {
    let mut bytes = Vec::new();
    let limit = max_bytes.saturating_add(1);
    let mut stdin = std::io::stdin().lock().take(limit);
    let read = if line {
        stdin.read_until(b'\n', &mut bytes)
    } else {
        stdin.read_to_end(&mut bytes)
    };
    read.map_err(|error| failure(&error))?;
    if line {
        while bytes
            .last()
            .is_some_and(|byte| matches!(byte, b'\n' | b'\r'))
        {
            bytes.pop();
        }
    }
    if bytes.len() as u64 > max_bytes {
        return Err(Failure::new(
            FailureCode::TooLarge,
            format!("the input is larger than {max_bytes} bytes"),
        ));
    }
    Ok(Bytes(bytes))
}
