"""What Python performs for a flow, and for whom: one function for each effect, no policy.

Files, clock, random bytes and processes are not here: the native module does them.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import json
import logging
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from memdir import _core, _http, _terminal
from memdir._outcomes import DONE, Json, Outcome, failed, shown
from memdir._types import Event, ModelMessage, ModelRequest, ToolDefinition

_T = TypeVar("_T")

OnEvent: TypeAlias = Callable[[Event], object]
"""Hears of events, in the thread of the operation. What it raises is logged to `memdir`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationRequest:
    """What a model with tools is asked next, as `extract`, `dream` and the notes of sessions do.

    The answer is a text, the last one; or JSON text of an object with a list `content` of blocks in
    the form of Anthropic's Messages API, such as a whole answer of it.

    Attributes:
        purpose: What it is for: `extract-memories`, `session-notes` or `dream`.
        system: The system prompt; with a prefix it is not used, as that has its own.
        prefix: `request` of the caller, in its own form: the messages go behind its own.
        tools: The tools, or those that are to be added to those of the prefix.
        messages: The conversation in the form of Anthropic's Messages API.
        max_tokens: Of the answer.

    """

    purpose: str
    system: str
    prefix: dict[str, Any] | None
    tools: tuple[ToolDefinition, ...]
    messages: tuple[dict[str, Any], ...]
    max_tokens: int


Model: TypeAlias = Callable[[ModelRequest], str] | Callable[[ConversationRequest], str]
"""A model: gives the text that it answers with. Called in a thread of its own.

`recall` asks with a `ModelRequest`, `extract` with a `ConversationRequest`.
"""

Token: TypeAlias = Callable[[], str | Awaitable[str]]
"""Gives a token for the team's server. A plain function is called in a thread of its own."""

ApproveImport: TypeAlias = Callable[[str, str], bool | Awaitable[bool]]
"""Says whether instructions may import a file outside of the working tree: it is given that file
and the one that imports it, both absolute. A plain function is called in a thread of its own.
"""

AsyncModel: TypeAlias = (
    Callable[[ModelRequest], str | Awaitable[str]]
    | Callable[[ConversationRequest], str | Awaitable[str]]
)
"""The same, or a coroutine function, which runs in the event loop."""

_log = logging.getLogger("memdir")


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """What the user gave to a store."""

    on_event: OnEvent | None = None
    model: AsyncModel | None = None
    token: Token | None = None
    approve_import: ApproveImport | None = None

    def __post_init__(self) -> None:
        """Refuse at once what would fail in the middle of an operation."""
        for name, given in (
            ("on_event", self.on_event),
            ("model", self.model),
            ("token", self.token),
            ("approve_import", self.approve_import),
        ):
            if given is not None and not callable(given):
                raise TypeError(f"{name} must be callable, not {type(given).__name__}")
        if inspect.iscoroutinefunction(self.on_event):
            raise TypeError("on_event must be a plain function: nobody would await a coroutine")


def emit(effect: Json, host: Host) -> None:
    """Tell the listener. It cannot break the operation."""
    if host.on_event is None:
        return
    try:
        host.on_event(Event(**effect["event"]))
    except Exception:  # noqa: BLE001 - see above
        _log.exception("on_event raised; the operation goes on")


IN_THREAD: dict[str, Callable[[Json], Outcome]] = {
    "print": _terminal.write,
    "read-stdin": _terminal.read,
    "open-editor": _terminal.edit,
}
"""What blocks and belongs to the calling thread when there is one."""


class Leave(Exception):  # noqa: N818 - no error, but the end of the program
    """`SystemExit` or `KeyboardInterrupt` of the user's function.

    A task of asyncio that raises one of these itself stops the event loop, and what waits for the
    task is cancelled instead of hearing of it.
    """

    def __init__(self, error: SystemExit | KeyboardInterrupt) -> None:
        super().__init__()
        self.error = error


async def perform(effect: Json, host: Host) -> Outcome:
    """Perform one effect in the running event loop."""
    match effect["kind"]:
        case "http":
            return await _http.exchange(effect)
        case kind if kind in _ASKING:
            return await _ASKING[kind](effect, host)
        case "run":
            return await _run(effect)
        case "sleep":
            await asyncio.sleep(effect["ms"] / 1000)
            return DONE
        case "watch":
            return await _watch(effect)
        case kind if kind in IN_THREAD:
            return await _call(IN_THREAD[kind], effect)
        case kind:
            return failed("unsupported", f"this host cannot do {kind}")


async def _model(effect: Json, host: Host) -> Outcome:
    if host.model is None:
        return failed("unsupported", "no model was given; pass model= when opening")
    request = _request(effect["request"])
    return await _ask_within(effect["timeoutMs"], "model", _text, host.model, request)


async def _token(effect: Json, host: Host) -> Outcome:
    if host.token is None:
        return failed("unsupported", "no function for tokens was given; pass it in TeamOptions")
    return await _ask_within(effect["timeoutMs"], "token", _text, host.token)


async def _approve(effect: Json, host: Host) -> Outcome:
    if host.approve_import is None:
        return failed("unsupported", "nobody can be asked; pass approve_import= when opening")
    limit, paths = effect["timeoutMs"], (effect["path"], effect["parent"])
    return await _ask_within(limit, "approve_import", _approved, host.approve_import, *paths)


_ASKING: dict[str, Callable[[Json, Host], Awaitable[Outcome]]] = {
    "model": _model,
    "token": _token,
    "approve": _approve,
}
"""What is up to functions of the user's."""

_Take: TypeAlias = Callable[[str, Any], Outcome]
"""Makes an outcome of what a function with that name has answered."""


async def _ask_within(
    limit: int, what: str, take: _Take, function: Callable[..., Any], *args: Any
) -> Outcome:
    """Ask a function of the user's, for so many milliseconds."""
    end = time.monotonic() + limit / 1000
    # A task of its own, as one that swallows its cancellation cannot be waited for.
    task = asyncio.ensure_future(_answer(what, take, function, *args))
    _under_way.add(task)
    task.add_done_callback(_under_way.discard)
    try:
        await asyncio.wait([task], timeout=limit / 1000)
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait([task], timeout=max(0, end - time.monotonic()))
        raise
    if not task.done():
        task.cancel()
        return failed("timeout", f"the {what} function gave no answer within {limit} ms")
    if task.cancelled():
        return failed("other", f"the {what} function raised CancelledError")
    outcome = task.result()
    if isinstance(outcome, Leave):
        raise outcome
    return outcome


_under_way: set[asyncio.Task[Outcome | Leave]] = set()
"""What runs, also when nobody waits for it any more: the event loop does not hold its tasks."""


async def _answer(
    what: str, take: _Take, function: Callable[..., Any], *args: Any
) -> Outcome | Leave:
    """Ask, and raise nothing but a cancellation: perhaps nobody waits for it any more."""
    try:
        return take(what, await _ask(function, *args))
    except Exception as error:  # noqa: BLE001 - user code may raise anything, and it is a failed effect
        return failed("other", f"the {what} function raised {shown(error)}")
    except (SystemExit, KeyboardInterrupt) as error:
        return Leave(error)


def _text(what: str, answer: Any) -> Outcome:
    if not isinstance(answer, str):
        return _wrong(what, "a str", answer)
    try:
        # A plain str, also when it is of a class of its own.
        return {"text": str.encode(answer).decode()}
    except UnicodeEncodeError:
        return failed("other", f"the {what} function gave half of a surrogate pair")


def _approved(what: str, answer: Any) -> Outcome:
    # Nothing else counts as a yes: what is imported is what a model follows.
    return {"approved": answer} if isinstance(answer, bool) else _wrong(what, "a bool", answer)


def _wrong(what: str, wanted: str, answer: Any) -> Outcome:
    return failed("other", f"the {what} function must return {wanted}, not {type(answer).__name__}")


def _request(text: str) -> ModelRequest | ConversationRequest:
    # By name, so that a field of the core that is missing here fails loudly.
    fields = json.loads(text)
    fields["max_tokens"] = fields.pop("maxTokens")
    if "tools" not in fields:
        fields["messages"] = tuple(ModelMessage(**message) for message in fields["messages"])
        return ModelRequest(**fields)
    fields["messages"] = tuple(fields["messages"])
    fields["tools"] = tuple(
        ToolDefinition(input_schema=tool.pop("inputSchema"), **tool) for tool in fields["tools"]
    )
    return ConversationRequest(**fields)


async def _ask(function: Callable[..., Any], *args: Any) -> Any:
    asynchronous = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - an object with an async __call__
    )
    answer = function(*args) if asynchronous else await _call(function, *args)
    return await answer if inspect.isawaitable(answer) else answer


async def _call(function: Callable[..., _T], *args: Any) -> _T:
    """Call in a thread that nobody waits for when the caller gives up.

    A pool would keep the program from ending while a function that hangs occupies it.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[_T] = loop.create_future()

    def settle(result: _T | None, error: BaseException | None) -> None:
        if answer.done():
            return
        if error is None:
            answer.set_result(result)  # type: ignore[arg-type]
        elif isinstance(error, StopIteration):
            answer.set_exception(RuntimeError("StopIteration"))
        else:
            answer.set_exception(error)

    def work() -> None:
        result, raised = None, None
        try:
            result = function(*args)
        except BaseException as error:  # noqa: BLE001 - handed to the caller, as it is
            raised = error
        # The loop is gone when the caller was.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, result, raised)

    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=(work,), name="memdir", daemon=True).start()
    return await answer


async def _run(effect: Json) -> Outcome:
    """Run a program in a thread, which ends it when the task is cancelled."""
    program = _core.Stoppable(effect)
    ended = asyncio.ensure_future(_call(program.perform))
    try:
        outcome: Outcome = await asyncio.shield(ended)
    except asyncio.CancelledError:
        program.stop()
        await asyncio.wait([ended])
        raise
    return outcome


async def _watch(effect: Json) -> Outcome:
    """Watch in a thread, which ends soon after the task is cancelled."""
    try:
        import watchfiles  # type: ignore[import-not-found,unused-ignore] # noqa: PLC0415
    except ImportError:
        return failed("unsupported", "watching needs watchfiles; install memdir[watch]")
    stopped = threading.Event()

    def wait() -> bool:
        changes = watchfiles.watch(
            effect["path"],
            # Which changes count is not for this host to say.
            watch_filter=None,
            # 0 would be no limit.
            rust_timeout=max(1, effect["timeoutMs"]),
            yield_on_timeout=True,
            stop_event=stopped,
        )
        with contextlib.closing(changes):
            return bool(next(changes, None))

    try:
        return {"changed": await _call(wait)}
    except FileNotFoundError as error:
        return failed("not-found", str(error))
    except Exception as error:  # noqa: BLE001 - whatever it throws must become an outcome
        return failed("other", shown(error))
    finally:
        stopped.set()
