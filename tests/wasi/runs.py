"""Runs of a model in the background, as a driver performs them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from component import Flow, Variant
from effects import failed


def answers(step: Variant, perform: Callable[[Variant], Variant]) -> list[dict[str, Any]]:
    return [
        {"id": each["id"], "outcome": perform(each["effect"])}
        for each in step.payload["requests"]
        if each["effect"].tag != "emit"
    ]


class Model:
    """A driver's model: answers with these turns, one after the other, then with a text."""

    def __init__(self, *turns: list[tuple[str, dict[str, Any]]]) -> None:
        self.turns = list(turns)
        self.asked: list[dict[str, Any]] = []

    def __call__(self, request: str) -> str:
        self.asked.append(json.loads(request))
        if not self.turns:
            return "Nothing more."
        blocks = [
            {"type": "tool_use", "id": f"call_{number}", "name": name, "input": given}
            for number, (name, given) in enumerate(self.turns.pop(0))
        ]
        return json.dumps({"content": blocks, "usage": {"input_tokens": 7, "output_tokens": 2}})


def until_model(flow: Flow, perform: Callable[[Variant], Variant | None]) -> Variant:
    """Drives a flow up to the step in which it asks its model."""
    step = flow.resume([])
    while all(each["effect"].tag != "model" for each in step.payload["requests"]):
        step = flow.resume(answers(step, perform))
    return step


def to_its_end(flow: Flow, step: Variant, perform: Callable[[Variant], Variant | None]) -> Variant:
    while step.tag == "effects":
        step = flow.resume(answers(step, perform))
    return step


def stopped(flow: Flow, step: Variant, perform: Callable[[Variant], Variant | None]) -> Variant:
    """Cancels a flow that asks its model, and drives it to its end; its disk goes on working."""
    flow.cancel()

    def outcome(effect: Variant) -> Variant | None:
        return failed("aborted", "stopped") if effect.tag == "model" else perform(effect)

    return to_its_end(flow, step, outcome)
