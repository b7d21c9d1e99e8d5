"""Recall through both faces: by words, by a function, over turns, and what is counted."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import pickle
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import memdir
import pytest
from conftest import Face
from memdir import AsyncMemdir, Features, Memdir, ModelRequest, RecallState, ToolResult, rules

DEPLOYS = """\
---
name: Deploys
description: when production deploys may happen
type: project
---

Never deploy on a Friday.
"""
TEA = (
    "---\nname: Tea\ndescription: which tea the team drinks\ntype: user\n---\n\nGreen, no sugar.\n"
)
QUERY = "may we deploy on Friday?"

Options = dict[str, Any]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "memory"
    folder.mkdir()
    (folder / "deploys.md").write_text(DEPLOYS, encoding="utf-8")
    (folder / "tea.md").write_text(TEA, encoding="utf-8")
    return folder


@pytest.fixture
def quiet(store: Path) -> Options:
    """The store, and nothing written into it."""
    return {"directory": store, "features": Features(count_uses=False)}


def paths(recall: memdir.Recall) -> list[str]:
    return [memory.path for memory in recall.memories]


def codes(recall: memdir.Recall) -> list[str]:
    return [entry.code for entry in recall.report]


def choosing(*chosen: str) -> Callable[[ModelRequest], str]:
    return lambda _: json.dumps({"selected_memories": chosen})


def test_without_a_model_words_decide(store: Path, face: Face) -> None:
    os.utime(store / "deploys.md", ns=(0, 1_773_570_600_123_000_000))
    recall = face(store, "recall", QUERY)
    (memory,) = recall.memories
    path = f"{store}{os.sep}deploys.md"
    assert (memory.path, memory.absolute_path) == ("deploys.md", path)
    assert memory.header == face(store, "read", "deploys.md").header
    assert memory.mtime_ms == 1_773_570_600_123
    assert (memory.content, memory.note, memory.reason) == (DEPLOYS, None, "lexical")
    assert memory.score > 0
    age = rules.memory_age(mtime_ms=memory.mtime_ms, now_ms=time.time_ns() // 1_000_000)
    assert (memory.age_days, memory.age, memory.warning) == (age.days, age.text, age.warning)
    assert memory.warning
    assert memory.warning in memory.text
    assert path in memory.text
    assert recall.report == ()
    assert recall.state == RecallState(surfaced=("deploys.md",), bytes=len(DEPLOYS))


def test_what_it_gives_is_frozen_plain_data(store: Path, face: Face) -> None:
    recall = face(store, "recall", QUERY)
    assert recall.memories
    with pytest.raises(dataclasses.FrozenInstanceError):
        recall.memories = ()
    assert isinstance(recall, memdir.Recall)
    again = pickle.loads(pickle.dumps(recall))
    assert again == recall
    assert again.render() == recall.render()
    hash(recall)


def test_a_fresh_memory_as_the_model_reads_it(store: Path, face: Face) -> None:
    text = f"Memory (saved today) {store}{os.sep}deploys.md:\n\n{DEPLOYS}"
    assert face(store, "recall", QUERY).render() == text


def test_rendering_joins_the_texts_and_stays_the_same(store: Path, face: Face) -> None:
    options = {"directory": store, "model": choosing("tea.md", "deploys.md")}
    recall = face(options, "recall", QUERY)
    first, second = recall.memories
    assert recall.render() == f"{first.text}\n\n{second.text}"
    # Uses were counted in between.
    assert face(options, "recall", QUERY).render() == recall.render()
    nothing = face(store, "recall", "quarterly kangaroo statistics")
    assert (nothing.memories, nothing.report, nothing.render()) == ((), (), "")


@pytest.mark.parametrize("asynchronous", [False, True], ids=["function", "coroutine function"])
def test_a_function_chooses(quiet: Options, face: Face, asynchronous: bool) -> None:
    asked: list[ModelRequest] = []

    def model(request: ModelRequest) -> str:
        asked.append(request)
        # As models answer.
        return 'Sure:\n```json\n{"selected_memories": ["tea.md"]}\n```'

    async def later(request: ModelRequest) -> str:
        await asyncio.sleep(0)
        return model(request)

    recall = face(
        quiet | {"model": later if asynchronous else model},
        "recall",
        QUERY,
        recent_tools=["Grep"],
        tool_results=[
            ToolResult(tool="Bash", ok=True),
            ToolResult(tool="Edit", ok=False),
            ToolResult(tool="Task"),
        ],
    )
    (memory,) = recall.memories
    assert (memory.path, memory.reason, memory.score) == ("tea.md", "model", None)
    assert recall.report == ()
    (request,) = asked
    assert request.purpose == "select-memories"
    assert "selected_memories" in request.system
    (message,) = request.messages
    assert message.role == "user"
    assert QUERY in message.content
    for line in face(quiet, "manifest").splitlines():
        assert line in message.content
    # The tools stand at the end.
    assert message.content.endswith("\n\nGrep, Bash")
    assert request.max_tokens == 1_024
    assert request.schema is not None
    assert request.schema["required"] == ["selected_memories"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        request.purpose = ""  # type: ignore[misc]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (ValueError("no"), "ValueError: no"),
        (TimeoutError("own"), "TimeoutError: own"),
        (KeyError(), "KeyError"),
        (None, "must return a str, not NoneType"),
        (b"[]", "must return a str, not bytes"),
        ({"selected_memories": []}, "must return a str, not dict"),
        ("\ud800", "surrogate"),
        ("", "empty"),
        ("none of them", "no list"),
        ('{"selected_memories": ["dep', "no list"),
        ('{"selected_memories": "deploys.md"}', "no list"),
    ],
)
def test_when_a_function_fails_words_decide(
    quiet: Options, face: Face, answer: Any, words: str
) -> None:
    def model(_: ModelRequest) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def later(request: ModelRequest) -> Any:
        return model(request)

    for one in (model, later):
        recall = face(quiet | {"model": one}, "recall", QUERY)
        assert [(memory.path, memory.reason) for memory in recall.memories] == [
            ("deploys.md", "lexical")
        ]
        (entry,) = recall.report
        assert (entry.path, entry.code) == ("", "model-failed")
        assert words in entry.message


def test_a_function_whose_exception_cannot_be_shown(quiet: Options, face: Face) -> None:
    class MutedError(Exception):
        def __str__(self) -> str:
            raise RuntimeError("str")

    for error in (MutedError(), ValueError("half \ud800 of it")):

        def model(_: ModelRequest, error: Exception = error) -> str:
            raise error

        recall = face(quiet | {"model": model}, "recall", QUERY)
        assert (paths(recall), codes(recall)) == (["deploys.md"], ["model-failed"])
        assert type(error).__name__ in recall.report[0].message


def test_a_function_that_leaves_the_program(store: Path, face: Face) -> None:
    def model(_: ModelRequest) -> str:
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        face({"directory": store, "model": model}, "recall", QUERY)
    assert paths(face(store, "recall", QUERY)) == ["deploys.md"]


def test_a_function_may_choose_nothing_and_must_not_invent(quiet: Options, face: Face) -> None:
    none = face(quiet | {"model": choosing()}, "recall", QUERY)
    assert (none.memories, none.report) == ((), ())
    more = face(quiet | {"model": choosing("../tea.md", "tea.md", "tea.md")}, "recall", QUERY)
    assert paths(more) == ["tea.md"]
    (entry,) = more.report
    assert entry.code == "model-answer-cut"
    assert "../tea.md" in entry.message


def test_the_strategy_says_who_chooses(quiet: Options, face: Face) -> None:
    def model(_: ModelRequest) -> str:
        raise AssertionError("it was asked")

    lexical = face(quiet | {"model": model}, "recall", QUERY, strategy="lexical")
    assert (paths(lexical), codes(lexical)) == (["deploys.md"], [])
    chosen = face(quiet | {"model": choosing("tea.md")}, "recall", QUERY, strategy="model")
    assert paths(chosen) == ["tea.md"]
    with pytest.raises(memdir.ModelError) as raised:
        face(quiet, "recall", QUERY, strategy="model")
    assert raised.value.code == "no-model"
    # One word says too little to ask about.
    short = face(quiet | {"model": model}, "recall", "deploys?")
    assert (paths(short), codes(short)) == (["deploys.md"], ["model-skipped"])


def test_a_limit(quiet: Options, face: Face) -> None:
    both = quiet | {"model": choosing("tea.md", "deploys.md")}
    assert paths(face(both, "recall", QUERY, limit=1)) == ["tea.md"]
    lowered = face(both, "recall", QUERY, limit=6)
    assert (paths(lowered), codes(lowered)) == (["tea.md", "deploys.md"], ["limit-lowered"])


@pytest.mark.parametrize("limit", [0, -1, -(10**5000), 2**32], ids=range(4))
def test_a_limit_that_makes_no_sense(quiet: Options, face: Face, limit: int) -> None:
    with pytest.raises(memdir.InputError) as raised:
        face(quiet, "recall", QUERY, limit=limit)
    assert raised.value.code == "invalid-argument"
    assert str(raised.value) == "limit must be a whole number from 1 to 4294967295"


@pytest.mark.parametrize("name", ["surfaced", "already_read", "recent_tools", "tool_results"])
@pytest.mark.parametrize("given", ["c.md", b"c.md", {"c.md"}, None, 1])
def test_a_text_is_no_sequence_of_texts(quiet: Options, face: Face, name: str, given: Any) -> None:
    of = "ToolResult" if name == "tool_results" else "str"
    with pytest.raises(TypeError, match=f"^{name} must be a sequence of {of}, not "):
        face(quiet, "recall", QUERY, **{name: given})


@pytest.mark.parametrize("name", ["surfaced", "already_read", "recent_tools"])
def test_a_number_is_no_text(quiet: Options, face: Face, name: str) -> None:
    with pytest.raises(TypeError, match=f"^{name} must be a sequence of str, not of int"):
        face(quiet, "recall", QUERY, **{name: ["a.md", 1]})


def test_guidelines_and_a_state_take_no_text_either(quiet: Options, face: Face) -> None:
    with pytest.raises(TypeError, match="guidelines must be a sequence of str, not str"):
        face(quiet, "prompt", guidelines="Be brief.")
    with pytest.raises(TypeError, match="surfaced must be a sequence of str, not str"):
        RecallState(surfaced="tea.md")


def test_a_strategy_that_there_is_not(quiet: Options, face: Face) -> None:
    with pytest.raises(memdir.InputError, match="strategy must be auto, model or lexical"):
        face(quiet, "recall", QUERY, strategy="x")


def test_a_state_may_be_kept_as_json(quiet: Options, face: Face) -> None:
    for state in (face(quiet, "recall", QUERY).state, RecallState()):
        kept = json.dumps(dataclasses.asdict(state))
        again = RecallState(**json.loads(kept))
        assert again == state
        assert hash(again) == hash(state)
        assert pickle.loads(pickle.dumps(again)) == state
    assert RecallState(surfaced=["tea.md"], bytes=5).surfaced == ("tea.md",)
    assert dataclasses.replace(state, bytes=5) == RecallState(bytes=5)


@pytest.mark.parametrize("name", ["surfaced", "already_read"])
def test_what_is_known_already_is_left_out(quiet: Options, face: Face, name: str) -> None:
    store = quiet["directory"]
    for path in ("deploys.md", str(store / "deploys.md")):
        assert paths(face(quiet, "recall", QUERY, **{name: [path]})) == []
    for path in ("tea.md", str(store / "tea.md"), "/code/shop/deploys.md", ""):
        assert paths(face(quiet, "recall", QUERY, **{name: (path,)})) == ["deploys.md"]


def test_budgets_over_turns(store: Path, face: Face) -> None:
    """Five memories of 4,096 bytes a turn are 20 KB; three turns are the 60 KB of a session."""
    names = [f"m{number:02}.md" for number in range(17)]
    for name in names:
        (store / name).write_text("x" * 4_096, encoding="utf-8")
    asked: list[list[str]] = []

    def model(request: ModelRequest) -> str:
        shown = [name for name in names if f" {name} " in request.messages[0].content]
        asked.append(shown)
        return json.dumps(shown[:5])

    options = {"directory": store, "features": Features(count_uses=False), "model": model}
    state: RecallState | None = None
    for turn in range(3):
        recall = face(options, "recall", QUERY, state=state)
        assert paths(recall) == names[5 * turn : 5 * turn + 5]
        assert all(len(memory.content) == 4_096 for memory in recall.memories)
        assert recall.report == ()
        state = recall.state
        assert state == RecallState(
            surfaced=tuple(names[: 5 * turn + 5]), bytes=20_480 * (turn + 1)
        )
        # As the agent may keep it between processes.
        kept = json.loads(json.dumps(dataclasses.asdict(state)))
        state = RecallState(**kept)
    assert asked == [names, names[5:], names[10:]]
    full = face(options, "recall", QUERY, state=state)
    assert (full.memories, codes(full), full.state) == ((), ["session-budget"], state)
    assert len(asked) == 3
    # After a compaction the state begins anew.
    assert paths(face(options, "recall", QUERY, state=RecallState())) == names[:5]


def test_the_last_bytes_of_a_session(quiet: Options, face: Face) -> None:
    (quiet["directory"] / "long.md").write_text("x" * 4_096, encoding="utf-8")
    options = quiet | {"model": choosing("long.md")}
    recall = face(options, "recall", QUERY, state=RecallState(bytes=61_440 - 300))
    (memory,) = recall.memories
    assert memory.content == "x" * 300
    assert memory.note
    assert memory.text.endswith(memory.note)
    assert codes(recall) == ["content-cut"]
    assert recall.state == RecallState(surfaced=("long.md",), bytes=61_440)
    # Less than 256 bytes would be a scrap.
    scrap = face(options, "recall", QUERY, state=RecallState(bytes=61_440 - 255))
    assert (scrap.memories, codes(scrap)) == ((), ["session-budget"])
    assert scrap.state == RecallState(bytes=61_440 - 255)


def test_a_long_memory_is_cut_at_a_line(quiet: Options, face: Face) -> None:
    (quiet["directory"] / "long.md").write_text("é\n" * 300, encoding="utf-8")
    recall = face(quiet | {"model": choosing("long.md")}, "recall", QUERY)
    (memory,) = recall.memories
    assert memory.content == "\n".join(["é"] * 200)
    assert codes(recall) == ["content-cut"]
    assert recall.state.bytes == 200 * 3 - 1


@pytest.mark.parametrize("query", ["", " \n", "\0", "?!", "the"])
def test_a_query_without_words(quiet: Options, face: Face, query: str) -> None:
    state = RecallState(surfaced=("tea.md",), bytes=7)
    recall = face(quiet | {"model": choosing("tea.md")}, "recall", query, state=state)
    assert (recall.memories, codes(recall), recall.state) == ((), ["query-empty"], state)


def test_strange_queries(quiet: Options, face: Face) -> None:
    assert paths(face(quiet, "recall", "deploy\0Friday")) == ["deploys.md"]
    start = time.monotonic()
    large = face(quiet, "recall", (QUERY + "\n") * 2**20)
    assert time.monotonic() - start < 10
    assert (paths(large), codes(large)) == (["deploys.md"], ["query-cut"])
    # The limit of 16 KiB lies within an é of this one.
    odd = face(quiet, "recall", "deploy Friday " + " é" * 2**19)
    assert codes(odd) == ["query-cut"]


def test_hostile_files_are_reported_and_the_rest_is_recalled(quiet: Options, face: Face) -> None:
    (quiet["directory"] / "latin1.md").write_bytes(b"deploy Friday caf\xe9")
    (quiet["directory"] / "folder.md").mkdir()
    recall = face(quiet, "recall", QUERY)
    assert paths(recall) == ["deploys.md"]
    assert [(entry.path, entry.code) for entry in recall.report] == [
        ("folder.md", "not-a-file"),
        ("latin1.md", "not-utf8"),
    ]


def test_recall_of_a_folder_that_is_not_there(tmp_path: Path, face: Face) -> None:
    recall = face(tmp_path / "no", "recall", QUERY)
    assert (recall.memories, codes(recall)) == ((), ["unlistable"])
    assert not (tmp_path / "no").exists()


def test_off_means_off(store: Path, face: Face) -> None:
    def model(_: ModelRequest) -> str:
        raise AssertionError("it was asked")

    off = {"directory": store, "settings": {"autoMemoryEnabled": False}, "model": model}
    recall = face(off, "recall", QUERY)
    assert (recall.memories, codes(recall)) == ((), ["disabled"])
    assert not (store / ".memdir").exists()


def test_closing_writes_what_was_recalled(store: Path, face: Face) -> None:
    uses = store / ".memdir" / "uses.json"
    before = time.time_ns() // 1_000_000

    def now(memory: Memdir) -> bool:
        for query in (QUERY, QUERY, "which tea do we drink?"):
            memory.recall(query)
        return uses.exists()

    async def later(memory: AsyncMemdir) -> bool:
        for query in (QUERY, QUERY, "which tea do we drink?"):
            await memory.recall(query)
        return uses.exists()

    assert face.using(store, now, later) is False
    written = json.loads(uses.read_text(encoding="utf-8"))["uses"]
    assert {path: use["count"] for path, use in written.items()} == {"deploys.md": 2, "tea.md": 1}
    for use in written.values():
        assert before <= use["lastMs"] <= time.time_ns() // 1_000_000
    # The next session adds to it.
    face(store, "recall", QUERY)
    written = json.loads(uses.read_text(encoding="utf-8"))["uses"]
    assert {path: use["count"] for path, use in written.items()} == {"deploys.md": 3, "tea.md": 1}
    assert (uses.parent / ".gitignore").read_text(encoding="utf-8") == "*\n"
    # No temporary file is left.
    assert sorted(path.name for path in uses.parent.iterdir()) == [".gitignore", "uses.json"]
    if os.name == "posix":
        assert uses.stat().st_mode & 0o777 == 0o600
        assert uses.parent.stat().st_mode & 0o777 == 0o700
    # None of it is a memory.
    assert {header.path for header in face(store, "scan").memories} == {"deploys.md", "tea.md"}


def test_uses_survive_a_compaction(store: Path) -> None:
    with Memdir(directory=store) as memory:
        memory.recall(QUERY)
        memory.compacted()
    assert (store / ".memdir" / "uses.json").exists()


def test_closing_twice_is_fine(store: Path) -> None:
    uses = store / ".memdir" / "uses.json"
    memory = Memdir(directory=store)
    memory.recall(QUERY)
    memory.close()
    written = uses.read_bytes()
    memory.close()
    with memory:
        pass

    async def main() -> None:
        memory = AsyncMemdir(directory=store)
        # Before it is open too.
        await memory.close()
        memory = await AsyncMemdir.open(directory=store)
        await memory.close()
        await memory.close()
        with pytest.raises(memdir.InputError, match="closed"):
            await memory.recall(QUERY)

    asyncio.run(main())
    assert uses.read_bytes() == written


def test_leaving_by_an_exception_writes_too(store: Path, face: Face) -> None:
    def now(memory: Memdir) -> None:
        memory.recall(QUERY)
        raise LookupError

    async def later(memory: AsyncMemdir) -> None:
        await memory.recall(QUERY)
        raise LookupError

    with pytest.raises(LookupError):
        face.using(store, now, later)
    assert (store / ".memdir" / "uses.json").exists()


def test_nothing_is_counted_when_switched_off(quiet: Options, face: Face) -> None:
    assert paths(face(quiet, "recall", QUERY)) == ["deploys.md"]
    assert not (quiet["directory"] / ".memdir").exists()


def test_nothing_is_written_when_nothing_was_recalled(store: Path, face: Face) -> None:
    face(store, "recall", "quarterly kangaroo statistics")
    assert not (store / ".memdir").exists()


def test_counts_that_cannot_be_read_begin_anew(store: Path, face: Face) -> None:
    (store / ".memdir").mkdir()
    (store / ".memdir" / "uses.json").write_text("{", encoding="utf-8")
    recall = face(store, "recall", QUERY)
    assert (paths(recall), codes(recall)) == (["deploys.md"], ["uses-unreadable"])
    assert face(store, "recall", QUERY).report == ()


def test_where_nothing_can_be_written_recall_works(store: Path, face: Face) -> None:
    (store / ".memdir").write_text("not a folder", encoding="utf-8")
    recall = face(store, "recall", QUERY)
    assert (paths(recall), recall.report) == (["deploys.md"], ())
    assert (store / ".memdir").read_text(encoding="utf-8") == "not a folder"


@pytest.mark.skipif(
    os.name != "posix" or os.geteuid() == 0, reason="root may write where nobody may"
)
def test_a_read_only_store_is_recalled_from_silently(store: Path, face: Face) -> None:
    store.chmod(0o500)
    try:
        recall = face(store, "recall", QUERY)
    finally:
        store.chmod(0o700)
    assert (paths(recall), recall.report) == (["deploys.md"], ())
    assert not (store / ".memdir").exists()


@pytest.mark.skipif(os.name != "posix", reason="links")
def test_what_is_counted_does_not_leave_the_store(store: Path, face: Face, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (store / ".memdir").symlink_to(elsewhere)
    assert paths(face(store, "recall", QUERY)) == ["deploys.md"]
    assert list(elsewhere.iterdir()) == []


def test_a_call_cancelled_while_a_model_thinks_leaves_the_store_usable(store: Path) -> None:
    async def main() -> None:
        thinking, release = asyncio.Event(), threading.Event()
        loop = asyncio.get_running_loop()

        async def later(_: ModelRequest) -> str:
            thinking.set()
            await asyncio.sleep(30)
            return "[]"

        def blocking(_: ModelRequest) -> str:
            loop.call_soon_threadsafe(thinking.set)
            release.wait(30)
            return "[]"

        for model in (later, blocking):
            async with AsyncMemdir(directory=store, model=model) as memory:
                thinking.clear()
                task = asyncio.create_task(memory.recall(QUERY))
                await thinking.wait()
                start = time.monotonic()
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                assert time.monotonic() - start < 5
                recall = await memory.recall(QUERY, strategy="lexical")
                assert paths(recall) == ["deploys.md"]
        release.set()

    asyncio.run(main())
    written = json.loads((store / ".memdir" / "uses.json").read_text(encoding="utf-8"))["uses"]
    assert {path: use["count"] for path, use in written.items()} == {"deploys.md": 2}


def test_a_model_may_recall_from_the_same_store(quiet: Options) -> None:
    memory = Memdir(directory=quiet["directory"], features=quiet["features"])

    def model(_: ModelRequest) -> str:
        return json.dumps(paths(memory.recall("which tea do we drink?")))

    with Memdir(**quiet, model=model) as asking:
        assert paths(asking.recall(QUERY)) == ["tea.md"]


def test_many_recalls_at_once(quiet: Options) -> None:
    with Memdir(**quiet) as memory:
        expected = memory.recall(QUERY)
        results: list[memdir.Recall] = []

        def work() -> None:
            results.extend(memory.recall(QUERY) for _ in range(10))

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert results == [expected] * 80

    async def main() -> None:
        async with AsyncMemdir(**quiet) as memory:
            found = await asyncio.gather(*(memory.recall(QUERY) for _ in range(40)))
            assert found == [expected] * 40

    asyncio.run(main())
