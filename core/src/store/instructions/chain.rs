//! Puts a chain together: which of the files that were found are read, what they import, in which order they are shown,
//! and what is said about each (facts 10).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::fence::Fence;
use super::files::{Content, Files, Look, Refusal, look, not_a_file};
use super::gather::Candidate;
use crate::error::Error;
use crate::flow::{Host, Stat, join_all};
use crate::instructions::{
    Excludes, ImportTarget, InstructionFile, InstructionSource, Instructions, LoadEntry, LoadKind,
    LoadNote, LoadOutcome, ResolvedImport, RulePatterns, resolve_import,
};
use crate::limits::{IMPORT_MAX_DEPTH, IMPORTS_MAX, INSTRUCTIONS_LARGE_CHARS};
use crate::paths::Platform;
use crate::report::ReportCode;
use crate::text::list;

/// One chain while it is loaded.
#[derive(Debug)]
pub(super) struct Chain<'a> {
    pub host: &'a Host,
    pub platform: Platform,
    pub home: Option<&'a str>,
    pub excludes: Excludes,
    pub fence: Fence,
    pub files: Files,
    /// Real paths of files that are shown without being imported.
    pub allowed: HashSet<String>,
    /// The real stats of what is shown, by inode: on a disk that ignores case one file has many names.
    pub inodes: HashMap<u64, Stat>,
    /// Folders that no link leads to.
    pub folders: HashSet<String>,
    /// What is at the targets of imports.
    pub looks: HashMap<String, Look>,
    /// Why imports are not followed; none for those that are.
    pub decisions: HashMap<(String, InstructionSource), Option<Refusal>>,
    /// Real paths of what is shown, and how many imports lead to each at least.
    pub seen: HashMap<String, u32>,
    pub loaded: Instructions,
    /// The contents of the files in `loaded`.
    pub contents: Vec<Arc<Content>>,
    /// Rules that wait for a file.
    pub waiting: Vec<Candidate>,
}

/// One file on its way into the chain.
struct Want<'a> {
    path: &'a str,
    real: Option<&'a str>,
    stat: Option<&'a Stat>,
    source: InstructionSource,
    kind: LoadKind,
    parent: Option<&'a str>,
    depth: u32,
}

impl Chain<'_> {
    /// Loads the candidates and what they import; of rules that are about certain files those that are about
    /// the one that is touched.
    pub async fn load(
        &mut self,
        mut candidates: Vec<Candidate>,
        touched: Option<&str>,
    ) -> Result<(), Error> {
        for candidate in &mut candidates {
            if let Ok((real, _)) = &candidate.found {
                let real = real.clone();
                if let Some(refusal) = self.refusal(candidate, &real).await? {
                    candidate.found = Err(refusal);
                }
            }
        }
        let found = candidates
            .iter()
            .filter_map(|candidate| candidate.found.clone().ok());
        self.files.read(self.host, found.collect()).await?;
        let mut shown: Vec<(Candidate, Option<Vec<String>>)> = Vec::new();
        let mut waits: Vec<bool> = Vec::new();
        for candidate in candidates {
            let content = self.rule(&candidate);
            let globs = content
                .as_ref()
                .and_then(|content| content.parsed.paths.clone());
            let is_about = |content: Arc<Content>| match &content.patterns {
                Some(patterns) => self.touches(&candidate.base, patterns, touched),
                None => true,
            };
            waits.push(!content.is_none_or(is_about));
            shown.push((candidate, globs));
        }
        let loaded = shown.iter().zip(&waits).filter(|(_, waits)| !**waits);
        let roots = loaded.filter_map(|((candidate, _), _)| {
            Some((candidate.found.as_ref().ok()?.0.clone(), candidate.source))
        });
        let roots: Vec<(String, InstructionSource)> = roots.collect();
        // What is shown anyway needs nobody's approval.
        self.allowed
            .extend(roots.iter().map(|(real, _)| real.clone()));
        self.fetch_imports(roots).await?;
        for ((candidate, globs), waits) in shown.into_iter().zip(waits) {
            if waits {
                self.wait(candidate, globs.unwrap_or_default());
            } else {
                self.put_candidate(&candidate, globs);
            }
        }
        Ok(())
    }

    /// Puts a text in that is no file.
    pub fn put_settings(&mut self, path: &str, text: &str) {
        let content = Arc::new(Content::new(text, true));
        let want = Want {
            path,
            real: None,
            stat: None,
            source: InstructionSource::Managed,
            kind: LoadKind::Settings,
            parent: None,
            depth: 0,
        };
        self.show(&want, &content, None);
    }

    /// Why a file that was found is not read.
    async fn refusal(
        &mut self,
        candidate: &Candidate,
        real: &str,
    ) -> Result<Option<Refusal>, Error> {
        let Candidate {
            path, source, base, ..
        } = candidate;
        if *source == InstructionSource::Managed {
            return Ok(None);
        }
        if self.is_excluded(path, real) {
            return Ok(Some(excluded()));
        }
        let is_of_project = matches!(
            source,
            InstructionSource::Project | InstructionSource::Local
        );
        if !is_of_project || path == real || self.platform.below(real, base).is_some() {
            return Ok(None);
        }
        self.fence.refusal(self.host, real, path, "is a link").await
    }

    fn is_excluded(&self, path: &str, real: &str) -> bool {
        let paths = [path.to_owned(), real.to_owned()];
        !self.excludes.is_empty() && self.excludes.exclude(&paths)
    }

    /// What a rule says.
    fn rule(&self, candidate: &Candidate) -> Option<Arc<Content>> {
        let (real, _) = candidate.found.as_ref().ok()?;
        let content = (candidate.kind == LoadKind::Rule).then(|| self.files.content(real));
        content?.ok()
    }

    /// Whether the file that is touched is one that a rule is about.
    fn touches(&self, base: &str, patterns: &RulePatterns, touched: Option<&str>) -> bool {
        // Without a working directory a user's rules are relative to nothing.
        let touched = touched.filter(|_| !base.is_empty());
        let below = touched.and_then(|path| self.platform.below(path, base));
        below.is_some_and(|below| patterns.applies(&below.replace(self.platform.separator(), "/")))
    }

    /// Looks at and reads everything that files import, and what that imports.
    async fn fetch_imports(
        &mut self,
        roots: Vec<(String, InstructionSource)>,
    ) -> Result<(), Error> {
        let mut done: HashSet<(String, InstructionSource)> = HashSet::new();
        let mut level = roots;
        for _ in 0..IMPORT_MAX_DEPTH {
            let mut targets: Vec<(ResolvedImport, String, InstructionSource)> = Vec::new();
            for (file, source) in level {
                self.folders.extend(self.platform.parent(&file));
                if !done.insert((file.clone(), source)) {
                    continue;
                }
                let Ok(content) = self.files.content(&file) else {
                    continue;
                };
                for import in &content.parsed.imports {
                    if let Some(target) = self.resolve(import, &file) {
                        targets.push((target, file.clone(), source));
                    }
                }
            }
            let unknown: Vec<String> = {
                let mut new = HashSet::new();
                let paths = targets.iter().map(|(target, ..)| &target.path);
                paths
                    .filter(|path| !self.looks.contains_key(*path) && new.insert(*path))
                    .cloned()
                    .collect()
            };
            let looks = join_all(unknown.iter().map(|path| {
                let folder = self.platform.parent(path).unwrap_or_default();
                // What excludes a file compares with the name that it really has.
                let is_plain = self.folders.contains(&folder) && self.excludes.is_empty();
                look(self.host, path, is_plain.then(|| path.clone()))
            }))
            .await;
            self.host.stop_if_cancelled()?;
            for (path, look) in unknown.into_iter().zip(looks) {
                self.looks.insert(path, look);
            }
            let mut found: Vec<(String, Stat)> = Vec::new();
            level = Vec::new();
            for (ResolvedImport { path, is_text }, parent, source) in targets {
                let Some(Look::File { real, stat }) = self.looks.get(&path).cloned() else {
                    continue;
                };
                if !is_text {
                    continue;
                }
                let key = (path.clone(), source);
                let is_users = self.decisions.get(&(path.clone(), InstructionSource::User));
                if self.allowed.contains(&real) || is_users == Some(&None) {
                    self.decisions.entry(key).or_default();
                } else if !self.decisions.contains_key(&key) {
                    let refusal = self.import_refusal(&path, &real, source, &parent).await?;
                    self.decisions.insert(key.clone(), refusal);
                }
                if self.decided(&path, source).is_some() {
                    continue;
                }
                found.push((real.clone(), stat));
                level.push((real, source));
            }
            self.files.read(self.host, found).await?;
        }
        Ok(())
    }

    fn resolve(&self, import: &ImportTarget, file: &str) -> Option<ResolvedImport> {
        resolve_import(&import.target, file, self.home, self.platform)
    }

    /// Why an import is not followed, as it was decided before.
    fn decided(&self, path: &str, source: InstructionSource) -> Option<Refusal> {
        let decision = self.decisions.get(&(path.to_owned(), source));
        decision.cloned().flatten()
    }

    async fn import_refusal(
        &mut self,
        path: &str,
        real: &str,
        source: InstructionSource,
        parent: &str,
    ) -> Result<Option<Refusal>, Error> {
        match source {
            InstructionSource::Managed | InstructionSource::Memory | InstructionSource::Team => {
                Ok(None)
            }
            _ if self.is_excluded(path, real) => Ok(Some(excluded())),
            // Where the user's own imports lead is their wish.
            InstructionSource::User => Ok(None),
            InstructionSource::Project | InstructionSource::Local => {
                self.fence.refusal(self.host, real, parent, "leads").await
            }
        }
    }

    fn put_candidate(&mut self, candidate: &Candidate, globs: Option<Vec<String>>) {
        let Candidate {
            path,
            source,
            kind,
            found,
            ..
        } = candidate;
        let (real, stat) = match found {
            Ok((real, stat)) => (Some(real.as_str()), Some(stat)),
            Err(_) => (None, None),
        };
        let want = Want {
            path,
            real,
            stat,
            source: *source,
            kind: *kind,
            parent: None,
            depth: 0,
        };
        match found {
            Ok((real, _)) => self.put(&want, real, globs),
            Err(refusal) => self.skip(&want, refusal.clone()),
        }
    }

    /// Shows a file, and then what it imports.
    fn put(&mut self, want: &Want<'_>, real: &str, globs: Option<Vec<String>>) {
        let content = match self.files.content(real) {
            Ok(content) => content,
            Err(refusal) => return self.skip(want, refusal),
        };
        let key = comparable(self.platform, real);
        let nearest = self
            .seen
            .get(&key)
            .copied()
            .or_else(|| self.other_name(want));
        if nearest.is_none_or(|depth| want.depth < depth) {
            self.seen.insert(key, want.depth);
        }
        match nearest {
            None => self.show(want, &content, globs),
            Some(depth) => {
                self.skip(want, already_loaded());
                // From here more of what it imports may be near enough.
                if want.depth < depth {
                    self.put_imports(want, &content);
                }
            }
        }
    }

    /// Whether a file is shown under another name: how many imports lead to it.
    fn other_name(&mut self, want: &Want<'_>) -> Option<u32> {
        let stat = want.stat?;
        match self.inodes.insert(stat.inode?, stat.clone()) {
            Some(known) if known == *stat => Some(0),
            _ => None,
        }
    }

    fn show(&mut self, want: &Want<'_>, content: &Arc<Content>, globs: Option<Vec<String>>) {
        self.loaded.files.push(InstructionFile {
            path: want.path.to_owned(),
            source: want.source,
            kind: want.kind,
            text: content.parsed.text.clone(),
            parent: want.parent.map(str::to_owned),
            globs: globs.clone(),
            differs: content.differs,
        });
        self.contents.push(content.clone());
        self.loaded.report.push(LoadEntry {
            outcome: LoadOutcome::Loaded,
            bytes: Some(content.bytes),
            lines: Some(content.lines),
            globs,
            notes: notes(content),
            ..entry(want)
        });
        self.put_imports(want, content);
    }

    fn put_imports(&mut self, want: &Want<'_>, content: &Content) {
        // A text in settings is no file that others could stand beside.
        let Some(real) = want.real else { return };
        for import in &content.parsed.imports {
            self.put_import(import, real, want);
        }
    }

    fn put_import(&mut self, import: &ImportTarget, real: &str, importing: &Want<'_>) {
        let Some(ResolvedImport { path, is_text }) = self.resolve(import, real) else {
            if import.certain {
                let want = Want {
                    path: &import.target,
                    real: None,
                    stat: None,
                    kind: LoadKind::Import,
                    parent: Some(importing.path),
                    depth: importing.depth.saturating_add(1),
                    source: importing.source,
                };
                self.skip(&want, unresolved());
            }
            return;
        };
        let look = self.looks.get(&path).cloned();
        let (found, stat) = match &look {
            Some(Look::File { real, stat }) => (Some(real.as_str()), Some(stat)),
            _ => (None, None),
        };
        let want = Want {
            path: &path,
            real: found,
            stat,
            kind: LoadKind::Import,
            parent: Some(importing.path),
            depth: importing.depth.saturating_add(1),
            source: importing.source,
        };
        if want.depth > IMPORT_MAX_DEPTH {
            if import.certain {
                self.skip(&want, too_deep());
            }
            return;
        }
        match &look {
            // What may be a name is an import only where there is such a file.
            None | Some(Look::Missing | Look::Folder { .. } | Look::Refused(_))
                if !import.certain => {}
            None | Some(Look::Missing) => self.skip(&want, missing()),
            Some(Look::Folder { .. }) => self.skip(&want, not_a_file()),
            Some(Look::Refused(refusal)) => self.skip(&want, refusal.clone()),
            Some(Look::File { .. }) if !is_text => self.skip(&want, not_text()),
            Some(Look::File { real, .. }) => match self.decided(&path, importing.source) {
                Some(refusal) => self.skip(&want, refusal),
                None => self.put(&want, real, None),
            },
        }
    }

    fn skip(&mut self, want: &Want<'_>, (code, message): Refusal) {
        self.loaded.report.push(LoadEntry {
            outcome: LoadOutcome::Skipped,
            code: Some(code),
            message: Some(message),
            ..entry(want)
        });
    }

    /// Says that a rule waits for a file.
    fn wait(&mut self, candidate: Candidate, globs: Vec<String>) {
        let content = self.rule(&candidate);
        let want = Want {
            path: &candidate.path,
            real: None,
            stat: candidate.found.as_ref().ok().map(|(_, stat)| stat),
            source: candidate.source,
            kind: candidate.kind,
            parent: None,
            depth: 0,
        };
        self.loaded.report.push(LoadEntry {
            outcome: LoadOutcome::Conditional,
            lines: content.as_ref().map(|content| content.lines),
            notes: content.as_deref().map(notes).unwrap_or_default(),
            globs: Some(globs),
            ..entry(&want)
        });
        self.waiting.push(candidate);
    }
}

/// What an entry has of every file.
fn entry(want: &Want<'_>) -> LoadEntry {
    LoadEntry {
        path: want.path.to_owned(),
        source: want.source,
        kind: want.kind,
        outcome: LoadOutcome::Skipped,
        code: None,
        message: None,
        parent: want.parent.map(str::to_owned),
        depth: want.depth,
        bytes: want.stat.map(|stat| stat.size),
        lines: None,
        globs: None,
        notes: Vec::new(),
    }
}

/// Names of one file are one on Windows however they are spelled.
pub(super) fn comparable(platform: Platform, path: &str) -> String {
    match platform {
        Platform::Posix => path.to_owned(),
        Platform::Windows => path.to_lowercase(),
    }
}

fn notes(content: &Content) -> Vec<LoadNote> {
    let mut notes: Vec<LoadNote> = Vec::new();
    let mut note = |code, message: &str| {
        notes.push(LoadNote {
            code,
            message: message.to_owned(),
        });
    };
    for code in &content.parsed.problems {
        let message = match code {
            ReportCode::FrontmatterUnclosed => {
                "the front matter has no closing --- and counts as text; close it"
            }
            ReportCode::FrontmatterInvalid => {
                "the front matter is not valid YAML and counts as text; mend it"
            }
            ReportCode::FrontmatterRepaired => {
                "the front matter is not valid YAML and was read with its values quoted; quote them in the file"
            }
            ReportCode::FrontmatterNotAMap => {
                "the front matter is no list of keys and counts as text; write lines of key: value"
            }
            ReportCode::PathsIgnored => {
                "something in paths is no text and does not count; write patterns, in quotes where needed"
            }
            ReportCode::CommentUnclosed => "a comment is not closed and is shown; end it with -->",
            _ => "something is wrong with it",
        };
        note(*code, message);
    }
    if let Some(patterns) = &content.patterns
        && !patterns.useless.is_empty()
    {
        let message = format!(
            "patterns that can match nothing: {}; close their brackets, or write fewer alternatives",
            list(&patterns.useless)
        );
        note(ReportCode::PatternUseless, &message);
    }
    if content.imports_over {
        let message = format!("only its first {IMPORTS_MAX} imports are followed");
        note(ReportCode::ImportsOverLimit, &message);
    }
    if content.parsed.text.is_empty() {
        note(ReportCode::Empty, "nothing in it is shown");
    }
    if content.is_hiding {
        note(
            ReportCode::HiddenCharacters,
            "characters that nobody sees were left out; look at what they say, and remove them",
        );
    }
    if content.parsed.text.len() > INSTRUCTIONS_LARGE_CHARS
        && content.parsed.text.chars().count() > INSTRUCTIONS_LARGE_CHARS
    {
        let message = format!(
            "it has more than {INSTRUCTIONS_LARGE_CHARS} characters, all of which are shown every time; shorten it, or make rules of it"
        );
        note(ReportCode::InstructionsLarge, &message);
    }
    notes
}

fn excluded() -> Refusal {
    let message = "a pattern of the settings or of the caller excludes it";
    (ReportCode::Excluded, message.to_owned())
}

fn already_loaded() -> Refusal {
    let message = "the same file is there already; it is shown once";
    (ReportCode::AlreadyLoaded, message.to_owned())
}

fn missing() -> Refusal {
    let message =
        "there is no such file; correct the import, or put it in code marks when it is none";
    (ReportCode::ImportMissing, message.to_owned())
}

fn unresolved() -> Refusal {
    let message = "it names no file on this machine";
    (ReportCode::ImportMissing, message.to_owned())
}

fn too_deep() -> Refusal {
    let message =
        format!("more than {IMPORT_MAX_DEPTH} imports lead to it; import it from a nearer file");
    (ReportCode::ImportTooDeep, message)
}

fn not_text() -> Refusal {
    let message = "its name is that of no text, so it is not read";
    (ReportCode::NotTextType, message.to_owned())
}
