"""The terminal: Python's own streams, which the program may have replaced, and the editor."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import threading
from typing import IO, TYPE_CHECKING, Any

from memdir._outcomes import DONE, Json, Outcome, failed, os_failed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType


def write(effect: Json) -> Outcome:
    """Write text as UTF-8, whatever the terminal's encoding is."""
    stream: IO[str] | None = sys.stdout if effect["stream"] == "stdout" else sys.stderr
    if stream is None:
        return failed("unsupported", "there is no terminal")
    try:
        binary: IO[bytes] | None = getattr(stream, "buffer", None)
        if binary is None:
            stream.write(effect["text"])
        else:
            stream.flush()
            binary.write(effect["text"].encode())
        stream.flush()
    except OSError as error:
        return os_failed(error)
    except ValueError as error:
        return failed("other", str(error))
    return DONE


def read(effect: Json) -> Outcome:
    """Read all of the standard input, or its next line without its end."""
    limit = effect["maxBytes"]
    stream: IO[str] | None = sys.stdin
    if stream is None:
        return {"content": b""}
    try:
        source: Any = getattr(stream, "buffer", stream)
        content = source.readline(limit + 1) if effect["line"] else source.read(limit + 1)
    except OSError as error:
        return os_failed(error)
    except ValueError as error:
        return failed("other", str(error))
    if isinstance(content, str):
        content = content.encode(errors="surrogateescape")
    if effect["line"]:
        content = content.rstrip(b"\r\n")
    if len(content) > limit:
        return failed("too-large", f"the input is larger than {limit} bytes")
    return {"content": content}


def edit(effect: Json) -> Outcome:
    """Open an editor and wait for it."""
    try:
        with _interrupts_are_the_editors():
            ended = subprocess.run(effect["argv"], check=False)  # noqa: S603
    except OSError as error:
        return os_failed(error)
    except ValueError as error:
        return failed("other", f"the editor cannot be started: {error}")
    if ended.returncode != 0:
        return failed("other", f"the editor ended with {ended.returncode}")
    return DONE


@contextlib.contextmanager
def _interrupts_are_the_editors() -> Iterator[None]:
    """Leave Ctrl-C to the editor, which gets it too: it would be killed with unsaved text."""
    in_main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT)
    if not in_main or before in (signal.SIG_IGN, None):
        yield
        return

    def leave(_number: int, _frame: FrameType | None) -> None:
        pass

    # A function, as the editor would inherit that a signal is ignored.
    signal.signal(signal.SIGINT, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
