//! Every rule that can be used without opening a store, under one roof: what the faces export as
//! `memdir/rules`, `memdir.rules` and the WIT interface `rules`.

pub use crate::agent::read_only_command;
pub use crate::dream::{decide_dream, lock_is_held};
pub use crate::error::error_table;
pub use crate::extract::{conversation_text, decide_extraction};
pub use crate::instructions::{
    instruction_places, instructions_excluded, parse_instructions, resolve_import, rule_applies,
};
pub use crate::lint::lint_memories;
pub use crate::memory::{
    default_scope, format_manifest, memory_age, parse_frontmatter, truncate_index,
};
pub use crate::model::{
    decode_model_answer, decode_tool_answer, encode_model_request, encode_tool_request,
};
pub use crate::paths::{
    choose_directory, classify_path, classify_tool_call, env_flag, injective_key, may_write,
    memory_enabled, parse_settings, project_slug, summarise_tool_calls, validate_memory_path,
};
pub use crate::recall::{
    cut_memory, grant_bytes, rank_memories, read_selection, recent_tools, tokenize,
};
pub use crate::retry::retry_pause_ms;
pub use crate::secrets::{redact_secrets, scan_secrets};
pub use crate::session::{
    compaction_cut, estimate_tokens, fill_template, measure_notes, notes_are_empty,
    session_notes_due,
};
pub use crate::team::{
    batch_entries, merge_team_index, team_delta, team_reconcile, team_repository, validate_team_key,
};
pub use crate::transcript::parse_transcript;
pub use crate::write::{memory_file_name, update_index, update_memory};
