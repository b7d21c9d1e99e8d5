//! From the WIT's types to those of the core. Every value is taken apart completely, so a new
//! field or case of the WIT stops the build.

use memdir_core::agents::AgentOptions;
use memdir_core::cli::CommandOptions;
use memdir_core::conversation::{self, Conversation};
use memdir_core::dream::{DreamGate, DreamOptions, LockLook};
use memdir_core::error::{Error, ErrorCode};
use memdir_core::extract::{ExtractOptions, ExtractionGate, ExtractionState, RunReport};
use memdir_core::flow::{
    Bytes, Clock, Content, Effect, Entry, Event, Failure, Head, Header, HostInfo, HttpAnswer,
    Listing, Outcome, Response, RunAnswer, Stat,
};
use memdir_core::instructions::{InstructionsOptions, PlacesQuestion};
use memdir_core::lint::{LintInput, LintMemory};
use memdir_core::memory::MemoryHeader;
use memdir_core::model::{
    self, Key, ModelOptions, ModelRequest, ToolDefinition, ToolRequest, ToolTurn, Usage,
};
use memdir_core::paths::{DirectoryQuestion, MemoryPlaces, PerSource, ToolClass};
use memdir_core::recall::{RankedMemory, RecallState, ToolResult};
use memdir_core::session::{
    CompactionOptions, CompactionQuestion, NotesDue, NotesOptions, NotesState, TemplateValues,
};
use memdir_core::store::{
    AfterTurnOptions, Features, ForgetOptions, OpenOptions, PromptOptions, RecallOptions,
};
use memdir_core::team::TeamOptions;
use memdir_core::write::{IndexEntry, MemoryChanges, SaveOptions};

use crate::bindings::exports::memdir::memdir::{flows, rules};
use crate::same::{each, maybe, pairs, records};

fn key(key: Option<String>) -> Option<Key> {
    key.map(Key)
}

/// An index into a list that came in through 32-bit memory.
fn place(index: Option<u32>) -> Option<usize> {
    index.map(|index| usize::try_from(index).unwrap_or(usize::MAX))
}

records! {
    rules::EnabledSettings => PerSource<bool> { policy, flag, local, project, user }
    rules::DirectorySettings => PerSource<String> { policy, flag, local, project, user }
    rules::DirectoryQuestion => DirectoryQuestion {
        platform as Into::into, home, env as pairs, settings as Into::into, project_root,
    }
    rules::LintMemory => LintMemory { path, text }
    rules::LintInput => LintInput { index, team_index, memories as each }
    rules::RankedMemory => RankedMemory { path, text, age_days, uses }
    rules::ToolResult => ToolResult { tool, ok }
    rules::ModelOptions => ModelOptions { name, api_key as key, base_url }
    rules::AgentOptions => AgentOptions { name, scope as Into::into }
    rules::MemoryPlaces => MemoryPlaces {
        platform as Into::into, store, config_home, agents, overridden,
    }
    rules::ToolClass => ToolClass { kind as Into::into, action as Into::into, path }
    rules::IndexEntry => IndexEntry { name, description }
    rules::ModelMessage => model::Message { role as Into::into, content }
    rules::CallResult => model::ToolResult { id, name, content, is_error }
    rules::ToolTurn => ToolTurn { answer, results as each }
    rules::Usage => Usage { input, output, cached, written }
    rules::ExtractionState => ExtractionState { cursor, turns }
    rules::ExtractionGate => ExtractionGate {
        agent as Into::into, interactive, remote, extract, extract_non_interactive, every, running,
        trailing, places as maybe,
    }
    rules::NotesDue => NotesDue { tokens, last_tokens, tool_calls, natural_break, last_turn_calls }
    rules::TemplateValues => TemplateValues { current_notes, notes_path }
    rules::DreamGate => DreamGate {
        dream, enabled, remote, daily_log, now_ms, last_ms, counted_ms, sessions,
    }
    rules::LockLook => LockLook { now_ms, mtime_ms, body, alive }
    rules::PlacesQuestion => PlacesQuestion {
        platform as Into::into, cwd, config_home, managed, checkout, canonical, additional,
        agents_md, user, project, local,
    }
    flows::InstructionsOptions => InstructionsOptions {
        agents_md, user, project, local, additional_directories, excludes, approved, loaded,
    }
    flows::NotesState => NotesState { last_tokens, cursor, last_summarised }
    flows::NotesOptions => NotesOptions { force, natural_break, request, state as maybe }
    flows::CompactionOptions => CompactionOptions { boundary as place, state as maybe }
    flows::DreamOptions => DreamOptions { force, dry_run, logs, session, remote, read_roots }
    flows::AfterTurnOptions => AfterTurnOptions {
        agent as Into::into, interactive, remote, session, request, read_roots, review,
        natural_break, extraction as maybe, notes as maybe,
    }
    flows::ExtractOptions => ExtractOptions {
        agent as Into::into, interactive, remote, session, state as maybe, request, read_roots,
        review,
    }
    flows::RunReport => RunReport { error, turns, usage as Into::into }
    flows::Features => Features {
        team, extract, extract_non_interactive, one_step, daily_log, dream, extract_every,
        count_uses,
    }
    flows::OpenOptions => OpenOptions {
        directory, cwd, home, env as pairs, settings, platform as maybe, model as maybe,
        agent as maybe, team as maybe, features as Into::into,
    }
    flows::TeamOptions => TeamOptions {
        url, token as key, ask_token, repository, deletions as Into::into,
    }
    flows::PromptOptions => PromptOptions { index, past_context, guidelines }
    flows::RecallState => RecallState { surfaced, bytes }
    flows::RecallOptions => RecallOptions {
        limit, strategy as Into::into, recent_tools, tool_results as each, surfaced, already_read,
        state as Into::into,
    }
    flows::ForgetOptions => ForgetOptions { expect }
    flows::CommandOptions => CommandOptions { args, cwd, home, env as pairs }
    rules::Header => Header { name, value }
    flows::Event => Event { kind, path, code, message }
    flows::Response => Response { id, outcome as Into::into }
    flows::Failure => Failure { code as Into::into, message }
    flows::Stat => Stat { kind as Into::into, size, mtime_ms, mtime_ns, ctime_ms, inode, mode }
    flows::Entry => Entry { name, invalid_name, stat as maybe }
    flows::Listing => Listing { entries as each, incomplete }
    flows::HttpAnswer => HttpAnswer { status, headers as each, body as Bytes }
    flows::RunAnswer => RunAnswer { exit_code, stdout as Bytes, stderr as Bytes }
    flows::Clock => Clock { ms, offset_minutes }
    flows::HostInfo => HostInfo { host_id, pid, platform as Into::into }
}

// `type` is a keyword of Rust: the core calls it `kind`, wit-bindgen `type_`.
impl From<rules::MemoryHeader> for MemoryHeader {
    fn from(header: rules::MemoryHeader) -> Self {
        let rules::MemoryHeader {
            path,
            name,
            description,
            type_,
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
            kind: maybe(type_),
            scope: scope.into(),
            pinned,
            modified_ms,
            mtime_ms,
            size,
        }
    }
}

impl From<rules::MemoryChanges> for MemoryChanges {
    fn from(changes: rules::MemoryChanges) -> Self {
        let rules::MemoryChanges {
            name,
            description,
            type_,
            modified,
            body,
        } = changes;
        Self {
            name,
            description,
            kind: maybe(type_),
            modified,
            body,
        }
    }
}

impl From<flows::SaveOptions> for SaveOptions {
    fn from(options: flows::SaveOptions) -> Self {
        let flows::SaveOptions {
            type_,
            name,
            description,
            body,
            scope,
            path,
            expect,
        } = options;
        Self {
            kind: maybe(type_),
            name,
            description,
            body,
            scope: maybe(scope),
            path,
            expect,
        }
    }
}

// JSON crosses as text.
impl TryFrom<rules::ModelRequest> for ModelRequest {
    type Error = Error;

    fn try_from(request: rules::ModelRequest) -> Result<Self, Error> {
        let rules::ModelRequest {
            purpose,
            system,
            messages,
            max_tokens,
            schema,
        } = request;
        let schema = schema.map(|schema| json("the schema", &schema));
        Ok(Self {
            purpose,
            system,
            messages: each(messages),
            max_tokens,
            schema: schema.transpose()?,
        })
    }
}

fn json<T: serde::de::DeserializeOwned>(what: &str, text: &str) -> Result<T, Error> {
    serde_json::from_str(text).map_err(|error| {
        let message = format!("{what} is no JSON: {error}");
        Error::new(ErrorCode::InvalidArgument, message)
    })
}

impl TryFrom<rules::ToolDefinition> for ToolDefinition {
    type Error = Error;

    fn try_from(tool: rules::ToolDefinition) -> Result<Self, Error> {
        let rules::ToolDefinition {
            name,
            description,
            input_schema,
        } = tool;
        Ok(Self {
            name,
            description,
            input_schema: json("the input schema of a tool", &input_schema)?,
        })
    }
}

impl TryFrom<rules::ToolRequest> for ToolRequest {
    type Error = Error;

    fn try_from(request: rules::ToolRequest) -> Result<Self, Error> {
        let rules::ToolRequest {
            purpose,
            prefix,
            system,
            tools,
            prompt,
            turns,
            max_tokens,
        } = request;
        let tools = tools.into_iter().map(TryInto::try_into);
        Ok(Self {
            purpose,
            prefix,
            system,
            tools: tools.collect::<Result<_, _>>()?,
            prompt,
            turns: each(turns),
            max_tokens,
        })
    }
}

/// A conversation as it came in; what a message says is read when it is asked for.
pub struct Said(pub Vec<rules::Message>);

impl Conversation for Said {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn id(&self, at: usize) -> Result<Option<String>, Error> {
        Ok(self.0.get(at).and_then(|message| message.id.clone()))
    }

    fn message(&self, at: usize) -> Result<conversation::Message, Error> {
        let message = self
            .0
            .get(at)
            .ok_or_else(|| Error::new(ErrorCode::Internal, format!("there is no message {at}")))?;
        let rules::Message {
            id,
            role,
            content,
            is_meta,
            tokens,
        } = message;
        Ok(conversation::Message {
            id: id.clone(),
            role: (*role).into(),
            content: json("the content of a message", content)?,
            is_meta: *is_meta,
            tokens: *tokens,
        })
    }
}

impl TryFrom<rules::CompactionQuestion> for CompactionQuestion {
    type Error = Error;

    fn try_from(question: rules::CompactionQuestion) -> Result<Self, Error> {
        let rules::CompactionQuestion {
            messages,
            last_summarised,
            notes,
            template,
            boundary,
        } = question;
        let said = Said(messages);
        let messages = (0..said.len()).map(|at| said.message(at));
        Ok(Self {
            messages: messages.collect::<Result<_, _>>()?,
            last_summarised,
            notes,
            template,
            boundary: place(boundary),
        })
    }
}

impl From<flows::Content> for Content {
    fn from(content: flows::Content) -> Self {
        match content {
            flows::Content::Text(flows::ContentText { text }) => Self::Text(text),
            flows::Content::Bytes(flows::ContentBytes { bytes }) => Self::Bytes(Bytes(bytes)),
        }
    }
}

impl From<flows::ReadAnswer> for Bytes {
    fn from(flows::ReadAnswer { content }: flows::ReadAnswer) -> Self {
        Self(match content {
            flows::Content::Text(flows::ContentText { text }) => text.into_bytes(),
            flows::Content::Bytes(flows::ContentBytes { bytes }) => bytes,
        })
    }
}

impl From<flows::Effect> for Effect {
    fn from(effect: flows::Effect) -> Self {
        match effect {
            flows::Effect::List(flows::ListEffect { path, within }) => Self::List { path, within },
            flows::Effect::Read(flows::ReadEffect {
                path,
                within,
                offset,
                length,
            }) => Self::Read {
                path,
                within,
                offset,
                length,
            },
            flows::Effect::ReadMany(flows::ReadManyEffect {
                paths,
                within,
                length,
            }) => Self::ReadMany {
                paths,
                within,
                length,
            },
            flows::Effect::Stat(flows::OnPath { path }) => Self::Stat { path },
            flows::Effect::Lstat(flows::OnPath { path }) => Self::Lstat { path },
            flows::Effect::ReadLink(flows::OnPath { path }) => Self::ReadLink { path },
            flows::Effect::RealPath(flows::OnPath { path }) => Self::RealPath { path },
            flows::Effect::Write(flows::WriteEffect {
                path,
                within,
                content,
                via,
                mode,
                sync,
            }) => Self::Write {
                path,
                within,
                content: content.into(),
                via,
                mode,
                sync,
            },
            flows::Effect::Append(flows::AppendEffect {
                path,
                content,
                mode,
            }) => Self::Append {
                path,
                content: content.into(),
                mode,
            },
            flows::Effect::MakeDir(flows::MakeDirEffect { path, within, mode }) => {
                Self::MakeDir { path, within, mode }
            }
            flows::Effect::Remove(flows::RemoveEffect { path, within }) => {
                Self::Remove { path, within }
            }
            flows::Effect::Rename(flows::RenameEffect {
                from,
                to,
                within,
                replace,
                sync,
            }) => Self::Rename {
                from,
                to,
                within,
                replace,
                sync,
            },
            flows::Effect::Link(flows::LinkEffect { from, to, within }) => {
                Self::Link { from, to, within }
            }
            flows::Effect::SetMtime(flows::SetMtimeEffect { path, mtime_ms }) => {
                Self::SetMtime { path, mtime_ms }
            }
            flows::Effect::ProcessAlive(flows::ProcessAliveEffect { pid }) => {
                Self::ProcessAlive { pid }
            }
            flows::Effect::Http(flows::HttpEffect {
                method,
                url,
                headers,
                body,
                timeout_ms,
                max_bytes,
            }) => Self::Http {
                method,
                url,
                headers: each(headers),
                body: maybe(body),
                timeout_ms,
                max_bytes,
            },
            flows::Effect::Model(flows::ModelEffect {
                request,
                timeout_ms,
            }) => Self::Model {
                request,
                timeout_ms,
            },
            flows::Effect::Token(flows::TokenEffect { timeout_ms }) => Self::Token { timeout_ms },
            flows::Effect::Approve(flows::ApproveEffect {
                path,
                parent,
                timeout_ms,
            }) => Self::Approve {
                path,
                parent,
                timeout_ms,
            },
            flows::Effect::Run(flows::RunEffect {
                argv,
                cwd,
                env,
                stdin,
                timeout_ms,
                max_bytes,
            }) => Self::Run {
                argv,
                cwd,
                env: each(env),
                stdin: maybe(stdin),
                timeout_ms,
                max_bytes,
            },
            flows::Effect::Now => Self::Now,
            flows::Effect::Sleep(flows::SleepEffect { ms }) => Self::Sleep { ms },
            flows::Effect::Random(flows::RandomEffect { length }) => Self::Random { length },
            flows::Effect::Watch(flows::WatchEffect { path, timeout_ms }) => {
                Self::Watch { path, timeout_ms }
            }
            flows::Effect::Print(flows::PrintEffect { stream, text }) => Self::Print {
                stream: stream.into(),
                text,
            },
            flows::Effect::ReadStdin(flows::ReadStdinEffect { max_bytes, line }) => {
                Self::ReadStdin { max_bytes, line }
            }
            flows::Effect::OpenEditor(flows::OpenEditorEffect { argv }) => {
                Self::OpenEditor { argv }
            }
            flows::Effect::HostInfo => Self::HostInfo,
            flows::Effect::Emit(flows::EmitEffect { event }) => Self::Emit {
                event: event.into(),
            },
        }
    }
}

impl From<flows::Head> for Head {
    fn from(head: flows::Head) -> Self {
        match head {
            flows::Head::Content(answer) => Self::Content(answer.into()),
            flows::Head::Failed(failure) => Self::Failed(failure.into()),
        }
    }
}

impl From<flows::Outcome> for Outcome {
    fn from(outcome: flows::Outcome) -> Self {
        match outcome {
            flows::Outcome::Done => Self::Done,
            flows::Outcome::Listing(listing) => Self::Listing(listing.into()),
            flows::Outcome::Content(answer) => Self::Content(answer.into()),
            flows::Outcome::Heads(flows::HeadsAnswer { heads }) => Self::Heads(each(heads)),
            flows::Outcome::Stat(stat) => Self::Stat(stat.into()),
            flows::Outcome::Text(flows::TextAnswer { text }) => Self::Text(text),
            flows::Outcome::Alive(flows::AliveAnswer { alive }) => Self::Alive(alive),
            flows::Outcome::Http(answer) => Self::Http(answer.into()),
            flows::Outcome::Ran(answer) => Self::Ran(answer.into()),
            flows::Outcome::Now(clock) => Self::Now(clock.into()),
            flows::Outcome::Changed(flows::ChangedAnswer { changed }) => Self::Changed(changed),
            flows::Outcome::Approved(flows::ApprovedAnswer { approved }) => {
                Self::Approved(approved)
            }
            flows::Outcome::HostInfo(info) => Self::HostInfo(info.into()),
            flows::Outcome::Failed(failure) => Self::Failed(failure.into()),
        }
    }
}
