//! What one memory is: its kind, its frontmatter, its header, its line in the manifest, and the
//! index file that leads to it.

mod age;
mod flat;
mod frontmatter;
mod header;
mod index;
mod kind;
mod manifest;
mod time;
mod yaml;

pub use age::{MemoryAge, memory_age};
pub(crate) use frontmatter::needs_more;
pub use frontmatter::{Frontmatter, Problem, parse_frontmatter};
pub use header::MemoryHeader;
pub use index::{Truncation, truncate_index};
pub use kind::{MemoryType, Scope, default_scope};
pub use manifest::format_manifest;
