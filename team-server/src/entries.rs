//! What an upload says, read strictly: a member that comes twice would mean one thing here and another
//! elsewhere, so it is refused. What the reader of JSON says about a mistake may quote the text, so only
//! where it is is told.

use std::collections::BTreeMap;
use std::fmt;

use memdir_core::secrets::scan_secrets;
use memdir_core::team::{checksum, validate_team_key};
use memdir_core::write::secret_in_path;
use serde::de::{Deserialize, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};

use crate::limits::Limits;
use crate::problem::{Problem, Secret};
use crate::storage::Entry;

/// What starts a message of ours among those of the reader.
const TWICE: &str = "a name comes twice";

/// The entries of an upload, checked by themselves.
pub(crate) fn read(body: &[u8], limits: &Limits) -> Result<BTreeMap<String, Entry>, Problem> {
    let Body(entries) = serde_json::from_slice(body).map_err(|error| {
        let what = match error.classify() {
            _ if error.to_string().starts_with(TWICE) => TWICE,
            serde_json::error::Category::Data => "the body is not {\"entries\": {key: content}}",
            serde_json::error::Category::Eof => "the body ends too early",
            _ => "the body is no JSON in UTF-8",
        };
        let (line, column) = (error.line(), error.column());
        Problem::bad_request(format!("{what} (line {line}, column {column})"))
    })?;
    if entries.len() > limits.entries {
        return Err(Problem::too_many_entries(limits.entries, entries.len()));
    }
    // First of all, as every other refusal may name a key.
    let secrets = secrets(&entries);
    if !secrets.is_empty() {
        return Err(Problem::secrets(secrets));
    }
    let mut checked = BTreeMap::new();
    for (key, content) in entries {
        validate_team_key(&key, &[]).map_err(|error| Problem::invalid_key(&error))?;
        let bytes = u64::try_from(content.len()).unwrap_or(u64::MAX);
        if bytes > limits.entry_bytes {
            return Err(Problem::entry_too_large(&key, limits.entry_bytes, bytes));
        }
        let checksum = checksum(&content);
        checked.insert(key, Entry { content, checksum });
    }
    Ok(checked)
}

/// Where secrets are. A key that is one is not named, neither by itself nor by what is under it.
pub(crate) fn secrets(entries: &BTreeMap<String, String>) -> Vec<Secret> {
    let mut secrets = Vec::new();
    for (key, content) in entries {
        let in_key = secret_in_path(key);
        let name = in_key.is_none().then(|| key.clone());
        let key_found = in_key.into_iter().map(|finding| (None, finding));
        let found = scan_secrets(content)
            .into_iter()
            .map(|finding| (name.clone(), finding));
        secrets.extend(key_found.chain(found).map(|(key, finding)| Secret {
            key,
            rule: finding.rule,
            label: finding.label,
            line: finding.line,
        }));
    }
    secrets
}

/// The body; what else it says beside its entries is passed over.
struct Body(BTreeMap<String, String>);

/// Names and texts, each name once.
struct Texts(BTreeMap<String, String>);

impl<'de> Deserialize<'de> for Body {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Body;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with entries")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Body, A::Error> {
                let mut entries = None;
                while let Some(name) = map.next_key::<String>()? {
                    if name != "entries" {
                        map.next_value::<IgnoredAny>()?;
                    } else if entries.is_some() {
                        return Err(A::Error::custom(TWICE));
                    } else {
                        entries = Some(map.next_value::<Texts>()?.0);
                    }
                }
                entries
                    .map(Body)
                    .ok_or_else(|| A::Error::missing_field("entries"))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Texts;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of texts")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Texts, A::Error> {
                let mut texts = BTreeMap::new();
                while let Some((name, text)) = map.next_entry::<String, String>()? {
                    if texts.insert(name, text).is_some() {
                        return Err(A::Error::custom(TWICE));
                    }
                }
                Ok(Texts(texts))
            }
        }
        deserializer.deserialize_map(Members)
    }
}
