//! `memdir.wasm`: the command line of the core over the file host. `memdir-http.wasm` is the same
//! with HTTP.
//!
//! WASI 0.2 knows only success and failure, so the exit codes 1 and 2 both arrive as 1.

use std::process::ExitCode;

use memdir_core::cli::{CommandOptions, command};

fn main() -> ExitCode {
    let options = CommandOptions {
        args: std::env::args().skip(1).collect(),
        cwd: std::env::current_dir()
            .ok()
            .and_then(|folder| folder.into_os_string().into_string().ok()),
    };
    // The flow itself prints whatever there is to say; it fails only when it is driven wrongly.
    memdir_host::drive(&mut command(options), memdir_command::perform)
        .map_or(ExitCode::FAILURE, ExitCode::from)
}
