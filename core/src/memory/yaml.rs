//! Reads the keys that memdir knows out of a YAML block. The one place that knows the YAML crate.

use std::borrow::Cow;

use saphyr::{ScalarStyle, ScanError, Yaml, YamlLoader};
use saphyr_parser::Parser;

/// A value as written, before any meaning is given to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value<'a> {
    /// Text without quotes: YAML's null and booleans are among these.
    Plain(Cow<'a, str>),
    /// Text in quotes, a block scalar, or a scalar with a tag: always text.
    Quoted(Cow<'a, str>),
    /// A list or a map.
    Collection,
}

/// The values of the keys that memdir reads; every other key is left alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Fields<'a> {
    pub name: Option<Value<'a>>,
    pub description: Option<Value<'a>>,
    /// At the top level, then below `metadata:`.
    pub kind: [Option<Value<'a>>; 2],
    pub modified: [Option<Value<'a>>; 2],
    pub pinned: [Option<Value<'a>>; 2],
}

impl<'a> Fields<'a> {
    /// Where the value of a known key goes.
    pub fn slot(&mut self, nested: bool, key: &str) -> Option<&mut Option<Value<'a>>> {
        let ([kind, nested_kind], [modified, nested_modified], [pinned, nested_pinned]) =
            (&mut self.kind, &mut self.modified, &mut self.pinned);
        Some(match (nested, key) {
            (false, "name") => &mut self.name,
            (false, "description") => &mut self.description,
            (false, "type") => kind,
            (false, "modified") => modified,
            (false, "pinned") => pinned,
            (true, "type") => nested_kind,
            (true, "modified") => nested_modified,
            (true, "pinned") => nested_pinned,
            _ => return None,
        })
    }
}

/// Why a block gives no fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// Not valid YAML; the line is counted from the start of the block, 1-based.
    Invalid { line: usize, message: String },
    /// Valid, but no map.
    NotAMap,
}

/// Reads a whole block. Scalars keep their source text: `1.10` stays `1.10`.
pub(super) fn parse(block: &str) -> Result<Fields<'_>, Unreadable> {
    let documents = load(block).map_err(|error| Unreadable::Invalid {
        line: error.marker().line(),
        message: error.info().to_owned(),
    })?;
    let mut documents = documents.into_iter();
    let map = match (documents.next(), documents.next()) {
        (None, _) => return Ok(Fields::default()),
        (Some(Yaml::Mapping(map)), None) => map,
        (Some(Yaml::Representation(text, ScalarStyle::Plain, None)), None) if is_null(&text) => {
            return Ok(Fields::default());
        }
        (Some(_), None) => return Err(Unreadable::NotAMap),
        (Some(_), Some(_)) => {
            return Err(invalid("a second YAML document begins inside the block"));
        }
    };
    let mut fields = Fields::default();
    for (key, value) in map {
        let Some(key) = key_text(&key) else { continue };
        match value {
            Yaml::Mapping(nested) if key == "metadata" => {
                for (key, value) in nested {
                    if let Some(key) = key_text(&key) {
                        fill(&mut fields, true, key, value)?;
                    }
                }
            }
            value => fill(&mut fields, false, key, value)?,
        }
    }
    Ok(fields)
}

fn load(block: &str) -> Result<Vec<Yaml<'_>>, ScanError> {
    let mut loader = YamlLoader::default();
    loader.early_parse(false);
    Parser::new_from_str(block).load(&mut loader, true)?;
    match loader.error() {
        Some(error) => Err(error.clone()),
        None => Ok(loader.into_documents()),
    }
}

fn key_text<'a>(key: &'a Yaml<'_>) -> Option<&'a str> {
    match key {
        Yaml::Representation(text, ..) => Some(text),
        _ => None,
    }
}

fn fill<'a>(
    fields: &mut Fields<'a>,
    nested: bool,
    key: &str,
    value: Yaml<'a>,
) -> Result<(), Unreadable> {
    let Some(slot) = fields.slot(nested, key) else {
        return Ok(());
    };
    // The loader tells `name` and `"name"` apart; for us they are one key.
    if slot.is_some() {
        return Err(invalid("a key stands twice"));
    }
    *slot = Some(match value {
        Yaml::Representation(text, ScalarStyle::Plain, None) => Value::Plain(text),
        Yaml::Representation(text, ..) => Value::Quoted(text),
        _ => Value::Collection,
    });
    Ok(())
}

fn invalid(message: &str) -> Unreadable {
    Unreadable::Invalid {
        line: 1,
        message: message.to_owned(),
    }
}

/// The plain scalars that YAML 1.2 resolves to null.
pub(super) fn is_null(plain: &str) -> bool {
    matches!(plain, "" | "~" | "null" | "Null" | "NULL")
}
