"""One store, one command line, three packages: the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import run, wasi

LINES = [
    ["scan"],
    ["scan", "--json"],
    ["prompt"],
    ["prompt", "--json"],
    ["show", "feedback_chinese_docs.md"],
    ["show", "team/feedback_commits.md", "--json"],
]


@pytest.mark.parametrize("words", LINES, ids=" ".join)
def test_packages_print_the_same(
    node_project: Path, python_programs: Path, store: Path, words: list[str]
) -> None:
    line = [*words, "--dir", str(store)]
    node = run(node_project / "node_modules" / ".bin" / "memdir", *line)
    assert node
    assert run(python_programs / "memdir", *line) == node
    assert wasi("memdir.wasm", store, *line) == node
    assert wasi("memdir-http.wasm", store, *line) == node
