//! Decides whether memory is on (facts 2, the design's "Off means off").

use serde::Serialize;

use super::settings::PerSource;

/// The process environment, as far as memdir reads it.
pub type Environment = std::collections::BTreeMap<String, String>;

/// Whether memory is on, and what decided it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Enabled {
    /// Off means: nothing read, written, created or called.
    pub enabled: bool,
    /// The switch that decided.
    pub because: EnabledBecause,
}

/// The switches, in the order in which they decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EnabledBecause {
    /// `CLAUDE_CODE_DISABLE_AUTO_MEMORY` is true.
    EnvDisabled,
    /// `CLAUDE_CODE_DISABLE_AUTO_MEMORY` is false, which forces memory on.
    EnvForced,
    /// `CLAUDE_CODE_SIMPLE` is true.
    SimpleMode,
    /// `CLAUDE_CODE_SAFE_MODE` is true.
    SafeMode,
    /// `CLAUDE_CODE_REMOTE` is true and `CLAUDE_CODE_REMOTE_MEMORY_DIR` names no folder.
    RemoteWithoutFolder,
    /// `autoMemoryEnabled` of the managed settings.
    SettingsPolicy,
    /// `autoMemoryEnabled` of the settings passed to `open`.
    SettingsFlag,
    /// `autoMemoryEnabled` of `.claude/settings.local.json`.
    SettingsLocal,
    /// `autoMemoryEnabled: false` of `.claude/settings.json`.
    SettingsProject,
    /// `autoMemoryEnabled` of the user's settings.
    SettingsUser,
    /// Nothing says otherwise.
    Default,
}

/// What a switch in the environment says: `1 true yes on` and `0 false no off`, in any case,
/// trimmed. Anything else says nothing.
#[must_use]
pub fn env_flag(value: Option<&str>) -> Option<bool> {
    match value?.trim().to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Some(true),
        "0" | "false" | "no" | "off" => Some(false),
        _ => None,
    }
}

/// The value of a variable; a blank one counts as unset.
#[must_use]
pub(crate) fn variable<'a>(env: &'a Environment, name: &str) -> Option<&'a str> {
    env.get(name)
        .map(String::as_str)
        .filter(|value| !value.trim().is_empty())
}

/// Goes through the switches in order; the first that says something decides. A project's settings
/// come with the repository, so they can switch memory off but never on.
#[must_use]
pub fn memory_enabled(env: &Environment, settings: &PerSource<bool>) -> Enabled {
    use EnabledBecause as Because;
    let flag = |name: &str| env_flag(env.get(name).map(String::as_str));
    let decide = |enabled, because| Enabled { enabled, because };

    match flag("CLAUDE_CODE_DISABLE_AUTO_MEMORY") {
        Some(true) => return decide(false, Because::EnvDisabled),
        Some(false) => return decide(true, Because::EnvForced),
        None => {}
    }
    if flag("CLAUDE_CODE_SIMPLE") == Some(true) {
        return decide(false, Because::SimpleMode);
    }
    if flag("CLAUDE_CODE_SAFE_MODE") == Some(true) {
        return decide(false, Because::SafeMode);
    }
    let remote_folder = variable(env, "CLAUDE_CODE_REMOTE_MEMORY_DIR");
    if flag("CLAUDE_CODE_REMOTE") == Some(true) && remote_folder.is_none() {
        return decide(false, Because::RemoteWithoutFolder);
    }
    let project = settings.project.filter(|enabled| !enabled);
    [
        (settings.policy, Because::SettingsPolicy),
        (settings.flag, Because::SettingsFlag),
        (settings.local, Because::SettingsLocal),
        (project, Because::SettingsProject),
        (settings.user, Because::SettingsUser),
    ]
    .into_iter()
    .find_map(|(enabled, because)| enabled.map(|enabled| decide(enabled, because)))
    .unwrap_or(decide(true, Because::Default))
}

impl EnabledBecause {
    /// The name as it stands in JSON.
    #[must_use]
    pub fn name(self) -> String {
        crate::text::wire_name(&self)
    }
}
