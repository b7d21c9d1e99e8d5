"""Memory that writes itself: by a function, by the caller's own agent, and by a provider."""

from __future__ import annotations

import asyncio
import json
import signal
import threading
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import memdir
import pytest
from conftest import Face
from memdir import (
    AsyncExtractionRun,
    AsyncMemdir,
    ConversationRequest,
    ExtractionRun,
    ExtractionState,
    Features,
    Memdir,
    ModelOptions,
    RunReport,
    Usage,
    _extract,
)
from memdir._core import Flow
from memdir._drive import drive
from memdir._host import Host
from provider import Answer, called, providing, said
from scripted import Held, Scripted, calling, cancelled

FILE = "feedback_commits.md"
MEMORY = """\
---
name: Small commits
description: commits are small
type: feedback
---
Keep commits small.
"""
SAID: list[dict[str, Any]] = [
    {"id": "u1", "role": "user", "content": "please always write small commits"},
    {"id": "a1", "role": "assistant", "content": [{"type": "text", "text": "I will."}]},
]
MORE = [
    *SAID,
    {"id": "u2", "role": "user", "content": "and never push on a Friday"},
    {"id": "a2", "role": "assistant", "content": "Never."},
]
PROVIDERS = ["anthropic", "openai"]
ENDED = (("done", None), ("skipped", "nothing-new"))


def opening(store: Path, **changed: Any) -> dict[str, Any]:
    return {"directory": store, "env": {}, "features": Features(extract=True)} | changed


def writing(store: Path) -> dict[str, Any]:
    return {"file_path": str(store / FILE), "content": MEMORY}


def test_a_function_writes_a_memory(tmp_path: Path, face: Face) -> None:
    model = Scripted(calling("Write", **writing(tmp_path)))
    events: list[memdir.Event] = []
    options = opening(tmp_path, model=model, on_event=events.append)
    done = face(options, "extract", SAID)
    assert (done.outcome, done.reason, done.code) == ("done", None, None)
    assert (done.paths, done.removed, done.inbox) == ((FILE,), (), ())
    assert done.notice == f"Memory updated in {FILE}"
    assert (done.turns, done.ended, done.report) == (2, "answered", ())
    assert done.usage == Usage(input=5, output=2)
    assert done.state == ExtractionState(cursor="a1")
    assert (tmp_path / FILE).read_text("utf-8") == MEMORY
    assert [event.kind for event in events] == ["extract-memories"] * 3
    first, second = model.asked
    assert (first.purpose, first.prefix) == ("extract-memories", None)
    assert "Write" in {tool.name for tool in first.tools}
    assert all(tool.input_schema["type"] == "object" for tool in first.tools)
    assert "please always write small commits" in first.messages[0]["content"][0]["text"]
    assert second.messages[1]["content"][0]["name"] == "Write"
    assert second.messages[2]["content"][0]["tool_use_id"] == "toolu_1"


def test_what_was_looked_at_is_not_looked_at_again(tmp_path: Path, face: Face) -> None:
    def now(memory: Memdir) -> list[memdir.Extraction]:
        return [memory.extract(SAID), memory.extract(SAID)]

    async def later(memory: AsyncMemdir) -> list[memdir.Extraction]:
        return [await memory.extract(SAID), await memory.extract(SAID)]

    model = Scripted()
    first, second = face.using(opening(tmp_path, model=model), now, later)
    assert (first.outcome, second.outcome, second.reason) == ("done", "skipped", "nothing-new")
    # Nor after a restart.
    third = face(opening(tmp_path, model=model), "extract", SAID, state=first.state)
    assert (third.outcome, third.reason) == ("skipped", "nothing-new")
    assert len(model.asked) == 1


@pytest.mark.parametrize(
    ("changed", "features", "reason"),
    [
        ({}, Features(), "off"),
        ({"agent": "sub"}, Features(extract=True), "sub-agent"),
        ({"interactive": False}, Features(extract=True), "not-interactive"),
        ({"remote": True}, Features(extract=True), "remote"),
        ({}, Features(extract=True, extract_every=2), "throttled"),
    ],
)
def test_what_is_asked_decides(
    tmp_path: Path, face: Face, changed: dict[str, Any], features: Features, reason: str
) -> None:
    skipped = face(opening(tmp_path, features=features), "extract", SAID, **changed)
    assert (skipped.outcome, skipped.reason) == ("skipped", reason)
    # Nothing is written where nothing is done.
    assert list(tmp_path.iterdir()) == []


def test_only_the_new_messages_are_looked_at(tmp_path: Path) -> None:
    broken: list[dict[str, Any]] = [{"id": "x", "role": "nobody"}, {"id": "seen"}, *SAID]
    state = ExtractionState(cursor="seen")
    with Memdir(**opening(tmp_path, model=Scripted())) as memory:
        assert memory.extract(broken, state=state).outcome == "done"


def test_blocks_of_an_sdk(tmp_path: Path) -> None:
    class TextBlock:
        def to_dict(self, *, mode: str) -> dict[str, Any]:
            assert mode == "json"
            return {"type": "text", "text": "I will, dear friend."}

    messages = [SAID[0], {"role": "assistant", "content": [TextBlock()]}]
    model = Scripted()
    with Memdir(**opening(tmp_path, model=model)) as memory:
        request = {"system": "Be brief.", "messages": messages}
        assert memory.extract(messages, request=request).outcome == "done"
    prefix = model.asked[0].prefix
    assert prefix is not None
    assert prefix["messages"][1]["content"] == [{"type": "text", "text": "I will, dear friend."}]


@pytest.mark.parametrize(
    ("messages", "changed", "error"),
    [
        ("text", {}, TypeError),
        ([3], {}, TypeError),
        ([["role", "user"]], {}, TypeError),
        ([{"role": "user", "content": object()}], {}, TypeError),
        ([{"role": "user"}], {}, memdir.InputError),
        ([{"role": "nobody", "content": "x"}], {}, memdir.InputError),
        ([{"role": "user", "content": "\ud800"}], {}, memdir.InputError),
        (
            [{"role": "user", "content": [{"type": "text", "text": float("nan")}]}],
            {},
            memdir.InputError,
        ),
        (SAID, {"agent": "boss"}, memdir.InputError),
        (SAID, {"interactive": 1}, TypeError),
        (SAID, {"state": {"cursor": None}}, TypeError),
        (SAID, {"read_roots": "/srv"}, TypeError),
        (SAID, {"read_roots": ["srv"]}, memdir.InputError),
        (SAID, {"request": []}, TypeError),
        (SAID, {"request": "no JSON"}, memdir.InputError),
        (SAID, {"request": {"system": "s"}}, memdir.InputError),
    ],
)
def test_wrong_arguments(
    tmp_path: Path, face: Face, messages: Any, changed: dict[str, Any], error: type[Exception]
) -> None:
    def now(memory: Memdir) -> memdir.Extraction:
        with pytest.raises(error):
            memory.extract(messages, **changed)
        return memory.extract(SAID)

    async def later(memory: AsyncMemdir) -> memdir.Extraction:
        with pytest.raises(error):
            await memory.extract(messages, **changed)
        return await memory.extract(SAID)

    # The next one runs.
    done = face.using(opening(tmp_path, model=Scripted()), now, later)
    assert done.outcome == "done"


def test_without_a_model(tmp_path: Path, face: Face) -> None:
    with pytest.raises(memdir.ModelError) as raised:
        face(opening(tmp_path), "extract", SAID)
    assert raised.value.code == "no-model"


def test_a_model_that_fails(tmp_path: Path, face: Face) -> None:
    def model(_: ConversationRequest) -> str:
        raise ValueError("no luck")

    failed = face(opening(tmp_path, model=model), "extract", SAID)
    assert (failed.outcome, failed.turns, failed.state.cursor) == ("failed", 1, None)
    assert "no luck" in failed.message


# The caller's own agent.


def running(
    face: Face, steps: Callable[[Any, list[Any]], Iterator[tuple[str, Any]]], report: Any = None
) -> tuple[Any, list[Any]]:
    """An agent for either face: `steps` gives calls and is sent their replies."""
    replies: list[Any] = []

    def now(run: ExtractionRun) -> Any:
        replies.extend(run.call(name, given) for name, given in steps(run, replies))
        return report

    async def later(run: AsyncExtractionRun) -> Any:
        for name, given in steps(run, replies):
            replies.append(await run.call(name, given))
        return report

    return (later if face.asynchronous else now), replies


def test_an_agent_of_ones_own(tmp_path: Path, face: Face) -> None:
    tasks: list[Any] = []

    def steps(run: Any, replies: list[Any]) -> Iterator[tuple[str, Any]]:
        tasks.append(run)
        yield "Write", writing(tmp_path)
        yield "Read", json.dumps({"file_path": str(tmp_path / FILE)})
        yield "Write", {"file_path": "/etc/passwd", "content": "x"}

    report = RunReport(turns=3, usage=Usage(input=70, output=7, cached=60))
    agent, replies = running(face, steps, report)
    done = face(opening(tmp_path), "extract", SAID, run=agent)
    assert (done.outcome, done.paths, done.ended) == ("done", (FILE,), "answered")
    assert (done.turns, done.usage) == (report.turns, report.usage)
    assert [reply.is_error for reply in replies] == [False, False, True]
    assert "Keep commits small." in replies[1].content
    (task,) = tasks
    assert isinstance(task, memdir.ExtractionTask)
    assert task.system
    assert "please always write small commits" in task.prompt
    assert (task.max_turns, task.run) == (5, 1)
    assert {"Read", "Write", "Edit"} <= {tool.name for tool in task.tools}
    assert "Host" not in repr(task)


def test_an_agent_that_forks_the_conversation(tmp_path: Path, face: Face) -> None:
    tasks: list[Any] = []

    def steps(run: Any, _: list[Any]) -> Iterator[tuple[str, Any]]:
        tasks.append(run)
        return iter(())

    agent, _ = running(face, steps)
    tools = [{"name": "Write", "input_schema": {"type": "object"}}]
    request = {"tools": tools, "messages": SAID}
    assert face(opening(tmp_path), "extract", SAID, request=request, run=agent).outcome == "done"
    (task,) = tasks
    assert task.tools == ()
    assert "please always write small commits" not in task.prompt


@pytest.mark.parametrize(
    ("report", "words"),
    [
        (ValueError("no luck"), "ValueError: no luck"),
        (ValueError("\ud800"), "ValueError: ?"),
        (memdir.HostError("gone", code="network"), "gone"),
        (RunReport(error="too dear"), "too dear"),
        ({"turns": 3}, "run must return a RunReport or None, not dict"),
        (RunReport(turns="three"), "int"),  # type: ignore[arg-type]
        (RunReport(turns=-1), "out of range"),
    ],
)
def test_an_agent_that_fails(tmp_path: Path, face: Face, report: Any, words: str) -> None:
    def steps(_: Any, __: list[Any]) -> Iterator[tuple[str, Any]]:
        if isinstance(report, Exception):
            raise report
        return iter(())

    fails, _ = running(face, steps, report)
    succeeds, _ = running(face, lambda *_: iter(()))

    def now(memory: Memdir) -> list[memdir.Extraction]:
        return [memory.extract(SAID, run=fails), memory.extract(SAID, run=succeeds)]

    async def later(memory: AsyncMemdir) -> list[memdir.Extraction]:
        return [await memory.extract(SAID, run=fails), await memory.extract(SAID, run=succeeds)]

    failed, done = face.using(opening(tmp_path), now, later)
    assert (failed.outcome, failed.code, failed.ended) == ("failed", "other", None)
    assert words in failed.message
    # The same messages are looked at again.
    assert (done.outcome, done.state.cursor) == ("done", "a1")


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt()], ids=["exit", "interrupt"])
def test_an_agent_that_leaves(tmp_path: Path, face: Face, error: BaseException) -> None:
    leaves = True

    def steps(_: Any, __: list[Any]) -> Iterator[tuple[str, Any]]:
        if leaves:
            raise error
        return iter(())

    agent, _ = running(face, steps)
    memory = (
        Memdir(**opening(tmp_path)) if not face.asynchronous else AsyncMemdir(**opening(tmp_path))
    )

    def extract() -> memdir.Extraction:
        found = memory.extract(SAID, run=agent)
        return asyncio.run(found) if not isinstance(found, memdir.Extraction) else found

    with pytest.raises(type(error)):
        extract()
    leaves = False
    assert extract().outcome == "done"


def test_a_run_that_is_over(tmp_path: Path) -> None:
    kept: list[ExtractionRun] = []
    with Memdir(**opening(tmp_path)) as memory:
        memory.extract(SAID, run=lambda run: kept.append(run))
        with pytest.raises(memdir.HostError) as raised:
            kept[0].call("Read", {"file_path": "MEMORY.md"})
        assert raised.value.code == "not-found"
        with pytest.raises(TypeError):
            kept[0].call("Read", ["MEMORY.md"])  # type: ignore[arg-type]


# Several at once, and what stops them.


def test_two_at_once_are_one_after_the_other(tmp_path: Path) -> None:
    async def main() -> None:
        model = Held()
        async with AsyncMemdir(**opening(tmp_path, model=model)) as memory:
            first = asyncio.create_task(memory.extract(SAID))
            await model.asked.wait()
            second = await memory.extract(MORE)
            assert (second.outcome, second.turns) == ("queued", 0)
            other = asyncio.create_task(memory.extract(SAID, session="other"))
            model.release.set()
            done = await first
            assert (done.outcome, done.turns, done.state.cursor) == ("done", 2, "a2")
            # Another conversation is not kept waiting.
            assert (await other).outcome == "done"
        shown = [request.messages[0]["content"][0]["text"] for request in model.scripted.asked]
        assert sum("never push on a Friday" in text for text in shown) == 1

    asyncio.run(main())


def test_two_at_once_with_an_agent(tmp_path: Path) -> None:
    async def main() -> None:
        begun, release = asyncio.Event(), asyncio.Event()
        prompts: list[str] = []

        async def agent(run: AsyncExtractionRun) -> None:
            prompts.append(run.prompt)
            begun.set()
            await release.wait()

        async with AsyncMemdir(**opening(tmp_path)) as memory:
            first = asyncio.create_task(memory.extract(SAID, run=agent))
            await begun.wait()
            assert (await memory.extract(MORE, run=agent)).outcome == "queued"
            assert await memory.drain(10) is False
            release.set()
            stopped = await first
            assert (stopped.outcome, stopped.ended) == ("failed", "stopped")
            # What it was shown is looked at again.
            assert stopped.state.cursor is None
        # What was stopped is not followed by another one.
        assert len(prompts) == 1

    asyncio.run(main())


def test_closing_waits_for_what_is_under_way(tmp_path: Path) -> None:
    async def main() -> None:
        model = Held(calling("Write", **writing(tmp_path)))
        memory = await AsyncMemdir.open(**opening(tmp_path, model=model))
        task = asyncio.create_task(memory.extract(SAID))
        await model.asked.wait()
        closing = asyncio.create_task(memory.close())
        await asyncio.sleep(0.05)
        assert not closing.done()
        model.release.set()
        await closing
        assert (await task).paths == (FILE,)
        with pytest.raises(memdir.InputError):
            await memory.extract(MORE)

    asyncio.run(main())
    assert (tmp_path / FILE).read_text("utf-8") == MEMORY


def test_closing_waits_for_another_thread(tmp_path: Path) -> None:
    begun, release = threading.Event(), threading.Event()

    def model(request: ConversationRequest) -> str:
        begun.set()
        release.wait(20)
        return calling("Write", **writing(tmp_path)) if len(request.messages) == 1 else "Done."

    memory = Memdir(**opening(tmp_path, model=model))
    threading.Thread(target=memory.extract, args=(SAID,)).start()
    assert begun.wait(20)
    threading.Timer(0.1, release.set).start()
    memory.close()
    assert (tmp_path / FILE).read_text("utf-8") == MEMORY


def test_draining(tmp_path: Path, face: Face) -> None:
    assert face(opening(tmp_path), "drain") is True
    assert face(opening(tmp_path), "drain", 0) is True
    with pytest.raises(memdir.InputError):
        face(opening(tmp_path), "drain", -1)


@pytest.mark.parametrize("own", [False, True], ids=["model", "run"])
def test_a_task_that_is_cancelled_lets_the_next_one_run(tmp_path: Path, own: bool) -> None:
    async def main() -> None:
        model = Held()

        async def agent(_: AsyncExtractionRun) -> None:
            model.asked.set()
            await model.release.wait()

        options: dict[str, Any] = {"run": agent} if own else {}
        async with AsyncMemdir(**opening(tmp_path, model=model)) as memory:
            task = asyncio.create_task(memory.extract(SAID, **options))
            await model.asked.wait()
            await cancelled(task)
            model.release.set()
            done = await memory.extract(SAID, **options)
            assert (done.outcome, done.state.cursor) == ("done", "a1")

    asyncio.run(main())


def test_a_task_cancelled_at_any_moment_lets_the_next_one_run(tmp_path: Path) -> None:
    async def main() -> None:
        async with AsyncMemdir(**opening(tmp_path)) as memory:
            for turns in range(60):
                task = asyncio.create_task(
                    memory.extract(SAID, session=str(turns), run=lambda _: None)
                )
                for _ in range(turns):
                    await asyncio.sleep(0.0001)
                task.cancel()
                await asyncio.wait([task])
                if task.cancelled():
                    # It may have succeeded just before.
                    again = await memory.extract(SAID, session=str(turns), run=lambda _: None)
                    assert (again.outcome, again.reason) in (
                        ("done", None),
                        ("skipped", "nothing-new"),
                    )

    asyncio.run(main())


@pytest.mark.parametrize("own", [False, True], ids=["model", "run"])
@pytest.mark.usefixtures("_ctrl_c")
def test_ctrl_c_lets_the_next_one_run(tmp_path: Path, own: bool) -> None:
    release = threading.Event()

    def interrupt() -> None:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    def strike() -> None:
        if not release.is_set():
            threading.Timer(0.1, interrupt).start()
            release.wait(20)

    def model(_: ConversationRequest) -> str:
        strike()
        return "Nothing."

    def agent(run: ExtractionRun) -> None:
        run.call("Read", {"file_path": "MEMORY.md"})
        strike()

    options: dict[str, Any] = {"run": agent} if own else {}
    with Memdir(**opening(tmp_path, model=model)) as memory:
        with pytest.raises(KeyboardInterrupt):
            memory.extract(SAID, **options)
        release.set()
        assert memory.extract(SAID, **options).outcome == "done"


@pytest.mark.parametrize("at", [1, 2], ids=["begin", "end"])
def test_an_interrupt_between_a_step_and_its_driver_loses_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    """Ctrl-C can strike when a run has begun and before anybody has heard of it."""
    drives = 0

    def struck(flow: Flow[Any], host: Host) -> Any:
        nonlocal drives
        drives += 1
        found = drive(flow, host)
        if drives == at:
            raise KeyboardInterrupt
        return found

    monkeypatch.setattr(_extract, "drive", struck)
    with Memdir(**opening(tmp_path)) as memory:
        with pytest.raises(KeyboardInterrupt):
            memory.extract(SAID, run=lambda _: None)
        assert memory.extract(MORE, run=lambda _: None).outcome == "done"


# The inbox.


def test_what_is_reviewed_waits(tmp_path: Path, face: Face) -> None:
    old = MEMORY.replace("small", "tiny")
    (tmp_path / "feedback_old.md").write_text(old, encoding="utf-8")
    calls = [
        calling("Write", **writing(tmp_path)),
        calling("Read", file_path=str(tmp_path / "feedback_old.md")),
        calling("Delete", file_path=str(tmp_path / "feedback_old.md")),
    ]

    async def main(memory: Any, wait: Callable[[Any], Awaitable[Any]]) -> None:
        done = await wait(memory.extract(SAID, review=True))
        (id_,) = done.inbox
        assert done.paths == (FILE,)
        assert done.removed == ("feedback_old.md",)
        assert not (tmp_path / FILE).exists()
        inbox = await wait(memory.inbox.list())
        (item,) = inbox.items
        assert (item.id, item.purpose, inbox.report) == (id_, "extract", ())
        created, deleted = item.changes
        assert (created.path, created.kind, created.is_stale) == (FILE, "created", False)
        lines = MEMORY.splitlines()
        assert (created.added, created.removed) == (len(lines), 0)
        assert created.diff.splitlines()[3:] == [f"+{line}" for line in lines]
        assert (deleted.path, deleted.kind) == ("feedback_old.md", "deleted")
        applied = await wait(memory.inbox.apply(id_, [FILE]))
        (result,) = applied.results
        assert (result.outcome, result.path) == ("written", FILE)
        assert applied.left == ("feedback_old.md",)
        assert (tmp_path / FILE).read_text("utf-8") == MEMORY
        with pytest.raises(memdir.HostError):
            await wait(memory.inbox.apply(id_, ["other.md"]))
        with pytest.raises(TypeError):
            await wait(memory.inbox.drop(id_, "feedback_old.md"))
        assert await wait(memory.inbox.drop(id_, ["feedback_old.md"])) == []
        assert (await wait(memory.inbox.list())).items == ()
        assert (tmp_path / "feedback_old.md").read_text("utf-8") == old
        with pytest.raises(memdir.HostError) as raised:
            await wait(memory.inbox.apply(id_))
        assert raised.value.code == "not-found"

    async def at_once(value: Any) -> Any:
        return value

    async def later(value: Awaitable[Any]) -> Any:
        return await value

    face.using(
        opening(tmp_path, model=Scripted(*calls)),
        lambda memory: asyncio.run(main(memory, at_once)),
        lambda memory: main(memory, later),
    )


# Transcripts.


def test_a_transcript(tmp_path: Path, face: Face) -> None:
    talk = [{"role": "user", "content": "we write small commits"}, SAID[1]]
    file = tmp_path / "talk.jsonl"
    file.write_text("\n".join(json.dumps(each) for each in talk), encoding="utf-8")
    store = tmp_path / "store"
    store.mkdir()
    options = opening(store, model=Scripted(), cwd=str(tmp_path))
    transcript = face(options, "transcript", "talk.jsonl")
    assert transcript.left_out == 0
    assert transcript.report == ()
    assert transcript.messages == (
        talk[0] | {"id": None, "isMeta": False, "tokens": None},
        SAID[1]
        | {"content": ({"type": "text", "text": "I will."},), "isMeta": False, "tokens": None},
    )
    assert face(options, "extract", transcript.messages).state.cursor == "a1"
    with pytest.raises(memdir.HostError) as raised:
        face(options, "transcript", "none.jsonl")
    assert raised.value.code == "not-found"


# Providers.

SYSTEM = [
    {"type": "text", "text": "Sei kürz, 日本.", "cache_control": {"type": "ephemeral"}},
]
SCHEMA = {"type": "object", "properties": {"file_path": {"type": "string"}}}


def dumped(part: Any) -> str:
    return json.dumps(part, ensure_ascii=False, separators=(",", ":"))


def parent(provider: str) -> dict[str, Any]:
    """What the conversation would be continued with."""
    names = ["Read", "Write", "Edit"]
    if provider == "anthropic":
        return {
            "model": "claude-large",
            "max_tokens": 4096,
            "system": SYSTEM,
            "tools": [
                {"name": name, "description": "tüt", "input_schema": SCHEMA} for name in names
            ],
            "messages": [
                {"role": "user", "content": "bitte kleine Commits, 日本 \U0001f600"},
                {"role": "assistant", "content": [{"type": "text", "text": "Ja.\u2028\u0001"}]},
            ],
        }
    functions = [{"name": name, "description": "tüt", "parameters": SCHEMA} for name in names]
    return {
        "model": "gpt-large",
        "messages": [
            {"role": "system", "content": "Sei kürz, 日本."},
            {"role": "user", "content": "bitte kleine Commits, 日本 \U0001f600"},
            {"role": "assistant", "content": "Ja.\u2028\u0001"},
        ],
        "tools": [{"type": "function", "function": function} for function in functions],
    }


def unmarked(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Messages without the places for the cache, which move from turn to turn."""
    for message in messages:
        if isinstance(message["content"], list):
            for block in message["content"]:
                block.pop("cache_control", None)
    return messages


@pytest.mark.parametrize("as_text", [False, True], ids=["dict", "text"])
@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_run_goes_on_behind_the_conversation(
    tmp_path: Path, face: Face, provider: str, as_text: bool
) -> None:
    request = parent(provider)
    answers = [
        called(provider, 1, "Read", file_path=str(tmp_path / "MEMORY.md")),
        called(provider, 2, "Write", **writing(tmp_path)),
        said(provider, "Fertig."),
    ]
    with providing(*answers) as server:
        options = opening(tmp_path, model=ModelOptions(f"{provider}/small-1", "key", server.url))
        given = dumped(request) if as_text else request
        done = face(options, "extract", SAID, request=given)
    assert (done.outcome, done.paths, done.turns) == ("done", (FILE,), 3)
    assert done.report == ()
    assert len(server.seen) == 3
    for seen in server.seen:
        for name in request.keys() - {"messages", "max_tokens"}:
            assert f"{dumped(name)}:{dumped(request[name])}" in seen.text
        # Behind the parent's messages come others.
        assert f'"messages":{dumped(request["messages"])[:-1]},{{' in seen.text
        assert seen.body.keys() <= request.keys() | {"max_tokens", "max_completion_tokens"}
    for before, after in zip(server.seen, server.seen[1:], strict=False):
        earlier = unmarked(before.body["messages"])
        assert unmarked(after.body["messages"])[: len(earlier)] == earlier
        assert len(after.body["messages"]) == len(earlier) + 2


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_model_that_never_ends_has_five_turns(tmp_path: Path, face: Face, provider: str) -> None:
    with providing(called(provider, 1, "Glob", pattern="**")) as server:
        options = opening(tmp_path, model=ModelOptions(f"{provider}/small-1", "key", server.url))
        done = face(options, "extract", SAID, request=parent(provider))
    assert (done.outcome, done.turns, done.ended) == ("done", 5, "turns")
    assert len(server.seen) == 5
    assert done.usage == Usage(input=45, output=45)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_cancelling_stops_a_request(tmp_path: Path, provider: str) -> None:
    async def main() -> None:
        with providing(Answer(hangs=True)) as server:
            model = ModelOptions(f"{provider}/small-1", "key", server.url)
            async with AsyncMemdir(**opening(tmp_path, model=model)) as memory:
                task = asyncio.create_task(memory.extract(SAID))
                await asyncio.to_thread(server.hanging.wait, 20)
                await cancelled(task)
                assert len(server.seen) == 1
                server.answers[:] = [said(provider, "Fertig.")]
                assert (await memory.extract(SAID)).outcome == "done"

    asyncio.run(main())


def test_a_provider_that_has_no_more_is_left_alone(tmp_path: Path, face: Face) -> None:
    refused = Answer(b'{"error": {"message": "no credit"}}', 401)
    with providing(refused) as server:
        model = ModelOptions("anthropic/small-1", "key", server.url)

        def now(memory: Memdir) -> list[memdir.Extraction]:
            return [memory.extract(SAID), memory.extract(SAID)]

        async def later(memory: AsyncMemdir) -> list[memdir.Extraction]:
            return [await memory.extract(SAID), await memory.extract(SAID)]

        failed, paused = face.using(opening(tmp_path, model=model), now, later)
    assert (failed.outcome, failed.code) == ("failed", "model-auth")
    assert (paused.outcome, paused.reason) == ("skipped", "paused")
    assert len(server.seen) == 1
