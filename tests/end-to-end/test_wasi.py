"""The WASI commands, under the wasmtime wheel, and under `wasmtime` where it is installed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from support import BROKEN, DIST, run, wasi

COMMANDS = ["memdir.wasm", "memdir-http.wasm"]


@pytest.mark.parametrize("command", COMMANDS)
def test_scan(command: str, store: Path, memories: set[str]) -> None:
    printed = json.loads(wasi(command, store, "scan", "--json", "--dir", store))
    paths = {header["path"] for header in printed["memories"]}
    assert paths - {BROKEN} == memories


@pytest.mark.parametrize("command", COMMANDS)
def test_a_missing_store_fails(command: str, store: Path) -> None:
    wasi(command, store, "show", "no-such-memory.md", "--dir", store, code=1)


@pytest.mark.skipif(shutil.which("wasmtime") is None, reason="wasmtime is not on the PATH")
def test_plain_wasmtime(store: Path) -> None:
    command = DIST / "memdir.wasm"
    printed = run("wasmtime", "run", "--dir", store, command, "scan", "--dir", store)
    assert printed == wasi("memdir.wasm", store, "scan", "--dir", store)
