//! Finds the store of a project: reads the settings, goes through the switches, chooses the
//! directory, and says why (facts 1 and 2).

use std::sync::Arc;

use icu_normalizer::ComposingNormalizerBorrowed;
use serde::Serialize;

use super::{OpenOptions, own};
use crate::agents::{
    AgentOptions, AgentScope, agent_folder_name, hashed_folder_name, shared_folder_name,
};
use crate::error::{Error, ErrorCode};
use crate::flow::{Failure, FailureCode, Host, join_all};
use crate::limits::{CLAUDE_FOLDER_MAX_PARENTS, PROJECTS_FOLDER, SETTINGS_MAX_BYTES, STORE_FOLDER};
use crate::model::Model;
use crate::paths::git::{ProjectRoot, project_root};
use crate::paths::{
    Choice, DirectoryQuestion, Enabled, EnabledBecause, InstructionSettings, MemoryPlaces,
    PerSource, Platform, Refused, Settings, SettingsProblemCode, Source, choose_directory,
    config_home, injective_key, key_of, memory_enabled, parse_instruction_settings, parse_settings,
    validate_memory_path, variable,
};
use crate::report::{ReportCode, ReportEntry};
use crate::text::quoted;

/// What opening a store found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Opened {
    /// The memory folder: absolute, normalised, with one trailing separator.
    pub directory: String,
    /// Whether memory is on. When it is off, nothing is read, written or created.
    pub enabled: bool,
    /// What decided whether it is on.
    pub because: EnabledBecause,
    /// What named the directory.
    pub chosen_by: Source,
    /// The settings file that did, if one did.
    pub chosen_file: Option<String>,
    /// The project's folder name, when the default place was taken.
    pub project_key: Option<String>,
    /// The root of the project; null when a directory was given.
    pub project_root: Option<String>,
    /// What named a directory and was not followed.
    pub refused: Vec<Refused>,
    /// What tells paths and calls of tools that concern memory from others.
    pub places: MemoryPlaces,
    /// What was wrong on the way: settings files that cannot be read, a colliding slug.
    pub report: Vec<ReportEntry>,
}

/// A store that was found, with what only the core needs.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub opened: Opened,
    pub platform: Platform,
    /// Where the transcripts of the working directory are, also when the directory of the store was given; none without
    /// a working directory.
    pub transcripts: Option<String>,
    /// What settings say of dreaming; none when they say nothing.
    pub dream: Option<bool>,
    /// What recall asks.
    pub model: Option<Model>,
    /// Whose memory it is, if it is an agent's.
    pub agent: Option<AgentOptions>,
    pub basis: Arc<Basis>,
    /// The folder of the project, which the store may not leave if it came with it.
    within: Option<String>,
}

impl Found {
    /// Whether others than the user may have written it: it came with the repository.
    pub fn is_shared(&self) -> bool {
        self.agent
            .as_ref()
            .is_some_and(|agent| agent.scope.is_shared())
    }

    /// Whether whoever gets the project's files gets it too.
    pub fn is_with_project(&self) -> bool {
        let scope = self.agent.as_ref().map(|agent| agent.scope);
        scope == Some(AgentScope::Project)
    }

    /// Refuses a store of a project that links have led out of it since it was found: a repository can
    /// bring them along whenever it changes.
    ///
    /// # Errors
    /// `link-outside`, or why it cannot be told.
    pub async fn check_place(&self, host: &Host) -> Result<(), Error> {
        match &self.within {
            Some(project) if self.opened.enabled => {
                stay_within(host, self.platform, project, &self.opened.directory).await
            }
            _ => Ok(()),
        }
    }
}

/// What instructions are found by, beside what the caller says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Basis {
    /// The working tree; none without a working directory, or where a memory folder was given.
    pub root: Option<ProjectRoot>,
    /// The administrator's text, and the settings file that it stands in.
    pub managed: Option<(String, String)>,
    /// Globs of files that are not read.
    pub excludes: Vec<String>,
}

impl Basis {
    fn new(root: Option<ProjectRoot>, files: &PerSource<File>) -> Self {
        let PerSource {
            policy,
            flag,
            local,
            project,
            user,
        } = files;
        let managed = policy.as_ref().and_then(|file| {
            let text = file.instructions.text.clone()?;
            Some((file.path.clone().unwrap_or_default(), text))
        });
        let layers = [user, project, local, flag];
        let excludes = layers.into_iter().flatten();
        let excludes = excludes.flat_map(|file| file.instructions.excludes.clone());
        Self {
            root,
            managed,
            excludes: excludes.collect(),
        }
    }
}

/// The same of the project that `cwd` lies in, also where a memory folder was given.
pub(super) async fn basis(
    options: &OpenOptions,
    host: &Host,
    platform: Platform,
) -> Result<Basis, Error> {
    let home = options.home.as_deref();
    let root = match options.cwd.as_deref() {
        Some(cwd) if platform.is_absolute(cwd) => Some(project_root(host, platform, cwd).await?),
        _ => None,
    };
    let mut report = Vec::new();
    let files = read_settings(options, host, platform, home, root.as_ref(), &mut report).await?;
    Ok(Basis::new(root, &files))
}

/// One place for settings, as read.
struct File {
    path: Option<String>,
    settings: Settings,
    instructions: InstructionSettings,
}

/// Whose path rules hold.
pub(super) async fn platform(options: &OpenOptions, host: &Host) -> Result<Platform, Error> {
    if let Some(platform) = options.platform {
        return Ok(platform);
    }
    let info = host.host_info().await.map_err(|failure| {
        Error::from_failure(&failure, "asking for", "the platform of this host")
    })?;
    Ok(info.platform)
}

pub(super) async fn find(options: &OpenOptions, host: &Host) -> Result<Found, Error> {
    let platform = platform(options, host).await?;
    let home = options
        .home
        .as_deref()
        .filter(|home| platform.is_absolute(home));
    let mut report = Vec::new();
    // A directory that is given belongs to no project, so only its reader's own settings count.
    let named = options
        .directory
        .as_ref()
        .filter(|_| options.agent.is_none());
    let root = match (named, options.cwd.as_deref()) {
        (None, Some(cwd)) if platform.is_absolute(cwd) => {
            Some(project_root(host, platform, cwd).await?)
        }
        _ => None,
    };
    for doubt in root.iter().flat_map(|root| &root.doubts) {
        report.push(ReportEntry::new("", ReportCode::Unreadable, doubt.clone()));
    }
    let files = read_settings(options, host, platform, home, root.as_ref(), &mut report).await?;
    let enabled = memory_enabled(
        &options.env,
        &files.and_then(|file| file.settings.auto_memory_enabled),
    );

    let dream = files.and_then(|file| file.settings.auto_dream_enabled);
    let settings = files.and_then(|file| file.settings.auto_memory_directory.clone());
    let chosen = match &options.agent {
        Some(agent) => agent_choice(options, agent, host, platform, home, root.as_ref()).await,
        None => choose(options, platform, home, root.as_ref(), settings).map(|it| (it, None)),
    };
    let (choice, within) = match chosen {
        Ok(chosen) => chosen,
        // Off is off: it needs no place, and a bad one is no reason to fail.
        Err(error) if !enabled.enabled => {
            report.push(ReportEntry::new(
                "",
                ReportCode::DirectoryRefused,
                error.message,
            ));
            let nowhere = Choice {
                directory: String::new(),
                chosen_by: Source::Default,
                project_key: None,
                refused: Vec::new(),
            };
            (nowhere, None)
        }
        Err(error) => return Err(error),
    };
    let chosen_file = file_of(choice.chosen_by, &files);
    let transcripts = transcripts(options, platform, home);
    let model = options
        .model
        .as_ref()
        .map(|model| Model::new(model, &options.env))
        .transpose()?;
    let holder = match (&root, options.cwd.as_deref()) {
        (Some(root), Some(cwd)) if enabled.enabled => {
            Some(claude_folder(host, platform, cwd, &root.checkout).await?)
        }
        _ => None,
    };
    let places = places(
        options,
        platform,
        home,
        (root.as_ref(), holder),
        &enabled,
        &choice,
    );
    let mut found = Found {
        model,
        opened: opened(choice, enabled, root.as_ref(), chosen_file, places, report),
        platform,
        transcripts,
        dream: dream.deciding(),
        agent: options.agent.clone(),
        basis: Arc::new(Basis::new(root, &files)),
        within,
    };
    // Before anything in it is read.
    found.check_place(host).await?;
    keep_apart(host, &mut found).await?;
    keep_agents_apart(host, &mut found).await?;
    let Opened {
        directory,
        places,
        enabled,
        ..
    } = &mut found.opened;
    match (
        &mut places.store,
        platform.parent(directory.trim_end_matches(platform.separator())),
    ) {
        // It may have been kept apart from another project's.
        (Some(store), _) => store.clone_from(directory),
        // An agent's own, wherever the folder lies that it was found from.
        (None, Some(folder))
            if *enabled && found.agent.is_some() && !places.agents.contains(&folder) =>
        {
            places.agents.push(folder);
        }
        _ => {}
    }
    Ok(found)
}

/// The folder of an agent's memory (facts 9), and that of the project if it lies there.
async fn agent_choice(
    options: &OpenOptions,
    agent: &AgentOptions,
    host: &Host,
    platform: Platform,
    home: Option<&str>,
    root: Option<&ProjectRoot>,
) -> Result<(Choice, Option<String>), Error> {
    let name = agent_folder_name(&agent.name)?;
    let folder = agent.scope.folder();
    let remote = variable(&options.env, "CLAUDE_CODE_REMOTE_MEMORY_DIR");
    let project = |root: Option<&ProjectRoot>| {
        root.cloned().ok_or_else(|| {
            Error::new(
                ErrorCode::InvalidArgument,
                "an agent's memory of this scope belongs to a project; name its folder (cwd, --cwd)",
            )
        })
    };
    let (parent, within) = match (agent.scope, remote) {
        // Where the user's own links lead is their wish.
        (AgentScope::User, Some(remote)) => (platform.join(remote, folder), None),
        (AgentScope::User, None) => {
            let config_home = config_home(platform, home, &options.env)?;
            (platform.join(&config_home, folder), None)
        }
        (AgentScope::Local, Some(remote)) => {
            let key = key_of(&project(root)?.canonical);
            let folder = format!("{PROJECTS_FOLDER}/{key}/{folder}");
            (platform.join(remote, &folder), None)
        }
        (AgentScope::Project | AgentScope::Local, _) => {
            let root = project(root)?;
            let cwd = options.cwd.as_deref().unwrap_or(&root.checkout);
            let holder = claude_folder(host, platform, cwd, &root.checkout).await?;
            let parent = platform.join(&holder, &format!(".claude/{folder}"));
            (parent, Some(root.checkout))
        }
    };
    let directory = validate_memory_path(&platform.join(&parent, &name), platform, None)?;
    let choice = Choice {
        directory,
        chosen_by: Source::Agent,
        project_key: None,
        refused: Vec::new(),
    };
    Ok((choice, within))
}

/// Refuses a folder that links lead out of the project, or to nothing: they come with a repository, which
/// could so have any folder of its reader shown, written and emptied. Inside the project they may lead
/// where they like, but not into what git keeps there.
async fn stay_within(
    host: &Host,
    platform: Platform,
    project: &str,
    directory: &str,
) -> Result<(), Error> {
    // The directory is in this form too.
    let project = ComposingNormalizerBorrowed::new_nfc().normalize(project);
    let root = real_place(host, platform, &project).await?;
    let real = real_place(host, platform, directory).await?;
    let what = match platform.below(&real, &root) {
        Some(inside) => {
            let mut names = inside.split(|c| platform.separates(c));
            if !names.any(|name| name.eq_ignore_ascii_case(".git")) {
                return Ok(());
            }
            "is led into git's own folder by a link"
        }
        None => "is led out of the project by a link",
    };
    Err(led_astray(&platform.normalise(directory), what))
}

fn led_astray(directory: &str, what: &str) -> Error {
    let message = format!(
        "{directory} {what}, and an agent's memory of this scope stays among the project's files; put a folder in the link's place"
    );
    Error::new(ErrorCode::LinkOutside, message).at(directory)
}

/// Where a folder is or would be made: the real path of its deepest ancestor that is there, and the rest
/// (facts 11.1).
pub(super) async fn real_place(
    host: &Host,
    platform: Platform,
    path: &str,
) -> Result<String, Error> {
    let path = platform.normalise(path);
    let failed = |failure: &Failure| Error::from_failure(failure, "resolving", &path);
    let mut folder = path.clone();
    loop {
        let failure = match host.real_path(&folder).await {
            Ok(real) => {
                let rest = platform.below(&path, &folder).unwrap_or_default();
                let rest = rest.replace(platform.separator(), "/");
                return Ok(platform.join(&real, &rest));
            }
            Err(failure) => failure,
        };
        host.stop_if_cancelled()?;
        match failure.code {
            FailureCode::NotFound => match host.lstat(&folder).await {
                Ok(_) => return Err(led_astray(&path, "is led to nothing by a link")),
                Err(failure) if is_absent(failure.code) => {}
                Err(failure) => return Err(failed(&failure)),
            },
            FailureCode::Loop => return Err(led_astray(&path, "is led in a circle by a link")),
            code if is_absent(code) => {}
            _ => return Err(failed(&failure)),
        }
        match platform.parent(&folder) {
            Some(parent) => folder = parent,
            // Nothing is there, so no link either.
            None => return Ok(path),
        }
    }
}

/// Whether nothing can be at a path.
fn is_absent(code: FailureCode) -> bool {
    matches!(
        code,
        FailureCode::NotFound | FailureCode::NotADirectory | FailureCode::NameTooLong
    )
}

/// The nearest folder from `cwd` up to the project's root that holds `.claude`, wherever the agent was
/// started; the root when there is none.
async fn claude_folder(
    host: &Host,
    platform: Platform,
    cwd: &str,
    root: &str,
) -> Result<String, Error> {
    let mut folder = platform.normalise(cwd);
    for _ in 0..CLAUDE_FOLDER_MAX_PARENTS {
        let stat = host.stat(&platform.join(&folder, ".claude")).await;
        host.stop_if_cancelled()?;
        if stat.is_ok_and(|stat| stat.kind == crate::flow::FileKind::Directory) {
            return Ok(folder);
        }
        match platform.parent(&folder) {
            Some(parent) if folder != root => folder = parent,
            _ => break,
        }
    }
    Ok(root.to_owned())
}

/// Different names can give the same folder name. A folder that says it belongs to another agent is left
/// to it, and one that Claude Code has made and nobody has claimed is found.
async fn keep_agents_apart(host: &Host, found: &mut Found) -> Result<(), Error> {
    let (Some(agent), true) = (found.agent.clone(), found.opened.enabled) else {
        return Ok(());
    };
    if let Some(shared) = shared_folder_name(&agent.name) {
        return adopt(host, found, &agent.name, &shared).await;
    }
    let directory = found.opened.directory.clone();
    let recorded = own::recorded(host, found.platform, &directory, "agent").await?;
    let Some(other) = recorded.filter(|name| *name != agent.name) else {
        return Ok(());
    };
    let own = hashed_folder_name(&agent.name);
    let message = format!(
        "the folder {directory} belongs to the agent {}, so this one uses {own}",
        quoted(&other)
    );
    let entry = ReportEntry::new("", ReportCode::SlugCollision, message);
    found.opened.report.push(entry);
    found.opened.directory = sibling(found, &own);
    found.check_place(host).await
}

/// Takes the folder that an agent shares with others of its kind, if it is this one's by its record, or
/// nobody's and this one has none of its own.
async fn adopt(host: &Host, found: &mut Found, name: &str, shared: &str) -> Result<(), Error> {
    let shared = sibling(found, shared);
    let own = std::mem::replace(&mut found.opened.directory, shared.clone());
    // Such a folder may lie elsewhere by a link that came with the project: then it is none.
    let allowed = found.check_place(host).await.is_ok();
    host.stop_if_cancelled()?;
    if allowed {
        let recorded = own::recorded(host, found.platform, &shared, "agent").await?;
        if recorded.as_deref() == Some(name) {
            return Ok(());
        }
        if recorded.is_none() && is_folder(host, &shared).await && !is_folder(host, &own).await {
            let message = format!(
                "the folder {shared} was there and is taken for that of the agent {}, as Claude Code calls it",
                quoted(name)
            );
            let entry = ReportEntry::new("", ReportCode::SlugCollision, message);
            found.opened.report.push(entry);
            return host.stop_if_cancelled();
        }
        host.stop_if_cancelled()?;
    }
    found.opened.directory = own;
    Ok(())
}

async fn is_folder(host: &Host, directory: &str) -> bool {
    let stat = host.stat(directory).await;
    stat.is_ok_and(|stat| stat.kind == crate::flow::FileKind::Directory)
}

/// A folder beside the one that was found.
fn sibling(found: &Found, name: &str) -> String {
    let separator = found.platform.separator();
    let bare = found.opened.directory.trim_end_matches(separator);
    let parent = bare.rsplit_once(separator).map_or("", |(parent, _)| parent);
    format!("{parent}{separator}{name}{separator}")
}

/// The directory that is given, or the one that environment, settings and project give.
fn choose(
    options: &OpenOptions,
    platform: Platform,
    home: Option<&str>,
    root: Option<&ProjectRoot>,
    settings: PerSource<String>,
) -> Result<Choice, Error> {
    if let Some(directory) = &options.directory {
        return Ok(Choice {
            directory: validate_memory_path(directory, platform, home)?,
            chosen_by: Source::Option,
            project_key: None,
            refused: Vec::new(),
        });
    }
    let choice = choose_directory(&DirectoryQuestion {
        platform,
        home: home.map(str::to_owned),
        env: options.env.clone(),
        settings,
        project_root: root.map(|root| root.canonical.clone()).unwrap_or_default(),
    });
    match choice {
        Ok(choice) if root.is_some() || choice.chosen_by != Source::Default => Ok(choice),
        Err(error) if root.is_some() => Err(error),
        // Only the default place is named after the project.
        _ => Err(Error::new(
            ErrorCode::InvalidArgument,
            "there is no project to find a store for; name its folder (cwd, --cwd) or the memory folder (directory, --dir)",
        )),
    }
}

fn opened(
    choice: Choice,
    Enabled { enabled, because }: Enabled,
    root: Option<&ProjectRoot>,
    chosen_file: Option<String>,
    places: MemoryPlaces,
    mut report: Vec<ReportEntry>,
) -> Opened {
    let Choice {
        directory,
        chosen_by,
        project_key,
        refused,
    } = choice;
    for Refused { source, code } in &refused {
        let message = format!(
            "a memory directory named by {} was not followed: {}",
            source.name(),
            code.name()
        );
        report.push(ReportEntry::new("", ReportCode::DirectoryRefused, message));
    }
    Opened {
        directory,
        enabled,
        because,
        chosen_by,
        chosen_file,
        project_key,
        project_root: root.map(|root| root.canonical.clone()),
        refused,
        places,
        report,
    }
}

/// Where memories are on this machine, as far as it is known.
fn places(
    options: &OpenOptions,
    platform: Platform,
    home: Option<&str>,
    (root, holder): (Option<&ProjectRoot>, Option<String>),
    enabled: &Enabled,
    choice: &Choice,
) -> MemoryPlaces {
    let config_home = config_home(platform, home, &options.env).ok();
    let remote = variable(&options.env, "CLAUDE_CODE_REMOTE_MEMORY_DIR");
    let base = remote.map(str::to_owned).or_else(|| config_home.clone());
    let mut agents = Vec::new();
    agents.extend(base.map(|base| platform.join(&base, AgentScope::User.folder())));
    for scope in [AgentScope::Project, AgentScope::Local] {
        let folder = format!(".claude/{}", scope.folder());
        // Where Claude Code keeps them, and where they are found from a folder below.
        let roots = root.map(|root| root.checkout.clone()).into_iter();
        for holder in roots.chain(holder.clone()) {
            let folder = platform.join(&holder, &folder);
            if !agents.contains(&folder) {
                agents.push(folder);
            }
        }
    }
    if let (Some(remote), Some(root)) = (remote, root) {
        let (key, folder) = (key_of(&root.canonical), AgentScope::Local.folder());
        agents.push(platform.join(remote, &format!("{PROJECTS_FOLDER}/{key}/{folder}")));
    }
    MemoryPlaces {
        platform,
        // An agent's own folder is among those of agents.
        store: (enabled.enabled && options.agent.is_none()).then(|| choice.directory.clone()),
        config_home,
        agents: if enabled.enabled { agents } else { Vec::new() },
        overridden: variable(&options.env, "CLAUDE_COWORK_MEMORY_PATH_OVERRIDE").is_some(),
    }
}

fn file_of(source: Source, files: &PerSource<File>) -> Option<String> {
    let file = match source {
        Source::SettingsPolicy => &files.policy,
        Source::SettingsLocal => &files.local,
        Source::SettingsUser => &files.user,
        _ => return None,
    };
    file.as_ref().and_then(|file| file.path.clone())
}

/// Where the sources keep transcripts: in a folder named after the working directory, which in a
/// worktree or a subfolder is not the store's (facts 1.3).
fn transcripts(options: &OpenOptions, platform: Platform, home: Option<&str>) -> Option<String> {
    let cwd = options
        .cwd
        .as_deref()
        .filter(|cwd| platform.is_absolute(cwd))?;
    let base = config_home(platform, home, &options.env).ok()?;
    let key = key_of(&platform.normalise(cwd));
    Some(platform.join(&base, &format!("{PROJECTS_FOLDER}/{key}")))
}

/// Reads every settings file there is; the settings passed to `open` count as one.
async fn read_settings(
    options: &OpenOptions,
    host: &Host,
    platform: Platform,
    home: Option<&str>,
    root: Option<&ProjectRoot>,
    report: &mut Vec<ReportEntry>,
) -> Result<PerSource<File>, Error> {
    // A relative one would depend on where the agent was started, and so on the repository.
    let user = config_home(platform, home, &options.env)
        .ok()
        .filter(|folder| platform.is_absolute(folder));
    let user = user.map(|folder| platform.join(&folder, "settings.json"));
    let in_project =
        |name: &str| root.map(|root| platform.join(&root.checkout, &format!(".claude/{name}")));
    let policy = managed_folders(platform)
        .iter()
        .map(|folder| Some(platform.join(folder, "managed-settings.json")));
    let paths: Vec<Option<String>> = policy
        .chain([
            in_project("settings.local.json"),
            // Of somebody whose home is a project, the file is the user's.
            in_project("settings.json").filter(|path| Some(path) != user.as_ref()),
            user.clone(),
        ])
        .collect();
    let texts = join_all(paths.iter().map(|path| read_text(host, path.as_deref()))).await;
    host.stop_if_cancelled()?;

    let mut files = paths.into_iter().zip(texts).map(|(path, text)| {
        let text = match text {
            Ok(text) => text?,
            Err(problem) => {
                let message = format!("{} counts as missing: {problem}", path.unwrap_or_default());
                report.push(ReportEntry::new(
                    "",
                    ReportCode::SettingsUnreadable,
                    message,
                ));
                return None;
            }
        };
        let file = File {
            settings: parse_settings(&text),
            instructions: parse_instruction_settings(&text),
            path,
        };
        note_problems(file.path.as_deref().unwrap_or_default(), &file, report);
        Some(file)
    });
    let mut policy = None;
    for _ in managed_folders(platform) {
        policy = policy.or(files.next().flatten());
    }
    let [local, project, user] = [
        files.next().flatten(),
        files.next().flatten(),
        files.next().flatten(),
    ];
    drop(files);
    let flag = options.settings.as_deref().map(|text| {
        let file = File {
            settings: parse_settings(text),
            instructions: parse_instruction_settings(text),
            path: None,
        };
        note_problems("the settings passed to open", &file, report);
        file
    });
    Ok(PerSource {
        policy,
        flag,
        local,
        project,
        user,
    })
}

fn note_problems(name: &str, file: &File, report: &mut Vec<ReportEntry>) {
    let mut note = |code, what: &str| {
        report.push(ReportEntry::new("", code, format!("{name}: {what}")));
    };
    let wrong = |key: &str| format!("{key} has the wrong type and counts as absent");
    for problem in &file.settings.problems {
        match (problem.code, &problem.key) {
            (SettingsProblemCode::NotJson, _) => {
                note(ReportCode::SettingsInvalid, "it is not JSON")
            }
            (SettingsProblemCode::NotAnObject, _) => {
                note(ReportCode::SettingsInvalid, "it is no JSON object");
            }
            (SettingsProblemCode::WrongType, key) => note(
                ReportCode::SettingsWrongType,
                &wrong(key.as_deref().unwrap_or_default()),
            ),
        }
    }
    for key in &file.instructions.wrong {
        note(ReportCode::SettingsWrongType, &wrong(key));
    }
}

/// Where administrators put what holds for everybody on the machine (facts 10.1).
pub(super) fn managed_folders(platform: Platform) -> &'static [&'static str] {
    match platform {
        Platform::Posix => &[
            "/etc/claude-code",
            "/Library/Application Support/ClaudeCode",
        ],
        Platform::Windows => &["C:\\Program Files\\ClaudeCode"],
    }
}

/// The text of a settings file, or another one that is the user's own; none when there is none. It may be a link, as some people keep
/// their settings elsewhere.
pub(super) async fn read_text(host: &Host, path: Option<&str>) -> Result<Option<String>, String> {
    let Some(path) = path else { return Ok(None) };
    let file = match host.real_path(path).await {
        Ok(file) => file,
        Err(failure)
            if matches!(
                failure.code,
                FailureCode::NotFound | FailureCode::NotADirectory
            ) =>
        {
            return Ok(None);
        }
        Err(failure) => return Err(failure.message),
    };
    let stat = host.lstat(&file).await.map_err(|failure| failure.message)?;
    if stat.kind != crate::flow::FileKind::File {
        return Err("it is no regular file".to_owned());
    }
    if stat.size > SETTINGS_MAX_BYTES {
        return Err(format!("it is larger than {SETTINGS_MAX_BYTES} bytes"));
    }
    let bytes = host
        .read(&file, None, SETTINGS_MAX_BYTES)
        .await
        .map_err(|failure| failure.message)?;
    String::from_utf8(bytes)
        .map(Some)
        .map_err(|_| "it is not UTF-8 text".to_owned())
}

/// Different paths can have the same slug. A folder that says it belongs to another project is left
/// to it, and this project gets a folder that no other can have; a folder that says nothing is
/// adopted (the design's "Project slug").
async fn keep_apart(host: &Host, found: &mut Found) -> Result<(), Error> {
    let Opened {
        directory,
        enabled,
        project_key,
        project_root,
        report,
        ..
    } = &mut found.opened;
    let (Some(root), Some(key), true) = (project_root.as_deref(), project_key.as_mut(), *enabled)
    else {
        return Ok(());
    };
    if *key != key_of(root) {
        // The environment named it, so that projects share it.
        return Ok(());
    }
    let recorded = own::recorded(host, found.platform, directory, "path").await?;
    let Some(other) = recorded.filter(|path| path != root) else {
        return Ok(());
    };
    let own = injective_key(root);
    report.push(ReportEntry::new(
        "",
        ReportCode::SlugCollision,
        format!("the folder {key} belongs to {other}, so this project uses {own}"),
    ));
    let tail = format!("{key}{}{STORE_FOLDER}{0}", found.platform.separator());
    if let Some(base) = directory.strip_suffix(&tail) {
        *directory = format!(
            "{base}{own}{0}{STORE_FOLDER}{0}",
            found.platform.separator()
        );
    }
    *key = own;
    Ok(())
}
