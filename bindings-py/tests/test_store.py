"""A store through both faces: good, hostile and missing folders."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import pickle
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import memdir
import pytest
from conftest import Face
from memdir import AsyncMemdir, Features, Memdir

GOOD = "---\nname: Good\ndescription: A good one\ntype: user\n---\nBody\n"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    (tmp_path / "good.md").write_text(GOOD, encoding="utf-8")
    os.utime(tmp_path / "good.md", ns=(0, 1_773_570_600_123_000_000))
    (tmp_path / "MEMORY.md").write_text("- [Good](good.md): a good one\n", encoding="utf-8")
    return tmp_path


def test_scan_gives_frozen_dataclasses(store: Path, face: Face) -> None:
    scan = face(store, "scan")
    assert scan == memdir.Scan(
        memories=(
            memdir.MemoryHeader(
                path="good.md",
                name="Good",
                description="A good one",
                type="user",
                scope="private",
                pinned=False,
                modified_ms=None,
                mtime_ms=1_773_570_600_123,
                size=len(GOOD),
            ),
        ),
        report=(),
    )
    with pytest.raises(dataclasses.FrozenInstanceError):
        scan.memories = ()
    assert pickle.loads(pickle.dumps(scan)) == scan
    hash(scan)


def test_manifest_read_and_prompt(store: Path, face: Face) -> None:
    manifest = face(store, "manifest")
    assert manifest == "- [user] good.md (2026-03-15T10:30:00.123Z): A good one"
    file = face(store, "read", "good.md")
    assert file.content == GOOD
    assert file.header == face(store, "scan").memories[0]
    prompt = face(store, "prompt")
    assert f"{store}/" in prompt
    assert "a good one" in prompt
    assert "a good one" not in face(store, "prompt", index=False)


def test_prompt_creates_the_folder_and_scan_does_not(tmp_path: Path, face: Face) -> None:
    missing = tmp_path / "a" / "memory"
    scan = face(missing, "scan")
    assert [entry.code for entry in scan.report] == ["unlistable"]
    assert not missing.exists()
    face(missing, "prompt")
    assert missing.is_dir()
    if os.name == "posix":
        assert missing.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(os.name != "posix", reason="FIFOs and links")
def test_a_hostile_folder_is_scanned_to_its_end(store: Path, face: Face) -> None:
    os.mkfifo(store / "fifo.md")
    (store / "dangling.md").symlink_to("nowhere.md")
    (store / "ring.md").symlink_to("ring.md")
    (store / "outside.md").symlink_to("/etc/passwd")
    (store / "folder.md").mkdir()
    (store / "latin1.md").write_bytes(b"caf\xe9")
    expected = {
        "fifo.md": "not-a-file",
        "dangling.md": "link-dangling",
        "ring.md": "link-loop",
        "outside.md": "link-outside",
        "folder.md": "not-a-file",
        "latin1.md": "not-utf8",
    }
    if sys.platform == "linux":
        with open(os.fsencode(store) + b"/\xff.md", "wb") as file:  # noqa: PTH123
            file.write(b"x")
        expected["\ufffd.md"] = "invalid-name"
    scan = face(store, "scan")
    assert [header.path for header in scan.memories] == ["good.md"]
    assert {entry.path: entry.code for entry in scan.report} == expected


def test_properties_and_repr(store: Path) -> None:
    memory = Memdir.open(directory=str(store))
    assert memory.directory == f"{store}{os.sep}"
    assert memory.enabled is True
    assert repr(memory) == f"Memdir(directory={memory.directory!r})"
    memory.close()
    memory.close()


def test_opening_refuses_at_once(face: Face) -> None:
    with pytest.raises(memdir.PathError) as raised:
        face("notes/memory", "scan")
    assert raised.value.code == "path-relative"
    assert raised.value.path == "notes/memory"


def test_the_async_face_says_when_it_is_not_open_yet() -> None:
    memory = AsyncMemdir(directory="/srv/notes")
    with pytest.raises(RuntimeError, match=r"AsyncMemdir\.open"):
        _ = memory.directory
    assert repr(memory) == "AsyncMemdir(directory=None)"


def test_errors_name_the_path(store: Path, face: Face) -> None:
    with pytest.raises(memdir.HostError) as raised:
        face(store, "read", "missing.md")
    assert (raised.value.code, raised.value.path) == ("not-found", "missing.md")
    with pytest.raises(memdir.PathError) as outside:
        face(store, "read", "../x.md")
    assert outside.value.code == "path-outside-store"


def nested(text: str) -> list[Callable[[], object]]:
    """Every way in for a text."""
    header = memdir.MemoryHeader(
        path="a.md",
        name=None,
        description=text,
        type=None,
        scope="private",
        pinned=False,
        modified_ms=None,
        mtime_ms=0,
        size=0,
    )
    rules = memdir.rules
    return [
        lambda: rules.truncate_index(text),
        lambda: rules.parse_frontmatter(text),
        lambda: rules.project_slug(text),
        lambda: rules.format_manifest([header]),
        lambda: rules.validate_memory_path(text, platform="posix"),
        lambda: rules.validate_memory_path("/a/b", platform="posix", home=text),
        lambda: rules.validate_memory_path("/a/b", platform=text),  # type: ignore[arg-type]
        lambda: rules.team_delta({"a": text}, {}),
        lambda: rules.team_delta({}, {text: "a"}),
        lambda: rules.batch_entries({text: ""}),
        lambda: Memdir(directory=text),
        lambda: Memdir(directory="/a/b").read(text),
        lambda: memdir._core.probe([{"kind": "stat", "path": text}]),
        lambda: Memdir(cwd=text),
        lambda: Memdir(directory="/a/b", home=text),
        lambda: Memdir(directory="/a/b", env={"HOME": text}),
        lambda: Memdir(directory="/a/b", env={text: ""}),
        lambda: Memdir(directory="/a/b", platform=text),  # type: ignore[arg-type]
        lambda: Memdir(directory="/a/b").prompt(guidelines=[text]),
        lambda: memdir._core.command([text], cwd=None, home=None, env={}),
        lambda: rules.injective_key(text),
        lambda: rules.env_flag(text),
        lambda: rules.memory_enabled({"A": text}, {}),
        lambda: rules.memory_enabled({}, {text: True}),  # type: ignore[misc]
        lambda: rules.choose_directory(
            platform="posix", home=text, env={}, settings={}, project_root="/a"
        ),
        lambda: rules.choose_directory(
            platform="posix", env={}, settings={"user": text}, project_root="/a"
        ),
        lambda: rules.choose_directory(platform="posix", env={}, settings={}, project_root=text),
        lambda: rules.parse_settings(text),
        lambda: rules.default_scope(text),  # type: ignore[arg-type]
        lambda: rules.lint_memories(index=text, memories=[]),
        lambda: rules.lint_memories(memories=[memdir.LintMemory(path="a.md", text=text)]),
    ]


@pytest.mark.parametrize("position", range(len(nested(""))))
@pytest.mark.parametrize("text", ["\ud800", "ab\udc80c"])
def test_half_of_a_surrogate_pair_is_refused_everywhere(position: int, text: str) -> None:
    with pytest.raises(memdir.InputError) as raised:
        nested(text)[position]()
    assert raised.value.code == "invalid-text"
    assert str(text.index(text[-1] if len(text) == 1 else "\udc80")) in str(raised.value)


def test_half_of_a_surrogate_pair_in_settings_is_refused() -> None:
    with pytest.raises(memdir.InputError) as raised:
        Memdir(directory="/a/b", settings={"autoMemoryDirectory": ["\ud800"]})
    assert raised.value.code == "invalid-text"


def test_wrong_arguments() -> None:
    rules = memdir.rules
    wrong: list[Callable[[], object]] = [
        lambda: rules.truncate_index(1),  # type: ignore[arg-type]
        lambda: rules.truncate_index(b"a"),  # type: ignore[arg-type]
        lambda: rules.truncate_index(),  # type: ignore[call-arg]
        lambda: rules.format_manifest([1]),  # type: ignore[list-item]
        lambda: rules.format_manifest({"a": 1}),  # type: ignore[arg-type]
        lambda: rules.team_delta([], {}),  # type: ignore[arg-type]
        lambda: rules.team_delta({"a": 1}, {}),  # type: ignore[dict-item]
        lambda: rules.batch_entries({}, max_bytes="1"),  # type: ignore[arg-type]
        lambda: rules.batch_entries({}, 1),  # type: ignore[call-arg]
        lambda: rules.env_flag(1),  # type: ignore[arg-type]
        lambda: rules.memory_enabled([], {}),  # type: ignore[arg-type]
        lambda: rules.memory_enabled({}, {"user": "yes"}),  # type: ignore[typeddict-item]
        lambda: rules.memory_enabled({}, []),  # type: ignore[arg-type]
        lambda: rules.memory_age(mtime_ms=0.5, now_ms=1),  # type: ignore[arg-type]
        lambda: rules.default_scope("user", team=1),  # type: ignore[arg-type]
        lambda: rules.lint_memories(memories=["a.md"]),  # type: ignore[list-item]
        lambda: Memdir("/a/b"),  # type: ignore[call-arg]
        lambda: Memdir(directory=1),  # type: ignore[arg-type]
        lambda: Memdir(directory=b"/a/b"),  # type: ignore[arg-type]
        lambda: Memdir(directory="/a/b", cwd=1),  # type: ignore[arg-type]
        lambda: Memdir(directory="/a/b", env=["A"]),  # type: ignore[arg-type]
        lambda: Memdir(directory="/a/b", env={"A": 1}),  # type: ignore[dict-item]
        lambda: Memdir(directory="/a/b", settings="{}"),  # type: ignore[arg-type]
        lambda: Memdir(directory="/a/b", settings={"a": object()}),
        lambda: Memdir(directory="/a/b", features={"team": True}),  # type: ignore[arg-type]
        lambda: Memdir(directory="/a/b", features=Features(team=1)),  # type: ignore[arg-type]
        lambda: Memdir(directory="/a/b").read(None),  # type: ignore[arg-type]
        lambda: Memdir(directory="/a/b").prompt(index="yes"),  # type: ignore[arg-type]
        lambda: Memdir(directory="/a/b").prompt(guidelines="one"),
    ]
    for call in wrong:
        with pytest.raises(TypeError):
            call()
    nonsense: list[Callable[[], object]] = [
        lambda: rules.batch_entries({}, max_bytes=-1),
        lambda: rules.batch_entries({}, max_bytes=2**70),
        lambda: rules.validate_memory_path("/a/b", platform="amiga"),  # type: ignore[arg-type]
        lambda: rules.memory_enabled({}, {"everybody": True}),  # type: ignore[typeddict-unknown-key]
        lambda: rules.memory_age(mtime_ms=2**63, now_ms=0),
        lambda: rules.default_scope("opinion"),  # type: ignore[arg-type]
        lambda: Memdir(directory="/a/b", platform="amiga"),  # type: ignore[arg-type]
        lambda: Memdir(directory="/a/b", settings={"a": float("nan")}),
        lambda: Memdir(directory="/a/b", settings=deep(100_000)),
        lambda: Memdir(directory="/a/b", features=Features(extract_every=-1)),
        lambda: Memdir(cwd="notes"),
        lambda: memdir._core.probe([{"kind": "dance"}]),
    ]
    for call in nonsense:
        with pytest.raises(memdir.InputError) as raised:
            call()
        assert raised.value.code == "invalid-argument"


def deep(levels: int) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for _ in range(levels):
        settings = {"a": settings}
    return settings


def test_a_directory_may_be_a_path(store: Path) -> None:
    assert Memdir(directory=store).scan() == Memdir(directory=str(store)).scan()


def test_many_threads_share_a_store(store: Path) -> None:
    memory = Memdir(directory=store)
    expected = memory.scan()
    results: list[memdir.Scan] = []

    def work() -> None:
        results.extend(memory.scan() for _ in range(20))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 160


def test_many_tasks_share_a_store(store: Path) -> None:
    async def main() -> None:
        memory = await AsyncMemdir.open(directory=store)
        scans = await asyncio.gather(*(memory.scan() for _ in range(50)))
        assert scans == [await memory.scan()] * 50

    asyncio.run(main())


def test_a_blocking_store_works_inside_a_running_loop(store: Path) -> None:
    async def main() -> None:
        assert Memdir(directory=store).manifest().startswith("- [user] good.md")

    asyncio.run(main())
