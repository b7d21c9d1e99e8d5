"""The examples of README.md run as they stand, against the installed packages.

An example is a fenced block under `<!-- runs: HOW -->`.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest
from support import ROOT, run

EXAMPLE = re.compile(r"<!-- runs: ([a-z-]+) -->\n+```\w+\n(.*?)```", re.DOTALL)
EXAMPLES = EXAMPLE.findall((ROOT / "README.md").read_text("utf-8"))


def test_there_are_examples() -> None:
    assert {"node", "python"} <= {how for how, _ in EXAMPLES}


@pytest.mark.parametrize(("how", "text"), EXAMPLES, ids=[how for how, _ in EXAMPLES])
def test_example(
    how: str, text: str, node_project: Path, python_programs: Path, tmp_path: Path
) -> None:
    programs: dict[str, tuple[str | Path, Path]] = {
        # A module finds its packages from where it lies.
        "node": ("node", node_project / "readme.mjs"),
        "python": (python_programs / "python", tmp_path / "readme.py"),
        # The environment of the tests has the wasmtime package.
        "embed-python": (sys.executable, tmp_path / "embed.py"),
    }
    program, file = programs[how]
    file.write_text(text, "utf-8")
    if how == "embed-python":
        assert run(program, file, cwd=ROOT)
        return
    # The others write into the sample store.
    shutil.copytree(ROOT / "demo", tmp_path / "demo")
    assert run(program, file, cwd=tmp_path)
