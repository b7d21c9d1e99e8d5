//! What one memory is: its kind, its frontmatter, its header, its line in the manifest, and the
//! index file that leads to it.

mod age;
mod flat;
mod frontmatter;
mod header;
mod index;
mod kind;
mod links;
mod manifest;
mod spots;
mod time;
mod yaml;

pub use age::{MemoryAge, memory_age};
pub use frontmatter::{Frontmatter, Problem, parse_frontmatter};
pub(crate) use frontmatter::{block_place, closed_block, is_valid, listed, needs_more};
pub use header::MemoryHeader;
pub(crate) use index::{IndexSize, index_size};
pub use index::{Truncation, truncate_index};
pub use kind::{MemoryType, Scope, default_scope};
pub(crate) use links::{links, memory_of};
pub use manifest::format_manifest;
pub(crate) use spots::{Spot, Survey, survey};
pub(crate) use time::{format_iso, parse_iso};
pub(crate) use yaml::Listed;
