//! A conversation that stays in JavaScript. Most calls of an extraction find nothing to be done, so a
//! message crosses only when the core looks at it, as JSON text.

use js_sys::{Array, JSON, Reflect};
use memdir_core::conversation::{Conversation, Message};
use memdir_core::{Error, ErrorCode};
use wasm_bindgen::JsValue;

/// A list of messages, and the request that they would be continued with, if there is one.
pub struct Messages {
    pub list: Array,
    /// A text, or what JSON can hold.
    pub request: JsValue,
}

impl Messages {
    pub fn alone(list: Array) -> Self {
        Self {
            list,
            request: JsValue::UNDEFINED,
        }
    }

    fn at(&self, at: usize) -> JsValue {
        self.list.get(u32::try_from(at).unwrap_or(u32::MAX))
    }
}

impl Conversation for Messages {
    fn len(&self) -> usize {
        self.list.length() as usize
    }

    fn id(&self, at: usize) -> Result<Option<String>, Error> {
        // What has no members has no id; that it is no message is said when it is looked at.
        let id = Reflect::get(&self.at(at), &JsValue::from_str("id")).unwrap_or_default();
        Ok(id.as_string())
    }

    fn message(&self, at: usize) -> Result<Message, Error> {
        let wrong = |why: &str| {
            let message = format!("messages[{at}] is no message: {why}");
            Error::new(ErrorCode::InvalidArgument, message)
        };
        let text = json(&self.at(at)).ok_or_else(|| wrong("it must be what JSON can hold"))?;
        serde_json::from_str(&text).map_err(|error| {
            // The one thing that JSON of JavaScript can hold and that of others cannot.
            if error.is_syntax() && text.contains("\\ud") {
                let message =
                    format!("messages[{at}] holds half of a surrogate pair; pass well-formed text");
                return Error::new(ErrorCode::InvalidText, message);
            }
            wrong(&error.to_string())
        })
    }

    fn request(&self) -> Result<Option<String>, Error> {
        if self.request.is_undefined() || self.request.is_null() {
            return Ok(None);
        }
        let text = self.request.as_string().or_else(|| json(&self.request));
        text.map(Some).ok_or_else(|| {
            let message = "request must be what JSON can hold";
            Error::new(ErrorCode::InvalidArgument, message)
        })
    }
}

/// The value as JSON text; none for what JSON cannot hold.
fn json(value: &JsValue) -> Option<String> {
    let text = JSON::stringify(value).ok()?;
    JsValue::from(text).as_string()
}
