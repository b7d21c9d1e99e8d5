"""Both drivers under one name, so that a test that takes `run` holds for each, and both faces under
another; and nothing of the settings of whoever runs the tests.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from memdir import AsyncMemdir, Memdir
from memdir._core import Flow
from memdir._drive import drive, drive_async
from memdir._host import Host

REPOSITORY = Path(__file__).resolve().parents[2]

PROXIES = {"http_proxy", "https_proxy", "all_proxy", "no_proxy"}

Run = Callable[..., Any]


def run_blocking(flow: Flow[Any], host: Host | None = None) -> Any:
    return drive(flow, host or Host())


def run_async(flow: Flow[Any], host: Host | None = None) -> Any:
    return asyncio.run(drive_async(flow, host or Host()))


@pytest.fixture(params=[run_blocking, run_async], ids=["blocking", "asyncio"])
def run(request: pytest.FixtureRequest) -> Run:
    driver: Run = request.param
    return driver


@pytest.fixture(scope="session", autouse=True)
def _nobody(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            if (
                name.startswith(("CLAUDE_", "ANTHROPIC_", "OPENAI_", "MEMDIR_", "TEAM_"))
                or name.lower() in PROXIES
            ):
                patch.delenv(name)
        for name in ("HOME", "USERPROFILE"):
            patch.setenv(name, str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture
def _ctrl_c() -> Iterator[None]:
    """Ctrl-C interrupts, also where whoever started the tests ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before if before is not None else signal.SIG_DFL)


class Face:
    """Calls either face as if it were blocking, on the folder or with the options given."""

    def __init__(self, asynchronous: bool) -> None:
        self.asynchronous = asynchronous

    def __call__(
        self, store: Path | str | dict[str, Any], method: str, *args: Any, **named: Any
    ) -> Any:
        async def later(memory: AsyncMemdir) -> Any:
            return await getattr(memory, method)(*args, **named)

        return self.using(store, lambda memory: getattr(memory, method)(*args, **named), later)

    def opened(self, **options: Any) -> Any:
        async def later(memory: AsyncMemdir) -> Any:
            return memory.opened

        return self.using(options, lambda memory: memory.opened, later)

    def using(self, store: Any, now: Callable[[Memdir], Any], later: Callable[..., Any]) -> Any:
        options = store if isinstance(store, dict) else {"directory": store}
        if not self.asynchronous:
            with Memdir(**options) as memory:
                return now(memory)

        async def main() -> Any:
            async with AsyncMemdir(**options) as memory:
                return await later(memory)

        return asyncio.run(main())


@pytest.fixture(params=[False, True], ids=["blocking", "asyncio"])
def face(request: pytest.FixtureRequest) -> Face:
    return Face(request.param)
