//! The rules, as `memdir/rules` passes them on.
//!
//! Every type that is read from a JavaScript object costs a kilobyte or two of wasm, so inputs of
//! few texts and numbers come as arguments of their own, and one value per settings file as a map.

use std::collections::BTreeMap;

use memdir_core::lint::{LintInput, LintMemory};
use memdir_core::memory::MemoryHeader;
use memdir_core::paths::{DirectoryQuestion, PerSource};
use memdir_core::{limits, rules};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::Result;
use crate::values::{from_js, to_js};

/// [`rules::truncate_index`].
#[wasm_bindgen(js_name = truncateIndex)]
pub fn truncate_index(text: &str) -> Result<JsValue> {
    to_js(&rules::truncate_index(text))
}

/// [`rules::parse_frontmatter`].
#[wasm_bindgen(js_name = parseFrontmatter)]
pub fn parse_frontmatter(text: &str) -> Result<JsValue> {
    to_js(&rules::parse_frontmatter(text))
}

/// [`rules::format_manifest`].
///
/// # Errors
/// `invalid-argument`.
#[wasm_bindgen(js_name = formatManifest)]
pub fn format_manifest(memories: JsValue) -> Result<String> {
    Ok(rules::format_manifest(&from_js::<Vec<MemoryHeader>>(
        "memories", memories,
    )?))
}

/// [`rules::project_slug`].
#[wasm_bindgen(js_name = projectSlug)]
#[must_use]
pub fn project_slug(path: &str) -> String {
    rules::project_slug(path)
}

/// [`rules::injective_key`].
#[wasm_bindgen(js_name = injectiveKey)]
#[must_use]
pub fn injective_key(path: &str) -> String {
    rules::injective_key(path)
}

/// [`rules::env_flag`].
#[wasm_bindgen(js_name = envFlag)]
#[must_use]
pub fn env_flag(value: Option<String>) -> Option<bool> {
    rules::env_flag(value.as_deref())
}

/// [`rules::memory_enabled`].
///
/// # Errors
/// `invalid-argument`.
#[wasm_bindgen(js_name = memoryEnabled)]
pub fn memory_enabled(
    env: JsValue,
    policy: Option<bool>,
    flag: Option<bool>,
    local: Option<bool>,
    project: Option<bool>,
    user: Option<bool>,
) -> Result<JsValue> {
    let settings = PerSource {
        policy,
        flag,
        local,
        project,
        user,
    };
    to_js(&rules::memory_enabled(&from_js("env", env)?, &settings))
}

/// [`rules::choose_directory`]; `settings` has only the sources that name a directory.
///
/// # Errors
/// The rule's own, and `invalid-argument`.
#[wasm_bindgen(js_name = chooseDirectory)]
pub fn choose_directory(
    platform: JsValue,
    home: Option<String>,
    env: JsValue,
    settings: JsValue,
    project_root: String,
) -> Result<JsValue> {
    let settings: BTreeMap<String, String> = from_js("settings", settings)?;
    let named = |source: &str| settings.get(source).cloned();
    let question = DirectoryQuestion {
        platform: from_js("platform", platform)?,
        home,
        env: from_js("env", env)?,
        settings: PerSource {
            policy: named("policy"),
            flag: named("flag"),
            local: named("local"),
            project: named("project"),
            user: named("user"),
        },
        project_root,
    };
    to_js(&rules::choose_directory(&question)?)
}

/// [`rules::parse_settings`].
#[wasm_bindgen(js_name = parseSettings)]
pub fn parse_settings(text: &str) -> Result<JsValue> {
    to_js(&rules::parse_settings(text))
}

/// [`rules::memory_age`]; the times are whole numbers.
#[wasm_bindgen(js_name = memoryAge)]
pub fn memory_age(mtime_ms: f64, modified_ms: Option<f64>, now_ms: f64) -> Result<JsValue> {
    to_js(&rules::memory_age(
        mtime_ms as i64,
        modified_ms.map(|time| time as i64),
        now_ms as i64,
    ))
}

/// [`rules::default_scope`].
///
/// # Errors
/// `invalid-argument` for an unknown type.
#[wasm_bindgen(js_name = defaultScope)]
pub fn default_scope(kind: JsValue, team: bool) -> Result<JsValue> {
    to_js(&rules::default_scope(from_js("type", kind)?, team))
}

/// [`rules::lint_memories`]; `memories` are a path and a text in turn.
#[wasm_bindgen(js_name = lintMemories)]
pub fn lint_memories(
    index: Option<String>,
    team_index: Option<String>,
    memories: Vec<String>,
) -> Result<JsValue> {
    let mut memories = memories.into_iter();
    let memories = std::iter::from_fn(|| {
        Some(LintMemory {
            path: memories.next()?,
            text: memories.next()?,
        })
    });
    to_js(&rules::lint_memories(&LintInput {
        index,
        team_index,
        memories: memories.collect(),
    }))
}

/// [`rules::validate_memory_path`].
///
/// # Errors
/// The rule's own, and `invalid-argument` for an unknown platform.
#[wasm_bindgen(js_name = validateMemoryPath)]
pub fn validate_memory_path(path: &str, platform: JsValue, home: Option<String>) -> Result<String> {
    Ok(rules::validate_memory_path(
        path,
        from_js("platform", platform)?,
        home.as_deref(),
    )?)
}

/// [`rules::team_delta`].
///
/// # Errors
/// `invalid-argument`.
#[wasm_bindgen(js_name = teamDelta)]
pub fn team_delta(local: JsValue, server: JsValue) -> Result<JsValue> {
    to_js(&rules::team_delta(
        from_js("local", local)?,
        &from_js("server", server)?,
    ))
}

/// [`rules::batch_entries`]; no number means the limit of the upload.
///
/// # Errors
/// `invalid-argument`.
#[wasm_bindgen(js_name = batchEntries)]
pub fn batch_entries(entries: JsValue, max_bytes: Option<u32>) -> Result<JsValue> {
    let max_bytes = max_bytes.map_or(limits::TEAM_BATCH_BYTES, |bytes| bytes as usize);
    to_js(&rules::batch_entries(
        from_js("entries", entries)?,
        max_bytes,
    ))
}

/// [`rules::error_table`].
#[wasm_bindgen(js_name = errorTable)]
pub fn error_table() -> Result<JsValue> {
    to_js(&rules::error_table())
}
