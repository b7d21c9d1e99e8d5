//! The server that a team hosts to share the memories of its agents. It speaks the protocol that
//! `memdir_core::team` speaks as a client, keeps everything in one SQLite file or in PostgreSQL, and
//! takes nothing that would harm a client: keys, sizes and secrets are judged by the core's own rules.
//!
//! From the outside in: [`Server`] is the socket, `observe` what every request gets, `api` and `page`
//! what is asked, `writer` the one task that writes, [`Storage`] the database.

mod answers;
mod api;
mod app;
mod body;
mod caller;
pub mod commands;
mod condition;
mod entries;
mod hint;
mod limits;
mod metrics;
mod observe;
mod options;
mod page;
mod problem;
mod rate;
mod rights;
mod serve;
mod storage;
mod time;
mod token;
mod writer;

pub use api::description;
pub use hint::first_run;
pub use limits::Limits;
pub use options::{Command, DATABASE, HELP, Options};
pub use rights::{Pattern, Repository, Right};
pub use serve::{Server, StartError};
pub use storage::{Address, Storage, StorageError, TokenHead};
pub use token::Token;
