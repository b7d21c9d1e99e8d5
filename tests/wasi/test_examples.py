"""examples/embed-python, as a reader would run it."""

import subprocess
import sys
from pathlib import Path

from component import FEATURES, RECALL_OPTIONS, Component
from effects import Host


def run(root: Path, program: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            sys.executable,
            root / "examples" / "embed-python" / program,
            root / "dist" / "memdir-core.wasm",
            *arguments,
        ],
        check=True,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )


def test_the_rule(component: Component, root: Path, tmp_path: Path) -> None:
    index = tmp_path / "MEMORY.md"
    index.write_text("- [a](a.md): b\n" * 201)
    ran = run(root, "rule.py", index)
    expected = component.rule("truncate-index", index.read_text())
    assert ran.stdout == expected["content"] + "\n"
    assert ran.stderr == expected["warning"] + "\n"


def test_the_scan(component: Component, root: Path, sample: Path) -> None:
    ran = run(root, "scan.py", sample)
    expected = component.flow("store.manifest", component.open(sample)).run(Host())
    assert ran.stdout == expected["manifest"] + "\n"


def test_the_recall(component: Component, root: Path, sample: Path) -> None:
    query = "when do deploys run"
    ran = run(root, "scan.py", sample, query)
    store = component.open(sample, features=FEATURES | {"countUses": False})
    expected = component.flow("store.recall", store, query, RECALL_OPTIONS).run(Host())
    assert [memory["path"] for memory in expected["memories"]] == ["deploys.md"]
    assert ran.stdout == expected["memories"][0]["text"] + "\n"
    assert not (sample / ".memdir/uses.json").exists()
