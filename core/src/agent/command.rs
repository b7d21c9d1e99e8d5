//! Commands of a background agent: what only reads is run without a shell, program by program; `rm` of a
//! memory is its removal (facts 6.3).

use super::desk::{Desk, denied};
use super::shell::{command_words, read_only_command};
use super::{change, tools};
use crate::error::{Error, ErrorCode};
use crate::flow::{Content, FileKind, Header, Host};
use crate::limits::{
    OWN_FOLDER, SHELL_OUTPUT_BYTES, SHELL_PATH, SHELL_PIPE_BYTES, SHELL_TIMEOUT_MS,
};
use crate::paths::Platform;
use crate::text::quoted;

/// Runs a command, and answers with what it printed.
pub(super) async fn shell(desk: &Desk, host: &Host, command: &str) -> Result<String, Error> {
    if let Some(paths) = removal(command) {
        let mut done = Vec::new();
        for path in paths? {
            done.push(change::delete(desk, host, &path).await?);
        }
        return Ok(done.join("\n"));
    }
    let stages = read_only_command(command)?;
    // There a program is looked for in the working directory first, and anybody may have put one there.
    if desk.platform() == Platform::Windows {
        let message = "commands are not run on Windows; use Read, Grep and Glob";
        return Err(Error::new(ErrorCode::Unsupported, message));
    }
    for stage in &stages {
        for path in &stage.paths {
            let kind = desk.check_program_path(host, path).await?;
            // In a folder it would follow links.
            let is_diff = stage.argv.first().is_some_and(|name| name == "diff");
            if is_diff && kind == FileKind::Directory {
                let message = format!("{} is a folder; compare files", quoted(path));
                return Err(denied(message));
            }
        }
    }
    let mut input = None;
    let mut complaints = String::new();
    let mut output = Vec::new();
    let mut code = Some(0);
    let count = stages.len();
    for (number, stage) in (1..).zip(stages) {
        let is_last = number == count;
        let room = if is_last {
            SHELL_OUTPUT_BYTES.saturating_add(1)
        } else {
            SHELL_PIPE_BYTES
        };
        let variables = vec![Header {
            name: "PATH".to_owned(),
            value: SHELL_PATH.to_owned(),
        }];
        let limits = (SHELL_TIMEOUT_MS, room);
        let argv = without_own_files(stage.argv);
        let name = argv.first().cloned().unwrap_or_default();
        let ran = host.run(argv, &desk.cwd, variables, input, limits).await;
        host.stop_if_cancelled()?;
        let ran = ran.map_err(|failure| {
            let error = Error::from_failure(&failure, "running", &name);
            match error.code {
                ErrorCode::Unsupported | ErrorCode::NotFound => Error {
                    message: format!("{}; use Read, Grep and Glob", error.message),
                    ..error
                },
                _ => error,
            }
        })?;
        complaints.push_str(&String::from_utf8_lossy(&ran.stderr.0));
        code = ran.exit_code;
        output = ran.stdout.0;
        input = Some(Content::Bytes(crate::flow::Bytes(output.clone())));
    }
    let mut answer = shown(&output);
    if !complaints.is_empty() {
        answer.push_str(&format!("stderr:\n{}", shown(complaints.as_bytes())));
    }
    match code {
        Some(0) if answer.is_empty() => answer.push_str("(it printed nothing)\n"),
        Some(0) => {}
        Some(code) => answer.push_str(&format!("(it ended with code {code})\n")),
        None => answer.push_str("(it was ended before it was done)\n"),
    }
    if desk.is_reviewed() && !desk.drafts().is_empty() {
        answer.push_str("(commands see the memories without the changes of this run)\n");
    }
    Ok(answer)
}

/// As much of an output as is shown.
fn shown(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    let room = usize::try_from(SHELL_OUTPUT_BYTES).unwrap_or(usize::MAX);
    let (text, rest) = crate::tool::cut(&text, room);
    let mut text = text.to_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    if !rest.is_empty() {
        text.push_str("(there is more; ask for less at once)\n");
    }
    text
}

/// What looks through folders does not look into memdir's own, which holds what was forgotten.
fn without_own_files(mut argv: Vec<String>) -> Vec<String> {
    if argv.first().is_some_and(|name| name == "grep") {
        argv.insert(1, format!("--exclude-dir={OWN_FOLDER}"));
    }
    argv
}

/// The paths of a plain `rm`; none for any other command.
fn removal(command: &str) -> Option<Result<Vec<String>, Error>> {
    let words = command_words(command).ok()?;
    let mut words = words.into_iter();
    if words.next()? != "rm" {
        return None;
    }
    let (flags, paths): (Vec<String>, Vec<String>) = words.partition(|word| word.starts_with('-'));
    if let Some(flag) = flags
        .iter()
        .find(|flag| !matches!(flag.as_str(), "-f" | "--"))
    {
        let message = format!("rm takes memories only, without {}", quoted(flag));
        return Some(Err(denied(message)));
    }
    if paths.is_empty() {
        return Some(Err(tools::wrong("rm names no file")));
    }
    Some(Ok(paths))
}
