//! memdir as a WebAssembly component: the exports of `wit/memdir.wit`, and no import at all.
//!
//! Nothing is decided here. A rule is a call of [`memdir_core::rules`], a flow is a flow of
//! [`memdir_core`] with its value wrapped; `to_wit` and `from_wit` convert, `same` pairs the enums.

#[expect(unsafe_code, reason = "generated: the canonical ABI is raw memory")]
mod bindings {
    use super::Component;

    wit_bindgen::generate!({ path: "../../wit", world: "memdir" });
    export!(Component with_types_in self);
}

mod flows;
mod from_wit;
mod rules;
mod same;
mod to_wit;

/// Implements both exported interfaces.
struct Component;
