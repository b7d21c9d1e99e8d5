"""The npm package, as a user has it: installed from its tarball, outside the repository."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest
from support import BROKEN, NODE_TOOLS, run


def test_esm(node_project: Path, store: Path, memories: set[str]) -> None:
    seen = json.loads(run("node", "consumer.mjs", store, cwd=node_project))
    assert set(seen["paths"]) - {BROKEN} == memories
    assert BROKEN in seen["reported"]
    assert seen["directory"].rstrip("/") == str(store)
    assert seen["read"]
    assert seen["chosenBy"] == "option"
    assert BROKEN in seen["findings"]
    assert seen["prompt"] == "string"
    assert seen["manifestLines"] == len(seen["paths"])
    assert seen["slug"] == "-home-ines-ingest"
    assert seen["code"]


def test_one_class_identity(node_project: Path, store: Path) -> None:
    seen = json.loads(run("node", "consumer.mjs", store, cwd=node_project))
    assert seen["oneClass"]
    assert seen["oneError"]


def test_commonjs(node_project: Path, store: Path, memories: set[str]) -> None:
    seen = json.loads(run("node", "consumer.cjs", store, cwd=node_project))
    assert set(seen["paths"]) - {BROKEN} == memories
    assert seen["slug"] == "-home-ines-ingest"
    assert seen["oneClass"]


@pytest.mark.parametrize(
    ("module", "resolution", "files"),
    [
        ("node16", "node16", ["consumer.mts", "consumer.cts"]),
        ("esnext", "bundler", ["consumer.mts"]),
    ],
)
def test_typescript(node_project: Path, module: str, resolution: str, files: list[str]) -> None:
    config = {
        "compilerOptions": {
            "module": module,
            "moduleResolution": resolution,
            "target": "es2022",
            "lib": ["es2023"],
            "strict": True,
            "noEmit": True,
            "exactOptionalPropertyTypes": True,
            "types": ["node"],
            "typeRoots": [str(NODE_TOOLS.parent / "@types")],
        },
        "files": files,
    }
    path = node_project / f"tsconfig.{resolution}.json"
    path.write_text(json.dumps(config))
    run(NODE_TOOLS / "tsc", "--project", path, cwd=node_project)


def test_command(node_project: Path, store: Path) -> None:
    program = node_project / "node_modules" / ".bin" / "memdir"
    printed = json.loads(run(program, "scan", "--json", "--dir", store))
    assert list(printed) == ["directory", "memories", "report"]
    assert run(program, "--version").strip()
    run(program, "scan", "--no-such-option", code=2)


def test_package_lints(tarball: Path) -> None:
    run(NODE_TOOLS / "publint", "run", tarball, "--strict")
    # Not `node10`: that resolution knows no `exports`, and TypeScript has dropped it.
    run(NODE_TOOLS / "attw", tarball, "--profile", "node16", "--no-color")


def test_file_list(tarball: Path) -> None:
    with tarfile.open(tarball) as tar:
        names = sorted(tar.getnames())
    expected = Path(__file__).with_name("tarball.txt")
    assert names == expected.read_text().split(), f"if this is meant, update {expected.name}"
