"""What the end-to-end tests share: where things are, and how a program is run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DIST = ROOT / "dist"
CONSUMERS = Path(__file__).resolve().parent / "consumers"
NODE_TOOLS = ROOT / "bindings-js" / "node_modules" / ".bin"

# Neither the switches nor the settings of whoever runs the tests.
AS_NOBODY = {
    name: value for name, value in os.environ.items() if not name.startswith("CLAUDE_")
} | {"CLAUDE_CONFIG_DIR": str(ROOT / ".cache" / "no-config")}

# The file of the sample store that is broken: a package may list it or not, but must report it.
BROKEN = "project_retro_notes.md"


def run(
    *words: str | Path,
    cwd: Path | None = None,
    env: dict[str, str] | None = None,
    code: int = 0,
) -> str:
    """Runs a program, returns its stdout; fails, showing everything, unless it ends with `code`."""
    done = subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env=AS_NOBODY | (env or {}),
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=600,
    )
    if done.returncode != code:
        line = " ".join(str(word) for word in words)
        pytest.fail(
            f"`{line}` ended with {done.returncode}, not {code}\n{done.stdout}{done.stderr}",
            pytrace=False,
        )
    return done.stdout


def wasi(
    command: str,
    folder: Path,
    *words: str | Path,
    env: dict[str, str] | None = None,
    code: int = 0,
) -> str:
    """Runs a command of dist/ under the wasmtime wheel; `folder` and `env` are all it knows."""
    options = ["--http"] if command == "memdir-http.wasm" else []
    options += [f"--env={name}={value}" for name, value in (env or {}).items()]
    options.append(f"--dir={folder}")
    runner = ROOT / "demo" / "run_wasi.py"
    return run(sys.executable, runner, *options, DIST / command, *words, code=code)


def new_venv(folder: Path, package: Path | str) -> Path:
    """A Python environment with one package and what it depends on; returns its `bin`."""
    run(sys.executable, "-m", "venv", folder)
    programs = folder / "bin"
    run(programs / "python", "-m", "pip", "install", "--quiet", package)
    return programs


def packed(pattern: str) -> Path:
    """The one file of dist/ that fits."""
    found = sorted(DIST.glob(pattern))
    if len(found) != 1:
        pytest.fail(f"dist/ has {len(found)} files {pattern}: run `make build`", pytrace=False)
    return found[0]
