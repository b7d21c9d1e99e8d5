//! Which memories help with a query, and how much of them is shown (facts 5, document 000 §5). The
//! flow that reads the store is `store::recall`; here is what it decides by.

mod budget;
mod chunks;
mod index;
mod rank;
mod render;
mod select;
mod stem;
mod tokens;
mod uses;

pub(crate) use budget::what_is_shown;
pub use budget::{CutMemory, RecallState, cut_memory, grant_bytes};
pub use index::Index;
pub use rank::{Found, RankedMemory, Standing, rank_memories};
pub(crate) use render::render;
pub use select::{Selection, ToolResult, read_selection, recent_tools};
pub(crate) use select::{candidates, selection_request};
pub use tokens::{Word, tokenize};
pub(crate) use uses::Uses;
