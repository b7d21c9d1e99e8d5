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


KEYED = memdir.ModelOptions("openai/a", "sk-1")


def request(
    system: str = "", content: str = "", role: Any = "user", schema: Any = None
) -> memdir.ModelRequest:
    return memdir.ModelRequest(
        purpose="select-memories",
        system=system,
        messages=(memdir.ModelMessage(role=role, content=content),),
        max_tokens=1,
        schema=schema,
    )


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
        lambda: rules.tokenize(text),
        lambda: rules.rank_memories(text, []),
        lambda: rules.rank_memories("a", [memdir.RankedMemory(path="a.md", text=text)]),
        lambda: rules.cut_memory(text, size=1, path="a.md", max_bytes=1),
        lambda: rules.read_selection(text, []),
        lambda: rules.read_selection("[]", [text]),
        lambda: rules.recent_tools([memdir.ToolResult(tool=text)]),
        lambda: rules.encode_model_request(memdir.ModelOptions("openai/a", text), request()),
        lambda: rules.encode_model_request(KEYED, request(system=text)),
        lambda: rules.encode_model_request(KEYED, request(role=text)),
        lambda: rules.encode_model_request(KEYED, request(content=text)),
        lambda: rules.decode_model_answer(text, status=200, body="{}"),
        lambda: rules.decode_model_answer("openai/a", status=200, body=text),
        lambda: Memdir(directory="/a/b", model=text),
        lambda: Memdir(directory="/a/b", model=memdir.ModelOptions("openai/a", "sk", text)),
        lambda: Memdir(directory="/a/b").recall(text),
        lambda: Memdir(directory="/a/b").recall("a", strategy=text),  # type: ignore[arg-type]
        lambda: Memdir(directory="/a/b").recall("a", recent_tools=[text]),
        lambda: Memdir(directory="/a/b").recall(
            "a", tool_results=[memdir.ToolResult(tool=text, ok=True)]
        ),
        lambda: Memdir(directory="/a/b").recall("a", surfaced=[text]),
        lambda: Memdir(directory="/a/b").recall("a", already_read=[text]),
        lambda: Memdir(directory="/a/b").recall("a", state=memdir.RecallState(surfaced=(text,))),
        lambda: Memdir(directory="/a/b").save(type=text),  # type: ignore[arg-type]
        lambda: Memdir(directory="/a/b").save(name=text),
        lambda: Memdir(directory="/a/b").save(description=text),
        lambda: Memdir(directory="/a/b").save(body=text),
        lambda: Memdir(directory="/a/b").save(scope=text),  # type: ignore[arg-type]
        lambda: Memdir(directory="/a/b").save(path=text),
        lambda: Memdir(directory="/a/b").save(expect=text),
        lambda: Memdir(directory="/a/b").forget(text),
        lambda: Memdir(directory="/a/b").forget("a.md", expect=text),
        lambda: Memdir(directory="/a/b").undo_forget(text),
        lambda: rules.memory_file_name("user", text, 1),
        lambda: rules.update_memory(text, memdir.MemoryChanges()),
        lambda: rules.update_memory("", memdir.MemoryChanges(name=text)),
        lambda: rules.update_memory("", memdir.MemoryChanges(description=text)),
        lambda: rules.update_memory("", memdir.MemoryChanges(modified=text)),
        lambda: rules.update_memory("", memdir.MemoryChanges(body=text)),
        lambda: rules.update_index(text, folder="", path="a.md", entry=None),
        lambda: rules.update_index("", folder=text, path="a.md", entry=None),
        lambda: rules.update_index("", folder="", path=text, entry=None),
        lambda: rules.update_index("", folder="", path="a.md", entry=memdir.IndexEntry(name=text)),
        lambda: rules.update_index(
            "", folder="", path="a.md", entry=memdir.IndexEntry(name="a", description=text)
        ),
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


ENDLESS: dict[str, Any] = {}
ENDLESS["again"] = ENDLESS


def deep(levels: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for _ in range(levels):
        found = {"a": found}
    return found


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
        lambda: Memdir(directory="/a/b", model=1),  # type: ignore[arg-type]
        lambda: Memdir(directory="/a/b", model=memdir.ModelOptions("openai/a", 1)),  # type: ignore[arg-type]
        lambda: Memdir(directory="/a/b", features=Features(count_uses=1)),  # type: ignore[arg-type]
        lambda: Memdir(directory="/a/b").recall(None),  # type: ignore[arg-type]
        lambda: Memdir(directory="/a/b").recall("a", limit="1"),  # type: ignore[arg-type]
        lambda: Memdir(directory="/a/b").recall("a", limit=1.5),  # type: ignore[arg-type]
        lambda: Memdir(directory="/a/b").recall("a", surfaced="a.md"),
        lambda: Memdir(directory="/a/b").recall("a", already_read=[1]),  # type: ignore[list-item]
        lambda: Memdir(directory="/a/b").recall("a", recent_tools="Bash"),
        lambda: Memdir(directory="/a/b").recall("a", tool_results=["Bash"]),  # type: ignore[list-item]
        lambda: Memdir(directory="/a/b").recall("a", state={"bytes": 1}),  # type: ignore[arg-type]
        lambda: Memdir(directory="/a/b").recall("a", state=memdir.RecallState(bytes="1")),  # type: ignore[arg-type]
        lambda: rules.tokenize(b"a"),  # type: ignore[arg-type]
        lambda: rules.rank_memories("a", ["a.md"]),  # type: ignore[list-item]
        lambda: rules.grant_bytes(0, 1),  # type: ignore[arg-type]
        lambda: rules.recent_tools([memdir.ToolResult(tool="a", ok=1)]),  # type: ignore[arg-type]
        lambda: rules.encode_model_request("openai/a", request()),  # type: ignore[arg-type]
        lambda: rules.encode_model_request(KEYED, {}),  # type: ignore[arg-type]
        lambda: rules.encode_model_request(KEYED, request(schema={"a": object()})),
        lambda: rules.decode_model_answer("openai/a", status="200", body=""),  # type: ignore[arg-type]
        lambda: Memdir(directory="/a/b").save("user"),  # type: ignore[call-arg]
        lambda: Memdir(directory="/a/b").save(type=1),  # type: ignore[arg-type]
        lambda: Memdir(directory="/a/b").save(name=b"a"),  # type: ignore[arg-type]
        lambda: Memdir(directory="/a/b").save(body=["a"]),  # type: ignore[arg-type]
        lambda: Memdir(directory="/a/b").save(path=Path("a.md")),  # type: ignore[arg-type]
        lambda: Memdir(directory="/a/b").save(title="a"),  # type: ignore[call-arg]
        lambda: Memdir(directory="/a/b").forget(),  # type: ignore[call-arg]
        lambda: Memdir(directory="/a/b").forget(None),  # type: ignore[arg-type]
        lambda: Memdir(directory="/a/b").forget("a.md", "absent"),  # type: ignore[call-arg]
        lambda: Memdir(directory="/a/b").undo_forget(1),  # type: ignore[arg-type]
        lambda: rules.memory_file_name(None, "a", 1),  # type: ignore[arg-type]
        lambda: rules.memory_file_name("user", "a", "1"),  # type: ignore[arg-type]
        lambda: rules.update_memory(b"", memdir.MemoryChanges()),  # type: ignore[arg-type]
        lambda: rules.update_memory("", {"name": "a"}),  # type: ignore[arg-type]
        lambda: rules.update_index("", folder="", path="a.md", entry="a"),  # type: ignore[arg-type]
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
        lambda: Memdir(directory="/a/b", model="claude"),
        lambda: Memdir(directory="/a/b", env={}, model="anthropic/claude-haiku-4-5"),
        lambda: Memdir(directory="/a/b", model=memdir.ModelOptions("openai/a", "sk", "ftp://a")),
        lambda: Memdir(directory="/a/b").recall("a", limit=0),
        lambda: Memdir(directory="/a/b").recall("a", limit=-1),
        lambda: Memdir(directory="/a/b").recall("a", limit=2**32),
        lambda: Memdir(directory="/a/b").recall("a", strategy="best"),  # type: ignore[arg-type]
        lambda: Memdir(directory="/a/b").recall("a", state=memdir.RecallState(bytes=-1)),
        lambda: rules.rank_memories("a", [memdir.RankedMemory(path="a", text="a", age_days=-1)]),
        lambda: rules.grant_bytes(0, [-1]),
        lambda: rules.encode_model_request(KEYED, request(role="system")),
        lambda: rules.encode_model_request(KEYED, request(schema={"a": float("inf")})),
        lambda: rules.encode_model_request(KEYED, request(schema=ENDLESS)),
        lambda: rules.encode_model_request(KEYED, request(schema=deep(100_000))),
        lambda: rules.encode_model_request(KEYED, request(schema=deep(200))),
        lambda: rules.decode_model_answer("openai/a", status=65_536, body=""),
        lambda: rules.decode_model_answer("openai/a", status=-1, body=""),
        lambda: Memdir(directory="/a/b").save(type="opinion", name="a"),  # type: ignore[arg-type]
        lambda: Memdir(directory="/a/b").save(scope="all"),  # type: ignore[arg-type]
        lambda: rules.memory_file_name("opinion", "a", 1),  # type: ignore[arg-type]
        lambda: rules.memory_file_name("user", "a", -1),
        lambda: rules.memory_file_name("user", "a", 2**32),
        lambda: rules.update_memory("", memdir.MemoryChanges(type="opinion")),  # type: ignore[arg-type]
    ]
    for call in nonsense:
        with pytest.raises(memdir.InputError) as raised:
            call()
        assert raised.value.code == "invalid-argument"


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
