//! The interface `rules`: each function is one call.

use memdir_core::limits::TEAM_BATCH_BYTES;
use memdir_core::rules;

use crate::Component;
use crate::bindings::exports::memdir::memdir::rules::{
    Age, Awake, Choice, Compaction, CompactionQuestion, Cut, DirectoryQuestion, DreamGate, Edited,
    Enabled, EnabledSettings, Error, ErrorInfo, ExtractionDecision, ExtractionGate,
    ExtractionState, Finding, Found, Frontmatter, Guest, IndexEntry, InstructionPlace, LintInput,
    LockLook, MemoryChanges, MemoryHeader, MemoryPlaces, MemoryType, MergedIndex, Message,
    ModelHttp, ModelOptions, ModelRequest, NotesDue, NotesMeasure, ParsedInstructions, PathKind,
    PlacesQuestion, Platform, RankedMemory, ResolvedImport, Scope, SecretFinding, Selection,
    Settings, ShellStage, TeamAction, TemplateValues, ToolAnswer, ToolClass, ToolRequest,
    ToolResult, Transcript, Truncation, Word,
};
use crate::from_wit::Said;
use crate::same::{each, maybe, pairs};

type Pairs = Vec<(String, String)>;

impl Guest for Component {
    fn truncate_index(text: String) -> Truncation {
        rules::truncate_index(&text).into()
    }

    fn parse_frontmatter(text: String) -> Frontmatter {
        rules::parse_frontmatter(&text).into()
    }

    fn format_manifest(memories: Vec<MemoryHeader>) -> String {
        let memories: Vec<_> = memories.into_iter().map(Into::into).collect();
        rules::format_manifest(&memories)
    }

    fn project_slug(path: String) -> String {
        rules::project_slug(&path)
    }

    fn injective_key(path: String) -> String {
        rules::injective_key(&path)
    }

    fn validate_memory_path(
        path: String,
        platform: Platform,
        home: Option<String>,
    ) -> Result<String, Error> {
        rules::validate_memory_path(&path, platform.into(), home.as_deref()).map_err(Into::into)
    }

    fn env_flag(value: Option<String>) -> Option<bool> {
        rules::env_flag(value.as_deref())
    }

    fn memory_enabled(env: Pairs, settings: EnabledSettings) -> Enabled {
        rules::memory_enabled(&pairs(env), &settings.into()).into()
    }

    fn choose_directory(question: DirectoryQuestion) -> Result<Choice, Error> {
        match rules::choose_directory(&question.into()) {
            Ok(choice) => Ok(choice.into()),
            Err(error) => Err(error.into()),
        }
    }

    fn parse_settings(text: String) -> Settings {
        rules::parse_settings(&text).into()
    }

    fn memory_age(mtime_ms: i64, modified_ms: Option<i64>, now_ms: i64) -> Age {
        rules::memory_age(mtime_ms, modified_ms, now_ms).into()
    }

    fn default_scope(type_: Option<MemoryType>, team: bool) -> Scope {
        rules::default_scope(maybe(type_), team).into()
    }

    fn memory_file_name(type_: MemoryType, name: String, number: u32) -> String {
        rules::memory_file_name(type_.into(), &name, number)
    }

    fn update_memory(text: Option<String>, changes: MemoryChanges) -> Result<Edited, Error> {
        match rules::update_memory(text.as_deref(), &changes.into()) {
            Ok(edited) => Ok(edited.into()),
            Err(error) => Err(error.into()),
        }
    }

    fn update_index(
        text: Option<String>,
        folder: String,
        path: String,
        entry: Option<IndexEntry>,
    ) -> Result<Edited, Error> {
        let entry = entry.map(Into::into);
        match rules::update_index(text.as_deref(), &folder, &path, entry.as_ref()) {
            Ok(edited) => Ok(edited.into()),
            Err(error) => Err(error.into()),
        }
    }

    fn lint_memories(input: LintInput) -> Vec<Finding> {
        each(rules::lint_memories(&input.into()))
    }

    fn team_delta(local: Pairs, server: Pairs) -> Pairs {
        rules::team_delta(pairs(local), &pairs(server))
            .into_iter()
            .collect()
    }

    fn batch_entries(entries: Pairs, max_bytes: Option<u32>) -> Vec<Pairs> {
        let max_bytes = max_bytes.map_or(TEAM_BATCH_BYTES, |bytes| {
            usize::try_from(bytes).unwrap_or(usize::MAX)
        });
        let batches = rules::batch_entries(pairs(entries), max_bytes);
        batches
            .into_iter()
            .map(|batch| batch.into_iter().collect())
            .collect()
    }

    fn team_repository(remote: String) -> Option<String> {
        rules::team_repository(&remote)
    }

    fn team_reconcile(
        base: Pairs,
        local: Pairs,
        server: Pairs,
        forgotten: Pairs,
    ) -> Vec<(String, TeamAction)> {
        let [base, local, server, forgotten] = [base, local, server, forgotten].map(pairs);
        rules::team_reconcile(&base, &local, &server, &forgotten)
            .into_iter()
            .map(|(key, action)| (key, action.into()))
            .collect()
    }

    fn merge_team_index(base: Option<String>, local: String, server: String) -> MergedIndex {
        rules::merge_team_index(base.as_deref(), &local, &server).into()
    }

    fn retry_pause_ms(retries: u32, random: u8, retry_after: Option<String>) -> u64 {
        rules::retry_pause_ms(retries, random, retry_after.as_deref())
    }

    fn tokenize(text: String) -> Vec<Word> {
        each(rules::tokenize(&text))
    }

    fn rank_memories(query: String, memories: Vec<RankedMemory>) -> Vec<Found> {
        let memories: Vec<_> = each(memories);
        each(rules::rank_memories(&query, &memories))
    }

    fn cut_memory(text: String, size: u64, path: String, max_bytes: u64) -> Cut {
        rules::cut_memory(&text, size, &path, max_bytes).into()
    }

    fn grant_bytes(used: u64, sizes: Vec<u64>) -> Vec<u64> {
        rules::grant_bytes(used, &sizes)
    }

    fn read_selection(answer: String, candidates: Vec<String>) -> Result<Selection, Error> {
        match rules::read_selection(&answer, &candidates) {
            Ok(selection) => Ok(selection.into()),
            Err(error) => Err(error.into()),
        }
    }

    fn recent_tools(results: Vec<ToolResult>) -> Vec<String> {
        let results: Vec<_> = each(results);
        rules::recent_tools(&results)
    }

    fn encode_model_request(
        model: ModelOptions,
        request: ModelRequest,
    ) -> Result<ModelHttp, Error> {
        let encoded = request
            .try_into()
            .and_then(|request| rules::encode_model_request(&model.into(), &request));
        match encoded {
            Ok(http) => Ok(http.into()),
            Err(error) => Err(error.into()),
        }
    }

    fn decode_model_answer(name: String, status: u16, body: String) -> Result<String, Error> {
        rules::decode_model_answer(&name, status, &body).map_err(Into::into)
    }

    fn encode_tool_request(model: ModelOptions, request: ToolRequest) -> Result<ModelHttp, Error> {
        let encoded = request
            .try_into()
            .and_then(|request| rules::encode_tool_request(&model.into(), &request));
        match encoded {
            Ok(http) => Ok(http.into()),
            Err(error) => Err(error.into()),
        }
    }

    fn decode_tool_answer(name: String, status: u16, body: String) -> Result<ToolAnswer, Error> {
        match rules::decode_tool_answer(&name, status, &body) {
            Ok(answer) => Ok(answer.into()),
            Err(error) => Err(error.into()),
        }
    }

    fn conversation_text(messages: Vec<Message>) -> Result<String, Error> {
        rules::conversation_text(&Said(messages)).map_err(Into::into)
    }

    fn decide_extraction(
        messages: Vec<Message>,
        state: ExtractionState,
        gate: ExtractionGate,
    ) -> Result<ExtractionDecision, Error> {
        match rules::decide_extraction(&Said(messages), &state.into(), &gate.into()) {
            Ok(decision) => Ok(decision.into()),
            Err(error) => Err(error.into()),
        }
    }

    fn session_notes_due(question: NotesDue) -> bool {
        rules::session_notes_due(&question.into())
    }

    fn measure_notes(text: String) -> NotesMeasure {
        rules::measure_notes(&text).into()
    }

    fn notes_are_empty(text: String, template: String) -> bool {
        rules::notes_are_empty(&text, &template)
    }

    fn estimate_tokens(text: String) -> u64 {
        rules::estimate_tokens(&text)
    }

    fn compaction_cut(question: CompactionQuestion) -> Result<Compaction, Error> {
        let cut = question
            .try_into()
            .and_then(|question| rules::compaction_cut(&question));
        match cut {
            Ok(compaction) => Ok(compaction.into()),
            Err(error) => Err(error.into()),
        }
    }

    fn fill_template(text: String, values: TemplateValues) -> String {
        rules::fill_template(&text, &values.into())
    }

    fn decide_dream(gate: DreamGate) -> Option<Awake> {
        maybe(rules::decide_dream(&gate.into()))
    }

    fn lock_is_held(look: LockLook) -> bool {
        rules::lock_is_held(&look.into())
    }

    fn parse_instructions(text: String) -> ParsedInstructions {
        rules::parse_instructions(&text).into()
    }

    fn resolve_import(
        target: String,
        file: String,
        home: Option<String>,
        platform: Platform,
    ) -> Option<ResolvedImport> {
        let found = rules::resolve_import(&target, &file, home.as_deref(), platform.into());
        maybe(found)
    }

    fn rule_applies(patterns: Vec<String>, path: String) -> bool {
        rules::rule_applies(&patterns, &path)
    }

    fn instruction_places(question: PlacesQuestion) -> Vec<InstructionPlace> {
        each(rules::instruction_places(&question.into()))
    }

    fn instructions_excluded(
        patterns: Vec<String>,
        paths: Vec<String>,
        platform: Platform,
    ) -> bool {
        rules::instructions_excluded(&patterns, &paths, platform.into())
    }

    fn parse_transcript(text: String) -> Transcript {
        rules::parse_transcript(&text).into()
    }

    fn validate_team_key(key: String, others: Vec<String>) -> Result<String, Error> {
        rules::validate_team_key(&key, &others).map_err(Into::into)
    }

    fn classify_path(path: String, places: MemoryPlaces) -> PathKind {
        rules::classify_path(&path, &places.into()).into()
    }

    fn classify_tool_call(name: String, input: String, places: MemoryPlaces) -> ToolClass {
        rules::classify_tool_call(&name, &input, &places.into()).into()
    }

    fn may_write(path: String, places: MemoryPlaces) -> bool {
        rules::may_write(&path, &places.into())
    }

    fn summarise_tool_calls(calls: Vec<ToolClass>, done: bool) -> Vec<String> {
        let calls: Vec<_> = each(calls);
        rules::summarise_tool_calls(&calls, done)
    }

    fn scan_secrets(text: String) -> Vec<SecretFinding> {
        each(rules::scan_secrets(&text))
    }

    fn redact_secrets(text: String) -> String {
        rules::redact_secrets(&text)
    }

    fn read_only_command(command: String) -> Result<Vec<ShellStage>, Error> {
        match rules::read_only_command(&command) {
            Ok(stages) => Ok(each(stages)),
            Err(error) => Err(error.into()),
        }
    }

    fn error_table() -> Vec<ErrorInfo> {
        rules::error_table().into_iter().map(Into::into).collect()
    }
}
