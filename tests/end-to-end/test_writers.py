"""Many programs write to one store, and die while they do: nothing that was told is lost."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest
from support import AS_NOBODY, CONSUMERS, DIST, ROOT, run

SHARED = "project_shared.md"
# How long a dead writer may keep the next one waiting: the design's 5 s, and starting a program.
TAKEOVER_S = 5 + 3

Writers = dict[str, list[str]]


@pytest.fixture(scope="module")
def writers(node_project: Path, python_programs: Path) -> Writers:
    """How a writer of each package is started; the store, a name and a number follow."""
    runner = [sys.executable, str(ROOT / "demo" / "run_wasi.py")]
    return {
        "node": ["node", str(node_project / "writer.mjs")],
        "python": [str(python_programs / "python"), str(CONSUMERS / "writer.py")],
        "wasi": [sys.executable, str(CONSUMERS / "writer_wasi.py"), *runner],
    }


@pytest.fixture
def fresh(tmp_path: Path, writers: Writers, python_programs: Path) -> Path:
    """A store with the memory that every writer changes."""
    store = tmp_path.resolve() / "memory"
    words = ["save", "--dir", store, "--type", "project", "--name", "Shared", "--path", SHARED]
    words += ["--description", "what every writer adds to"]
    subprocess.run(
        [str(word) for word in [python_programs / "memdir", *words]],
        input="Lines:",
        encoding="utf-8",
        env=AS_NOBODY,
        check=True,
    )
    return store


def start(writers: Writers, kind: str, store: Path, name: str, count: int) -> subprocess.Popen[str]:
    words = list(writers[kind])
    if kind == "wasi":
        words += ["--dir", str(store), str(DIST / "memdir.wasm")]
    return subprocess.Popen(
        [*words, str(store), name, str(count)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env=AS_NOBODY,
    )


def links(index: Path) -> list[str]:
    """What the lines of an index link to; each line is an entry and whole."""
    targets: list[str] = []
    # Its first writer may have been killed before.
    if not index.exists():
        return targets
    for line in index.read_text(encoding="utf-8").splitlines():
        entry = re.fullmatch(r"- \[[^\]]+\]\(([^)]+)\)( — .+)?", line)
        assert entry, f"a torn line in {index.name}: {line!r}"
        targets.append(entry.group(1))
    return targets


def check(store: Path, told: set[str], *, tail: int = 0) -> None:
    """Everything that was told is there, whole, and once in its index; at most `tail` more is."""
    shared = (store / SHARED).read_text(encoding="utf-8").splitlines()
    for memory in store.rglob("*.md"):
        if memory.name != "MEMORY.md":
            text = memory.read_text(encoding="utf-8")
            assert re.match(r"---\nname: .+\n(.+\n)*---\n\n.+\n", text), f"torn: {memory}: {text!r}"
    for what in told:
        there = (store / what).is_file() if what.endswith(".md") else f"- {what}" in shared
        assert there, f"lost: {what}"
    for folder in (store, store / "team"):
        if not folder.is_dir():
            continue
        entries = links(folder / "MEMORY.md")
        assert len(entries) == len(set(entries)), "an entry stands twice"
        files = {path.name for path in folder.glob("*.md")} - {"MEMORY.md"}
        assert set(entries) <= files, "an entry leads to nothing"
        prefix = "" if folder == store else "team/"
        missing = {name for name in files - set(entries) if prefix + name in told}
        assert not missing, f"not in the index: {missing}"
        assert len(files - set(entries)) <= tail


def leftovers(store: Path) -> list[str]:
    names = [path.name for path in store.rglob("*")]
    return [name for name in names if name == "lock" or "memdir-tmp" in name]


def test_eight_writers_at_once(writers: Writers, fresh: Path, python_programs: Path) -> None:
    kinds = ["node", "node", "node", "python", "python", "python", "wasi", "wasi"]
    running = [
        start(writers, kind, fresh, f"{kind}{number}", 25) for number, kind in enumerate(kinds)
    ]
    told: set[str] = set()
    for process in running:
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        told.update(out.splitlines())
    assert len(told) == 200
    check(fresh, told)
    assert leftovers(fresh) == []
    findings = json.loads(run(python_programs / "memdir", "lint", "--json", "--dir", fresh))
    assert {found["code"] for found in findings["findings"]} <= {"index-near-limit"}


def test_writers_that_are_killed(writers: Writers, fresh: Path, python_programs: Path) -> None:
    """200 kills, a quarter of them at least while the lock is held."""
    random = Random(7)
    told: set[str] = set()
    killed_holding = 0
    lock = fresh / ".memdir" / "lock"
    for number in range(200):
        kind = "node" if number % 2 else "python"
        process = start(writers, kind, fresh, f"{kind}{number}", 0)
        assert process.stdout is not None
        began = time.monotonic()
        told.add(process.stdout.readline().strip())
        assert time.monotonic() - began < TAKEOVER_S, "it waited too long for a dead writer"
        time.sleep(random.random() / 100)
        if number % 2 == 0 or number % 3 == 0:
            while not lock.exists():
                pass
        process.kill()
        rest, err = process.communicate()
        assert err == "", err
        # A line that was cut by the kill told nobody anything.
        told.update(rest.split("\n")[:-1])
        killed_holding += lock.exists()
        # A writer that was killed between its two steps leaves one memory without its line.
        check(fresh, told - {""}, tail=number + 1)
        if number % 40 == 39:
            # An index of this length would hide what is lost from a reader of the prompt.
            told = {what for what in told if not what.endswith(".md")}
            for folder in (fresh, fresh / "team"):
                for path in folder.glob("*.md"):
                    if path.name not in (SHARED, "MEMORY.md"):
                        path.unlink()
                index = f"- [Shared]({SHARED})\n" if folder == fresh else ""
                (folder / "MEMORY.md").write_text(index)
    assert killed_holding >= 50, f"only {killed_holding} kills while the lock was held"
    # The next one cleans up.
    run(python_programs / "memdir", "forget", SHARED, "--dir", fresh)
    assert leftovers(fresh) == []
