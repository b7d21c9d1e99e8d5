"""The rules of the core that can be used without opening a store.

All of them are pure: no file is touched and nothing is remembered. Text with half of a surrogate
pair raises `InputError` with code `invalid-text`; a value that makes no sense `invalid-argument`.
The vectors in `tests/vectors` of the repository show each rule at work.
"""

from memdir._core import (
    batch_entries,
    choose_directory,
    cut_memory,
    decode_model_answer,
    default_scope,
    encode_model_request,
    env_flag,
    error_table,
    format_manifest,
    grant_bytes,
    injective_key,
    lint_memories,
    memory_age,
    memory_enabled,
    parse_frontmatter,
    parse_settings,
    project_slug,
    rank_memories,
    read_selection,
    recent_tools,
    team_delta,
    tokenize,
    truncate_index,
    validate_memory_path,
)

__all__ = [
    "batch_entries",
    "choose_directory",
    "cut_memory",
    "decode_model_answer",
    "default_scope",
    "encode_model_request",
    "env_flag",
    "error_table",
    "format_manifest",
    "grant_bytes",
    "injective_key",
    "lint_memories",
    "memory_age",
    "memory_enabled",
    "parse_frontmatter",
    "parse_settings",
    "project_slug",
    "rank_memories",
    "read_selection",
    "recent_tools",
    "team_delta",
    "tokenize",
    "truncate_index",
    "validate_memory_path",
]
