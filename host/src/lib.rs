//! The host over std: performs what flows ask for on a real machine, for the Python package, the
//! WASI command and the tests.
//!
//! A host holds no policy: no retry, no path rule, no limit and no default lives here, only the
//! way in which the operating system is asked. What every host owes is in `tests/conformance`.

mod drive;
mod failure;
mod names;
mod open;
mod read;
mod real_path;
mod run;
mod stat;
mod stdio;
mod system;
mod within;
mod write;

use memdir_core::flow::{Effect, Failure, FailureCode, Outcome};

pub use drive::drive;
pub use failure::{failure, failure_code};

/// Whether [`perform`] knows how to do this effect. The others (`http`, `model`, `approve`, `watch`,
/// `open-editor`, `emit`) are up to the face that uses this host.
#[must_use]
pub fn performs(effect: &Effect) -> bool {
    !matches!(
        effect,
        Effect::Http { .. }
            | Effect::Model { .. }
            | Effect::Token { .. }
            | Effect::Approve { .. }
            | Effect::Watch { .. }
            | Effect::OpenEditor { .. }
            | Effect::Emit { .. }
    )
}

/// Performs one effect and waits for it. Never panics and never follows a link at the last name
/// of a file that it opens; `unsupported` for what [`performs`] excludes.
#[must_use]
pub fn perform(effect: &Effect) -> Outcome {
    perform_unless(effect, &|| false)
}

/// The same, but `run` and `sleep` look every few milliseconds whether they are to stop; then the
/// program is ended and the outcome is `aborted`.
#[must_use]
pub fn perform_unless(effect: &Effect, stopped: &dyn Fn() -> bool) -> Outcome {
    let result = match effect {
        Effect::List { path, within } => read::list(path, within.as_deref()).map(Outcome::Listing),
        Effect::Read {
            path,
            within,
            offset,
            length,
        } => read::read(path, within.as_deref(), *offset, *length).map(Outcome::Content),
        Effect::ReadMany {
            paths,
            within,
            length,
        } => read::read_many(paths, within.as_deref(), *length).map(Outcome::Heads),
        Effect::Stat { path } => stat::stat(path).map(Outcome::Stat),
        Effect::Lstat { path } => stat::lstat(path).map(Outcome::Stat),
        Effect::ReadLink { path } => read::read_link(path).map(Outcome::Text),
        Effect::RealPath { path } => real_path::real_path(path).map(Outcome::Text),
        Effect::Write {
            path,
            within,
            content,
            via,
            mode,
            sync,
        } => done(write::write(
            path,
            within.as_deref(),
            content.as_bytes(),
            via.as_deref(),
            *mode,
            *sync,
        )),
        Effect::Append {
            path,
            content,
            mode,
        } => done(write::append(path, content.as_bytes(), *mode)),
        Effect::MakeDir { path, within, mode } => {
            done(write::make_dir(path, within.as_deref(), *mode))
        }
        Effect::Remove { path, within } => done(names::remove(path, within.as_deref())),
        Effect::Rename {
            from,
            to,
            within,
            replace,
            sync,
        } => done(names::rename(from, to, within.as_deref(), *replace, *sync)),
        Effect::Link { from, to, within } => done(names::link(from, to, within.as_deref())),
        Effect::SetMtime { path, mtime_ms } => done(write::set_mtime(path, *mtime_ms)),
        Effect::ProcessAlive { pid } => system::process_alive(*pid).map(Outcome::Alive),
        Effect::Run {
            argv,
            cwd,
            env,
            stdin,
            timeout_ms,
            max_bytes,
        } => {
            let stdin = stdin.as_ref().map(memdir_core::flow::Content::as_bytes);
            let limits = run::Limits {
                timeout_ms: *timeout_ms,
                max_bytes: *max_bytes,
            };
            run::run(argv, cwd, env, stdin, &limits, stopped).map(Outcome::Ran)
        }
        Effect::Now => Ok(Outcome::Now(system::now())),
        Effect::Sleep { ms } => done(system::sleep(*ms, stopped)),
        Effect::Random { length } => system::random(*length).map(Outcome::Content),
        Effect::Print { stream, text } => done(stdio::print(*stream, text)),
        Effect::ReadStdin { max_bytes, line } => {
            stdio::read_stdin(*max_bytes, *line).map(Outcome::Content)
        }
        Effect::HostInfo => Ok(Outcome::HostInfo(system::host_info())),
        Effect::Http { .. } => unsupported("make HTTP requests"),
        Effect::Model { .. } => unsupported("call a model"),
        Effect::Token { .. } => unsupported("ask for a token"),
        Effect::Approve { .. } => unsupported("ask for approval"),
        Effect::Watch { .. } => unsupported("watch folders"),
        Effect::OpenEditor { .. } => unsupported("open an editor"),
        Effect::Emit { .. } => Ok(Outcome::Done),
    };
    result.unwrap_or_else(Outcome::Failed)
}

fn done(result: Result<(), Failure>) -> Result<Outcome, Failure> {
    result.map(|()| Outcome::Done)
}

fn unsupported<T>(what: &str) -> Result<T, Failure> {
    Err(Failure::new(
        FailureCode::Unsupported,
        format!("this host cannot {what}"),
    ))
}
