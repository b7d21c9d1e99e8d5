"""The command as a program. What it says is tested in the core; here, that it says it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


def memdir(*args: str | bytes, cwd: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "memdir", *args]
    return subprocess.run(command, capture_output=True, check=False, cwd=cwd, timeout=60)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    (tmp_path / "é.md").write_text("---\nname: É\n---\n", encoding="utf-8")
    return tmp_path


def test_scan(store: Path) -> None:
    done = memdir("scan", "--dir", str(store), "--json")
    assert (done.returncode, done.stderr) == (0, b"")
    found = json.loads(done.stdout)
    assert [memory["path"] for memory in found["memories"]] == ["é.md"]
    assert found["directory"] == f"{store}{os.sep}"
    relative = memdir("scan", "--dir", store.name, "--json", cwd=store.parent)
    assert relative.stdout == done.stdout


def test_wrong_usage() -> None:
    done = memdir("dance")
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="arguments are bytes")
def test_an_argument_that_is_no_text() -> None:
    done = memdir("scan", "--dir", b"/\xff")
    assert done.returncode == 2
    assert done.stderr.startswith(b"memdir: ")


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
def test_a_reader_that_goes_away(store: Path) -> None:
    for number in range(150):
        (store / f"{number}.md").write_text(
            f"---\ndescription: {'x' * 900}\n---\n", encoding="utf-8"
        )
    command = f'"{sys.executable}" -m memdir scan --json --dir "{store}" | true'
    done = subprocess.run(command, shell=True, capture_output=True, check=False, timeout=60)
    assert b"Exception ignored" not in done.stderr
    assert b"Traceback" not in done.stderr
