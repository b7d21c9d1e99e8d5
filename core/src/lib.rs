//! The whole logic of memdir, without any I/O.
//!
//! Two kinds of things live here. **Rules** are plain functions: truncate an index, format a
//! manifest, validate a path. **Flows** are operations that need the outside world: they ask for
//! [`flow::Effect`]s and are resumed with [`flow::Outcome`]s by a host, which holds no policy.
//! ARCHITECTURE.md at the root of the repository tells how the pieces fit.

mod address;
pub mod agent;
pub mod agents;
pub mod cli;
pub mod conversation;
pub mod dream;
pub mod error;
pub mod extract;
pub mod flow;
mod glob;
pub mod inbox;
pub mod instructions;
mod json;
pub mod limits;
pub mod lint;
pub mod memory;
pub mod model;
mod order;
pub mod paths;
mod progress;
pub mod prompt;
pub mod recall;
pub mod report;
mod retry;
pub mod rules;
pub mod secrets;
pub mod session;
pub mod store;
pub mod team;
mod text;
mod tool;
pub mod transcript;
pub mod write;

/// The version of every package of this project.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

pub use error::{Error, ErrorCode};
