//! How values cross between JavaScript and the core: as plain objects in the shape that serde
//! gives the core's types. Absent is null, maps are `Map`s, bytes are `Uint8Array`s, numbers are
//! never bigints.
//!
//! Measured against JSON text: as fast or faster, and the module is smaller.

use js_sys::{Array, Object};
use memdir_core::error::{ErrorFamily, error_table};
use memdir_core::flow::{Failure, Outcome};
use memdir_core::{Error, ErrorCode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_wasm_bindgen::Serializer;
use wasm_bindgen::JsValue;

use crate::reader::{Reader, Unreadable};

/// An error on its way to JavaScript, which sees a plain object.
#[derive(Debug)]
pub struct Thrown(Error);

#[derive(Serialize)]
struct ErrorValue {
    code: ErrorCode,
    message: String,
    path: Option<String>,
    family: Option<ErrorFamily>,
}

impl From<Error> for Thrown {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

impl From<Thrown> for JsValue {
    fn from(Thrown(error): Thrown) -> Self {
        let family = error_table()
            .into_iter()
            .find(|info| info.code == error.code)
            .map(|info| info.family);
        let Error {
            code,
            message,
            path,
        } = error;
        let value = ErrorValue {
            code,
            message,
            path,
            family,
        };
        value.serialize(&serializer()).unwrap_or_else(Self::from)
    }
}

fn serializer() -> Serializer {
    Serializer::new().serialize_missing_as_null(true)
}

/// A value of the core for JavaScript.
pub fn to_js<T: Serialize>(value: &T) -> Result<JsValue, Thrown> {
    value
        .serialize(&serializer())
        .map_err(|error| Error::new(ErrorCode::Internal, message(error)).into())
}

/// A value of the core as JSON text: one that holds JSON of somebody else's, of which objects are objects
/// and no maps, or one whose text another value needs anyway.
pub fn json<T: Serialize>(value: T) -> String {
    // Fails only for maps with keys that are no texts.
    serde_json::to_string(&value).unwrap_or_default()
}

/// An object with one property.
pub fn object(name: &str, value: JsValue) -> JsValue {
    let entry = Array::of2(&name.into(), &value);
    // Fails only for what is no list of entries.
    Object::from_entries(&Array::of1(&entry)).map_or(JsValue::UNDEFINED, JsValue::from)
}

/// An argument from JavaScript; `name` is for the message.
pub fn from_js<T: DeserializeOwned>(name: &str, value: JsValue) -> Result<T, Thrown> {
    T::deserialize(Reader(value)).map_err(|Unreadable(why)| {
        Error::new(ErrorCode::InvalidArgument, format!("{name}: {why}")).into()
    })
}

/// The answer to one effect.
pub fn outcome(value: JsValue) -> Result<Outcome, Thrown> {
    answer(value)
}

/// Part of an answer.
pub fn failures(value: JsValue) -> Result<Vec<Failure>, Thrown> {
    answer(value)
}

fn answer<T: DeserializeOwned>(value: JsValue) -> Result<T, Thrown> {
    T::deserialize(Reader(value)).map_err(|Unreadable(why)| Error::protocol(why).into())
}

/// What serde says, without the stack that the JavaScript error around it prints.
fn message(error: serde_wasm_bindgen::Error) -> String {
    js_sys::Error::from(JsValue::from(error)).message().into()
}
