//! A background agent: a bounded conversation with a model that may call a few tools (document 000 §4, facts
//! 6). What it may do is decided call by call, whoever runs the conversation.

mod change;
mod command;
mod desk;
mod notes;
mod run;
mod search;
mod shell;
mod tools;

pub(crate) use change::check_memory_path;
pub use desk::ToolReply;
pub(crate) use desk::{Desk, Draft, Manner};
pub(crate) use notes::{NotesDesk, can_edit, notes_tools};
pub(crate) use run::{Hands, Plan, run};
pub use shell::{ShellStage, read_only_command};
pub(crate) use tools::{can_write, definitions};
