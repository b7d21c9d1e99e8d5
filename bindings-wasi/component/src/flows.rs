//! The interface `flows`: one resource for every running flow, whatever it ends with, and one for
//! an open store.

use std::cell::RefCell;

use memdir_core::cli;
use memdir_core::flow::{self as engine, Step as CoreStep};
use memdir_core::store;

use crate::Component;
use crate::bindings::exports::memdir::memdir::flows::{
    AfterTurnOptions, AgentScope, CommandOptions, CompactionOptions, Done, DreamOptions, Effect,
    ExtractOptions, Flow, ForgetOptions, Guest, GuestFlow, GuestStore, InstructionsOptions,
    Message, NotesOptions, OpenOptions, PromptOptions, RecallOptions, Requests, Response,
    RunReport, SaveOptions, Step, Store, Value,
};
use crate::from_wit::Said;

impl Guest for Component {
    type Flow = Running;
    type Store = OpenStore;

    fn command(options: CommandOptions) -> Flow {
        start(cli::command(options.into()))
    }

    fn probe(effects: Vec<Effect>) -> Flow {
        start(engine::probe(effects.into_iter().map(Into::into).collect()))
    }
}

/// A flow with the value that it will end with already in the form of the interface. The cell is
/// borrowed only within one call, and a component instance runs one call at a time.
pub struct Running(RefCell<engine::Flow<Value>>);

fn start<T: Into<Value> + Send + 'static>(flow: engine::Flow<T>) -> Flow {
    Flow::new(Running(RefCell::new(flow.map(Into::into))))
}

impl GuestFlow for Running {
    fn resume(&self, responses: Vec<Response>) -> Step {
        let responses = responses.into_iter().map(Into::into).collect();
        match self.0.borrow_mut().resume(responses) {
            Ok(CoreStep::Effects(requests)) => Step::Effects(Requests {
                requests: requests.into_iter().map(Into::into).collect(),
            }),
            Ok(CoreStep::Done(value)) => Step::Done(Done { value }),
            Err(error) => Step::Failed(error.into()),
        }
    }

    fn cancel(&self) {
        self.0.borrow().cancel();
    }
}

/// A store of the core.
pub struct OpenStore(store::Store);

impl GuestStore for OpenStore {
    fn new(options: OpenOptions) -> Self {
        Self(store::Store::new(options.into()))
    }

    fn open(&self) -> Flow {
        start(self.0.open())
    }

    fn scan(&self) -> Flow {
        start(self.0.scan())
    }

    fn manifest(&self) -> Flow {
        start(self.0.manifest().map(ManifestText))
    }

    fn read(&self, path: String) -> Flow {
        start(self.0.read(path))
    }

    fn prompt(&self, options: PromptOptions) -> Flow {
        start(self.0.prompt(options.into()).map(PromptText))
    }

    fn instructions(&self, options: InstructionsOptions) -> Flow {
        start(self.0.instructions(options.into()))
    }

    fn instructions_for(&self, path: String, options: InstructionsOptions) -> Flow {
        start(self.0.instructions_for(path, options.into()))
    }

    fn context(&self, options: InstructionsOptions) -> Flow {
        start(self.0.context(options.into()))
    }

    fn lint(&self) -> Flow {
        start(self.0.lint())
    }

    fn recall(&self, query: String, options: RecallOptions) -> Flow {
        start(self.0.recall(query, options.into()))
    }

    fn save(&self, options: SaveOptions) -> Flow {
        start(self.0.save(options.into()))
    }

    fn forget(&self, path: String, options: ForgetOptions) -> Flow {
        start(self.0.forget(path, options.into()))
    }

    fn undo_forget(&self, path: Option<String>) -> Flow {
        start(self.0.undo_forget(path))
    }

    fn tool(&self, input: String) -> Flow {
        start(self.0.tool(input).map(AnswerText))
    }

    fn log(&self, text: String) -> Flow {
        start(self.0.log(text))
    }

    fn team_pull(&self) -> Flow {
        start(self.0.team_pull())
    }

    fn team_push(&self) -> Flow {
        start(self.0.team_push())
    }

    fn team_sync(&self) -> Flow {
        start(self.0.team_sync())
    }

    fn team_status(&self) -> Flow {
        start(self.0.team_status())
    }

    fn team_watch(&self, period_ms: Option<u64>) -> Flow {
        start(self.0.team_watch(period_ms))
    }

    fn team_conflicts(&self) -> Flow {
        start(self.0.team_conflicts())
    }

    fn team_conflict(&self, id: String) -> Flow {
        start(self.0.team_conflict(id))
    }

    fn team_restore(&self, id: String) -> Flow {
        start(self.0.team_restore(id))
    }

    fn team_drop(&self, id: String) -> Flow {
        start(self.0.team_drop(id))
    }

    fn extract(&self, messages: Vec<Message>, options: ExtractOptions) -> Flow {
        start(self.0.extract(&Said(messages), options.into()))
    }

    fn begin_extraction(&self, messages: Vec<Message>, options: ExtractOptions) -> Flow {
        start(self.0.begin_extraction(&Said(messages), options.into()))
    }

    fn call_tool(&self, run: u32, name: String, input: String) -> Flow {
        start(self.0.call_tool(run, name, input))
    }

    fn end_extraction(&self, run: u32, report: RunReport) -> Flow {
        start(self.0.end_extraction(run, report.into()))
    }

    fn drain(&self, timeout_ms: Option<u64>) -> Flow {
        start(self.0.drain(timeout_ms).map(Drained))
    }

    fn transcript(&self, path: String) -> Flow {
        start(self.0.transcript(path))
    }

    fn inbox(&self) -> Flow {
        start(self.0.inbox())
    }

    fn apply_proposal(&self, id: String, paths: Option<Vec<String>>) -> Flow {
        start(self.0.apply_proposal(id, paths))
    }

    fn drop_proposal(&self, id: String, paths: Option<Vec<String>>) -> Flow {
        start(self.0.drop_proposal(id, paths).map(Left))
    }

    fn session_update(&self, id: String, messages: Vec<Message>, options: NotesOptions) -> Flow {
        start(self.0.session(id).update(&Said(messages), options.into()))
    }

    fn session_notes(&self, id: String) -> Flow {
        start(self.0.session(id).notes().map(NotesText))
    }

    fn session_compaction(
        &self,
        id: String,
        messages: Vec<Message>,
        options: CompactionOptions,
    ) -> Flow {
        let notes = self.0.session(id);
        start(notes.for_compaction(&Said(messages), options.into()))
    }

    fn session_path(&self, id: String) -> Flow {
        start(self.0.session(id).path().map(NotesPath))
    }

    fn dream(&self, options: DreamOptions) -> Flow {
        start(self.0.dream(options.into()))
    }

    fn undo_dream(&self) -> Flow {
        start(self.0.undo_dream())
    }

    fn after_turn(&self, messages: Vec<Message>, options: AfterTurnOptions) -> Flow {
        start(self.0.after_turn(&Said(messages), options.into()))
    }

    fn agent(&self, name: String, scope: AgentScope) -> Store {
        Store::new(Self(self.0.agent(name, scope.into())))
    }

    fn compacted(&self) {
        self.0.compacted();
    }

    fn close(&self) -> Flow {
        start(self.0.close())
    }
}

/// Tells a manifest from other texts.
pub struct ManifestText(pub String);

/// Tells the answer of the memory tool from other texts.
pub struct AnswerText(pub String);

/// Tells a prompt from other texts.
pub struct PromptText(pub Option<String>);

/// Tells the notes of a session from other texts.
pub struct NotesText(pub Option<String>);

/// Tells the place of notes from other texts.
pub struct NotesPath(pub String);

/// Tells whether a drain was complete from other answers.
pub struct Drained(pub bool);

/// Tells what is left of a proposal from other lists.
pub struct Left(pub Vec<String>);
