//! The rules, as `memdir/rules` passes them on.

use memdir_core::memory::MemoryHeader;
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
