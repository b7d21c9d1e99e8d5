"""File-based long-term memory for AI agents.

A store is a folder of Markdown files. `Memdir` reads it with blocking calls, `AsyncMemdir` with
asyncio; both drive the same core, so they see the same memories. The rules that need no store are
in `memdir.rules`, the exceptions in `memdir.errors`.
"""

from memdir import rules
from memdir._core import __version__
from memdir._memdir import AsyncMemdir, Memdir
from memdir._types import (
    Choice,
    DirectorySettings,
    Enabled,
    EnabledBecause,
    EnabledSettings,
    ErrorInfo,
    Event,
    Features,
    Finding,
    Frontmatter,
    Lint,
    LintMemory,
    MemoryAge,
    MemoryFile,
    MemoryHeader,
    MemoryScope,
    MemoryType,
    Opened,
    PlatformName,
    Problem,
    Refused,
    ReportEntry,
    Scan,
    Settings,
    SettingsProblem,
    SettingsProblemCode,
    Severity,
    Source,
    Truncation,
)
from memdir.errors import EngineError, HostError, InputError, MemdirError, PathError

__all__ = [
    "AsyncMemdir",
    "Choice",
    "DirectorySettings",
    "Enabled",
    "EnabledBecause",
    "EnabledSettings",
    "EngineError",
    "ErrorInfo",
    "Event",
    "Features",
    "Finding",
    "Frontmatter",
    "HostError",
    "InputError",
    "Lint",
    "LintMemory",
    "Memdir",
    "MemdirError",
    "MemoryAge",
    "MemoryFile",
    "MemoryHeader",
    "MemoryScope",
    "MemoryType",
    "Opened",
    "PathError",
    "PlatformName",
    "Problem",
    "Refused",
    "ReportEntry",
    "Scan",
    "Settings",
    "SettingsProblem",
    "SettingsProblemCode",
    "Severity",
    "Source",
    "Truncation",
    "__version__",
    "rules",
]
