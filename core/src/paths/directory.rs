//! Decides where a project's store is (facts 1.2 to 1.4, the design's "Trust"), and says what was
//! refused on the way.

use icu_normalizer::ComposingNormalizerBorrowed;
use serde::{Deserialize, Serialize};

use super::settings::PerSource;
use super::slug::project_slug;
use super::switches::{Environment, variable};
use super::{Platform, validate_memory_path};
use crate::error::{Error, ErrorCode};
use crate::limits::{PROJECT_DIR_NAME_MAX, PROJECTS_FOLDER, STORE_FOLDER};

/// Where a store is, and why there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Choice {
    /// Absolute, normalised, with one trailing separator.
    pub directory: String,
    /// What named it.
    pub chosen_by: Source,
    /// The project's folder name, when the default place was taken.
    pub project_key: Option<String>,
    /// What would have come first and was not acceptable.
    pub refused: Vec<Refused>,
}

/// Something that named a directory and was not followed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// Where it stands.
    pub source: Source,
    /// Why not.
    pub code: ErrorCode,
}

/// What can name a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// `directory`, passed to `open`.
    Option,
    /// The agent whose memory it is.
    Agent,
    /// `CLAUDE_COWORK_MEMORY_PATH_OVERRIDE`.
    Env,
    /// `autoMemoryDirectory` of the managed settings.
    SettingsPolicy,
    /// `autoMemoryDirectory` of the settings passed to `open`.
    SettingsFlag,
    /// `autoMemoryDirectory` of `.claude/settings.local.json`.
    SettingsLocal,
    /// `autoMemoryDirectory` of `.claude/settings.json`: never followed.
    SettingsProject,
    /// `autoMemoryDirectory` of the user's settings.
    SettingsUser,
    /// `CLAUDE_CODE_PROJECT_DIR_NAME`.
    EnvProjectDirName,
    /// The project's place below the config home.
    Default,
}

/// What the choice depends on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DirectoryQuestion {
    /// Whose path rules hold.
    pub platform: Platform,
    /// The user's home directory; one that is not absolute counts as none.
    pub home: Option<String>,
    /// The process environment.
    pub env: Environment,
    /// `autoMemoryDirectory` per settings file.
    pub settings: PerSource<String>,
    /// The root of the project: its git root, or where the agent was started.
    pub project_root: String,
}

/// The first of: the environment's override, `autoMemoryDirectory` of trusted settings, the
/// project's folder below the config home. The first setting that is there counts, so that a bad
/// one is reported and not passed over for a lesser one.
///
/// # Errors
/// `no-home` when the default place needs a home directory and there is none; the codes of
/// [`validate_memory_path`] when the default place is not acceptable.
pub fn choose_directory(question: &DirectoryQuestion) -> Result<Choice, Error> {
    let DirectoryQuestion {
        platform,
        home,
        env,
        settings,
        project_root,
    } = question;
    let platform = *platform;
    let home = home.as_deref().filter(|home| platform.is_absolute(home));
    let mut refused = Vec::new();
    let mut refuse = |source, code| refused.push(Refused { source, code });

    let mut chosen = None;
    if let Some(path) = variable(env, "CLAUDE_COWORK_MEMORY_PATH_OVERRIDE") {
        match validate_memory_path(path, platform, None) {
            Ok(directory) => chosen = Some((directory, Source::Env)),
            Err(error) => refuse(Source::Env, error.code),
        }
    }
    if settings.project.is_some() {
        // A repository could point it at any folder of its reader.
        refuse(Source::SettingsProject, ErrorCode::NotTrusted);
    }
    let setting = [
        (&settings.policy, Source::SettingsPolicy),
        (&settings.flag, Source::SettingsFlag),
        (&settings.local, Source::SettingsLocal),
        (&settings.user, Source::SettingsUser),
    ]
    .into_iter()
    .find_map(|(path, source)| path.as_ref().map(|path| (path, source)));
    if let (None, Some((path, source))) = (&chosen, setting) {
        match validate_memory_path(path, platform, home) {
            Ok(directory) => chosen = Some((directory, source)),
            Err(error) => refuse(source, error.code),
        }
    }
    if let Some((directory, chosen_by)) = chosen {
        return Ok(Choice {
            directory,
            chosen_by,
            project_key: None,
            refused,
        });
    }

    let key = match project_dir_name(env) {
        None => key_of(project_root),
        Some(Ok(name)) => name.to_owned(),
        Some(Err(code)) => {
            refuse(Source::EnvProjectDirName, code);
            key_of(project_root)
        }
    };
    let base = match variable(env, "CLAUDE_CODE_REMOTE_MEMORY_DIR") {
        Some(base) => base.to_owned(),
        None => config_home(platform, home, env)?,
    };
    let path = platform.join(&base, &format!("{PROJECTS_FOLDER}/{key}/{STORE_FOLDER}"));
    let directory = validate_memory_path(&path, platform, None)?;
    Ok(Choice {
        directory,
        chosen_by: Source::Default,
        project_key: Some(key),
        refused,
    })
}

/// The folder name of a project: the slug of its root, the same however its accents are composed.
pub(crate) fn key_of(project_root: &str) -> String {
    project_slug(&ComposingNormalizerBorrowed::new_nfc().normalize(project_root))
}

/// Where settings and projects live: `CLAUDE_CONFIG_DIR`, else `.claude` in the home directory.
///
/// # Errors
/// `no-home`.
pub(crate) fn config_home(
    platform: Platform,
    home: Option<&str>,
    env: &Environment,
) -> Result<String, Error> {
    if let Some(folder) = variable(env, "CLAUDE_CONFIG_DIR") {
        return Ok(folder.to_owned());
    }
    match home {
        Some(home) if platform.is_absolute(home) => Ok(platform.join(home, ".claude")),
        _ => Err(Error::new(
            ErrorCode::NoHome,
            "there is no home directory to keep memories in; set HOME, or name a memory directory",
        )),
    }
}

/// `CLAUDE_CODE_PROJECT_DIR_NAME`, which only counts beside an explicit config home, since all
/// projects below that home then share one store.
fn project_dir_name(env: &Environment) -> Option<Result<&str, ErrorCode>> {
    let name = variable(env, "CLAUDE_CODE_PROJECT_DIR_NAME")?;
    if variable(env, "CLAUDE_CONFIG_DIR").is_none() {
        return Some(Err(ErrorCode::NeedsConfigDir));
    }
    let plain = name.len() <= PROJECT_DIR_NAME_MAX
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    Some(if plain && !is_device_name(name) {
        Ok(name)
    } else {
        Err(ErrorCode::InvalidName)
    })
}

/// Names that Windows keeps for devices, in any case.
fn is_device_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let numbered = |prefix: &str| {
        name.strip_prefix(prefix)
            .is_some_and(|rest| rest.len() == 1 && rest.bytes().all(|b| (b'1'..=b'9').contains(&b)))
    };
    matches!(name.as_str(), "CON" | "PRN" | "AUX" | "NUL") || numbered("COM") || numbered("LPT")
}

impl Source {
    /// The name as it stands in JSON.
    #[must_use]
    pub fn name(self) -> String {
        crate::text::wire_name(&self)
    }
}
