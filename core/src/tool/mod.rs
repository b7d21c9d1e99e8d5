//! The commands of Anthropic's memory tool over a store, under the virtual root `/memories`: what a model
//! may ask for and what it is told. The answers are our own words in the documented structure (line
//! numbers, sizes); writing goes through the write contract.

mod command;
mod view;

pub(crate) use self::command::{Command, parse};
pub(crate) use self::view::{around, cut, numbered};
use crate::error::{Error, ErrorCode};
use crate::flow::{FailureCode, FileKind, Host};
use crate::limits::{FILE_MAX_BYTES, SCAN_MAX_DEPTH, TRASH_MAX_ITEMS};
use crate::paths::check_relative;
use crate::report::ReportCode;
use crate::store::{Place, Store, read};
use crate::text::{line_end, lines_with_ends, without_end};
use crate::write::{Forget, Move, Put, Task, TextEdit, hidden};

/// The folder that a model knows the store by.
const ROOT: &str = "/memories";

/// Does one command; the answer is text for the model.
pub(crate) async fn run(store: &Store, host: &Host, command: Command) -> Result<String, Error> {
    let named = command.paths();
    let done = act(store, host, command).await;
    // The model knows no other paths than those below its root.
    done.map_err(|error| {
        let shown = named.iter();
        let message = shown.fold(error.message, |message, path| as_shown(&message, path));
        Error {
            message: hidden(&message, &named),
            path: error.path.map(|path| hidden(&path, &named)),
            ..error
        }
    })
}

async fn act(store: &Store, host: &Host, command: Command) -> Result<String, Error> {
    match command {
        Command::View { path, range } => {
            let place = store.place_or_disabled(host).await?;
            view::view(&place, host, &path, range).await
        }
        Command::Create { path, text } => {
            let shown = shown(&path);
            let message = format!(
                "{shown} is there already; change it with str_replace or insert, or delete it first"
            );
            let exists = Error::new(ErrorCode::Exists, message);
            let taken = exists.clone();
            let edit: TextEdit = Box::new(move |old| match old {
                None => Ok((text.clone(), String::new())),
                Some(_) => Err(taken.clone()),
            });
            let noted = put(store, host, path, edit).await;
            // What cannot be read as text is there as well.
            let noted = noted.map_err(|error| match error.code {
                ErrorCode::NotText => exists,
                _ => error,
            })?;
            Ok(format!("Created {shown}.{noted}"))
        }
        Command::Replace { path, old, new } => {
            let shown = shown(&path);
            let edit: TextEdit = Box::new(move |text| {
                let text = text.ok_or_else(|| missing(&shown))?;
                replace(text, &shown, "old_str", &old, &new)
            });
            there(store, host, &path).await?;
            put(store, host, path, edit).await
        }
        Command::Insert { path, line, text } => {
            let shown = shown(&path);
            let edit: TextEdit = Box::new(move |old| insert(old, &shown, line, &text));
            there(store, host, &path).await?;
            put(store, host, path, edit).await
        }
        Command::Delete { path } => delete(store, host, &path).await,
        Command::Rename { from, to } => {
            if from.is_empty() || to.is_empty() {
                return Err(wrong(
                    "/memories itself is not renamed; name a file or a folder in it",
                ));
            }
            let (old, new) = (shown(&from), shown(&to));
            there(store, host, &from).await?;
            let result = store
                .write_in(host, |place| Move::new(from, to, place).map(Task::Move))
                .await?;
            result.0.settled()?;
            Ok(format!("Renamed {old} to {new}."))
        }
    }
}

/// A path of the store in a message to the model.
fn shown(path: &str) -> String {
    below(&hidden(path, &[path]))
}

/// A path of the store as the model knows it.
fn below(path: &str) -> String {
    if path.is_empty() {
        ROOT.to_owned()
    } else {
        format!("{ROOT}/{path}")
    }
}

/// A message about a path of the store, with the path as the model knows it.
fn as_shown(message: &str, path: &str) -> String {
    let mut told = String::new();
    let mut rest = message;
    // One plain word could be a word of the message.
    let is_clear = path.contains(['.', '/']);
    while let Some((before, after)) = rest.split_once(path).filter(|_| is_clear) {
        told.push_str(before);
        // A longer path that ends or goes on with this one is another path.
        let part = |c: char| c.is_alphanumeric() || matches!(c, '/' | '_' | '-');
        let is_part = before.ends_with(part) || after.starts_with(part);
        told.push_str(&if is_part {
            path.to_owned()
        } else {
            shown(path)
        });
        rest = after;
    }
    told + rest
}

/// Nothing is changed, and no folder made, where no store is yet.
async fn there(store: &Store, host: &Host, path: &str) -> Result<(), Error> {
    match store.nothing_there(host, Some(path)).await? {
        Some(_) => Err(missing(&shown(path))),
        None => Ok(()),
    }
}

async fn put(store: &Store, host: &Host, path: String, edit: TextEdit) -> Result<String, Error> {
    let task = |place: &Place| Put::new(path, edit, place).map(Task::Put);
    let (result, task) = store.write_in(host, task).await?;
    let result = result.settled()?;
    let mut answer = match task {
        Some(Task::Put(put)) => put.answer,
        _ => String::new(),
    };
    let secrets = result
        .report
        .iter()
        .filter(|entry| entry.code == ReportCode::SecretFound);
    for entry in secrets {
        answer.push_str(&format!("\nMind that {}.", entry.message));
    }
    Ok(answer)
}

/// Texts of a model as a file would have them: in a file with CRLF, their line ends count as CRLF too.
pub(crate) fn as_in(text: &str, old: &str, new: &str) -> (String, String) {
    if text.contains(old) || line_end(text) == "\n" {
        return (old.to_owned(), new.to_owned());
    }
    let crlf = |text: &str| text.replace("\r\n", "\n").replace('\n', "\r\n");
    (crlf(old), crlf(new))
}

/// Replaces the one place where `old` stands, which the model calls `name`.
pub(crate) fn replace(
    text: &str,
    shown: &str,
    name: &str,
    old: &str,
    new: &str,
) -> Result<(String, String), Error> {
    if old.is_empty() {
        return Err(wrong(&format!(
            "{name} is empty; give the text that is to be replaced"
        )));
    }
    let (old, new) = as_in(text, old, new);
    let places = places_of(text, &old);
    let line_of = |at: usize| {
        let before = text.get(..at).unwrap_or_default();
        before.matches('\n').count().saturating_add(1)
    };
    match places.as_slice() {
        [] => Err(wrong(&format!(
            "nothing was replaced: {name} does not stand in {shown} exactly like this; read it and copy the text"
        ))),
        [at] => {
            let edited = text.replacen(&old, &new, 1);
            let first = line_of(*at);
            let last = first.saturating_add(new.matches('\n').count());
            let answer = format!("Edited {shown}:\n{}", view::around(&edited, first, last));
            Ok((edited, answer))
        }
        many => {
            let lines: Vec<String> = many.iter().map(|at| line_of(*at).to_string()).collect();
            Err(wrong(&format!(
                "nothing was replaced: {name} stands more than once in {shown}, in lines {}; make it longer so that it is one place",
                lines.join(", ")
            )))
        }
    }
}

/// Where a text stands in another, overlapping places too: each of them could be meant.
fn places_of(text: &str, part: &str) -> Vec<usize> {
    let mut places = Vec::new();
    let mut from = 0;
    while let Some(found) = text.get(from..).and_then(|rest| rest.find(part)) {
        let at = from.saturating_add(found);
        places.push(at);
        let first = text.get(at..).and_then(|rest| rest.chars().next());
        from = at.saturating_add(first.map_or(1, char::len_utf8));
    }
    places
}

/// Inserts lines after line `line`, 0 for the beginning.
fn insert(
    text: Option<&str>,
    shown: &str,
    line: i64,
    new: &str,
) -> Result<(String, String), Error> {
    let text = text.ok_or_else(|| missing(shown))?;
    let lines: Vec<&str> = lines_with_ends(text).collect();
    let at = usize::try_from(line).ok().filter(|at| *at <= lines.len());
    let Some(at) = at else {
        return Err(wrong(&format!(
            "insert_line {line} is no line of {shown}; give a number from 0 to {}",
            lines.len()
        )));
    };
    let end = line_end(text);
    let new = new.replace("\r\n", "\n");
    let new = new.strip_suffix('\n').unwrap_or(&new).replace('\n', end);
    let (before, after) = lines.split_at_checked(at).unwrap_or((&lines, &[]));
    let mut edited = before.concat();
    // A byte order mark stays the first.
    let mut after = after.concat();
    if before.is_empty() && after.starts_with('\u{FEFF}') {
        edited.push(after.remove(0));
    }
    if before.last().is_some_and(|line| !line.ends_with('\n')) {
        edited.push_str(end);
    }
    edited.push_str(&new);
    // A text that did not end its last line still does not, at its end.
    if !after.is_empty() || text.ends_with('\n') || text.is_empty() {
        edited.push_str(end);
    }
    edited.push_str(&after);
    let first = at.saturating_add(1);
    let last = first.saturating_add(new.matches('\n').count());
    let answer = format!("Edited {shown}:\n{}", view::around(&edited, first, last));
    Ok((edited, answer))
}

/// A file goes to the trash; a folder with all that is in it.
async fn delete(store: &Store, host: &Host, path: &str) -> Result<String, Error> {
    if path.is_empty() {
        return Err(wrong(
            "/memories itself is not deleted; name a file or a folder in it",
        ));
    }
    let place = store.place_or_disabled(host).await?;
    check_relative(path, place.platform)?;
    let Contents { files, folders } = contents(&place, host, path).await?;
    // More would push each other out of the trash.
    if files.len() > TRASH_MAX_ITEMS {
        let message = format!(
            "{} holds {} files, and the trash keeps {TRASH_MAX_ITEMS}; delete what is in it in smaller parts",
            shown(path),
            files.len()
        );
        return Err(wrong(&message));
    }
    let half = |error: Error, gone: usize| match gone {
        0 => error,
        _ => Error {
            message: format!(
                "{}; before that, {gone} of {} files of {} went to the trash",
                error.message,
                files.len(),
                shown(path)
            ),
            ..error
        },
    };
    for (gone, file) in files.iter().enumerate() {
        let task = |place: &Place| Forget::any(file.clone(), None, place).map(Task::Forget);
        let done = store.write_in(host, task).await;
        done.and_then(|(result, _)| result.settled())
            .map_err(|error| half(error, gone))?;
    }
    for folder in folders.iter().rev() {
        let removed = host
            .remove(&place.path(folder), Some(&place.directory))
            .await;
        host.stop_if_cancelled()?;
        removed.map_err(|failure| {
            let error = Error::from_failure(&failure, "deleting", folder);
            half(error, files.len())
        })?;
    }
    Ok(format!("Deleted {}.", shown(path)))
}

/// What goes when something is deleted.
#[derive(Default)]
struct Contents {
    /// Links first: without what they lead to they could not go.
    files: Vec<String>,
    /// Each before those in it.
    folders: Vec<String>,
}

/// Looks at all that is to be deleted, so that what cannot be is found before the first file is gone.
async fn contents(place: &Place, host: &Host, path: &str) -> Result<Contents, Error> {
    let stat = host.lstat(&place.path(path)).await;
    host.stop_if_cancelled()?;
    let Ok(stat) = stat else {
        return Err(missing(&shown(path)));
    };
    let within = Some(place.directory.as_str());
    let mut contents = Contents::default();
    let mut files = Vec::new();
    let mut todo = vec![(path.to_owned(), stat, 0)];
    let mut seen: usize = 0;
    while let Some((at, stat, depth)) = todo.get(seen).cloned() {
        seen = seen.saturating_add(1);
        let obstacle = |code, what: &str| {
            let message = format!("{} {what}, so nothing was deleted", shown(&at));
            Error::new(code, message).at(&at)
        };
        check_relative(&at, place.platform)
            .map_err(|error| obstacle(error.code, "is one of memdir's own files"))?;
        let size = match stat.kind {
            FileKind::File => {
                files.push(at.clone());
                stat.size
            }
            FileKind::Link => {
                let target = read::resolve(place, host, &at).await;
                host.stop_if_cancelled()?;
                contents.files.push(at.clone());
                match target {
                    Ok((_, target)) if target.kind == FileKind::File => target.size,
                    Ok(_) => {
                        let what = "is a link to what is no regular file";
                        return Err(obstacle(ErrorCode::Unsupported, what));
                    }
                    Err(error) if error.code == ErrorCode::NotFound => {
                        return Err(obstacle(ErrorCode::LinkOutside, "is a link to nothing"));
                    }
                    Err(error) => {
                        let message = as_shown(&error.message, &at);
                        return Err(Error { message, ..error });
                    }
                }
            }
            FileKind::Other => {
                return Err(obstacle(ErrorCode::Unsupported, "is no regular file"));
            }
            FileKind::Directory if depth >= SCAN_MAX_DEPTH => {
                let what = format!("lies more than {SCAN_MAX_DEPTH} folders deep");
                return Err(obstacle(ErrorCode::Unsupported, &what));
            }
            FileKind::Directory => {
                contents.folders.push(at.clone());
                let listing = host.list(&place.path(&at), within).await;
                host.stop_if_cancelled()?;
                let listing =
                    listing.map_err(|failure| Error::from_failure(&failure, "deleting", &at))?;
                for entry in listing.entries {
                    let below = format!("{at}/{}", entry.name);
                    if entry.invalid_name {
                        let what = format!(
                            "holds {}, whose name is no UTF-8",
                            crate::text::quoted(&entry.name)
                        );
                        return Err(obstacle(ErrorCode::InvalidName, &what));
                    }
                    let stat = match entry.stat {
                        Some(stat) => Ok(stat),
                        None => host.lstat(&place.path(&below)).await,
                    };
                    host.stop_if_cancelled()?;
                    match stat {
                        Ok(stat) => todo.push((below, stat, depth.saturating_add(1))),
                        Err(failure) if failure.code == FailureCode::NotFound => {}
                        Err(failure) => {
                            return Err(Error::from_failure(&failure, "deleting", &below));
                        }
                    }
                }
                if listing.incomplete {
                    let what = "has names that cannot be listed";
                    return Err(obstacle(ErrorCode::InvalidName, what));
                }
                0
            }
        };
        if size > FILE_MAX_BYTES {
            let what = format!("is larger than {FILE_MAX_BYTES} bytes, too large for the trash");
            return Err(obstacle(ErrorCode::TooLarge, &what));
        }
    }
    contents.files.extend(files);
    Ok(contents)
}

fn missing(shown: &str) -> Error {
    let message = format!("there is no {shown}; view {ROOT} to see what there is");
    Error::new(ErrorCode::NotFound, message)
}

fn wrong(message: &str) -> Error {
    Error::new(ErrorCode::InvalidArgument, message)
}

/// The lines of a text without their ends; a last line end begins no further one.
fn lines(text: &str) -> Vec<&str> {
    lines_with_ends(text).map(without_end).collect()
}
