"""The examples of README.md run as they stand, against the installed packages.

An example is a fenced block under `<!-- runs: HOW -->`.
"""

from __future__ import annotations

import re
import shutil
import socket
import sys
from pathlib import Path

import pytest
from support import DIST, ROOT, run

EXAMPLE = re.compile(r"<!-- runs: ([a-z-]+) -->\n+```\w+\n(.*?)```", re.DOTALL)
EXAMPLES = EXAMPLE.findall((ROOT / "README.md").read_text("utf-8"))


def test_there_are_examples() -> None:
    assert {"node", "python", "team"} <= {how for how, _ in EXAMPLES}


@pytest.mark.parametrize(("how", "text"), EXAMPLES, ids=[how for how, _ in EXAMPLES])
def test_example(
    how: str, text: str, node_project: Path, python_programs: Path, tmp_path: Path
) -> None:
    if how == "team":
        shutil.copytree(ROOT / "demo", tmp_path / "demo")
        run_team(text, python_programs, tmp_path)
        return
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


def run_team(text: str, python_programs: Path, folder: Path) -> None:
    """The commands of the team server, with what is built already and on a port that is free."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    for written, here in (
        ("make -C ../memdir build ", "true "),
        ("../memdir/dist", str(DIST)),
        ("memdir-team-server &", f"memdir-team-server --listen 127.0.0.1:{port} &"),
        (":7711", f":{port}"),
        (".venv/bin/memdir", str(python_programs / "memdir")),
    ):
        assert written in text
        text = text.replace(written, here)
    # However it ends, the server ends with it.
    script = f"trap 'kill $!' EXIT\n{text}"
    printed = run("sh", "-e", "-c", script, cwd=folder).splitlines()
    received = [line for line in printed if line.startswith("received: ")]
    assert "received: feedback_commits.md" in received
    assert {line.replace("received", "sent") for line in received} <= set(printed)
    shared = [folder / name / "team/feedback_commits.md" for name in ("demo/store", "second")]
    assert shared[0].read_bytes() == shared[1].read_bytes()
