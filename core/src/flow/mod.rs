//! The engine: how straight-line `async` code runs in a core that does no I/O.
//!
//! A **flow** asks its [`Host`] handle for things (`host.read(..).await`). Each such call is an
//! [`Effect`]; [`Flow::resume`] hands the pending ones to whoever drives the flow, who performs
//! them and resumes with one [`Outcome`] each. There is no async runtime: the future is polled by
//! hand, once per resume.
//!
//! **The invariant: every effect of a step is answered before the next resume.**
//! [`Effect::Emit`] is the one exception, it has no outcome.

mod effect;
mod engine;
mod host;
mod join;
mod outcome;
mod probe;

pub use effect::{Bytes, Content, Effect, Event, Header, OutcomeKind, Request, Stream};
pub use engine::{Flow, Step};
pub use host::Host;
pub use join::{join, join_all};
pub use outcome::{
    Clock, Entry, Failure, FailureCode, FileKind, Head, HostInfo, HttpAnswer, Listing, Outcome,
    Response, RunAnswer, Stat,
};
pub use probe::probe;
