"""The command `memdir`. All of it is in the core; this file only starts it."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from memdir import _core, _surroundings
from memdir._drive import drive
from memdir._host import Host
from memdir.errors import InputError, MemdirError

if TYPE_CHECKING:
    from collections.abc import Sequence

_INTERRUPTED = 130


def main(args: Sequence[str] | None = None) -> int:
    """Run one command line and give its exit code: 0 done, 1 failed, 2 wrong usage."""
    try:
        command = _core.command(
            sys.argv[1:] if args is None else args,
            cwd=_surroundings.cwd(),
            home=_surroundings.home(),
            env=_surroundings.environment(),
        )
        code = drive(command, Host())
    except KeyboardInterrupt:
        return _INTERRUPTED
    except MemdirError as error:
        sys.stderr.write(f"memdir: {error}\n")
        return 2 if isinstance(error, InputError) else 1
    _leave_quietly()
    return code


def _leave_quietly() -> None:
    """Keep Python from complaining at its end about a reader that has gone away."""
    if sys.stdout is None:  # closed by whoever started the program
        return
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
