"""What is checked before the core gets it, for errors that name the option and what it takes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

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


def json_object(name: str, given: Mapping[str, Any]) -> str:
    """Take a mapping as JSON text."""
    if not isinstance(given, Mapping):
        raise TypeError(f"{name} must be a mapping, not {type(given).__name__}")
    try:
        return json_text(dict(given))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name} must be JSON: {error}", code="invalid-argument") from error


def arguments(given: str | Mapping[str, Any]) -> str:
    """Take what a tool was called with: JSON text as it is, or a mapping."""
    return given if isinstance(given, str) else json_object("input", given)


def json_text(given: Any) -> str:
    """Give JSON as the SDKs of Anthropic and OpenAI send it, byte for byte, from what they take."""
    return json.dumps(
        given, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain
    )


def _plain(given: Any) -> Any:
    """Objects in their answers, which belong into the next request, know how they go there."""
    to_dict = getattr(given, "to_dict", None)
    if to_dict is None:
        raise TypeError(f"{type(given).__name__} is no JSON")
    return to_dict(mode="json")
