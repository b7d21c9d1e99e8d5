//! The command line, as a flow: parsed and formatted here, so that it is the same program in
//! every package.

mod arguments;
mod dream;
mod edit;
mod extract;
mod help;
mod inbox;
mod instructions;
mod session;
mod team;

use serde::{Deserialize, Serialize};

use self::arguments::{Command, Invocation};
use crate::error::{Error, ErrorCode};
use crate::flow::{Event, Flow, Host, Stream};
use crate::instructions::InstructionsOptions;
use crate::limits::{FILE_MAX_BYTES, SECRETS_MAX_BYTES};
use crate::lint::{Finding, Severity};
use crate::memory::{MemoryHeader, format_manifest};
use crate::model::ModelOptions;
use crate::paths::{EnabledBecause, Environment, Refused, Source};
use crate::report::{ReportCode, ReportEntry};
use crate::secrets::{SecretFinding, scan_secrets};
use crate::store::{
    Features, ForgetOptions, OpenOptions, Opened, Prompt, PromptOptions, RecallOptions,
    RecalledMemory, Store,
};
use crate::text;
use crate::write::{SaveOptions, WriteOutcome, WriteResult};

/// What a program was started with.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct CommandOptions {
    /// The arguments after the program's name.
    pub args: Vec<String>,
    /// The working directory, absolute; null where there is none.
    pub cwd: Option<String>,
    /// The user's home directory; null where there is none.
    pub home: Option<String>,
    /// The process environment.
    pub env: Environment,
}

/// Without the environment, which holds keys.
impl std::fmt::Debug for CommandOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CommandOptions")
            .field("args", &self.args)
            .field("cwd", &self.cwd)
            .field("home", &self.home)
            .finish_non_exhaustive()
    }
}

/// Runs one command line to its exit code: 0 done, 1 failed, 2 wrong usage. Results go to stdout,
/// everything else to stderr. The flow itself fails only when it was cancelled or driven wrongly.
#[must_use]
pub fn command(options: CommandOptions) -> Flow<u8> {
    Flow::new(|host| async move {
        match run(&host, options).await {
            Ok(code) => Ok(code),
            Err(error) if matches!(error.code, ErrorCode::Aborted | ErrorCode::Protocol) => {
                Err(error)
            }
            Err(error) if is_reader_gone(&error) => Ok(1),
            Err(error) => {
                let usage = error.code == ErrorCode::Usage;
                let line = format!(
                    "memdir: {} [{}]\n",
                    text::one_line(&error.message),
                    error.code.name()
                );
                // A stderr that is closed leaves the exit code to tell.
                let _ = host.print(Stream::Stderr, line).await;
                Ok(if usage { 2 } else { 1 })
            }
        }
    })
}

async fn run(host: &Host, options: CommandOptions) -> Result<u8, Error> {
    let CommandOptions {
        args,
        cwd,
        home,
        env,
    } = options;
    let Invocation {
        command,
        directory,
        cwd: other_cwd,
        json,
        model,
        agent,
        team,
    } = arguments::parse(args)?;
    let here = cwd.as_deref();
    let environment = env.clone();
    let store = Store::new(OpenOptions {
        directory: absolute(host, here, directory).await?,
        cwd: absolute(host, here, other_cwd)
            .await?
            .or_else(|| cwd.clone()),
        home,
        env,
        agent,
        team: Some(team),
        model: model.map(|name| ModelOptions {
            name,
            api_key: None,
            base_url: None,
        }),
        // Somebody who looks at a store does not use its memories, and changes nothing in it.
        features: Features {
            count_uses: false,
            extract: true,
            dream: true,
            ..Features::default()
        },
        ..OpenOptions::default()
    });
    match command {
        Command::Help => print(host, help::TEXT.to_owned()).await?,
        Command::Version => print(host, format!("memdir {}\n", crate::VERSION)).await?,
        Command::Path => path(host, &store, json).await?,
        Command::Scan => scan(host, &store, json).await?,
        Command::Prompt => prompt(host, &store, json).await?,
        Command::Instructions {
            options,
            file,
            view,
        } => {
            let options = absolute_in(host, here, options).await?;
            return self::instructions::run(host, &store, &options, file, view, json).await;
        }
        Command::Context(options) => {
            let options = absolute_in(host, here, options).await?;
            return self::instructions::context(host, &store, options, json).await;
        }
        Command::Edit { which } => {
            return self::edit::run(host, &store, &environment, which, json).await;
        }
        Command::Show { path } => show(host, &store, &path, json).await?,
        Command::Lint => return lint(host, &store, json).await,
        Command::Recall { query, limit } => recall(host, &store, &query, limit, json).await?,
        Command::Save(options) => {
            let body = read_body(host).await?;
            let result = store.save_in(host, SaveOptions { body, ..options }).await?;
            return wrote(host, &store, "saved", &result, json).await;
        }
        Command::Forget { path, expect } => {
            let result = store
                .forget_in(host, path, ForgetOptions { expect })
                .await?;
            return wrote(host, &store, "forgot", &result, json).await;
        }
        Command::Secrets { file } => return secrets(host, here, file, json).await,
        Command::Dream(options) => return self::dream::run(host, &store, options, json).await,
        Command::UndoDream => return self::dream::undo(host, &store, json).await,
        Command::Extract { file, review } => {
            return self::extract::run(host, &store, (file, here), review, json).await;
        }
        Command::Session { id, file, force } => {
            let file = file.map(|file| (file, here));
            return self::session::run(host, &store, id, file, force, json).await;
        }
        Command::Log { text } => {
            let text = match text {
                Some(text) => text,
                None => read_body(host).await?.unwrap_or_default(),
            };
            let result = store.log_in(host, &text).await?;
            return wrote(host, &store, "logged", &result, json).await;
        }
        Command::Inbox(command) => return self::inbox::run(host, &store, command, json).await,
        Command::Team(command) => return self::team::run(host, &store, command, json).await,
        Command::Undo { path } => {
            let result = store.undo_forget_in(host, path).await?;
            return wrote(host, &store, "brought back", &result, json).await;
        }
    }
    Ok(0)
}

/// A path as given on the command line, which, unlike in the library, may be relative.
async fn absolute(
    host: &Host,
    cwd: Option<&str>,
    path: Option<String>,
) -> Result<Option<String>, Error> {
    match (cwd, path) {
        (Some(cwd), Some(path)) if is_plainly_relative(&path) => {
            let info = host
                .host_info()
                .await
                .map_err(|failure| Error::from_failure(&failure, "asking for", "the platform"))?;
            Ok(Some(info.platform.join(cwd, &path)))
        }
        (_, path) => Ok(path),
    }
}

/// The options of instructions with every path as the library takes it.
async fn absolute_in(
    host: &Host,
    cwd: Option<&str>,
    options: InstructionsOptions,
) -> Result<InstructionsOptions, Error> {
    let mut options = options;
    for paths in [&mut options.additional_directories, &mut options.approved] {
        for path in paths {
            let given = std::mem::take(path);
            *path = absolute(host, cwd, Some(given)).await?.unwrap_or_default();
        }
    }
    Ok(options)
}

/// A path that can only be meant from the working directory: no root, no drive, no tilde.
fn is_plainly_relative(path: &str) -> bool {
    let drive = path.as_bytes().get(1) == Some(&b':');
    !path.is_empty() && !path.starts_with(['/', '\\', '~']) && !drive && !path.contains('\0')
}

/// Which directory, chosen by what, and what was refused.
async fn path(host: &Host, store: &Store, json: bool) -> Result<(), Error> {
    let opened = store.open_in(host).await?;
    if json {
        return print_json(host, &PathJson::of(&opened)).await;
    }
    // What was refused is told below.
    let told = |entry: &&ReportEntry| entry.code != ReportCode::DirectoryRefused;
    let said: Vec<ReportEntry> = opened.report.iter().filter(told).cloned().collect();
    report(host, &said).await?;
    let Opened {
        directory,
        enabled,
        because,
        chosen_by,
        chosen_file,
        project_key,
        project_root,
        refused,
        ..
    } = opened;
    let mut lines = format!("{directory}\n");
    let mut line = |name: &str, value: &str| {
        lines.push_str(&format!("  {name}: {}\n", text::one_line(value)));
    };
    line(
        "memory",
        &format!(
            "{} ({})",
            if enabled { "on" } else { "off" },
            because.name()
        ),
    );
    let file = chosen_file
        .map(|file| format!(" ({file})"))
        .unwrap_or_default();
    line("chosen by", &format!("{}{file}", chosen_by.name()));
    for (name, value) in [("project", project_root), ("project folder", project_key)] {
        if let Some(value) = value {
            line(name, &value);
        }
    }
    for Refused { source, code } in refused {
        line("refused", &format!("{} ({})", source.name(), code.name()));
    }
    print(host, lines).await
}

async fn scan(host: &Host, store: &Store, json: bool) -> Result<(), Error> {
    let Opened {
        directory,
        report: opened,
        ..
    } = store.open_in(host).await?;
    let scan = store.scan_in(host).await?;
    report(host, &opened).await?;
    if json {
        return print_json(
            host,
            &ScanJson {
                directory: &directory,
                memories: &scan.memories,
                report: &scan.report,
            },
        )
        .await;
    }
    report(host, &scan.report).await?;
    let manifest = format_manifest(&scan.memories);
    print(
        host,
        if manifest.is_empty() {
            manifest
        } else {
            manifest + "\n"
        },
    )
    .await
}

async fn prompt(host: &Host, store: &Store, json: bool) -> Result<(), Error> {
    let opened = store.open_in(host).await?;
    report(host, &opened.report).await?;
    let Prompt { text, warnings } = store.prompt_in(host, PromptOptions::default()).await?;
    for Event { path, message, .. } in warnings {
        let path = path.unwrap_or_else(|| "(store)".to_owned());
        let line = text::one_line(&format!("{path}: {message}"));
        write(host, Stream::Stderr, line + "\n").await?;
    }
    if json {
        return print_json(
            host,
            &PromptJson {
                prompt: text.as_deref(),
            },
        )
        .await;
    }
    match text {
        Some(text) => print(host, text + "\n").await,
        None => {
            let why = if opened.enabled {
                "CLAUDE_CODE_DISABLE_CLAUDE_MDS keeps memory out of the prompt".to_owned()
            } else {
                format!(
                    "memory is off ({}), so there is no prompt",
                    opened.because.name()
                )
            };
            write(host, Stream::Stderr, why + "\n").await
        }
    }
}

async fn show(host: &Host, store: &Store, path: &str, json: bool) -> Result<(), Error> {
    let file = store.read_in(host, path).await?;
    if json {
        return print_json(host, &file).await;
    }
    print(host, file.content).await
}

/// What an agent would be shown on stdout.
async fn recall(
    host: &Host,
    store: &Store,
    query: &str,
    limit: Option<u32>,
    json: bool,
) -> Result<(), Error> {
    let opened = store.open_in(host).await?;
    report(host, &opened.report).await?;
    let options = RecallOptions {
        limit,
        ..RecallOptions::default()
    };
    let recall = store.recall_in(host, query, options).await?;
    if json {
        return print_json(
            host,
            &RecallJson {
                memories: &recall.memories,
                report: &recall.report,
            },
        )
        .await;
    }
    report(host, &recall.report).await?;
    if recall.memories.is_empty() {
        return write(
            host,
            Stream::Stderr,
            "no memory fits the query\n".to_owned(),
        )
        .await;
    }
    print(host, recall.render() + "\n").await
}

/// What looks like a secret in a file, a line each on stdout, never its value; 1 when there is one.
async fn secrets(host: &Host, cwd: Option<&str>, file: String, json: bool) -> Result<u8, Error> {
    let bytes = if file == "-" {
        host.read_stdin(SECRETS_MAX_BYTES).await
    } else {
        let path = absolute(host, cwd, Some(file.clone()))
            .await?
            .unwrap_or_default();
        let path = host
            .real_path(&path)
            .await
            .map_err(|failure| Error::from_failure(&failure, "reading", &file))?;
        host.read(&path, None, SECRETS_MAX_BYTES).await
    };
    let shown = if file == "-" { "standard input" } else { &file };
    let bytes = bytes.map_err(|failure| Error::from_failure(&failure, "reading", shown))?;
    // What is no text may hold a token all the same.
    let text = String::from_utf8_lossy(&bytes);
    let findings = scan_secrets(&text);
    if json {
        let findings = SecretsJson {
            findings: &findings,
        };
        print_json(host, &findings).await?;
    } else {
        let mut lines = String::new();
        for SecretFinding {
            rule, label, line, ..
        } in &findings
        {
            lines.push_str(&text::one_line(&format!(
                "{shown}:{line}: {label} [{rule}]"
            )));
            lines.push('\n');
        }
        if !lines.is_empty() {
            print(host, lines).await?;
        }
        write(
            host,
            Stream::Stderr,
            format!("secrets: {}\n", findings.len()),
        )
        .await?;
    }
    Ok(u8::from(!findings.is_empty()))
}

/// The body of a memory; none when nothing was given, so that a slip empties no memory.
async fn read_body(host: &Host) -> Result<Option<String>, Error> {
    let bytes = host
        .read_stdin(FILE_MAX_BYTES)
        .await
        .map_err(|failure| Error::from_failure(&failure, "reading", "standard input"))?;
    let body = String::from_utf8(bytes).map_err(|_| {
        Error::new(
            ErrorCode::NotText,
            "standard input is not UTF-8 text; convert it to UTF-8",
        )
    })?;
    Ok((!body.is_empty()).then_some(body))
}

/// What came of a write; 1 when nothing came of it.
async fn wrote(
    host: &Host,
    store: &Store,
    done: &str,
    result: &WriteResult,
    json: bool,
) -> Result<u8, Error> {
    let opened = store.open_in(host).await?;
    report(host, &opened.report).await?;
    let failed = matches!(
        result.outcome,
        WriteOutcome::Conflict | WriteOutcome::Refused
    );
    if json {
        print_json(host, result).await?;
        return Ok(u8::from(failed));
    }
    report(host, &result.report).await?;
    if let Some((code, message)) = result.code.zip(result.message.as_ref()) {
        return Err(Error::new(code, message));
    }
    let path = text::one_line(result.path.as_deref().unwrap_or_default());
    let line = match result.outcome {
        WriteOutcome::Unchanged => format!("unchanged: {path}\n"),
        _ => format!("{done}: {path}\n"),
    };
    print(host, line).await?;
    Ok(u8::from(failed))
}

/// Findings on stdout, one each; 1 when one of them is an error.
async fn lint(host: &Host, store: &Store, json: bool) -> Result<u8, Error> {
    let findings = store.lint_in(host).await?.findings;
    let errors = findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
        .count();
    if json {
        print_json(
            host,
            &LintJson {
                findings: &findings,
            },
        )
        .await?;
    } else {
        let mut lines = String::new();
        for Finding {
            path,
            line,
            code,
            severity,
            message,
            remedy,
        } in &findings
        {
            let path = if path.is_empty() { "(store)" } else { path };
            let place = line.map_or_else(|| path.to_owned(), |line| format!("{path}:{line}"));
            let severity = text::wire_name(severity);
            lines.push_str(&text::one_line(&format!(
                "{place}: {severity}: {message}; {remedy} [{}]",
                code.name()
            )));
            lines.push('\n');
        }
        print(host, lines).await?;
        let warnings = findings.len().saturating_sub(errors);
        write(
            host,
            Stream::Stderr,
            format!("errors: {errors}, warnings: {warnings}\n"),
        )
        .await?;
    }
    Ok(u8::from(errors > 0))
}

/// What was skipped, cut or repaired, a line each on stderr.
async fn report(host: &Host, report: &[ReportEntry]) -> Result<(), Error> {
    let mut lines = String::new();
    for ReportEntry {
        path,
        code,
        message,
    } in report
    {
        let path = if path.is_empty() { "(store)" } else { path };
        lines.push_str(&text::one_line(&format!(
            "{path}: {message} [{}]",
            code.name()
        )));
        lines.push('\n');
    }
    if lines.is_empty() {
        Ok(())
    } else {
        write(host, Stream::Stderr, lines).await
    }
}

/// What `path --json` prints: what was found, without the places that only a program asks for.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PathJson<'a> {
    directory: &'a str,
    enabled: bool,
    because: EnabledBecause,
    chosen_by: Source,
    chosen_file: Option<&'a str>,
    project_key: Option<&'a str>,
    project_root: Option<&'a str>,
    refused: &'a [Refused],
    report: &'a [ReportEntry],
}

impl<'a> PathJson<'a> {
    fn of(opened: &'a Opened) -> Self {
        let Opened {
            directory,
            enabled,
            because,
            chosen_by,
            chosen_file,
            project_key,
            project_root,
            refused,
            places: _,
            report,
        } = opened;
        Self {
            directory,
            enabled: *enabled,
            because: *because,
            chosen_by: *chosen_by,
            chosen_file: chosen_file.as_deref(),
            project_key: project_key.as_deref(),
            project_root: project_root.as_deref(),
            refused,
            report,
        }
    }
}

/// What `scan --json` prints.
#[derive(Serialize)]
struct ScanJson<'a> {
    directory: &'a str,
    memories: &'a [MemoryHeader],
    report: &'a [ReportEntry],
}

/// What `recall --json` prints.
#[derive(Serialize)]
struct RecallJson<'a> {
    memories: &'a [RecalledMemory],
    report: &'a [ReportEntry],
}

/// What `prompt --json` prints.
#[derive(Serialize)]
struct PromptJson<'a> {
    prompt: Option<&'a str>,
}

/// What `secrets --json` prints.
#[derive(Serialize)]
struct SecretsJson<'a> {
    findings: &'a [SecretFinding],
}

/// What `lint --json` prints.
#[derive(Serialize)]
struct LintJson<'a> {
    findings: &'a [Finding],
}

async fn print_json(host: &Host, value: &impl Serialize) -> Result<(), Error> {
    let json = serde_json::to_string(value).map_err(|error| {
        Error::new(
            ErrorCode::Internal,
            format!("the result is no JSON: {error}"),
        )
    })?;
    print(host, json + "\n").await
}

async fn print(host: &Host, text: String) -> Result<(), Error> {
    write(host, Stream::Stdout, text).await
}

async fn write(host: &Host, stream: Stream, text: String) -> Result<(), Error> {
    host.print(stream, text)
        .await
        .map_err(|failure| Error::from_failure(&failure, "writing to", stream.name()))
}

/// A reader such as `head` that has seen enough: nobody is left to tell. No host has a code of its
/// own for it.
fn is_reader_gone(error: &Error) -> bool {
    error.code == ErrorCode::Other && error.path.as_deref() == Some(Stream::Stdout.name())
}
