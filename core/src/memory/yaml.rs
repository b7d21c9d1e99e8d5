//! Reads the keys that memdir knows out of a YAML block. With `spots`, the one place that
//! knows the YAML crate.

use std::borrow::Cow;
use std::collections::BTreeSet;

use saphyr_parser::{Event, Parser, ScalarStyle};

use crate::limits::FRONTMATTER_MAX_ALIASES;

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
    let mut reader = Reader::default();
    for event in Parser::new_from_str(block) {
        let (event, span) = event.map_err(|error| Unreadable::Invalid {
            line: error.marker().line(),
            message: error.info().to_owned(),
        })?;
        reader.take(event).map_err(|message| Unreadable::Invalid {
            line: span.start.line(),
            message: message.to_owned(),
        })?;
    }
    match reader.root {
        None | Some(Root::Map) => Ok(reader.fields),
        Some(Root::Other) => Err(Unreadable::NotAMap),
    }
}

/// Follows the parser's events and keeps only what is asked for, so that nothing is ever unfolded:
/// an alias costs one look-up however much it stands for.
#[derive(Default)]
struct Reader<'a> {
    fields: Fields<'a>,
    root: Option<Root>,
    documents: usize,
    aliases: usize,
    /// Scalars with an anchor, for the aliases that name them.
    anchors: Vec<(usize, Value<'a>)>,
    /// The collections that are open, outermost first.
    open: Vec<Open>,
}

enum Root {
    /// A map, or nothing at all.
    Map,
    Other,
}

enum Open {
    List,
    Map {
        role: Role,
        keys: BTreeSet<String>,
        key: Key,
    },
}

/// Which map it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Top,
    Metadata,
    Other,
}

/// Where a map stands.
#[derive(Default)]
enum Key {
    #[default]
    Awaited,
    /// The value of this key comes next.
    Scalar(String),
    /// The value of a key that is no scalar comes next.
    Collection,
}

impl<'a> Reader<'a> {
    fn take(&mut self, event: Event<'a>) -> Result<(), &'static str> {
        match event {
            Event::DocumentStart(_) => {
                self.documents = self.documents.saturating_add(1);
                if self.documents > 1 {
                    return Err("a second YAML document begins inside the block");
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                let value = match (style, tag) {
                    (ScalarStyle::Plain, None) => Value::Plain(text),
                    _ => Value::Quoted(text),
                };
                if anchor > 0 {
                    self.anchors.push((anchor, value.clone()));
                }
                self.node(value)?;
            }
            Event::Alias(anchor) => {
                self.aliases = self.aliases.saturating_add(1);
                if self.aliases > FRONTMATTER_MAX_ALIASES {
                    return Err("there are too many aliases");
                }
                let value = self
                    .anchors
                    .iter()
                    .find(|(known, _)| *known == anchor)
                    .map_or(Value::Collection, |(_, value)| value.clone());
                self.node(value)?;
            }
            Event::SequenceStart(..) => self.open.push(Open::List),
            Event::MappingStart(..) => {
                let role = match self.open.last() {
                    None => {
                        self.root = Some(Root::Map);
                        Role::Top
                    }
                    Some(Open::Map {
                        role: Role::Top,
                        key: Key::Scalar(key),
                        ..
                    }) if key == "metadata" => Role::Metadata,
                    _ => Role::Other,
                };
                self.open.push(Open::Map {
                    role,
                    keys: BTreeSet::new(),
                    key: Key::Awaited,
                });
            }
            Event::SequenceEnd | Event::MappingEnd => {
                self.open.pop();
                self.node(Value::Collection)?;
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
        }
        Ok(())
    }

    /// A node is complete: it is a key or a value of the innermost open map, an item, or the root.
    fn node(&mut self, value: Value<'a>) -> Result<(), &'static str> {
        match self.open.last_mut() {
            None => {
                let nothing = matches!(&value, Value::Plain(text) if is_null(text));
                self.root
                    .get_or_insert(if nothing { Root::Map } else { Root::Other });
            }
            Some(Open::List) => {}
            Some(Open::Map { role, keys, key }) => match (std::mem::take(key), value) {
                (Key::Awaited, Value::Plain(text) | Value::Quoted(text)) => {
                    if !keys.insert(text.clone().into_owned()) {
                        return Err("a key stands twice in one map");
                    }
                    *key = Key::Scalar(text.into_owned());
                }
                (Key::Awaited, Value::Collection) => *key = Key::Collection,
                (Key::Scalar(name), value) if *role != Role::Other => {
                    if let Some(slot) = self.fields.slot(*role == Role::Metadata, &name) {
                        *slot = Some(value);
                    }
                }
                (Key::Scalar(_) | Key::Collection, _) => {}
            },
        }
        Ok(())
    }
}

/// The plain scalars that YAML 1.2 resolves to null.
pub(super) fn is_null(plain: &str) -> bool {
    matches!(plain, "" | "~" | "null" | "Null" | "NULL")
}
