"""The forms in which effects come and outcomes go back to the core."""

from __future__ import annotations

from typing import Any, TypeAlias

from memdir import _core

Json: TypeAlias = dict[str, Any]
"""A record in the shape of the core's JSON, with bytes for bytes."""

Outcome: TypeAlias = Json | str
"""`"done"`, or a dict with one key that names the kind."""

DONE: Outcome = "done"


def failed(code: str, message: str) -> Outcome:
    """Say that an effect could not be done; `code` is one of the closed list."""
    # Half of a surrogate pair, which the core takes for no text, becomes a question mark.
    return {"failed": {"code": code, "message": message.encode(errors="replace").decode()}}


def shown(error: BaseException) -> str:
    """Give the class and the message of an exception, whatever its own methods do."""
    name = type(error).__name__
    try:
        return f"{name}: {error}"
    except Exception:  # noqa: BLE001 - the exception is not ours
        return f"{name}, whose message cannot be shown"


def os_failed(error: OSError) -> Outcome:
    """Say it with the code for an error of the operating system."""
    code = "other" if error.errno is None else _core.failure_code(error.errno)
    return failed(code, error.strerror or str(error))


def aborted(requests: list[Json]) -> list[Json]:
    """Answer everything that waits for an answer with `aborted`."""
    outcome = failed("aborted", "the operation was cancelled")
    return [
        {"id": request["id"], "outcome": outcome}
        for request in requests
        if request["effect"]["kind"] != "emit"
    ]
