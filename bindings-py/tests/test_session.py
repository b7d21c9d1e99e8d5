"""Notes of a session: when they are brought up to date, and what a compaction makes of them."""

from __future__ import annotations

import asyncio
import dataclasses
import signal
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import memdir
import pytest
from conftest import Face
from memdir import AsyncMemdir, ConversationRequest, Memdir, NotesState, Usage, rules
from scripted import Held, Scripted, calling, cancelled

ID = "5f0c1d2e"
WORKLOG = "_What was done, step by step, in a few words each_"
NOTED = "Wrote the parser."


def opening(folder: Path, **changed: Any) -> dict[str, Any]:
    for name in ("store", "home", "project"):
        (folder / name).mkdir(exist_ok=True)
    options = {
        "directory": folder / "store",
        "cwd": folder / "project",
        "home": folder / "home",
        "env": {},
    }
    return options | changed


def notes_file(folder: Path) -> Path:
    slug = rules.project_slug(str(folder / "project"))
    project = folder / "home" / ".claude" / "projects" / slug
    return project / ID / "session-memory" / "summary.md"


def noting(folder: Path) -> str:
    return calling(
        "Edit",
        file_path=str(notes_file(folder)),
        old_string=WORKLOG,
        new_string=f"{WORKLOG}\n\n- {NOTED}",
    )


def conversation(turns: int, tokens: int = 3000) -> list[dict[str, Any]]:
    """Turns of a question, a call of a tool, its result and an answer, of so many tokens each."""
    messages: list[dict[str, Any]] = []
    for turn in range(turns):
        call = {"type": "tool_use", "id": f"t{turn}", "name": "Bash", "input": {"command": "ls"}}
        result = {"type": "tool_result", "tool_use_id": f"t{turn}", "content": "main.rs"}
        messages += [
            {"id": f"u{turn}", "role": "user", "content": f"question {turn}"},
            {"id": f"c{turn}", "role": "assistant", "content": [call]},
            {"id": f"r{turn}", "role": "user", "content": [result]},
            {"id": f"a{turn}", "role": "assistant", "content": f"answer {turn}"},
        ]
    return [message | {"tokens": tokens // 4} for message in messages]


# 12,000 tokens and four calls of tools: it is time.
DUE = conversation(4)


Wait = Callable[[Any], Awaitable[Any]]


def each(face: Face, options: dict[str, Any], main: Callable[[Any, Wait], Any]) -> Any:
    """Has `main` work on either face: it is given the store, and what awaits its calls."""

    async def at_once(value: Any) -> Any:
        return value

    async def later(value: Awaitable[Any]) -> Any:
        return await value

    return face.using(
        options,
        lambda memory: asyncio.run(main(memory, at_once)),
        lambda memory: main(memory, later),
    )


def test_a_function_keeps_notes(tmp_path: Path, face: Face) -> None:
    model = Scripted(noting(tmp_path))
    options = opening(tmp_path, model=model)
    file = notes_file(tmp_path)

    async def main(memory: Any, wait: Wait) -> None:
        session = memory.session(ID)
        assert await wait(session.path()) == str(file)
        assert await wait(session.notes()) is None
        assert not file.exists()
        done = await wait(session.update(DUE))
        assert (done.outcome, done.reason, done.code, done.message) == ("done", None, None, None)
        assert (done.path, done.changed) == (str(file), True)
        assert (done.turns, done.ended) == (2, "answered")
        assert done.usage == Usage(input=5, output=2)
        assert (done.over_limit, done.report) == ((), ())
        assert done.state == NotesState(last_tokens=12000, cursor="a3", last_summarised="a3")
        notes = await wait(session.notes())
        assert notes == file.read_text("utf-8")
        assert f"{WORKLOG}\n\n- {NOTED}\n" in notes
        again = await wait(session.update(DUE))
        assert (again.outcome, again.reason, again.changed) == ("skipped", "not-due", False)
        assert again.state == done.state

    each(face, options, main)
    first, _ = model.asked
    assert (first.purpose, first.prefix) == ("session-notes", None)
    assert {tool.name for tool in first.tools} == {"Read", "Edit"}
    assert "question 3" in first.messages[0]["content"][0]["text"]


def test_nothing_but_the_notes_is_touched(tmp_path: Path, face: Face) -> None:
    other = tmp_path / "project" / "main.rs"
    model = Scripted(calling("Write", file_path=str(other), content="x"))

    async def main(memory: Any, wait: Wait) -> Any:
        return await wait(memory.session(ID).update(DUE))

    done = each(face, opening(tmp_path, model=model), main)
    assert (done.outcome, done.changed, done.state.last_summarised) == ("done", False, None)
    assert model.asked[1].messages[2]["content"][0]["is_error"] is True
    assert not other.exists()


@pytest.mark.parametrize(
    ("messages", "changed", "reason"),
    [
        (conversation(3), {}, "not-due"),
        (conversation(3), {"force": True}, None),
        (conversation(2, tokens=20000), {}, "not-due"),
        (conversation(2, tokens=20000), {"natural_break": True}, None),
        (DUE, {"state": NotesState(last_tokens=7001, cursor="a0")}, "not-due"),
        (DUE, {"state": NotesState(last_tokens=7000, cursor="a0")}, None),
        (DUE, {"state": NotesState(last_tokens=7000, cursor="a1")}, "not-due"),
        (DUE, {"state": NotesState(cursor="a3"), "force": True}, "nothing-new"),
        ([], {"force": True}, "nothing-new"),
    ],
)
def test_when_it_is_time(
    tmp_path: Path, face: Face, messages: Any, changed: dict[str, Any], reason: str | None
) -> None:
    model = Scripted()

    async def main(memory: Any, wait: Wait) -> Any:
        return await wait(memory.session(ID).update(messages, **changed))

    found = each(face, opening(tmp_path, model=model), main)
    assert found.reason == reason
    assert found.outcome == ("skipped" if reason else "done")
    assert len(model.asked) == (0 if reason else 1)


def test_the_state_is_kept_over_a_restart(tmp_path: Path, face: Face) -> None:
    async def first(memory: Any, wait: Wait) -> Any:
        return (await wait(memory.session(ID).update(DUE))).state

    options = opening(tmp_path, model=Scripted(noting(tmp_path)))
    state = each(face, options, first)
    kept = NotesState(**dataclasses.asdict(state))
    assert kept == state

    async def second(memory: Any, wait: Wait) -> None:
        found = await wait(memory.session(ID).update(DUE, state=kept))
        assert (found.reason, found.state) == ("not-due", kept)

    each(face, options, second)

    async def third(memory: Any, wait: Wait) -> Any:
        return await wait(memory.session(ID).for_compaction(DUE, state=kept))

    # 10,000 tokens of the 12,000, and the call that belongs to the first result.
    assert each(face, options, third).keep_from == 2 - 1


def test_a_compaction(tmp_path: Path, face: Face) -> None:
    long = conversation(10)

    async def main(memory: Any, wait: Wait) -> None:
        session = memory.session(ID)
        found = await wait(session.for_compaction(long))
        assert (found.notes, found.keep_from, found.reason) == (None, None, "no-notes")
        assert found.tokens == 0
        await wait(session.update(long))
        found = await wait(session.for_compaction(long))
        notes = await wait(session.notes())
        assert (found.notes, found.reason) == (notes, None)
        # 14 messages have more than 10,000 tokens; the first of them belongs to the one before.
        assert found.keep_from == 40 - 15
        assert found.tokens == rules.estimate_tokens(notes) + 15 * 750
        # Behind the last compaction.
        found = await wait(session.for_compaction(long, boundary=35))
        assert found.keep_from == 36
        found = await wait(session.for_compaction(long[:-1]))
        assert found.reason == "unknown-message"

    each(face, opening(tmp_path, model=Scripted(noting(tmp_path))), main)


def test_a_compaction_waits_for_an_update(tmp_path: Path) -> None:
    async def main() -> None:
        model = Held(noting(tmp_path))
        async with AsyncMemdir(**opening(tmp_path, model=model)) as memory:
            session = memory.session(ID)
            update = asyncio.create_task(session.update(DUE))
            await model.asked.wait()
            compaction = asyncio.create_task(session.for_compaction(DUE))
            await asyncio.sleep(0.05)
            assert not compaction.done()
            model.release.set()
            found = await compaction
            assert found.notes is not None
            assert NOTED in found.notes
            assert (await update).outcome == "done"

    asyncio.run(main())


def test_a_compaction_that_is_cancelled(tmp_path: Path) -> None:
    async def main() -> None:
        model = Held()
        async with AsyncMemdir(**opening(tmp_path, model=model)) as memory:
            session = memory.session(ID)
            update = asyncio.create_task(session.update(DUE))
            await model.asked.wait()
            compaction = asyncio.create_task(session.for_compaction(DUE))
            await asyncio.sleep(0.05)
            await cancelled(compaction)
            model.release.set()
            assert (await update).outcome == "done"

    asyncio.run(main())


def test_a_request_that_is_forked(tmp_path: Path, face: Face) -> None:
    edit = {"name": "Edit", "input_schema": {"type": "object"}}

    async def main(memory: Any, wait: Wait) -> None:
        with_tools = {"tools": [edit], "messages": DUE}
        done = await wait(memory.session("one").update(DUE, request=with_tools))
        assert (done.outcome, done.report) == ("done", ())
        done = await wait(memory.session("two").update(DUE, request={"messages": DUE}))
        assert [entry.code for entry in done.report] == ["tools-added"]
        # What is not needed is not looked at.
        skipped = await wait(
            memory.session("three").update(DUE[:4], request={"messages": object()})
        )
        assert skipped.reason == "not-due"

    model = Scripted()
    each(face, opening(tmp_path, model=model), main)
    first, second = model.asked
    assert first.prefix is not None
    assert first.prefix["tools"] == [edit]
    assert first.tools == ()
    assert {tool.name for tool in second.tools} == {"Read", "Edit"}


def test_two_sessions_have_notes_of_their_own(tmp_path: Path) -> None:
    async def main() -> None:
        model = Held()
        async with AsyncMemdir(**opening(tmp_path, model=model)) as memory:
            first = asyncio.create_task(memory.session("one").update(DUE))
            await model.asked.wait()
            again = await memory.session("one").update(DUE)
            assert (again.outcome, again.reason) == ("skipped", "running")
            other = asyncio.create_task(memory.session("two").update(DUE))
            model.release.set()
            assert (await first).outcome == (await other).outcome == "done"

    asyncio.run(main())


@pytest.mark.parametrize("given", ["", "a/b", "..", "memory", "a.b", "x" * 129])
def test_an_id_that_is_no_file_name(tmp_path: Path, face: Face, given: str) -> None:
    async def main(memory: Any, wait: Wait) -> None:
        session = memory.session(given)
        for call in (
            lambda: session.update(DUE),
            session.notes,
            lambda: session.for_compaction(DUE),
            session.path,
        ):
            with pytest.raises(memdir.InputError) as raised:
                await wait(call())
            assert raised.value.code == "invalid-argument"

    each(face, opening(tmp_path, model=Scripted()), main)


@pytest.mark.parametrize(
    ("method", "messages", "changed", "error"),
    [
        ("update", "text", {}, TypeError),
        ("update", [3], {}, TypeError),
        ("update", [{"role": "nobody", "content": "x"}], {}, memdir.InputError),
        ("update", DUE, {"force": 1}, TypeError),
        ("update", DUE, {"natural_break": None}, TypeError),
        ("update", DUE, {"state": {"cursor": None}}, TypeError),
        ("update", DUE, {"state": NotesState(last_tokens=-1)}, memdir.InputError),
        ("update", DUE, {"request": []}, TypeError),
        ("update", DUE, {"request": "no JSON"}, memdir.InputError),
        ("for_compaction", "text", {}, TypeError),
        ("for_compaction", [{"role": "user"}], {}, memdir.InputError),
        ("for_compaction", DUE, {"boundary": -1}, memdir.InputError),
        ("for_compaction", DUE, {"boundary": "0"}, TypeError),
        ("for_compaction", DUE, {"state": ID}, TypeError),
    ],
)
def test_wrong_arguments(
    tmp_path: Path,
    face: Face,
    method: str,
    messages: Any,
    changed: dict[str, Any],
    error: type[Exception],
) -> None:
    async def main(memory: Any, wait: Wait) -> None:
        session = memory.session(ID)

        async def call() -> None:
            await wait(getattr(session, method)(messages, **changed))

        with pytest.raises(error):
            await call()
        # The next one runs.
        assert (await wait(session.update(DUE))).outcome == "done"

    each(face, opening(tmp_path, model=Scripted()), main)


@pytest.mark.parametrize("given", [3, None, b"one", "\ud800"])
def test_an_id_that_is_no_text(tmp_path: Path, face: Face, given: Any) -> None:
    async def main(memory: Any, wait: Wait) -> None:
        with pytest.raises((TypeError, memdir.InputError)):
            await wait(memory.session(given).notes())

    each(face, opening(tmp_path), main)


def test_without_a_model(tmp_path: Path, face: Face) -> None:
    async def main(memory: Any, wait: Wait) -> None:
        with pytest.raises(memdir.ModelError) as raised:
            await wait(memory.session(ID).update(DUE))
        assert raised.value.code == "no-model"

    each(face, opening(tmp_path), main)


def test_memory_that_is_off(tmp_path: Path, face: Face) -> None:
    async def main(memory: Any, wait: Wait) -> None:
        session = memory.session(ID)
        found = await wait(session.update(DUE))
        assert (found.reason, found.path) == ("disabled", None)
        assert await wait(session.notes()) is None
        assert (await wait(session.for_compaction(DUE))).reason == "off"
        with pytest.raises(memdir.InputError) as raised:
            await wait(session.path())
        assert raised.value.code == "disabled"

    each(face, opening(tmp_path, env={"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"}), main)


def test_a_model_that_fails(tmp_path: Path, face: Face) -> None:
    def model(_: ConversationRequest) -> str:
        raise ValueError("no luck")

    async def main(memory: Any, wait: Wait) -> None:
        failed = await wait(memory.session(ID).update(DUE))
        assert (failed.outcome, failed.state) == ("failed", NotesState())
        assert "no luck" in failed.message

    each(face, opening(tmp_path, model=model), main)


def test_a_task_that_is_cancelled_lets_the_next_one_run(tmp_path: Path) -> None:
    async def main() -> None:
        model = Held(noting(tmp_path))
        async with AsyncMemdir(**opening(tmp_path, model=model)) as memory:
            session = memory.session(ID)
            task = asyncio.create_task(session.update(DUE))
            await model.asked.wait()
            await cancelled(task)
            model.release.set()
            assert (await session.update(DUE)).changed is True

    asyncio.run(main())


@pytest.mark.usefixtures("_ctrl_c")
def test_ctrl_c_lets_the_next_one_run(tmp_path: Path) -> None:
    release = threading.Event()

    def interrupt() -> None:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    def model(_: ConversationRequest) -> str:
        if not release.is_set():
            threading.Timer(0.1, interrupt).start()
            release.wait(20)
        return "Nothing."

    with Memdir(**opening(tmp_path, model=model)) as memory:
        with pytest.raises(KeyboardInterrupt):
            memory.session(ID).update(DUE)
        release.set()
        assert memory.session(ID).update(DUE).outcome == "done"


def test_closing_waits_for_an_update(tmp_path: Path) -> None:
    async def main() -> None:
        model = Held(noting(tmp_path))
        memory = await AsyncMemdir.open(**opening(tmp_path, model=model))
        session = memory.session(ID)
        task = asyncio.create_task(session.update(DUE))
        await model.asked.wait()
        closing = asyncio.create_task(memory.close())
        await asyncio.sleep(0.05)
        assert not closing.done()
        model.release.set()
        await closing
        assert (await task).changed is True
        for call in (session.update(DUE), session.for_compaction(DUE)):
            with pytest.raises(memdir.InputError) as raised:
                await call
            assert raised.value.code == "closed"

    asyncio.run(main())
    assert NOTED in notes_file(tmp_path).read_text("utf-8")
