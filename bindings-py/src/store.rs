//! One store; its methods give flows.

use memdir_core::agents::AgentScope;
use memdir_core::dream::DreamOptions;
use memdir_core::extract::{AgentRole, ExtractOptions};
use memdir_core::instructions::InstructionsOptions;
use memdir_core::session::{CompactionOptions, NotesOptions};
use memdir_core::store::{
    self as core, AfterTurnOptions, ForgetOptions, OpenOptions, PromptOptions, RecallOptions,
};
use memdir_core::write::SaveOptions;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::flow::Flow;
use crate::from_python::{
    AgentChoice, Count, Entries, Flag, Index, Limit, ModelChoice, Named, NotesProgress, Number,
    PlatformName, Progress, Reported, ScopeName, Shown, StrategyName, Switches, Talk, TeamChoice,
    Text, Tool, TypeName, text, texts, tool_results,
};

/// A memory folder. Any number of flows may run over it, from any threads.
#[pyclass(frozen, module = "memdir._core")]
#[derive(Debug)]
pub(crate) struct Store {
    store: core::Store,
}

#[pymethods]
impl Store {
    #[new]
    #[pyo3(signature = (
        *,
        directory: "str | None",
        cwd: "str | None",
        home: "str | None",
        env: "collections.abc.Mapping[str, str]",
        settings: "str | None",
        platform: "_types.PlatformName | None",
        model: "_types.ModelOptions | None",
        agent: "_types.AgentOptions | None",
        team: "_types.TeamOptions | None",
        features: "_types.Features"
    ))]
    #[expect(clippy::too_many_arguments, reason = "named in Python")]
    fn new(
        directory: Option<Text>,
        cwd: Option<Text>,
        home: Option<Text>,
        env: Entries,
        settings: Option<Text>,
        platform: Option<PlatformName>,
        model: Option<ModelChoice>,
        agent: Option<AgentChoice>,
        team: Option<TeamChoice>,
        features: Switches,
    ) -> Self {
        Self {
            store: core::Store::new(OpenOptions {
                directory: text(directory),
                cwd: text(cwd),
                home: text(home),
                env: env.0,
                settings: text(settings),
                platform: platform.map(|PlatformName(platform)| platform),
                model: model.map(|ModelChoice(model)| model),
                agent: agent.map(|AgentChoice(agent)| agent),
                team: team.map(|TeamChoice(team)| team),
                features: features.0,
            }),
        }
    }

    /// The memory of an agent, with the options of this store.
    #[pyo3(signature = (name: "str", /, scope: "_types.AgentScope") -> "Store")]
    fn agent(&self, name: Text, scope: Named<AgentScope>) -> Self {
        Self {
            store: self.store.agent(name.0, scope.0),
        }
    }

    /// Finds the store; ends with `Opened`.
    #[pyo3(signature = () -> "Flow[_types.Opened]")]
    fn open(&self) -> Flow {
        Flow::new(self.store.open())
    }

    /// Lists the memories; ends with `Scan`.
    #[pyo3(signature = () -> "Flow[_types.Scan]")]
    fn scan(&self) -> Flow {
        Flow::new(self.store.scan())
    }

    /// The memories as a model reads them; ends with a `str`.
    #[pyo3(signature = () -> "Flow[str]")]
    fn manifest(&self) -> Flow {
        Flow::new(self.store.manifest())
    }

    /// One memory, whole; ends with `MemoryFile`.
    #[pyo3(signature = (path: "str", /) -> "Flow[_types.MemoryFile]")]
    fn read(&self, path: Text) -> Flow {
        Flow::new(self.store.read(path.0))
    }

    /// What the model is told about its memory; ends with a `str`, or None when memory is off.
    #[pyo3(signature = (
        *,
        index: "bool",
        past_context: "bool",
        guidelines: "collections.abc.Sequence[str]"
    ) -> "Flow[str | None]")]
    fn prompt(&self, index: bool, past_context: bool, guidelines: Vec<Text>) -> Flow {
        Flow::new(self.store.prompt(PromptOptions {
            index,
            past_context,
            guidelines: texts(guidelines),
        }))
    }

    /// What people have written for an agent, or with a path what comes with that file; ends with
    /// `Instructions`.
    #[pyo3(signature = (
        path: "str | None",
        /,
        *,
        agents_md: "bool",
        user: "bool",
        project: "bool",
        local: "bool",
        additional_directories: "collections.abc.Sequence[str]",
        excludes: "collections.abc.Sequence[str]",
        approved: "collections.abc.Sequence[str]",
        loaded: "collections.abc.Sequence[str]"
    ) -> "Flow[_types.Instructions]")]
    #[expect(clippy::too_many_arguments, reason = "named in Python")]
    fn instructions(
        &self,
        path: Option<Text>,
        agents_md: Flag,
        user: Flag,
        project: Flag,
        local: Flag,
        additional_directories: Vec<Text>,
        excludes: Vec<Text>,
        approved: Vec<Text>,
        loaded: Vec<Text>,
    ) -> Flow {
        let options = InstructionsOptions {
            agents_md: agents_md.0,
            user: user.0,
            project: project.0,
            local: local.0,
            additional_directories: texts(additional_directories),
            excludes: texts(excludes),
            approved: texts(approved),
            loaded: texts(loaded),
        };
        Flow::new(match path {
            Some(path) => self.store.instructions_for(path.0, options),
            None => self.store.instructions(options),
        })
    }

    /// Everything that an agent should start with; ends with `Context`.
    #[pyo3(signature = (
        *,
        agents_md: "bool",
        user: "bool",
        project: "bool",
        local: "bool",
        additional_directories: "collections.abc.Sequence[str]",
        excludes: "collections.abc.Sequence[str]",
        approved: "collections.abc.Sequence[str]",
        loaded: "collections.abc.Sequence[str]"
    ) -> "Flow[_types.Context]")]
    #[expect(clippy::too_many_arguments, reason = "named in Python")]
    fn context(
        &self,
        agents_md: Flag,
        user: Flag,
        project: Flag,
        local: Flag,
        additional_directories: Vec<Text>,
        excludes: Vec<Text>,
        approved: Vec<Text>,
        loaded: Vec<Text>,
    ) -> Flow {
        let options = InstructionsOptions {
            agents_md: agents_md.0,
            user: user.0,
            project: project.0,
            local: local.0,
            additional_directories: texts(additional_directories),
            excludes: texts(excludes),
            approved: texts(approved),
            loaded: texts(loaded),
        };
        Flow::new(self.store.context(options))
    }

    /// What is wrong with the store; ends with `Lint`.
    #[pyo3(signature = () -> "Flow[_types.Lint]")]
    fn lint(&self) -> Flow {
        Flow::new(self.store.lint())
    }

    /// The memories that help with a query; ends with `Recall`.
    #[pyo3(signature = (
        query: "str",
        /,
        *,
        limit: "int | None",
        strategy: "_types.Strategy",
        recent_tools: "collections.abc.Sequence[str]",
        tool_results: "collections.abc.Sequence[_types.ToolResult]",
        surfaced: "collections.abc.Sequence[str]",
        already_read: "collections.abc.Sequence[str]",
        state: "_types.RecallState | None"
    ) -> "Flow[_types.Recall]")]
    #[expect(clippy::too_many_arguments, reason = "named in Python")]
    fn recall(
        &self,
        query: Text,
        limit: Option<Limit>,
        strategy: StrategyName,
        recent_tools: Vec<Text>,
        tool_results: Vec<Tool>,
        surfaced: Vec<Text>,
        already_read: Vec<Text>,
        state: Option<Shown>,
    ) -> Flow {
        let options = RecallOptions {
            limit: limit.map(|Limit(limit)| limit),
            strategy: strategy.0,
            recent_tools: texts(recent_tools),
            tool_results: self::tool_results(tool_results),
            surfaced: texts(surfaced),
            already_read: texts(already_read),
            state: state.unwrap_or_default().0,
        };
        Flow::new(self.store.recall(query.0, options))
    }

    /// Writes a memory and its index line; ends with `WriteResult`.
    #[pyo3(signature = (
        *,
        r#type: "_types.MemoryType | None",
        name: "str | None",
        description: "str | None",
        body: "str | None",
        scope: "_types.MemoryScope | None",
        path: "str | None",
        expect: "str | None"
    ) -> "Flow[_types.WriteResult]")]
    #[expect(clippy::too_many_arguments, reason = "named in Python")]
    fn save(
        &self,
        r#type: Option<TypeName>,
        name: Option<Text>,
        description: Option<Text>,
        body: Option<Text>,
        scope: Option<ScopeName>,
        path: Option<Text>,
        expect: Option<Text>,
    ) -> Flow {
        Flow::new(self.store.save(SaveOptions {
            kind: r#type.map(|TypeName(kind)| kind),
            name: text(name),
            description: text(description),
            body: text(body),
            scope: scope.map(|ScopeName(scope)| scope),
            path: text(path),
            expect: text(expect),
        }))
    }

    /// Takes a memory and its index lines away; ends with `WriteResult`.
    #[pyo3(signature = (path: "str", /, *, expect: "str | None") -> "Flow[_types.WriteResult]")]
    fn forget(&self, path: Text, expect: Option<Text>) -> Flow {
        let options = ForgetOptions {
            expect: text(expect),
        };
        Flow::new(self.store.forget(path.0, options))
    }

    /// Brings back what was forgotten last; ends with `WriteResult`.
    #[pyo3(signature = (path: "str | None", /) -> "Flow[_types.WriteResult]")]
    fn undo_forget(&self, path: Option<Text>) -> Flow {
        Flow::new(self.store.undo_forget(text(path)))
    }

    /// Appends a note to the daily log; ends with `WriteResult`.
    #[pyo3(signature = (text: "str", /) -> "Flow[_types.WriteResult]")]
    fn log(&self, text: Text) -> Flow {
        Flow::new(self.store.log(text.0))
    }

    /// Does one command of the memory tool, as JSON; ends with a `str`.
    #[pyo3(signature = (input: "str", /) -> "Flow[str]")]
    fn tool(&self, input: Text) -> Flow {
        Flow::new(self.store.tool(input.0))
    }

    /// Brings what is new on the team's server; ends with `TeamSync`.
    #[pyo3(signature = () -> "Flow[_types.TeamSync]")]
    fn team_pull(&self) -> Flow {
        Flow::new(self.store.team_pull())
    }

    /// Takes what was changed here to the team's server; ends with `TeamSync`.
    #[pyo3(signature = () -> "Flow[_types.TeamSync]")]
    fn team_push(&self) -> Flow {
        Flow::new(self.store.team_push())
    }

    /// A pull, then a push; ends with `TeamSync`.
    #[pyo3(signature = () -> "Flow[_types.TeamSync]")]
    fn team_sync(&self) -> Flow {
        Flow::new(self.store.team_sync())
    }

    /// How the team folder stands to the server, without asking it; ends with `TeamStatus`.
    #[pyo3(signature = () -> "Flow[_types.TeamStatus]")]
    fn team_status(&self) -> Flow {
        Flow::new(self.store.team_status())
    }

    /// Syncs again and again, until the store is closed or the flow cancelled.
    #[pyo3(signature = (period_ms: "int | None", /) -> "Flow[None]")]
    fn team_watch(&self, period_ms: Option<Count>) -> Flow {
        Flow::new(self.store.team_watch(period_ms.map(|Count(ms)| ms)))
    }

    /// Our versions that a sync has kept; ends with a list of `Conflict`.
    #[pyo3(signature = () -> "Flow[list[_types.Conflict]]")]
    fn team_conflicts(&self) -> Flow {
        Flow::new(self.store.team_conflicts())
    }

    /// One of them, with its text; ends with `ConflictFile`.
    #[pyo3(signature = (id: "str", /) -> "Flow[_types.ConflictFile]")]
    fn team_conflict(&self, id: Text) -> Flow {
        Flow::new(self.store.team_conflict(id.0))
    }

    /// Puts one of them in place again; ends with `WriteResult`.
    #[pyo3(signature = (id: "str", /) -> "Flow[_types.WriteResult]")]
    fn team_restore(&self, id: Text) -> Flow {
        Flow::new(self.store.team_restore(id.0))
    }

    /// Lets go of one of them.
    #[pyo3(signature = (id: "str", /) -> "Flow[None]")]
    fn team_drop(&self, id: Text) -> Flow {
        Flow::new(self.store.team_drop(id.0))
    }

    /// Lets the store's model write down what is worth it; ends with `Extraction`.
    #[pyo3(signature = (
        messages: "tuple[_types.Message | collections.abc.Mapping[str, Any], ...]",
        /,
        *,
        agent: "_types.AgentRole",
        interactive: "bool",
        remote: "bool",
        session: "str",
        state: "_types.ExtractionState | None",
        request: "str | collections.abc.Mapping[str, Any] | None",
        read_roots: "collections.abc.Sequence[str]",
        review: "bool"
    ) -> "Flow[_types.Extraction]")]
    #[expect(clippy::too_many_arguments, reason = "named in Python")]
    fn extract(
        &self,
        messages: &Bound<'_, PyTuple>,
        agent: Named<AgentRole>,
        interactive: Flag,
        remote: Flag,
        session: Text,
        state: Option<Progress>,
        request: Option<Bound<'_, PyAny>>,
        read_roots: Vec<Text>,
        review: Flag,
    ) -> PyResult<Flow> {
        let options = ExtractOptions {
            agent: agent.0,
            interactive: interactive.0,
            remote: remote.0,
            session: session.0,
            state: state.map(|Progress(state)| state),
            request: None,
            read_roots: texts(read_roots),
            review: review.0,
        };
        let messages = Talk::new(messages, request.as_ref());
        let flow = self.store.extract(&messages, options);
        messages.end()?;
        Ok(Flow::new(flow))
    }

    /// The same for somebody's own model; ends with `ExtractionStep`.
    #[pyo3(signature = (
        messages: "tuple[_types.Message | collections.abc.Mapping[str, Any], ...]",
        /,
        *,
        agent: "_types.AgentRole",
        interactive: "bool",
        remote: "bool",
        session: "str",
        state: "_types.ExtractionState | None",
        request: "str | collections.abc.Mapping[str, Any] | None",
        read_roots: "collections.abc.Sequence[str]",
        review: "bool"
    ) -> "Flow[_types.ExtractionStep]")]
    #[expect(clippy::too_many_arguments, reason = "named in Python")]
    fn begin_extraction(
        &self,
        messages: &Bound<'_, PyTuple>,
        agent: Named<AgentRole>,
        interactive: Flag,
        remote: Flag,
        session: Text,
        state: Option<Progress>,
        request: Option<Bound<'_, PyAny>>,
        read_roots: Vec<Text>,
        review: Flag,
    ) -> PyResult<Flow> {
        let options = ExtractOptions {
            agent: agent.0,
            interactive: interactive.0,
            remote: remote.0,
            session: session.0,
            state: state.map(|Progress(state)| state),
            request: None,
            read_roots: texts(read_roots),
            review: review.0,
        };
        let messages = Talk::new(messages, request.as_ref());
        let flow = self.store.begin_extraction(&messages, options);
        messages.end()?;
        Ok(Flow::new(flow))
    }

    /// Answers a call of a tool in a run; ends with `ToolReply`.
    #[pyo3(signature = (
        run: "int",
        name: "str",
        input: "str",
        /
    ) -> "Flow[_types.ToolReply]")]
    fn call_tool(&self, run: Number, name: Text, input: Text) -> Flow {
        Flow::new(self.store.call_tool(run.0, name.0, input.0))
    }

    /// Says how a run ended; ends with `ExtractionStep`.
    #[pyo3(signature = (
        run: "int",
        report: "_types.RunReport",
        /
    ) -> "Flow[_types.ExtractionStep]")]
    fn end_extraction(&self, run: Number, report: Reported) -> Flow {
        Flow::new(self.store.end_extraction(run.0, report.0))
    }

    /// Waits for what is under way in the background; ends with whether all came to its end.
    #[pyo3(signature = (timeout_ms: "int | None", /) -> "Flow[bool]")]
    fn drain(&self, timeout_ms: Option<Count>) -> Flow {
        Flow::new(self.store.drain(timeout_ms.map(|Count(ms)| ms)))
    }

    /// What was said, from a file; ends with `Transcript`.
    #[pyo3(signature = (path: "str", /) -> "Flow[_types.Transcript]")]
    fn transcript(&self, path: Text) -> Flow {
        Flow::new(self.store.transcript(path.0))
    }

    /// What waits for a person; ends with `Inbox`.
    #[pyo3(signature = () -> "Flow[_types.Inbox]")]
    fn inbox(&self) -> Flow {
        Flow::new(self.store.inbox())
    }

    /// Makes the changes of a proposal; ends with `InboxResult`.
    #[pyo3(signature = (
        id: "str",
        paths: "collections.abc.Sequence[str] | None",
        /
    ) -> "Flow[_types.InboxResult]")]
    fn apply_proposal(&self, id: Text, paths: Option<Vec<Text>>) -> Flow {
        Flow::new(self.store.apply_proposal(id.0, paths.map(texts)))
    }

    /// Lets go of a proposal; ends with the paths that are left.
    #[pyo3(signature = (
        id: "str",
        paths: "collections.abc.Sequence[str] | None",
        /
    ) -> "Flow[list[str]]")]
    fn drop_proposal(&self, id: Text, paths: Option<Vec<Text>>) -> Flow {
        Flow::new(self.store.drop_proposal(id.0, paths.map(texts)))
    }

    /// Puts the memory in order; ends with `Dream`.
    #[pyo3(signature = (
        *,
        force: "bool",
        dry_run: "bool",
        logs: "bool",
        session: "str | None",
        remote: "bool",
        read_roots: "collections.abc.Sequence[str]"
    ) -> "Flow[_types.Dream]")]
    fn dream(
        &self,
        force: Flag,
        dry_run: Flag,
        logs: Flag,
        session: Option<Text>,
        remote: Flag,
        read_roots: Vec<Text>,
    ) -> Flow {
        Flow::new(self.store.dream(DreamOptions {
            force: force.0,
            dry_run: dry_run.0,
            logs: logs.0,
            session: text(session),
            remote: remote.0,
            read_roots: texts(read_roots),
        }))
    }

    /// Takes the last dream back; ends with `DreamUndone`.
    #[pyo3(signature = () -> "Flow[_types.DreamUndone]")]
    fn undo_dream(&self) -> Flow {
        Flow::new(self.store.undo_dream())
    }

    /// Lets the store's model bring the notes of a session up to date; ends with `NotesResult`.
    #[pyo3(signature = (
        id: "str",
        messages: "tuple[_types.Message | collections.abc.Mapping[str, Any], ...]",
        /,
        *,
        force: "bool",
        natural_break: "bool",
        request: "str | collections.abc.Mapping[str, Any] | None",
        state: "_types.NotesState | None"
    ) -> "Flow[_types.NotesResult]")]
    fn session_update(
        &self,
        id: Text,
        messages: &Bound<'_, PyTuple>,
        force: Flag,
        natural_break: Flag,
        request: Option<Bound<'_, PyAny>>,
        state: Option<NotesProgress>,
    ) -> PyResult<Flow> {
        let options = NotesOptions {
            force: force.0,
            natural_break: natural_break.0,
            request: None,
            state: state.map(|NotesProgress(state)| state),
        };
        let messages = Talk::new(messages, request.as_ref());
        let flow = self.store.session(id.0).update(&messages, options);
        messages.end()?;
        Ok(Flow::new(flow))
    }

    /// The notes of a session; ends with a `str`, or None when there are none.
    #[pyo3(signature = (id: "str", /) -> "Flow[str | None]")]
    fn session_notes(&self, id: Text) -> Flow {
        Flow::new(self.store.session(id.0).notes())
    }

    /// What comes in place of a conversation; ends with `Compaction`.
    #[pyo3(signature = (
        id: "str",
        messages: "tuple[_types.Message | collections.abc.Mapping[str, Any], ...]",
        /,
        *,
        boundary: "int | None",
        state: "_types.NotesState | None"
    ) -> "Flow[_types.Compaction]")]
    fn session_compaction(
        &self,
        id: Text,
        messages: &Bound<'_, PyTuple>,
        boundary: Option<Index>,
        state: Option<NotesProgress>,
    ) -> PyResult<Flow> {
        let options = CompactionOptions {
            boundary: boundary.map(|Index(boundary)| boundary),
            state: state.map(|NotesProgress(state)| state),
        };
        let messages = Talk::new(messages, None);
        let flow = self.store.session(id.0).for_compaction(&messages, options);
        messages.end()?;
        Ok(Flow::new(flow))
    }

    /// The file of the notes of a session; ends with a `str`.
    #[pyo3(signature = (id: "str", /) -> "Flow[str]")]
    fn session_path(&self, id: Text) -> Flow {
        Flow::new(self.store.session(id.0).path())
    }

    /// Does what is to be done after a turn; ends with `AfterTurn`.
    #[pyo3(signature = (
        messages: "tuple[_types.Message | collections.abc.Mapping[str, Any], ...]",
        /,
        *,
        agent: "_types.AgentRole",
        interactive: "bool",
        remote: "bool",
        session: "str | None",
        request: "str | collections.abc.Mapping[str, Any] | None",
        read_roots: "collections.abc.Sequence[str]",
        review: "bool",
        natural_break: "bool",
        extraction: "_types.ExtractionState | None",
        notes: "_types.NotesState | None"
    ) -> "Flow[_types.AfterTurn]")]
    #[expect(clippy::too_many_arguments, reason = "named in Python")]
    fn after_turn(
        &self,
        messages: &Bound<'_, PyTuple>,
        agent: Named<AgentRole>,
        interactive: Flag,
        remote: Flag,
        session: Option<Text>,
        request: Option<Bound<'_, PyAny>>,
        read_roots: Vec<Text>,
        review: Flag,
        natural_break: Flag,
        extraction: Option<Progress>,
        notes: Option<NotesProgress>,
    ) -> PyResult<Flow> {
        let options = AfterTurnOptions {
            agent: agent.0,
            interactive: interactive.0,
            remote: remote.0,
            session: text(session),
            request: None,
            read_roots: texts(read_roots),
            review: review.0,
            natural_break: natural_break.0,
            extraction: extraction.map(|Progress(state)| state),
            notes: notes.map(|NotesProgress(state)| state),
        };
        let messages = Talk::new(messages, request.as_ref());
        let flow = self.store.after_turn(&messages, options);
        messages.end()?;
        Ok(Flow::new(flow))
    }

    /// Drops everything that was remembered.
    #[pyo3(signature = () -> "None")]
    fn compacted(&self, py: Python<'_>) {
        py.detach(|| self.store.compacted());
    }

    /// Writes what is still to be written; every flow that begins later fails with `closed`.
    #[pyo3(signature = () -> "Flow[None]")]
    fn close(&self) -> Flow {
        Flow::new(self.store.close())
    }
}
