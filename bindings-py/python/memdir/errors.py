"""The exceptions. Decide by `.code`; the codes with an example each: `memdir.rules.error_table()`.

One class for each family of codes. Which code belongs to which family only the core knows.
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "FAMILIES",
    "EngineError",
    "HostError",
    "InputError",
    "MemdirError",
    "ModelError",
    "PathError",
    "TeamError",
]


class MemdirError(Exception):
    """Everything that memdir raises on purpose.

    Attributes:
        code: Stable, in kebab-case.
        path: The file or folder it is about, if it is about one.

    """

    code: str
    path: str | None

    def __init__(self, message: str, *, code: str = "internal", path: str | None = None) -> None:
        """Make one; memdir itself does this in its native module."""
        super().__init__(message)
        self.code = code
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        """Keep code and path over a pickle, as between processes."""
        return _restore, (type(self), str(self), self.code, self.path)


def _restore(error: type[MemdirError], message: str, code: str, path: str | None) -> MemdirError:
    return error(message, code=code, path=path)


class EngineError(MemdirError):
    """How the operation was driven: cancelled, a broken contract, a defect of memdir."""


class InputError(MemdirError, ValueError):
    """What was passed in."""


class PathError(MemdirError, ValueError):
    """A path that a rule refuses."""


class HostError(MemdirError, OSError):
    """What the operating system or the network answered."""


class ModelError(MemdirError):
    """What a language model or its provider answered, or that there is none."""


class TeamError(MemdirError):
    """What the team's server answered, or what is missing to ask it."""


FAMILIES: Final[dict[str, type[MemdirError]]] = {
    "engine": EngineError,
    "input": InputError,
    "path": PathError,
    "host": HostError,
    "model": ModelError,
    "team": TeamError,
}
"""The class of each family; the native module raises by it."""
