//! Which paths and which calls of an agent's tools concern memory (document 002, facts 12): what an
//! agent needs to know to allow a write, to keep its log short, to show what memory was used.

use serde::{Deserialize, Serialize};

use super::{Platform, is_own};
use crate::json::{self, Member};
use crate::limits::{PROJECTS_FOLDER, TEAM_FOLDER};

/// Where memories are on this machine, for one project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MemoryPlaces {
    /// Whose path rules hold.
    pub platform: Platform,
    /// The store; null when memory is off.
    pub store: Option<String>,
    /// Where sessions are kept.
    pub config_home: Option<String>,
    /// The folders that hold agents' memories.
    pub agents: Vec<String>,
    /// Whether `CLAUDE_COWORK_MEMORY_PATH_OVERRIDE` has named the store.
    pub overridden: bool,
}

/// What a path is to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PathKind {
    /// Team memory.
    Team,
    /// The private store.
    Auto,
    /// An agent's memory.
    Agent,
    /// Notes of a session.
    SessionMemory,
    /// What was said in a session.
    SessionTranscript,
    /// None of these.
    None,
}

/// What a tool does with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToolAction {
    /// Reads a file.
    Read,
    /// Creates or changes one.
    Write,
    /// Looks through a folder.
    Search,
    /// Runs a command that names it.
    Run,
    /// Nothing that concerns memory.
    None,
}

/// What a call of a tool has to do with memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolClass {
    /// What its path is.
    pub kind: PathKind,
    /// What is done with it.
    pub action: ToolAction,
    /// The path that decided, as it was given; of a pattern, the folder that it looks through.
    pub path: Option<String>,
}

/// What a path is to memory; `none` for one that is not absolute. Nothing is looked up: a link is
/// taken for what its name says.
#[must_use]
pub fn classify_path(path: &str, places: &MemoryPlaces) -> PathKind {
    let platform = places.platform;
    let Some(path) = comparable(platform, path) else {
        return PathKind::None;
    };
    let below = |folder: &String| {
        let folder = comparable(platform, folder)?;
        platform.below(&path, &folder).map(str::to_owned)
    };
    if let Some(rest) = places.store.as_ref().and_then(below) {
        let first = rest.split(|c| platform.separates(c)).next();
        return match first {
            _ if is_own(&rest, platform) => PathKind::None,
            Some(TEAM_FOLDER) => PathKind::Team,
            _ => PathKind::Auto,
        };
    }
    if let Some(rest) = places.agents.iter().find_map(below) {
        return if is_own(&rest, platform) {
            PathKind::None
        } else {
            PathKind::Agent
        };
    }
    let Some(rest) = places.config_home.as_ref().and_then(below) else {
        return PathKind::None;
    };
    let names: Vec<&str> = rest.split(|c| platform.separates(c)).collect();
    match names.split_last() {
        Some((last, folders)) if last.ends_with(".md") && folders.contains(&"session-memory") => {
            PathKind::SessionMemory
        }
        Some((last, [first, ..])) if *first == PROJECTS_FOLDER && last.ends_with(".jsonl") => {
            PathKind::SessionTranscript
        }
        _ => PathKind::None,
    }
}

/// What a call of one of Claude Code's tools has to do with memory; `input` is its arguments as JSON.
#[must_use]
pub fn classify_tool_call(name: &str, input: &str, places: &MemoryPlaces) -> ToolClass {
    let (action, path) = match name {
        "Read" => (ToolAction::Read, member(input, "file_path")),
        "Write" | "Edit" | "MultiEdit" => (ToolAction::Write, member(input, "file_path")),
        "NotebookEdit" => (ToolAction::Write, member(input, "notebook_path")),
        "Grep" | "LS" => (ToolAction::Search, member(input, "path")),
        "Glob" => (ToolAction::Search, searched(input, places.platform)),
        "Bash" | "PowerShell" | "Shell" => {
            let command = member(input, "command").unwrap_or_default();
            let known = words(&command).filter_map(|word| {
                let kind = classify_path(&word, places);
                (kind != PathKind::None).then_some((word, kind))
            });
            let known: Vec<(String, PathKind)> = known.collect();
            let team = known.iter().find(|(_, kind)| *kind == PathKind::Team);
            let path = team.or(known.first()).map(|(word, _)| word.clone());
            (ToolAction::Run, path)
        }
        _ => (ToolAction::None, None),
    };
    let kind = path
        .as_deref()
        .map_or(PathKind::None, |path| classify_path(path, places));
    if kind == PathKind::None {
        return ToolClass {
            kind,
            action: ToolAction::None,
            path: None,
        };
    }
    ToolClass { kind, action, path }
}

/// Whether an agent may write to a path without asking: a memory, wherever its folder is, unless the
/// environment has put it somewhere of its own. As nothing is looked up, and a repository can bring links
/// along, a caller gives the path as the system resolves it.
#[must_use]
pub fn may_write(path: &str, places: &MemoryPlaces) -> bool {
    let kind = classify_path(path, places);
    let is_memory = matches!(kind, PathKind::Auto | PathKind::Team | PathKind::Agent);
    let is_markdown = comparable(places.platform, path).is_some_and(|path| path.ends_with(".md"));
    !places.overridden && is_memory && is_markdown && !has_stream(places.platform, path)
}

/// What a few calls of tools did with memory, for a line in the agent's log: "Recalled 3 team
/// memories". In the present while they run, in the past when they are `done`.
#[must_use]
pub fn summarise_tool_calls(calls: &[ToolClass], done: bool) -> Vec<String> {
    let mut summary = Vec::new();
    for (actions, present, past, counted) in [
        (
            [ToolAction::Read, ToolAction::Run],
            "Recalling",
            "Recalled",
            true,
        ),
        (
            [ToolAction::Search, ToolAction::Search],
            "Searching",
            "Searched",
            false,
        ),
        (
            [ToolAction::Write, ToolAction::Write],
            "Writing",
            "Wrote",
            true,
        ),
    ] {
        for team in [false, true] {
            let mut paths: Vec<Option<String>> = Vec::new();
            for call in calls {
                let fits = match call.kind {
                    PathKind::Team => team,
                    PathKind::Auto | PathKind::Agent => !team,
                    _ => false,
                };
                if !fits || !actions.contains(&call.action) {
                    continue;
                }
                let path = call.path.as_deref().map(one_spelling);
                if !paths.contains(&path) {
                    paths.push(path);
                }
            }
            if paths.is_empty() {
                continue;
            }
            let verb = if done { past } else { present };
            let whose = if team { "team " } else { "" };
            summary.push(match paths.len() {
                _ if !counted => format!("{verb} {whose}memories"),
                1 => format!("{verb} 1 {whose}memory"),
                many => format!("{verb} {many} {whose}memories"),
            });
        }
    }
    summary
}

/// An absolute path as the platform compares it; none for any other, and for one of which cannot be told
/// what Windows makes of it.
fn comparable(platform: Platform, path: &str) -> Option<String> {
    if path.contains('\0') {
        return None;
    }
    if platform == Platform::Posix {
        return platform.is_absolute(path).then(|| platform.normalise(path));
    }
    let path = without_prefix(platform, path);
    if !platform.is_absolute(path) {
        return None;
    }
    let mut parts = path.split(|c| platform.separates(c));
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // Behind a colon is a stream of the file.
        let name = part.split(':').next().unwrap_or_default();
        let kept = match name {
            "" | "." | ".." => name,
            // Windows drops what a name ends with.
            _ => match name.trim_end_matches(['.', ' ']) {
                "" => return None,
                kept => kept,
            },
        };
        plain.push(platform.separator());
        plain.push_str(kept);
    }
    Some(platform.normalise(&plain).to_lowercase())
}

/// A path without what says to Windows that it is to be taken as it is, or that a device is meant.
fn without_prefix(platform: Platform, path: &str) -> &str {
    let mut rest = path.chars();
    let start = rest.by_ref().take(4);
    let start: String = start.map(|c| if c == '/' { '\\' } else { c }).collect();
    let is_prefix = matches!(start.as_str(), r"\\?\" | r"\\.\" | r"\??\");
    if platform == Platform::Windows && is_prefix {
        rest.as_str()
    } else {
        path
    }
}

/// Whether a path names a stream of a file: it has a colon that is not the drive's.
fn has_stream(platform: Platform, path: &str) -> bool {
    let path = without_prefix(platform, path);
    let mut parts = path.split(|c| platform.separates(c)).skip(1);
    platform == Platform::Windows && parts.any(|part| part.contains(':'))
}

/// Equal for paths of one file. Whose rules hold shows in the path.
fn one_spelling(path: &str) -> String {
    let platforms = [Platform::Posix, Platform::Windows].into_iter();
    let mut known = platforms.filter_map(|platform| comparable(platform, path));
    known.next().unwrap_or_else(|| path.to_owned())
}

fn member(input: &str, name: &str) -> Option<String> {
    let mut wanted = [(name, Member::Missing)];
    let is_object = json::read_members(input, &mut wanted).unwrap_or(false);
    match wanted {
        [(_, Member::Text(text))] if is_object => Some(text),
        _ => None,
    }
}

/// The folder that a pattern looks through: where it begins, or the one that it is looked for in.
fn searched(input: &str, platform: Platform) -> Option<String> {
    let folder = member(input, "path").filter(|folder| !folder.is_empty());
    let pattern = member(input, "pattern").unwrap_or_default();
    let fixed = fixed_part(&pattern, platform);
    let separates = |c| platform.separates(c);
    let has_root = fixed.starts_with(separates)
        || (platform == Platform::Windows && fixed.chars().nth(1) == Some(':'));
    match folder {
        Some(folder) if fixed.is_empty() => Some(folder),
        Some(folder) if !has_root => {
            let folder = folder.trim_end_matches(separates);
            Some(format!("{folder}{}{fixed}", platform.separator()))
        }
        _ => Some(fixed.to_owned()),
    }
}

/// What a pattern has before its first wildcard, in whole names.
fn fixed_part(pattern: &str, platform: Platform) -> &str {
    // The question mark of a prefix is no wildcard.
    let rest = without_prefix(platform, pattern);
    let prefix = pattern.len().saturating_sub(rest.len());
    let special = rest.find(['*', '?', '[', '{']);
    let Some(fixed) = special.and_then(|at| pattern.get(..prefix.saturating_add(at))) else {
        return pattern;
    };
    let end = fixed.rfind(|c| platform.separates(c));
    let end = end.map_or(0, |at| at.saturating_add(1));
    fixed.get(..end).unwrap_or_default()
}

/// The words of a command line in which paths stand. What shells make of them is not followed.
fn words(command: &str) -> impl Iterator<Item = String> {
    let mut characters = command.chars();
    std::iter::from_fn(move || {
        let mut word = String::new();
        let mut quote = None;
        loop {
            let Some(c) = characters.next() else {
                return (!word.is_empty()).then_some(word);
            };
            match (quote, c) {
                (Some(open), c) if c == open => {
                    quote = None;
                }
                (None, '"' | '\'') => quote = Some(c),
                (Some(_), ' ' | '\t') => word.push(c),
                (_, ' ' | '\t' | '\r' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')' | '=')
                | (_, ',' | '"' | '\'' | '`') => {
                    if !word.is_empty() {
                        return Some(word);
                    }
                }
                (_, c) => word.push(c),
            }
        }
    })
}
