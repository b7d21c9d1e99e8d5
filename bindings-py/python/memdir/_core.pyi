# Written by stubs.py; the source is in src/.

import collections.abc
from typing import Any, Final, Generic, TypeVar, final

from memdir import _types

_T = TypeVar("_T")

__all__ = [
    "__version__",
    "Flow",
    "Step",
    "Stoppable",
    "Store",
    "batch_entries",
    "choose_directory",
    "classify_path",
    "classify_tool_call",
    "command",
    "compaction_cut",
    "conversation_text",
    "cut_memory",
    "decide_dream",
    "decide_extraction",
    "decode_model_answer",
    "decode_tool_answer",
    "default_scope",
    "encode_model_request",
    "encode_tool_request",
    "env_flag",
    "error_table",
    "estimate_tokens",
    "failure_code",
    "fill_template",
    "format_manifest",
    "grant_bytes",
    "injective_key",
    "instruction_places",
    "instructions_excluded",
    "lint_memories",
    "lock_is_held",
    "may_write",
    "measure_notes",
    "memory_age",
    "memory_enabled",
    "memory_file_name",
    "merge_team_index",
    "notes_are_empty",
    "parse_frontmatter",
    "parse_instructions",
    "parse_settings",
    "parse_transcript",
    "probe",
    "project_slug",
    "rank_memories",
    "read_only_command",
    "read_selection",
    "recent_tools",
    "redact_secrets",
    "resolve_import",
    "retry_pause_ms",
    "rule_applies",
    "scan_secrets",
    "session_notes_due",
    "summarise_tool_calls",
    "team_delta",
    "team_reconcile",
    "team_repository",
    "tokenize",
    "truncate_index",
    "update_index",
    "update_memory",
    "validate_memory_path",
    "validate_team_key",
]

__version__: Final[str]
"""
The version of the package.
"""

@final
class Flow(Generic[_T]):
    """
    A running operation. `resume` does files, clock and random bytes itself, with the GIL released,
    and returns when something is left that only Python can do, or at the end.
    """
    def cancel(self, /) -> None:
        """
        Asks the flow to stop, from any thread. What it has asked for must still be answered
        (`aborted` will do), and it must be resumed to its end, which is the error `aborted`.
        """
    def ended(self, /) -> _T | None:
        """
        What the flow ended with, for a driver that was interrupted before it got hold of it; None
        when it has not ended, or with an error.
        """
    def pending(self, /) -> list[dict[str, Any]]:
        """
        What Python still has to answer, in the form of `Step.effects`: for a driver that was
        interrupted before it got hold of the step.
        """
    def resume(self, responses: list[dict[str, Any]], /) -> Step[_T]:
        """
        Answers all effects of the last step, each `{"id": int, "outcome": ...}`, and runs on; the
        first call takes an empty list. Raises what the operation failed with, or `protocol` when the
        answers do not fit the step or the flow has ended.
        """

@final
class Step(Generic[_T]):
    """
    How far a flow has come.
    """
    @property
    def done(self, /) -> bool:
        """
        Whether the flow has ended.
        """
    @property
    def effects(self, /) -> list[dict[str, Any]]:
        """
        What to perform before the next resume, each `{"id": int, "effect": {"kind": str, ...}}`
        with the keys of the core's JSON; empty at the end.
        """
    @property
    def value(self, /) -> _T:
        """
        What the flow ended with; None before.
        """

@final
class Stoppable:
    """
    One effect that takes its time, such as a program, for a thread of its own.
    """
    def __new__(cls, effect: dict[str, Any], /) -> Stoppable: ...
    def perform(self, /) -> Any:
        """
        Performs it and gives the outcome.
        """
    def stop(self, /) -> None:
        """
        Makes `perform` end with `aborted`, from any thread.
        """

@final
class Store:
    """
    A memory folder. Any number of flows may run over it, from any threads.
    """
    def __new__(
        cls,
        /,
        *,
        directory: str | None,
        cwd: str | None,
        home: str | None,
        env: collections.abc.Mapping[str, str],
        settings: str | None,
        platform: _types.PlatformName | None,
        model: _types.ModelOptions | None,
        agent: _types.AgentOptions | None,
        team: _types.TeamOptions | None,
        features: _types.Features,
    ) -> Store: ...
    def after_turn(
        self,
        messages: tuple[_types.Message | collections.abc.Mapping[str, Any], ...],
        /,
        *,
        agent: _types.AgentRole,
        interactive: bool,
        remote: bool,
        session: str | None,
        request: str | collections.abc.Mapping[str, Any] | None,
        read_roots: collections.abc.Sequence[str],
        review: bool,
        natural_break: bool,
        extraction: _types.ExtractionState | None,
        notes: _types.NotesState | None,
    ) -> Flow[_types.AfterTurn]:
        """
        Does what is to be done after a turn; ends with `AfterTurn`.
        """
    def agent(self, name: str, /, scope: _types.AgentScope) -> Store:
        """
        The memory of an agent, with the options of this store.
        """
    def apply_proposal(
        self, id: str, paths: collections.abc.Sequence[str] | None, /
    ) -> Flow[_types.InboxResult]:
        """
        Makes the changes of a proposal; ends with `InboxResult`.
        """
    def begin_extraction(
        self,
        messages: tuple[_types.Message | collections.abc.Mapping[str, Any], ...],
        /,
        *,
        agent: _types.AgentRole,
        interactive: bool,
        remote: bool,
        session: str,
        state: _types.ExtractionState | None,
        request: str | collections.abc.Mapping[str, Any] | None,
        read_roots: collections.abc.Sequence[str],
        review: bool,
    ) -> Flow[_types.ExtractionStep]:
        """
        The same for somebody's own model; ends with `ExtractionStep`.
        """
    def call_tool(self, run: int, name: str, input: str, /) -> Flow[_types.ToolReply]:
        """
        Answers a call of a tool in a run; ends with `ToolReply`.
        """
    def close(self, /) -> Flow[None]:
        """
        Writes what is still to be written; every flow that begins later fails with `closed`.
        """
    def compacted(self, /) -> None:
        """
        Drops everything that was remembered.
        """
    def context(
        self,
        /,
        *,
        agents_md: bool,
        user: bool,
        project: bool,
        local: bool,
        additional_directories: collections.abc.Sequence[str],
        excludes: collections.abc.Sequence[str],
        approved: collections.abc.Sequence[str],
        loaded: collections.abc.Sequence[str],
    ) -> Flow[_types.Context]:
        """
        Everything that an agent should start with; ends with `Context`.
        """
    def drain(self, timeout_ms: int | None, /) -> Flow[bool]:
        """
        Waits for what is under way in the background; ends with whether all came to its end.
        """
    def dream(
        self,
        /,
        *,
        force: bool,
        dry_run: bool,
        logs: bool,
        session: str | None,
        remote: bool,
        read_roots: collections.abc.Sequence[str],
    ) -> Flow[_types.Dream]:
        """
        Puts the memory in order; ends with `Dream`.
        """
    def drop_proposal(
        self, id: str, paths: collections.abc.Sequence[str] | None, /
    ) -> Flow[list[str]]:
        """
        Lets go of a proposal; ends with the paths that are left.
        """
    def end_extraction(self, run: int, report: _types.RunReport, /) -> Flow[_types.ExtractionStep]:
        """
        Says how a run ended; ends with `ExtractionStep`.
        """
    def extract(
        self,
        messages: tuple[_types.Message | collections.abc.Mapping[str, Any], ...],
        /,
        *,
        agent: _types.AgentRole,
        interactive: bool,
        remote: bool,
        session: str,
        state: _types.ExtractionState | None,
        request: str | collections.abc.Mapping[str, Any] | None,
        read_roots: collections.abc.Sequence[str],
        review: bool,
    ) -> Flow[_types.Extraction]:
        """
        Lets the store's model write down what is worth it; ends with `Extraction`.
        """
    def forget(self, path: str, /, *, expect: str | None) -> Flow[_types.WriteResult]:
        """
        Takes a memory and its index lines away; ends with `WriteResult`.
        """
    def inbox(self, /) -> Flow[_types.Inbox]:
        """
        What waits for a person; ends with `Inbox`.
        """
    def instructions(
        self,
        path: str | None,
        /,
        *,
        agents_md: bool,
        user: bool,
        project: bool,
        local: bool,
        additional_directories: collections.abc.Sequence[str],
        excludes: collections.abc.Sequence[str],
        approved: collections.abc.Sequence[str],
        loaded: collections.abc.Sequence[str],
    ) -> Flow[_types.Instructions]:
        """
        What people have written for an agent, or with a path what comes with that file; ends with
        `Instructions`.
        """
    def lint(self, /) -> Flow[_types.Lint]:
        """
        What is wrong with the store; ends with `Lint`.
        """
    def log(self, text: str, /) -> Flow[_types.WriteResult]:
        """
        Appends a note to the daily log; ends with `WriteResult`.
        """
    def manifest(self, /) -> Flow[str]:
        """
        The memories as a model reads them; ends with a `str`.
        """
    def open(self, /) -> Flow[_types.Opened]:
        """
        Finds the store; ends with `Opened`.
        """
    def prompt(
        self, /, *, index: bool, past_context: bool, guidelines: collections.abc.Sequence[str]
    ) -> Flow[str | None]:
        """
        What the model is told about its memory; ends with a `str`, or None when memory is off.
        """
    def read(self, path: str, /) -> Flow[_types.MemoryFile]:
        """
        One memory, whole; ends with `MemoryFile`.
        """
    def recall(
        self,
        query: str,
        /,
        *,
        limit: int | None,
        strategy: _types.Strategy,
        recent_tools: collections.abc.Sequence[str],
        tool_results: collections.abc.Sequence[_types.ToolResult],
        surfaced: collections.abc.Sequence[str],
        already_read: collections.abc.Sequence[str],
        state: _types.RecallState | None,
    ) -> Flow[_types.Recall]:
        """
        The memories that help with a query; ends with `Recall`.
        """
    def save(
        self,
        /,
        *,
        type: _types.MemoryType | None,
        name: str | None,
        description: str | None,
        body: str | None,
        scope: _types.MemoryScope | None,
        path: str | None,
        expect: str | None,
    ) -> Flow[_types.WriteResult]:
        """
        Writes a memory and its index line; ends with `WriteResult`.
        """
    def scan(self, /) -> Flow[_types.Scan]:
        """
        Lists the memories; ends with `Scan`.
        """
    def session_compaction(
        self,
        id: str,
        messages: tuple[_types.Message | collections.abc.Mapping[str, Any], ...],
        /,
        *,
        boundary: int | None,
        state: _types.NotesState | None,
    ) -> Flow[_types.Compaction]:
        """
        What comes in place of a conversation; ends with `Compaction`.
        """
    def session_notes(self, id: str, /) -> Flow[str | None]:
        """
        The notes of a session; ends with a `str`, or None when there are none.
        """
    def session_path(self, id: str, /) -> Flow[str]:
        """
        The file of the notes of a session; ends with a `str`.
        """
    def session_update(
        self,
        id: str,
        messages: tuple[_types.Message | collections.abc.Mapping[str, Any], ...],
        /,
        *,
        force: bool,
        natural_break: bool,
        request: str | collections.abc.Mapping[str, Any] | None,
        state: _types.NotesState | None,
    ) -> Flow[_types.NotesResult]:
        """
        Lets the store's model bring the notes of a session up to date; ends with `NotesResult`.
        """
    def team_conflict(self, id: str, /) -> Flow[_types.ConflictFile]:
        """
        One of them, with its text; ends with `ConflictFile`.
        """
    def team_conflicts(self, /) -> Flow[list[_types.Conflict]]:
        """
        Our versions that a sync has kept; ends with a list of `Conflict`.
        """
    def team_drop(self, id: str, /) -> Flow[None]:
        """
        Lets go of one of them.
        """
    def team_pull(self, /) -> Flow[_types.TeamSync]:
        """
        Brings what is new on the team's server; ends with `TeamSync`.
        """
    def team_push(self, /) -> Flow[_types.TeamSync]:
        """
        Takes what was changed here to the team's server; ends with `TeamSync`.
        """
    def team_restore(self, id: str, /) -> Flow[_types.WriteResult]:
        """
        Puts one of them in place again; ends with `WriteResult`.
        """
    def team_status(self, /) -> Flow[_types.TeamStatus]:
        """
        How the team folder stands to the server, without asking it; ends with `TeamStatus`.
        """
    def team_sync(self, /) -> Flow[_types.TeamSync]:
        """
        A pull, then a push; ends with `TeamSync`.
        """
    def team_watch(self, period_ms: int | None, /) -> Flow[None]:
        """
        Syncs again and again, until the store is closed or the flow cancelled.
        """
    def tool(self, input: str, /) -> Flow[str]:
        """
        Does one command of the memory tool, as JSON; ends with a `str`.
        """
    def transcript(self, path: str, /) -> Flow[_types.Transcript]:
        """
        What was said, from a file; ends with `Transcript`.
        """
    def undo_dream(self, /) -> Flow[_types.DreamUndone]:
        """
        Takes the last dream back; ends with `DreamUndone`.
        """
    def undo_forget(self, path: str | None, /) -> Flow[_types.WriteResult]:
        """
        Brings back what was forgotten last; ends with `WriteResult`.
        """

def batch_entries(
    entries: collections.abc.Mapping[str, str], *, max_bytes: int | None = None
) -> list[dict[str, str]]:
    """
    Split entries (key to content) into uploads of at most `max_bytes` bytes of compact JSON each,
    the envelope counted (None: 200,000): keys in byte order, greedily. An entry that alone is larger
    stands alone; nothing is lost.

    Source: reference facts 11.3 and 11.4.
    """

def choose_directory(
    *,
    platform: _types.PlatformName,
    home: str | None = None,
    env: collections.abc.Mapping[str, str],
    settings: _types.DirectorySettings,
    project_root: str,
) -> _types.Choice:
    """
    Choose the directory of a project's store: the first of the environment's override,
    `autoMemoryDirectory` of trusted settings, the project's folder below the config home. The first
    setting that is there counts, so a bad one is in `refused` and not passed over for a lesser one.

    `project_root` is absolute: the project's git root, or where the agent was started. `settings` is
    `autoMemoryDirectory` of each settings file. A `home` that is not absolute counts as none.

    Raises `PathError` with code `no-home` when the default place needs a home directory and there is
    none, and those of `validate_memory_path` when the default place is not acceptable.

    Source: reference facts 1.2 to 1.4; DESIGN, "Trust".
    """

def classify_path(path: str, places: _types.MemoryPlaces) -> _types.PathKind:
    """
    Say what a path is to memory: `team`, `auto` (the private store), `agent`, `session-memory`,
    `session-transcript` or `none`, as for one that is not absolute. Nothing is looked up, so a link is
    what its name says. `places` is `memory.opened.places`.

    Source: reference facts 11.1 and 12; document 002.
    """

def classify_tool_call(
    name: str, input: str | collections.abc.Mapping[str, Any], places: _types.MemoryPlaces
) -> _types.ToolClass:
    """
    Say what a call of one of Claude Code's tools has to do with memory. `input` is what the tool was
    called with, as a mapping or as JSON text. In a shell command every absolute path counts, and the
    first of the team decides. Unknown tools and inputs of another shape have nothing to do with it.

    Raises `InputError` with code `invalid-argument` for a mapping that is no JSON.

    Source: reference facts 11.1 and 12; document 002.
    """

def command(
    args: collections.abc.Sequence[str],
    *,
    cwd: str | None,
    home: str | None,
    env: collections.abc.Mapping[str, str],
) -> Flow[int]:
    """
    The command line; ends with the exit code.
    """

def compaction_cut(
    messages: collections.abc.Sequence[_types.Message | collections.abc.Mapping[str, Any]],
    *,
    template: str,
    notes: str | None = None,
    last_summarised: str | None = None,
    boundary: int | None = None,
) -> _types.Compaction:
    """
    Put notes in place of the messages that they cover. What came after `last_summarised`, the last message that
    they have, is kept, and before it so much that there are 10,000 tokens and five messages with text, but no
    more once there are 40,000 tokens. A result of a tool is kept with its call, and the parts of an answer
    together. None means that it is not known what the notes cover, and so they cannot be used. `template` is
    what the notes began as, `boundary` the index of the message that the last compaction has put in place of
    others: what is kept reaches back to the one behind it at most, and to it when the notes end before it.

    Raises `InputError` with code `invalid-argument` for what is no message.

    Source: reference facts 8.4.
    """

def conversation_text(
    messages: collections.abc.Sequence[_types.Message | collections.abc.Mapping[str, Any]],
) -> str:
    """
    Give a conversation as it is shown to a model that has not taken part in it: who said what, calls of
    tools and their results cut to 2,000 bytes each, the newest 120,000 bytes of all. What the agent's program
    has put in (`isMeta`), thinking and images are left out.

    Raises `InputError` with code `invalid-argument` for what is no message, or JSON.

    Source: reference facts 6.4.
    """

def cut_memory(text: str, *, size: int, path: str, max_bytes: int) -> _types.CutMemory:
    """
    Cut the beginning of a memory down to 200 lines and `max_bytes` (at most 4,096) bytes of UTF-8.
    `size` is that of the whole file in bytes, `path` what the model is to read for the rest.

    Source: reference facts 5.4.
    """

def decide_dream(gate: _types.DreamGate) -> _types.Awake | None:
    """
    Say why it is not the time to dream; None when it is. What has not been counted or seen yet is None: ask
    first without the sessions, and count them when the answer is None. A time that lies ahead says nothing.

    Source: reference facts 7.1.
    """

def decide_extraction(
    messages: collections.abc.Sequence[_types.Message | collections.abc.Mapping[str, Any]],
    state: _types.ExtractionState,
    gate: _types.ExtractionGate,
) -> _types.ExtractionDecision:
    """
    Decide at the end of a turn whether it is time to extract memories. Cheap reasons against it come
    first; what the agent has written itself is looked for before the throttle, so that it uses up no turn.

    Raises `InputError` with code `invalid-argument` for what is no message, or JSON.

    Source: reference facts 6.1.
    """

def decode_model_answer(name: str, *, status: int, body: str) -> str:
    """
    Give the text of a provider's answer. `name` is the model's, `body` what came with `status`.

    Raises `ModelError` with code `model-auth` (401, 403), `model-not-found` (404), `model-busy` (408,
    409, 429, 5xx: worth another try), `model-refused` (any other status) or `model-answer` (no JSON,
    no text in it); `InputError` with code `invalid-argument` for a name that names no model.

    Source: the providers' documentation; DESIGN, "Models".
    """

def decode_tool_answer(name: str, status: int, body: str) -> _types.ToolAnswer:
    """
    Give what a model with tools answered, by what its provider sent. `name` is the model's as in
    `ModelOptions`, `status` the HTTP status, `body` what came with it.

    Raises as `decode_model_answer`; but an answer without text is none of its errors.

    Source: reference facts 6.2.
    """

def default_scope(type: _types.MemoryType | None, *, team: bool = False) -> _types.MemoryScope:
    """
    Say where a memory of a type belongs when nothing else is said: what is about one person stays
    private, what is about the project goes to the team, if there is one.

    Source: documents 000 §8 and 002.
    """

def encode_model_request(
    model: _types.ModelOptions, request: _types.ModelRequest
) -> _types.ModelHttp:
    """
    Write a request as it goes over the wire to `anthropic/` or `openai/`, a POST. The environment is
    not looked at.

    Raises `InputError` with code `invalid-argument` for a name that names no model, an address that
    is none, a provider's own address without a key, and a schema that is no JSON.

    Source: the providers' documentation; DESIGN, "Models".
    """

def encode_tool_request(
    model: _types.ModelOptions, request: _types.ToolRequest
) -> _types.ModelHttp:
    """
    Give the next request of a conversation with tools as it goes over the wire to `anthropic/` or
    `openai/`. What `prefix` says stays as it is written, so that the provider finds it in its prompt cache,
    but for the limit of tokens, streaming, and a choice of tools that leaves the model none.

    Raises `InputError` with code `invalid-argument` for a model that is none, a prefix that is no object
    with a list of messages or that has a member twice, and a turn whose answer is no object.

    Source: reference facts 6.2 and 6.3.
    """

def env_flag(value: str | None) -> bool | None:
    """
    Say what a switch in the environment says: `1 true yes on` and `0 false no off`, in any case,
    trimmed. Anything else, None too, says nothing: None.

    Source: reference facts 2.
    """

def error_table() -> list[_types.ErrorInfo]:
    """
    List every error code with its family and a typical message, in a fixed order.
    """

def estimate_tokens(text: str) -> int:
    """
    Say about how many tokens a text takes, without a tokenizer: as a mean 4 to 7% off for prose and code, and
    13 to 16% for other languages. Single pieces can be off by half, such as tables and encoded data.

    Source: measured against the tokenizers o200k_base and cl100k_base.
    """

def failure_code(errno: int, /) -> str:
    """
    The code of a failed effect for an error number of the operating system.
    """

def fill_template(text: str, values: _types.TemplateValues) -> str:
    """
    Put values in place of `{{currentNotes}}` and `{{notesPath}}` in a text. Other words in double braces stay as
    they are, and what is put in is not looked at again.

    Source: reference facts 8.2.
    """

def format_manifest(memories: collections.abc.Sequence[_types.MemoryHeader]) -> str:
    """
    List memories as a model reads them, one inert line each, in the given order:
    `- [type] path (time): description`, joined by LF. The time is `mtime_ms` in UTC.

    Source: reference facts 4.5; DESIGN, "Untrusted text".
    """

def grant_bytes(used: int, sizes: collections.abc.Sequence[int]) -> list[int]:
    """
    Say how many bytes of each of these memories a recall may show: at most five memories, 4,096
    bytes each, 20 KB together, and 60 KB in a conversation, of which `used` are gone. 0 stands for
    a memory that is left out, because so little is left that it would be a scrap.

    Source: reference facts 5.1 and 5.4.
    """

def injective_key(path: str) -> str:
    """
    Name the folder of a project whose slug belongs to another project: the slug, `-`, and eight digits
    that come from the whole path.

    Source: reference facts 1.1; DESIGN, "Project slug".
    """

def instruction_places(
    *,
    platform: _types.PlatformName,
    cwd: str | None = None,
    config_home: str | None = None,
    managed: collections.abc.Sequence[str] = ...,
    checkout: str | None = None,
    canonical: str | None = None,
    additional: collections.abc.Sequence[str] = ...,
    agents_md: bool = False,
    user: bool = True,
    project: bool = True,
    local: bool = True,
) -> list[_types.InstructionPlace]:
    """
    List every place where instructions are looked for, in the order in which they are loaded; what comes
    later is nearer to the work. First come the administrator's folders (`managed`), then the user's
    (`config_home`), then each folder from below the root down to `cwd`, then those in `additional`, without
    what lies above them. All folders are absolute, and nothing is looked up.

    `checkout` is the root of the working tree and `canonical` that of its main repository; where the first
    lies inside the second, the project's files around it are skipped (`worktree`). With `agents_md` there is
    AGENTS.md in each folder, too. `user`, `project` and `local` say whose are loaded; those of others stay in
    the list (`off`).

    Source: reference facts 10.1; document 001 §2.
    """

def instructions_excluded(
    patterns: collections.abc.Sequence[str],
    paths: collections.abc.Sequence[str],
    *,
    platform: _types.PlatformName,
) -> bool:
    """
    Say whether a file of instructions is excluded: a glob of `patterns` matches one of its `paths` (as it was
    found, and with links resolved) from beginning to end. `**` crosses folders, `*` and `?` do not; `!` in
    front turns one pattern round. Case counts but on Windows. What is no glob matches nothing.

    Source: reference facts 10.4.
    """

def lint_memories(
    *,
    index: str | None = None,
    team_index: str | None = None,
    memories: collections.abc.Sequence[_types.LintMemory],
) -> list[_types.Finding]:
    """
    Say what is wrong with a store, given the texts of `MEMORY.md`, of `team/MEMORY.md` and of every
    other memory. The findings are sorted by path, line and code.

    Source: reference facts 3.3 and 15.
    """

def lock_is_held(*, now_ms: int, mtime_ms: int, body: str, alive: bool | None = None) -> bool:
    """
    Say whether somebody dreams, by the lock file in the store: it is younger than an hour, names a process,
    and that lives; where nobody can tell (None), it is held to live.

    Source: reference facts 7.2.
    """

def may_write(path: str, places: _types.MemoryPlaces) -> bool:
    """
    Say whether an agent may write to a path without asking: to a Markdown file of the store, the team or
    an agent, unless `CLAUDE_COWORK_MEMORY_PATH_OVERRIDE` has put the store elsewhere. Nothing is looked up:
    a repository can bring links along, so give the path with links resolved.

    Source: reference facts 11.1 and 12; document 002.
    """

def measure_notes(text: str) -> _types.NotesMeasure:
    """
    Say how long notes are, and which of their sections are too long. Sections begin at headings of the first
    level outside code.

    Source: reference facts 8.3.
    """

def memory_age(*, mtime_ms: int, modified_ms: int | None = None, now_ms: int) -> _types.MemoryAge:
    """
    Say how old a memory is at `now_ms`: counted from its own `modified` time when it has one that is
    not in the future, else from the file's modification time. All in milliseconds since the epoch.

    Source: reference facts 5.5; DESIGN, "Age".
    """

def memory_enabled(
    env: collections.abc.Mapping[str, str], settings: _types.EnabledSettings
) -> _types.Enabled:
    """
    Decide whether memory is on: the first switch that says something. A project's settings come with
    the repository, so they can switch memory off but never on.

    `env` are environment variables, `settings` is `autoMemoryEnabled` of each settings file.

    Source: reference facts 2; DESIGN, "Off means off".
    """

def memory_file_name(type: _types.MemoryType, name: str, number: int) -> str:
    """
    Name the file of a new memory: `<type>_<slug>.md`. The slug is `name` in NFKC and lower case, with
    `_` for what is neither letter nor digit of any script, at most 48 bytes of UTF-8 in whole
    characters; a name that leaves nothing gives eight hex digits. `number` counts the memories whose
    name gives the same file name, this one included; from 2 on it stands at the end.

    Source: document 000 §3 and §4; reference facts 4.1 and 4.3.
    """

def merge_team_index(*, base: str | None = None, local: str, server: str) -> _types.MergedIndex:
    """
    Make one index of two, entry by entry: what `local` has changed since `base`, the version that both
    had last, is applied to `server`. Without `base` nothing counts as removed. An entry is known by the
    memory that it links to; where both have written one anew, the server's stands, and `lost` is true.

    Source: reference facts 11.4; document 002.
    """

def notes_are_empty(text: str, template: str) -> bool:
    """
    Say whether nothing was noted yet: every line is blank, a heading of the first level, a line in italics,
    or a line of `template`, which the notes began as.

    Source: reference facts 8.4.
    """

def parse_frontmatter(text: str) -> _types.Frontmatter:
    """
    Read the block at the top of a memory, or of the head of one.

    Never fails: what is broken counts as text or as missing, and `problems` says so. `body` is an
    offset in bytes of UTF-8: `text.encode()[body:]` is the body. `modified_ms` is in milliseconds
    since the epoch.

    Source: reference facts 4.1 to 4.3; DESIGN, "Frontmatter".
    """

def parse_instructions(text: str) -> _types.ParsedInstructions:
    """
    Read a Markdown file of instructions. `text` is what an agent is shown of it: without front matter and
    without comments that stand by themselves, trimmed. `imports` are the files that it names with `@` in
    prose, each once, and `paths` the patterns of the files that it is about, None when it is about all.

    Never fails: what cannot be read stays as text, and `problems` has a code of reports for it, such as
    `frontmatter-unclosed`.

    Source: reference facts 10.3 and 10.4; document 001 §2.
    """

def parse_settings(text: str) -> _types.Settings:
    """
    Read what a settings file says about memory. Never fails: what cannot be used is in `problems`.

    Source: reference facts 1.4 and 2; DESIGN, "Trust".
    """

def parse_transcript(text: str) -> _types.Transcript:
    """
    Read what was said from a transcript: a session of Claude Code (an object a line), messages one a line,
    or an array of messages. Never fails: what is no message is skipped, and counted in the report.

    Messages of sub agents are left out, and of a conversation that was taken up again at an earlier message
    only the last branch is kept; of all, the newest messages.

    Source: reference facts 6.1; document 000.
    """

def probe(effects: list[dict[str, Any]], /) -> Flow[list[Any]]:
    """
    A flow that performs `effects` side by side and ends with their outcomes, as plain dicts: how
    hosts are tested.
    """

def project_slug(path: str) -> str:
    """
    Name the folder of a project: every UTF-16 unit of its absolute path that is no ASCII letter or
    digit becomes `-`; beyond 200 units the name is cut and a hash of the whole path follows.

    Source: reference facts 1.1.
    """

def rank_memories(
    query: str, memories: collections.abc.Sequence[_types.RankedMemory]
) -> list[_types.Found]:
    """
    Give the memories that a query finds by its words, best first, at equal scores by path; none when
    nothing in them surely answers it. It is how a store without a model recalls.

    Source: DESIGN, "Recall".
    """

def read_only_command(command: str) -> list[_types.ShellStage]:
    """
    Take a model's shell command apart, if it does nothing but read: the programs of its pipe, in order,
    for whoever runs them without a shell and looks at their paths first.

    Raises `InputError` with the first code `shell-…` that holds: of the whole command, then of its
    characters in order, then of its programs in order. The message is meant for the model.

    Source: reference facts 6.3.
    """

def read_selection(answer: str, candidates: collections.abc.Sequence[str]) -> _types.Selection:
    """
    Read which memories a model chose: the last JSON object in its answer that has a list
    `selected_memories`, or a list by itself, whatever stands around it. Paths must be exactly those
    of `candidates`.

    Raises `ModelError` with code `model-answer` when there is no such list.

    Source: reference facts 5.2.
    """

def recent_tools(results: collections.abc.Sequence[_types.ToolResult]) -> list[str]:
    """
    Name the tools in use: those that succeeded and did not fail, each once, in the order in which
    they first succeeded. `results` are those since the user's message before the last one.

    Source: reference facts 5.3.
    """

def redact_secrets(text: str) -> str:
    """
    Give a text with a mark in place of each secret that `scan_secrets` finds.

    Source: reference facts 11.2; document 002.
    """

def resolve_import(
    target: str, *, file: str, home: str | None = None, platform: _types.PlatformName
) -> _types.ResolvedImport | None:
    """
    Say which file an import leads to: an absolute one, one below `home` (`~/`), else one relative to the
    folder of `file`, the absolute path of the file that imports. `target` is one that `parse_instructions`
    gives. Nothing is looked up; `is_text` is said of the name alone.

    None where it can lead to no file: without the home that it needs, with a NUL, and for network and device
    paths of Windows.

    Source: reference facts 10.3.
    """

def retry_pause_ms(retries: int, *, random: int, retry_after: str | None = None) -> int:
    """
    Say how many milliseconds to wait before another request after `retries` that failed: what the server
    asked for in its header `retry-after`, in seconds (a date counts as none); else 500, doubled each time
    up to 32,000, and up to a quarter more by `random` (0 to 255), so that not all come back at once.

    Raises `InputError` with code `invalid-argument` for numbers out of range.

    Source: reference facts 11.3.
    """

def rule_applies(patterns: collections.abc.Sequence[str], path: str) -> bool:
    """
    Say whether a rule is about a file, by the `paths` of the rule. `path` is relative to the folder that
    holds the rule's `.claude`, with `/`; outside of that folder no rule applies.

    Patterns mean what they mean in a .gitignore, and the last that matches decides. Braces are expanded
    before, to at most 1,000 patterns and 4 MiB; a pattern beyond that, or with a `[` that is not closed,
    matches nothing and does not keep the others from it.

    Source: reference facts 10.4.
    """

def scan_secrets(text: str) -> list[_types.SecretFinding]:
    """
    Find tokens, keys and passwords in a text: where they are and of which kind, never what they are, in
    their order. Only what has a shape of its own is found. `start` and `end` are offsets in bytes of
    UTF-8, `line` counts from 1.

    Source: reference facts 11.2; document 002.
    """

def session_notes_due(
    *,
    tokens: int,
    last_tokens: int | None = None,
    tool_calls: int,
    natural_break: bool = False,
    last_turn_calls: bool = False,
) -> bool:
    """
    Say whether it is time to bring the notes of a session up to date: at least 10,000 tokens in all, 5,000
    more than at the last update, and three calls of tools since; with `natural_break`, in place of the
    calls also a last turn that calls none.

    Source: reference facts 8.1.
    """

def summarise_tool_calls(
    calls: collections.abc.Sequence[_types.ToolClass], done: bool
) -> list[str]:
    """
    Say in a few lines what calls of tools do with memory, or did when `done`: `Recalled 3 team
    memories`. Reads, searches and writes, each without the team and then with it.

    Raises `InputError` with code `invalid-argument` for a kind or an action that there is not.

    Source: reference facts 12; document 002.
    """

def team_delta(
    local: collections.abc.Mapping[str, str], server: collections.abc.Mapping[str, str]
) -> dict[str, str]:
    """
    Give the local entries (key to content) that the server lacks or holds with another checksum;
    `server` maps keys to `sha256:` and lower-case hex. Deletions are never part of it.

    Source: reference facts 11.4.
    """

def team_reconcile(
    *,
    base: collections.abc.Mapping[str, str],
    local: collections.abc.Mapping[str, str],
    server: collections.abc.Mapping[str, str],
    forgotten: collections.abc.Mapping[str, str],
) -> dict[str, _types.TeamAction]:
    """
    Say what a sync does about each entry; what is in order is left out. All four map keys to checksums
    (`sha256:` and lower-case hex): `base` what both sides had after the last sync, `local` what is here,
    `server` what is there, `forgotten` what was forgotten here. Whoever has not changed an entry takes
    the other's version; when both have, it is a `conflict`.

    Source: reference facts 11.4; document 002.
    """

def team_repository(remote: str) -> str | None:
    """
    Name the repository that a git remote leads to, `owner/repo`, on GitLab with all groups, whatever
    the host: `https://host/owner/repo.git`, `ssh://git@host:22/owner/repo`, `git@host:owner/repo.git`.
    None for a local path and for what is no such address.

    Source: reference facts 11.3.
    """

def tokenize(text: str) -> list[_types.Word]:
    """
    Cut a text into the words that a ranking counts, in their order; what stands in any text (`the`)
    is left out. English words are stems: what they are is not for people to read.

    Source: DESIGN, "Recall".
    """

def truncate_index(text: str) -> _types.Truncation:
    """
    Cut an index (MEMORY.md) to what reaches the prompt: 200 lines and 25,000 bytes of UTF-8, comments
    and frontmatter counted, of the trimmed text.

    A cut is made at a line end, or between characters in a single longer line. Both flags are judged
    on the whole trimmed text; `lost` names the entries that are not wholly in `content`, which is
    always a prefix of the trimmed text.

    Source: reference facts 3.1 and 3.2; DESIGN, "Units".
    """

def update_index(
    text: str | None, *, folder: str, path: str, entry: _types.IndexEntry | None
) -> _types.Edited:
    """
    Change the index that lies in `folder` (empty for that of the store, or `team`), None when there
    is none yet. The line that links to the memory at `path`, relative to the store, says `entry`; with
    None it goes; where there is none it is added at the end. It has at most 150 characters. All other
    lines stay, and one that links to several memories is at most unlinked.

    Raises `HostError` with code `too-large` when the index would have more than 4 MiB.

    Source: document 000 §3 and §4; reference facts 3.
    """

def update_memory(text: str | None, changes: _types.MemoryChanges) -> _types.Edited:
    """
    Change the text of a memory, None when there is none yet: what `changes` names is set, and every
    other byte stays, with comments, unknown keys, line ends and a BOM.

    Raises `InputError` with code `invalid-argument` (an empty name, a `modified` that is no ISO 8601
    date-time), `invalid-text` (a NUL) or `frontmatter-invalid` (a block that cannot be changed without
    risk); `HostError` with code `too-large` when the block would have more than 30 lines or 64 KiB
    and so could not be read, or the file more than 4 MiB.

    Source: document 000 §3 and §4; reference facts 4.1 to 4.3; DESIGN, "Frontmatter".
    """

def validate_memory_path(
    path: str, *, platform: _types.PlatformName, home: str | None = None
) -> str:
    """
    Give a memory directory in its canonical form: absolute, normalised, NFC, with one trailing
    separator. With `home`, a leading `~/` stands for it.

    Raises `PathError` with code `path-empty`, `path-nul`, `path-home`, `path-home-parent`,
    `path-outside-home`, `path-unc`, `path-drive-root`, `path-relative`, `path-root` or
    `path-too-short`.

    Source: reference facts 1.5.
    """

def validate_team_key(key: str, others: collections.abc.Sequence[str]) -> str:
    """
    Accept the path of an entry that teammates share, relative to the team folder, with `/` between its
    parts: what is harmless here must be harmless, and the same file, on every system. It comes back as
    it is, of at most 1,024 bytes of UTF-8, 255 in a part; `others` are the keys that are there already.

    Raises `PathError` with the first code that holds: `path-empty`, `path-nul`, `key-too-long`,
    `key-encoded` (a separator or parent folder in percent form), `key-lookalike` (one in another
    character), `key-separator`, `key-absolute`, `key-traversal`, `key-character`, `key-normal-form`
    (not NFC), `key-ending`, `key-reserved` (a device on Windows, a repository of git), `key-own` or
    `key-twin` (it differs from another only by case or spelling, or is a file where that has a folder).

    Source: reference facts 11.1; document 002.
    """
