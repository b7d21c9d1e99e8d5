"""Models that say what a test wants them to say, and what else tests of background runs share."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest
from memdir import ConversationRequest


def calls(*made: tuple[str, dict[str, Any]]) -> str:
    """What a function answers in the form of Anthropic's API."""
    blocks = [
        {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": given}
        for number, (name, given) in enumerate(made, 1)
    ]
    return json.dumps({"content": blocks, "usage": {"input_tokens": 5, "output_tokens": 2}})


def calling(name: str, **given: Any) -> str:
    return calls((name, given))


class Scripted:
    """A model that gives one answer after the other, and then nothing more."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked: list[ConversationRequest] = []

    def __call__(self, request: ConversationRequest) -> str:
        self.asked.append(request)
        return self.answers.pop(0) if self.answers else "Nothing more."


class Held:
    """A model of asyncio that answers when it is let."""

    def __init__(self, *answers: str) -> None:
        self.scripted = Scripted(*answers)
        self.asked = asyncio.Event()
        self.release = asyncio.Event()

    async def __call__(self, request: ConversationRequest) -> str:
        self.asked.set()
        await self.release.wait()
        return self.scripted(request)


async def cancelled(task: asyncio.Task[Any]) -> None:
    start = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - start < 5
