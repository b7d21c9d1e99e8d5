"""What both loops owe: events, models, the terminal, and ending cleanly when interrupted."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import importlib
import io
import json
import logging
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import memdir
import pytest
from conftest import Run, run_blocking
from memdir import Memdir
from memdir._core import Flow, Step, probe
from memdir._drive import Stop, drive, drive_async
from memdir._host import Host
from server import serving

SLEEP = {"kind": "sleep", "ms": 20_000}
REQUEST = memdir.ModelRequest(
    purpose="é",
    system="be brief",
    messages=(memdir.ModelMessage(role="user", content="hello"),),
    max_tokens=9,
    schema={"type": "object"},
)
MODEL = {
    "kind": "model",
    "request": json.dumps(
        {
            "purpose": "é",
            "system": "be brief",
            "messages": [{"role": "user", "content": "hello"}],
            "maxTokens": 9,
            "schema": {"type": "object"},
        }
    ),
    "timeoutMs": 20_000,
}

TOKEN = {"kind": "token", "timeoutMs": 20_000}
APPROVE = {
    "kind": "approve",
    "path": "/out/é.md",
    "parent": "/project/CLAUDE.md",
    "timeoutMs": 20_000,
}
# What is asked of a function of the user's, and under which name the host has it.
ASKED = [
    pytest.param(MODEL, "model", id="model"),
    pytest.param(TOKEN, "token", id="token"),
    pytest.param(APPROVE, "approve_import", id="approve"),
]


def hanging(release: threading.Event) -> Host:
    """A host whose functions give no answer before they are let."""
    return Host(
        model=lambda _: str(release.wait(20)),
        token=lambda: str(release.wait(20)),
        approve_import=lambda *_: release.wait(20),
    )


def event(message: str) -> dict[str, Any]:
    fields = {"kind": "warning", "path": "a.md", "code": None, "message": message}
    return {"kind": "emit", "event": fields}


class Watched:
    """A flow that remembers how it was driven."""

    def __init__(self, flow: Flow[Any], before: Callable[[int], None] = lambda _: None) -> None:
        self.flow = flow
        self.before = before
        self.cancelled = 0
        self.resumed = 0
        self.ended: object = None

    @property
    def it(self) -> Flow[Any]:
        return cast("Flow[Any]", self)

    def resume(self, responses: list[dict[str, Any]]) -> Step[Any]:
        self.before(self.resumed)
        self.resumed += 1
        try:
            step = self.flow.resume(responses)
        except memdir.MemdirError as error:
            self.ended = self.ended or error.code
            raise
        if step.done:
            self.ended = self.ended or "done"
        return step

    def pending(self) -> list[dict[str, Any]]:
        return self.flow.pending()

    def cancel(self) -> None:
        self.cancelled += 1
        self.flow.cancel()


def test_events_come_in_order_before_the_end(run: Run) -> None:
    heard: list[memdir.Event] = []
    effects = [event("one"), {"kind": "now"}, event("two"), {"kind": "sleep", "ms": 1}]
    outcomes = run(probe(effects), Host(on_event=heard.append))
    assert [one.message for one in heard] == ["one", "two"]
    assert heard[0] == memdir.Event(kind="warning", path="a.md", code=None, message="one")
    assert outcomes[0] == outcomes[3] == "done"


def test_what_a_listener_throws_is_logged_and_goes_no_further(
    run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    def listen(_: memdir.Event) -> None:
        raise RuntimeError("listener")

    with caplog.at_level(logging.ERROR, logger="memdir"):
        assert run(probe([event("one"), {"kind": "sleep", "ms": 0}]), Host(on_event=listen))
    assert "on_event raised" in caplog.text
    assert "RuntimeError: listener" in caplog.text


def test_what_cannot_be_called_is_refused(tmp_path: Path) -> None:
    async def listen(_: memdir.Event) -> None:
        """Never awaited."""

    team = memdir.TeamOptions(token=1)  # type: ignore[arg-type]
    for named in ({"on_event": listen}, {"on_event": 1}, {"model": 1}, {"team": team}):
        with pytest.raises(TypeError, match="must be"):
            Memdir(directory=tmp_path, **named)
    with pytest.raises(TypeError, match="must be callable"):
        Host(model="claude")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="must be callable"):
        Host(token="t")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="approve_import must be callable, not bool"):
        Memdir(directory=tmp_path, approve_import=True)  # type: ignore[arg-type]


def test_the_model_is_called_with_the_callers_context(run: Run) -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="none")
    variable.set("callers")

    def model(request: memdir.ModelRequest) -> str:
        asked.append(request)
        return f"{request.purpose} {variable.get()}"

    asked: list[memdir.ModelRequest] = []
    assert run(probe([MODEL]), Host(model=model)) == [{"text": "é callers"}]
    assert asked == [REQUEST]


def test_the_model_may_be_asynchronous() -> None:
    async def model(request: memdir.ModelRequest) -> str:
        await asyncio.sleep(0.01)
        return request.purpose.upper()

    class Model:
        async def __call__(self, request: memdir.ModelRequest) -> str:
            return await model(request)

    for one in (model, Model(), lambda request: model(request)):
        outcomes = asyncio.run(drive_async(probe([MODEL]), Host(model=one)))
        assert outcomes == [{"text": "É"}]


def test_the_token_may_be_asked_for_in_every_way(run: Run) -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="none")
    variable.set("callers")

    async def later() -> str:
        await asyncio.sleep(0.01)
        return variable.get()

    class Token:
        async def __call__(self) -> str:
            return await later()

    for one in (variable.get, later, Token(), lambda: later()):
        assert run(probe([TOKEN]), Host(token=one)) == [{"text": "callers"}]
    (outcome,) = run(probe([TOKEN]))
    assert outcome["failed"]["code"] == "unsupported"


@pytest.mark.parametrize("answer", [True, False])
def test_an_import_may_be_approved_in_every_way(run: Run, answer: bool) -> None:
    def approve(path: str, parent: str) -> bool:
        assert (path, parent) == (APPROVE["path"], APPROVE["parent"])
        return answer

    async def later(path: str, parent: str) -> bool:
        await asyncio.sleep(0.01)
        return approve(path, parent)

    class Approve:
        async def __call__(self, path: str, parent: str) -> bool:
            return await later(path, parent)

    for one in (approve, later, Approve(), lambda *paths: later(*paths)):
        assert run(probe([APPROVE]), Host(approve_import=one)) == [{"approved": answer}]
    (outcome,) = run(probe([APPROVE]))
    assert outcome["failed"]["code"] == "unsupported"


@pytest.mark.parametrize("answer", [None, 1, "yes", ["/out/é.md"]])
def test_only_a_bool_approves_an_import(run: Run, answer: Any) -> None:
    (outcome,) = run(probe([APPROVE]), Host(approve_import=lambda *_: answer))
    assert outcome["failed"]["code"] == "other"
    assert f"must return a bool, not {type(answer).__name__}" in outcome["failed"]["message"]


class MutedError(Exception):
    """An exception that breaks whoever shows it."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def __str__(self) -> str:
        if isinstance(self.answer, Exception):
            raise self.answer
        return cast("str", self.answer)


class Odd(str):
    """A text that does not encode."""

    __slots__ = ()

    def encode(self, *_: Any) -> bytes:
        raise LookupError


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (ValueError("no"), "ValueError: no"),
        (TimeoutError("own"), "TimeoutError: own"),
        (StopIteration(), "StopIteration"),
        (MutedError(RuntimeError("str")), "MutedError, whose message cannot be shown"),
        (MutedError(7), "MutedError, whose message cannot be shown"),
        (ValueError("half \ud800 of it"), "ValueError: half ? of it"),
        (asyncio.CancelledError(), "CancelledError"),
        (7, "must return a "),
    ],
    ids=range(8),
)
@pytest.mark.parametrize(("effect", "name"), ASKED)
def test_what_a_function_does_wrong_is_a_failed_effect(
    run: Run, answer: Any, words: str, effect: dict[str, Any], name: str
) -> None:
    def function(*_: memdir.ModelRequest) -> Any:
        if isinstance(answer, BaseException):
            raise answer
        return answer

    async def later(*_: memdir.ModelRequest) -> Any:
        return function()

    for one in (function, later):
        host = Host(**cast("dict[str, Any]", {name: one}))
        (outcome,) = run(probe([effect]), host)
        assert outcome["failed"]["code"] == "other"
        assert words in outcome["failed"]["message"]
        assert f"the {name} function" in outcome["failed"]["message"]


@pytest.mark.parametrize(("effect", "name"), ASKED[:2])
def test_half_of_a_surrogate_pair_is_no_text(run: Run, effect: dict[str, Any], name: str) -> None:
    host = Host(**cast("dict[str, Any]", {name: lambda *_: "\ud800"}))
    (outcome,) = run(probe([effect]), host)
    assert outcome["failed"]["code"] == "other"
    assert f"the {name} function gave half of a surrogate" in outcome["failed"]["message"]


def test_a_text_of_a_class_of_its_own_is_a_text(run: Run) -> None:
    assert run(probe([MODEL]), Host(model=lambda _: Odd("é"))) == [{"text": "é"}]


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt()], ids=["exit", "interrupt"])
@pytest.mark.parametrize("asynchronous", [False, True], ids=["function", "coroutine function"])
@pytest.mark.parametrize(("effect", "name"), ASKED)
def test_a_function_that_leaves_the_program_ends_the_flow(
    run: Run, error: BaseException, asynchronous: bool, effect: dict[str, Any], name: str
) -> None:
    def function(*_: memdir.ModelRequest) -> str:
        raise error

    async def later(*_: memdir.ModelRequest) -> str:
        return function()

    flow = Watched(probe([effect, SLEEP]))
    one = later if asynchronous else function
    start = time.monotonic()
    with pytest.raises(type(error)) as raised:
        run(flow.it, Host(**cast("dict[str, Any]", {name: one})))
    assert raised.value is error
    assert (flow.cancelled, flow.ended) == (1, "aborted")
    assert time.monotonic() - start < 5


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt])
def test_a_caller_hears_of_a_model_that_leaves_the_program(error: type[BaseException]) -> None:
    def model(_: memdir.ModelRequest) -> str:
        raise error

    async def main() -> str:
        try:
            await drive_async(probe([MODEL]), Host(model=model))
        except (SystemExit, KeyboardInterrupt, asyncio.CancelledError) as raised:
            return type(raised).__name__
        return "nothing"

    assert asyncio.run(main()) == error.__name__


@pytest.mark.parametrize(("effect", "name"), ASKED)
def test_a_function_that_hangs_is_given_up(run: Run, effect: dict[str, Any], name: str) -> None:
    release = threading.Event()
    start = time.monotonic()
    host = Host(**cast("dict[str, Any]", {name: lambda *_: release.wait(20)}))
    (outcome,) = run(probe([effect | {"timeoutMs": 200}]), host)
    release.set()
    assert outcome["failed"]["code"] == "timeout"
    assert time.monotonic() - start < 5


def test_a_model_that_swallows_its_cancellation_is_given_up() -> None:
    async def main() -> None:
        release, ended = asyncio.Event(), asyncio.Event()

        async def model(_: memdir.ModelRequest) -> str:
            while not release.is_set():
                with contextlib.suppress(asyncio.CancelledError):
                    await release.wait()
            ended.set()
            return "late"

        effect = MODEL | {"timeoutMs": 300}
        start = time.monotonic()
        (outcome,) = await asyncio.wait_for(drive_async(probe([effect]), Host(model=model)), 5)
        assert 0.3 <= time.monotonic() - start < 2
        assert outcome["failed"]["code"] == "timeout"
        # Nor by who cancels the call.
        task = asyncio.create_task(drive_async(probe([effect]), Host(model=model)))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, 5)
        assert time.monotonic() - start < 4
        # It ends by itself.
        assert not ended.is_set()
        release.set()
        await asyncio.wait_for(ended.wait(), 5)

    asyncio.run(main())


def test_a_blocking_call_gives_up_a_model_that_swallows_its_cancellation() -> None:
    release = threading.Event()

    async def model(_: memdir.ModelRequest) -> str:
        while not release.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0.01)
        return "late"

    start = time.monotonic()
    (outcome,) = drive(probe([MODEL | {"timeoutMs": 300}]), Host(model=model))
    assert time.monotonic() - start < 2
    assert outcome["failed"]["code"] == "timeout"
    release.set()


def test_a_model_may_use_the_same_store(tmp_path: Path, run: Run) -> None:
    (tmp_path / "a.md").write_text("a", encoding="utf-8")
    memory = Memdir(directory=tmp_path)
    outcomes = run(probe([MODEL, MODEL]), Host(model=lambda _: memory.manifest()))
    assert outcomes == [{"text": memory.manifest()}] * 2


def test_print_is_utf8_whatever_the_stream_says(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    effect = {"kind": "print", "stream": "stdout", "text": "é 项目\n"}
    assert run(probe([effect])) == ["done"]
    assert raw.getvalue() == "é 项目\n".encode()


def test_print_to_a_replaced_stream_and_to_a_closed_one(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    effect = {"kind": "print", "stream": "stderr", "text": "é"}
    text = io.StringIO()
    monkeypatch.setattr(sys, "stderr", text)
    assert run(probe([effect])) == ["done"]
    assert text.getvalue() == "é"

    class Broken(io.StringIO):
        def write(self, _: str) -> int:
            raise BrokenPipeError(32, "Broken pipe")

    for stream in (Broken(), None):
        monkeypatch.setattr(sys, "stderr", stream)
        (outcome,) = run(probe([effect]))
        assert "failed" in outcome


def test_read_stdin(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    effects = [{"kind": "read-stdin", "maxBytes": 5, "line": False}]
    for content, expected in ((b"12345", b"12345"), (b"\xff", b"\xff"), (b"", b"")):
        stdin = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8")
        monkeypatch.setattr(sys, "stdin", stdin)
        assert run(probe(effects)) == [{"content": expected}]
    monkeypatch.setattr(sys, "stdin", io.StringIO("ééé"))
    assert run(probe(effects))[0]["failed"]["code"] == "too-large"


def test_read_a_line_of_stdin(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    effects = [{"kind": "read-stdin", "maxBytes": 5, "line": True}]
    content = b"12\r\n\n\xff\n12345\n123456\n7"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content), encoding="utf-8"))
    for expected in (b"12", b"", b"\xff", b"12345"):
        assert run(probe(effects)) == [{"content": expected}]
    assert run(probe(effects))[0]["failed"]["code"] == "too-large"
    monkeypatch.setattr(sys, "stdin", io.StringIO("é\nx"))
    for expected in ("é".encode(), b"x", b""):
        assert run(probe(effects)) == [{"content": expected}]
    monkeypatch.setattr(sys, "stdin", None)
    assert run(probe(effects)) == [{"content": b""}]


def editor(program: str, *arguments: str | Path) -> list[dict[str, Any]]:
    argv = [sys.executable, "-c", program, *map(str, arguments)]
    return [{"kind": "open-editor", "argv": argv}]


def test_open_editor(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # What is opened is decided elsewhere.
    monkeypatch.setenv("EDITOR", str(tmp_path / "missing"))
    file = tmp_path / "a b.md"
    write = "import sys, pathlib; pathlib.Path(sys.argv[1]).write_text('edited')"
    assert run(probe(editor(write, file))) == ["done"]
    assert file.read_text(encoding="utf-8") == "edited"
    (outcome,) = run(probe(editor("import sys; sys.exit(3)", file)))
    assert outcome["failed"]["code"] == "other"
    assert "3" in outcome["failed"]["message"]
    missing = [{"kind": "open-editor", "argv": [str(tmp_path / "missing"), str(file)]}]
    assert run(probe(missing))[0]["failed"]["code"] == "not-found"


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
@pytest.mark.usefixtures("_ctrl_c")
def test_ctrl_c_in_an_editor_is_for_the_editor(tmp_path: Path) -> None:
    program = """
import os, pathlib, signal, sys, time
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
os.kill(os.getppid(), signal.SIGINT)
time.sleep(0.3)
pathlib.Path(sys.argv[1]).write_text("kept")
"""
    assert drive(probe(editor(program, tmp_path / "a.md")), Host()) == ["done"]
    assert (tmp_path / "a.md").read_text(encoding="utf-8") == "kept"
    # Afterwards it interrupts as before.
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_watch(run: Run, tmp_path: Path) -> None:
    effects = [{"kind": "watch", "path": str(tmp_path), "timeoutMs": 300}]
    (outcome,) = run(probe(effects))
    try:
        importlib.import_module("watchfiles")
    except ImportError:
        assert outcome["failed"]["code"] == "unsupported"
    else:
        assert outcome == {"changed": False}


class Watchfiles:
    """In the place of the package: how it is called, and what it finds."""

    def __init__(self, *found: set[str], error: Exception | None = None) -> None:
        self.found = list(found)
        self.error = error
        self.asked: dict[str, Any] = {}
        self.running = threading.Event()
        self.ended = threading.Event()

    def watch(self, path: str, **asked: Any) -> Iterator[set[str]]:
        self.asked = asked | {"path": path}
        if self.error is not None:
            raise self.error
        self.running.set()
        try:
            while not asked["stop_event"].wait(0.01):
                if self.found:
                    yield self.found.pop(0)
        finally:
            self.ended.set()


def test_watching_is_what_the_effect_says(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    effects = [{"kind": "watch", "path": str(tmp_path), "timeoutMs": 0}]
    for found, changed in (({"a"}, True), (set(), False)):
        package = Watchfiles(found)
        monkeypatch.setitem(sys.modules, "watchfiles", package)
        assert run(probe(effects)) == [{"changed": changed}]
        assert package.ended.wait(5)
        assert package.asked["path"] == str(tmp_path)
        # No limit would be for ever.
        assert package.asked["rust_timeout"] == 1
        assert package.asked["watch_filter"] is None
    for error, code in (
        (FileNotFoundError("No path was found."), "not-found"),
        (PermissionError(13, "no"), "other"),
        (RuntimeError("no more watches"), "other"),
    ):
        monkeypatch.setitem(sys.modules, "watchfiles", Watchfiles(error=error))
        assert run(probe(effects))[0]["failed"]["code"] == code
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    (outcome,) = run(probe(effects))
    assert outcome["failed"]["code"] == "unsupported"
    assert "memdir[watch]" in outcome["failed"]["message"]


@pytest.mark.usefixtures("_ctrl_c")
def test_watching_ends_with_who_waits_for_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    effect = {"kind": "watch", "path": str(tmp_path), "timeoutMs": 20_000}

    async def main() -> None:
        flow = Watched(probe([effect]))
        task = asyncio.create_task(drive_async(flow.it, Host()))
        await asyncio.to_thread(package.running.wait, 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert flow.ended == "aborted"

    package = Watchfiles()
    monkeypatch.setitem(sys.modules, "watchfiles", package)
    asyncio.run(main())
    assert package.ended.wait(5)

    package = Watchfiles()
    monkeypatch.setitem(sys.modules, "watchfiles", package)
    interrupt_after(0.2)
    flow = Watched(probe([effect]))
    with pytest.raises(KeyboardInterrupt):
        drive(flow.it, Host())
    assert flow.ended == "aborted"
    assert package.ended.wait(5)

    package = Watchfiles()
    monkeypatch.setitem(sys.modules, "watchfiles", package)
    flow = Watched(probe([effect]))
    stop = Stop(flow.it)
    threading.Timer(0.2, stop).start()
    with pytest.raises(asyncio.CancelledError):
        drive(flow.it, Host(), stop)
    assert (flow.ended, stop.asked) == ("aborted", True)
    assert package.ended.wait(5)


def test_watching_with_the_package_itself(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("watchfiles")
    effect = {"kind": "watch", "path": str(tmp_path), "timeoutMs": 20_000}
    threading.Timer(0.5, (tmp_path / "a.pyc").write_text, ["a"], {"encoding": "utf-8"}).start()
    start = time.monotonic()
    assert run(probe([effect])) == [{"changed": True}]
    assert time.monotonic() - start < 10
    (outcome,) = run(probe([effect | {"path": str(tmp_path / "missing")}]))
    assert outcome["failed"]["code"] == "not-found"

    async def main() -> None:
        task = asyncio.create_task(drive_async(probe([effect]), Host()))
        await asyncio.sleep(0.5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    before = threading.active_count()
    asyncio.run(main())
    for _ in range(200):
        if threading.active_count() <= before:
            break
        time.sleep(0.01)
    assert threading.active_count() <= before


@pytest.mark.parametrize("moment", ["before", "between", "later"])
def test_a_call_that_is_stopped_at_any_moment_ends(moment: str) -> None:
    class Stopped(Watched):
        def resume(self, responses: list[dict[str, Any]]) -> Step[Any]:
            if moment == "before":
                stop()
            step = super().resume(responses)
            if moment == "between":
                stop()
            return step

    flow = Stopped(probe([SLEEP]))
    stop = Stop(flow.it)
    if moment == "later":
        threading.Timer(0.1, stop).start()
    start = time.monotonic()
    with pytest.raises((asyncio.CancelledError, memdir.EngineError)):
        drive(flow.it, Host(), stop)
    assert flow.ended == "aborted"
    assert time.monotonic() - start < 5


@pytest.mark.parametrize(
    "effect", [SLEEP, MODEL, TOKEN, APPROVE], ids=["sleep", "model", "token", "approve"]
)
def test_a_cancelled_task_stops_and_ends_its_flow(effect: dict[str, Any]) -> None:
    release = threading.Event()

    async def main() -> None:
        flow = Watched(probe([effect, {"kind": "now"}]))
        task = asyncio.create_task(drive_async(flow.it, hanging(release)))
        await asyncio.sleep(0.2)
        start = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert time.monotonic() - start < 5
        assert (flow.cancelled, flow.ended) == (1, "aborted")

    asyncio.run(main())
    release.set()


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.usefixtures("_ctrl_c")
def test_an_interrupted_program_is_ended_with_what_it_started(tmp_path: Path) -> None:
    program = {
        "kind": "run",
        "argv": ["/bin/sh", "-c", "sleep 20 & echo $! > pid; wait"],
        "cwd": str(tmp_path),
        "env": [{"name": "PATH", "value": "/usr/bin:/bin"}],
        "stdin": None,
        "timeoutMs": 20_000,
        "maxBytes": 10,
    }

    def gone() -> bool:
        pid = int((tmp_path / "pid").read_text(encoding="utf-8"))
        status = Path(f"/proc/{pid}/status")
        for _ in range(100):
            # Nobody may have collected it yet.
            if not status.exists() or "State:\tZ" in status.read_text(encoding="utf-8"):
                return True
            time.sleep(0.01)
        return False

    async def main() -> None:
        flow = Watched(probe([program]))
        task = asyncio.create_task(drive_async(flow.it, Host()))
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").stat().st_size:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert flow.ended == "aborted"

    asyncio.run(main())
    assert gone()
    (tmp_path / "pid").unlink()
    flow = Watched(probe([program]))
    interrupt_after(0.4)
    with pytest.raises(KeyboardInterrupt):
        drive(flow.it, Host())
    assert flow.ended == "aborted"
    assert gone()


def test_a_task_cancelled_during_an_exchange() -> None:
    async def main(url: str, hanging: threading.Event) -> None:
        effect: dict[str, Any] = {
            "kind": "http",
            "method": "GET",
            "url": f"{url}/hang",
            "headers": [],
            "body": None,
            "timeoutMs": 20_000,
            "maxBytes": 10,
        }
        flow = Watched(probe([effect]))
        task = asyncio.create_task(drive_async(flow.it, Host()))
        while not hanging.is_set():
            await asyncio.sleep(0.01)
        start = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert time.monotonic() - start < 5
        assert flow.ended == "aborted"

    with serving() as server:
        asyncio.run(main(server.url, server.hanging))


def test_a_task_cancelled_while_files_are_worked_on(tmp_path: Path) -> None:
    """The thread finishes first, and the flow ends before the task does."""
    entered, release = threading.Event(), threading.Event()

    def before(count: int) -> None:
        if count == 0:
            entered.set()
            release.wait(20)

    async def main() -> None:
        write = {"kind": "write", "content": {"text": "x"}, "mode": 0o600, "sync": True}
        flow = Watched(probe([write | {"path": str(tmp_path / "a.md")}]), before)
        task = asyncio.create_task(drive_async(flow.it, Host()))
        await asyncio.to_thread(entered.wait, 20)
        task.cancel()
        await asyncio.sleep(0.05)
        assert not task.done()
        # Again, as an impatient caller does.
        task.cancel()
        await asyncio.sleep(0.05)
        assert not task.done()
        release.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert flow.ended == "aborted"

    asyncio.run(main())
    # It was cancelled before its first step, so nothing was written.
    assert list(tmp_path.iterdir()) == []


def test_a_time_limit_of_asyncio_works() -> None:
    async def main() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await drive_async(probe([SLEEP]), Host())

    asyncio.run(main())


def interrupt_after(seconds: float) -> None:
    def work() -> None:
        time.sleep(seconds)
        # To the thread that waits: that it is woken is part of what is tested.
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    threading.Thread(target=work, daemon=True).start()


@pytest.mark.parametrize(
    "effect", [SLEEP, MODEL, TOKEN, APPROVE], ids=["sleep", "model", "token", "approve"]
)
@pytest.mark.usefixtures("_ctrl_c")
def test_ctrl_c_stops_and_ends_the_flow(effect: dict[str, Any]) -> None:
    release = threading.Event()
    flow = Watched(probe([effect, {"kind": "now"}]))
    interrupt_after(0.2)
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        drive(flow.it, hanging(release))
    release.set()
    assert time.monotonic() - start < 4
    assert (flow.cancelled, flow.ended) == (1, "aborted")


@pytest.mark.usefixtures("_ctrl_c")
def test_ctrl_c_during_an_exchange() -> None:
    with serving() as server:
        effect: dict[str, Any] = {
            "kind": "http",
            "method": "GET",
            "url": f"{server.url}/hang",
            "headers": [],
            "body": None,
            "timeoutMs": 20_000,
            "maxBytes": 10,
        }
        flow = Watched(probe([effect]))
        interrupt_after(0.3)
        start = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            drive(flow.it, Host())
        assert time.monotonic() - start < 4
        assert flow.ended == "aborted"


def test_an_interrupt_between_two_steps_loses_nothing() -> None:
    """Ctrl-C can strike after a step was made and before the driver got hold of it."""

    class Struck(Watched):
        def resume(self, responses: list[dict[str, Any]]) -> Step[Any]:
            step = super().resume(responses)
            if self.resumed == 1:
                raise KeyboardInterrupt
            return step

    for end in ({"kind": "now"}, SLEEP):
        flow = Struck(probe([end]))
        with pytest.raises(KeyboardInterrupt):
            run_blocking(flow.it)
        assert flow.ended in {"done", "aborted", "protocol"}


def test_a_listener_that_leaves_the_program_ends_the_flow(run: Run) -> None:
    def leave(_: memdir.Event) -> None:
        raise SystemExit(3)

    flow = Watched(probe([event("one"), {"kind": "sleep", "ms": 1}]))
    with pytest.raises(SystemExit):
        run(flow.it, Host(on_event=leave))
    assert flow.ended == "aborted"
