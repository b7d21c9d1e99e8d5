//! Reads the two settings that concern memory out of a settings file; everything else in it,
//! `env` blocks included, is not memdir's business (the design's "Trust").

use std::fmt;

use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// What one settings file says about memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    /// Whether memory is on.
    pub auto_memory_enabled: Option<bool>,
    /// Where the store is.
    pub auto_memory_directory: Option<String>,
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
    match serde_json::from_str(text) {
        Err(_) => problem(SettingsProblemCode::NotJson),
        Ok(Found::Other) => problem(SettingsProblemCode::NotAnObject),
        Ok(Found::Object { enabled, directory }) => {
            let mut problems = Vec::new();
            let mut wrong = |key: &str| {
                problems.push(SettingsProblem {
                    code: SettingsProblemCode::WrongType,
                    key: Some(key.to_owned()),
                });
            };
            let auto_memory_enabled = match enabled {
                Setting::Flag(enabled) => Some(enabled),
                Setting::Missing => None,
                Setting::Text(_) | Setting::Other => {
                    wrong("autoMemoryEnabled");
                    None
                }
            };
            let auto_memory_directory = match directory {
                Setting::Text(directory) => Some(directory),
                Setting::Missing => None,
                Setting::Flag(_) | Setting::Other => {
                    wrong("autoMemoryDirectory");
                    None
                }
            };
            Settings {
                auto_memory_enabled,
                auto_memory_directory,
                problems,
            }
        }
    }
}

/// What stands in a settings file. Everything but the two settings is skipped unread, so that
/// neither deep nesting nor odd texts and numbers elsewhere can hide an "off".
enum Found {
    Object {
        enabled: Setting,
        directory: Setting,
    },
    Other,
}

#[derive(Default)]
enum Setting {
    /// Also null.
    #[default]
    Missing,
    Flag(bool),
    Text(String),
    Other,
}

impl<'de> Deserialize<'de> for Found {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FoundVisitor)
    }
}

struct FoundVisitor;

impl<'de> Visitor<'de> for FoundVisitor {
    type Value = Found;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("settings")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Found, A::Error> {
        let (mut enabled, mut directory) = (Setting::Missing, Setting::Missing);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "autoMemoryEnabled" => enabled = map.next_value()?,
                "autoMemoryDirectory" => directory = map.next_value()?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(Found::Object { enabled, directory })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Found, A::Error> {
        IgnoredAny.visit_seq(seq).map(|_| Found::Other)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Found, E> {
        Ok(Found::Other)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Found, E> {
        Ok(Found::Other)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Found, E> {
        Ok(Found::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Found, E> {
        Ok(Found::Other)
    }

    fn visit_str<E>(self, _: &str) -> Result<Found, E> {
        Ok(Found::Other)
    }

    fn visit_unit<E>(self) -> Result<Found, E> {
        Ok(Found::Other)
    }
}

impl<'de> Deserialize<'de> for Setting {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SettingVisitor)
    }
}

struct SettingVisitor;

impl<'de> Visitor<'de> for SettingVisitor {
    type Value = Setting;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a setting")
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Setting, E> {
        Ok(Setting::Flag(flag))
    }

    fn visit_str<E>(self, text: &str) -> Result<Setting, E> {
        Ok(Setting::Text(text.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Setting, E> {
        Ok(Setting::Missing)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Setting, E> {
        Ok(Setting::Other)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Setting, E> {
        Ok(Setting::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Setting, E> {
        Ok(Setting::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Setting, A::Error> {
        IgnoredAny.visit_seq(seq).map(|_| Setting::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Setting, A::Error> {
        IgnoredAny.visit_map(map).map(|_| Setting::Other)
    }
}
