//! Reads a few members of a JSON object. Everything else in it is skipped unread, so that neither deep
//! nesting nor odd texts and numbers elsewhere can hide them. And keeps what others wrote as they wrote it:
//! [`Written`] is an object whose members keep their order and their bytes.

use std::fmt;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// What stands under a name.
#[derive(Default)]
pub(crate) enum Member {
    /// Also null.
    #[default]
    Missing,
    Flag(bool),
    Text(String),
    /// Not negative and whole.
    Number(u64),
    Other,
}

impl Member {
    pub fn text(self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// Fills in what stands under each of the `wanted` names; says whether the text is an object at all.
pub(crate) fn read_members(
    text: &str,
    wanted: &mut [(&str, Member)],
) -> Result<bool, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let is_object = Wanted(wanted).deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(is_object)
}

struct Wanted<'a, 'n>(&'a mut [(&'n str, Member)]);

impl<'de> DeserializeSeed<'de> for Wanted<'_, '_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Wanted<'_, '_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match self.0.iter_mut().find(|(name, _)| *name == key) {
                Some((_, member)) => *member = map.next_value()?,
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(true)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<bool, A::Error> {
        IgnoredAny.visit_seq(seq).map(|_| false)
    }

    fn visit_bool<E>(self, _: bool) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_i64<E>(self, _: i64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_u64<E>(self, _: u64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_f64<E>(self, _: f64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_str<E>(self, _: &str) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_unit<E>(self) -> Result<bool, E> {
        Ok(false)
    }
}

impl<'de> Deserialize<'de> for Member {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MemberVisitor)
    }
}

struct MemberVisitor;

impl<'de> Visitor<'de> for MemberVisitor {
    type Value = Member;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member")
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Member, E> {
        Ok(Member::Flag(flag))
    }

    fn visit_str<E>(self, text: &str) -> Result<Member, E> {
        Ok(Member::Text(text.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Member, E> {
        Ok(Member::Missing)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Member, E> {
        Ok(Member::Other)
    }

    fn visit_u64<E>(self, number: u64) -> Result<Member, E> {
        Ok(Member::Number(number))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Member, E> {
        Ok(Member::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Member, A::Error> {
        IgnoredAny.visit_seq(seq).map(|_| Member::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Member, A::Error> {
        IgnoredAny.visit_map(map).map(|_| Member::Other)
    }
}

/// A JSON object as somebody wrote it.
pub(crate) struct Written<'a>(Vec<WrittenMember<'a>>);

/// One member of it; key and value are JSON text.
pub(crate) struct WrittenMember<'a> {
    pub(crate) name: String,
    pub(crate) key: &'a str,
    pub(crate) value: &'a str,
}

impl<'a> Written<'a> {
    /// None when the text is not one JSON object.
    pub(crate) fn read(text: &'a str) -> Option<Self> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let object = deserializer.deserialize_map(WrittenVisitor).ok()?;
        deserializer.end().ok()?;
        Some(object)
    }

    pub(crate) fn members(&self) -> &[WrittenMember<'a>] {
        &self.0
    }

    /// The value under a name as JSON text; of several the last, as everywhere.
    pub(crate) fn get(&self, name: &str) -> Option<&'a str> {
        let mut members = self.0.iter().rev();
        Some(members.find(|member| member.name == name)?.value)
    }

    pub(crate) fn text(&self, name: &str) -> Option<String> {
        serde_json::from_str(self.get(name)?).ok()
    }

    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        serde_json::from_str(self.get(name)?).ok()
    }

    pub(crate) fn object(&self, name: &str) -> Option<Written<'a>> {
        Self::read(self.get(name)?)
    }

    /// The elements of a list, each as JSON text.
    pub(crate) fn list(&self, name: &str) -> Option<Vec<&'a str>> {
        elements(self.get(name)?)
    }
}

/// The elements of a JSON list, each as JSON text.
pub(crate) fn elements(list: &str) -> Option<Vec<&str>> {
    let elements: Vec<&RawValue> = serde_json::from_str(list).ok()?;
    Some(elements.into_iter().map(RawValue::get).collect())
}

struct WrittenVisitor;

impl<'de> Visitor<'de> for WrittenVisitor {
    type Value = Written<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Written<'de>, A::Error> {
        let mut members = Vec::new();
        while let Some((key, value)) = map.next_entry::<&RawValue, &RawValue>()? {
            let key = key.get();
            members.push(WrittenMember {
                // A name that is no text (half a surrogate pair) is none that anybody looks for.
                name: serde_json::from_str(key).unwrap_or_else(|_| key.to_owned()),
                key,
                value: value.get(),
            });
        }
        Ok(Written(members))
    }
}

/// Writes a JSON object in the order in which its members come, from JSON texts.
pub(crate) struct ObjectWriter(String);

impl ObjectWriter {
    pub(crate) fn new() -> Self {
        Self("{".to_owned())
    }

    /// Adds a member that is written already.
    pub(crate) fn written(&mut self, key: &str, value: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push_str(key);
        self.0.push(':');
        self.0.push_str(value);
    }

    /// Adds a member; the name needs no escapes.
    pub(crate) fn member(&mut self, name: &str, value: &str) {
        self.written(&format!("\"{name}\""), value);
    }

    pub(crate) fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

/// A written list with more elements behind its own; None when it is no list.
pub(crate) fn extended(list: &str, more: &[String]) -> Option<String> {
    let own = list.strip_prefix('[')?.strip_suffix(']')?;
    if more.is_empty() {
        return Some(list.to_owned());
    }
    let comma = if own.trim().is_empty() { "" } else { "," };
    Some(format!("[{own}{comma}{}]", more.join(",")))
}
