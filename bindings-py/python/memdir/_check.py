"""What is checked before the core gets it, for errors that name the option and what it takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from memdir.errors import InputError

_T = TypeVar("_T")
_COUNTS = 2**32


def texts(name: str, given: Sequence[str]) -> tuple[str, ...]:
    """Take a sequence of texts. A text is one too, and never meant."""
    items = sequence(name, given, "str")
    for item in items:
        if not isinstance(item, str):
            raise TypeError(f"{name} must be a sequence of str, not of {type(item).__name__}")
    return items


def sequence(name: str, given: Sequence[_T], of: str) -> tuple[_T, ...]:
    """Take a sequence."""
    if isinstance(given, str | bytes | bytearray) or not isinstance(given, Sequence):
        raise TypeError(f"{name} must be a sequence of {of}, not {type(given).__name__}")
    return tuple(given)


def limit(name: str, given: int | None) -> int | None:
    """Take how many are wanted at most, which the core takes in 32 bits."""
    if isinstance(given, int) and not 1 <= given < _COUNTS:
        message = f"{name} must be a whole number from 1 to {_COUNTS - 1}"
        raise InputError(message, code="invalid-argument")
    return given
