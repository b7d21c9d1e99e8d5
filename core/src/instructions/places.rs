//! Where instructions are looked for, in the order in which they are loaded (facts 10.1): what comes later is nearer
//! to the work, and has more weight.

use serde::{Deserialize, Serialize};

use crate::limits::{
    AGENTS_FILE, INSTRUCTIONS_FILE, INSTRUCTIONS_MAX_PARENTS, LOCAL_INSTRUCTIONS_FILE, RULES_FOLDER,
};
use crate::paths::Platform;

/// Whose instructions they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InstructionSource {
    /// The machine's administrator's; they cannot be switched off.
    Managed,
    /// The user's, for all projects.
    User,
    /// The project's, shared by everybody who works on it.
    Project,
    /// The user's for this project, not shared.
    Local,
    /// The store's own index; only in the report of a context.
    Memory,
    /// The index of the team's memory; only in the report of a context.
    Team,
}

/// What a place holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlaceKind {
    /// One file.
    File,
    /// A folder of rules, with its subfolders.
    Rules,
}

/// Why a place is not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlaceSkip {
    /// Its source is switched off.
    Off,
    /// It is the main repository's, and the worktree inside it has the same files.
    Worktree,
}

/// One place where instructions may be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InstructionPlace {
    /// Absolute.
    pub path: String,
    /// Whose it is.
    pub source: InstructionSource,
    /// A file or a folder.
    pub kind: PlaceKind,
    /// Null when it is looked at.
    pub skipped: Option<PlaceSkip>,
}

/// What decides where instructions are looked for. Folders are absolute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlacesQuestion {
    /// Whose path rules hold.
    pub platform: Platform,
    /// The working directory.
    #[serde(default)]
    pub cwd: Option<String>,
    /// The user's folder, such as `~/.claude`.
    #[serde(default)]
    pub config_home: Option<String>,
    /// The administrator's folders.
    #[serde(default)]
    pub managed: Vec<String>,
    /// The root of the working tree that `cwd` lies in.
    #[serde(default)]
    pub checkout: Option<String>,
    /// The root of its main repository; another one than `checkout` in a worktree.
    #[serde(default)]
    pub canonical: Option<String>,
    /// Further folders that count like the working directory, without those above them.
    #[serde(default)]
    pub additional: Vec<String>,
    /// Whether `AGENTS.md` is read, too.
    #[serde(default)]
    pub agents_md: bool,
    /// Whether the user's instructions are loaded.
    pub user: bool,
    /// Whether the project's are.
    pub project: bool,
    /// Whether the user's for this project are.
    pub local: bool,
}

/// Every place, the broadest first. A path stands here once.
#[must_use]
pub fn instruction_places(question: &PlacesQuestion) -> Vec<InstructionPlace> {
    let PlacesQuestion {
        platform,
        cwd,
        config_home,
        managed,
        additional,
        ..
    } = question;
    let mut places = Places {
        question,
        found: Vec::new(),
    };
    for folder in managed {
        let rules = format!(".claude/{RULES_FOLDER}");
        places.put(
            folder,
            INSTRUCTIONS_FILE,
            InstructionSource::Managed,
            PlaceKind::File,
        );
        places.put(folder, &rules, InstructionSource::Managed, PlaceKind::Rules);
    }
    if let Some(folder) = config_home {
        places.put(
            folder,
            INSTRUCTIONS_FILE,
            InstructionSource::User,
            PlaceKind::File,
        );
        places.put(
            folder,
            RULES_FOLDER,
            InstructionSource::User,
            PlaceKind::Rules,
        );
    }
    for folder in cwd.iter().flat_map(|cwd| way_down(*platform, cwd)) {
        places.put_folder(&folder);
    }
    for folder in additional {
        places.put_folder(&platform.normalise(folder));
    }
    places.found
}

impl PlacesQuestion {
    /// The same question about the folders between the working directory, or an additional one, and a file below it:
    /// what they have is loaded when the file is touched.
    pub(crate) fn nested(&self, path: &str) -> Self {
        let platform = self.platform;
        let below = |path: &str, folder: &str| {
            platform
                .below(path, folder)
                .is_some_and(|rest| !rest.is_empty())
        };
        let tops = self.cwd.iter().chain(&self.additional);
        let tops: Vec<&String> = tops.filter(|top| below(path, top)).collect();
        let folder = platform.parent(path).unwrap_or_default();
        let folders = way_down(platform, &folder).into_iter();
        Self {
            cwd: None,
            config_home: None,
            managed: Vec::new(),
            additional: folders
                .filter(|folder| tops.iter().any(|top| below(folder, top)))
                .collect(),
            ..self.clone()
        }
    }
}

/// The folders from below the root down to `folder`.
fn way_down(platform: Platform, folder: &str) -> Vec<String> {
    let mut folders = Vec::new();
    let mut folder = platform.normalise(folder);
    // What has no parent is a root, where nothing is looked for.
    while let Some(parent) = platform.parent(&folder) {
        if folders.len() >= INSTRUCTIONS_MAX_PARENTS {
            break;
        }
        folders.push(std::mem::replace(&mut folder, parent));
    }
    folders.reverse();
    folders
}

struct Places<'a> {
    question: &'a PlacesQuestion,
    found: Vec<InstructionPlace>,
}

impl Places<'_> {
    /// What one folder of a project may have.
    fn put_folder(&mut self, folder: &str) {
        let file = PlaceKind::File;
        let project = InstructionSource::Project;
        if self.question.agents_md {
            self.put(folder, AGENTS_FILE, project, file);
        }
        self.put(folder, INSTRUCTIONS_FILE, project, file);
        self.put(
            folder,
            &format!(".claude/{INSTRUCTIONS_FILE}"),
            project,
            file,
        );
        self.put(
            folder,
            &format!(".claude/{RULES_FOLDER}"),
            project,
            PlaceKind::Rules,
        );
        self.put(
            folder,
            LOCAL_INSTRUCTIONS_FILE,
            InstructionSource::Local,
            file,
        );
    }

    fn put(&mut self, folder: &str, name: &str, source: InstructionSource, kind: PlaceKind) {
        let platform = self.question.platform;
        let path = platform.join(&platform.normalise(folder), name);
        let is_same = |place: &InstructionPlace| match platform {
            Platform::Posix => place.path == path,
            Platform::Windows => place.path.to_lowercase() == path.to_lowercase(),
        };
        if self.found.iter().any(is_same) {
            return;
        }
        let skipped = self.skipped(folder, source);
        self.found.push(InstructionPlace {
            path,
            source,
            kind,
            skipped,
        });
    }

    fn skipped(&self, folder: &str, source: InstructionSource) -> Option<PlaceSkip> {
        let PlacesQuestion {
            user,
            project,
            local,
            ..
        } = self.question;
        let is_on = match source {
            InstructionSource::Managed | InstructionSource::Memory | InstructionSource::Team => {
                true
            }
            InstructionSource::User => *user,
            InstructionSource::Project => *project,
            InstructionSource::Local => *local,
        };
        if !is_on {
            return Some(PlaceSkip::Off);
        }
        let is_twice = source == InstructionSource::Project && self.is_of_main_repository(folder);
        is_twice.then_some(PlaceSkip::Worktree)
    }

    /// Whether a folder is the main repository's, while the work is in a worktree that lies inside it.
    fn is_of_main_repository(&self, folder: &str) -> bool {
        let PlacesQuestion {
            platform,
            checkout: Some(checkout),
            canonical: Some(canonical),
            ..
        } = self.question
        else {
            return false;
        };
        let lies_in = |path: &str, folder: &str| platform.below(path, folder).is_some();
        checkout != canonical
            && lies_in(checkout, canonical)
            && lies_in(folder, canonical)
            && !lies_in(folder, checkout)
    }
}
