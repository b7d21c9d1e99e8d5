//! Reads the settings that concern memory out of a settings file; everything else in it,
//! `env` blocks included, is not memdir's business (the design's "Trust").

use serde::{Deserialize, Serialize};

use crate::json::{self, Member, Written};

/// What one settings file says about memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    /// Whether memory is on.
    pub auto_memory_enabled: Option<bool>,
    /// Where the store is.
    pub auto_memory_directory: Option<String>,
    /// Whether it dreams by itself; when nothing says so, the feature `dream` decides.
    pub auto_dream_enabled: Option<bool>,
    /// What is wrong with the file; the rest of it still counts.
    pub problems: Vec<SettingsProblem>,
}

/// One thing that is wrong with a settings file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SettingsProblem {
    /// What kind of thing.
    pub code: SettingsProblemCode,
    /// The key it is about, if it is about one.
    pub key: Option<String>,
}

/// The closed list of what can be wrong with a settings file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SettingsProblemCode {
    /// The file is not JSON.
    NotJson,
    /// The file is JSON and no object.
    NotAnObject,
    /// A value has the wrong type and counts as absent.
    WrongType,
}

/// One value per place that settings come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PerSource<T> {
    /// Managed settings of the machine.
    pub policy: Option<T>,
    /// Passed to `open`.
    pub flag: Option<T>,
    /// `.claude/settings.local.json`.
    pub local: Option<T>,
    /// `.claude/settings.json`, which comes with the repository.
    pub project: Option<T>,
    /// The user's `settings.json`.
    pub user: Option<T>,
}

impl<T> PerSource<T> {
    /// The same with every value turned into something else, or left out.
    pub(crate) fn and_then<U>(&self, into: impl Fn(&T) -> Option<U>) -> PerSource<U> {
        let Self {
            policy,
            flag,
            local,
            project,
            user,
        } = self;
        let into = |value: &Option<T>| value.as_ref().and_then(&into);
        PerSource {
            policy: into(policy),
            flag: into(flag),
            local: into(local),
            project: into(project),
            user: into(user),
        }
    }
}

/// What one settings file says about instructions (facts 10.1, 10.4). What has the wrong type counts as absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct InstructionSettings {
    /// `claudeMd`: instructions themselves.
    pub text: Option<String>,
    /// `claudeMdExcludes`: globs of files that are not read.
    pub excludes: Vec<String>,
    /// Keys whose values have the wrong type.
    pub wrong: Vec<&'static str>,
}

/// Reads what a settings file says about instructions.
pub(crate) fn parse_instruction_settings(text: &str) -> InstructionSettings {
    const TEXT: &str = "claudeMd";
    const EXCLUDES: &str = "claudeMdExcludes";
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let mut settings = InstructionSettings::default();
    // What is no JSON object is told by whoever reads the rest.
    let Some(object) = Written::read(text) else {
        return settings;
    };
    match object.get(TEXT).map(serde_json::from_str) {
        Some(Ok(text)) => settings.text = text,
        Some(Err(_)) => settings.wrong.push(TEXT),
        None => {}
    }
    match object.get(EXCLUDES).map(serde_json::from_str) {
        Some(Ok(excludes)) => settings.excludes = Option::unwrap_or_default(excludes),
        Some(Err(_)) => settings.wrong.push(EXCLUDES),
        None => {}
    }
    settings
}

impl PerSource<bool> {
    /// What the first says that says something. A project's settings come with the repository, so they can switch off
    /// and never on.
    pub(crate) fn deciding(&self) -> Option<bool> {
        let project = self.project.filter(|is_on| !is_on);
        let each = [self.policy, self.flag, self.local, project, self.user];
        each.into_iter().flatten().next()
    }
}

/// Reads a settings file. It never fails: what cannot be used is named in `problems`.
#[must_use]
pub fn parse_settings(text: &str) -> Settings {
    let problem = |code| Settings {
        problems: vec![SettingsProblem { code, key: None }],
        ..Settings::default()
    };
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    if text.trim().is_empty() {
        return Settings::default();
    }
    let mut wanted = [
        ("autoMemoryEnabled", Member::Missing),
        ("autoMemoryDirectory", Member::Missing),
        ("autoDreamEnabled", Member::Missing),
    ];
    match json::read_members(text, &mut wanted) {
        Err(_) => problem(SettingsProblemCode::NotJson),
        Ok(false) => problem(SettingsProblemCode::NotAnObject),
        Ok(true) => {
            let [(_, enabled), (_, directory), (_, dream)] = wanted;
            let mut problems = Vec::new();
            let mut wrong = |key: &str| {
                problems.push(SettingsProblem {
                    code: SettingsProblemCode::WrongType,
                    key: Some(key.to_owned()),
                });
            };
            let mut flag = |key: &str, member| match member {
                Member::Flag(flag) => Some(flag),
                Member::Missing => None,
                Member::Text(_) | Member::Number(_) | Member::Other => {
                    wrong(key);
                    None
                }
            };
            let auto_memory_enabled = flag("autoMemoryEnabled", enabled);
            let auto_dream_enabled = flag("autoDreamEnabled", dream);
            let auto_memory_directory = match directory {
                Member::Text(directory) => Some(directory),
                Member::Missing => None,
                Member::Flag(_) | Member::Number(_) | Member::Other => {
                    wrong("autoMemoryDirectory");
                    None
                }
            };
            Settings {
                auto_memory_enabled,
                auto_memory_directory,
                auto_dream_enabled,
                problems,
            }
        }
    }
}
