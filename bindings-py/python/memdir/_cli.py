"""The command `memdir`. All of it is in the core; this file only starts it."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING

from memdir import _core, _surroundings
from memdir._drive import drive
from memdir._host import Host
from memdir.errors import InputError, MemdirError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType


class _Terminated(KeyboardInterrupt):
    """SIGTERM, which interrupts as Ctrl-C does."""


def main(args: Sequence[str] | None = None) -> int:
    """Run one command line and give its exit code: 0 done, 1 failed, 2 wrong usage.

    One that was interrupted gives 128 and the number of the signal, as shells say it.
    """
    try:
        command = _core.command(
            sys.argv[1:] if args is None else args,
            cwd=_surroundings.cwd(),
            home=_surroundings.home(),
            env=_surroundings.environment(),
        )
        with _terminable():
            code = drive(command, Host())
    except _Terminated:
        return 128 + signal.SIGTERM
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except MemdirError as error:
        sys.stderr.write(f"memdir: {error}\n")
        return 2 if isinstance(error, InputError) else 1
    _leave_quietly()
    return code


@contextlib.contextmanager
def _terminable() -> Iterator[None]:
    """Have SIGTERM raise, unless somebody has other plans for it."""
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    ):
        yield
        return

    def terminate(_number: int, _frame: FrameType | None) -> None:
        raise _Terminated

    signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _leave_quietly() -> None:
    """Keep Python from complaining at its end about a reader that has gone away."""
    if sys.stdout is None:  # closed by whoever started the program
        return
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
