"""What this process was started with, in the form that the core takes: text, or nothing.

The system's names and values are bytes; one that is not UTF-8 has lone surrogates in Python and
counts as missing.
"""

from __future__ import annotations

import os


def cwd() -> str | None:
    """Give the working directory; None when it was deleted."""
    try:
        return _text(os.getcwd())  # noqa: PTH109 - a plain str, as it is
    except OSError:
        return None


def home() -> str | None:
    """Give the user's home directory; None when there is none."""
    if os.environ.get("HOME") == "":
        # Python would take the root of the file system for it.
        return None
    found = os.path.expanduser("~")  # noqa: PTH111 - Path.home() raises where there is none
    return None if found == "~" else _text(found)


def environment() -> dict[str, str]:
    """Give the environment."""
    return {
        name: value
        for name, value in os.environ.items()
        if _text(name) is not None and _text(value) is not None
    }


def _text(value: str) -> str | None:
    try:
        value.encode()
    except UnicodeEncodeError:
        return None
    return value
