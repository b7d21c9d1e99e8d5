"""Extractions that somebody's own model makes: what is to be run, and that its end is always told.

What is extracted, and when, is the core's. A run whose end is not told would keep its conversation
from ever being looked at again, so whatever interrupts a call ends its run first.
"""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from memdir import _check
from memdir._drive import drive, drive_async
from memdir._outcomes import shown
from memdir._types import ExtractionTask, RunReport, ToolReply
from memdir.errors import MemdirError

if TYPE_CHECKING:
    from memdir._core import Flow, Store
    from memdir._host import Host
    from memdir._types import Extraction, ExtractionStep


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionRun(ExtractionTask):
    """A task, and what carries out the calls of tools that the model makes for it."""

    _store: Store = field(repr=False, compare=False)
    _host: Host = field(repr=False, compare=False)

    def call(self, name: str, input: str | Mapping[str, Any]) -> ToolReply:  # noqa: A002 - as the API has it
        """Carry out a call of a tool; what is denied is an answer too.

        Args:
            name: The tool.
            input: Its arguments, as a mapping or JSON text.

        Raises:
            HostError: The run is over (`not-found`), or what the disk gave.

        """
        return drive(self._store.call_tool(self.run, name, _check.arguments(input)), self._host)


@dataclass(frozen=True, slots=True, kw_only=True)
class AsyncExtractionRun(ExtractionTask):
    """The same for asyncio."""

    _store: Store = field(repr=False, compare=False)
    _host: Host = field(repr=False, compare=False)

    async def call(self, name: str, input: str | Mapping[str, Any]) -> ToolReply:  # noqa: A002 - as the API has it
        """See `ExtractionRun.call`."""
        flow = self._store.call_tool(self.run, name, _check.arguments(input))
        return await drive_async(flow, self._host)


Runner: TypeAlias = Callable[[ExtractionRun], RunReport | None]
"""Has somebody's own model do a task. What it raises is the run's failure."""

AsyncRunner: TypeAlias = Callable[
    [AsyncExtractionRun], Awaitable[RunReport | None] | RunReport | None
]
"""The same for asyncio, where it may be a coroutine function."""

_INTERRUPTED = RunReport(error="the run was interrupted")


def extract(flow: Flow[ExtractionStep], runner: Runner, store: Store, host: Host) -> Extraction:
    """Have done what the flow says, and what comes behind it, until there is a result."""
    run: int | None = None
    try:
        while (task := (step := drive(flow, host)).task) is not None:
            run = task.run
            try:
                report = runner(ExtractionRun(**_fields(task), _store=store, _host=host))
                flow = store.end_extraction(run, _checked(report))
            except Exception as error:  # noqa: BLE001 - user code may raise anything
                flow = store.end_extraction(run, _failed(error))
        return _result(step)
    except BaseException:
        left = _left(run, flow)
        while left:
            with contextlib.suppress(MemdirError):
                left += _numbers(drive(store.end_extraction(left.pop(), _INTERRUPTED), host))
        raise


async def extract_async(
    flow: Flow[ExtractionStep], runner: AsyncRunner, store: Store, host: Host
) -> Extraction:
    """Do the same in the running event loop."""
    run: int | None = None
    try:
        while (task := (step := await drive_async(flow, host)).task) is not None:
            run = task.run
            try:
                report = runner(AsyncExtractionRun(**_fields(task), _store=store, _host=host))
                report = await report if inspect.isawaitable(report) else report
                flow = store.end_extraction(run, _checked(report))
            except Exception as error:  # noqa: BLE001 - user code may raise anything
                flow = store.end_extraction(run, _failed(error))
        return _result(step)
    except BaseException:
        left = _left(run, flow)
        while left:
            with contextlib.suppress(MemdirError):
                after = await drive_async(store.end_extraction(left.pop(), _INTERRUPTED), host)
                left += _numbers(after)
        raise


def _fields(task: ExtractionTask) -> dict[str, Any]:
    return {each.name: getattr(task, each.name) for each in dataclasses.fields(ExtractionTask)}


def _checked(report: object) -> RunReport:
    if report is None:
        return RunReport()
    if not isinstance(report, RunReport):
        raise TypeError(f"run must return a RunReport or None, not {type(report).__name__}")
    return report


def _failed(error: Exception) -> RunReport:
    # Half of a surrogate pair, which the core takes for no text, becomes a question mark.
    return RunReport(error=shown(error).encode(errors="replace").decode())


def _result(step: ExtractionStep) -> Extraction:
    if step.result is None:
        raise RuntimeError("an extraction has neither a task nor a result")
    return step.result


def _left(run: int | None, flow: Flow[ExtractionStep]) -> list[int]:
    """Give the runs that may not have been told an end; one that is over takes no second."""
    return ([] if run is None else [run]) + _numbers(flow.ended())


def _numbers(step: ExtractionStep | None) -> list[int]:
    return [] if step is None or step.task is None else [step.task.run]
