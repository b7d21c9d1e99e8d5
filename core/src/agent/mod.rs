//! What an agent that memdir runs in the background may do.

mod shell;

pub use shell::{ShellStage, read_only_command};
