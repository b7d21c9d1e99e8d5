"""What is done after a turn: extraction, notes and dreaming, each when it is time."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import memdir
import pytest
from conftest import Face
from memdir import (
    AsyncMemdir,
    ConversationRequest,
    ExtractionState,
    Features,
    NotesState,
)
from scripted import Held, Scripted, calling, cancelled
from test_session import DUE, ID, NOTED, conversation, notes_file, noting, opening

ALL = Features(extract=True, dream=True)
MEMORY = "---\nname: Tests\ndescription: each with its tests\ntype: feedback\n---\nTests.\n"
WHOLE = [
    *DUE,
    {"id": "u9", "role": "user", "content": "please write each of them with its tests"},
    {"id": "a9", "role": "assistant", "content": "I will."},
]


def ready(folder: Path, **changed: Any) -> dict[str, Any]:
    """A store in which it is time for everything."""
    options = opening(folder, **{"features": ALL} | changed)
    project = notes_file(folder).parents[2]
    project.mkdir(parents=True, exist_ok=True)
    for number in range(5):
        (project / f"session-{number}.jsonl").write_text("{}\n", encoding="utf-8")
    return options


class ByPurpose:
    """A model that has answers for each purpose."""

    def __init__(self, folder: Path) -> None:
        self.purposes: list[str] = []
        file = str(folder / "store" / "feedback_tests.md")
        self.answers = {
            "extract-memories": [calling("Write", file_path=file, content=MEMORY)],
            "session-notes": [noting(folder)],
            "dream": [
                calling("Read", file_path=file),
                calling("Edit", file_path=file, old_string="Tests.\n", new_string="Always.\n"),
            ],
        }

    def __call__(self, request: ConversationRequest) -> str:
        self.purposes.append(request.purpose)
        answers = self.answers[request.purpose]
        return answers.pop(0) if answers else "Nothing more."


def test_all_three(tmp_path: Path, face: Face) -> None:
    model = ByPurpose(tmp_path)
    done = face(ready(tmp_path, model=model), "after_turn", WHOLE, session=ID)
    assert (done.extraction.outcome, done.extraction.code) == ("done", None)
    assert done.extraction.paths == ("feedback_tests.md",)
    assert (done.notes.outcome, done.notes.changed) == ("done", True)
    assert (done.dream.outcome, done.dream.improved) == ("done", ("feedback_tests.md",))
    assert model.purposes == ["extract-memories"] * 2 + ["session-notes"] * 2 + ["dream"] * 3
    assert NOTED in notes_file(tmp_path).read_text("utf-8")
    text = (tmp_path / "store" / "feedback_tests.md").read_text("utf-8")
    assert text == MEMORY.replace("Tests.\n", "Always.\n")
    # Each has its own gates: at the next turn it is time for none.
    states = {"extraction": done.extraction.state, "notes": done.notes.state}
    again = face(ready(tmp_path, model=model), "after_turn", WHOLE, session=ID, **states)
    assert again.extraction.reason == "nothing-new"
    assert again.notes.reason == "not-due"
    assert again.dream.reason == "too-soon"
    assert len(model.purposes) == 7


@pytest.mark.parametrize(
    ("features", "messages", "changed", "reasons"),
    [
        (Features(), WHOLE[:4], {"session": ID}, ("off", "not-due", "off")),
        (ALL, WHOLE, {"agent": "sub", "session": ID}, ("sub-agent", "none", "sub-agent")),
        (ALL, WHOLE[:4], {"remote": True}, ("remote", "none", "remote")),
        (ALL, conversation(1), {"interactive": False}, ("not-interactive", "none", "done")),
        (Features(), WHOLE, {"session": ID}, ("off", "done", "off")),
        (Features(dream=True), [], {}, ("off", "none", "done")),
        (Features(), conversation(2, 20000), {"session": ID}, ("off", "not-due", "off")),
        (
            Features(),
            conversation(2, 20000),
            {"session": ID, "natural_break": True},
            ("off", "done", "off"),
        ),
        (
            ALL,
            WHOLE,
            {
                "session": ID,
                "extraction": ExtractionState(cursor="a9"),
                "notes": NotesState(last_tokens=12000, cursor="a3"),
            },
            ("nothing-new", "not-due", "done"),
        ),
    ],
)
def test_each_by_its_own_gates(
    tmp_path: Path,
    face: Face,
    features: Features,
    messages: Any,
    changed: dict[str, Any],
    reasons: tuple[str, str, str],
) -> None:
    options = ready(tmp_path, model=Scripted(), features=features)
    found = face(options, "after_turn", messages, **changed)
    notes = "none" if found.notes is None else found.notes.reason or found.notes.outcome
    each = (
        found.extraction.reason or found.extraction.outcome,
        notes,
        found.dream.reason or found.dream.outcome,
    )
    assert each == reasons


def test_one_that_fails_does_not_keep_the_others(tmp_path: Path, face: Face) -> None:
    by_purpose = ByPurpose(tmp_path)

    def model(request: ConversationRequest) -> str:
        if request.purpose == "extract-memories":
            raise ValueError("no luck")
        return by_purpose(request)

    by_purpose.answers["dream"] = []
    done = face(ready(tmp_path, model=model), "after_turn", WHOLE, session=ID)
    assert (done.extraction.outcome, done.notes.outcome) == ("failed", "done")
    assert done.dream.outcome == "done"
    assert "no luck" in done.extraction.message


def test_without_a_model(tmp_path: Path, face: Face) -> None:
    done = face(ready(tmp_path), "after_turn", WHOLE, session=ID)
    for each in (done.extraction, done.notes, done.dream):
        assert (each.outcome, each.code) == ("failed", "no-model")


def test_review_and_request(tmp_path: Path, face: Face) -> None:
    asked: list[ConversationRequest] = []
    by_purpose = ByPurpose(tmp_path)

    def model(request: ConversationRequest) -> str:
        asked.append(request)
        return by_purpose(request)

    names = ["Read", "Write", "Edit"]
    tools = [{"name": name, "input_schema": {"type": "object"}} for name in names]
    request = {"tools": tools, "messages": WHOLE}
    options = ready(tmp_path, model=model, features=Features(extract=True))
    for given in (request, json.dumps(request)):
        asked.clear()
        done = face(options, "after_turn", WHOLE, session=ID, request=given, review=True)
        assert done.extraction.outcome == "done"
        assert not (tmp_path / "store" / "feedback_tests.md").exists()
        assert {each.purpose for each in asked} == {"extract-memories", "session-notes"}
        assert all(each.prefix is not None and each.prefix["tools"] == tools for each in asked)


@pytest.mark.parametrize(
    ("messages", "changed", "error"),
    [
        ("text", {}, TypeError),
        ([3], {}, TypeError),
        ([{"role": "nobody", "content": "x"}], {}, memdir.InputError),
        (WHOLE, {"agent": "boss"}, memdir.InputError),
        (WHOLE, {"interactive": 1}, TypeError),
        (WHOLE, {"session": 3}, TypeError),
        (WHOLE, {"session": "a/b"}, memdir.InputError),
        (WHOLE, {"read_roots": "/srv"}, TypeError),
        (WHOLE, {"natural_break": "yes"}, TypeError),
        (WHOLE, {"request": []}, TypeError),
        (WHOLE, {"extraction": NotesState()}, TypeError),
        (WHOLE, {"notes": ExtractionState()}, TypeError),
    ],
)
def test_wrong_arguments(
    tmp_path: Path, face: Face, messages: Any, changed: dict[str, Any], error: type[Exception]
) -> None:
    options = ready(tmp_path, model=Scripted())
    with pytest.raises(error):
        face(options, "after_turn", messages, **changed)
    assert face(options, "after_turn", WHOLE).extraction.outcome == "done"


def test_a_task_that_is_cancelled_lets_the_next_one_run(tmp_path: Path) -> None:
    async def main() -> None:
        for features in (Features(extract=True), Features(), Features(dream=True)):
            model = Held()
            session = None if features.extract or features.dream else ID
            async with AsyncMemdir(**ready(tmp_path, model=model, features=features)) as memory:
                task = asyncio.create_task(memory.after_turn(WHOLE, session=session))
                await model.asked.wait()
                await cancelled(task)
                model.release.set()
                done = await memory.after_turn(WHOLE, session=session)
                outcomes = {done.extraction.outcome, done.dream.outcome}
                if done.notes is not None:
                    outcomes.add(done.notes.outcome)
                assert outcomes == {"done", "skipped"}

    asyncio.run(main())


def test_closing_waits_for_what_runs_and_begins_nothing_more(tmp_path: Path) -> None:
    async def main() -> None:
        model = Held()
        memory = await AsyncMemdir.open(**ready(tmp_path, model=model))
        task = asyncio.create_task(memory.after_turn(WHOLE, session=ID))
        await model.asked.wait()
        closing = asyncio.create_task(memory.close())
        await asyncio.sleep(0.05)
        assert not closing.done()
        model.release.set()
        await closing
        done = await task
        assert done.extraction.outcome == "done"
        assert done.notes is not None
        for part in (done.notes, done.dream):
            assert (part.outcome, part.reason, part.code) == ("skipped", "closed", None)
        assert {request.purpose for request in model.scripted.asked} == {"extract-memories"}
        with pytest.raises(memdir.InputError) as raised:
            await memory.after_turn(WHOLE, session=ID)
        assert raised.value.code == "closed"

    asyncio.run(main())
