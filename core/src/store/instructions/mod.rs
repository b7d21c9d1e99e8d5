//! The instructions of a project as an operation of a store (document 001 §2, facts 10): the chain, what comes with a
//! file, and everything that an agent starts with.

mod chain;
mod fence;
mod files;
mod gather;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use self::chain::{Chain, comparable};
use self::fence::Fence;
use self::files::{Content, Files, Library};
use self::gather::gather;
use super::find::{self, Basis};
use super::{Found, OpenOptions, Store};
use crate::error::{Error, ErrorCode};
use crate::flow::{Event, Flow, Host, join, join_all};
use crate::instructions::{
    Context, ContextKind, ContextPart, Excludes, InstructionSource, Instructions,
    InstructionsOptions, LoadEntry, LoadKind, LoadOutcome, PlacesQuestion, render,
};
use crate::limits::PROMPTS_REMEMBERED;
use crate::paths::{Platform, config_home};
use crate::report::ReportCode;
use crate::text::{one_line, quoted, wire_name};

/// What a store remembers of chains.
#[derive(Debug, Default)]
pub(super) struct Chains {
    /// What was read.
    library: Arc<Library>,
    /// What listeners were told of, by path.
    told: HashMap<String, Arc<Content>>,
    /// What a person has said about files outside of the working tree.
    approvals: HashMap<String, bool>,
    /// What a working directory says, where a memory folder was given that belongs to no project.
    basis: Option<Arc<Basis>>,
    /// Computed once per options.
    contexts: Vec<(InstructionsOptions, Context)>,
    /// Whether a conversation was compacted since the chain was loaded.
    was_compacted: bool,
}

impl Chains {
    /// What is left when a conversation was compacted: what a person has said.
    pub fn compacted(&mut self) -> Self {
        Self {
            approvals: std::mem::take(&mut self.approvals),
            was_compacted: true,
            ..Self::default()
        }
    }
}

impl Store {
    /// The instructions that people have written for an agent in this project, from the broadest to the nearest, and what
    /// became of every file that was considered. Files that have not changed since are not read again. Never
    /// writes. A file that cannot be loaded is said in the report and costs no other.
    ///
    /// The flow fails with `invalid-argument` for a path that is not absolute, or what opening gave.
    #[must_use]
    pub fn instructions(&self, options: InstructionsOptions) -> Flow<Instructions> {
        self.flow(|store, host| async move { store.instructions_in(&host, &options, None).await })
    }

    /// What becomes relevant when a file is touched, beside the chain: the rules that are about it, and the
    /// instructions of the folders between the working directory and it. `path` is absolute or relative to
    /// the working directory, and need not be there. Fails as [`Self::instructions`] does.
    #[must_use]
    pub fn instructions_for(
        &self,
        path: String,
        options: InstructionsOptions,
    ) -> Flow<Instructions> {
        self.flow(
            |store, host| async move { store.instructions_in(&host, &options, Some(&path)).await },
        )
    }

    /// Everything that an agent should start with: the instructions, how its memory works, and the indexes of the
    /// private and the team's memory. Computed once per options and the same to the byte until
    /// [`Self::compacted`]; the memory folder is created if it is missing, as [`Self::prompt`] does. Fails as
    /// [`Self::instructions`] does.
    #[must_use]
    pub fn context(&self, options: InstructionsOptions) -> Flow<Context> {
        self.flow(|store, host| async move { store.context_in(&host, options).await })
    }

    pub(crate) async fn instructions_in(
        &self,
        host: &Host,
        options: &InstructionsOptions,
        path: Option<&str>,
    ) -> Result<Instructions, Error> {
        let generation = self.state().generation;
        let found = self.found(host).await?;
        let platform = found.platform;
        let options = normalised(options, platform)?;
        let options = &options;
        let open = &self.shared.options;
        let cwd = open.cwd.as_deref().filter(|cwd| platform.is_absolute(cwd));
        let cwd = cwd.map(|cwd| platform.normalise(cwd));
        let path = path.map(|path| absolute(platform, cwd.as_deref(), path));
        let path = path.transpose()?;
        if self.hides_memory() {
            return Ok(Instructions::default());
        }
        let basis = self.basis(host, &found).await?;
        let named = question(open, &found, &basis, options, cwd);
        // A name in the working tree stands for itself only, as the project turns its links where it likes.
        let trees = [&named.checkout, &named.cwd].into_iter().flatten();
        let trees: Vec<String> = trees.chain(&named.additional).cloned().collect();
        let lies_in = |path: &String| {
            trees
                .iter()
                .any(|tree| platform.below(path, tree).is_some())
        };
        let (own, outside): (Vec<String>, Vec<String>) =
            options.approved.iter().cloned().partition(lies_in);
        let home = open
            .home
            .as_deref()
            .filter(|home| platform.is_absolute(home));
        let touched = async {
            match &path {
                Some(path) => {
                    let real = find::real_place(host, platform, path).await;
                    Some(real.unwrap_or_else(|_| path.clone()))
                }
                None => None,
            }
        };
        // Folders have one name each from here on, however links lead to them.
        let ((now, question), (approved, (shown, touched))) = join(
            join(host.now(), resolved(host, named)),
            join(
                both(host, outside),
                join(both(host, options.loaded.clone()), touched),
            ),
        )
        .await;
        host.stop_if_cancelled()?;
        let approved = approved.into_iter().chain(own).collect();
        let cwd = question.cwd.as_deref();
        let roots = question.checkout.as_deref().or(cwd).map(str::to_owned);
        let roots = roots
            .into_iter()
            .chain(question.additional.clone())
            .collect();
        let (library, approvals) = {
            let state = self.state();
            let Chains {
                library, approvals, ..
            } = &state.instructions;
            (Library::clone(library), approvals.clone())
        };
        let mut fence = Fence {
            platform,
            roots,
            approved,
            approvals,
        };
        let candidates = gather(host, &question, &mut fence).await?;
        let excludes = basis.excludes.iter().chain(&options.excludes);
        let excludes: Vec<String> = excludes.cloned().collect();
        let mut chain = Chain {
            host,
            platform,
            home,
            excludes: Excludes::new(&excludes, platform),
            fence,
            files: Files::new(platform, library, now.map_or(0, |now| now.ms)),
            allowed: HashSet::new(),
            inodes: HashMap::new(),
            folders: HashSet::new(),
            looks: HashMap::new(),
            decisions: HashMap::new(),
            seen: shown
                .iter()
                .map(|path| (comparable(platform, path), 0))
                .collect(),
            loaded: Instructions::default(),
            contents: Vec::new(),
            waiting: Vec::new(),
        };
        let administrators = candidates
            .iter()
            .take_while(|candidate| candidate.source == InstructionSource::Managed)
            .count();
        let mut managed = candidates;
        let others = managed.split_off(administrators);
        chain.load(managed, None).await?;
        if let Some((path, text)) = &basis.managed {
            chain.put_settings(path, text);
        }
        chain.load(others, None).await?;
        if let Some(touched) = &touched {
            // The chain itself is there already; a rule that could not be loaded may be about the file.
            let report = std::mem::take(&mut chain.loaded.report).into_iter();
            chain.loaded = Instructions {
                report: report.filter(may_be_about).collect(),
                ..Instructions::default()
            };
            chain.contents = Vec::new();
            let nested = gather(host, &question.nested(touched), &mut chain.fence).await?;
            let mut candidates = std::mem::take(&mut chain.waiting);
            candidates.extend(nested);
            chain.load(candidates, Some(touched)).await?;
        }
        let Chain {
            files,
            fence,
            mut loaded,
            contents,
            ..
        } = chain;
        // Another way was near enough.
        let is_shown = |path: &str| loaded.files.iter().any(|file| file.path == path);
        let is_far = |entry: &LoadEntry| entry.code == Some(ReportCode::ImportTooDeep);
        let mut report = std::mem::take(&mut loaded.report);
        report.retain(|entry| !(is_far(entry) && is_shown(&entry.path)));
        loaded.report = report;
        loaded.text = render(&loaded.files);
        let mut state = self.state();
        if state.generation == generation {
            let chains = &mut state.instructions;
            chains.library = Arc::new(files.into_library());
            chains.approvals.extend(fence.approvals);
            let was_compacted = touched.is_none() && std::mem::take(&mut chains.was_compacted);
            let events = told(
                &mut chains.told,
                &loaded,
                contents,
                touched.is_some(),
                was_compacted,
            );
            drop(state);
            events.into_iter().for_each(|event| host.emit(event));
        }
        Ok(loaded)
    }

    /// The root of the working tree; none without one.
    pub(crate) async fn checkout_in(&self, host: &Host) -> Result<Option<String>, Error> {
        let found = self.found(host).await?;
        let basis = self.basis(host, &found).await?;
        Ok(basis.root.as_ref().map(|root| root.checkout.clone()))
    }

    /// What a project says of instructions.
    async fn basis(&self, host: &Host, found: &Found) -> Result<Arc<Basis>, Error> {
        let open = &self.shared.options;
        if found.basis.root.is_some() || open.cwd.is_none() {
            return Ok(found.basis.clone());
        }
        let (generation, known) = {
            let state = self.state();
            (state.generation, state.instructions.basis.clone())
        };
        if let Some(basis) = known {
            return Ok(basis);
        }
        let basis = Arc::new(find::basis(open, host, found.platform).await?);
        let mut state = self.state();
        if state.generation == generation {
            state.instructions.basis = Some(basis.clone());
        }
        Ok(basis)
    }

    pub(crate) async fn context_in(
        &self,
        host: &Host,
        options: InstructionsOptions,
    ) -> Result<Context, Error> {
        let generation = self.state().generation;
        let known = |state: &super::State| {
            let mut contexts = state.instructions.contexts.iter();
            Some(contexts.find(|(known, _)| *known == options)?.1.clone())
        };
        self.check_open()?;
        if let Some(context) = known(&self.state()) {
            return Ok(context);
        }
        let Instructions { text, report, .. } = self.instructions_in(host, &options, None).await?;
        let mut context = Context {
            report,
            ..Context::default()
        };
        context.put(ContextKind::Instructions, text);
        self.memory_in(host, &mut context).await?;
        let texts = context.parts.iter().map(|part| part.text.as_str());
        context.text = texts.collect::<Vec<_>>().join("\n\n");
        let mut state = self.state();
        if state.generation == generation {
            // Two flows may have computed it; the first one's stays.
            if let Some(context) = known(&state) {
                return Ok(context);
            }
            let contexts = &mut state.instructions.contexts;
            if contexts.len() >= PROMPTS_REMEMBERED {
                contexts.remove(0);
            }
            contexts.push((options, context.clone()));
        }
        Ok(context)
    }
}

impl Context {
    /// Adds a part, unless there is nothing in it.
    pub(super) fn put(&mut self, kind: ContextKind, text: String) {
        if !text.is_empty() {
            self.parts.push(ContextPart { kind, text });
        }
    }
}

/// The options with every path in the form that paths are compared in.
fn normalised(
    options: &InstructionsOptions,
    platform: Platform,
) -> Result<InstructionsOptions, Error> {
    let all = |paths: &[String], name: &str| {
        let paths = paths.iter().map(|path| {
            if platform.is_absolute(path) {
                return Ok(platform.normalise(path));
            }
            let message = format!("{} in {name} is not absolute", quoted(path));
            Err(Error::new(ErrorCode::InvalidArgument, message))
        });
        paths.collect::<Result<Vec<String>, Error>>()
    };
    Ok(InstructionsOptions {
        additional_directories: all(&options.additional_directories, "additionalDirectories")?,
        approved: all(&options.approved, "approved")?,
        loaded: all(&options.loaded, "loaded")?,
        ..options.clone()
    })
}

/// The file that a caller names.
fn absolute(platform: Platform, cwd: Option<&str>, path: &str) -> Result<String, Error> {
    match cwd {
        _ if platform.is_absolute(path) => Ok(platform.normalise(path)),
        Some(cwd) if !path.is_empty() => Ok(platform.normalise(&platform.join(cwd, path))),
        _ => {
            let message = format!(
                "{} names no file; give an absolute path, or one relative to the cwd of the store",
                quoted(path)
            );
            Err(Error::new(ErrorCode::InvalidArgument, message))
        }
    }
}

fn may_be_about(entry: &LoadEntry) -> bool {
    entry.kind == LoadKind::Rule
        && entry.outcome == LoadOutcome::Skipped
        && entry.code != Some(ReportCode::AlreadyLoaded)
}

fn question(
    open: &OpenOptions,
    found: &Found,
    basis: &Basis,
    options: &InstructionsOptions,
    cwd: Option<String>,
) -> PlacesQuestion {
    let platform = found.platform;
    let home = open.home.as_deref();
    let config_home = config_home(platform, home, &open.env).ok();
    let root = basis.root.as_ref();
    PlacesQuestion {
        platform,
        cwd,
        // A relative one would depend on where the agent was started, and so on the repository.
        config_home: config_home.filter(|folder| platform.is_absolute(folder)),
        managed: find::managed_folders(platform)
            .iter()
            .map(|folder| (*folder).to_owned())
            .collect(),
        checkout: root.map(|root| root.checkout.clone()),
        canonical: root.map(|root| root.canonical.clone()),
        additional: options.additional_directories.clone(),
        agents_md: options.agents_md,
        user: options.user,
        project: options.project,
        local: options.local,
    }
}

/// A question with the links in its folders resolved; what is not there keeps its name.
async fn resolved(host: &Host, question: PlacesQuestion) -> PlacesQuestion {
    let PlacesQuestion {
        platform,
        cwd: named,
        config_home,
        checkout,
        canonical,
        additional,
        ..
    } = question.clone();
    let one = |folder: Option<String>| async move {
        match folder {
            Some(folder) => Some(host.real_path(&folder).await.unwrap_or(folder)),
            None => None,
        }
    };
    let (cwd, config_home) = join(one(named.clone()), one(config_home)).await;
    // Where no link leads to the working directory, none leads to a folder above it.
    let plain = named.filter(|named| cwd.as_ref() == Some(named));
    let above = |folder: Option<String>| async {
        match (&plain, &folder) {
            (Some(cwd), Some(top)) if platform.below(cwd, top).is_some() => folder,
            _ => one(folder).await,
        }
    };
    let (roots, additional) = join(
        join(above(checkout), above(canonical)),
        join_all(additional.into_iter().map(|folder| one(Some(folder)))),
    )
    .await;
    let (checkout, canonical) = roots;
    PlacesQuestion {
        cwd,
        config_home,
        checkout,
        canonical,
        additional: additional.into_iter().flatten().collect(),
        ..question
    }
}

/// Paths as they are named, and then with links resolved.
async fn both(host: &Host, mut paths: Vec<String>) -> Vec<String> {
    let real = join_all(paths.iter().map(|path| host.real_path(path))).await;
    paths.extend(real.into_iter().flatten());
    paths
}

/// The events for what listeners were not told of yet, or has changed since; why each was loaded stands in the code
/// (facts 10.4).
fn told(
    known: &mut HashMap<String, Arc<Content>>,
    loaded: &Instructions,
    contents: Vec<Arc<Content>>,
    is_touched: bool,
    was_compacted: bool,
) -> Vec<Event> {
    let mut events = Vec::new();
    for (file, content) in loaded.files.iter().zip(contents) {
        let before = known.insert(file.path.clone(), content.clone());
        if before.is_some_and(|before| before == content) {
            continue;
        }
        let reason = match (&file.parent, &file.globs) {
            (Some(_), _) => "include",
            (None, Some(_)) => "path-glob-match",
            (None, None) if is_touched => "nested-traversal",
            (None, None) if was_compacted => "compact",
            (None, None) => "session-start",
        };
        let by = file
            .parent
            .as_ref()
            .map(|parent| format!(", imported by {parent}"));
        events.push(Event {
            kind: "instructions".to_owned(),
            path: Some(file.path.clone()),
            code: Some(reason.to_owned()),
            message: one_line(&format!(
                "{} instructions were loaded{}",
                wire_name(&file.source),
                by.unwrap_or_default()
            )),
        });
    }
    events
}
