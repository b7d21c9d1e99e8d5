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

/// What a key at the top of a block holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Listed {
    /// One text, or those of a list.
    pub texts: Vec<String>,
    /// Whether there is something in it that is no text.
    pub others: bool,
}

/// Reads the one key of a block whose value is a text or a list of texts.
pub(super) fn listed(block: &str, key: &str) -> Result<Listed, Unreadable> {
    parse(block)?;
    let mut listed = Listed::default();
    let (mut depth, mut keys) = (0_usize, 0_usize);
    // Scalars with an anchor, for the aliases that name them.
    let mut anchors: Vec<(usize, (String, bool))> = Vec::new();
    // At the top, keys and values take turns.
    let (mut at_key, mut is_wanted) = (true, false);
    for event in Parser::new_from_str(block) {
        // It was read once already.
        let Ok((event, _)) = event else { break };
        let opens = match &event {
            Event::Scalar(..) | Event::Alias(_) => false,
            Event::SequenceStart(..) | Event::MappingStart(..) => true,
            Event::SequenceEnd | Event::MappingEnd => {
                depth = depth.saturating_sub(1);
                continue;
            }
            _ => continue,
        };
        if depth == 1 {
            if at_key {
                keys = keys.saturating_add(1);
                is_wanted = matches!(&event, Event::Scalar(text, ..) if text == key);
            }
            at_key = !at_key;
        }
        let scalar = match &event {
            Event::Scalar(text, style, anchor, tag) => {
                let is_plain = matches!((style, tag), (ScalarStyle::Plain, None));
                let scalar = (text.clone().into_owned(), is_plain);
                if *anchor > 0 {
                    anchors.push((*anchor, scalar.clone()));
                }
                Some(scalar)
            }
            Event::Alias(anchor) => {
                let known = anchors.iter().find(|(known, _)| known == anchor);
                known.map(|(_, scalar)| scalar.clone())
            }
            _ => None,
        };
        let is_value = is_wanted && (depth == 2 || (depth == 1 && at_key));
        if is_value && matches!(&event, Event::Scalar(_, ScalarStyle::Plain, _, Some(_))) {
            // Whoever writes `!docs/*.md` means no tag.
            return Err(Unreadable::Invalid {
                line: 1,
                message: "a value has a tag".to_owned(),
            });
        }
        if is_value {
            match (&event, scalar) {
                (_, Some((text, is_plain))) => {
                    if is_plain && is_number_or_flag(&text) {
                        listed.others = true;
                    } else if !(is_plain && is_null(&text)) {
                        listed.texts.push(text);
                    }
                }
                (Event::SequenceStart(..), _) if depth == 1 => {}
                _ => {
                    listed.others = true;
                    // What a map holds is not meant.
                    is_wanted = is_wanted && depth > 1;
                }
            }
        }
        if opens {
            depth = depth.saturating_add(1);
        }
    }
    if keys == 0 && !block.trim().is_empty() {
        return Err(Unreadable::NotAMap);
    }
    Ok(listed)
}

/// The plain scalars that YAML 1.2 resolves to numbers and booleans.
fn is_number_or_flag(plain: &str) -> bool {
    let digits = plain.trim_start_matches(['+', '-']);
    let is_number = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && (plain.parse::<f64>().is_ok() || matches!(digits, ".inf" | ".Inf" | ".INF"));
    let with_base = digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0o"));
    let with_base = with_base.is_some_and(|digits| u64::from_str_radix(digits, 16).is_ok());
    let is_word = matches!(
        plain,
        "true" | "True" | "TRUE" | "false" | "False" | "FALSE" | ".nan" | ".NaN" | ".NAN"
    );
    is_number || with_base || is_word
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
