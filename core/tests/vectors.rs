//! Runs the language-neutral vectors of `tests/vectors/` against the rules of the core. What the
//! files look like is said in their `schema.json`; every runner reads them the same way.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    reason = "a test reads its vectors from the file system and prints how many there are"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use memdir_core::conversation::Message;
use memdir_core::dream::{DreamGate, LockLook};
use memdir_core::extract::{ExtractionGate, ExtractionState};
use memdir_core::instructions::PlacesQuestion;
use memdir_core::limits::TEAM_BATCH_BYTES;
use memdir_core::lint::LintInput;
use memdir_core::memory::{MemoryHeader, MemoryType};
use memdir_core::model::{ModelOptions, ModelRequest, ToolRequest};
use memdir_core::paths::{
    DirectoryQuestion, Environment, MemoryPlaces, PerSource, Platform, ToolClass,
};
use memdir_core::recall::{RankedMemory, ToolResult};
use memdir_core::session::{CompactionQuestion, NotesDue, TemplateValues};
use memdir_core::write::{IndexEntry, MemoryChanges};
use memdir_core::{Error, rules};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The rules that have vectors. A file of another name, or none of one of these, is a failure.
const RULES: [(&str, Rule); 54] = [
    ("batch_entries", batch_entries),
    ("choose_directory", choose_directory),
    ("classify_path", classify_path),
    ("classify_tool_call", classify_tool_call),
    ("compaction_cut", compaction_cut),
    ("conversation_text", conversation_text),
    ("cut_memory", cut_memory),
    ("decide_dream", decide_dream),
    ("decide_extraction", decide_extraction),
    ("decode_model_answer", decode_model_answer),
    ("decode_tool_answer", decode_tool_answer),
    ("default_scope", default_scope),
    ("encode_model_request", encode_model_request),
    ("encode_tool_request", encode_tool_request),
    ("env_flag", env_flag),
    ("estimate_tokens", estimate_tokens),
    ("fill_template", fill_template),
    ("format_manifest", format_manifest),
    ("grant_bytes", grant_bytes),
    ("injective_key", injective_key),
    ("instruction_places", instruction_places),
    ("instructions_excluded", instructions_excluded),
    ("lint_memories", lint_memories),
    ("lock_is_held", lock_is_held),
    ("may_write", may_write),
    ("measure_notes", measure_notes),
    ("memory_age", memory_age),
    ("memory_enabled", memory_enabled),
    ("memory_file_name", memory_file_name),
    ("merge_team_index", merge_team_index),
    ("notes_are_empty", notes_are_empty),
    ("parse_frontmatter", parse_frontmatter),
    ("parse_instructions", parse_instructions),
    ("parse_settings", parse_settings),
    ("parse_transcript", parse_transcript),
    ("project_slug", project_slug),
    ("rank_memories", rank_memories),
    ("read_only_command", read_only_command),
    ("read_selection", read_selection),
    ("recent_tools", recent_tools),
    ("resolve_import", resolve_import),
    ("retry_pause_ms", retry_pause_ms),
    ("rule_applies", rule_applies),
    ("session_notes_due", session_notes_due),
    ("summarise_tool_calls", summarise_tool_calls),
    ("team_delta", team_delta),
    ("team_reconcile", team_reconcile),
    ("team_repository", team_repository),
    ("tokenize", tokenize),
    ("truncate_index", truncate_index),
    ("update_index", update_index),
    ("update_memory", update_memory),
    ("validate_memory_path", validate_memory_path),
    ("validate_team_key", validate_team_key),
];

/// Input to result or error code; the outer error says that the vector itself is malformed.
type Rule = fn(Value) -> Result<Result<Value, Value>, String>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    rule: String,
    doc: String,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    input: Value,
    #[serde(default, deserialize_with = "present")]
    ok: Option<Value>,
    err: Option<String>,
    #[serde(default)]
    partial: bool,
}

/// Keeps `"ok": null` apart from no `ok` at all.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

#[test]
fn every_vector_holds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/vectors");
    let mut names = BTreeSet::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "json") {
            names.insert(path.file_stem().unwrap().to_str().unwrap().to_owned());
        }
    }
    names.remove("schema");
    let mut failures = Vec::new();
    let mut count = 0;
    for (name, rule) in RULES {
        let Ok(text) = std::fs::read_to_string(folder.join(format!("{name}.json"))) else {
            continue;
        };
        let file: File =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}.json: {error}"));
        assert_eq!(file.rule, name);
        assert!(
            !file.doc.is_empty() && !file.cases.is_empty(),
            "{name}.json says or holds nothing"
        );
        let mut seen = BTreeSet::new();
        for case in file.cases {
            count += 1;
            let title = format!("{name}: {}", case.name);
            if !seen.insert(case.name.clone()) {
                failures.push(format!("{title}: the name stands twice"));
            }
            if let Err(why) = run(rule, case) {
                failures.push(format!("{title}: {why}"));
            }
        }
    }
    println!("{count} vectors of {} rules", RULES.len());
    assert!(
        failures.is_empty(),
        "{} of {count} vectors fail:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

fn run(rule: Rule, case: Case) -> Result<(), String> {
    let actual = rule(expand(case.input)?)?;
    match (case.ok, case.err, actual) {
        (Some(wanted), None, Ok(actual)) => compare("", &expand(wanted)?, &actual, case.partial),
        (Some(wanted), None, Err(code)) => Err(format!("wanted {wanted}, got the error {code}")),
        (None, Some(wanted), Err(code)) if code == wanted => Ok(()),
        (None, Some(wanted), Err(code)) => Err(format!("wanted the error {wanted}, got {code}")),
        (None, Some(wanted), Ok(actual)) => {
            Err(format!("wanted the error {wanted}, got {}", short(&actual)))
        }
        _ => Err("the case needs either ok or err".to_owned()),
    }
}

/// Replaces every `{"repeat": [[text, count], …]}` by the text that it stands for.
fn expand(value: Value) -> Result<Value, String> {
    Ok(match value {
        Value::Array(items) => {
            Value::Array(items.into_iter().map(expand).collect::<Result<_, _>>()?)
        }
        Value::Object(map) => match map.get("repeat") {
            Some(Value::Array(pairs)) if map.len() == 1 => {
                let pairs: Vec<(String, usize)> =
                    serde_json::from_value(Value::Array(pairs.clone()))
                        .map_err(|error| error.to_string())?;
                pairs
                    .iter()
                    .map(|(text, count)| text.repeat(*count))
                    .collect::<String>()
                    .into()
            }
            _ => Value::Object(
                map.into_iter()
                    .map(|(key, value)| Ok((key, expand(value)?)))
                    .collect::<Result<_, String>>()?,
            ),
        },
        other => other,
    })
}

/// The first difference. A partial comparison leaves out the keys that `wanted` does not give.
fn compare(at: &str, wanted: &Value, actual: &Value, partial: bool) -> Result<(), String> {
    match (wanted, actual) {
        (Value::Object(wanted), Value::Object(actual)) => {
            for (key, wanted) in wanted {
                let value = actual
                    .get(key)
                    .ok_or_else(|| format!("{at}.{key} is missing"))?;
                compare(&format!("{at}.{key}"), wanted, value, partial)?;
            }
            match actual
                .keys()
                .find(|key| !partial && !wanted.contains_key(*key))
            {
                Some(key) => Err(format!("{at}.{key} is not expected")),
                None => Ok(()),
            }
        }
        (Value::Array(wanted), Value::Array(actual)) if wanted.len() == actual.len() => wanted
            .iter()
            .zip(actual)
            .enumerate()
            .try_for_each(|(index, (wanted, actual))| {
                compare(&format!("{at}[{index}]"), wanted, actual, partial)
            }),
        _ if wanted == actual => Ok(()),
        _ => Err(format!(
            "{at} wanted {}, got {}",
            short(wanted),
            short(actual)
        )),
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(300) {
        Some((end, _)) => format!(
            "{}… ({} bytes)",
            text.get(..end).unwrap_or_default(),
            text.len()
        ),
        None => text,
    }
}

fn input<T: DeserializeOwned>(input: Value) -> Result<T, String> {
    serde_json::from_value(input).map_err(|error| format!("bad input: {error}"))
}

fn output(result: impl Serialize) -> Result<Result<Value, Value>, String> {
    serde_json::to_value(result)
        .map(Ok)
        .map_err(|error| format!("bad output: {error}"))
}

fn refused(error: &Error) -> Result<Result<Value, Value>, String> {
    serde_json::to_value(error.code)
        .map(Err)
        .map_err(|error| format!("bad code: {error}"))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Memories {
    memories: Vec<MemoryHeader>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MemoryPath {
    path: String,
    platform: Platform,
    home: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProjectPath {
    path: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sides {
    local: BTreeMap<String, String>,
    server: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Entries {
    entries: BTreeMap<String, String>,
    max_bytes: Option<usize>,
}

fn truncate_index(value: Value) -> Result<Result<Value, Value>, String> {
    output(rules::truncate_index(&input::<Text>(value)?.text))
}

fn parse_frontmatter(value: Value) -> Result<Result<Value, Value>, String> {
    output(rules::parse_frontmatter(&input::<Text>(value)?.text))
}

fn parse_transcript(value: Value) -> Result<Result<Value, Value>, String> {
    output(rules::parse_transcript(&input::<Text>(value)?.text))
}

fn format_manifest(value: Value) -> Result<Result<Value, Value>, String> {
    output(rules::format_manifest(&input::<Memories>(value)?.memories))
}

fn validate_memory_path(value: Value) -> Result<Result<Value, Value>, String> {
    let MemoryPath {
        path,
        platform,
        home,
    } = input(value)?;
    match rules::validate_memory_path(&path, platform, home.as_deref()) {
        Ok(path) => output(path),
        Err(error) => refused(&error),
    }
}

fn project_slug(value: Value) -> Result<Result<Value, Value>, String> {
    output(rules::project_slug(&input::<ProjectPath>(value)?.path))
}

fn team_delta(value: Value) -> Result<Result<Value, Value>, String> {
    let Sides { local, server } = input(value)?;
    output(rules::team_delta(local, &server))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Remote {
    remote: String,
}

fn team_repository(value: Value) -> Result<Result<Value, Value>, String> {
    output(rules::team_repository(&input::<Remote>(value)?.remote))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Checksums {
    base: BTreeMap<String, String>,
    local: BTreeMap<String, String>,
    server: BTreeMap<String, String>,
    forgotten: BTreeMap<String, String>,
}

fn team_reconcile(value: Value) -> Result<Result<Value, Value>, String> {
    let Checksums {
        base,
        local,
        server,
        forgotten,
    } = input(value)?;
    output(rules::team_reconcile(&base, &local, &server, &forgotten))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Indexes {
    base: Option<String>,
    local: String,
    server: String,
}

fn merge_team_index(value: Value) -> Result<Result<Value, Value>, String> {
    let Indexes {
        base,
        local,
        server,
    } = input(value)?;
    output(rules::merge_team_index(base.as_deref(), &local, &server))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Tries {
    retries: u32,
    random: u8,
    retry_after: Option<String>,
}

fn retry_pause_ms(value: Value) -> Result<Result<Value, Value>, String> {
    let Tries {
        retries,
        random,
        retry_after,
    } = input(value)?;
    output(rules::retry_pause_ms(
        retries,
        random,
        retry_after.as_deref(),
    ))
}

fn batch_entries(value: Value) -> Result<Result<Value, Value>, String> {
    let Entries { entries, max_bytes } = input(value)?;
    output(rules::batch_entries(
        entries,
        max_bytes.unwrap_or(TEAM_BATCH_BYTES),
    ))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Flag {
    value: Option<String>,
}

fn env_flag(value: Value) -> Result<Result<Value, Value>, String> {
    output(rules::env_flag(input::<Flag>(value)?.value.as_deref()))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Switches {
    env: Environment,
    settings: PerSource<bool>,
}

fn memory_enabled(value: Value) -> Result<Result<Value, Value>, String> {
    let Switches { env, settings } = input(value)?;
    output(rules::memory_enabled(&env, &settings))
}

fn choose_directory(value: Value) -> Result<Result<Value, Value>, String> {
    match rules::choose_directory(&input::<DirectoryQuestion>(value)?) {
        Ok(choice) => output(choice),
        Err(error) => refused(&error),
    }
}

fn instruction_places(value: Value) -> Result<Result<Value, Value>, String> {
    output(rules::instruction_places(&input::<PlacesQuestion>(value)?))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exclusion {
    patterns: Vec<String>,
    paths: Vec<String>,
    platform: Platform,
}

fn instructions_excluded(value: Value) -> Result<Result<Value, Value>, String> {
    let Exclusion {
        patterns,
        paths,
        platform,
    } = input(value)?;
    output(rules::instructions_excluded(&patterns, &paths, platform))
}

fn parse_instructions(value: Value) -> Result<Result<Value, Value>, String> {
    output(rules::parse_instructions(&input::<Text>(value)?.text))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Import {
    target: String,
    file: String,
    home: Option<String>,
    platform: Platform,
}

fn resolve_import(value: Value) -> Result<Result<Value, Value>, String> {
    let Import {
        target,
        file,
        home,
        platform,
    } = input(value)?;
    output(rules::resolve_import(
        &target,
        &file,
        home.as_deref(),
        platform,
    ))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleQuestion {
    patterns: Vec<String>,
    path: String,
}

fn rule_applies(value: Value) -> Result<Result<Value, Value>, String> {
    let RuleQuestion { patterns, path } = input(value)?;
    output(rules::rule_applies(&patterns, &path))
}

fn parse_settings(value: Value) -> Result<Result<Value, Value>, String> {
    output(rules::parse_settings(&input::<Text>(value)?.text))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Times {
    mtime_ms: i64,
    modified_ms: Option<i64>,
    now_ms: i64,
}

fn memory_age(value: Value) -> Result<Result<Value, Value>, String> {
    let Times {
        mtime_ms,
        modified_ms,
        now_ms,
    } = input(value)?;
    output(rules::memory_age(mtime_ms, modified_ms, now_ms))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Kind {
    #[serde(rename = "type")]
    kind: Option<MemoryType>,
    team: bool,
}

fn default_scope(value: Value) -> Result<Result<Value, Value>, String> {
    let Kind { kind, team } = input(value)?;
    output(rules::default_scope(kind, team))
}

fn injective_key(value: Value) -> Result<Result<Value, Value>, String> {
    output(rules::injective_key(&input::<ProjectPath>(value)?.path))
}

fn lint_memories(value: Value) -> Result<Result<Value, Value>, String> {
    output(rules::lint_memories(&input::<LintInput>(value)?))
}

fn tokenize(value: Value) -> Result<Result<Value, Value>, String> {
    output(rules::tokenize(&input::<Text>(value)?.text))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ranking {
    query: String,
    memories: Vec<RankedMemory>,
}

fn rank_memories(value: Value) -> Result<Result<Value, Value>, String> {
    let Ranking { query, memories } = input(value)?;
    output(rules::rank_memories(&query, &memories))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Cut {
    text: String,
    size: u64,
    path: String,
    max_bytes: u64,
}

fn cut_memory(value: Value) -> Result<Result<Value, Value>, String> {
    let Cut {
        text,
        size,
        path,
        max_bytes,
    } = input(value)?;
    output(rules::cut_memory(&text, size, &path, max_bytes))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Budget {
    used: u64,
    sizes: Vec<u64>,
}

fn grant_bytes(value: Value) -> Result<Result<Value, Value>, String> {
    let Budget { used, sizes } = input(value)?;
    output(rules::grant_bytes(used, &sizes))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelSaid {
    answer: String,
    candidates: Vec<String>,
}

fn read_selection(value: Value) -> Result<Result<Value, Value>, String> {
    let ModelSaid { answer, candidates } = input(value)?;
    match rules::read_selection(&answer, &candidates) {
        Ok(selection) => output(selection),
        Err(error) => refused(&error),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tools {
    results: Vec<ToolResult>,
}

fn recent_tools(value: Value) -> Result<Result<Value, Value>, String> {
    output(rules::recent_tools(&input::<Tools>(value)?.results))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    model: ModelOptions,
    request: ModelRequest,
}

fn encode_model_request(value: Value) -> Result<Result<Value, Value>, String> {
    let Asked { model, request } = input(value)?;
    match rules::encode_model_request(&model, &request) {
        Ok(http) => output(http),
        Err(error) => refused(&error),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answered {
    name: String,
    status: u16,
    body: String,
}

fn decode_model_answer(value: Value) -> Result<Result<Value, Value>, String> {
    let Answered { name, status, body } = input(value)?;
    match rules::decode_model_answer(&name, status, &body) {
        Ok(text) => output(text),
        Err(error) => refused(&error),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AskedWithTools {
    model: ModelOptions,
    request: ToolRequest,
}

fn encode_tool_request(value: Value) -> Result<Result<Value, Value>, String> {
    let AskedWithTools { model, request } = input(value)?;
    match rules::encode_tool_request(&model, &request) {
        Ok(http) => output(http),
        Err(error) => refused(&error),
    }
}

fn decode_tool_answer(value: Value) -> Result<Result<Value, Value>, String> {
    let Answered { name, status, body } = input(value)?;
    match rules::decode_tool_answer(&name, status, &body) {
        Ok(answer) => output(answer),
        Err(error) => refused(&error),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    #[serde(rename = "type")]
    kind: MemoryType,
    name: String,
    number: u32,
}

fn memory_file_name(value: Value) -> Result<Result<Value, Value>, String> {
    let Named { kind, name, number } = input(value)?;
    output(rules::memory_file_name(kind, &name, number))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MemoryEdit {
    text: Option<String>,
    changes: MemoryChanges,
}

fn update_memory(value: Value) -> Result<Result<Value, Value>, String> {
    let MemoryEdit { text, changes } = input(value)?;
    match rules::update_memory(text.as_deref(), &changes) {
        Ok(edited) => output(edited),
        Err(error) => refused(&error),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct IndexEdit {
    text: Option<String>,
    folder: String,
    path: String,
    entry: Option<IndexEntry>,
}

fn update_index(value: Value) -> Result<Result<Value, Value>, String> {
    let IndexEdit {
        text,
        folder,
        path,
        entry,
    } = input(value)?;
    match rules::update_index(text.as_deref(), &folder, &path, entry.as_ref()) {
        Ok(edited) => output(edited),
        Err(error) => refused(&error),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Key {
    key: String,
    others: Vec<String>,
}

fn validate_team_key(value: Value) -> Result<Result<Value, Value>, String> {
    let Key { key, others } = input(value)?;
    match rules::validate_team_key(&key, &others) {
        Ok(key) => output(key),
        Err(error) => refused(&error),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PathAndPlaces {
    path: String,
    places: MemoryPlaces,
}

fn classify_path(value: Value) -> Result<Result<Value, Value>, String> {
    let PathAndPlaces { path, places } = input(value)?;
    output(rules::classify_path(&path, &places))
}

fn may_write(value: Value) -> Result<Result<Value, Value>, String> {
    let PathAndPlaces { path, places } = input(value)?;
    output(rules::may_write(&path, &places))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolCall {
    name: String,
    input: String,
    places: MemoryPlaces,
}

fn classify_tool_call(value: Value) -> Result<Result<Value, Value>, String> {
    let ToolCall {
        name,
        input: arguments,
        places,
    } = input(value)?;
    output(rules::classify_tool_call(&name, &arguments, &places))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolCalls {
    calls: Vec<ToolClass>,
    done: bool,
}

fn summarise_tool_calls(value: Value) -> Result<Result<Value, Value>, String> {
    let ToolCalls { calls, done } = input(value)?;
    output(rules::summarise_tool_calls(&calls, done))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Command {
    command: String,
}

fn read_only_command(value: Value) -> Result<Result<Value, Value>, String> {
    match rules::read_only_command(&input::<Command>(value)?.command) {
        Ok(stages) => output(stages),
        Err(error) => refused(&error),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EndOfTurn {
    messages: Vec<Message>,
    state: ExtractionState,
    gate: ExtractionGate,
}

fn decide_extraction(value: Value) -> Result<Result<Value, Value>, String> {
    let EndOfTurn {
        messages,
        state,
        gate,
    } = input(value)?;
    match rules::decide_extraction(&messages, &state, &gate) {
        Ok(decision) => output(decision),
        Err(error) => refused(&error),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    messages: Vec<Message>,
}

fn conversation_text(value: Value) -> Result<Result<Value, Value>, String> {
    match rules::conversation_text(&input::<Said>(value)?.messages) {
        Ok(text) => output(text),
        Err(error) => refused(&error),
    }
}
fn session_notes_due(value: Value) -> Result<Result<Value, Value>, String> {
    output(rules::session_notes_due(&input::<NotesDue>(value)?))
}

fn estimate_tokens(value: Value) -> Result<Result<Value, Value>, String> {
    output(rules::estimate_tokens(&input::<Text>(value)?.text))
}

fn measure_notes(value: Value) -> Result<Result<Value, Value>, String> {
    output(rules::measure_notes(&input::<Text>(value)?.text))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Notes {
    text: String,
    template: String,
}

fn notes_are_empty(value: Value) -> Result<Result<Value, Value>, String> {
    let Notes { text, template } = input(value)?;
    output(rules::notes_are_empty(&text, &template))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Template {
    text: String,
    values: TemplateValues,
}

fn fill_template(value: Value) -> Result<Result<Value, Value>, String> {
    let Template { text, values } = input(value)?;
    output(rules::fill_template(&text, &values))
}

fn compaction_cut(value: Value) -> Result<Result<Value, Value>, String> {
    match rules::compaction_cut(&input::<CompactionQuestion>(value)?) {
        Ok(compaction) => output(compaction),
        Err(error) => refused(&error),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TimeToDream {
    gate: DreamGate,
}

fn decide_dream(value: Value) -> Result<Result<Value, Value>, String> {
    output(rules::decide_dream(&input::<TimeToDream>(value)?.gate))
}

fn lock_is_held(value: Value) -> Result<Result<Value, Value>, String> {
    output(rules::lock_is_held(&input::<LockLook>(value)?))
}
