//! Every rule that can be used without opening a store, under one roof: what the faces export as
//! `memdir/rules`, `memdir.rules` and the WIT interface `rules`.

pub use crate::error::error_table;
pub use crate::lint::lint_memories;
pub use crate::memory::{
    default_scope, format_manifest, memory_age, parse_frontmatter, truncate_index,
};
pub use crate::model::{decode_model_answer, encode_model_request};
pub use crate::paths::{
    choose_directory, env_flag, injective_key, memory_enabled, parse_settings, project_slug,
    validate_memory_path,
};
pub use crate::recall::{
    cut_memory, grant_bytes, rank_memories, read_selection, recent_tools, tokenize,
};
pub use crate::team::{batch_entries, team_delta};
pub use crate::write::{memory_file_name, update_index, update_memory};
