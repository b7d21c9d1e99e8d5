//! Reads the core's types from JavaScript values, in the shape that serde gives them. A reader of its
//! own, because one that tells what it found in place of what it wanted formats numbers with a
//! fraction, and that alone is 13 kB of wasm.

use std::fmt;

use js_sys::{Array, ArrayIntoIter, Number, Object, Reflect, Uint8Array};
use serde::de::value::{MapAccessDeserializer, MapDeserializer, SeqDeserializer};
use serde::de::{self, Expected, IntoDeserializer, Unexpected, Visitor};
use wasm_bindgen::{JsCast, JsValue};

/// A JavaScript value to be read.
pub struct Reader(pub JsValue);

/// Why it could not be read: one line.
#[derive(Debug)]
pub struct Unreadable(pub String);

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unreadable {}

impl de::Error for Unreadable {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }

    fn invalid_type(_: Unexpected<'_>, wanted: &dyn Expected) -> Self {
        wrong(wanted)
    }

    fn invalid_value(found: Unexpected<'_>, wanted: &dyn Expected) -> Self {
        Self::invalid_type(found, wanted)
    }
}

type Entries = MapDeserializer<'static, Pairs, Unreadable>;

/// The keys and values of an object.
struct Pairs(ArrayIntoIter);

impl Iterator for Pairs {
    type Item = (Reader, Reader);

    fn next(&mut self) -> Option<Self::Item> {
        let pair: Array = self.0.next()?.unchecked_into();
        Some((Reader(pair.get(0)), Reader(pair.get(1))))
    }
}

/// The fields of an object that a type knows; others are left alone.
struct Fields {
    object: JsValue,
    names: std::slice::Iter<'static, &'static str>,
}

impl Iterator for Fields {
    type Item = (&'static str, Reader);

    fn next(&mut self) -> Option<Self::Item> {
        self.names.by_ref().find_map(|name| {
            let value = Reflect::get(&self.object, &JsValue::from_str(name)).unwrap_or_default();
            (!value.is_undefined()).then_some((*name, Reader(value)))
        })
    }
}

impl Reader {
    fn entries(&self) -> Option<Entries> {
        let object = self.0.dyn_ref::<Object>()?;
        Some(MapDeserializer::new(Pairs(
            Object::entries(object).into_iter(),
        )))
    }
}

#[cold]
fn wrong(wanted: &dyn Expected) -> Unreadable {
    Unreadable(format!("it is not {wanted}"))
}

impl IntoDeserializer<'_, Unreadable> for Reader {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> de::Deserializer<'de> for Reader {
    type Error = Unreadable;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        Err(wrong(&visitor))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        visitor.visit_unit()
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        match self.0.as_bool() {
            Some(flag) => visitor.visit_bool(flag),
            None => Err(wrong(&visitor)),
        }
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        match self.0.as_f64().filter(|_| Number::is_safe_integer(&self.0)) {
            Some(number) => visitor.visit_i64(number as i64),
            None => Err(wrong(&visitor)),
        }
    }

    fn deserialize_i32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        self.deserialize_i64(visitor)
    }

    fn deserialize_u8<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        self.deserialize_i64(visitor)
    }

    fn deserialize_u16<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        self.deserialize_i64(visitor)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        self.deserialize_i64(visitor)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        self.deserialize_i64(visitor)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        match self.0.as_string() {
            Some(text) => visitor.visit_string(text),
            None => Err(wrong(&visitor)),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        self.deserialize_string(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        self.deserialize_string(visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        match self.0.dyn_ref::<Uint8Array>() {
            Some(bytes) => visitor.visit_byte_buf(bytes.to_vec()),
            None => Err(wrong(&visitor)),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        match self.0.dyn_into::<Array>() {
            Ok(list) => visitor.visit_seq(SeqDeserializer::new(list.into_iter().map(Reader))),
            Err(_) => Err(wrong(&visitor)),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        match self.entries() {
            Some(entries) => visitor.visit_map(entries),
            None => Err(wrong(&visitor)),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        if self.0.is_object() {
            visitor.visit_map(MapDeserializer::new(Fields {
                object: self.0,
                names: fields.iter(),
            }))
        } else {
            Err(wrong(&visitor))
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        if self.0.is_null() || self.0.is_undefined() {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    /// The name of a variant, or an object with it and what it holds.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        if let Some(name) = self.0.as_string() {
            visitor.visit_enum(name.into_deserializer())
        } else if let Some(entries) = self.entries() {
            visitor.visit_enum(MapAccessDeserializer::new(entries))
        } else {
            Err(wrong(&visitor))
        }
    }

    serde::forward_to_deserialize_any! {
        i8 i16 i128 u128 f32 f64 char bytes unit unit_struct newtype_struct tuple tuple_struct
    }
}
