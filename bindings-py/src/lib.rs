//! `memdir._core`: the core and the std host for Python.
//!
//! Files, clock and random bytes are done here, without the GIL; what needs Python (HTTP, the
//! user's model and listener, the terminal, waiting, programs) comes out of [`flow::Flow::resume`]
//! as dicts. Results are the frozen dataclasses of `memdir._types`, made by [`to_python`] from the
//! core's own types, so nothing about their fields is written down here.

mod errors;
mod flow;
mod from_python;
mod rules;
mod store;
mod to_python;

use pyo3::prelude::*;

/// The native part of memdir. Use `memdir` and `memdir.rules`.
#[pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use super::flow::{Flow, Step, Stoppable, command, failure_code, probe};
    #[pymodule_export]
    use super::rules::{
        batch_entries, choose_directory, classify_path, classify_tool_call, compaction_cut,
        conversation_text, cut_memory, decide_dream, decide_extraction, decode_model_answer,
        decode_tool_answer, default_scope, encode_model_request, encode_tool_request, env_flag,
        error_table, estimate_tokens, fill_template, format_manifest, grant_bytes, injective_key,
        instruction_places, instructions_excluded, lint_memories, lock_is_held, may_write,
        measure_notes, memory_age, memory_enabled, memory_file_name, merge_team_index,
        notes_are_empty, parse_frontmatter, parse_instructions, parse_settings, parse_transcript,
        project_slug, rank_memories, read_only_command, read_selection, recent_tools,
        redact_secrets, resolve_import, retry_pause_ms, rule_applies, scan_secrets,
        session_notes_due, summarise_tool_calls, team_delta, team_reconcile, team_repository,
        tokenize, truncate_index, update_index, update_memory, validate_memory_path,
        validate_team_key,
    };
    #[pymodule_export]
    use super::store::Store;

    /// The version of the package.
    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "Python's own name for it")]
    const __version__: &str = memdir_core::VERSION;
}
