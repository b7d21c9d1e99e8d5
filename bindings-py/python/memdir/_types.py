"""What comes out: one frozen dataclass for each record of the core, under the same name.

The native module makes them from the core's own types by name, so a field that is missing here
fails loudly. All texts are valid Unicode, times are whole milliseconds since the epoch, offsets and
sizes are bytes of UTF-8.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MemoryType = Literal["user", "feedback", "project", "reference"]
"""The four types of memory."""

MemoryScope = Literal["private", "team"]
"""Who sees a memory."""

PlatformName = Literal["posix", "windows"]
"""Whose path rules hold."""

ErrorFamily = Literal["engine", "input", "path", "host"]
"""Which exception class a code belongs to."""


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

    """

    header: MemoryHeader
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """What opening a store found.

    Attributes:
        directory: Absolute, normalised, with one trailing separator.
        enabled: Whether memory is on. When it is off, nothing is read, written or created.

    """

    directory: str
    enabled: bool


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
        kind: What kind of event, such as `warning`.
        path: Relative to the store, when it is about one file.
        code: A code of reports, when it is about something cut or skipped.
        message: One line in plain words.

    """

    kind: str
    path: str | None
    code: str | None
    message: str
