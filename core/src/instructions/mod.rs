//! What people write for an agent (document 001 §2, facts 10): the chain of instruction files from the
//! broadest to the nearest, their rules and imports. This module says what one file means and where files are looked
//! for; loading them is an operation of a store (`store/instructions`).

mod load;
mod patterns;
mod places;
mod prose;
mod target;
mod unseen;
mod written;

pub(crate) use load::render;
pub use load::{
    Context, ContextKind, ContextPart, InstructionFile, Instructions, InstructionsOptions,
    LoadEntry, LoadKind, LoadNote, LoadOutcome,
};
pub(crate) use patterns::{Excludes, RulePatterns};
pub use patterns::{instructions_excluded, rule_applies};
pub use places::{
    InstructionPlace, InstructionSource, PlaceKind, PlaceSkip, PlacesQuestion, instruction_places,
};
pub use prose::ImportTarget;
pub(crate) use target::is_markdown;
pub use target::{ResolvedImport, resolve_import};
pub(crate) use unseen::without_unseen;
pub use written::{ParsedInstructions, parse_instructions};
