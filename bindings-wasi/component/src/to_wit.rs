//! From the core's types to those of the WIT. Every value is taken apart completely, so a new
//! field or case of the core stops the build.

use memdir_core::agent::{ShellStage, ToolReply};
use memdir_core::conversation;
use memdir_core::dream::{Dream, DreamUndone};
use memdir_core::error::{Error, ErrorInfo};
use memdir_core::extract::{
    Extraction, ExtractionDecision, ExtractionState, ExtractionStep, ExtractionTask,
};
use memdir_core::flow::{
    Bytes, Clock, Content, Effect, Entry, Event, Failure, Head, Header, HostInfo, HttpAnswer,
    Listing, Outcome, Request, RunAnswer, Stat,
};
use memdir_core::inbox::{Inbox, InboxChange, InboxItem, InboxResult};
use memdir_core::instructions::{
    Context, ContextPart, ImportTarget, InstructionFile, InstructionPlace, Instructions, LoadEntry,
    LoadNote, ParsedInstructions, ResolvedImport,
};
use memdir_core::lint::Finding;
use memdir_core::memory::{Frontmatter, MemoryAge, MemoryHeader, Problem, Truncation};
use memdir_core::model::{ModelHttp, ToolAnswer, ToolCall, ToolDefinition, Usage};
use memdir_core::paths::{
    Choice, Enabled, MemoryPlaces, Refused, Settings, SettingsProblem, ToolClass,
};
use memdir_core::recall::{CutMemory, Found, RecallState, Selection, Word};
use memdir_core::report::ReportEntry;
use memdir_core::secrets::SecretFinding;
use memdir_core::session::{Compaction, NotesMeasure, NotesResult, NotesSection, NotesState};
use memdir_core::store::{AfterTurn, Lint, MemoryFile, Opened, Recall, RecalledMemory, Scan};
use memdir_core::team::{Conflict, ConflictFile, MergedIndex, TeamStatus, TeamSync};
use memdir_core::transcript::Transcript;
use memdir_core::write::{Edited, WriteResult};

use crate::bindings::exports::memdir::memdir::{flows, rules};
use crate::flows::{AnswerText, Drained, Left, ManifestText, NotesPath, NotesText, PromptText};
use crate::same::{each, maybe, records};

/// Lengths and positions within a text that came in through 32-bit memory fit.
fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn bytes(Bytes(bytes): Bytes) -> Vec<u8> {
    bytes
}

/// JSON crosses as text.
fn json(value: impl serde::Serialize) -> String {
    serde_json::to_string(&value).unwrap_or_default()
}

fn line_number(number: Option<usize>) -> Option<u32> {
    number.map(count)
}

fn place(index: Option<usize>) -> Option<u32> {
    index.map(count)
}

records! {
    Error => rules::Error { code as Into::into, message, path }
    ReportEntry => rules::ReportEntry { path, code as Into::into, message }
    Truncation => rules::Truncation {
        content, warning, lines as count, bytes as count, lines_cut, bytes_cut, lost,
    }
    Problem => rules::Problem { code as Into::into, line as line_number, message }
    ErrorInfo => rules::ErrorInfo { code as Into::into, family as Into::into, example as Into::into }
    Enabled => rules::Enabled { enabled, because as Into::into }
    Refused => rules::Refused { source as Into::into, code as Into::into }
    Choice => rules::Choice { directory, chosen_by as Into::into, project_key, refused as each }
    SettingsProblem => rules::SettingsProblem { code as Into::into, key }
    Settings => rules::Settings {
        auto_memory_enabled, auto_memory_directory, auto_dream_enabled, problems as each,
    }
    MemoryAge => rules::Age { days, text, warning }
    Finding => rules::Finding {
        path, line as line_number, code as Into::into, severity as Into::into, message, remedy,
    }
    Word => rules::Word { whole, parts }
    Found => rules::Found { path, score }
    CutMemory => rules::Cut { content, lines, note }
    Edited => rules::Edited { content, changed }
    Selection => rules::Selection { paths, dropped }
    MemoryPlaces => rules::MemoryPlaces {
        platform as Into::into, store, config_home, agents, overridden,
    }
    ToolClass => rules::ToolClass { kind as Into::into, action as Into::into, path }
    SecretFinding => rules::SecretFinding {
        rule, label, line as count, start as count, end as count,
    }
    MergedIndex => rules::MergedIndex { content, lost }
    ShellStage => rules::ShellStage { argv, paths }
    ModelHttp => rules::ModelHttp { url, headers as each, body }
    ToolDefinition => rules::ToolDefinition { name, description, input_schema as json }
    ToolCall => rules::ToolCall { id, name, input }
    Usage => rules::Usage { input, output, cached, written }
    ToolAnswer => rules::ToolAnswer { text, calls as each, answer, usage as Into::into, is_cut }
    conversation::Message => rules::Message {
        id, role as Into::into, content as json, is_meta, tokens,
    }
    Transcript => rules::Transcript { messages as each, left_out, report as each }
    ExtractionState => rules::ExtractionState { cursor, turns }
    ExtractionDecision => rules::ExtractionDecision {
        verdict as Into::into, reason as maybe, state as Into::into, new_messages, last,
    }
    NotesSection => rules::NotesSection { heading, tokens, is_over }
    NotesMeasure => rules::NotesMeasure { tokens, sections as each, is_over }
    Compaction => rules::Compaction { notes, keep_from as place, reason as maybe, tokens }
    ImportTarget => rules::ImportTarget { target, certain }
    ParsedInstructions => rules::ParsedInstructions {
        text, imports as each, paths, problems as each,
    }
    ResolvedImport => rules::ResolvedImport { path, is_text }
    InstructionPlace => rules::InstructionPlace {
        path, source as Into::into, kind as Into::into, skipped as maybe,
    }
    InstructionFile => flows::InstructionFile {
        path, source as Into::into, kind as Into::into, text, parent, globs, differs,
    }
    LoadNote => flows::LoadNote { code as Into::into, message }
    LoadEntry => flows::LoadEntry {
        path, source as Into::into, kind as Into::into, outcome as Into::into, code as maybe,
        message, parent, depth, bytes, lines, globs, notes as each,
    }
    Instructions => flows::Instructions { text, files as each, report as each }
    ContextPart => flows::ContextPart { kind as Into::into, text }
    Context => flows::Context { text, parts as each, report as each }
    Opened => flows::Opened {
        directory, enabled, because as Into::into, chosen_by as Into::into, chosen_file,
        project_key, project_root, refused as each, places as Into::into, report as each,
    }
    Lint => flows::Lint { findings as each }
    Scan => flows::Scan { memories as each, report as each }
    MemoryFile => flows::MemoryFile { header as Into::into, content, body, hash }
    RecallState => flows::RecallState { surfaced, bytes }
    RecalledMemory => flows::RecalledMemory {
        path, absolute_path, mtime_ms, header as Into::into, age_days, age, warning, content, note,
        reason as Into::into, score, text,
    }
    Recall => flows::Recall { memories as each, report as each, state as Into::into }
    WriteResult => flows::WriteResult {
        outcome as Into::into, path, absolute_path, hash, created, index_changed, code as maybe,
        message, report as each,
    }
    Extraction => flows::Extraction {
        outcome as Into::into, reason as maybe, paths, removed, notice, inbox, turns,
        ended as maybe, usage as Into::into, code as maybe, message, state as Into::into,
        report as each,
    }
    ExtractionTask => flows::ExtractionTask {
        run, system, prompt, tools as each, max_turns, max_tokens,
    }
    ExtractionStep => flows::ExtractionStep { task as maybe, result as maybe }
    ToolReply => flows::ToolReply { content, is_error }
    NotesState => flows::NotesState { last_tokens, cursor, last_summarised }
    NotesResult => flows::NotesResult {
        outcome as Into::into, reason as maybe, path, changed, turns, ended as maybe,
        usage as Into::into, code as maybe, message, over_limit as each, state as Into::into,
        report as each,
    }
    Dream => flows::Dream {
        outcome as Into::into, reason as maybe, id, improved, removed, conflicts, notice,
        changes as each, sessions, turns, ended as maybe, usage as Into::into, code as maybe,
        message, report as each,
    }
    DreamUndone => flows::DreamUndone { id, restored, conflicts }
    AfterTurn => flows::AfterTurn { extraction as Into::into, notes as maybe, dream as Into::into }
    InboxChange => flows::InboxChange { path, kind as Into::into, diff, added, removed, is_stale }
    InboxItem => flows::InboxItem { id, purpose, at_ms, changes as each }
    Inbox => flows::Inbox { items as each, report as each }
    InboxResult => flows::InboxResult { results as each, left }
    TeamSync => flows::TeamSync { received, removed, sent, deleted, conflicts, report as each }
    TeamStatus => flows::TeamStatus {
        repository, url, synced_ms, to_send, conflicts as each, report as each,
    }
    Conflict => flows::Conflict { id, path, at_ms, size }
    ConflictFile => flows::ConflictFile { id, path, at_ms, content }
    Header => rules::Header { name, value }
    Event => flows::Event { kind, path, code, message }
    Request => flows::Request { id, effect as Into::into }
    Failure => flows::Failure { code as Into::into, message }
    Stat => flows::Stat { kind as Into::into, size, mtime_ms, mtime_ns, ctime_ms, inode, mode }
    Entry => flows::Entry { name, invalid_name, stat as maybe }
    Listing => flows::Listing { entries as each, incomplete }
    HttpAnswer => flows::HttpAnswer { status, headers as each, body as bytes }
    RunAnswer => flows::RunAnswer { exit_code, stdout as bytes, stderr as bytes }
    Clock => flows::Clock { ms, offset_minutes }
    HostInfo => flows::HostInfo { host_id, pid, platform as Into::into }
}

// `type` is a keyword of Rust: the core calls it `kind`, wit-bindgen `type_`.

impl From<MemoryHeader> for rules::MemoryHeader {
    fn from(header: MemoryHeader) -> Self {
        let MemoryHeader {
            path,
            name,
            description,
            kind,
            scope,
            pinned,
            modified_ms,
            mtime_ms,
            size,
        } = header;
        Self {
            path,
            name,
            description,
            type_: maybe(kind),
            scope: scope.into(),
            pinned,
            modified_ms,
            mtime_ms,
            size,
        }
    }
}

impl From<Frontmatter> for rules::Frontmatter {
    fn from(frontmatter: Frontmatter) -> Self {
        let Frontmatter {
            found,
            name,
            description,
            kind,
            modified,
            modified_ms,
            pinned,
            body,
            problems,
        } = frontmatter;
        Self {
            found,
            name,
            description,
            type_: maybe(kind),
            modified,
            modified_ms,
            pinned,
            body: count(body),
            problems: each(problems),
        }
    }
}

impl From<Opened> for flows::Value {
    fn from(opened: Opened) -> Self {
        Self::Opened(opened.into())
    }
}

impl From<Scan> for flows::Value {
    fn from(scan: Scan) -> Self {
        Self::Scan(scan.into())
    }
}

impl From<ManifestText> for flows::Value {
    fn from(ManifestText(manifest): ManifestText) -> Self {
        Self::Manifest(flows::Manifest { manifest })
    }
}

impl From<MemoryFile> for flows::Value {
    fn from(file: MemoryFile) -> Self {
        Self::MemoryFile(file.into())
    }
}

impl From<AnswerText> for flows::Value {
    fn from(AnswerText(answer): AnswerText) -> Self {
        Self::Answer(flows::Answer { answer })
    }
}

impl From<PromptText> for flows::Value {
    fn from(PromptText(prompt): PromptText) -> Self {
        Self::Prompt(flows::Prompt { prompt })
    }
}

impl From<Instructions> for flows::Value {
    fn from(instructions: Instructions) -> Self {
        Self::Instructions(instructions.into())
    }
}

impl From<Context> for flows::Value {
    fn from(context: Context) -> Self {
        Self::Context(context.into())
    }
}

impl From<Lint> for flows::Value {
    fn from(lint: Lint) -> Self {
        Self::Lint(lint.into())
    }
}

impl From<Recall> for flows::Value {
    fn from(recall: Recall) -> Self {
        Self::Recall(recall.into())
    }
}

impl From<WriteResult> for flows::Value {
    fn from(result: WriteResult) -> Self {
        Self::WriteResult(result.into())
    }
}

impl From<TeamSync> for flows::Value {
    fn from(sync: TeamSync) -> Self {
        Self::TeamSync(sync.into())
    }
}

impl From<TeamStatus> for flows::Value {
    fn from(status: TeamStatus) -> Self {
        Self::TeamStatus(status.into())
    }
}

impl From<Vec<Conflict>> for flows::Value {
    fn from(conflicts: Vec<Conflict>) -> Self {
        Self::Conflicts(flows::Conflicts {
            conflicts: each(conflicts),
        })
    }
}

impl From<ConflictFile> for flows::Value {
    fn from(file: ConflictFile) -> Self {
        Self::ConflictFile(file.into())
    }
}

impl From<Extraction> for flows::Value {
    fn from(extraction: Extraction) -> Self {
        Self::Extraction(extraction.into())
    }
}

impl From<ExtractionStep> for flows::Value {
    fn from(step: ExtractionStep) -> Self {
        Self::ExtractionStep(step.into())
    }
}

impl From<ToolReply> for flows::Value {
    fn from(reply: ToolReply) -> Self {
        Self::ToolReply(reply.into())
    }
}

impl From<Drained> for flows::Value {
    fn from(Drained(drained): Drained) -> Self {
        Self::Drained(flows::Drained { drained })
    }
}

impl From<Transcript> for flows::Value {
    fn from(transcript: Transcript) -> Self {
        Self::Transcript(transcript.into())
    }
}

impl From<Inbox> for flows::Value {
    fn from(inbox: Inbox) -> Self {
        Self::Inbox(inbox.into())
    }
}

impl From<InboxResult> for flows::Value {
    fn from(result: InboxResult) -> Self {
        Self::InboxResult(result.into())
    }
}

impl From<Left> for flows::Value {
    fn from(Left(left): Left) -> Self {
        Self::Left(flows::Left { left })
    }
}

impl From<NotesResult> for flows::Value {
    fn from(result: NotesResult) -> Self {
        Self::NotesResult(result.into())
    }
}

impl From<NotesText> for flows::Value {
    fn from(NotesText(notes): NotesText) -> Self {
        Self::Notes(flows::Notes { notes })
    }
}

impl From<Compaction> for flows::Value {
    fn from(compaction: Compaction) -> Self {
        Self::Compaction(compaction.into())
    }
}

impl From<NotesPath> for flows::Value {
    fn from(NotesPath(notes_path): NotesPath) -> Self {
        Self::NotesPath(flows::NotesPath { notes_path })
    }
}

impl From<Dream> for flows::Value {
    fn from(dream: Dream) -> Self {
        Self::Dream(dream.into())
    }
}

impl From<DreamUndone> for flows::Value {
    fn from(undone: DreamUndone) -> Self {
        Self::DreamUndone(undone.into())
    }
}

impl From<AfterTurn> for flows::Value {
    fn from(after: AfterTurn) -> Self {
        Self::AfterTurn(after.into())
    }
}

/// The end of what has nothing to tell.
impl From<()> for flows::Value {
    fn from((): ()) -> Self {
        Self::Nothing
    }
}

/// The exit code of a command.
impl From<u8> for flows::Value {
    fn from(code: u8) -> Self {
        Self::Exit(flows::Exit { code })
    }
}

/// The outcomes of a probe.
impl From<Vec<Outcome>> for flows::Value {
    fn from(outcomes: Vec<Outcome>) -> Self {
        Self::Outcomes(flows::Outcomes {
            outcomes: each(outcomes),
        })
    }
}

impl From<Content> for flows::Content {
    fn from(content: Content) -> Self {
        match content {
            Content::Text(text) => Self::Text(flows::ContentText { text }),
            Content::Bytes(Bytes(bytes)) => Self::Bytes(flows::ContentBytes { bytes }),
        }
    }
}

impl From<Effect> for flows::Effect {
    fn from(effect: Effect) -> Self {
        match effect {
            Effect::List { path, within } => Self::List(flows::ListEffect { path, within }),
            Effect::Read {
                path,
                within,
                offset,
                length,
            } => Self::Read(flows::ReadEffect {
                path,
                within,
                offset,
                length,
            }),
            Effect::ReadMany {
                paths,
                within,
                length,
            } => Self::ReadMany(flows::ReadManyEffect {
                paths,
                within,
                length,
            }),
            Effect::Stat { path } => Self::Stat(flows::OnPath { path }),
            Effect::Lstat { path } => Self::Lstat(flows::OnPath { path }),
            Effect::ReadLink { path } => Self::ReadLink(flows::OnPath { path }),
            Effect::RealPath { path } => Self::RealPath(flows::OnPath { path }),
            Effect::Write {
                path,
                within,
                content,
                via,
                mode,
                sync,
            } => Self::Write(flows::WriteEffect {
                path,
                within,
                content: content.into(),
                via,
                mode,
                sync,
            }),
            Effect::Append {
                path,
                content,
                mode,
            } => Self::Append(flows::AppendEffect {
                path,
                content: content.into(),
                mode,
            }),
            Effect::MakeDir { path, within, mode } => {
                Self::MakeDir(flows::MakeDirEffect { path, within, mode })
            }
            Effect::Remove { path, within } => Self::Remove(flows::RemoveEffect { path, within }),
            Effect::Rename {
                from,
                to,
                within,
                replace,
                sync,
            } => Self::Rename(flows::RenameEffect {
                from,
                to,
                within,
                replace,
                sync,
            }),
            Effect::Link { from, to, within } => Self::Link(flows::LinkEffect { from, to, within }),
            Effect::SetMtime { path, mtime_ms } => {
                Self::SetMtime(flows::SetMtimeEffect { path, mtime_ms })
            }
            Effect::ProcessAlive { pid } => Self::ProcessAlive(flows::ProcessAliveEffect { pid }),
            Effect::Http {
                method,
                url,
                headers,
                body,
                timeout_ms,
                max_bytes,
            } => Self::Http(flows::HttpEffect {
                method,
                url,
                headers: each(headers),
                body: maybe(body),
                timeout_ms,
                max_bytes,
            }),
            Effect::Model {
                request,
                timeout_ms,
            } => Self::Model(flows::ModelEffect {
                request,
                timeout_ms,
            }),
            Effect::Token { timeout_ms } => Self::Token(flows::TokenEffect { timeout_ms }),
            Effect::Approve {
                path,
                parent,
                timeout_ms,
            } => Self::Approve(flows::ApproveEffect {
                path,
                parent,
                timeout_ms,
            }),
            Effect::Run {
                argv,
                cwd,
                env,
                stdin,
                timeout_ms,
                max_bytes,
            } => Self::Run(flows::RunEffect {
                argv,
                cwd,
                env: each(env),
                stdin: maybe(stdin),
                timeout_ms,
                max_bytes,
            }),
            Effect::Now => Self::Now,
            Effect::Sleep { ms } => Self::Sleep(flows::SleepEffect { ms }),
            Effect::Random { length } => Self::Random(flows::RandomEffect { length }),
            Effect::Watch { path, timeout_ms } => {
                Self::Watch(flows::WatchEffect { path, timeout_ms })
            }
            Effect::Print { stream, text } => Self::Print(flows::PrintEffect {
                stream: stream.into(),
                text,
            }),
            Effect::ReadStdin { max_bytes, line } => {
                Self::ReadStdin(flows::ReadStdinEffect { max_bytes, line })
            }
            Effect::OpenEditor { argv } => Self::OpenEditor(flows::OpenEditorEffect { argv }),
            Effect::HostInfo => Self::HostInfo,
            Effect::Emit { event } => Self::Emit(flows::EmitEffect {
                event: event.into(),
            }),
        }
    }
}

fn read_answer(Bytes(bytes): Bytes) -> flows::ReadAnswer {
    flows::ReadAnswer {
        content: flows::Content::Bytes(flows::ContentBytes { bytes }),
    }
}

impl From<Head> for flows::Head {
    fn from(head: Head) -> Self {
        match head {
            Head::Content(bytes) => Self::Content(read_answer(bytes)),
            Head::Failed(failure) => Self::Failed(failure.into()),
        }
    }
}

impl From<Outcome> for flows::Outcome {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Done => Self::Done,
            Outcome::Listing(listing) => Self::Listing(listing.into()),
            Outcome::Content(bytes) => Self::Content(read_answer(bytes)),
            Outcome::Heads(heads) => Self::Heads(flows::HeadsAnswer { heads: each(heads) }),
            Outcome::Stat(stat) => Self::Stat(stat.into()),
            Outcome::Text(text) => Self::Text(flows::TextAnswer { text }),
            Outcome::Alive(alive) => Self::Alive(flows::AliveAnswer { alive }),
            Outcome::Http(answer) => Self::Http(answer.into()),
            Outcome::Ran(answer) => Self::Ran(answer.into()),
            Outcome::Now(clock) => Self::Now(clock.into()),
            Outcome::Changed(changed) => Self::Changed(flows::ChangedAnswer { changed }),
            Outcome::Approved(approved) => Self::Approved(flows::ApprovedAnswer { approved }),
            Outcome::HostInfo(info) => Self::HostInfo(info.into()),
            Outcome::Failed(failure) => Self::Failed(failure.into()),
        }
    }
}
