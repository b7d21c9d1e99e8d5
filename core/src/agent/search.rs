//! Finding files and lines for a background agent, within bounds: what was not looked at is said in the answer.
//! Hidden folders, `node_modules` and what links lead to are not searched.

use regex_lite::{Regex, RegexBuilder};

use super::desk::{Desk, Target};
use super::tools::{Grep, GrepMode, wrong};
use crate::error::Error;
use crate::flow::{FailureCode, FileKind, Head, Host, Stat, join_all};
use crate::glob::Globs;
use crate::limits::{
    GLOB_PATHS, GREP_FILE_BYTES, GREP_LINE_BYTES, GREP_LINES, GREP_MAX_BYTES, GREP_STEP_BYTES,
    PATTERN_BYTES, PATTERN_MAX_STATES, PATTERN_STARS, READ_MANY_FILES, SCAN_MAX_DEPTH,
    SHELL_OUTPUT_BYTES, TEMPORARY_ENDING, WALK_FOLDERS, WALK_MAX_FILES,
};
use crate::order;
use crate::store::into_text;
use crate::text::{lines_with_ends, quoted, without_end};
use crate::tool::cut;

/// A file that was found.
struct File {
    /// Below the folder that is searched, with `/`; empty when that is the file itself.
    below: String,
    /// As the system resolves it.
    path: String,
    size: u64,
    mtime_ms: i64,
    /// Its text, when the run has written it and it waits to be looked at.
    draft: Option<String>,
}

impl File {
    /// Whether it is read in pieces.
    fn is_large(&self) -> bool {
        self.size > GREP_FILE_BYTES && self.draft.is_none()
    }
}

/// What a search looks through.
struct Walk {
    /// What was asked for, absolute.
    shown: String,
    root: String,
    files: Vec<File>,
    /// What was left out, for the model.
    notes: Vec<String>,
}

impl Walk {
    fn shown(&self, desk: &Desk, file: &File) -> String {
        if file.below.is_empty() {
            return self.shown.clone();
        }
        desk.platform().join(&self.shown, &file.below)
    }
}

/// Files by their paths.
pub(super) async fn glob(
    desk: &Desk,
    host: &Host,
    pattern: &str,
    folder: Option<&str>,
) -> Result<String, Error> {
    let platform = desk.platform();
    let pattern = pattern.replace(platform.separator(), "/");
    let stars = pattern.matches('*').count();
    if pattern.len() > PATTERN_BYTES || stars > PATTERN_STARS {
        return Err(wrong(format!(
            "a pattern has at most {PATTERN_BYTES} bytes and {PATTERN_STARS} stars"
        )));
    }
    // A pattern may itself say where it begins.
    let (start, pattern) = match fixed_folder(&pattern) {
        Some((start, rest)) if platform.is_absolute(&start) => (start, rest.to_owned()),
        _ => (folder.unwrap_or(&desk.cwd).to_owned(), pattern),
    };
    let mut walk = walk(desk, host, &start).await?;
    let globs = Globs::new(&pattern);
    walk.files
        .retain(|file| globs.as_ref().is_some_and(|globs| globs.fits(&file.below)));
    order::sort(&mut walk.files, |a, b| {
        (b.mtime_ms, &a.below).cmp(&(a.mtime_ms, &b.below))
    });
    let lines: Vec<String> = walk
        .files
        .iter()
        .map(|file| walk.shown(desk, file))
        .collect();
    Ok(answer(lines, GLOB_PATHS, "no file matches", walk.notes))
}

/// The folders at the beginning of a pattern that have no wildcard, and the rest.
fn fixed_folder(pattern: &str) -> Option<(String, &str)> {
    let special = pattern.find(['*', '?', '[', '{', '!', '\\'])?;
    let end = pattern.get(..special)?.rfind('/')?;
    let (start, rest) = pattern.split_at_checked(end)?;
    let start = if start.is_empty() { "/" } else { start };
    Some((start.to_owned(), rest.strip_prefix('/').unwrap_or(rest)))
}

/// Lines of texts.
pub(super) async fn grep(desk: &Desk, host: &Host, grep: Grep) -> Result<String, Error> {
    let (pattern, rest) = cut(&grep.pattern, PATTERN_BYTES);
    if !rest.is_empty() {
        return Err(wrong(format!(
            "a pattern has at most {PATTERN_BYTES} bytes"
        )));
    }
    // What a pattern takes for each byte of a text grows with its size.
    let regex = RegexBuilder::new(pattern)
        .case_insensitive(grep.ignore_case)
        .size_limit(PATTERN_MAX_STATES)
        .build()
        .map_err(|error| {
            let shown = quoted(pattern);
            wrong(format!("{shown} is no regular expression: {error}"))
        })?;
    let start = grep.path.clone().unwrap_or_else(|| desk.cwd.clone());
    let mut walk = walk(desk, host, &start).await?;
    if let Some(glob) = &grep.glob {
        if glob.len() > PATTERN_BYTES || glob.matches('*').count() > PATTERN_STARS {
            return Err(wrong(format!(
                "glob has at most {PATTERN_BYTES} bytes and {PATTERN_STARS} stars"
            )));
        }
        let wanted = Wanted::new(glob);
        walk.files.retain(|file| wanted.has(&file.below));
    }
    order::sort(&mut walk.files, |a, b| a.below.cmp(&b.below));
    let most = grep.most.unwrap_or(GREP_LINES);
    let mut lines = Vec::new();
    let mut left = GREP_MAX_BYTES;
    let mut at = 0;
    while at < walk.files.len() && lines.len() <= most {
        let mut taken: usize = 0;
        let mut bytes: u64 = 0;
        // One step reads as much of each file as of the longest; a large one is a step of its own.
        let mut longest: u64 = 1;
        for file in walk.files.iter().skip(at).take(READ_MANY_FILES) {
            let (count, length) = (taken.saturating_add(1), longest.max(file.size));
            let asked = length.saturating_mul(count as u64);
            if taken > 0 && (file.is_large() || asked > GREP_STEP_BYTES) {
                break;
            }
            bytes = bytes.saturating_add(file.size);
            (taken, longest) = (count, length);
            if file.is_large() {
                break;
            }
        }
        if bytes > left {
            let rest = walk.files.len().saturating_sub(at);
            walk.notes.push(format!(
                "{rest} files were not searched; search a smaller folder"
            ));
            break;
        }
        left = left.saturating_sub(bytes);
        let end = at.saturating_add(taken);
        let files = walk.files.get(at..end).unwrap_or_default();
        at = end;
        let search = |file: &File| Search {
            regex: &regex,
            mode: grep.mode,
            shown: walk.shown(desk, file),
            number: 0,
            count: 0,
        };
        if let [file] = files
            && file.is_large()
        {
            let mut search = search(file);
            in_pieces(&walk.root, host, file, &mut search, (&mut lines, most)).await?;
            search.end(&mut lines);
            continue;
        }
        for (file, text) in texts(&walk.root, host, files, longest).await? {
            let mut search = search(file);
            let mut found = lines_with_ends(&text).map(without_end);
            // Looking on ends with the last line, or when no other one matters.
            while found
                .next()
                .is_some_and(|line| search.line(line, &mut lines))
            {}
            search.end(&mut lines);
        }
    }
    Ok(answer(lines, most, "nothing matches", walk.notes))
}

/// Which files a search looks at: those with such a name, or such a path where the pattern has folders; behind `!`
/// all others.
struct Wanted {
    globs: Option<Globs>,
    is_path: bool,
    is_not: bool,
}

impl Wanted {
    fn new(pattern: &str) -> Self {
        let (glob, is_not) = match pattern.strip_prefix('!') {
            Some(glob) => (glob, true),
            None => (pattern, false),
        };
        Self {
            globs: Globs::new(glob),
            is_path: glob.contains('/'),
            is_not,
        }
    }

    fn has(&self, below: &str) -> bool {
        let name = below.rsplit('/').next().unwrap_or(below);
        let place = if self.is_path { below } else { name };
        let globs = self.globs.as_ref();
        globs.is_some_and(|globs| globs.fits(place) != self.is_not)
    }
}

/// The texts among a few files.
async fn texts<'a>(
    root: &str,
    host: &Host,
    files: &'a [File],
    longest: u64,
) -> Result<Vec<(&'a File, String)>, Error> {
    let stored: Vec<String> = files
        .iter()
        .filter(|file| file.draft.is_none())
        .map(|file| file.path.clone())
        .collect();
    let heads = if stored.is_empty() {
        Ok(Vec::new())
    } else {
        host.read_many(stored, Some(root), longest).await
    };
    host.stop_if_cancelled()?;
    let heads = heads.map_err(|failure| Error::from_failure(&failure, "searching", root))?;
    let mut heads = heads.into_iter();
    let text = |file: &File| match &file.draft {
        Some(draft) => Some(draft.clone()),
        None => match heads.next() {
            Some(Head::Content(bytes)) => into_text(bytes.0, true).ok(),
            _ => None,
        },
    };
    let texts: Vec<Option<String>> = files.iter().map(text).collect();
    Ok(files
        .iter()
        .zip(texts)
        .filter_map(|(file, text)| Some((file, text?)))
        .collect())
}

/// The search in one file.
struct Search<'a> {
    regex: &'a Regex,
    mode: GrepMode,
    shown: String,
    number: usize,
    count: usize,
}

impl Search<'_> {
    /// Looks at the next line; whether others of the file still matter.
    fn line(&mut self, line: &str, lines: &mut Vec<String>) -> bool {
        self.number = self.number.saturating_add(1);
        let Some(found) = self.regex.find(line) else {
            return true;
        };
        self.count = self.count.saturating_add(1);
        match self.mode {
            GrepMode::Files => {
                lines.push(self.shown.clone());
                return false;
            }
            GrepMode::Counts => {}
            GrepMode::Lines => {
                let line = around(line, found.start());
                lines.push(format!("{}:{}:{line}", self.shown, self.number));
            }
        }
        true
    }

    fn end(self, lines: &mut Vec<String>) {
        if self.mode == GrepMode::Counts && self.count > 0 {
            lines.push(format!("{}:{}", self.shown, self.count));
        }
    }
}

/// As much of a line as is shown, with the place that matches in it.
fn around(line: &str, at: usize) -> String {
    if line.len() <= GREP_LINE_BYTES {
        return line.to_owned();
    }
    let (before, rest) = cut(line, at.saturating_sub(GREP_LINE_BYTES / 4));
    let (shown, after) = cut(rest, GREP_LINE_BYTES);
    let mark = |part: &str| if part.is_empty() { "" } else { "…" };
    format!("{}{shown}{}", mark(before), mark(after))
}

/// Searches a file piece by piece, such as a transcript, as far as it is text. A line that is longer than a
/// piece is searched in parts.
async fn in_pieces(
    root: &str,
    host: &Host,
    file: &File,
    search: &mut Search<'_>,
    (lines, most): (&mut Vec<String>, usize),
) -> Result<(), Error> {
    let mut offset: u64 = 0;
    let mut rest: Vec<u8> = Vec::new();
    loop {
        let piece = host
            .read_at(&file.path, Some(root), offset, GREP_FILE_BYTES)
            .await;
        host.stop_if_cancelled()?;
        let Ok(piece) = piece else {
            return Ok(());
        };
        if piece.contains(&0) {
            return Ok(());
        }
        let is_end = piece.len() as u64 != GREP_FILE_BYTES;
        offset = offset.saturating_add(piece.len() as u64);
        rest.extend(piece);
        let whole = match rest.iter().rposition(|byte| *byte == b'\n') {
            Some(at) if !is_end => at.saturating_add(1),
            _ => rest.len(),
        };
        let after = rest.split_off(whole);
        let text = String::from_utf8_lossy(&rest);
        for line in lines_with_ends(&text).map(without_end) {
            if !search.line(line, lines) || lines.len() > most {
                return Ok(());
            }
        }
        rest = after;
        if is_end {
            return Ok(());
        }
    }
}

/// As many lines as are shown, and what is not.
fn answer(lines: Vec<String>, most: usize, none: &str, mut notes: Vec<String>) -> String {
    let mut answer = String::new();
    let room = usize::try_from(SHELL_OUTPUT_BYTES).unwrap_or(usize::MAX);
    let mut shown: usize = 0;
    for line in lines.iter().take(most) {
        if answer.len().saturating_add(line.len()) > room {
            break;
        }
        answer.push_str(line);
        answer.push('\n');
        shown = shown.saturating_add(1);
    }
    if lines.is_empty() {
        answer.push_str(&format!("({none})\n"));
    } else if shown < lines.len() {
        notes.push("there are more; ask for less at once".to_owned());
    }
    for note in notes {
        answer.push_str(&format!("({note})\n"));
    }
    answer
}

/// All files in a folder, or the one file.
async fn walk(desk: &Desk, host: &Host, start: &str) -> Result<Walk, Error> {
    let shown = desk.absolute(start)?;
    let (top, root) = match desk.target(host, start).await? {
        Target::Other { path, root } => (path, root),
        Target::Memory(memory) => match &desk.real_store {
            Some(store) => (desk.platform().join(store, &memory), store.clone()),
            // As long as there is no store nothing is in it but drafts.
            None => (shown.clone(), shown.clone()),
        },
    };
    let mut walk = Walk {
        shown,
        root,
        files: Vec::new(),
        notes: Vec::new(),
    };
    let stat = host.lstat(&top).await;
    host.stop_if_cancelled()?;
    match stat {
        Ok(stat) if stat.kind == FileKind::Directory => {
            folders(desk, host, &top, &mut walk).await?;
        }
        Ok(stat) if stat.kind == FileKind::File => {
            walk.files.push(file(String::new(), top.clone(), &stat));
        }
        Ok(_) => {}
        Err(failure) if failure.code == FailureCode::NotFound => {}
        Err(failure) => return Err(Error::from_failure(&failure, "searching", start)),
    }
    let is_there = !walk.files.is_empty();
    draw(desk, &top, &mut walk);
    if !is_there && walk.files.is_empty() && walk.notes.is_empty() {
        let stat = host.lstat(&top).await;
        host.stop_if_cancelled()?;
        if stat.is_err() {
            return Err(super::desk::missing(start));
        }
    }
    Ok(walk)
}

/// Puts the drafts of the run among what was found.
fn draw(desk: &Desk, top: &str, walk: &mut Walk) {
    let platform = desk.platform();
    let store = desk.real_store.as_ref().unwrap_or(&desk.place.directory);
    for (memory, draft) in desk.drafts() {
        let path = platform.join(store, &memory);
        let Some(below) = platform.below(&path, top) else {
            continue;
        };
        let below = below.replace(platform.separator(), "/");
        walk.files.retain(|file| file.path != path);
        if let Some(new) = draft.new {
            walk.files.push(File {
                below,
                path,
                size: new.len() as u64,
                // What was written last is the newest.
                mtime_ms: i64::MAX,
                draft: Some(new),
            });
        }
    }
}

fn file(below: String, path: String, stat: &Stat) -> File {
    File {
        below,
        path,
        size: stat.size,
        mtime_ms: stat.mtime_ms,
        draft: None,
    }
}

async fn folders(desk: &Desk, host: &Host, top: &str, walk: &mut Walk) -> Result<(), Error> {
    let platform = desk.platform();
    let mut level = vec![String::new()];
    for _ in 0..SCAN_MAX_DEPTH {
        let mut next = Vec::new();
        for chunk in level.chunks(WALK_FOLDERS) {
            let paths: Vec<String> = chunk.iter().map(|at| platform.join(top, at)).collect();
            let root = Some(walk.root.as_str());
            let listings = join_all(paths.iter().map(|path| host.list(path, root))).await;
            host.stop_if_cancelled()?;
            for (folder, listing) in chunk.iter().zip(listings) {
                let Ok(listing) = listing else {
                    walk.notes
                        .push(format!("{} could not be listed", quoted(folder)));
                    continue;
                };
                for entry in listing.entries {
                    let is_hidden = entry.name.starts_with('.')
                        || entry.name == "node_modules"
                        || entry.name.ends_with(TEMPORARY_ENDING)
                        || entry.invalid_name;
                    let Some(stat) = entry.stat.filter(|_| !is_hidden) else {
                        continue;
                    };
                    let below = match folder.as_str() {
                        "" => entry.name,
                        folder => format!("{folder}/{}", entry.name),
                    };
                    match stat.kind {
                        FileKind::Directory => next.push(below),
                        FileKind::File => {
                            let path = platform.join(top, &below);
                            walk.files.push(file(below, path, &stat));
                        }
                        FileKind::Link | FileKind::Other => {}
                    }
                }
            }
            if walk.files.len() >= WALK_MAX_FILES {
                walk.notes.push(format!(
                    "after {WALK_MAX_FILES} files the search ended; search a smaller folder"
                ));
                return Ok(());
            }
        }
        if next.is_empty() {
            return Ok(());
        }
        order::sort(&mut next, |a, b| a.cmp(b));
        level = next;
    }
    walk.notes.push(format!(
        "folders more than {SCAN_MAX_DEPTH} deep were not searched"
    ));
    Ok(())
}
