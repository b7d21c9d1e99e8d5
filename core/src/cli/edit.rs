//! `memdir edit` (document 002, "/memory"): lists what a person may want to write in, and opens one of it in an editor.

use std::collections::HashSet;

use serde::Serialize;

use super::{print, print_json, report, write};
use crate::error::{Error, ErrorCode};
use crate::flow::{Content, FailureCode, FileKind, Host, Stream};
use crate::instructions::{InstructionsOptions, LoadKind, LoadOutcome};
use crate::limits::{
    CHOICE_MAX_BYTES, FILE_MODE, FOLDER_MODE, INDEX_NAME, INSTRUCTIONS_FILE, SHARED_FILE_MODE,
    TEAM_INDEX,
};
use crate::paths::{Environment, Platform, variable};
use crate::report::ReportCode;
use crate::store::Store;
use crate::text::{list, one_line, quoted};

/// One thing that can be edited.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Editable {
    /// Absolute.
    path: String,
    /// What it is.
    about: &'static str,
    /// How many imports lead to it.
    depth: u32,
    /// Whether it is there already.
    exists: bool,
    /// Whether others get it with the project.
    #[serde(skip)]
    shared: bool,
}

/// What `edit --json` prints.
#[derive(Serialize)]
struct EditJson<'a> {
    files: &'a [Editable],
}

pub(super) async fn run(
    host: &Host,
    store: &Store,
    env: &Environment,
    which: Option<String>,
    json: bool,
) -> Result<u8, Error> {
    let opened = store.open_in(host).await?;
    report(host, &opened.report).await?;
    let platform = opened.places.platform;
    let files = editable(host, store).await?;
    let which = match which {
        Some(which) => which,
        None if json => {
            print_json(host, &EditJson { files: &files }).await?;
            return Ok(0);
        }
        None => match ask(host, &files).await? {
            Some(which) => which,
            None => {
                write(
                    host,
                    Stream::Stderr,
                    "cancelled; nothing was opened\n".to_owned(),
                )
                .await?;
                return Ok(0);
            }
        },
    };
    let folders: Vec<&str> = store
        .cwd()
        .into_iter()
        .chain([opened.directory.as_str()])
        .collect();
    let file = chosen(&files, &which, platform, &folders)?;
    let is_made = create(host, platform, file).await?;
    let opened = open(host, env, platform, &file.path).await;
    if opened.is_err() && is_made {
        remove_empty(host, &file.path).await;
    }
    let (program, said) = opened?;
    // Whatever was remembered may have changed.
    store.compacted();
    let line = format!(
        "{} was opened with {} ({said}); set VISUAL or EDITOR to use another editor\n",
        one_line(&file.path),
        one_line(&program)
    );
    write(host, Stream::Stderr, line).await?;
    Ok(0)
}

/// What there is to edit, the nearest to people first: their instructions, the indexes, the memories, and the folders of
/// agents.
async fn editable(host: &Host, store: &Store) -> Result<Vec<Editable>, Error> {
    let opened = store.open_in(host).await?;
    let platform = opened.places.platform;
    let chain = store
        .instructions_in(host, &InstructionsOptions::default(), None)
        .await?;
    let mut files: Vec<Editable> = Vec::new();
    let mut known = HashSet::new();
    let mut put = |path: String, about, depth, exists, shared| {
        if known.insert(path.clone()) {
            files.push(Editable {
                path,
                about,
                depth,
                exists,
                shared,
            });
        }
    };
    let user = opened.places.config_home.as_ref();
    let user = user.map(|folder| platform.join(folder, INSTRUCTIONS_FILE));
    let checkout = store.checkout_in(host).await?;
    let project = checkout.as_deref().or(store.cwd());
    let project = project.map(|folder| platform.join(folder, INSTRUCTIONS_FILE));
    for (path, about, shared) in [
        (user, "the user's instructions", false),
        (project, "the project's instructions", true),
    ] {
        if let Some(path) = path {
            let there = host.stat(&path).await;
            host.stop_if_cancelled()?;
            put(path, about, 0, there.is_ok(), shared);
        }
    }
    for entry in chain.report {
        // What cannot be shown may need an editor all the more.
        let is_there = entry.outcome != LoadOutcome::Skipped
            || matches!(
                entry.code,
                Some(
                    ReportCode::TooLarge
                        | ReportCode::NotUtf8
                        | ReportCode::NulByte
                        | ReportCode::Unreadable
                        | ReportCode::Excluded
                )
            );
        if is_there && entry.kind != LoadKind::Settings {
            let about = match entry.kind {
                LoadKind::Rule => "rule",
                LoadKind::Import => "imported",
                _ => "instructions",
            };
            put(entry.path, about, entry.depth, true, false);
        }
    }
    if opened.enabled {
        for (name, about) in [
            (INDEX_NAME, "index of the memories"),
            (TEAM_INDEX, "index of the team's"),
        ] {
            let path = platform.join(&opened.directory, name);
            let there = host.stat(&path).await;
            host.stop_if_cancelled()?;
            if there.is_ok() {
                put(path, about, 0, true, false);
            }
        }
        for memory in store.scan_in(host).await?.memories {
            put(
                platform.join(&opened.directory, &memory.path),
                "memory",
                0,
                true,
                false,
            );
        }
        for folder in &opened.places.agents {
            let listing = host.list(folder, None).await;
            host.stop_if_cancelled()?;
            let mut names: Vec<String> = listing
                .map(|listing| listing.entries)
                .unwrap_or_default()
                .into_iter()
                .filter(|entry| {
                    entry
                        .stat
                        .as_ref()
                        .is_some_and(|stat| stat.kind == FileKind::Directory)
                })
                .map(|entry| entry.name)
                .collect();
            names.sort_unstable();
            for name in names {
                put(
                    platform.join(folder, &name),
                    "folder of an agent",
                    0,
                    true,
                    false,
                );
            }
        }
    }
    Ok(files)
}

/// Which one somebody wants; none when they want none.
async fn ask(host: &Host, files: &[Editable]) -> Result<Option<String>, Error> {
    let mut lines = String::new();
    for (number, file) in files.iter().enumerate() {
        let indent = "  ".repeat(file.depth as usize);
        let new = if file.exists { "" } else { ", new" };
        lines.push_str(&format!(
            "{:>3}  {indent}{} ({}{new})\n",
            number.saturating_add(1),
            one_line(&file.path),
            file.about
        ));
    }
    print(host, lines).await?;
    write(
        host,
        Stream::Stderr,
        "Which one? Its number or name; nothing to cancel: ".to_owned(),
    )
    .await?;
    let line = host.read_line(CHOICE_MAX_BYTES).await;
    host.stop_if_cancelled()?;
    let line =
        line.map_err(|failure| Error::from_failure(&failure, "reading", "standard input"))?;
    let line = String::from_utf8_lossy(&line).trim().to_owned();
    if line.is_empty() {
        write(host, Stream::Stderr, "\n".to_owned()).await?;
        return Ok(None);
    }
    Ok(Some(line))
}

/// The one with a number, with a path, or with a name or the end of a path that no other has.
fn chosen<'a>(
    files: &'a [Editable],
    which: &str,
    platform: Platform,
    folders: &[&str],
) -> Result<&'a Editable, Error> {
    let digits = Some(which).filter(|which| which.bytes().all(|byte| byte.is_ascii_digit()));
    let number = digits.and_then(|digits| digits.parse::<usize>().ok());
    let number = number.and_then(|number| number.checked_sub(1));
    if let Some(file) = number.and_then(|number| files.get(number)) {
        return Ok(file);
    }
    let below = folders
        .iter()
        .map(|folder| platform.normalise(&platform.join(folder, which)));
    for path in std::iter::once(which.to_owned()).chain(below) {
        if let Some(file) = files.iter().find(|file| file.path == path) {
            return Ok(file);
        }
    }
    let end = format!("/{}", which.replace(platform.separator(), "/"));
    let fits = |file: &&Editable| file.path.replace(platform.separator(), "/").ends_with(&end);
    let fitting: Vec<&Editable> = files.iter().filter(fits).collect();
    match fitting.as_slice() {
        [file] => Ok(file),
        [] => Err(Error::new(
            ErrorCode::NotFound,
            format!(
                "there is nothing called {} to edit; memdir edit lists what there is",
                quoted(which)
            ),
        )),
        several => {
            let paths: Vec<String> = several.iter().map(|file| file.path.clone()).collect();
            let message = format!(
                "{} may mean {}; name more of its path",
                quoted(which),
                list(&paths)
            );
            Err(Error::new(ErrorCode::InvalidArgument, message))
        }
    }
}

/// Makes a file that is not there yet, and its folder, and says whether it did; one that somebody has made meanwhile
/// stays.
async fn create(host: &Host, platform: Platform, file: &Editable) -> Result<bool, Error> {
    if file.exists {
        return Ok(false);
    }
    let failed = |failure| Error::from_failure(&failure, "making", &file.path);
    if let Some(folder) = platform.parent(&file.path) {
        let made = host.make_dir(&folder, None, FOLDER_MODE).await;
        host.stop_if_cancelled()?;
        made.map_err(failed)?;
    }
    let mode = if file.shared {
        SHARED_FILE_MODE
    } else {
        FILE_MODE
    };
    let content = Content::Text(String::new());
    let made = host
        .write(&file.path, None, content, None, (mode, true))
        .await;
    if let (Ok(()), Err(error)) = (&made, host.stop_if_cancelled()) {
        remove_empty(host, &file.path).await;
        return Err(error);
    }
    host.stop_if_cancelled()?;
    match made {
        Ok(()) => Ok(true),
        Err(failure) if failure.code != FailureCode::Exists => Err(failed(failure)),
        // Somebody else has made it, unless it is a link to nothing, which an editor would follow.
        Err(_) => match host.stat(&file.path).await {
            Ok(_) => Ok(false),
            Err(failure) => {
                host.stop_if_cancelled()?;
                Err(Error::from_failure(&failure, "opening", &file.path))
            }
        },
    }
}

/// Takes a file away that was made for nothing, unless somebody has written into it.
async fn remove_empty(host: &Host, path: &str) {
    let host = host.shielded();
    let stat = host.lstat(path).await;
    if stat.is_ok_and(|stat| stat.size == 0) {
        let _ = host.remove(path, None).await;
    }
}

/// Opens a file: with the editor that was set, else with the first of the system's that there is. Gives the program,
/// and what named it.
async fn open(
    host: &Host,
    env: &Environment,
    platform: Platform,
    path: &str,
) -> Result<(String, &'static str), Error> {
    let set = ["VISUAL", "EDITOR"].into_iter().find_map(|name| {
        let words = words(variable(env, name)?, platform);
        words
            .first()
            .is_some_and(|program| !program.is_empty())
            .then_some((words, name))
    });
    let is_set = set.is_some();
    let editors: Vec<(Vec<String>, &'static str)> = match set {
        Some(set) => vec![set],
        None => {
            let known: &[&str] = match platform {
                Platform::Posix => &["sensible-editor", "editor", "nano", "vi"],
                Platform::Windows => &["notepad"],
            };
            let known = known
                .iter()
                .map(|name| (vec![(*name).to_owned()], "the system's editor"));
            known.collect()
        }
    };
    for (mut argv, said) in editors {
        let program = argv.first().cloned().unwrap_or_default();
        argv.push(path.to_owned());
        let opened = host.open_editor(argv).await;
        host.stop_if_cancelled()?;
        match opened {
            Ok(()) => return Ok((program, said)),
            Err(failure) if failure.code == FailureCode::NotFound && !is_set => {}
            Err(failure) if failure.code == FailureCode::Unsupported => {
                let message = format!(
                    "an editor is not available here; open {} yourself",
                    quoted(path)
                );
                return Err(Error::new(ErrorCode::Unsupported, message));
            }
            Err(failure) => {
                let message = format!(
                    "the editor {} ({said}): {}",
                    quoted(&program),
                    failure.message
                );
                return Err(Error::new(failure.code.into(), message));
            }
        }
    }
    let message = "there is no editor; set VISUAL or EDITOR to the command of one";
    Err(Error::new(ErrorCode::NotFound, message))
}

/// The words of a command: at blanks, but for those in quotes.
fn words(command: &str, platform: Platform) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = command.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            // Backslashes of Windows separate folders.
            (None, '\\') if platform == Platform::Posix => {
                word.get_or_insert_default().extend(chars.next());
            }
            (Some('"'), '\\')
                if platform == Platform::Posix
                    && chars.as_str().starts_with(['\\', '"', '$', '`']) =>
            {
                word.get_or_insert_default().extend(chars.next());
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::words;
    use crate::paths::Platform;

    #[test]
    fn a_command_is_split_as_a_shell_would() {
        let posix = |command| words(command, Platform::Posix);
        assert_eq!(posix("code --wait"), ["code", "--wait"]);
        assert_eq!(
            posix("'/opt/my editor' -n  \"a \\\" b\" c\\ d"),
            ["/opt/my editor", "-n", "a \" b", "c d"]
        );
        assert_eq!(posix("  "), [""; 0]);
        let windows = words("\"C:\\Program Files\\e.exe\" -x C:\\a", Platform::Windows);
        assert_eq!(windows, ["C:\\Program Files\\e.exe", "-x", "C:\\a"]);
    }
}
