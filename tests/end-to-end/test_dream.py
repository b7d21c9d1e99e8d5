"""A real looking store is put in order from the command line of each package: first shown, then
done, then taken back to the byte."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from model_server import ModelServer, calls, model_server, text
from support import run, wasi

Command = Callable[..., str]
INDEX_LINE = (
    "- [Short answers](feedback_short_answers.md) — the diff first, then at most three sentences\n"
)
BETTER_LINE = "- [Answers](feedback_short_answers.md) — short, the diff first\n"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as server:
        yield server


@pytest.fixture(params=["npm", "pip", "wasi"])
def command(
    request: pytest.FixtureRequest,
    server: ModelServer,
    node_project: Path,
    python_programs: Path,
    tmp_path: Path,
) -> Command:
    env = {"ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": server.url}
    programs = {
        "npm": node_project / "node_modules" / ".bin" / "memdir",
        "pip": python_programs / "memdir",
    }

    def memdir(*words: str) -> str:
        if request.param == "wasi":
            return wasi("memdir-http.wasm", tmp_path, *words, env=env)
        return run(programs[request.param], *words, env=env)

    return memdir


def everything(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def memories(folder: Path) -> dict[str, bytes]:
    return {path: body for path, body in everything(folder).items() if path.endswith(".md")}


def test_a_dream_is_shown_done_and_taken_back(
    command: Command, server: ModelServer, store: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "memory"
    shutil.copytree(store, folder)
    before = everything(folder)
    answers = (folder / "feedback_short_answers.md").read_text("utf-8")

    def on(name: str, **more: Any) -> dict[str, Any]:
        return {"file_path": str(folder / name), **more}

    turns = [
        calls(
            ("Read", on("MEMORY.md")),
            ("Read", on("feedback_short_answers.md")),
            ("Read", on("project_release_freeze.md")),
            ("Grep", {"pattern": "PostgreSQL", "path": str(folder)}),
        ),
        calls(
            ("Write", on("feedback_short_answers.md", content=f"{answers}\nNo summaries.\n")),
            ("Delete", on("project_release_freeze.md")),
            ("Edit", on("MEMORY.md", old_string=INDEX_LINE, new_string=BETTER_LINE)),
            ("Write", on("project_freezes.md", content=answers)),
        ),
        text("Merged what belongs together."),
    ]
    line = ["--dir", str(folder), "--model", "anthropic/some-model"]

    server.answers = [*turns]
    shown = command("dream", "--dry-run", *line).splitlines()
    for said in ("+No summaries.", f"-{INDEX_LINE}".rstrip(), f"+{BETTER_LINE}".rstrip()):
        assert said in shown, shown
    assert any("project_release_freeze.md" in said for said in shown)
    assert everything(folder) == before

    server.answers = [*turns]
    done = command("dream", "--force", *line)
    assert "improved: feedback_short_answers.md\n" in done
    assert "removed: project_release_freeze.md\n" in done
    after = memories(folder)
    assert "project_release_freeze.md" not in after
    assert BETTER_LINE in after["MEMORY.md"].decode()

    undone = command("dream", "--undo", "--dir", str(folder))
    assert "restored: project_release_freeze.md\n" in undone
    assert memories(folder) == {path: body for path, body in before.items() if path.endswith(".md")}
    assert command("dream", "--undo", "--dir", str(folder)) == "there is no dream to take back\n"
