"""One store or one project, one command line, three packages: the same bytes."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from support import ROOT, run, wasi

LINES = [
    ["path"],
    ["path", "--json"],
    ["scan"],
    ["scan", "--json"],
    ["prompt"],
    ["prompt", "--json"],
    ["show", "feedback_chinese_docs.md"],
    ["show", "team/feedback_commits.md", "--json"],
]
FAILING_LINES = [["lint"], ["lint", "--json"]]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a worktree, and a config folder that knows the repository."""
    place = tmp_path_factory.mktemp("place").resolve()
    project, config = place / "my_project", place / "config"
    (project / "src").mkdir(parents=True)
    (project / "src" / "main.py").touch()
    nobody = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    author = ["-c", "user.name=A", "-c", "user.email=a@example.com"]
    for words in (
        ["init", "--quiet"],
        ["add", "."],
        [*author, "commit", "--quiet", "--message", "one"],
        ["worktree", "add", "--quiet", "-b", "two", str(place / "tree")],
    ):
        run("git", *words, cwd=project, env=nobody)
    settings = place / "tree" / ".claude"
    (settings / "settings.local.json").mkdir(parents=True)
    (settings / "settings.json").write_text('{"autoMemoryDirectory": "/srv/notes"}')
    config.mkdir()
    (config / "settings.json").write_text('{"autoMemoryEnabled": "yes"}')
    key = "".join(c if c.isascii() and c.isalnum() else "-" for c in str(project))
    shutil.copytree(ROOT / "demo" / "store", config / "projects" / key / "memory")
    return place


class Packages:
    """The command `memdir` of each package."""

    def __init__(self, node_project: Path, python_programs: Path) -> None:
        self.programs = [
            node_project / "node_modules" / ".bin" / "memdir",
            python_programs / "memdir",
        ]

    def print_the_same(
        self, words: list[str], folder: Path, env: dict[str, str] | None = None, code: int = 0
    ) -> str:
        printed = [run(program, *words, env=env, code=code) for program in self.programs]
        printed += [
            wasi(command, folder, *words, env=env, code=code)
            for command in ("memdir.wasm", "memdir-http.wasm")
        ]
        assert printed[0]
        assert printed == printed[:1] * len(printed)
        return printed[0]


@pytest.fixture(scope="module")
def packages(node_project: Path, python_programs: Path) -> Packages:
    return Packages(node_project, python_programs)


@pytest.mark.parametrize("words", LINES, ids=" ".join)
def test_of_a_store(packages: Packages, store: Path, words: list[str]) -> None:
    packages.print_the_same([*words, "--dir", str(store)], store)


@pytest.mark.parametrize("words", FAILING_LINES, ids=" ".join)
def test_what_is_wrong_with_a_store(packages: Packages, store: Path, words: list[str]) -> None:
    packages.print_the_same([*words, "--dir", str(store)], store, code=1)


@pytest.mark.parametrize("words", LINES + FAILING_LINES, ids=" ".join)
def test_of_a_project(packages: Packages, place: Path, words: list[str]) -> None:
    line = [*words, "--cwd", str(place / "tree" / "src")]
    env = {"CLAUDE_CONFIG_DIR": str(place / "config")}
    packages.print_the_same(line, place, env, code=int(words in FAILING_LINES))


def test_a_worktree_has_the_store_of_its_repository(packages: Packages, place: Path) -> None:
    env = {"CLAUDE_CONFIG_DIR": str(place / "config")}
    line = ["path", "--json", "--cwd", str(place / "tree" / "src")]
    found = json.loads(packages.print_the_same(line, place, env))
    assert found["projectRoot"] == str(place / "my_project")
    assert (Path(found["directory"]) / "MEMORY.md").is_file()
    assert found["refused"] == [{"source": "settings-project", "code": "not-trusted"}]
    assert {entry["code"] for entry in found["report"]} == {
        "directory-refused",
        "settings-unreadable",
        "settings-wrong-type",
    }


def test_off_is_off_everywhere(packages: Packages, place: Path) -> None:
    env = {
        "CLAUDE_CONFIG_DIR": str(place / "new"),
        "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
    }
    line = ["prompt", "--json", "--cwd", str(place / "tree")]
    assert json.loads(packages.print_the_same(line, place, env)) == {"prompt": None}
    assert not (place / "new").exists()
