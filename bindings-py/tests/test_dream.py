"""Dreaming: what it changes and gives back, when it is time, and what stops it."""

from __future__ import annotations

import asyncio
import signal
import threading
from pathlib import Path
from typing import Any

import memdir
import pytest
from conftest import Face
from memdir import AsyncMemdir, ConversationRequest, Features, Memdir, Usage
from scripted import Held, Scripted, calling, calls, cancelled

DREAMS = Features(dream=True)
INDEX = "- [A](a.md) — a\n- [B](b.md) — b\n- [C](c.md) — c\n"


def about(name: str) -> str:
    return f"---\nname: {name}\ndescription: about {name}\ntype: project\n---\n{name}.\n"


def files(folder: Path) -> dict[str, bytes]:
    """What lies in a store, without what memdir keeps for itself and the lock of dreams."""
    found = {}
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and not name.startswith((".memdir/", ".consolidate-lock")):
            found[name] = path.read_bytes()
    return found


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Three memories and their index, in a project."""
    folder = tmp_path / "store"
    for place in (folder, tmp_path / "home", tmp_path / "project"):
        place.mkdir()
    for name in "abc":
        (folder / f"{name}.md").write_bytes(about(name).encode())
    (folder / "MEMORY.md").write_bytes(INDEX.encode())
    return folder


def opening(store: Path, **changed: Any) -> dict[str, Any]:
    options = {
        "directory": store,
        "cwd": store.parent / "project",
        "home": store.parent / "home",
        "env": {},
        "features": DREAMS,
    }
    return options | changed


def merging(store: Path) -> list[str]:
    """What a model does that merges two memories and writes a new one."""

    def at(name: str) -> str:
        return str(store / name)

    return [
        calls(*(("Read", {"file_path": at(name)}) for name in ("MEMORY.md", "a.md", "b.md"))),
        calls(
            ("Write", {"file_path": at("a.md"), "content": about("a and b")}),
            ("Delete", {"file_path": at("b.md")}),
            ("Write", {"file_path": at("new.md"), "content": about("new")}),
            (
                "Edit",
                {
                    "file_path": at("MEMORY.md"),
                    "old_string": "- [A](a.md) — a\n",
                    "new_string": "- [A](a.md) — a and b\n- [N](new.md) — new\n",
                },
            ),
        ),
    ]


def held_sessions(store: Path, count: int) -> None:
    """Transcripts of so many sessions."""
    with Memdir(**opening(store)) as memory:
        project = Path(memory.session("one").path()).parents[2]
    project.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        (project / f"session-{number}.jsonl").write_text("{}\n", encoding="utf-8")


def test_a_dream_improves_and_is_undone(store: Path, face: Face) -> None:
    before = files(store)
    model = Scripted(*merging(store))
    events: list[memdir.Event] = []
    options = opening(store, model=model, on_event=events.append)
    done = face(options, "dream", force=True)
    assert (done.outcome, done.reason, done.code, done.message) == ("done", None, None, None)
    assert (done.improved, done.removed, done.conflicts) == (("a.md", "new.md"), ("b.md",), ())
    assert (done.notice, done.changes) == ("Improved 3 memories", ())
    assert (done.turns, done.ended, done.sessions) == (3, "answered", 0)
    assert done.usage == Usage(input=10, output=4)
    assert {request.purpose for request in model.asked} == {"dream"}
    assert "Improved 3 memories" in {event.message for event in events}
    after = files(store)
    assert after.keys() == {"MEMORY.md", "a.md", "c.md", "new.md"}
    assert after["a.md"] == about("a and b").encode()
    index = "- [A](a.md) — a and b\n- [N](new.md) — new\n- [C](c.md) — c\n"
    assert after["MEMORY.md"] == index.encode()
    undone = face(options, "undo_dream")
    assert (undone.id, undone.conflicts) == (done.id, ())
    assert set(undone.restored) == {"MEMORY.md", "a.md", "b.md", "new.md"}
    assert files(store) == before
    # There is no other one.
    undone = face(options, "undo_dream")
    assert (undone.id, undone.restored, undone.conflicts) == (None, (), ())


def test_what_somebody_has_changed_since_stays(store: Path, face: Face) -> None:
    options = opening(store, model=Scripted(*merging(store)))
    face(options, "dream", force=True)
    (store / "a.md").write_text("mine", encoding="utf-8")
    undone = face(options, "undo_dream")
    assert undone.conflicts == ("a.md",)
    assert files(store) == {
        "a.md": b"mine",
        "b.md": about("b").encode(),
        "c.md": about("c").encode(),
        "MEMORY.md": INDEX.encode(),
    }


def test_a_dry_run_changes_nothing(store: Path, face: Face) -> None:
    before = files(store)
    options = opening(store, model=Scripted(*merging(store)))
    done = face(options, "dream", force=True, dry_run=True)
    assert (done.outcome, done.id, done.improved, done.notice) == ("done", None, (), None)
    found = {change.path: change.kind for change in done.changes}
    assert found == {
        "MEMORY.md": "changed",
        "a.md": "changed",
        "b.md": "deleted",
        "new.md": "created",
    }
    assert all(change.diff for change in done.changes)
    assert files(store) == before
    assert not (store / ".consolidate-lock").exists()
    assert face(options, "undo_dream").id is None


@pytest.mark.parametrize(
    ("features", "changed", "sessions", "reason"),
    [
        (Features(), {}, 5, "off"),
        (DREAMS, {"remote": True}, 5, "remote"),
        (Features(dream=True, daily_log=True), {}, 5, "daily-log"),
        (Features(dream=True, daily_log=True), {"logs": True}, 5, None),
        (DREAMS, {}, 4, "few-sessions"),
        (DREAMS, {}, 5, None),
        (DREAMS, {"session": "session-2"}, 5, "few-sessions"),
        (Features(), {"force": True}, 0, None),
        (DREAMS, {"force": True, "remote": True}, 5, "remote"),
    ],
)
def test_when_it_is_time(
    store: Path,
    face: Face,
    features: Features,
    changed: dict[str, Any],
    sessions: int,
    reason: str | None,
) -> None:
    held_sessions(store, sessions)
    model = Scripted()
    found = face(opening(store, model=model, features=features), "dream", **changed)
    assert found.reason == reason
    assert found.outcome == ("skipped" if reason else "done")
    assert len(model.asked) == (0 if reason else 1)
    if not reason:
        assert found.sessions == sessions


def test_the_next_one_is_a_day_later(store: Path, face: Face) -> None:
    held_sessions(store, 5)
    options = opening(store, model=Scripted())
    assert face(options, "dream").outcome == "done"
    assert face(options, "dream").reason == "too-soon"
    assert face(options, "dream", force=True).outcome == "done"


def test_memory_that_is_off(store: Path, face: Face) -> None:
    options = opening(store, env={"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"})
    assert face(options, "dream", force=True).reason == "disabled"
    with pytest.raises(memdir.InputError) as raised:
        face(options, "undo_dream")
    assert raised.value.code == "disabled"


def test_without_a_model(store: Path, face: Face) -> None:
    with pytest.raises(memdir.ModelError) as raised:
        face(opening(store), "dream", force=True)
    assert raised.value.code == "no-model"


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"force": 1}, TypeError),
        ({"dry_run": "yes"}, TypeError),
        ({"logs": None}, TypeError),
        ({"remote": 0}, TypeError),
        ({"session": 3}, TypeError),
        ({"session": "\ud800"}, memdir.InputError),
        ({"read_roots": "/srv"}, TypeError),
        ({"read_roots": [3]}, TypeError),
        ({"read_roots": ["srv"]}, memdir.InputError),
    ],
)
def test_wrong_arguments(
    store: Path, face: Face, changed: dict[str, Any], error: type[Exception]
) -> None:
    options = opening(store, model=Scripted())
    with pytest.raises(error):
        face(options, "dream", **{"force": True} | changed)
    # The next one runs.
    assert face(options, "dream", force=True).outcome == "done"


def test_a_model_that_fails_changes_nothing(store: Path, face: Face) -> None:
    before = files(store)
    answers = merging(store)

    def model(_: ConversationRequest) -> str:
        if not answers:
            raise ValueError("no luck")
        return answers.pop(0)

    held_sessions(store, 5)
    options = opening(store, model=model)
    failed = face(options, "dream")
    assert (failed.outcome, failed.turns, failed.id) == ("failed", 3, None)
    assert "no luck" in failed.message
    assert files(store) == before
    # The next one need not wait for a day.
    assert face(opening(store, model=Scripted()), "dream").outcome == "done"


def test_two_at_once(store: Path) -> None:
    async def main() -> None:
        model = Held()
        async with AsyncMemdir(**opening(store, model=model)) as memory:
            first = asyncio.create_task(memory.dream(force=True))
            await model.asked.wait()
            assert (await memory.dream(force=True)).reason == "locked"
            model.release.set()
            assert (await first).outcome == "done"

    asyncio.run(main())


def test_a_task_that_is_cancelled_lets_the_next_one_run(store: Path) -> None:
    before = files(store)

    async def main() -> None:
        model = Held(*merging(store))
        async with AsyncMemdir(**opening(store, model=model)) as memory:
            task = asyncio.create_task(memory.dream(force=True))
            await model.asked.wait()
            await cancelled(task)
            assert files(store) == before
            model.release.set()
            assert (await memory.dream(force=True)).improved == ("a.md", "new.md")

    asyncio.run(main())


def test_a_task_cancelled_at_any_moment_leaves_all_or_nothing(store: Path) -> None:
    before = files(store)

    async def main() -> None:
        for turns in range(40):
            model = Scripted(*merging(store))
            async with AsyncMemdir(**opening(store, model=model)) as memory:
                task = asyncio.create_task(memory.dream(force=True))
                for _ in range(turns):
                    await asyncio.sleep(0.0005)
                task.cancel()
                await asyncio.wait([task])
                after = files(store)
                if after != before:
                    assert after.keys() == {"MEMORY.md", "a.md", "c.md", "new.md"}
                    assert (await memory.undo_dream()).conflicts == ()
                    assert files(store) == before
                # Nobody is locked out.
                assert (await memory.dream(force=True, dry_run=True)).outcome == "done"

    asyncio.run(main())


@pytest.mark.usefixtures("_ctrl_c")
def test_ctrl_c_lets_the_next_one_run(store: Path) -> None:
    release = threading.Event()

    def interrupt() -> None:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    def model(_: ConversationRequest) -> str:
        if not release.is_set():
            threading.Timer(0.1, interrupt).start()
            release.wait(20)
        return "Nothing."

    with Memdir(**opening(store, model=model)) as memory:
        with pytest.raises(KeyboardInterrupt):
            memory.dream(force=True)
        release.set()
        assert memory.dream(force=True).outcome == "done"


def test_closing_waits_for_a_dream(store: Path) -> None:
    async def main() -> None:
        model = Held(*merging(store))
        memory = await AsyncMemdir.open(**opening(store, model=model))
        task = asyncio.create_task(memory.dream(force=True))
        await model.asked.wait()
        closing = asyncio.create_task(memory.close())
        await asyncio.sleep(0.05)
        assert not closing.done()
        model.release.set()
        await closing
        assert (await task).improved == ("a.md", "new.md")
        for call in (memory.dream(force=True), memory.undo_dream()):
            with pytest.raises(memdir.InputError) as raised:
                await call
            assert raised.value.code == "closed"

    asyncio.run(main())
    assert (store / "a.md").read_bytes() == about("a and b").encode()


def test_closing_waits_for_a_dream_of_another_thread(store: Path) -> None:
    begun, release = threading.Event(), threading.Event()
    answers = merging(store)

    def model(_: ConversationRequest) -> str:
        begun.set()
        release.wait(20)
        return answers.pop(0) if answers else "Done."

    memory = Memdir(**opening(store, model=model))
    threading.Thread(target=memory.dream, kwargs={"force": True}).start()
    assert begun.wait(20)
    threading.Timer(0.1, release.set).start()
    memory.close()
    assert (store / "new.md").read_bytes() == about("new").encode()


def test_draining_waits_for_a_dream(store: Path) -> None:
    async def main() -> None:
        model = Held(*merging(store))
        async with AsyncMemdir(**opening(store, model=model)) as memory:
            task = asyncio.create_task(memory.dream(force=True))
            await model.asked.wait()
            assert await memory.drain(10) is False
            model.release.set()
            stopped = await task
            assert (stopped.outcome, stopped.ended) == ("failed", "stopped")
            assert (store / "b.md").exists()
            assert await memory.drain(10) is True

    asyncio.run(main())


def test_a_pinned_memory_stays(store: Path, face: Face) -> None:
    pinned = about("c").replace("type:", "metadata:\n  pinned: true\ntype:")
    (store / "c.md").write_text(pinned, encoding="utf-8")
    file = str(store / "c.md")
    model = Scripted(calling("Read", file_path=file), calling("Delete", file_path=file))
    done = face(opening(store, model=model), "dream", force=True)
    assert (done.outcome, done.removed, done.id) == ("done", (), None)
    assert (store / "c.md").read_text("utf-8") == pinned
