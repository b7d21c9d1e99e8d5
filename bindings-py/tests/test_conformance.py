"""`tests/conformance` against both drivers; the folder's README tells the format."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import REPOSITORY, Run
from memdir._core import probe

FOLDER = REPOSITORY / "tests" / "conformance"

HAS = {
    "links": os.name == "posix",
    "fifo": hasattr(os, "mkfifo"),
    "raw-names": sys.platform == "linux",
    "modes": os.name == "posix",
    "not-root": os.name == "posix" and os.geteuid() != 0,
    "inodes": os.name == "posix",
    "pre-epoch": os.name == "posix",
    "processes": os.name == "posix",
    "run": os.name == "posix",
}


def expand(value: Any, root: str) -> Any:
    if value == "{pid}":
        return os.getpid()
    if isinstance(value, str):
        return value.replace("{root}", root)
    if isinstance(value, list):
        return [expand(item, root) for item in value]
    if isinstance(value, dict):
        if value.keys() == {"repeat"}:
            return "".join(text * count for text, count in value["repeat"]).replace("{root}", root)
        return {key: expand(item, root) for key, item in value.items()}
    return value


def runs(part: dict[str, Any]) -> bool:
    return all(HAS[need] for need in part.get("needs", []))


def set_up(action: dict[str, Any]) -> None:
    if "folder" in action:
        Path(action["folder"]).mkdir()
    elif "file" in action:
        path = os.fsencode(action["file"])
        if "rawName" in action:
            path = os.path.join(path, bytes(action["rawName"]))  # noqa: PTH118
        with open(path, "wb") as file:  # noqa: PTH123
            file.write(action["text"].encode())
    elif "link" in action:
        target = bytes(action["rawTo"]) if "rawTo" in action else os.fsencode(action["to"])
        os.symlink(target, os.fsencode(action["link"]))  # noqa: PTH211
    elif "fifo" in action:
        os.mkfifo(action["fifo"])
    elif "chmod" in action:
        Path(action["chmod"]).chmod(action["mode"])
    elif "rename" in action:
        Path(action["rename"]).rename(action["to"])
    elif "mtime" in action:
        nanoseconds = action["ms"] * 1_000_000
        os.utime(action["mtime"], ns=(nanoseconds, nanoseconds))
    else:
        raise AssertionError(f"unknown set-up {action}")


def set_up_all(part: dict[str, Any]) -> None:
    for action in part.get("setup", []):
        if runs(action):
            set_up(action)


def by_name(entries: list[Any]) -> list[Any]:
    return sorted(entries, key=lambda entry: entry["name"])


def fits(expected: Any, actual: Any) -> bool:
    if isinstance(expected, dict):
        matcher = next((key for key in expected if key.startswith("$")), None)
        if matcher == "$length":
            return isinstance(actual, str | bytes | list) and len(actual) == expected[matcher]
        if matcher == "$between":
            low, high = expected[matcher]
            return type(actual) is int and low <= actual <= high
        if matcher == "$anyOf":
            return any(fits(one, actual) for one in expected[matcher])
        assert matcher is None, f"unknown matcher {matcher}"
        if not isinstance(actual, dict):
            return False
        return all(
            key in actual
            and (
                fits(by_name(value), by_name(actual[key]))
                if key == "entries"
                else fits(value, actual[key])
            )
            for key, value in expected.items()
        )
    if isinstance(actual, bytes):
        return actual == (expected.encode() if isinstance(expected, str) else bytes(expected))
    if isinstance(expected, list):
        return (
            isinstance(actual, list)
            and len(expected) == len(actual)
            and all(fits(e, a) for e, a in zip(expected, actual, strict=True))
        )
    return bool(expected == actual)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_host_conforms(path: Path, run: Run, tmp_path: Path) -> None:
    file = expand(json.loads(path.read_text(encoding="utf-8")), os.path.realpath(tmp_path))
    set_up_all(file)
    count = 0
    for step in file["steps"]:
        if not runs(step):
            continue
        set_up_all(step)
        outcomes = run(probe(step["effects"]))
        assert len(outcomes) == len(step["outcomes"])
        for expected, actual in zip(step["outcomes"], outcomes, strict=True):
            assert fits(expected, actual), f"{step['name']}: expected {expected}, got {actual}"
        count += 1
    assert count


def test_there_are_files() -> None:
    assert len(list(FOLDER.glob("*.json"))) >= 8
