"""The terminal: Python's own streams, which the program may have replaced, and the editor."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from typing import IO, Any

from memdir._outcomes import DONE, Json, Outcome, failed, os_failed


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
    """Read all of the standard input."""
    limit = effect["maxBytes"]
    stream: IO[str] | None = sys.stdin
    if stream is None:
        return {"content": b""}
    try:
        source: Any = getattr(stream, "buffer", stream)
        content = source.read(limit + 1)
    except OSError as error:
        return os_failed(error)
    except ValueError as error:
        return failed("other", str(error))
    if isinstance(content, str):
        content = content.encode(errors="surrogateescape")
    if len(content) > limit:
        return failed("too-large", f"the input is larger than {limit} bytes")
    return {"content": content}


def edit(effect: Json) -> Outcome:
    """Open the editor that VISUAL or EDITOR names, with its arguments, and wait for it."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        return failed("unsupported", "no editor is set; set VISUAL or EDITOR")
    try:
        argv = [editor] if os.name == "nt" else shlex.split(editor)
        ended = subprocess.run([*argv, effect["path"]], check=False)  # noqa: S603
    except OSError as error:
        return os_failed(error)
    except ValueError as error:
        return failed("other", f"the editor cannot be started: {error}")
    if ended.returncode != 0:
        return failed("other", f"the editor ended with {ended.returncode}")
    return DONE
