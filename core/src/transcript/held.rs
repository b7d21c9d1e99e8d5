//! What is kept of the values of a message, and what keeping it takes. Hostile JSON takes a hundred times
//! its length once it is read, so values are counted while they come in.

use std::fmt;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Number, Value};

use crate::conversation::{Block, Content, Message};
use crate::limits::{TRANSCRIPT_LINE_VALUES, TRANSCRIPT_RESULT_BYTES};

/// A value, and how many values it is made of. With more than [`TRANSCRIPT_LINE_VALUES`] it is not whole.
#[derive(Default)]
pub(super) struct Held {
    pub value: Value,
    pub count: usize,
}

impl<'de> Deserialize<'de> for Held {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut count = 0;
        let value = Counting(&mut count).deserialize(deserializer)?;
        Ok(Self { value, count })
    }
}

struct Counting<'a>(&'a mut usize);

impl<'de> DeserializeSeed<'de> for Counting<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        *self.0 = self.0.saturating_add(1);
        if *self.0 > TRANSCRIPT_LINE_VALUES {
            IgnoredAny::deserialize(deserializer)?;
            return Ok(Value::Null);
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Counting<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Number::from_f64(number).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(Counting(self.0))? {
            if *self.0 <= TRANSCRIPT_LINE_VALUES {
                items.push(item);
            }
        }
        items.shrink_to_fit();
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            let value = map.next_value_seed(Counting(self.0))?;
            if *self.0 <= TRANSCRIPT_LINE_VALUES {
                members.insert(name, value);
            }
        }
        Ok(Value::Object(members))
    }
}

/// What a tool answered: its texts, cut where they are more than memory needs, and of other blocks, such
/// as images, the type.
pub(super) fn cut_result(content: Value) -> Value {
    let mut room = TRANSCRIPT_RESULT_BYTES;
    match content {
        Value::String(text) => Value::String(cut(text, &mut room)),
        Value::Array(items) => {
            let items = items.into_iter();
            Value::Array(items.filter_map(|item| cut_item(item, &mut room)).collect())
        }
        _ => Value::Null,
    }
}

fn cut_item(item: Value, room: &mut usize) -> Option<Value> {
    match item {
        Value::String(text) => Some(Value::String(cut(text, room))),
        Value::Object(mut members) => {
            let kind = members.remove("type")?;
            let text = match members.remove("text") {
                Some(Value::String(text)) if kind == "text" => Some(cut(text, room)),
                _ => None,
            };
            let mut kept = Map::new();
            kept.insert("type".to_owned(), kind);
            kept.extend(text.map(|text| ("text".to_owned(), Value::String(text))));
            Some(Value::Object(kept))
        }
        _ => None,
    }
}

fn cut(text: String, room: &mut usize) -> String {
    if text.len() <= *room {
        *room = room.saturating_sub(text.len());
        return text;
    }
    let end = text.floor_char_boundary(*room);
    *room = 0;
    let kept = text.get(..end).unwrap_or_default();
    let more = text.len().saturating_sub(end);
    format!("{kept}\n[cut: {more} more bytes]")
}

/// About how many bytes a message takes in memory. The numbers beside the texts are what each part
/// takes on a machine of 64 bits; on others they are the same, so that every machine keeps as much.
pub(super) fn size(message: &Message) -> usize {
    let content = match &message.content {
        Content::Text(text) => text.len(),
        Content::Blocks(blocks) => blocks.iter().map(block_size).sum(),
    };
    let id = message.id.as_ref().map_or(0, String::len);
    160_usize.saturating_add(id).saturating_add(content)
}

fn block_size(block: &Block) -> usize {
    let inside = match block {
        Block::Text { text } => text.len(),
        Block::ToolUse { id, name, input } => id
            .len()
            .saturating_add(name.len())
            .saturating_add(value_size(input)),
        Block::ToolResult {
            tool_use_id,
            content,
            is_error: _,
        } => tool_use_id.len().saturating_add(value_size(content)),
        Block::Other => 0,
    };
    inside.saturating_add(96)
}

fn value_size(value: &Value) -> usize {
    let inside = match value {
        Value::String(text) => text.len(),
        // What the allocator adds counts for small arrays.
        Value::Array(items) => items.iter().map(value_size).fold(64, usize::saturating_add),
        // A map takes room for eleven members at once.
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| {
                name.len()
                    .saturating_add(48)
                    .saturating_add(value_size(value))
            })
            .fold(640, usize::saturating_add),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    inside.saturating_add(32)
}
