"""Writes python/memdir/_core.pyi from the native module; --check tells whether it is up to date.

    python stubs.py [--check]

PyO3 notes signatures and docstrings in a build with the feature `stubs`; maturin reads them. What
it cannot say yet is added here: imports, and that a flow has the type of its value.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).parent
STUB = HERE / "python" / "memdir" / "_core.pyi"

HEADER = """\
# Written by stubs.py; the source is in src/.

import collections.abc
from typing import Any, Final, Generic, TypeVar, final

from memdir import _types

_T = TypeVar("_T")
"""

Replacement = str | Callable[[re.Match[str]], str]

REPLACED: list[tuple[str, Replacement]] = [
    # Written with quotes in the Rust source, since they are no Rust.
    (r"(?m)^( *def .*)$", lambda line: re.sub(r'"([^"]*)"', r"\1", line[1])),
    (r"(?m)^class (Flow|Step):", r"class \1(Generic[_T]):"),
    (r"def value\(self, /\) -> Any", "def value(self, /) -> _T"),
    (r"def effects\(self, /\) -> Any", "def effects(self, /) -> list[dict[str, Any]]"),
    (r"(?m)^(from|import) .*\n", ""),
    (r"\A", HEADER),
]


def generate() -> str:
    with tempfile.TemporaryDirectory() as folder:
        maturin = [
            sys.executable,
            "-m",
            "maturin",
            "generate-stubs",
            "--interpreter",
            sys.executable,
        ]
        options = ["--features", "stubs", "--out", folder]
        subprocess.run([*maturin, *options], check=True, cwd=HERE)
        (found,) = Path(folder).rglob("_core.pyi")
        stub = found.read_text(encoding="utf-8")
    _docstring, _, rest = stub.partition("\nfrom ")
    stub = "from " + rest
    for pattern, replacement in REPLACED:
        stub = re.sub(pattern, replacement, stub)
    format_ = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(STUB), "-"]
    formatted = subprocess.run(
        format_, input=stub, capture_output=True, text=True, check=True, cwd=HERE
    )
    return formatted.stdout


def main() -> int:
    stub = generate()
    if "--check" not in sys.argv:
        STUB.write_text(stub, encoding="utf-8")
        return 0
    if STUB.read_text(encoding="utf-8") == stub:
        return 0
    sys.stderr.write("python/memdir/_core.pyi is not what the native module says; run stubs.py\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
