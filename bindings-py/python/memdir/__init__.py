"""File-based long-term memory for AI agents.

A store is a folder of Markdown files. `Memdir` reads it with blocking calls, `AsyncMemdir` with
asyncio; both drive the same core, so they see the same memories. The rules that need no store are
in `memdir.rules`, the exceptions in `memdir.errors`.
"""

from memdir import rules
from memdir._core import __version__
from memdir._memdir import AsyncMemdir, Memdir
from memdir._types import (
    ErrorInfo,
    Event,
    Frontmatter,
    MemoryFile,
    MemoryHeader,
    MemoryScope,
    MemoryType,
    Opened,
    PlatformName,
    Problem,
    ReportEntry,
    Scan,
    Truncation,
)
from memdir.errors import EngineError, HostError, InputError, MemdirError, PathError

__all__ = [
    "AsyncMemdir",
    "EngineError",
    "ErrorInfo",
    "Event",
    "Frontmatter",
    "HostError",
    "InputError",
    "Memdir",
    "MemdirError",
    "MemoryFile",
    "MemoryHeader",
    "MemoryScope",
    "MemoryType",
    "Opened",
    "PathError",
    "PlatformName",
    "Problem",
    "ReportEntry",
    "Scan",
    "Truncation",
    "__version__",
    "rules",
]
