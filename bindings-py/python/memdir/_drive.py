"""The two loops around a flow: blocking, and in asyncio. Everything else is shared.

Both perform all effects of a step side by side and answer them before the next resume. When the
caller is interrupted, both cancel the flow, stop what can be stopped, and still drive the flow to
its end, so that it can remove its locks and temporary files. The blocking one performs also what
else the flow then asks for: the command line uploads what it has watched.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from typing import TYPE_CHECKING, Any, TypeVar

from memdir._host import IN_THREAD, Host, Leave, emit, perform
from memdir._outcomes import Json, Outcome, aborted
from memdir.errors import MemdirError

if TYPE_CHECKING:
    from memdir._core import Flow, Step

_T = TypeVar("_T")

# How long an interrupted blocking call waits for what it stopped.
STOP_SECONDS = 5.0


class Stop:
    """Ends a blocking call from another thread, as Ctrl-C does from its own.

    The call raises `CancelledError`, or what the flow ends with.
    """

    def __init__(self, flow: Flow[Any]) -> None:
        self.asked = False
        self._flow = flow
        self._lock = threading.Lock()
        self._job: _Job | None = None

    def __call__(self) -> None:
        with self._lock:
            self.asked = True
            self._flow.cancel()
            if self._job is not None:
                self._job.cancel()

    def takes(self, job: _Job) -> None:
        """What the call is about to wait for."""
        with self._lock:
            self._job = job
            if self.asked:
                job.cancel()


def drive(flow: Flow[_T], host: Host, stop: Stop | None = None) -> _T:
    """Run a flow to its end and block meanwhile."""
    responses: list[Json] = []
    try:
        while True:
            step = flow.resume(responses)
            if step.done:
                return step.value
            responses = _perform_all(step.effects, host, stop)
    except MemdirError:
        # Only a flow raises it, and has ended with it.
        raise
    except BaseException:
        flow.cancel()
        with contextlib.suppress(MemdirError):
            responses = aborted(flow.pending())
            while not (step := flow.resume(responses)).done:
                responses = _perform_all(step.effects, host, None)
        raise


def _perform_all(requests: list[Json], host: Host, stop: Stop | None) -> list[Json]:
    apart = [request for request in requests if _runs_apart(request)]
    job = _Job(apart, host) if apart else None
    try:
        if job and stop:
            stop.takes(job)
        responses = [
            {
                "id": request["id"],
                "outcome": IN_THREAD[request["effect"]["kind"]](request["effect"]),
            }
            for request in _tell(requests, host)
            if not _runs_apart(request)
        ]
        return responses + job.wait() if job else responses
    except BaseException:
        if job:
            job.stop()
        raise


def _runs_apart(request: Json) -> bool:
    kind = request["effect"]["kind"]
    return kind != "emit" and kind not in IN_THREAD


def _tell(requests: list[Json], host: Host) -> list[Json]:
    """Emit the events and give what remains."""
    remaining = []
    for request in requests:
        if request["effect"]["kind"] == "emit":
            emit(request["effect"], host)
        else:
            remaining.append(request)
    return remaining


async def _perform_side_by_side(requests: list[Json], host: Host) -> list[Json]:
    tasks = [asyncio.ensure_future(perform(request["effect"], host)) for request in requests]
    try:
        outcomes: list[Outcome] = await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        raise
    return [
        {"id": request["id"], "outcome": outcome}
        for request, outcome in zip(requests, outcomes, strict=True)
    ]


class _Job:
    """Effects in an event loop of their own, in another thread.

    So there is one HTTP client with one way to limit and stop it, and a blocking call works also
    where an event loop is already running, as in a notebook.
    """

    def __init__(self, requests: list[Json], host: Host) -> None:
        self._requests = requests
        self._host = host
        self._responses: list[Json] = []
        self._raised: BaseException | None = None
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._stopped = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(self._run,), name="memdir", daemon=True).start()

    def wait(self) -> list[Json]:
        self._ended.wait()
        if isinstance(self._raised, Leave):
            raise self._raised.error
        if self._raised is not None:
            raise self._raised
        return self._responses

    def stop(self) -> None:
        self.cancel()
        self._ended.wait(STOP_SECONDS)

    def cancel(self) -> None:
        """Have it end with `CancelledError`."""
        with self._lock:
            self._stopped = True
            if self._loop is not None and self._task is not None:
                # The loop may just have ended by itself.
                with contextlib.suppress(RuntimeError):
                    self._loop.call_soon_threadsafe(self._task.cancel)

    def _run(self) -> None:
        try:
            asyncio.run(self._main())
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            self._raised = self._raised or error
        finally:
            self._ended.set()

    async def _main(self) -> None:
        with self._lock:
            self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        try:
            if self._stopped:
                raise asyncio.CancelledError
            self._responses = await _perform_side_by_side(self._requests, self._host)
        except BaseException as error:
            self._raised = error
            raise
        finally:
            # Closing the loop can wait for a name server; nobody needs to wait for that.
            self._ended.set()


async def drive_async(flow: Flow[_T], host: Host) -> _T:
    """Run a flow to its end in the running event loop, its files in a thread."""
    responses: list[Json] = []
    try:
        while True:
            step = await _resume(flow, responses)
            if step.done:
                return step.value
            responses = await _perform_for_caller(_tell(step.effects, host), host)
    except MemdirError:
        raise
    except BaseException:
        flow.cancel()
        with contextlib.suppress(MemdirError):
            while not (await _settle(_in_thread(flow, aborted(flow.pending())))).done:
                pass
        raise


async def _perform_for_caller(requests: list[Json], host: Host) -> list[Json]:
    try:
        return await _perform_side_by_side(requests, host)
    except Leave as leave:
        raise leave.error from None


async def _resume(flow: Flow[_T], responses: list[Json]) -> Step[_T]:
    work = _in_thread(flow, responses)
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        # The thread stops at the next step, and its files are not left half done.
        flow.cancel()
        with contextlib.suppress(MemdirError):
            await _settle(work)
        raise


def _in_thread(flow: Flow[_T], responses: list[Json]) -> asyncio.Future[Step[_T]]:
    return asyncio.get_running_loop().run_in_executor(None, flow.resume, responses)


async def _settle(work: asyncio.Future[_T]) -> _T:
    """Wait for a thread, however often the waiting is cancelled."""
    while not work.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait([work])
    return work.result()
