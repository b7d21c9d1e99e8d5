"""The Python package, as a user has it: installed from its wheel, or built from its sdist."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

from support import BROKEN, CONSUMERS, ROOT, new_venv, packed, run


def test_blocking(python_programs: Path, tmp_path: Path, store: Path, memories: set[str]) -> None:
    python = python_programs / "python"
    program = CONSUMERS / "blocking.py"
    seen = json.loads(run(python, "-W", "error", program, store, cwd=tmp_path))
    assert set(seen["paths"]) - {BROKEN} == memories
    assert BROKEN in seen["reported"]
    assert seen["read"]
    assert seen["chosenBy"] == "option"
    assert BROKEN in seen["findings"]
    assert seen["prompt"] == "str"
    assert seen["manifestLines"] == len(seen["paths"])
    assert seen["slug"] == "-home-ines-ingest"
    assert seen["code"]


def test_asyncio(python_programs: Path, tmp_path: Path, store: Path, memories: set[str]) -> None:
    python = python_programs / "python"
    program = CONSUMERS / "asynchronous.py"
    scans = json.loads(run(python, "-W", "error", program, store, cwd=tmp_path))
    assert len(scans) == 4
    for paths in scans:
        assert set(paths) - {BROKEN} == memories


def test_console_script(python_programs: Path, store: Path) -> None:
    program = python_programs / "memdir"
    printed = json.loads(run(program, "scan", "--json", "--dir", store))
    assert list(printed) == ["directory", "memories", "report"]
    assert run(program, "--version").strip()
    run(program, "scan", "--no-such-option", code=2)


def test_sdist_builds_a_wheel(tmp_path: Path) -> None:
    # Unoptimised, and with the dependencies kept from the last time: the question is whether the
    # sdist is complete.
    target = ROOT / ".cache" / "sdist-target"
    # Files of an sdist have no times that cargo could tell changes by: our own crates start anew.
    for known in target.glob("*/.fingerprint/memdir-*"):
        shutil.rmtree(known)
    settings = {
        "CARGO_TARGET_DIR": str(target),
        "CARGO_PROFILE_RELEASE_LTO": "off",
        "CARGO_PROFILE_RELEASE_OPT_LEVEL": "0",
        "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "16",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    run(*pip, "--wheel-dir", tmp_path, packed("memdir-*.tar.gz"), cwd=tmp_path, env=settings)
    (wheel,) = tmp_path.glob("memdir-*.whl")
    programs = new_venv(tmp_path / "venv", wheel)
    assert run(programs / "memdir", "--version").strip()
