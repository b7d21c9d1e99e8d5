"""The WASI host against what every host must answer (tests/conformance/README.md)."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from program import Program
from test_vectors import expand

FOLDER = Path(__file__).resolve().parents[1] / "conformance"
SCENARIOS = sorted(FOLDER.glob("*.json"))

NEEDS = {
    "links",
    "fifo",
    "raw-names",
    "modes",
    "not-root",
    "inodes",
    "pre-epoch",
    "processes",
    "run",
}
# What the machine has for the set-up.
MACHINE = {"links", "fifo", "raw-names", "modes", "inodes", "pre-epoch"}
# What a program under WASI can see of it: no names that are not UTF-8, no permission bits, no
# file numbers, no times before 1970, no processes.
WASI = {"links", "fifo"}


def fill(value: Any, root: str) -> Any:
    if isinstance(value, str):
        return value.replace("{root}", root)
    if isinstance(value, list):
        return [fill(item, root) for item in value]
    if isinstance(value, dict):
        return {key: fill(item, root) for key, item in value.items()}
    return value


def set_up(item: dict[str, Any]) -> None:
    if not set(item.get("needs", [])) <= MACHINE:
        return
    match item:
        case {"folder": path}:
            Path(path).mkdir(parents=True, exist_ok=True)
        case {"file": folder, "rawName": name, "text": text}:
            Path(os.fsdecode(os.fsencode(folder) + b"/" + bytes(name))).write_text(
                text, "utf-8", newline=""
            )
        case {"file": path, "text": text}:
            Path(path).write_text(text, "utf-8", newline="")
        case {"link": path, "to": target}:
            Path(path).symlink_to(target)
        case {"link": path, "rawTo": target}:
            Path(path).symlink_to(os.fsdecode(bytes(target)))
        case {"fifo": path}:
            os.mkfifo(path)
        case {"chmod": path, "mode": mode}:
            Path(path).chmod(mode)
        case {"rename": path, "to": target}:
            Path(path).rename(target)
        case {"mtime": path, "ms": ms}:
            os.utime(path, ns=(ms * 1_000_000, ms * 1_000_000))
        case _:
            pytest.fail(f"unknown set-up {item}")


def fits(actual: Any, expected: Any) -> bool:
    try:
        check(actual, expected, "")
    except AssertionError:
        return False
    return True


def check(actual: Any, expected: Any, where: str) -> None:
    match expected:
        case {"$length": length}:
            assert len(actual) == length, f"{where}: {actual!r}"
        case {"$between": [low, high]}:
            assert low <= actual <= high, f"{where}: {actual!r}"
        case {"$anyOf": allowed}:
            assert any(fits(actual, each) for each in allowed), f"{where}: {actual!r}"
        case dict():
            assert isinstance(actual, dict), f"{where}: {actual!r}"
            for key, value in expected.items():
                assert key in actual, f"{where}: no {key} in {actual!r}"
                check(actual[key], value, f"{where}.{key}")
        case list():
            assert isinstance(actual, list), f"{where}: {actual!r}"
            if expected and isinstance(expected[0], dict) and "name" in expected[0]:
                actual = sorted(actual, key=lambda entry: entry["name"])
                expected = sorted(expected, key=lambda entry: entry["name"])
            assert len(actual) == len(expected), f"{where}: {actual!r}"
            for index, (one, other) in enumerate(zip(actual, expected, strict=True)):
                check(one, other, f"{where}[{index}]")
        case str() if isinstance(actual, list):
            assert bytes(actual) == expected.encode(), f"{where}: {bytes(actual)!r}"
        case _:
            assert actual == expected, f"{where}: {actual!r}, not {expected!r}"


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_scenario(probe: Program, tmp_path: Path, path: Path) -> None:
    root = str(tmp_path.resolve())
    scenario = expand(fill(json.loads(path.read_text("utf-8")), root))
    for item in scenario.get("setup", []):
        set_up(item)
    ran = 0
    for step in scenario["steps"]:
        needs = set(step.get("needs", []))
        assert needs <= NEEDS, f"unknown need in {step['name']}"
        if not needs <= WASI:
            continue
        ran += 1
        for item in step.get("setup", []):
            set_up(item)
        outcomes = probe.probe(step["effects"], folders=[Path(root)])
        assert len(outcomes) == len(step["outcomes"])
        for index, (actual, expected) in enumerate(zip(outcomes, step["outcomes"], strict=True)):
            check(actual, expected, f"{step['name']}: {step['effects'][index]['kind']}")
    if ran == 0:
        pytest.skip("WASI has nothing that this needs")


def test_there_are_scenarios() -> None:
    assert len(SCENARIOS) >= 5
