"""The two faces of a store. They differ in how they wait and in nothing else."""

from __future__ import annotations

import copy
import os
from typing import TYPE_CHECKING, Any, Self, overload

from memdir import _check, _extract, _surroundings
from memdir._core import Store
from memdir._drive import drive, drive_async
from memdir._host import ApproveImport, AsyncModel, Host, Model, OnEvent, Token
from memdir._types import Features, ModelOptions, TeamOptions
from memdir._watches import Watches

if TYPE_CHECKING:
    import builtins
    from collections.abc import Mapping, Sequence
    from types import TracebackType

    from memdir._types import (
        AfterTurn,
        AgentOptions,
        AgentRole,
        AgentScope,
        Compaction,
        Conflict,
        ConflictFile,
        Context,
        Dream,
        DreamUndone,
        Extraction,
        ExtractionState,
        Inbox,
        InboxResult,
        Instructions,
        Lint,
        MemoryFile,
        MemoryScope,
        MemoryType,
        Message,
        NotesResult,
        NotesState,
        Opened,
        PlatformName,
        Recall,
        RecallState,
        Scan,
        Strategy,
        TeamStatus,
        TeamSync,
        ToolResult,
        Transcript,
        WriteResult,
    )
    from memdir.anthropic import AsyncMemoryTool, MemoryTool

_PLAIN = Features()


class _Base:
    """What both know."""

    _store: Store
    _host: Host
    _watches: Watches
    _opened: Opened | None = None

    @property
    def directory(self) -> str:
        """The memory folder: absolute, normalised, with one trailing separator."""
        return self.opened.directory

    @property
    def enabled(self) -> bool:
        """Whether memory is on. When it is off, nothing is read, written or created."""
        return self.opened.enabled

    @property
    def opened(self) -> Opened:
        """All that opening found: which folder, what named it, what was refused, and why."""
        if self._opened is None:
            raise RuntimeError("the store is not open yet: enter it, or use AsyncMemdir.open")
        return self._opened

    def compacted(self) -> None:
        """Drop everything that was remembered, as after the compaction of a conversation.

        The next call finds the store anew, reads every file and computes prompt and context.
        """
        self._store.compacted()

    def _agent(self, name: str, scope: AgentScope) -> Self:
        """Give the same over the store of an agent, not yet opened."""
        agent = copy.copy(self)
        agent._store = self._store.agent(name, scope)
        agent._watches = Watches()
        agent._opened = None
        return agent

    def __repr__(self) -> str:
        """Name the folder."""
        directory = None if self._opened is None else self._opened.directory
        return f"{type(self).__name__}(directory={directory!r})"


def _store(
    *,
    directory: str | os.PathLike[str] | None,
    cwd: str | os.PathLike[str] | None,
    home: str | os.PathLike[str] | None,
    env: Mapping[str, str] | None,
    settings: Mapping[str, Any] | None,
    platform: PlatformName | None,
    features: Features,
    model: ModelOptions | str | AsyncModel | None,
    agent: AgentOptions | None,
    team: TeamOptions | None,
) -> Store:
    return Store(
        directory=None if directory is None else os.fspath(directory),
        cwd=_surroundings.cwd() if cwd is None else os.fspath(cwd),
        home=_surroundings.home() if home is None else os.fspath(home),
        env=_surroundings.environment() if env is None else env,
        settings=None if settings is None else _check.json_object("settings", settings),
        platform=platform,
        model=_named(model),
        agent=agent,
        team=team,
        features=features,
    )


def _named(model: ModelOptions | str | AsyncModel | None) -> ModelOptions | None:
    if model is None or isinstance(model, ModelOptions):
        return model
    if isinstance(model, str):
        return ModelOptions(model)
    if callable(model):
        return ModelOptions("function")
    raise TypeError(f"model must be callable, a str or ModelOptions, not {type(model).__name__}")


def _host(
    on_event: OnEvent | None,
    model: ModelOptions | str | AsyncModel | None,
    team: TeamOptions | None,
    approve_import: ApproveImport | None,
) -> Host:
    return Host(
        on_event=on_event,
        model=model if callable(model) else None,
        token=_token(team),
        approve_import=approve_import,
    )


def _token(team: TeamOptions | None) -> Token | None:
    """Give the function that gives the token, if there is one; a text is the core's."""
    if team is None:
        return None
    if not isinstance(team, TeamOptions):
        raise TypeError(f"team must be TeamOptions, not {type(team).__name__}")
    if team.token is None or isinstance(team.token, str):
        return None
    if not callable(team.token):
        raise TypeError(f"token must be a str or callable, not {type(team.token).__name__}")
    return team.token


def _chain(
    *,
    agents_md: bool,
    user: bool,
    project: bool,
    local: bool,
    additional_directories: Sequence[str],
    excludes: Sequence[str],
    approved: Sequence[str],
    loaded: Sequence[str],
) -> dict[str, Any]:
    """Give which instructions are loaded, checked."""
    return {
        "agents_md": agents_md,
        "user": user,
        "project": project,
        "local": local,
        "additional_directories": _check.texts("additional_directories", additional_directories),
        "excludes": _check.texts("excludes", excludes),
        "approved": _check.texts("approved", approved),
        "loaded": _check.texts("loaded", loaded),
    }


class Memdir(_Base):
    """A memory folder, with blocking calls.

    ```python
    with Memdir(cwd="/home/me/project") as memory:
        for header in memory.scan().memories:
            print(header.path, header.description)
    ```

    It may be used from several threads at once. Ctrl-C ends a call cleanly, then raises
    `KeyboardInterrupt`.
    """

    def __init__(
        self,
        *,
        directory: str | os.PathLike[str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        home: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        settings: Mapping[str, Any] | None = None,
        platform: PlatformName | None = None,
        features: Features = _PLAIN,
        on_event: OnEvent | None = None,
        model: ModelOptions | str | Model | None = None,
        agent: AgentOptions | None = None,
        team: TeamOptions | None = None,
        approve_import: ApproveImport | None = None,
    ) -> None:
        """Open a store: the folder given as `directory`, else that of the project around `cwd`.

        Args:
            directory: The memory folder, absolute or beginning with `~/`. It need not exist yet.
            cwd: The working directory, absolute; None for that of this process.
            home: The user's home directory, absolute; None for that of this process.
            env: The environment; None for that of this process, without what is no text.
            settings: Settings that count more than those of the user's and the project's files.
            platform: Whose path rules hold; None for those of this machine.
            features: What is switched on.
            on_event: Called with each `Event`. What it raises is logged (logger `memdir`).
            model: What is asked: a function from a `ModelRequest` (of `recall`) or a
                `ConversationRequest` (of `extract`, `dream` and the notes of a `session`) to the
                text of the answer, called in a thread; or the name of a model such as
                `anthropic/claude-haiku-4-5`, alone or in `ModelOptions`, which is asked over HTTP.
                None is never asked.
            agent: Whose memory is opened instead of the project's; `directory` counts for nothing
                then. See `agent`.
            team: Where the team's memories are shared, see `team`. What it leaves open comes from
                the environment (`MEMDIR_TEAM_URL`, `MEMDIR_TEAM_TOKEN`) and the git remote.
            approve_import: Says whether instructions may import a file outside of the working tree:
                a function, plain or a coroutine function, from that file (with links resolved) and
                the one that imports it to a bool. It is called in a thread and has ten minutes.
                What it says holds as long as the store; calls under way at the same time may each
                ask. Where it raises, the file is left out, and it is asked again the next time.
                Without it such files need `approved`, see `instructions`.

        Raises:
            PathError: The directory is refused, see `memdir.rules.validate_memory_path`; or there
                is no home directory for it (`no-home`).
            InputError: There is neither `directory` nor an absolute `cwd`, or the model is none or
                has no key (`invalid-argument`).

        """
        self._host = _host(on_event, model, team, approve_import)
        self._watches = Watches()
        self._store = _store(
            directory=directory,
            cwd=cwd,
            home=home,
            env=env,
            settings=settings,
            platform=platform,
            features=features,
            model=model,
            agent=agent,
            team=team,
        )
        self._opened = drive(self._store.open(), self._host)

    @classmethod
    def open(
        cls,
        *,
        directory: str | os.PathLike[str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        home: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        settings: Mapping[str, Any] | None = None,
        platform: PlatformName | None = None,
        features: Features = _PLAIN,
        on_event: OnEvent | None = None,
        model: ModelOptions | str | Model | None = None,
        agent: AgentOptions | None = None,
        team: TeamOptions | None = None,
        approve_import: ApproveImport | None = None,
    ) -> Self:
        """Open a store; the same as calling the class."""
        return cls(
            directory=directory,
            cwd=cwd,
            home=home,
            env=env,
            settings=settings,
            platform=platform,
            features=features,
            on_event=on_event,
            model=model,
            agent=agent,
            team=team,
            approve_import=approve_import,
        )

    def agent(self, name: str, scope: AgentScope) -> Self:
        """Open the memory of an agent, with the options of this store.

        It is a store like any other, with a folder of its own for each name and scope. Nothing is
        created before the first save. It is closed apart from this one.

        Args:
            name: The name that the agent is started by, in any script.
            scope: Who shares it: `user` (in the user's configuration), `project` (in the project's
                `.claude`, with its files) or `local` (there too, but for this machine).

        Raises:
            InputError: There is no such scope, the name is empty, or there is no `cwd` for a scope
                of the project (`invalid-argument`).
            PathError: The name holds a NUL (`path-nul`), there is no home directory (`no-home`), or
                links lead out of the project for a scope of the project (`link-outside`; every
                later call raises it too).

        """
        agent = self._agent(name, scope)
        agent._opened = drive(agent._store.open(), agent._host)
        return agent

    def scan(self) -> Scan:
        """List the memories, newest first, and report every file that could not be one.

        Never writes, and never fails because of a malformed memory. Files that have not changed
        since the last scan are not read again.
        """
        return drive(self._store.scan(), self._host)

    def manifest(self) -> str:
        """Give the memories as a model reads them, one line each."""
        return drive(self._store.manifest(), self._host)

    def read(self, path: str) -> MemoryFile:
        """Give one memory, whole.

        Args:
            path: Relative to the store, with `/`.

        Raises:
            PathError: The path leaves the store (`path-outside-store`, `link-outside`).
            InputError: The file is no text (`not-text`), or memory is off (`disabled`).
            HostError: It could not be read, such as `not-found`.

        """
        return drive(self._store.read(path), self._host)

    def prompt(
        self,
        *,
        index: bool = True,
        past_context: bool = False,
        guidelines: Sequence[str] = (),
    ) -> str | None:
        """Give what the model is told about its memory, and create the folder if it is missing.

        It is computed once and then stays the same to the byte, until `compacted`.

        Args:
            index: Whether the content of MEMORY.md is part of it. With `Features.one_step` it
                never is.
            past_context: Whether it says how to search what was said in earlier conversations.
            guidelines: Further guidelines, appended as they are.

        Returns:
            The text, or None when memory is off.

        """
        guidelines = _check.texts("guidelines", guidelines)
        flow = self._store.prompt(index=index, past_context=past_context, guidelines=guidelines)
        return drive(flow, self._host)

    def instructions(
        self,
        *,
        agents_md: bool = False,
        user: bool = True,
        project: bool = True,
        local: bool = True,
        additional_directories: Sequence[str] = (),
        excludes: Sequence[str] = (),
        approved: Sequence[str] = (),
        loaded: Sequence[str] = (),
    ) -> Instructions:
        """Give what people have written for an agent in this project, and what became of each file.

        From the broadest to the nearest: the administrator's, the user's, then those of each folder
        from below the root down to `cwd`: `CLAUDE.md`, `.claude/CLAUDE.md`, the rules in
        `.claude/rules`, and `CLAUDE.local.md`. What a file imports (`@path` in its prose, at most
        four deep) comes behind it. Rules about certain files wait for those, see
        `instructions_for`.

        A file that cannot be loaded costs no other: the report says why, and what to do. Nothing is
        ever cut; a file of more than 4 MiB is left out. Never writes, and works where memory is
        off, too; with `CLAUDE_CODE_DISABLE_CLAUDE_MDS` there is nothing. Files that have not
        changed are not read again, until `compacted`.

        Args:
            agents_md: Whether `AGENTS.md` of each folder counts, too, before its `CLAUDE.md`.
            user: Whether the user's instructions are loaded.
            project: Whether the project's are.
            local: Whether the user's for this project, `CLAUDE.local.md`, are.
            additional_directories: Folders that count like `cwd`, but without those above them;
                absolute.
            excludes: Globs of files that are left out, matched against the whole absolute path,
                such as `**/vendor/CLAUDE.md`; beside `claudeMdExcludes` of the settings. The
                administrator's are loaded all the same.
            approved: Files outside of the working tree that may be imported, or folders of such;
                absolute. Others are asked for, see `approve_import` of `Memdir`.
            loaded: Files that the conversation has already, which are not shown again; absolute.

        Raises:
            InputError: A path that must be absolute is not (`invalid-argument`), or the store is
                closed (`closed`).
            PathError: As opening.

        """
        options = _chain(
            agents_md=agents_md,
            user=user,
            project=project,
            local=local,
            additional_directories=additional_directories,
            excludes=excludes,
            approved=approved,
            loaded=loaded,
        )
        return drive(self._store.instructions(None, **options), self._host)

    def instructions_for(
        self,
        path: str,
        *,
        agents_md: bool = False,
        user: bool = True,
        project: bool = True,
        local: bool = True,
        additional_directories: Sequence[str] = (),
        excludes: Sequence[str] = (),
        approved: Sequence[str] = (),
        loaded: Sequence[str] = (),
    ) -> Instructions:
        """Give what becomes relevant when a file is touched, beside `instructions`.

        That is the rules whose `paths` match it, and what the folders between `cwd` and the file
        have. Give what was shown before as `loaded`, to have nothing twice.

        Args:
            path: The file, absolute or relative to `cwd`. It need not be there.
            agents_md: As of `instructions`.
            user: As of `instructions`.
            project: As of `instructions`.
            local: As of `instructions`.
            additional_directories: As of `instructions`.
            excludes: As of `instructions`.
            approved: As of `instructions`.
            loaded: As of `instructions`.

        Raises:
            InputError: As `instructions`; also for a relative path without a `cwd`.
            PathError: As opening.

        """
        options = _chain(
            agents_md=agents_md,
            user=user,
            project=project,
            local=local,
            additional_directories=additional_directories,
            excludes=excludes,
            approved=approved,
            loaded=loaded,
        )
        return drive(self._store.instructions(path, **options), self._host)

    def context(
        self,
        *,
        agents_md: bool = False,
        user: bool = True,
        project: bool = True,
        local: bool = True,
        additional_directories: Sequence[str] = (),
        excludes: Sequence[str] = (),
        approved: Sequence[str] = (),
        loaded: Sequence[str] = (),
    ) -> Context:
        """Give everything that an agent should start with, in its order.

        That is the instructions, how its memory works, and the indexes of the private and the
        team's memory. It is computed once for the same arguments and then stays the same to the
        byte, until `compacted`. The memory folder is created if it is missing, as by `prompt`.

        Args:
            agents_md: As of `instructions`.
            user: As of `instructions`.
            project: As of `instructions`.
            local: As of `instructions`.
            additional_directories: As of `instructions`.
            excludes: As of `instructions`.
            approved: As of `instructions`.
            loaded: As of `instructions`.

        Raises:
            InputError: As `instructions`.
            PathError: As opening.

        """
        options = _chain(
            agents_md=agents_md,
            user=user,
            project=project,
            local=local,
            additional_directories=additional_directories,
            excludes=excludes,
            approved=approved,
            loaded=loaded,
        )
        return drive(self._store.context(**options), self._host)

    def lint(self) -> Lint:
        """Give everything that is wrong with the store, each with a remedy. Never writes."""
        return drive(self._store.lint(), self._host)

    def recall(
        self,
        query: str,
        *,
        limit: int | None = None,
        strategy: Strategy = "auto",
        recent_tools: Sequence[str] = (),
        tool_results: Sequence[ToolResult] = (),
        surfaced: Sequence[str] = (),
        already_read: Sequence[str] = (),
        state: RecallState | None = None,
    ) -> Recall:
        """Give the memories that help with a query, with as much of them as may be shown.

        At most five memories, 200 lines and 4,096 bytes of each, 20 KB in all, 60 KB in a
        conversation. A model that cannot answer is no error: words decide, and the report says so.

        Args:
            query: What the agent is about to work on, such as the user's message. The first 16 KB
                of it count.
            limit: How many memories at most, from 1; None for 5. More than five are lowered to
                five, which is reported (`limit-lowered`).
            strategy: Who chooses. `auto`: the model if the store was opened with one, else words;
                `model`: the model; `lexical`: words. See `memdir.Strategy`.
            recent_tools: Tools that the agent is using: a model leaves out how they are used.
            tool_results: What tools gave since the user's message before the last one; those that
                only succeeded count as recent.
            surfaced: Memories that were shown already and are not wanted again, relative to the
                store or absolute.
            already_read: Files that the agent has read itself, likewise.
            state: `state` of the last recall of this conversation; None for its first.

        Raises:
            InputError: `limit` is less than 1 (`invalid-argument`).
            ModelError: `strategy` is `model` and there is none (`no-model`).

        """
        flow = self._store.recall(
            query,
            limit=_check.limit("limit", limit),
            strategy=strategy,
            recent_tools=_check.texts("recent_tools", recent_tools),
            tool_results=_check.sequence("tool_results", tool_results, "ToolResult"),
            surfaced=_check.texts("surfaced", surfaced),
            already_read=_check.texts("already_read", already_read),
            state=state,
        )
        return drive(flow, self._host)

    def save(
        self,
        *,
        type: MemoryType | None = None,  # noqa: A002 - as the field
        name: str | None = None,
        description: str | None = None,
        body: str | None = None,
        scope: MemoryScope | None = None,
        path: str | None = None,
        expect: str | None = None,
    ) -> WriteResult:
        """Write a new memory or change one, and its line in MEMORY.md, as one step.

        Any number of threads and programs may do so at once. A new memory needs a type and a name;
        of one that is there, what is None stays, with all else in the file. What is replaced goes
        to `.memdir/trash` in the store, for 30 days. With `Features.one_step` no index is written.

        Args:
            type: What kind of memory it is.
            name: A few words; trimmed, and not empty.
            description: One line that says when the memory helps; trimmed.
            body: Markdown, without frontmatter. Line ends around it do not count.
            scope: Where a new memory goes: `team` for the folder `team/`. None decides by the type,
                see `memdir.rules.default_scope`; a memory of type `user` is never the team's.
            path: The file, relative to the store, with `/`, ending in `.md`; it is created or
                changed. None makes a new file named after type and name, see
                `memdir.rules.memory_file_name`; saving the same memory once more makes no second.
            expect: `absent`, or the `hash` of what was read: when the file is not so, nothing is
                written, and the outcome is `conflict`.

        Returns:
            What came of it; also a conflict and a refusal, such as of a path outside the store.

        Raises:
            InputError: Memory is off (`disabled`), a text is none (`invalid-text`), or there is no
                such type or scope (`invalid-argument`).
            HostError: It could not be written, such as `permission`, `no-space`, or `busy` when
                others have kept the store locked for 30 s.

        """
        flow = self._store.save(
            type=type,
            name=name,
            description=description,
            body=body,
            scope=scope,
            path=path,
            expect=expect,
        )
        return drive(flow, self._host)

    def forget(self, path: str, *, expect: str | None = None) -> WriteResult:
        """Take a memory away, with its lines in MEMORY.md. `undo_forget` brings it back.

        Args:
            path: Relative to the store, with `/`.
            expect: The `hash` of what was read: when the file is not so, nothing is taken away, and
                the outcome is `conflict`.

        Returns:
            What came of it; `refused` with code `not-found` when there is neither file nor line.

        Raises:
            InputError: As `save`.
            HostError: As `save`.

        """
        return drive(self._store.forget(path, expect=expect), self._host)

    def undo_forget(self, path: str | None = None) -> WriteResult:
        """Bring back what was forgotten last, with its lines in MEMORY.md.

        The last 100 files that were forgotten or replaced are kept, for at most 30 days.

        Args:
            path: Which memory, relative to the store, with `/`; None for the last one of all.

        Returns:
            What came of it; `conflict` when there is another memory of that name by now, `refused`
            with code `not-found` when there is nothing to bring back.

        Raises:
            InputError: As `save`.
            HostError: As `save`.

        """
        return drive(self._store.undo_forget(path), self._host)

    def log(self, text: str) -> WriteResult:
        """Append a note to the daily log, `logs/YYYY/MM/YYYY-MM-DD.md` in the store.

        It is a bullet with the time of day, in this machine's zone. Nothing is ever replaced.

        Args:
            text: What happened. Further lines stay part of the bullet.

        Returns:
            What came of it; `path` is the file of the day.

        Raises:
            InputError: The note is empty (`invalid-argument`) or holds a NUL (`invalid-text`);
                else as `save`.
            HostError: As `save`.

        """
        return drive(self._store.log(text), self._host)

    @overload
    def tool(self) -> MemoryTool: ...

    @overload
    def tool(self, input: str | Mapping[str, Any]) -> str: ...

    def tool(
        self,
        input: str | Mapping[str, Any] | None = None,  # noqa: A002 - as the API has it
    ) -> str | MemoryTool:
        """Give Anthropic's memory tool over this store, or do one command of it.

        The store is `/memories` to the model. What it writes goes through the lock and the trash
        like everything else.

        Args:
            input: What the model called the tool with, as a mapping or JSON text, such as
                `{"command": "view", "path": "/memories"}`. The commands are `view`, `create`,
                `str_replace`, `insert`, `delete` and `rename`.

        Returns:
            Without `input` a `memdir.anthropic.MemoryTool` for the SDK's tool runner, which needs
            the package `anthropic`; with it the answer, a text for the model.

        Raises:
            InputError: The command makes no sense (`invalid-argument`), a file is no text
                (`not-text`), teammates would see what is private (`user-private`, `secret-found`),
                or memory is off (`disabled`). The message is for the model, as that of the others.
            PathError: The path lies outside `/memories` (`path-outside-store`).
            HostError: `not-found`, `exists`, `too-large`, `busy`, or what the disk gave.

        """
        if input is None:
            from memdir.anthropic import MemoryTool  # noqa: PLC0415 - the package is optional

            return MemoryTool(self)
        return drive(self._store.tool(_check.arguments(input)), self._host)

    def extract(
        self,
        messages: Sequence[Message | Mapping[str, Any]],
        *,
        agent: AgentRole = "main",
        interactive: bool = True,
        remote: bool = False,
        session: str = "",
        state: ExtractionState | None = None,
        request: str | Mapping[str, Any] | None = None,
        read_roots: Sequence[str] = (),
        review: bool = False,
        run: _extract.Runner | None = None,
    ) -> Extraction:
        """Have memories made of what was said, where it is worth it. Call it after every turn.

        Whether it is time is decided here: `Features.extract` must be on, and there must be a final
        answer and something new, see `memdir.Skip`. Then the store's model, or `run`, reads the new
        messages and writes memories, in at most five turns. It may read in the working directory,
        the store and `read_roots`, and write nothing but memories. While one is under way for the
        same conversation, another one is `queued` and done behind it.

        Args:
            messages: The conversation, or at least what came since the last extraction. It is
                looked at from its end.
            agent: Whose conversation it is; only the main agent's is looked at.
            interactive: Whether a person takes part in it. Without one,
                `Features.extract_non_interactive` is needed.
            remote: Whether it runs on somebody else's machine; so it is too when
                `CLAUDE_CODE_REMOTE` is set.
            session: Which conversation it is, where a store has several at once.
            state: `state` of the last extraction of this conversation, after a restart. A store
                that knows better does not look at it.
            request: What the conversation would be continued with: what you pass to the provider's
                SDK, with `messages`, and `system` and `tools` where there are any; or its JSON
                text. With it the run goes on behind the conversation, byte for byte, and the
                provider's prompt cache is used. None: the model is shown the new messages only.
            read_roots: Folders besides the working directory and the store that may be read in,
                absolute.
            review: Whether changes wait in `memory.inbox` until somebody applies them.
            run: Has your own agent do it: it is given an `ExtractionRun`, whose `call` carries out
                the model's calls of tools. It returns a `RunReport` or None; what it raises is the
                run's failure.

        Returns:
            What came of it; also a run that failed.

        Raises:
            ModelError: There is something to be done, but neither a model nor `run` (`no-model`).
            InputError: The messages or the request are none (`invalid-argument`), or the store is
                closed (`closed`).
            HostError: What the disk gave.

        """
        options: dict[str, Any] = {
            "agent": agent,
            "interactive": interactive,
            "remote": remote,
            "session": session,
            "state": state,
            "request": request,
            "read_roots": _check.texts("read_roots", read_roots),
            "review": review,
        }
        said = _check.sequence("messages", messages, "mapping")
        if run is None:
            return drive(self._store.extract(said, **options), self._host)
        begun = self._store.begin_extraction(said, **options)
        return _extract.extract(begun, run, self._store, self._host)

    def dream(
        self,
        *,
        force: bool = False,
        dry_run: bool = False,
        logs: bool = False,
        session: str | None = None,
        remote: bool = False,
        read_roots: Sequence[str] = (),
    ) -> Dream:
        """Have the store's model put the memory in order, when it is time.

        That is with `Features.dream`, 24 hours after the last time and when five sessions were held
        since, see `memdir.Awake`. The model works on drafts, in at most 60 turns. What it
        changes takes effect together at its end, where nobody else has changed it meanwhile;
        `undo_dream` takes it back. Pinned memories are never changed.

        Args:
            force: Whether it is done whatever time it is, as when a person asks for it. One that is
                under way elsewhere is left alone even so (`locked`).
            dry_run: Whether nothing is changed; `changes` say what would be.
            logs: Whether only the daily logs are distilled into memories.
            session: The session that it is asked in, which does not count.
            remote: Whether it runs on somebody else's machine; so it is too when
                `CLAUDE_CODE_REMOTE` is set.
            read_roots: Folders besides the working directory, the store and the transcripts that
                may be read in, absolute.

        Returns:
            What came of it; also a run that failed.

        Raises:
            ModelError: There is something to be done, but no model (`no-model`).
            InputError: A folder of `read_roots` is not absolute (`invalid-argument`), or the store
                is closed (`closed`).
            HostError: What the disk gave.

        """
        flow = self._store.dream(
            force=force,
            dry_run=dry_run,
            logs=logs,
            session=session,
            remote=remote,
            read_roots=_check.texts("read_roots", read_roots),
        )
        return drive(flow, self._host)

    def undo_dream(self) -> DreamUndone:
        """Take back what the last dream changed that was not taken back yet.

        What somebody has changed since stays (`conflicts`); of indexes only the lines go back that
        the dream has changed.

        Raises:
            InputError: Memory is off (`disabled`).
            HostError: As `save`.

        """
        return drive(self._store.undo_dream(), self._host)

    def session(self, id: str) -> SessionNotes:  # noqa: A002 - as the field
        """Give the notes of a session, by its id. Nothing is made before the first update."""
        return SessionNotes(self._store, self._host, id)

    def after_turn(
        self,
        messages: Sequence[Message | Mapping[str, Any]],
        *,
        agent: AgentRole = "main",
        interactive: bool = True,
        remote: bool = False,
        session: str | None = None,
        request: str | Mapping[str, Any] | None = None,
        read_roots: Sequence[str] = (),
        review: bool = False,
        natural_break: bool = False,
        extraction: ExtractionState | None = None,
        notes: NotesState | None = None,
    ) -> AfterTurn:
        """Do what is to be done after a turn: extract, keep the session's notes, dream.

        They are done one after the other, each when it is time for it. One that fails says so in
        its result and does not keep the others from their turn. When the store is closed meanwhile,
        the extraction comes to its end, and what has not begun by then is skipped (`closed`).

        All three are run with the store's model. An agent that makes extractions with a runner of
        its own calls them by themselves: `extract(messages, run=...)`,
        `session(id).update(messages)`, `dream(session=id)`. Each has its own gates there too; notes
        and dreams need a model even so, which may be a function of the agent.

        Args:
            messages: The whole conversation.
            agent: Whose conversation it is; after a turn of another agent nothing is done.
            interactive: As of `extract`.
            remote: As of `extract`.
            session: Which session it is, see `session`; None for none, without notes.
            request: As of `extract`.
            read_roots: As of `extract`.
            review: As of `extract`.
            natural_break: As of `SessionNotes.update`.
            extraction: `extraction.state` of the last turn, after a restart.
            notes: `notes.state` of the last turn, after a restart.

        Raises:
            InputError: The messages are none (`invalid-argument`), or the store is closed
                (`closed`).

        """
        flow = self._store.after_turn(
            _check.sequence("messages", messages, "mapping"),
            agent=agent,
            interactive=interactive,
            remote=remote,
            session=session,
            request=request,
            read_roots=_check.texts("read_roots", read_roots),
            review=review,
            natural_break=natural_break,
            extraction=extraction,
            notes=notes,
        )
        return drive(flow, self._host)

    def drain(self, timeout_ms: int | None = None) -> bool:
        """Wait for what is under way in other threads; `close` does it, too.

        That is extractions, updates of notes and dreams. A dream takes minutes as a rule; one that
        is stopped has changed nothing, and the next one does not wait for it.

        Args:
            timeout_ms: Milliseconds; None for 60 seconds. What is not done then is stopped before
                its next call.

        Returns:
            Whether all came to their end by themselves.

        """
        return drive(self._store.drain(timeout_ms), self._host)

    def transcript(self, path: str) -> Transcript:
        """Read the end of a conversation from a file, as `memdir.rules.parse_transcript` does.

        It works where memory is off, too, and never writes.

        Args:
            path: Absolute, or relative to the `cwd` that the store was opened with.

        Raises:
            HostError: `not-found`, `is-a-directory`, `unsupported` for what is no regular file, or
                what reading gave.
            InputError: A relative path, and no `cwd` (`invalid-argument`).

        """
        return drive(self._store.transcript(path), self._host)

    @property
    def inbox(self) -> MemoryInbox:
        """What extractions have left for a person instead of changing the store."""
        return MemoryInbox(self._store, self._host)

    @property
    def team(self) -> Team:
        """The team's memories, and the server that they are shared through."""
        return Team(self._store, self._host, self._watches)

    def close(self) -> None:
        """Let go of the store: every later call raises `InputError` with code `closed`.

        Extractions, updates of notes and dreams that are under way get 60 seconds, and which
        memories were recalled is written first. Watches of the team folder end; after one, or
        any other sync, team memories that are not uploaded yet get two seconds for it, and an event
        names those that did not make it. Closing twice is fine.
        """
        # From here on no watch begins.
        flow = self._store.close()
        self._watches.stop()
        drive(flow, self._host)

    def __enter__(self) -> Self:
        """Give the store itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close it."""
        self.close()


class AsyncMemdir(_Base):
    """A memory folder, for asyncio.

    ```python
    async with AsyncMemdir(cwd="/home/me/project") as memory:
        scan = await memory.scan()
    ```

    Entering it opens it; without a `with`, `await AsyncMemdir.open(...)` does.

    Cancelling a call stops it cleanly: no lock and no temporary file is left behind.
    """

    def __init__(
        self,
        *,
        directory: str | os.PathLike[str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        home: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        settings: Mapping[str, Any] | None = None,
        platform: PlatformName | None = None,
        features: Features = _PLAIN,
        on_event: OnEvent | None = None,
        model: ModelOptions | str | AsyncModel | None = None,
        agent: AgentOptions | None = None,
        team: TeamOptions | None = None,
        approve_import: ApproveImport | None = None,
    ) -> None:
        """Take what `Memdir` takes; a function as `model` may also be a coroutine function."""
        self._host = _host(on_event, model, team, approve_import)
        self._watches = Watches()
        self._store = _store(
            directory=directory,
            cwd=cwd,
            home=home,
            env=env,
            settings=settings,
            platform=platform,
            features=features,
            model=model,
            agent=agent,
            team=team,
        )

    @classmethod
    async def open(
        cls,
        *,
        directory: str | os.PathLike[str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        home: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        settings: Mapping[str, Any] | None = None,
        platform: PlatformName | None = None,
        features: Features = _PLAIN,
        on_event: OnEvent | None = None,
        model: ModelOptions | str | AsyncModel | None = None,
        agent: AgentOptions | None = None,
        team: TeamOptions | None = None,
        approve_import: ApproveImport | None = None,
    ) -> Self:
        """Open a store; see `Memdir`."""
        memory = cls(
            directory=directory,
            cwd=cwd,
            home=home,
            env=env,
            settings=settings,
            platform=platform,
            features=features,
            on_event=on_event,
            model=model,
            agent=agent,
            team=team,
            approve_import=approve_import,
        )
        return await memory.__aenter__()

    def agent(self, name: str, scope: AgentScope) -> Self:
        """Give the memory of an agent; entering it opens it. See `Memdir.agent`."""
        return self._agent(name, scope)

    async def scan(self) -> Scan:
        """See `Memdir.scan`."""
        return await drive_async(self._store.scan(), self._host)

    async def manifest(self) -> str:
        """See `Memdir.manifest`."""
        return await drive_async(self._store.manifest(), self._host)

    async def read(self, path: str) -> MemoryFile:
        """See `Memdir.read`."""
        return await drive_async(self._store.read(path), self._host)

    async def prompt(
        self,
        *,
        index: bool = True,
        past_context: bool = False,
        guidelines: Sequence[str] = (),
    ) -> str | None:
        """See `Memdir.prompt`."""
        guidelines = _check.texts("guidelines", guidelines)
        flow = self._store.prompt(index=index, past_context=past_context, guidelines=guidelines)
        return await drive_async(flow, self._host)

    async def instructions(
        self,
        *,
        agents_md: bool = False,
        user: bool = True,
        project: bool = True,
        local: bool = True,
        additional_directories: Sequence[str] = (),
        excludes: Sequence[str] = (),
        approved: Sequence[str] = (),
        loaded: Sequence[str] = (),
    ) -> Instructions:
        """See `Memdir.instructions`."""
        options = _chain(
            agents_md=agents_md,
            user=user,
            project=project,
            local=local,
            additional_directories=additional_directories,
            excludes=excludes,
            approved=approved,
            loaded=loaded,
        )
        return await drive_async(self._store.instructions(None, **options), self._host)

    async def instructions_for(
        self,
        path: str,
        *,
        agents_md: bool = False,
        user: bool = True,
        project: bool = True,
        local: bool = True,
        additional_directories: Sequence[str] = (),
        excludes: Sequence[str] = (),
        approved: Sequence[str] = (),
        loaded: Sequence[str] = (),
    ) -> Instructions:
        """See `Memdir.instructions_for`."""
        options = _chain(
            agents_md=agents_md,
            user=user,
            project=project,
            local=local,
            additional_directories=additional_directories,
            excludes=excludes,
            approved=approved,
            loaded=loaded,
        )
        return await drive_async(self._store.instructions(path, **options), self._host)

    async def context(
        self,
        *,
        agents_md: bool = False,
        user: bool = True,
        project: bool = True,
        local: bool = True,
        additional_directories: Sequence[str] = (),
        excludes: Sequence[str] = (),
        approved: Sequence[str] = (),
        loaded: Sequence[str] = (),
    ) -> Context:
        """See `Memdir.context`."""
        options = _chain(
            agents_md=agents_md,
            user=user,
            project=project,
            local=local,
            additional_directories=additional_directories,
            excludes=excludes,
            approved=approved,
            loaded=loaded,
        )
        return await drive_async(self._store.context(**options), self._host)

    async def lint(self) -> Lint:
        """See `Memdir.lint`."""
        return await drive_async(self._store.lint(), self._host)

    async def recall(
        self,
        query: str,
        *,
        limit: int | None = None,
        strategy: Strategy = "auto",
        recent_tools: Sequence[str] = (),
        tool_results: Sequence[ToolResult] = (),
        surfaced: Sequence[str] = (),
        already_read: Sequence[str] = (),
        state: RecallState | None = None,
    ) -> Recall:
        """See `Memdir.recall`."""
        flow = self._store.recall(
            query,
            limit=_check.limit("limit", limit),
            strategy=strategy,
            recent_tools=_check.texts("recent_tools", recent_tools),
            tool_results=_check.sequence("tool_results", tool_results, "ToolResult"),
            surfaced=_check.texts("surfaced", surfaced),
            already_read=_check.texts("already_read", already_read),
            state=state,
        )
        return await drive_async(flow, self._host)

    async def save(
        self,
        *,
        type: MemoryType | None = None,  # noqa: A002 - as the field
        name: str | None = None,
        description: str | None = None,
        body: str | None = None,
        scope: MemoryScope | None = None,
        path: str | None = None,
        expect: str | None = None,
    ) -> WriteResult:
        """See `Memdir.save`."""
        flow = self._store.save(
            type=type,
            name=name,
            description=description,
            body=body,
            scope=scope,
            path=path,
            expect=expect,
        )
        return await drive_async(flow, self._host)

    async def forget(self, path: str, *, expect: str | None = None) -> WriteResult:
        """See `Memdir.forget`."""
        return await drive_async(self._store.forget(path, expect=expect), self._host)

    async def undo_forget(self, path: str | None = None) -> WriteResult:
        """See `Memdir.undo_forget`."""
        return await drive_async(self._store.undo_forget(path), self._host)

    async def log(self, text: str) -> WriteResult:
        """See `Memdir.log`."""
        return await drive_async(self._store.log(text), self._host)

    @overload
    async def tool(self) -> AsyncMemoryTool: ...

    @overload
    async def tool(self, input: str | Mapping[str, Any]) -> str: ...

    async def tool(
        self,
        input: str | Mapping[str, Any] | None = None,  # noqa: A002 - as the API has it
    ) -> str | AsyncMemoryTool:
        """Give Anthropic's memory tool, or do one command of it. See `Memdir.tool`."""
        if input is None:
            from memdir.anthropic import AsyncMemoryTool  # noqa: PLC0415 - the package is optional

            return AsyncMemoryTool(self)
        return await drive_async(self._store.tool(_check.arguments(input)), self._host)

    async def extract(
        self,
        messages: Sequence[Message | Mapping[str, Any]],
        *,
        agent: AgentRole = "main",
        interactive: bool = True,
        remote: bool = False,
        session: str = "",
        state: ExtractionState | None = None,
        request: str | Mapping[str, Any] | None = None,
        read_roots: Sequence[str] = (),
        review: bool = False,
        run: _extract.AsyncRunner | None = None,
    ) -> Extraction:
        """See `Memdir.extract`; `run` may be a coroutine function, and `call` is one."""
        options: dict[str, Any] = {
            "agent": agent,
            "interactive": interactive,
            "remote": remote,
            "session": session,
            "state": state,
            "request": request,
            "read_roots": _check.texts("read_roots", read_roots),
            "review": review,
        }
        said = _check.sequence("messages", messages, "mapping")
        if run is None:
            return await drive_async(self._store.extract(said, **options), self._host)
        begun = self._store.begin_extraction(said, **options)
        return await _extract.extract_async(begun, run, self._store, self._host)

    async def dream(
        self,
        *,
        force: bool = False,
        dry_run: bool = False,
        logs: bool = False,
        session: str | None = None,
        remote: bool = False,
        read_roots: Sequence[str] = (),
    ) -> Dream:
        """See `Memdir.dream`."""
        flow = self._store.dream(
            force=force,
            dry_run=dry_run,
            logs=logs,
            session=session,
            remote=remote,
            read_roots=_check.texts("read_roots", read_roots),
        )
        return await drive_async(flow, self._host)

    async def undo_dream(self) -> DreamUndone:
        """See `Memdir.undo_dream`."""
        return await drive_async(self._store.undo_dream(), self._host)

    def session(self, id: str) -> AsyncSessionNotes:  # noqa: A002 - as the field
        """See `Memdir.session`."""
        return AsyncSessionNotes(self._store, self._host, id)

    async def after_turn(
        self,
        messages: Sequence[Message | Mapping[str, Any]],
        *,
        agent: AgentRole = "main",
        interactive: bool = True,
        remote: bool = False,
        session: str | None = None,
        request: str | Mapping[str, Any] | None = None,
        read_roots: Sequence[str] = (),
        review: bool = False,
        natural_break: bool = False,
        extraction: ExtractionState | None = None,
        notes: NotesState | None = None,
    ) -> AfterTurn:
        """See `Memdir.after_turn`."""
        flow = self._store.after_turn(
            _check.sequence("messages", messages, "mapping"),
            agent=agent,
            interactive=interactive,
            remote=remote,
            session=session,
            request=request,
            read_roots=_check.texts("read_roots", read_roots),
            review=review,
            natural_break=natural_break,
            extraction=extraction,
            notes=notes,
        )
        return await drive_async(flow, self._host)

    async def drain(self, timeout_ms: int | None = None) -> bool:
        """See `Memdir.drain`."""
        return await drive_async(self._store.drain(timeout_ms), self._host)

    async def transcript(self, path: str) -> Transcript:
        """See `Memdir.transcript`."""
        return await drive_async(self._store.transcript(path), self._host)

    @property
    def inbox(self) -> AsyncMemoryInbox:
        """See `Memdir.inbox`."""
        return AsyncMemoryInbox(self._store, self._host)

    @property
    def team(self) -> AsyncTeam:
        """See `Memdir.team`."""
        return AsyncTeam(self._store, self._host, self._watches)

    async def close(self) -> None:
        """See `Memdir.close`."""
        flow = self._store.close()
        await self._watches.stop_async()
        await drive_async(flow, self._host)

    async def __aenter__(self) -> Self:
        """Open it."""
        self._opened = await drive_async(self._store.open(), self._host)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close it."""
        await self.close()


class MemoryInbox:
    """What extractions have left for a person, with blocking calls; `memory.inbox` is one.

    What reads and writes it raises `InputError` with code `disabled` when memory is off, and what
    the disk gave.
    """

    def __init__(self, store: Store, host: Host) -> None:
        """Belong to a store; `Memdir.inbox` makes one."""
        self._store = store
        self._host = host

    def list(self) -> Inbox:
        """Give what waits, oldest first, each change with its diff."""
        return drive(self._store.inbox(), self._host)

    def apply(self, id: str, paths: Sequence[str] | None = None) -> InboxResult:  # noqa: A002 - as the field
        """Make the changes of a proposal, memories first; what cannot be done stays in the inbox.

        A memory is replaced or forgotten only while it is what the run saw (`conflict`). An index
        is merged entry by entry, and where others have written the same entry anew theirs stands.

        Args:
            id: The proposal.
            paths: Only the changes of these; None for all.

        Raises:
            HostError: There is no such proposal, or no such path in it (`not-found`); else as
                `Memdir.save`.
            InputError: That is no id (`invalid-argument`), or the proposal is damaged (`not-text`);
                else as `Memdir.save`.

        """
        return drive(self._store.apply_proposal(id, _paths(paths)), self._host)

    def drop(self, id: str, paths: Sequence[str] | None = None) -> builtins.list[str]:  # noqa: A002 - as the field
        """Let go of a proposal, or only of the changes of some paths.

        With a memory go the lines that an index was to get or lose with it.

        Args:
            id: The proposal.
            paths: Only the changes of these; None for all, also of a damaged one.

        Returns:
            The paths that still wait.

        Raises:
            HostError: There is no such proposal, or no such path in it (`not-found`).
            InputError: That is no id (`invalid-argument`), or the proposal is damaged (`not-text`).

        """
        return drive(self._store.drop_proposal(id, _paths(paths)), self._host)


class AsyncMemoryInbox:
    """The same for asyncio; `memory.inbox` of an `AsyncMemdir` is one."""

    def __init__(self, store: Store, host: Host) -> None:
        """Belong to a store; `AsyncMemdir.inbox` makes one."""
        self._store = store
        self._host = host

    async def list(self) -> Inbox:
        """See `MemoryInbox.list`."""
        return await drive_async(self._store.inbox(), self._host)

    async def apply(self, id: str, paths: Sequence[str] | None = None) -> InboxResult:  # noqa: A002 - as the field
        """See `MemoryInbox.apply`."""
        return await drive_async(self._store.apply_proposal(id, _paths(paths)), self._host)

    async def drop(self, id: str, paths: Sequence[str] | None = None) -> builtins.list[str]:  # noqa: A002 - as the field
        """See `MemoryInbox.drop`."""
        return await drive_async(self._store.drop_proposal(id, _paths(paths)), self._host)


def _paths(given: Sequence[str] | None) -> Sequence[str] | None:
    return None if given is None else _check.texts("paths", given)


class SessionNotes:
    """Notes of one session that a model keeps up to date while the conversation grows.

    They are for compactions, which put them in place of a summary, and lie in the project's folder
    below the config home, at `projects/<project>/<id>/session-memory/summary.md`. With blocking
    calls; `memory.session(id)` is one.

    Every call raises `InputError` with code `invalid-argument` for an id that is no single file
    name, and where the store was opened without a working directory; `PathError` with
    `path-relative` where `CLAUDE_CONFIG_DIR` is no absolute path.
    """

    def __init__(self, store: Store, host: Host, id: str) -> None:  # noqa: A002 - as the field
        """Belong to a store; `Memdir.session` makes one."""
        self._store = store
        self._host = host
        self._id = id

    def update(
        self,
        messages: Sequence[Message | Mapping[str, Any]],
        *,
        force: bool = False,
        natural_break: bool = False,
        request: str | Mapping[str, Any] | None = None,
        state: NotesState | None = None,
    ) -> NotesResult:
        """Let the store's model bring the notes up to date, when it is time.

        That is decided as by `memdir.rules.session_notes_due`. The model may edit this one file and
        nothing else.

        Args:
            messages: The whole conversation.
            force: Whether it is done now, whatever time it is.
            natural_break: Whether the end of a turn counts as much as calls of tools.
            request: As of `Memdir.extract`; the cache is used if the request has the tool `Edit`.
            state: `state` of the last update of this session, after a restart. A store that knows
                better does not look at it.

        Returns:
            What came of it; also a run that failed.

        Raises:
            ModelError: There is something to be done, but no model (`no-model`).
            InputError: The messages or the request are none (`invalid-argument`), or the store is
                closed (`closed`).
            HostError: What the disk gave.

        """
        flow = self._store.session_update(
            self._id,
            _check.sequence("messages", messages, "mapping"),
            force=force,
            natural_break=natural_break,
            request=request,
            state=state,
        )
        return drive(flow, self._host)

    def notes(self) -> str | None:
        """Give the notes; None when there are none, or memory is off.

        Raises:
            InputError: The file is no text (`not-text`).
            HostError: What reading gave.

        """
        return drive(self._store.session_notes(self._id), self._host)

    def for_compaction(
        self,
        messages: Sequence[Message | Mapping[str, Any]],
        *,
        boundary: int | None = None,
        state: NotesState | None = None,
    ) -> Compaction:
        """Give what comes in place of a conversation that is about to be compacted.

        That is decided as by `memdir.rules.compaction_cut`. An update that is under way is waited
        for, for 15 seconds at most.

        Args:
            messages: The whole conversation.
            boundary: The index of the message that the last compaction has put in place of others;
                what is kept reaches back to the one behind it at most, and to it when the notes
                end before it.
            state: `state` of the last update of this session, after a restart.

        Raises:
            InputError: The messages are none (`invalid-argument`).

        """
        flow = self._store.session_compaction(
            self._id,
            _check.sequence("messages", messages, "mapping"),
            boundary=boundary,
            state=state,
        )
        return drive(flow, self._host)

    def path(self) -> str:
        """Give the file of the notes, absolute, whether it is there or not.

        Raises:
            InputError: Memory is off (`disabled`).

        """
        return drive(self._store.session_path(self._id), self._host)


class AsyncSessionNotes:
    """The same for asyncio; `memory.session(id)` of an `AsyncMemdir` is one."""

    def __init__(self, store: Store, host: Host, id: str) -> None:  # noqa: A002 - as the field
        """Belong to a store; `AsyncMemdir.session` makes one."""
        self._store = store
        self._host = host
        self._id = id

    async def update(
        self,
        messages: Sequence[Message | Mapping[str, Any]],
        *,
        force: bool = False,
        natural_break: bool = False,
        request: str | Mapping[str, Any] | None = None,
        state: NotesState | None = None,
    ) -> NotesResult:
        """See `SessionNotes.update`."""
        flow = self._store.session_update(
            self._id,
            _check.sequence("messages", messages, "mapping"),
            force=force,
            natural_break=natural_break,
            request=request,
            state=state,
        )
        return await drive_async(flow, self._host)

    async def notes(self) -> str | None:
        """See `SessionNotes.notes`."""
        return await drive_async(self._store.session_notes(self._id), self._host)

    async def for_compaction(
        self,
        messages: Sequence[Message | Mapping[str, Any]],
        *,
        boundary: int | None = None,
        state: NotesState | None = None,
    ) -> Compaction:
        """See `SessionNotes.for_compaction`."""
        flow = self._store.session_compaction(
            self._id,
            _check.sequence("messages", messages, "mapping"),
            boundary=boundary,
            state=state,
        )
        return await drive_async(flow, self._host)

    async def path(self) -> str:
        """See `SessionNotes.path`."""
        return await drive_async(self._store.session_path(self._id), self._host)


class Team:
    """The team's memories, with blocking calls; `memory.team` is one.

    They are the files in `team/` in the store. What nobody has changed here since the last sync
    follows the server; when both have changed a memory, the server's version is put in place, and
    ours is kept until somebody deals with it, see `conflicts`. What holds a secret, and memories of
    type `user`, are never uploaded.

    What speaks to the server raises, beside what is said there:

    - `TeamError`: no server, token or repository is known (`no-server`, `no-token`,
      `no-repository`), or the server refuses or breaks off (`team-auth`, `team-busy`,
      `team-refused`, `team-answer`, `team-conflict`).
    - `HostError`: it cannot be reached (`network`, `timeout`), others keep the store locked
      (`busy`), or what the disk gave.
    - `InputError`: the address or the repository is none (`invalid-argument`), memory is off
      (`disabled`), or the store is closed (`closed`).
    """

    def __init__(self, store: Store, host: Host, watches: Watches) -> None:
        """Belong to a store; `Memdir.team` makes one."""
        self._store = store
        self._host = host
        self._watches = watches

    def pull(self) -> TeamSync:
        """Bring what is new on the server. Files that are as they were are not touched."""
        return drive(self._store.team_pull(), self._host)

    def push(self) -> TeamSync:
        """Take what was changed here to the server; what was changed there too is pulled first.

        Raises:
            TeamError: Also when teammates keep being faster (`team-conflict`).

        """
        return drive(self._store.team_push(), self._host)

    def sync(self) -> TeamSync:
        """Pull, then push."""
        return drive(self._store.team_sync(), self._host)

    def status(self) -> TeamStatus:
        """Say what a push would upload, and which versions are kept, without asking the server."""
        return drive(self._store.team_status(), self._host)

    def watch(self, period_ms: int | None = None) -> None:
        """Sync now, two seconds after each change, and from time to time, until `close`.

        It blocks, so it is meant for a thread of its own; `close` ends it from another one, and
        Ctrl-C in the main thread. What it does, and what goes wrong, is told as events. With
        `pip install memdir[watch]` changes are seen at once, else within a second.

        Args:
            period_ms: Milliseconds from one pull to the next, at least 2,000; None for 5 minutes.

        Raises:
            InputError: Memory is off (`disabled`), the store is closed already (`closed`), or
                `period_ms` is negative (`invalid-argument`).

        """
        self._watches.run(self._store.team_watch(period_ms), self._host)

    def conflicts(self) -> list[Conflict]:
        """Give our versions that a sync has kept, oldest first."""
        return drive(self._store.team_conflicts(), self._host)

    def conflict(self, id: str) -> ConflictFile:  # noqa: A002 - as the field
        """Give one of them, with its text.

        Raises:
            HostError: There is no such version (`not-found`).
            InputError: It is no text (`not-text`).

        """
        return drive(self._store.team_conflict(id), self._host)

    def restore(self, id: str) -> WriteResult:  # noqa: A002 - as the field
        """Put one of them in place again, for the next push to upload.

        What is there goes to the trash.

        Raises:
            HostError: There is no such version (`not-found`), or as `Memdir.save`.
            InputError: It is no text (`not-text`), or as `Memdir.save`.

        """
        return drive(self._store.team_restore(id), self._host)

    def drop(self, id: str) -> None:  # noqa: A002 - as the field
        """Let go of one of them.

        Raises:
            HostError: There is no such version (`not-found`).

        """
        drive(self._store.team_drop(id), self._host)


class AsyncTeam:
    """The same for asyncio; `memory.team` of an `AsyncMemdir` is one."""

    def __init__(self, store: Store, host: Host, watches: Watches) -> None:
        """Belong to a store; `AsyncMemdir.team` makes one."""
        self._store = store
        self._host = host
        self._watches = watches

    async def pull(self) -> TeamSync:
        """See `Team.pull`."""
        return await drive_async(self._store.team_pull(), self._host)

    async def push(self) -> TeamSync:
        """See `Team.push`."""
        return await drive_async(self._store.team_push(), self._host)

    async def sync(self) -> TeamSync:
        """See `Team.sync`."""
        return await drive_async(self._store.team_sync(), self._host)

    async def status(self) -> TeamStatus:
        """See `Team.status`."""
        return await drive_async(self._store.team_status(), self._host)

    async def watch(self, period_ms: int | None = None) -> None:
        """See `Team.watch`; it is meant for a task of its own.

        It returns when the store is closed, and raises `CancelledError` when the task is cancelled.
        """
        await self._watches.run_async(self._store.team_watch(period_ms), self._host)

    async def conflicts(self) -> list[Conflict]:
        """See `Team.conflicts`."""
        return await drive_async(self._store.team_conflicts(), self._host)

    async def conflict(self, id: str) -> ConflictFile:  # noqa: A002 - as the field
        """See `Team.conflict`."""
        return await drive_async(self._store.team_conflict(id), self._host)

    async def restore(self, id: str) -> WriteResult:  # noqa: A002 - as the field
        """See `Team.restore`."""
        return await drive_async(self._store.team_restore(id), self._host)

    async def drop(self, id: str) -> None:  # noqa: A002 - as the field
        """See `Team.drop`."""
        await drive_async(self._store.team_drop(id), self._host)
