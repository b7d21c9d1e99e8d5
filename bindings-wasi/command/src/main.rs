//! `memdir.wasm`: the command line of the core over the file host. `memdir-http.wasm` is the same
//! with HTTP.
//!
//! WASI 0.2 knows only success and failure, so the exit codes 1 and 2 both arrive as 1.

use std::ffi::OsString;
use std::process::ExitCode;

use memdir_core::cli::{CommandOptions, command};

fn main() -> ExitCode {
    let options = CommandOptions {
        args: std::env::args().skip(1).collect(),
        cwd: std::env::current_dir()
            .ok()
            .and_then(|folder| text(folder.into_os_string())),
        // WASI has no users, so `std::env::home_dir` knows of none.
        home: std::env::var("HOME").ok(),
        env: std::env::vars_os()
            .filter_map(|(name, value)| Some((text(name)?, text(value)?)))
            .collect(),
    };
    // The flow itself prints whatever there is to say; it fails only when it is driven wrongly.
    memdir_host::drive(&mut command(options), memdir_command::perform)
        .map_or(ExitCode::FAILURE, ExitCode::from)
}

/// What is no text counts as not there.
fn text(value: OsString) -> Option<String> {
    value.into_string().ok()
}
