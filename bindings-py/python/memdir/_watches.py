"""Watches that run, and how closing their store ends them. When to sync is the core's."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from concurrent import futures
from typing import TYPE_CHECKING

from memdir._drive import STOP_SECONDS, Stop, drive, drive_async
from memdir.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from memdir._core import Flow
    from memdir._host import Host


class Watches:
    """The watches of one store. Any thread may start one, and any may end them all."""

    def __init__(self) -> None:
        """Begin without any."""
        self._lock = threading.Lock()
        self._running: set[_Watch] = set()

    def run(self, flow: Flow[None], host: Host) -> None:
        """Watch in this thread until somebody closes the store."""
        stop = Stop(flow)
        with self._entered(stop):
            try:
                drive(flow, host, stop)
            except (EngineError, asyncio.CancelledError) as error:
                is_stopped = not isinstance(error, EngineError) or error.code == "aborted"
                if not (stop.asked and is_stopped):
                    raise

    async def run_async(self, flow: Flow[None], host: Host) -> None:
        """Watch in this task until it is cancelled or somebody closes the store."""
        stop = _TaskStop()
        with self._entered(stop):
            try:
                await drive_async(flow, host)
            except asyncio.CancelledError:
                if not stop.has_cancelled_alone():
                    raise
            finally:
                stop.over()

    def stop(self) -> None:
        """End them and wait for that, but not for one that this very thread is in."""
        end = time.monotonic() + STOP_SECONDS
        for watch in self._stop():
            if watch.thread != threading.get_ident():
                futures.wait([watch.ended], timeout=max(0, end - time.monotonic()))

    async def stop_async(self) -> None:
        """End them and wait for that."""
        if endings := [asyncio.wrap_future(watch.ended) for watch in self._stop()]:
            await asyncio.wait(endings, timeout=STOP_SECONDS)

    def _stop(self) -> list[_Watch]:
        with self._lock:
            running = list(self._running)
        for watch in running:
            watch.stop()
        return running

    @contextlib.contextmanager
    def _entered(self, stop: Callable[[], None]) -> Iterator[None]:
        watch = _Watch(stop)
        with self._lock:
            self._running.add(watch)
        try:
            yield
        finally:
            with self._lock:
                self._running.discard(watch)
            watch.ended.set_result(None)


class _Watch:
    def __init__(self, stop: Callable[[], None]) -> None:
        self.stop = stop
        self.thread = threading.get_ident()
        self.ended: futures.Future[None] = futures.Future()


class _TaskStop:
    """Cancels the task that it was made in, and takes that back, as `asyncio.timeout` does."""

    def __init__(self) -> None:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("watch must be awaited in a task")
        self._loop = asyncio.get_running_loop()
        self._task = task
        self._before = task.cancelling()
        self._asked = False
        self._over = False

    def __call__(self) -> None:
        """From any thread, and in the loop of the task at its next turn."""
        # A loop that is closed has ended its tasks.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._cancel)

    def _cancel(self) -> None:
        if not self._asked and not self._over:
            self._asked = True
            self._task.cancel()

    def has_cancelled_alone(self) -> bool:
        """Whether nobody else wants the task to end."""
        return self._asked and self._task.cancelling() <= self._before + 1

    def over(self) -> None:
        """Take back what was asked of the task."""
        self._over = True
        if self._asked:
            self._task.uncancel()
