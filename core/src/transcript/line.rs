//! Reads one line of a transcript: whether it is a message, what it says, and what it follows.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::held::{Held, cut_result};
use crate::conversation::{Block, Content, Message};
use crate::json::{Member, read_members};
use crate::limits::TRANSCRIPT_LINE_VALUES;
use crate::model::Role;

/// What a line is.
#[derive(Debug)]
pub(super) enum Line {
    Message(Box<Said>),
    /// Something else that others may follow.
    Other(Place),
    /// A sub agent's.
    Ignored,
    NotJson,
    /// JSON, but no message as they are known.
    Broken(Place),
    /// More values than are held.
    TooLarge(Place),
}

/// A message and where it stands.
#[derive(Debug)]
pub(super) struct Said {
    pub message: Message,
    pub place: Place,
    /// By which lines of one answer are known.
    pub answer: Option<String>,
}

/// Where a line stands in the conversation.
#[derive(Debug, Default)]
pub(super) struct Place {
    pub id: Option<String>,
    pub parent: Option<String>,
}

/// Reads a line that is not blank. Its bytes may be changed: programs that cut texts between the halves
/// of a surrogate pair write what no JSON parser takes for text, and such a line is mended.
pub(super) fn read(bytes: &mut [u8]) -> Line {
    let line = read_once(bytes);
    match line {
        Line::NotJson | Line::Broken(_) if mend_surrogates(bytes) => read_once(bytes),
        line => line,
    }
}

fn read_once(bytes: &[u8]) -> Line {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Line::NotJson;
    };
    // Two passes: most lines of a session are no messages, and what they hold is not looked at.
    let mut wanted = [
        "type",
        "uuid",
        "parentUuid",
        "isSidechain",
        "isMeta",
        "isCompactSummary",
        "role",
        "message",
    ]
    .map(|name| (name, Member::Missing));
    match read_members(text, &mut wanted) {
        Err(_) => return Line::NotJson,
        Ok(false) => return Line::Broken(Place::default()),
        Ok(true) => {}
    }
    let [kind, uuid, parent, sidechain, meta, summary, role, message] =
        wanted.map(|(_, member)| member);
    match role {
        Member::Missing => {}
        Member::Text(role) if is_speaker(&role) => return plain(text),
        Member::Text(_) => return Line::Ignored,
        _ => return Line::Broken(Place::default()),
    }
    if is_true(&sidechain) {
        return Line::Ignored;
    }
    let place = Place {
        id: uuid.text(),
        parent: parent.text(),
    };
    let is_message = kind.text().is_some_and(|kind| is_speaker(&kind));
    if !is_message || matches!(message, Member::Missing) {
        return Line::Other(place);
    }
    let Ok(Session {
        message: Object(raw),
    }) = serde_json::from_str(text)
    else {
        return Line::Broken(place);
    };
    let answer = raw.id.text();
    let is_meta = raw.role == Role::User && (is_true(&meta) || is_true(&summary));
    let tokens = raw.usage.value.get("output_tokens");
    let tokens = tokens
        .and_then(Value::as_u64)
        .filter(|_| raw.role == Role::Assistant);
    match content(raw.content) {
        Ok(content) => Line::Message(Box::new(Said {
            message: Message {
                id: place.id.clone(),
                role: raw.role,
                content,
                is_meta,
                tokens,
            },
            place,
            answer,
        })),
        Err(Unfit::Broken) => Line::Broken(place),
        Err(Unfit::TooLarge) => Line::TooLarge(place),
    }
}

/// A message by itself.
fn plain(text: &str) -> Line {
    let place = Place::default();
    let Ok(raw) = serde_json::from_str::<RawMessage>(text) else {
        return Line::Broken(place);
    };
    let (Ok(id), Ok(is_meta), Ok(tokens)) = (
        optional_text(raw.id),
        flag(&raw.is_meta),
        count(&raw.tokens),
    ) else {
        return Line::Broken(place);
    };
    match content(raw.content) {
        Ok(content) => Line::Message(Box::new(Said {
            message: Message {
                id,
                role: raw.role,
                content,
                is_meta,
                tokens,
            },
            place,
            answer: None,
        })),
        Err(Unfit::Broken) => Line::Broken(place),
        Err(Unfit::TooLarge) => Line::TooLarge(place),
    }
}

fn is_speaker(name: &str) -> bool {
    matches!(name, "user" | "assistant")
}

fn is_true(member: &Member) -> bool {
    matches!(member, Member::Flag(true))
}

fn optional_text(member: Member) -> Result<Option<String>, Unfit> {
    match member {
        Member::Text(text) => Ok(Some(text)),
        Member::Missing => Ok(None),
        _ => Err(Unfit::Broken),
    }
}

fn flag(member: &Member) -> Result<bool, Unfit> {
    match member {
        Member::Flag(flag) => Ok(*flag),
        Member::Missing => Ok(false),
        _ => Err(Unfit::Broken),
    }
}

fn count(member: &Member) -> Result<Option<u64>, Unfit> {
    match member {
        Member::Number(count) => Ok(Some(*count)),
        Member::Missing => Ok(None),
        _ => Err(Unfit::Broken),
    }
}

/// Why something is no message.
enum Unfit {
    Broken,
    TooLarge,
}

/// A line of a session.
#[derive(Deserialize)]
struct Session {
    message: Object<RawMessage>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawMessage {
    #[serde(default)]
    id: Member,
    role: Role,
    content: RawContent,
    #[serde(default)]
    is_meta: Member,
    #[serde(default)]
    tokens: Member,
    #[serde(default)]
    usage: Held,
}

enum RawContent {
    Text(String),
    Blocks(Vec<RawBlock>),
    TooLarge,
}

/// What blocks of all types have; a derived enum would hold a copy of each member while it looks for the
/// type, those of images and thinking too.
#[derive(Deserialize)]
struct RawBlock {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    text: Member,
    #[serde(default)]
    id: Member,
    #[serde(default)]
    name: Member,
    #[serde(default)]
    input: Held,
    #[serde(default)]
    tool_use_id: Member,
    #[serde(default)]
    content: Held,
    #[serde(default)]
    is_error: Member,
}

fn content(raw: RawContent) -> Result<Content, Unfit> {
    match raw {
        RawContent::Text(text) => Ok(Content::Text(text)),
        RawContent::Blocks(blocks) => {
            let blocks: Result<Vec<Block>, Unfit> = blocks.into_iter().map(block).collect();
            let mut blocks = blocks?;
            blocks.shrink_to_fit();
            Ok(Content::Blocks(blocks))
        }
        RawContent::TooLarge => Err(Unfit::TooLarge),
    }
}

fn block(raw: RawBlock) -> Result<Block, Unfit> {
    let needed = |member: Member| member.text().ok_or(Unfit::Broken);
    Ok(match raw.kind.as_str() {
        "text" => Block::Text {
            text: needed(raw.text)?,
        },
        "tool_use" => Block::ToolUse {
            id: needed(raw.id)?,
            name: needed(raw.name)?,
            input: raw.input.value,
        },
        "tool_result" => Block::ToolResult {
            tool_use_id: needed(raw.tool_use_id)?,
            content: cut_result(raw.content.value),
            is_error: flag(&raw.is_error)?,
        },
        _ => Block::Other,
    })
}

impl<'de> Deserialize<'de> for RawContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = RawContent;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or blocks")
    }

    fn visit_str<E>(self, text: &str) -> Result<RawContent, E> {
        Ok(RawContent::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<RawContent, A::Error> {
        let mut blocks = Vec::new();
        let mut values = 0_usize;
        while let Some(Object::<RawBlock>(block)) = seq.next_element()? {
            values = values
                .saturating_add(1)
                .saturating_add(block.input.count)
                .saturating_add(block.content.count);
            if values > TRANSCRIPT_LINE_VALUES {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                return Ok(RawContent::TooLarge);
            }
            blocks.push(block);
        }
        Ok(RawContent::Blocks(blocks))
    }
}

/// Something that must be an object: what is derived also takes an array of its members.
struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ObjectVisitor(PhantomData))
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = Object<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Object)
    }
}

/// Puts U+FFFD in the place of every escaped half of a surrogate pair that stands alone; whether there
/// was one.
fn mend_surrogates(bytes: &mut [u8]) -> bool {
    let mut mended = false;
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|byte| *byte == b'\\') {
        let Some((_, from)) = rest.split_at_mut_checked(at) else {
            break;
        };
        let pair = match escaped_unit(from) {
            Some(0xD800..=0xDBFF) => {
                let low = from.get(6..).and_then(escaped_unit);
                matches!(low, Some(0xDC00..=0xDFFF))
            }
            Some(0xDC00..=0xDFFF) => false,
            // Another escape is two bytes long, the rest of a longer one is plain.
            _ => {
                rest = from.get_mut(2..).unwrap_or_default();
                continue;
            }
        };
        if !pair && let Some(digits) = from.get_mut(2..6) {
            digits.copy_from_slice(b"fffd");
            mended = true;
        }
        rest = from
            .get_mut(if pair { 12 } else { 6 }..)
            .unwrap_or_default();
    }
    mended
}

/// The UTF-16 unit that `\uXXXX` at the beginning stands for.
fn escaped_unit(bytes: &[u8]) -> Option<u16> {
    let digits = bytes.strip_prefix(b"\\u")?.first_chunk::<4>()?;
    let digits = std::str::from_utf8(digits).ok()?;
    u16::from_str_radix(digits, 16).ok()
}
