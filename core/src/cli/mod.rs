//! The command line, as a flow: parsed and formatted here, so that it is the same program in
//! every package.

mod arguments;
mod help;

use serde::{Deserialize, Serialize};

use self::arguments::{Command, Invocation};
use crate::error::{Error, ErrorCode};
use crate::flow::{Flow, Host, Stream};
use crate::memory::{MemoryHeader, format_manifest};
use crate::report::ReportEntry;
use crate::store::{OpenOptions, PromptOptions, Store};
use crate::text;

/// What a program was started with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CommandOptions {
    /// The arguments after the program's name.
    pub args: Vec<String>,
    /// The working directory, absolute; null where there is none. Resolves a relative `--dir`.
    pub cwd: Option<String>,
}

/// Runs one command line to its exit code: 0 done, 1 failed, 2 wrong usage. Results go to stdout,
/// everything else to stderr. The flow itself fails only when it was cancelled or driven wrongly.
#[must_use]
pub fn command(options: CommandOptions) -> Flow<u8> {
    Flow::new(|host| async move {
        match run(&host, options).await {
            Ok(()) => Ok(0),
            Err(error) if matches!(error.code, ErrorCode::Aborted | ErrorCode::Protocol) => {
                Err(error)
            }
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

async fn run(host: &Host, options: CommandOptions) -> Result<(), Error> {
    let Invocation {
        command,
        directory,
        json,
    } = arguments::parse(options.args)?;
    match command {
        Command::Help => print(host, help::TEXT.to_owned()).await,
        Command::Version => print(host, format!("memdir {}\n", crate::VERSION)).await,
        Command::Scan => scan(host, &store(host, directory, options.cwd).await?, json).await,
        Command::Prompt => prompt(host, &store(host, directory, options.cwd).await?, json).await,
        Command::Show { path } => {
            show(
                host,
                &store(host, directory, options.cwd).await?,
                path,
                json,
            )
            .await
        }
    }
}

/// The store of `--dir`; on the command line, unlike in the library, it may be relative.
async fn store(
    host: &Host,
    directory: Option<String>,
    cwd: Option<String>,
) -> Result<Store, Error> {
    let directory = directory.ok_or_else(|| {
        Error::new(
            ErrorCode::Usage,
            "no memory folder was given; name it with --dir; see memdir --help",
        )
    })?;
    let directory = match cwd {
        Some(cwd) if is_plainly_relative(&directory) => {
            let platform = host
                .host_info()
                .await
                .map_err(|failure| Error::from_failure(&failure, "asking for", "the platform"))?
                .platform;
            platform.join(&cwd, &directory)
        }
        _ => directory,
    };
    Ok(Store::new(OpenOptions { directory }))
}

/// A path that can only be meant from the working directory: no root, no drive, no tilde.
fn is_plainly_relative(path: &str) -> bool {
    !path.is_empty()
        && !path.starts_with(['/', '\\', '~'])
        && !path.contains(':')
        && !path.contains('\0')
}

async fn scan(host: &Host, store: &Store, json: bool) -> Result<(), Error> {
    let directory = store.open_in(host).await?.directory;
    let scan = store.scan_in(host).await?;
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
    let prompt = store.prompt_in(host, PromptOptions::default()).await?;
    if json {
        return print_json(
            host,
            &PromptJson {
                prompt: prompt.as_deref(),
            },
        )
        .await;
    }
    print(
        host,
        prompt.map_or_else(String::new, |prompt| prompt + "\n"),
    )
    .await
}

async fn show(host: &Host, store: &Store, path: String, json: bool) -> Result<(), Error> {
    let file = store.read_in(host, &path).await?;
    if json {
        return print_json(host, &file).await;
    }
    print(host, file.content).await
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

/// What `scan --json` prints.
#[derive(Serialize)]
struct ScanJson<'a> {
    directory: &'a str,
    memories: &'a [MemoryHeader],
    report: &'a [ReportEntry],
}

/// What `prompt --json` prints.
#[derive(Serialize)]
struct PromptJson<'a> {
    prompt: Option<&'a str>,
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
        .map_err(|failure| Error::from_failure(&failure, "writing to", "the terminal"))
}
