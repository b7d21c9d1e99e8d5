"""Both drivers under one name, so that a test that takes `run` holds for each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from memdir._core import Flow
from memdir._drive import drive, drive_async
from memdir._host import Host

REPOSITORY = Path(__file__).resolve().parents[2]

Run = Callable[..., Any]


def run_blocking(flow: Flow[Any], host: Host | None = None) -> Any:
    return drive(flow, host or Host())


def run_async(flow: Flow[Any], host: Host | None = None) -> Any:
    return asyncio.run(drive_async(flow, host or Host()))


@pytest.fixture(params=[run_blocking, run_async], ids=["blocking", "asyncio"])
def run(request: pytest.FixtureRequest) -> Run:
    driver: Run = request.param
    return driver
