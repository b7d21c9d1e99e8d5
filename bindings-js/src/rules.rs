//! The rules, as `memdir/rules` passes them on.
//!
//! Every type that is read from a JavaScript object costs a kilobyte or two of wasm, so inputs of
//! few texts and numbers come as arguments of their own, and one value per settings file as a map.

use std::collections::BTreeMap;

use js_sys::Array;
use memdir_core::conversation::Conversation;
use memdir_core::dream::{DreamGate, LockLook};
use memdir_core::instructions::PlacesQuestion;
use memdir_core::lint::{LintInput, LintMemory};
use memdir_core::memory::MemoryHeader;
use memdir_core::model::{Key, ModelOptions, ModelRequest, ToolRequest};
use memdir_core::paths::{DirectoryQuestion, MemoryPlaces, PerSource, ToolClass};
use memdir_core::recall::{RankedMemory, ToolResult};
use memdir_core::session::{CompactionQuestion, NotesDue, TemplateValues};
use memdir_core::write::{IndexEntry, MemoryChanges};
use memdir_core::{Error, ErrorCode, limits, rules};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::Result;
use crate::conversation::Messages;
use crate::values::{from_js, json, to_js};

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

/// [`rules::memory_file_name`].
///
/// # Errors
/// `invalid-argument` for an unknown type.
#[wasm_bindgen(js_name = memoryFileName)]
pub fn memory_file_name(kind: JsValue, name: &str, number: u32) -> Result<String> {
    let kind = from_js("type", kind)?;
    Ok(rules::memory_file_name(kind, name, number))
}

/// [`rules::update_memory`].
///
/// # Errors
/// The rule's own, and `invalid-argument` for an unknown type.
#[wasm_bindgen(js_name = updateMemory)]
pub fn update_memory(
    text: Option<String>,
    name: Option<String>,
    description: Option<String>,
    kind: JsValue,
    modified: Option<String>,
    body: Option<String>,
) -> Result<JsValue> {
    let changes = MemoryChanges {
        name,
        description,
        kind: from_js("changes.type", kind)?,
        modified,
        body,
    };
    to_js(&rules::update_memory(text.as_deref(), &changes)?)
}

/// [`rules::update_index`]; no name means no entry.
///
/// # Errors
/// The rule's own.
#[wasm_bindgen(js_name = updateIndex)]
pub fn update_index(
    text: Option<String>,
    folder: &str,
    path: &str,
    name: Option<String>,
    description: Option<String>,
) -> Result<JsValue> {
    let entry = name.map(|name| IndexEntry { name, description });
    to_js(&rules::update_index(
        text.as_deref(),
        folder,
        path,
        entry.as_ref(),
    )?)
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

/// [`rules::team_repository`].
#[wasm_bindgen(js_name = teamRepository)]
#[must_use]
pub fn team_repository(remote: &str) -> Option<String> {
    rules::team_repository(remote)
}

/// [`rules::team_reconcile`].
///
/// # Errors
/// `invalid-argument`.
#[wasm_bindgen(js_name = teamReconcile)]
pub fn team_reconcile(
    base: JsValue,
    local: JsValue,
    server: JsValue,
    forgotten: JsValue,
) -> Result<JsValue> {
    to_js(&rules::team_reconcile(
        &from_js("base", base)?,
        &from_js("local", local)?,
        &from_js("server", server)?,
        &from_js("forgotten", forgotten)?,
    ))
}

/// [`rules::merge_team_index`].
#[wasm_bindgen(js_name = mergeTeamIndex)]
pub fn merge_team_index(base: Option<String>, local: &str, server: &str) -> Result<JsValue> {
    to_js(&rules::merge_team_index(base.as_deref(), local, server))
}

/// [`rules::retry_pause_ms`].
#[wasm_bindgen(js_name = retryPauseMs)]
#[must_use]
pub fn retry_pause_ms(retries: u32, random: u8, retry_after: Option<String>) -> f64 {
    rules::retry_pause_ms(retries, random, retry_after.as_deref()) as f64
}

/// [`rules::validate_team_key`].
///
/// # Errors
/// The rule's own.
#[wasm_bindgen(js_name = validateTeamKey)]
pub fn validate_team_key(key: &str, others: Vec<String>) -> Result<String> {
    Ok(rules::validate_team_key(key, &others)?)
}

/// [`rules::classify_path`].
///
/// # Errors
/// `invalid-argument`.
#[wasm_bindgen(js_name = classifyPath)]
pub fn classify_path(path: &str, places: JsValue) -> Result<JsValue> {
    to_js(&rules::classify_path(path, &known(places)?))
}

/// [`rules::classify_tool_call`].
///
/// # Errors
/// `invalid-argument`.
#[wasm_bindgen(js_name = classifyToolCall)]
pub fn classify_tool_call(name: &str, input: &str, places: JsValue) -> Result<JsValue> {
    to_js(&rules::classify_tool_call(name, input, &known(places)?))
}

/// [`rules::may_write`].
///
/// # Errors
/// `invalid-argument`.
#[wasm_bindgen(js_name = mayWrite)]
pub fn may_write(path: &str, places: JsValue) -> Result<bool> {
    Ok(rules::may_write(path, &known(places)?))
}

/// [`rules::summarise_tool_calls`].
///
/// # Errors
/// `invalid-argument`.
#[wasm_bindgen(js_name = summariseToolCalls)]
pub fn summarise_tool_calls(calls: JsValue, done: bool) -> Result<Vec<String>> {
    let calls: Vec<ToolClass> = from_js("calls", calls)?;
    Ok(rules::summarise_tool_calls(&calls, done))
}

/// [`rules::scan_secrets`].
#[wasm_bindgen(js_name = scanSecrets)]
pub fn scan_secrets(text: &str) -> Result<JsValue> {
    to_js(&rules::scan_secrets(text))
}

/// [`rules::redact_secrets`].
#[wasm_bindgen(js_name = redactSecrets)]
#[must_use]
pub fn redact_secrets(text: &str) -> String {
    rules::redact_secrets(text)
}

/// [`rules::tokenize`].
#[wasm_bindgen]
pub fn tokenize(text: &str) -> Result<JsValue> {
    to_js(&rules::tokenize(text))
}

/// [`rules::rank_memories`]; `texts` are a path and a text in turn, `numbers` days and uses.
#[wasm_bindgen(js_name = rankMemories)]
pub fn rank_memories(query: &str, texts: Vec<String>, numbers: &[u32]) -> Result<JsValue> {
    let (mut texts, mut numbers) = (texts.into_iter(), numbers.iter().copied());
    let memories = std::iter::from_fn(|| {
        Some(RankedMemory {
            path: texts.next()?,
            text: texts.next()?,
            age_days: numbers.next()?,
            uses: numbers.next()?,
        })
    });
    to_js(&rules::rank_memories(query, &memories.collect::<Vec<_>>()))
}

/// [`rules::cut_memory`]; the sizes are whole numbers.
#[wasm_bindgen(js_name = cutMemory)]
pub fn cut_memory(text: &str, size: f64, path: &str, max_bytes: f64) -> Result<JsValue> {
    to_js(&rules::cut_memory(
        text,
        size as u64,
        path,
        max_bytes as u64,
    ))
}

/// [`rules::grant_bytes`]; the sizes are whole numbers.
#[wasm_bindgen(js_name = grantBytes)]
#[must_use]
pub fn grant_bytes(used: f64, sizes: &[f64]) -> Vec<f64> {
    let sizes: Vec<u64> = sizes.iter().map(|size| *size as u64).collect();
    let granted = rules::grant_bytes(used as u64, &sizes);
    granted.into_iter().map(|bytes| bytes as f64).collect()
}

/// [`rules::read_selection`].
///
/// # Errors
/// The rule's own.
#[wasm_bindgen(js_name = readSelection)]
pub fn read_selection(answer: &str, candidates: Vec<String>) -> Result<JsValue> {
    to_js(&rules::read_selection(answer, &candidates)?)
}

/// [`rules::recent_tools`].
///
/// # Errors
/// `invalid-argument`.
#[wasm_bindgen(js_name = recentTools)]
pub fn recent_tools(results: JsValue) -> Result<Vec<String>> {
    let results: Vec<ToolResult> = from_js("results", results)?;
    Ok(rules::recent_tools(&results))
}

/// [`rules::encode_model_request`]; `schema` is JSON text, which a depth without end cannot break.
///
/// # Errors
/// The rule's own, and `invalid-argument`.
#[wasm_bindgen(js_name = encodeModelRequest)]
#[expect(clippy::too_many_arguments, reason = "two records, taken apart")]
pub fn encode_model_request(
    name: String,
    api_key: Option<String>,
    base_url: Option<String>,
    purpose: String,
    system: String,
    messages: JsValue,
    max_tokens: u32,
    schema: Option<String>,
) -> Result<JsValue> {
    let model = ModelOptions {
        name,
        api_key: api_key.map(Key),
        base_url,
    };
    let schema = schema.map(|text| text.parse()).transpose().map_err(|_| {
        let message = "request.schema is nested too deeply";
        Error::new(ErrorCode::InvalidArgument, message)
    })?;
    let request = ModelRequest {
        purpose,
        system,
        messages: from_js("request.messages", messages)?,
        max_tokens,
        schema,
    };
    to_js(&rules::encode_model_request(&model, &request)?)
}

/// [`rules::decode_model_answer`].
///
/// # Errors
/// The rule's own.
#[wasm_bindgen(js_name = decodeModelAnswer)]
pub fn decode_model_answer(name: &str, status: u16, body: &str) -> Result<String> {
    Ok(rules::decode_model_answer(name, status, body)?)
}

/// [`rules::encode_tool_request`]; `request` is JSON text, as schemas in it are anything.
///
/// # Errors
/// The rule's own, and `invalid-argument`.
#[wasm_bindgen(js_name = encodeToolRequest)]
pub fn encode_tool_request(
    name: String,
    api_key: Option<String>,
    base_url: Option<String>,
    request: &str,
) -> Result<JsValue> {
    let model = ModelOptions {
        name,
        api_key: api_key.map(Key),
        base_url,
    };
    let request: ToolRequest = serde_json::from_str(request).map_err(|error| {
        let message = format!("request: {error}");
        Error::new(ErrorCode::InvalidArgument, message)
    })?;
    to_js(&rules::encode_tool_request(&model, &request)?)
}

/// [`rules::decode_tool_answer`].
///
/// # Errors
/// The rule's own.
#[wasm_bindgen(js_name = decodeToolAnswer)]
pub fn decode_tool_answer(name: &str, status: u16, body: &str) -> Result<JsValue> {
    to_js(&rules::decode_tool_answer(name, status, body)?)
}

/// [`rules::conversation_text`].
///
/// # Errors
/// The rule's own.
#[wasm_bindgen(js_name = conversationText)]
pub fn conversation_text(messages: Array) -> Result<String> {
    Ok(rules::conversation_text(&Messages {
        list: messages,
        request: JsValue::UNDEFINED,
    })?)
}

/// [`rules::decide_extraction`].
///
/// # Errors
/// The rule's own, and `invalid-argument`.
#[wasm_bindgen(js_name = decideExtraction)]
pub fn decide_extraction(messages: Array, state: JsValue, gate: JsValue) -> Result<JsValue> {
    let state = from_js("state", state)?;
    let gate = from_js("gate", gate)?;
    let messages = Messages::alone(messages);
    to_js(&rules::decide_extraction(&messages, &state, &gate)?)
}

/// [`rules::parse_transcript`], as JSON text.
#[wasm_bindgen(js_name = parseTranscript)]
#[must_use]
pub fn parse_transcript(text: &str) -> String {
    json(rules::parse_transcript(text))
}

/// [`rules::session_notes_due`]; the counts are whole numbers.
#[wasm_bindgen(js_name = sessionNotesDue)]
#[must_use]
pub fn session_notes_due(
    tokens: f64,
    last_tokens: Option<f64>,
    tool_calls: f64,
    natural_break: bool,
    last_turn_calls: bool,
) -> bool {
    rules::session_notes_due(&NotesDue {
        tokens: tokens as u64,
        last_tokens: last_tokens.map(|tokens| tokens as u64),
        tool_calls: tool_calls as u64,
        natural_break,
        last_turn_calls,
    })
}

/// [`rules::measure_notes`].
#[wasm_bindgen(js_name = measureNotes)]
pub fn measure_notes(text: &str) -> Result<JsValue> {
    to_js(&rules::measure_notes(text))
}

/// [`rules::notes_are_empty`].
#[wasm_bindgen(js_name = notesAreEmpty)]
#[must_use]
pub fn notes_are_empty(text: &str, template: &str) -> bool {
    rules::notes_are_empty(text, template)
}

/// [`rules::estimate_tokens`].
#[wasm_bindgen(js_name = estimateTokens)]
#[must_use]
pub fn estimate_tokens(text: &str) -> f64 {
    rules::estimate_tokens(text) as f64
}

/// [`rules::compaction_cut`].
///
/// # Errors
/// The rule's own.
#[wasm_bindgen(js_name = compactionCut)]
pub fn compaction_cut(
    messages: Array,
    last_summarised: Option<String>,
    notes: Option<String>,
    template: String,
    boundary: Option<u32>,
) -> Result<JsValue> {
    let list = Messages::alone(messages);
    let messages: std::result::Result<_, Error> =
        (0..list.len()).map(|at| list.message(at)).collect();
    to_js(&rules::compaction_cut(&CompactionQuestion {
        messages: messages?,
        last_summarised,
        notes,
        template,
        boundary: boundary.map(|at| at as usize),
    })?)
}

/// [`rules::fill_template`].
#[wasm_bindgen(js_name = fillTemplate)]
#[must_use]
pub fn fill_template(text: &str, current_notes: String, notes_path: String) -> String {
    let values = TemplateValues {
        current_notes,
        notes_path,
    };
    rules::fill_template(text, &values)
}

/// [`rules::decide_dream`]; the times are whole numbers.
#[wasm_bindgen(js_name = decideDream)]
#[expect(clippy::too_many_arguments, reason = "a record, taken apart")]
pub fn decide_dream(
    dream: bool,
    enabled: bool,
    remote: bool,
    daily_log: bool,
    now_ms: f64,
    last_ms: Option<f64>,
    counted_ms: Option<f64>,
    sessions: Option<u32>,
) -> Result<JsValue> {
    to_js(&rules::decide_dream(&DreamGate {
        dream,
        enabled,
        remote,
        daily_log,
        now_ms: now_ms as i64,
        last_ms: last_ms.map(|time| time as i64),
        counted_ms: counted_ms.map(|time| time as i64),
        sessions,
    }))
}

/// [`rules::lock_is_held`]; the times are whole numbers.
#[wasm_bindgen(js_name = lockIsHeld)]
#[must_use]
pub fn lock_is_held(now_ms: f64, mtime_ms: f64, body: String, alive: Option<bool>) -> bool {
    rules::lock_is_held(&LockLook {
        now_ms: now_ms as i64,
        mtime_ms: mtime_ms as i64,
        body,
        alive,
    })
}

/// [`rules::parse_instructions`].
#[wasm_bindgen(js_name = parseInstructions)]
pub fn parse_instructions(text: &str) -> Result<JsValue> {
    to_js(&rules::parse_instructions(text))
}

/// [`rules::resolve_import`].
///
/// # Errors
/// `invalid-argument`.
#[wasm_bindgen(js_name = resolveImport)]
pub fn resolve_import(
    target: &str,
    file: &str,
    home: Option<String>,
    platform: JsValue,
) -> Result<JsValue> {
    let platform = from_js("platform", platform)?;
    to_js(&rules::resolve_import(
        target,
        file,
        home.as_deref(),
        platform,
    ))
}

/// [`rules::rule_applies`].
#[wasm_bindgen(js_name = ruleApplies)]
#[must_use]
pub fn rule_applies(patterns: Vec<String>, path: &str) -> bool {
    rules::rule_applies(&patterns, path)
}

/// [`rules::instruction_places`].
///
/// # Errors
/// `invalid-argument`.
#[wasm_bindgen(js_name = instructionPlaces)]
#[expect(clippy::too_many_arguments, reason = "a record, taken apart")]
#[expect(clippy::fn_params_excessive_bools, reason = "a record, taken apart")]
pub fn instruction_places(
    platform: JsValue,
    cwd: Option<String>,
    config_home: Option<String>,
    managed: Vec<String>,
    checkout: Option<String>,
    canonical: Option<String>,
    additional: Vec<String>,
    agents_md: bool,
    user: bool,
    project: bool,
    local: bool,
) -> Result<JsValue> {
    to_js(&rules::instruction_places(&PlacesQuestion {
        platform: from_js("platform", platform)?,
        cwd,
        config_home,
        managed,
        checkout,
        canonical,
        additional,
        agents_md,
        user,
        project,
        local,
    }))
}

/// [`rules::instructions_excluded`].
///
/// # Errors
/// `invalid-argument`.
#[wasm_bindgen(js_name = instructionsExcluded)]
pub fn instructions_excluded(
    patterns: Vec<String>,
    paths: Vec<String>,
    platform: JsValue,
) -> Result<bool> {
    let platform = from_js("platform", platform)?;
    Ok(rules::instructions_excluded(&patterns, &paths, platform))
}

/// [`rules::read_only_command`].
///
/// # Errors
/// The rule's own.
#[wasm_bindgen(js_name = readOnlyCommand)]
pub fn read_only_command(command: &str) -> Result<JsValue> {
    to_js(&rules::read_only_command(command)?)
}

/// [`rules::error_table`].
#[wasm_bindgen(js_name = errorTable)]
pub fn error_table() -> Result<JsValue> {
    to_js(&rules::error_table())
}

fn known(places: JsValue) -> Result<MemoryPlaces> {
    from_js("places", places)
}
