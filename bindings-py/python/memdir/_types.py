"""One frozen dataclass for each record of the core, under the same name.

The native module makes what comes out from the core's own types by name, so a field that is
missing here fails loudly. All texts are valid Unicode, times are whole milliseconds since the
epoch, offsets and sizes are bytes of UTF-8.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypedDict

from memdir import _check

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

MemoryType = Literal["user", "feedback", "project", "reference"]
"""The four types of memory."""

MemoryScope = Literal["private", "team"]
"""Who sees a memory."""

PlatformName = Literal["posix", "windows"]
"""Whose path rules hold."""

AgentScope = Literal["user", "project", "local"]
"""Who shares the memory of an agent.

- `user`: all projects of this user.
- `project`: everybody who works on the project; it is kept with its files.
- `local`: this project on this machine.
"""

PathKind = Literal["team", "auto", "agent", "session-memory", "session-transcript", "none"]
"""What a path is to memory; `auto` is the private store."""

ToolAction = Literal["read", "write", "search", "run", "none"]
"""What a tool does with a memory; `run` is a command that names it."""

EnabledBecause = Literal[
    "env-disabled",
    "env-forced",
    "simple-mode",
    "safe-mode",
    "remote-without-folder",
    "settings-policy",
    "settings-flag",
    "settings-local",
    "settings-project",
    "settings-user",
    "default",
]
"""What decides whether memory is on, in the order in which it is asked."""

Source = Literal[
    "option",
    "env",
    "settings-policy",
    "settings-flag",
    "settings-local",
    "settings-project",
    "settings-user",
    "env-project-dir-name",
    "agent",
    "default",
]
"""What can name a memory directory. `option` is `directory`, passed when opening; `agent` is the
name of an agent.
"""

SettingsProblemCode = Literal["not-json", "not-an-object", "wrong-type"]
"""What can be wrong with a settings file."""

WriteOutcome = Literal["written", "unchanged", "conflict", "refused"]
"""How a write ended.

- `written`: the store is as it was asked for.
- `unchanged`: it was so already; nothing was touched.
- `conflict`: it is not as it was expected to be; nothing was touched.
- `refused`: a rule forbids it; nothing was touched.
"""

Severity = Literal["error", "warning"]
"""How bad a finding is: something is lost or misread because of it, or could be better."""

ErrorFamily = Literal["engine", "input", "path", "host", "model", "team"]
"""Which exception class a code belongs to."""

TeamDeletions = Literal["keep", "propagate"]
"""What becomes of team memories that were forgotten here.

- `keep`: teammates keep them.
- `propagate`: after 7 days they go from the server too, at most 10 at a time.
"""

TeamAction = Literal["receive", "remove", "send", "conflict", "forgotten"]
"""What a sync does about an entry.

- `receive`: the server's content is written here.
- `remove`: it was deleted on the server and not changed here, so it goes here too.
- `send`: ours goes to the server.
- `conflict`: both have changed; the server's version is put in place here, and ours kept beside.
- `forgotten`: it was forgotten here, and stays away until the server's copy changes.
"""

Strategy = Literal["auto", "model", "lexical"]
"""How a recall chooses.

- `auto`: by the model of the store if it has one, else by the words of query and memories.
- `model`: by the model; without one the recall raises `ModelError` with code `no-model`.
- `lexical`: by words, also where there is a model.

With `auto` and with `model` words decide when the model fails, which is reported (`model-failed`),
and for a query of one word, without white space, about which no model is asked (`model-skipped`).
"""

RecallReason = Literal["model", "lexical"]
"""Who chose a memory: a model, or the words of query and memory."""

Role = Literal["user", "assistant"]
"""Whose a message is: the caller's or the model's."""

AgentRole = Literal["main", "sub"]
"""Whose a conversation is: the user's own agent's, or that of one which another has started."""

Verdict = Literal["run", "queue", "skip"]
"""What is to be done at the end of a turn.

- `run`: an extraction.
- `queue`: the messages are kept until the extraction under way is done.
- `skip`: nothing.
"""

Skip = Literal[
    "sub-agent",
    "off",
    "disabled",
    "not-interactive",
    "remote",
    "not-final",
    "nothing-new",
    "direct-write",
    "too-little",
    "throttled",
    "paused",
]
"""Why there is nothing to be done, in the order in which it is looked at.

- `sub-agent`: it is not the main agent's conversation.
- `off`: `Features.extract` is off.
- `disabled`: memory is off.
- `not-interactive`: nobody takes part, and `Features.extract_non_interactive` is off.
- `remote`: it runs on somebody else's machine.
- `not-final`: the last message is no final answer: the agent is in the middle of something.
- `nothing-new`: no message has come since the last one.
- `direct-write`: the agent has written memories itself, so what was to be kept is kept.
- `too-little`: no person has written as much as three words.
- `throttled`: it is not yet the turn of `Features.extract_every`.
- `paused`: the model's provider had no more to give a moment ago.
"""

ExtractionOutcome = Literal["done", "skipped", "queued", "failed"]
"""What became of an extraction.

- `done`: a model has looked at the new messages; it may have written nothing.
- `skipped`: there was nothing to be done; `reason` says why.
- `queued`: another one of the same conversation is under way, and goes on with these messages.
- `failed`: it did not come to its end; the same messages are looked at again the next time.
"""

RunEnd = Literal["answered", "turns", "tokens", "stopped"]
"""How a run ended.

- `answered`: the model had nothing more to do.
- `turns`: it had all the turns that it may take.
- `tokens`: it had used up its tokens.
- `stopped`: it was stopped, because nobody waited for it any longer. Memories that an extraction
  and notes that an update had written by then stay; of a dream nothing takes effect.
"""

InboxChangeKind = Literal["created", "changed", "deleted"]
"""What a proposal does with a file: the run saw no such file, it gets another text, or it goes."""

DreamOutcome = Literal["done", "skipped", "failed"]
"""What became of a dream.

- `done`: a model has looked over the memory; it may have changed nothing.
- `skipped`: there was nothing to be done; `reason` says why.
- `failed`: it did not come to its end, and nothing was changed; the next one does not wait for it.
  Where `id` is given the disk failed while it took effect, and again when that was to be taken
  back.
"""

Awake = Literal[
    "sub-agent",
    "off",
    "disabled",
    "remote",
    "daily-log",
    "too-soon",
    "counted",
    "few-sessions",
    "locked",
    "closed",
]
"""Why it is not the time to dream, in the order in which it is looked at.

- `sub-agent`: it was the turn of another agent than the main one.
- `off`: dreaming is off, by the setting `autoDreamEnabled`, or `Features.dream` when that says
  nothing.
- `disabled`: memory is off.
- `remote`: it runs on somebody else's machine.
- `daily-log`: notes go to daily logs, which are distilled when somebody asks for it.
- `too-soon`: the last one was less than 24 hours ago.
- `counted`: sessions were counted less than 10 minutes ago.
- `few-sessions`: fewer than five sessions have been held since.
- `locked`: another one is under way.
- `closed`: the store was closed before it was its turn, in `Memdir.after_turn`.
"""

NotesOutcome = Literal["done", "skipped", "failed"]
"""What became of an update of the notes of a session.

- `done`: a model has looked at what is new. When it has changed nothing, or was at its limits
  (`ended`), or left it at a call that was refused, the same messages are looked at again when the
  conversation has grown.
- `skipped`: there was nothing to be done; `reason` says why.
- `failed`: it did not come to its end. What was written by then stays, and the same messages are
  looked at again the next time.
"""

NotesSkip = Literal["disabled", "nothing-new", "not-due", "running", "paused", "closed"]
"""Why the notes of a session were not brought up to date.

- `disabled`: memory is off.
- `nothing-new`: no message has come since the last time.
- `not-due`: it is not yet time, see `memdir.rules.session_notes_due`.
- `running`: another update of the same session is under way.
- `paused`: the model's provider had no more to give a moment ago.
- `closed`: the store was closed before it was their turn, in `Memdir.after_turn`.
"""

CompactionReason = Literal["off", "no-notes", "empty-notes", "unreadable", "unknown-message"]
"""Why notes cannot take the place of a conversation, which is compacted with a summary then.

- `off`: memory is off, or `DISABLE_CLAUDE_CODE_SM_COMPACT` is set.
- `no-notes`: there are none.
- `empty-notes`: nothing was written into them yet.
- `unreadable`: they cannot be read; an event says why.
- `unknown-message`: which messages they cover is not known, or the last of them is not in the
  conversation any more.
"""

InstructionSource = Literal["managed", "user", "project", "local", "memory", "team"]
"""Whose instructions they are.

- `managed`: the administrator's of this machine; they cannot be left out.
- `user`: the user's, for all projects.
- `project`: the project's, checked in with it.
- `local`: the user's for this project, not checked in.
- `memory`: the index of the memory; only in the report of a `Context`.
- `team`: that of the team's memory, likewise.
"""

PlaceKind = Literal["file", "rules"]
"""What is looked for at a place: one file, or a folder of rules with its subfolders."""

PlaceSkip = Literal["off", "worktree"]
"""Why a place is not looked at.

- `off`: its source is switched off.
- `worktree`: it belongs to the main repository, and the worktree inside has the same files.
"""

LoadKind = Literal["file", "rule", "import", "settings", "index"]
"""How a file of instructions comes in.

- `file`: it stands at one of the places where instructions are looked for.
- `rule`: it stands in a folder of rules.
- `import`: another one imports it.
- `settings`: it is a text in the administrator's settings.
- `index`: it is the index of a memory.
"""

LoadOutcome = Literal["loaded", "skipped", "conditional"]
"""What became of a file of instructions.

- `loaded`: an agent is shown it.
- `skipped`: it is not; `code` and `message` say why.
- `conditional`: it is about certain files, and comes with them, see `Memdir.instructions_for`.
"""

ContextKind = Literal["instructions", "memory", "index", "team-index"]
"""The parts of what an agent starts with: what people wrote, how memory works, what there is in it,
and what there is in the team's.
"""

Block: type[dict[str, Any]] = dict
"""What the native module makes of a block of a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """What is switched on beyond reading. Everything but `count_uses` is off unless asked for.

    Attributes:
        team: Team memory beside the private one: what is saved without a scope may go there, see
            `memdir.rules.default_scope`.
        extract: Extraction after each turn, see `Memdir.extract`.
        extract_non_interactive: Extraction also where nobody takes part in the conversation.
        one_step: Memories are written without an index line, and the prompt has no index.
        daily_log: Notes go to dated logs: the prompt says so.
        dream: The memory is put in order now and then, see `Memdir.dream`; the setting
            `autoDreamEnabled` decides where there is one.
        extract_every: Turns from one extraction to the next.
        count_uses: How often a memory is recalled is counted in `.memdir` in the store, so that
            what is used ranks higher. False also leaves out of the ranking what others counted
            there.

    """

    team: bool = False
    extract: bool = False
    extract_non_interactive: bool = False
    one_step: bool = False
    daily_log: bool = False
    dream: bool = False
    extract_every: int = 1
    count_uses: bool = True


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """A model to ask.

    Attributes:
        name: `anthropic/` or `openai/` and the name that the provider gives it. `openai/` speaks to
            every server with OpenAI's chat completions.
        api_key: Without it, `ANTHROPIC_API_KEY` or `OPENAI_API_KEY`. Not shown by `repr`.
        base_url: Without it, `ANTHROPIC_BASE_URL` or `OPENAI_BASE_URL`, else the provider's own.
            For `anthropic/` without, for `openai/` with `/v1` at its end.

    """

    name: str
    api_key: str | None = field(default=None, repr=False)
    base_url: str | None = None


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """Whose memory is opened.

    Attributes:
        name: The agent's name, also called its type. Each name has a folder of its own.
        scope: Who shares it.

    """

    name: str
    scope: AgentScope


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamOptions:
    """Where the team's memories are shared. None is completed by the environment, or by git.

    Attributes:
        url: The server's address, without the path of the API; `https://`, but for this very
            machine. Without it, `MEMDIR_TEAM_URL`, then `TEAM_MEMORY_SYNC_URL`.
        token: What the server knows us by, or a function that gives it: called in a thread, once
            for each operation and once more when the server refuses what it gave. With
            `AsyncMemdir` also a coroutine function. Without it, `MEMDIR_TEAM_TOKEN`. Not shown by
            `repr`.
        repository: `owner/repo`. Without it, what the git remote of the project says.
        deletions: What becomes of team memories that were forgotten here.

    """

    url: str | None = None
    token: str | Callable[[], str | Awaitable[str]] | None = field(default=None, repr=False)
    repository: str | None = None
    deletions: TeamDeletions = "keep"


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamSync:
    """What a sync has done. Keys are paths relative to the folder `team/`, with `/`.

    Attributes:
        received: Keys that came from the server and were written here.
        removed: Keys that teammates have deleted and that went to the trash here.
        sent: Keys that went to the server.
        deleted: Keys that were forgotten here and are marked as deleted on the server now.
        conflicts: Keys that both sides had changed: the server's version is in place, ours is kept,
            see `memory.team.conflicts`.
        report: What was left out, and why.

    """

    received: tuple[str, ...]
    removed: tuple[str, ...]
    sent: tuple[str, ...]
    deleted: tuple[str, ...]
    conflicts: tuple[str, ...]
    report: tuple[ReportEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Our version of a memory, kept because a sync has put the server's in its place.

    Attributes:
        id: What it is called; later ones sort after earlier ones.
        path: The memory that it is a version of, relative to the store, with `/`.
        at_ms: When it was kept, in milliseconds since the epoch.
        size: Bytes.

    """

    id: str
    path: str
    at_ms: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictFile:
    """The same with its text.

    Attributes:
        id: What it is called.
        path: The memory that it is a version of, relative to the store, with `/`.
        at_ms: When it was kept, in milliseconds since the epoch.
        content: Our text, whole.

    """

    id: str
    path: str
    at_ms: int
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamStatus:
    """How the team folder stands to the server, by what is known without asking it.

    Attributes:
        repository: `owner/repo`; None when there is neither an option nor a git remote.
        url: Where its memories are; None when no server is known.
        synced_ms: When they were synced last, in milliseconds since the epoch; None for never.
        to_send: Keys that a push would upload, relative to `team/`.
        conflicts: Our versions that are kept until somebody deals with them, oldest first.
        report: What a push would leave out, and why.

    """

    repository: str | None
    url: str | None
    synced_ms: int | None
    to_send: tuple[str, ...]
    conflicts: tuple[Conflict, ...]
    report: tuple[ReportEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedIndex:
    """An index that `memdir.rules.merge_team_index` has made of two.

    Attributes:
        content: The server's version with our changes.
        lost: Whether both sides have written the same entry anew: the server's stands, and ours is
            lost unless it is kept elsewhere.

    """

    content: str
    lost: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPlaces:
    """Where memories are on this machine, for one project; `memory.opened.places` is one.

    Attributes:
        platform: Whose path rules hold.
        store: The store; None when memory is off.
        config_home: Where sessions are kept.
        agents: The folders that hold agents' memories.
        overridden: Whether `CLAUDE_COWORK_MEMORY_PATH_OVERRIDE` has named the store.

    """

    platform: PlatformName
    store: str | None = None
    config_home: str | None = None
    agents: tuple[str, ...] = ()
    overridden: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolClass:
    """What a call of a tool has to do with memory, by `memdir.rules.classify_tool_call`.

    Attributes:
        kind: What its path is.
        action: What is done with it.
        path: The path that decided, as it was given; None when it is nothing to memory.

    """

    kind: PathKind
    action: ToolAction
    path: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretFinding:
    """A secret in a text: where, and of which kind, never what it is.

    Attributes:
        rule: Which rule found it, such as `github-pat`.
        label: What it is, for people.
        line: The line that it begins in, from 1.
        start: Where it begins, in bytes of the UTF-8 text.
        end: Where it ends.

    """

    rule: str
    label: str
    line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellStage:
    """One program of a pipe, by `memdir.rules.read_only_command`.

    It is to be run without a shell, with a fixed `PATH` and no environment. What the one before
    prints is its input; the first has none.

    Attributes:
        argv: The program's name and its words.
        paths: The words, or parts of them, that name a file or folder, as they are written:
            relative ones lie in the folder that the program runs in, and a program that is given
            none may look at that folder. Below these no link is followed, but by `diff`, when one
            of them is a folder.

    """

    argv: tuple[str, ...]
    paths: tuple[str, ...]


class EnabledSettings(TypedDict, total=False):
    """`autoMemoryEnabled` of each settings file; one that is missing or None says nothing.

    Attributes:
        policy: Managed settings of the machine.
        flag: The settings passed when opening.
        local: `.claude/settings.local.json`.
        project: `.claude/settings.json`, which comes with the repository.
        user: The user's `settings.json`.

    """

    policy: bool | None
    flag: bool | None
    local: bool | None
    project: bool | None
    user: bool | None


class DirectorySettings(TypedDict, total=False):
    """`autoMemoryDirectory` of each settings file; as `EnabledSettings`."""

    policy: str | None
    flag: str | None
    local: str | None
    project: str | None
    user: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryHeader:
    """One memory as listed by a scan.

    Attributes:
        path: Relative to the store, with `/`.
        name: From the frontmatter.
        description: From the frontmatter.
        type: From the frontmatter, when it is one of the four.
        scope: By its place: `team/` or not.
        pinned: From the frontmatter.
        modified_ms: The frontmatter's `modified` time.
        mtime_ms: The file's modification time.
        size: Bytes.

    """

    path: str
    name: str | None
    description: str | None
    type: MemoryType | None
    scope: MemoryScope
    pinned: bool
    modified_ms: int | None
    mtime_ms: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportEntry:
    """One thing that was skipped, cut or repaired.

    Attributes:
        path: Relative to the store, with `/`; empty for the store itself.
        code: Stable, in kebab-case, such as `link-dangling`.
        message: One line: what, and what to do.

    """

    path: str
    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """What a scan found.

    Attributes:
        memories: Newest first, by modification time; at equal times by path.
        report: By path.

    """

    memories: tuple[MemoryHeader, ...]
    report: tuple[ReportEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFile:
    """One memory with its text.

    Attributes:
        header: What a scan says of it.
        content: The whole text as it stands in the file, frontmatter included.
        body: The text below the frontmatter, without line ends around it: what `save` takes.
        hash: `sha256:` and 64 hex digits of the file: what `save` and `forget` can expect.

    """

    header: MemoryHeader
    content: str
    body: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteResult:
    """What came of saving, forgetting or bringing back a memory.

    Attributes:
        outcome: How it ended.
        path: The memory, relative to the store, with `/`; None when it was refused before there was
            one, or when it holds a secret.
        absolute_path: The same for tools that read files.
        hash: `sha256:` and 64 hex digits of the file as it is now; None when there is none.
        created: Whether the file is new.
        index_changed: Whether a MEMORY.md was changed.
        code: Why nothing was written: a code of errors, such as `exists` for a conflict; None
            otherwise.
        message: The same in one line, with what to do; None otherwise.
        report: What else should be known, such as an index near its limits.

    """

    outcome: WriteOutcome
    path: str | None
    absolute_path: str | None
    hash: str | None
    created: bool
    index_changed: bool
    code: str | None
    message: str | None
    report: tuple[ReportEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryChanges:
    """What is to change in a memory, as `memdir.rules.update_memory` takes it; None keeps it.

    Attributes:
        name: It is trimmed, and must not be empty then.
        description: It is trimmed; empty takes it away.
        type: One of the four.
        modified: An ISO 8601 date-time; it is written only where there is a frontmatter.
        body: Markdown. Line ends at its beginning and end do not count; empty takes it away.

    """

    name: str | None = None
    description: str | None = None
    type: MemoryType | None = None
    modified: str | None = None
    body: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexEntry:
    """What an index says of a memory, as `memdir.rules.update_index` takes it.

    Attributes:
        name: The text of the link; the path when it is empty.
        description: What follows it; None for nothing.

    """

    name: str
    description: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """A text as it is to be written.

    Attributes:
        content: The whole new text.
        changed: Whether it differs from the old one.

    """

    content: str
    changed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a tool of the agent gave.

    Attributes:
        tool: Its name.
        ok: Whether it succeeded; None while it runs.

    """

    tool: str
    ok: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallState:
    """What a conversation has been shown already: for the agent to keep and to pass on.

    After a compaction the agent makes a new one of what is left in the conversation; then memories
    that went away can be recalled again. `dataclasses.asdict` gives what JSON can hold, and
    `RecallState(**it)` takes that again.

    Attributes:
        surfaced: The memories that were shown, relative to the store. It may be given as any
            sequence.
        bytes: Bytes of their contents as shown.

    """

    surfaced: tuple[str, ...] = ()
    bytes: int = 0

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            surfaced: Sequence[str] = (),
            bytes: int = 0,  # noqa: A002 - as the field
        ) -> None: ...

    def __post_init__(self) -> None:
        """Store a tuple."""
        object.__setattr__(self, "surfaced", _check.texts("surfaced", self.surfaced))


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalledMemory:
    """One memory as shown.

    Attributes:
        path: Relative to the store, with `/`.
        absolute_path: The same for tools that read files.
        mtime_ms: The file's modification time.
        header: What a scan says of it.
        age_days: Whole days since it was written, never negative.
        age: `today`, `yesterday`, `3 days ago`.
        warning: What to keep in mind when using it; None while it is fresh.
        content: The beginning of the file, frontmatter included, as far as it is shown.
        note: What was cut and where the rest is; None when nothing was.
        reason: Who chose it.
        score: How well its words fit, to be compared within one answer; None when they do not.
        text: All of it for the agent's model: header, warning, content, note.

    """

    path: str
    absolute_path: str
    mtime_ms: int
    header: MemoryHeader
    age_days: int
    age: str
    warning: str | None
    content: str
    note: str | None
    reason: RecallReason
    score: float | None
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """What a recall found.

    Attributes:
        memories: The best first.
        report: What was skipped, cut or repaired, by path.
        state: To be passed to the next recall of this conversation.

    """

    memories: tuple[RecalledMemory, ...]
    report: tuple[ReportEntry, ...]
    state: RecallState

    def render(self) -> str:
        """Give what the agent's model is shown: the texts of all memories, a blank line between.

        The same to the byte in every later turn. Empty when nothing was recalled.
        """
        return "\n\n".join(memory.text for memory in self.memories)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelMessage:
    """One message of what a model is asked.

    Attributes:
        role: Whose it is.
        content: Its text.

    """

    role: Role
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """What a model is asked once.

    Attributes:
        purpose: What it is for; today only `select-memories`.
        system: The system prompt.
        messages: The conversation, ending with the user's turn.
        max_tokens: Of the answer.
        schema: The JSON schema of the answer; None for free text.

    """

    purpose: str
    system: str
    messages: tuple[ModelMessage, ...]
    max_tokens: int
    schema: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDefinition:
    """A tool that a model may call; `dataclasses.asdict` gives it in Anthropic's form.

    Attributes:
        name: What the model calls it by.
        description: What it does, for the model.
        input_schema: The JSON schema of its input.

    """

    name: str
    description: str
    input_schema: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallResult:
    """What a call of a tool gave, as `memdir.rules.encode_tool_request` takes it.

    Attributes:
        id: That of the call.
        name: That of the tool.
        content: For the model.
        is_error: Whether it failed. Not every provider is told so: the content says it too.

    """

    id: str
    name: str
    content: str
    is_error: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolTurn:
    """An answer of a model, and what its calls gave.

    Attributes:
        answer: `answer` of the `ToolAnswer`.
        results: One for each call, in their order.

    """

    answer: str
    results: tuple[CallResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRequest:
    """What a model with tools is asked next, as `memdir.rules.encode_tool_request` takes it.

    Attributes:
        purpose: What it is for, such as `extract-memories`.
        prefix: The request that another conversation would send next, as JSON text in the
            provider's own form: an object with a list `messages`, and `system`, `tools`, `thinking`
            or whatever else it has. This conversation goes on behind its messages. None for one
            that stands alone.
        system: The system prompt; with a prefix it is not used, as that has its own.
        tools: With a prefix, those that are to be put behind its own, which moves everything out of
            the cache: none when its own will do. One whose name is there already is left out.
        prompt: The user's turn that this conversation begins with.
        turns: What came since.
        max_tokens: Of the next answer; thinking that a prefix has a budget for is not counted.

    """

    purpose: str
    prefix: str | None = None
    system: str
    tools: tuple[ToolDefinition, ...] = ()
    prompt: str
    turns: tuple[ToolTurn, ...] = ()
    max_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call of a tool.

    Attributes:
        id: What its result names.
        name: The tool, maybe one that does not exist.
        input: JSON text as the model wrote it, so maybe broken or no object.

    """

    id: str
    name: str
    input: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens that answers cost. What a provider did not say is 0.

    Attributes:
        input: Read, without those of the cache.
        output: Written by the model.
        cached: Read from the prompt cache.
        written: Put into the prompt cache; read, but not among `input`.

    """

    input: int = 0
    output: int = 0
    cached: int = 0
    written: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer:
    """What a model with tools answered. Neither text nor calls: it has nothing to say.

    Attributes:
        text: What it said, maybe nothing.
        calls: What it wants to be done; without any it is done.
        answer: The answer as a message of the conversation, JSON text to send back as it is:
            thinking in it is signed.
        usage: What it cost.
        is_cut: Whether it ended because there was no room for more, so that its last call may be
            incomplete.

    """

    text: str
    calls: tuple[ToolCall, ...]
    answer: str
    usage: Usage
    is_cut: bool


class Message(TypedDict):
    """One message between an agent and its model: data in the form that SDKs have, and JSON.

    Other keys mean nothing.

    Attributes:
        id: What it is recognised by, also after a compaction; without one it is recognised by what
            it says.
        role: Whose it is.
        content: A text, or a list of blocks as in Anthropic's Messages API, of which `text`,
            `tool_use` and `tool_result` matter. Blocks of that API's SDK may be among them.
        isMeta: Whether the agent's program wrote it instead of a person or a model.
        tokens: How many tokens it takes, where that is known.

    """

    id: NotRequired[str | None]
    role: Role
    content: str | Sequence[Any]
    isMeta: NotRequired[bool]
    tokens: NotRequired[int | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """The end of a conversation.

    Attributes:
        messages: The newest messages, oldest first.
        left_out: How many older ones there were.
        report: What could not be read, one entry for each kind.

    """

    messages: tuple[Message, ...]
    left_out: int
    report: tuple[ReportEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionState:
    """How far the extractions of a conversation have come: to be kept over a restart.

    `dataclasses.asdict` gives what JSON can hold, and `ExtractionState(**it)` takes that again.

    Attributes:
        cursor: The last message that was looked at.
        turns: Turns since then that were left out because of `Features.extract_every`.

    """

    cursor: str | None = None
    turns: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionGate:
    """What decides besides the messages, as `memdir.rules.decide_extraction` takes it.

    Attributes:
        agent: Whose conversation it is.
        interactive: Whether a person takes part.
        remote: Whether it runs on somebody else's machine.
        extract: `Features.extract`.
        extract_non_interactive: `Features.extract_non_interactive`.
        every: `Features.extract_every`: 1 for every turn.
        running: Whether an extraction of this conversation is under way.
        trailing: Whether one has just ended, and this is what came meanwhile.
        places: Where memories are; None when memory is off.

    """

    agent: AgentRole
    interactive: bool
    remote: bool
    extract: bool
    extract_non_interactive: bool
    every: int
    running: bool
    trailing: bool
    places: MemoryPlaces | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionDecision:
    """What is to be done at the end of a turn, and why.

    Attributes:
        verdict: What is to be done.
        reason: Why nothing is; None otherwise.
        state: How far the extractions have come now. One that runs moves the cursor when it has
            succeeded.
        new_messages: How many messages are new, of users and assistants.
        last: The last message, where the cursor goes.

    """

    verdict: Verdict
    reason: Skip | None
    state: ExtractionState
    new_messages: int
    last: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """What became of an extraction.

    Attributes:
        outcome: What became of it.
        reason: Why it was skipped; None otherwise.
        paths: The memories that were written, relative to the store, without indexes.
        removed: Those that were removed.
        notice: What a user is told, `Memory updated in ...`; None when nothing was changed.
        inbox: The proposals in which the changes wait, of runs that are reviewed.
        turns: How many turns the model took.
        ended: How the run ended; None when there was none.
        usage: The tokens that it took.
        code: Why it failed: a code of errors; None otherwise.
        message: The same for a person; None otherwise.
        state: How far it has come, for `state` of the next one after a restart.
        report: What else should be known.

    """

    outcome: ExtractionOutcome
    reason: Skip | None
    paths: tuple[str, ...]
    removed: tuple[str, ...]
    notice: str | None
    inbox: tuple[str, ...]
    turns: int
    ended: RunEnd | None
    usage: Usage
    code: str | None
    message: str | None
    state: ExtractionState
    report: tuple[ReportEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionTask:
    """What somebody's own model is to do.

    Attributes:
        run: The number of the run.
        system: The system prompt for a conversation of its own.
        prompt: The user's turn: what is to be done. It is for a fork of the conversation when the
            extraction was given a `request`, and holds the messages otherwise.
        tools: The tools that are to be added to those of the conversation.
        max_turns: How many turns the model may take.
        max_tokens: How many tokens it may take.

    """

    run: int
    system: str
    prompt: str
    tools: tuple[ToolDefinition, ...]
    max_turns: int
    max_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionStep:
    """Where an extraction stands that somebody's own model makes: one of the two is there.

    Attributes:
        task: What is to be run next.
        result: What came of it, when there is nothing more to run.

    """

    task: ExtractionTask | None
    result: Extraction | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolReply:
    """What a call of a tool is answered with.

    Attributes:
        content: For the model.
        is_error: Whether the call was denied or failed.

    """

    content: str
    is_error: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """What became of a run that somebody's own model has made.

    Attributes:
        error: Why it failed; None when it came to its end.
        turns: How many turns it took.
        usage: The tokens that it took.

    """

    error: str | None = None
    turns: int = 0
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxChange:
    """What is to become of one file.

    Attributes:
        path: Relative to the store, with `/`.
        kind: What kind of change.
        diff: From what the run saw to what it proposes: a unified diff with three lines of context,
            its headers `a/PATH` and `b/PATH` or `/dev/null`; empty when no line differs.
        added: Lines that come.
        removed: Lines that go.
        is_stale: Whether the file is neither what the run saw nor what it proposes: applying is a
            conflict then, but for an index, which is merged.

    """

    path: str
    kind: InboxChangeKind
    diff: str
    added: int
    removed: int
    is_stale: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxItem:
    """One proposal of a background run.

    Attributes:
        id: What it is called; later ones come after earlier ones.
        purpose: What the run was for: `extract`.
        at_ms: When it ended, in milliseconds since the epoch; 0 without a clock.
        changes: What still waits of it.

    """

    id: str
    purpose: str
    at_ms: int
    changes: tuple[InboxChange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbox:
    """What waits for a person.

    Attributes:
        items: Oldest first.
        report: Files of the inbox that are no proposals (`inbox-damaged`).

    """

    items: tuple[InboxItem, ...]
    report: tuple[ReportEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxResult:
    """What came of applying a proposal.

    Attributes:
        results: One for each change that was tried, memories first. What ended with `conflict` or
            `refused` stays in the inbox.
        left: The paths that still wait: those, what was not chosen, and an index as long as a
            memory waits whose lines it changes.

    """

    results: tuple[WriteResult, ...]
    left: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamGate:
    """What decides whether it is time to dream, as `memdir.rules.decide_dream` takes it.

    Attributes:
        dream: The setting `autoDreamEnabled`; when nothing says so, `Features.dream`.
        enabled: Whether memory is on.
        remote: Whether it runs on somebody else's machine.
        daily_log: `Features.daily_log`.
        now_ms: Now, in milliseconds since the epoch.
        last_ms: When the last one succeeded; None when none has.
        counted_ms: When this process has counted sessions last; None when it has not.
        sessions: Sessions that were held since the last one, without the current one; None before
            they are counted.

    """

    dream: bool
    enabled: bool
    remote: bool
    daily_log: bool
    now_ms: int
    last_ms: int | None = None
    counted_ms: int | None = None
    sessions: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dream:
    """What became of a dream.

    Attributes:
        outcome: What became of it.
        reason: Why it was skipped; None otherwise.
        id: What it is called, for `Memdir.undo_dream` to say which it took back; None when nothing
            was changed.
        improved: The memories that were changed or made, relative to the store, without indexes.
        removed: Those that were removed.
        conflicts: What was to be changed and was not, because somebody else had changed it
            meanwhile; and removals then, as in a run that its turns or tokens cut, since what goes
            may stand nowhere else yet.
        notice: What a user is told, `Improved 3 memories`; None when nothing was changed.
        changes: What would be changed, of a dry run.
        sessions: How many sessions there were to look at.
        turns: How many turns the model took.
        ended: How the run ended; None when there was none.
        usage: The tokens that it took.
        code: Why it failed: a code of errors; None otherwise.
        message: The same for a person; None otherwise.
        report: What else should be known.

    """

    outcome: DreamOutcome
    reason: Awake | None
    id: str | None
    improved: tuple[str, ...]
    removed: tuple[str, ...]
    conflicts: tuple[str, ...]
    notice: str | None
    changes: tuple[InboxChange, ...]
    sessions: int
    turns: int
    ended: RunEnd | None
    usage: Usage
    code: str | None
    message: str | None
    report: tuple[ReportEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamUndone:
    """What came of taking a dream back.

    Attributes:
        id: Which one; None when there is none to take back.
        restored: What is as it was before.
        conflicts: What somebody has changed since, and stays as it is.

    """

    id: str | None
    restored: tuple[str, ...]
    conflicts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NotesState:
    """How far the notes of a session have come: to be kept over a restart.

    `dataclasses.asdict` gives what JSON can hold, and `NotesState(**it)` takes that again.

    Attributes:
        last_tokens: The tokens that the conversation had at the last update, without those of
            messages that were left to the next one; None before the first one.
        cursor: The last message that an update has looked at which came to its end. What comes
            behind it is shown to the next one.
        last_summarised: The last message of which the notes have what matters: the end of a turn,
            and not behind `cursor`. None as long as there is none.

    """

    last_tokens: int | None = None
    cursor: str | None = None
    last_summarised: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NotesSection:
    """How long one section of notes is.

    Attributes:
        heading: Its heading; empty for what stands before the first one.
        tokens: Its tokens, estimated, the heading included.
        is_over: Whether it is longer than it should be (2,000 tokens).

    """

    heading: str
    tokens: int
    is_over: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NotesMeasure:
    """How long notes are.

    Attributes:
        tokens: Tokens of the whole, estimated.
        sections: Its parts, in their order.
        is_over: Whether the whole is longer than it should be (12,000 tokens).

    """

    tokens: int
    sections: tuple[NotesSection, ...]
    is_over: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NotesResult:
    """What became of an update of the notes of a session.

    Attributes:
        outcome: What became of it.
        reason: Why it was skipped; None otherwise.
        path: The file of the notes, absolute; None when memory is off.
        changed: Whether the notes are others than before.
        turns: How many turns the model took.
        ended: How the run ended; None when there was none.
        usage: The tokens that it took.
        code: Why it failed: a code of errors; None otherwise.
        message: The same for a person; None otherwise.
        over_limit: The sections that are longer than they should be; the next update is told to
            shorten them.
        state: How far it has come, for `state` of the next one after a restart.
        report: What else should be known, such as what looks like a secret.

    """

    outcome: NotesOutcome
    reason: NotesSkip | None
    path: str | None
    changed: bool
    turns: int
    ended: RunEnd | None
    usage: Usage
    code: str | None
    message: str | None
    over_limit: tuple[NotesSection, ...]
    state: NotesState
    report: tuple[ReportEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """What comes in place of a conversation: the notes, and its messages from a place on.

    Attributes:
        notes: The notes, sections that are far too long cut; None when they cannot be used.
        keep_from: The index of the first message that stays, the number of messages when none does;
            None without notes.
        reason: Why there are no notes; None otherwise.
        tokens: Tokens of the notes and of what stays. An agent that would have to compact these too
            does better with a summary.

    """

    notes: str | None
    keep_from: int | None
    reason: CompactionReason | None
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateValues:
    """What `memdir.rules.fill_template` fills in.

    Attributes:
        current_notes: For `{{currentNotes}}`.
        notes_path: For `{{notesPath}}`.

    """

    current_notes: str = ""
    notes_path: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AfterTurn:
    """What was done after a turn.

    Attributes:
        extraction: What became of the extraction.
        notes: What became of the notes; None without a session.
        dream: What became of the dream.

    """

    extraction: Extraction
    notes: NotesResult | None
    dream: Dream


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportTarget:
    """One import as it is written.

    Attributes:
        target: What is imported, without the `@` and without what follows a `#`.
        certain: Whether it can only mean a file. What may as well be a name, such as
            `@scope/package`, is an import where there is such a file.

    """

    target: str
    certain: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedInstructions:
    """What one file of instructions says.

    Attributes:
        text: What an agent is shown; imports stay in it as they are written.
        imports: What it imports, in order, each once.
        paths: The patterns of the files that it is about; None when it is about all.
        problems: What could not be read as it was meant: codes of reports.

    """

    text: str
    imports: tuple[ImportTarget, ...]
    paths: tuple[str, ...] | None
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedImport:
    """Where an import leads.

    Attributes:
        path: Absolute and normalised.
        is_text: Whether it may be text by its name: a known extension, or none.

    """

    path: str
    is_text: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionPlace:
    """One place where instructions may be.

    Attributes:
        path: Absolute.
        source: Whose they are.
        kind: A file, or a folder of rules.
        skipped: Why it is not looked at; None when it is.

    """

    path: str
    source: InstructionSource
    kind: PlaceKind
    skipped: PlaceSkip | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadNote:
    """Something that a person should know of a file of instructions that was read.

    Attributes:
        code: A code of reports, such as `instructions-large`.
        message: What, and what to do, in one line.

    """

    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadEntry:
    """What became of one file of instructions that was considered.

    Attributes:
        path: Absolute; an import that leads nowhere is named as it is written.
        source: Whose it is.
        kind: How it comes in.
        outcome: What became of it.
        code: Why it was skipped, a code of reports such as `needs-approval`; None otherwise.
        message: The same for a person, and what to do about it; None otherwise.
        parent: The file that imports it; None for others.
        depth: How many imports lead to it.
        bytes: Its size in bytes, where that is known.
        lines: Its lines, where it was read.
        globs: The patterns of the files that it is about; None when it is about all.
        notes: What else there is to know of one that was read.

    """

    path: str
    source: InstructionSource
    kind: LoadKind
    outcome: LoadOutcome
    code: str | None
    message: str | None
    parent: str | None
    depth: int
    bytes: int | None
    lines: int | None
    globs: tuple[str, ...] | None
    notes: tuple[LoadNote, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionFile:
    """One file of instructions that was loaded.

    Attributes:
        path: Absolute; for a text in settings the file that it stands in.
        source: Whose it is.
        kind: How it came in.
        text: What is shown of it; empty for an empty file.
        parent: The file that imports it; None for others.
        globs: The patterns of the files that it is about; None when it is about all.
        differs: Whether less is shown than stands in the file, so that an agent must read it before
            it edits it.

    """

    path: str
    source: InstructionSource
    kind: LoadKind
    text: str
    parent: str | None
    globs: tuple[str, ...] | None
    differs: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Instructions:
    """What people have written for an agent, or what of it comes with one file.

    Attributes:
        text: What an agent is shown; empty when there is nothing.
        files: What was loaded, in order: what comes later has more weight.
        report: What became of every file that was considered, in the same order.

    """

    text: str
    files: tuple[InstructionFile, ...]
    report: tuple[LoadEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPart:
    """One part of what an agent starts with.

    Attributes:
        kind: Which one.
        text: Its text.

    """

    kind: ContextKind
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Everything that an agent should start with.

    Attributes:
        text: All parts, one after the other; empty when there is nothing.
        parts: The parts that there are, in order.
        report: What became of every file that was considered, indexes included.

    """

    text: str
    parts: tuple[ContextPart, ...]
    report: tuple[LoadEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """One HTTP header.

    Attributes:
        name: In lower case.
        value: As it stands on the wire. Not shown by `repr`: it may be a key.

    """

    name: str
    value: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelHttp:
    """A request to a model as it goes over the wire, a POST.

    Attributes:
        url: The address.
        headers: The key is in one of them.
        body: JSON.

    """

    url: str
    headers: tuple[Header, ...]
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What a model chose.

    Attributes:
        paths: Among the candidates, each once, at most five.
        dropped: What else it named: what is no candidate, and what is over five.

    """

    paths: tuple[str, ...]
    dropped: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One thing that a query asks for: a word, an identifier, a piece of a text without blanks.

    Attributes:
        whole: What it is found by as a whole; None when that stands in any text.
        parts: What else it is found by: the parts of an identifier, the pieces of a word. A piece
            of three letters begins with `~`.

    """

    whole: str | None
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedMemory:
    """One memory, as `memdir.rules.rank_memories` takes it.

    Attributes:
        path: Relative to the store, with `/`.
        text: All of it.
        age_days: Whole days since it was written.
        uses: How often it was recalled.

    """

    path: str
    text: str
    age_days: int = 0
    uses: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A memory that a query found.

    Attributes:
        path: As it was given.
        score: How well it fits, rounded to thousandths, to be compared within one answer.

    """

    path: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CutMemory:
    """A memory as far as it is shown.

    Attributes:
        content: Its beginning, of whole lines unless the first one is too long by itself.
        lines: Lines of `content`.
        note: What was cut and where the rest is, one line for the model; None when nothing was.

    """

    content: str
    lines: int
    note: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """What opening a store found.

    Attributes:
        directory: Absolute, normalised, with one trailing separator.
        enabled: Whether memory is on. When it is off, nothing is read, written or created.
        because: What decided whether it is on.
        chosen_by: What named the directory.
        chosen_file: The settings file that did, if one did.
        project_key: The project's folder name, when the default place was taken.
        project_root: The root of the project; None when a directory was given.
        refused: What named a directory and was not followed.
        places: What tells paths and calls of tools that concern memory from others.
        report: What was wrong on the way: settings files that cannot be read, a colliding slug.

    """

    directory: str
    enabled: bool
    because: EnabledBecause
    chosen_by: Source
    chosen_file: str | None
    project_key: str | None
    project_root: str | None
    refused: tuple[Refused, ...]
    places: MemoryPlaces
    report: tuple[ReportEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Something that named a directory and was not followed.

    Attributes:
        source: Where it stands.
        code: Why not: a code of errors.

    """

    source: Source
    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Where a project's store is, and why there.

    Attributes:
        directory: Absolute, normalised, with one trailing separator.
        chosen_by: What named it.
        project_key: The project's folder name, when the default place was taken.
        refused: What would have come first and was not acceptable.

    """

    directory: str
    chosen_by: Source
    project_key: str | None
    refused: tuple[Refused, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Enabled:
    """Whether memory is on.

    Attributes:
        enabled: Off means: nothing read, written, created or called.
        because: What decided.

    """

    enabled: bool
    because: EnabledBecause


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsProblem:
    """One thing that is wrong with a settings file.

    Attributes:
        code: What kind of thing.
        key: The key it is about, if it is about one.

    """

    code: SettingsProblemCode
    key: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What one settings file says about memory.

    Attributes:
        auto_memory_enabled: Whether memory is on.
        auto_memory_directory: Where the store is.
        auto_dream_enabled: Whether it dreams by itself; when nothing says so, `Features.dream`
            decides.
        problems: What is wrong with the file; the rest of it still counts.

    """

    auto_memory_enabled: bool | None
    auto_memory_directory: str | None
    auto_dream_enabled: bool | None
    problems: tuple[SettingsProblem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryAge:
    """How old a memory is.

    Attributes:
        days: Whole days, never negative.
        text: `today`, `yesterday`, `3 days ago`.
        warning: What to keep in mind when using it; None while it is fresh.

    """

    days: int
    text: str
    warning: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is wrong with a store.

    Attributes:
        path: Relative to the store, with `/`; empty for the store itself.
        line: 1-based, when it is about one line.
        code: A code of reports, such as `index-link-broken`.
        severity: How bad it is.
        message: What is wrong, in one line.
        remedy: What to do about it, in one line.

    """

    path: str
    line: int | None
    code: str
    severity: Severity
    message: str
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lint:
    """What is wrong with a store.

    Attributes:
        findings: By path, line and code.

    """

    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LintMemory:
    """One memory, as `memdir.rules.lint_memories` takes it.

    Attributes:
        path: Relative to the store, with `/`.
        text: All of it.

    """

    path: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Truncation:
    """The index as far as it fits.

    Attributes:
        content: A prefix of the trimmed text, within both limits.
        warning: One line that says what was exceeded; None when nothing was.
        lines: Lines of the trimmed text, 0 when it is empty.
        bytes: Bytes of the trimmed text.
        lines_cut: Whether the trimmed text has more lines than the limit.
        bytes_cut: Whether the trimmed text has more bytes than the limit.
        lost: Names of the entries that are not wholly in `content`.

    """

    content: str
    warning: str | None
    lines: int
    bytes: int
    lines_cut: bool
    bytes_cut: bool
    lost: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong with a frontmatter block.

    Attributes:
        code: A code of reports, such as `unknown-type`.
        line: 1-based line of the file, when it is about one.
        message: One line: what, and what to do.

    """

    code: str
    line: int | None
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontmatter:
    """What the frontmatter of a memory says.

    Attributes:
        found: Whether the text begins with a closed block.
        name: Trimmed; None when missing, empty or no text.
        description: Trimmed; None when missing, empty or no text.
        type: When it is exactly one of the four.
        modified: As written.
        modified_ms: The same, when it is an ISO 8601 date-time.
        pinned: When it is YAML's true.
        body: Where the body begins, in UTF-8 bytes of the text.
        problems: What was cut, repaired or given up.

    """

    found: bool
    name: str | None
    description: str | None
    type: MemoryType | None
    modified: str | None
    modified_ms: int | None
    pinned: bool
    body: int
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorInfo:
    """One row of the table of errors.

    Attributes:
        code: Stable, in kebab-case; `.code` of the exception.
        family: Which exception class it is raised as.
        example: A typical message.

    """

    code: str
    family: ErrorFamily
    example: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something worth knowing while an operation runs.

    Attributes:
        kind: `warning`; `team-sync` when `memory.team.watch` has synced something;
            `extract-memories` when `extract` begins a turn of its model, or has changed memories;
            `session-notes` when an update of notes begins a turn; `dream` when `dream` begins one,
            is at a file (with the code `updating`), tells what its model says in a turn (with the
            code `said`), or has changed memories;
            `instructions` when a file of instructions is loaded for the first time, or has changed.
        path: Relative to the store, when it is about one file; absolute for `instructions`.
        code: A code of reports, when it is about something cut or skipped; for `instructions` why
            the file was loaded: `session-start`, `compact`, `include` (another one imports it),
            `path-glob-match` or `nested-traversal` (it came with a file that was touched). For
            `dream`, `updating` or `said`, if any.
        message: One line in plain words; how many memories went which way for `team-sync`.

    """

    kind: str
    path: str | None
    code: str | None
    message: str
