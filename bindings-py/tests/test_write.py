"""Saving, forgetting and its undoing through both faces, alone and with many writers at once."""

from __future__ import annotations

import asyncio
import dataclasses
import hashlib
import os
import pickle
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import memdir
import pytest
import yaml
from conftest import Face
from hypothesis import example, given, settings
from hypothesis import strategies as st
from memdir import AsyncMemdir, Features, Memdir, WriteResult

TEA: dict[str, Any] = {
    "type": "user",
    "name": "Tea",
    "description": "which tea to make",
    "body": "Green, no sugar.",
}
LINE = "- [Tea](user_tea.md) — which tea to make\n"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path.resolve() / "memory"


@pytest.fixture
def tea(store: Path) -> Path:
    """A store with one memory, and the file of that."""
    Memdir(directory=store).save(**TEA)
    return store / "user_tea.md"


def hash_of(file: Path) -> str:
    return f"sha256:{hashlib.sha256(file.read_bytes()).hexdigest()}"


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def index(store: Path) -> str:
    return (store / "MEMORY.md").read_bytes().decode()


def everything(store: Path) -> dict[str, bytes]:
    """All files but memdir's own, which come with the first look under the lock."""
    files = {path.relative_to(store): path for path in store.rglob("*") if path.is_file()}
    return {
        name.as_posix(): path.read_bytes()
        for name, path in files.items()
        if name.parts[0] != ".memdir"
    }


def trash(store: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted((store / ".memdir" / "trash").glob("*.bytes"))]


def check_nothing_is_left(store: Path) -> None:
    """Neither a lock nor a temporary file, and in the trash no half of an item."""
    own = {path.name for path in (store / ".memdir").iterdir()}
    assert own <= {".gitignore", "trash", "uses.json", "tombstones.json"}
    kept = Counter(path.stem for path in (store / ".memdir" / "trash").glob("*"))
    assert set(kept.values()) <= {2}


def test_a_new_memory(store: Path, face: Face) -> None:
    saved = face(store, "save", **TEA)
    file = store / "user_tea.md"
    assert saved == WriteResult(
        outcome="written",
        path="user_tea.md",
        absolute_path=str(file),
        hash=hash_of(file),
        created=True,
        index_changed=True,
        code=None,
        message=None,
        report=(),
    )
    with pytest.raises(dataclasses.FrozenInstanceError):
        saved.path = "a.md"
    assert pickle.loads(pickle.dumps(saved)) == saved
    head, modified, end = file.read_bytes().decode().partition("modified: ")
    assert head == "---\nname: Tea\ndescription: which tea to make\ntype: user\n"
    assert modified
    assert end.endswith("Z\n---\n\nGreen, no sugar.\n")
    assert index(store) == LINE
    read = face(store, "read", "user_tea.md")
    assert (read.body, read.hash) == ("Green, no sugar.", saved.hash)
    assert read.header == face(store, "scan").memories[0]
    check_nothing_is_left(store)


@pytest.mark.skipif(os.name != "posix", reason="modes")
def test_what_is_new_is_for_its_owner_alone(store: Path, face: Face) -> None:
    face(store, "save", **TEA, path="drinks/hot/tea.md")
    face(store, "forget", "drinks/hot/tea.md")
    face(store, "undo_forget")
    for path in (store, *store.rglob("*")):
        assert mode(path) == (0o700 if path.is_dir() else 0o600), path


@pytest.mark.skipif(os.name != "posix", reason="modes")
def test_what_is_there_keeps_its_mode(tea: Path, face: Face) -> None:
    for path in (tea, tea.parent / "MEMORY.md"):
        path.chmod(0o640)
    face(tea.parent, "save", path=tea.name, name="Coffee")
    assert index(tea.parent) == LINE.replace("[Tea]", "[Coffee]")
    assert mode(tea) == mode(tea.parent / "MEMORY.md") == 0o640


def test_saving_twice_is_saving_once(tea: Path, face: Face) -> None:
    before = everything(tea.parent)
    for again in (TEA, {"path": tea.name}, {"path": tea.name, "body": "\nGreen, no sugar.\n\n"}):
        saved = face(tea.parent, "save", **again)
        assert (saved.outcome, saved.path, saved.hash) == ("unchanged", tea.name, hash_of(tea))
        assert not saved.created
        assert not saved.index_changed
    assert everything(tea.parent) == before
    other = face(tea.parent, "save", **TEA | {"body": "Black."})
    assert (other.outcome, other.path) == ("written", "user_tea_2.md")


def test_what_was_read_is_what_the_next_save_takes(tea: Path, face: Face) -> None:
    old = tea.read_bytes()
    read = face(tea.parent, "read", tea.name)
    more = f"{read.body}\n\nIn a glass."
    saved = face(tea.parent, "save", path=tea.name, body=more, expect=read.hash)
    assert (saved.outcome, saved.created, saved.index_changed) == ("written", False, False)
    assert face(tea.parent, "read", tea.name).body == more
    assert trash(tea.parent) == [old]
    # The first reader's hash is that of the past by now.
    before = everything(tea.parent)
    for late in (
        face(tea.parent, "save", path=tea.name, body="Black.", expect=read.hash),
        face(tea.parent, "save", **TEA, path=tea.name, expect="absent"),
        face(tea.parent, "forget", tea.name, expect=read.hash),
    ):
        assert (late.outcome, late.code, late.hash) == ("conflict", "exists", saved.hash)
        assert late.message
        assert late.path == tea.name
    assert everything(tea.parent) == before
    check_nothing_is_left(tea.parent)


def test_what_was_expected_is_gone(tea: Path, face: Face) -> None:
    read = face(tea.parent, "read", tea.name)
    tea.unlink()
    late = face(tea.parent, "save", path=tea.name, body="Black.", expect=read.hash)
    assert (late.outcome, late.code, late.hash) == ("conflict", "not-found", None)
    saved = face(tea.parent, "save", **TEA, path=tea.name, expect="absent")
    assert (saved.outcome, saved.created) == ("written", True)


REFUSED = [
    ({"name": "Tea"}, "invalid-argument"),
    ({"type": "user"}, "invalid-argument"),
    ({"type": "user", "name": " \n"}, "invalid-argument"),
    (TEA | {"path": "MEMORY.md"}, "invalid-argument"),
    (TEA | {"path": "tea.txt"}, "invalid-argument"),
    (TEA | {"path": "tea.md", "scope": "team"}, "invalid-argument"),
    (TEA | {"expect": "yesterday"}, "invalid-argument"),
    (TEA | {"expect": "sha256:" + "0" * 64}, "invalid-argument"),
    ({"path": "none.md", "body": "a"}, "invalid-argument"),
    (TEA | {"path": "../tea.md"}, "path-outside-store"),
    (TEA | {"path": "/tea.md"}, "path-outside-store"),
    (TEA | {"path": ".memdir/tea.md"}, "path-outside-store"),
    (TEA | {"scope": "team"}, "user-private"),
    (TEA | {"path": "team/tea.md"}, "user-private"),
    (TEA | {"body": "a\0"}, "invalid-text"),
    (TEA | {"description": "x" * 70_000}, "too-large"),
    (TEA | {"body": "x" * 2**22}, "too-large"),
    ({"path": "odd.md", "name": "Odd"}, "frontmatter-invalid"),
    ({"path": "latin1.md", "name": "Odd"}, "not-text"),
]


@pytest.mark.parametrize(("options", "code"), REFUSED, ids=range(len(REFUSED)))
def test_a_refusal_is_a_result(store: Path, face: Face, options: Any, code: str) -> None:
    store.mkdir()
    (store / "odd.md").write_bytes(b"---\nname: a\nname: b\n---\n")
    (store / "latin1.md").write_bytes(b"caf\xe9")
    before = everything(store)
    saved = face(store, "save", **options)
    assert (saved.outcome, saved.code, saved.hash) == ("refused", code, None)
    assert saved.message
    assert everything(store) == before
    assert list(store.parent.iterdir()) == [store]


def test_team(store: Path, face: Face) -> None:
    options = {"directory": store, "features": Features(team=True)}
    friday = {"type": "project", "name": "Friday", "description": "when to deploy"}
    saved = face(options, "save", **friday)
    assert saved.path == "team/project_friday.md"
    assert face(store, "save", **friday).path == "project_friday.md"
    assert face(options, "save", **friday, scope="private").outcome == "unchanged"
    assert face(store, "save", **friday, scope="team").outcome == "unchanged"
    assert face(options, "save", **TEA).path == "user_tea.md"
    line = "- [Friday](project_friday.md) — when to deploy\n"
    assert index(store) == line + LINE
    assert index(store / "team") == line
    (header,) = (one for one in face(store, "scan").memories if one.scope == "team")
    assert header.path == saved.path
    gone = face(store, "forget", saved.path)
    assert [(entry.path, entry.code) for entry in gone.report] == [
        (saved.path, "team-keeps-copy"),
    ]
    assert index(store / "team") == ""
    assert face(store, "undo_forget").path == saved.path
    assert index(store / "team") == line


def test_one_step_writes_no_index(store: Path, face: Face) -> None:
    saved = face({"directory": store, "features": Features(one_step=True)}, "save", **TEA)
    assert (saved.outcome, saved.index_changed) == ("written", False)
    assert everything(store).keys() == {"user_tea.md"}


def test_every_other_byte_stays(store: Path, face: Face) -> None:
    store.mkdir()
    old = (
        b"\xef\xbb\xbf---\r\n# mine\r\nname: 'Tea'\r\ntags: [a,  b]\r\ndescription: old # why\r\n"
        b"---\r\nGreen\r\n\r\n"
    )
    (store / "tea.md").write_bytes(old)
    by_hand = b"# Mine\r\n\r\n* [Tea](tea.md): old\r\n* other\r\n"
    (store / "MEMORY.md").write_bytes(by_hand)
    saved = face(store, "save", path="tea.md", description="new: yes")
    new = (store / "tea.md").read_bytes()
    head, _, time = new.partition(b"modified: ")
    assert head + time.partition(b"\r\n")[2] == old.replace(b"old", b'"new: yes"')
    assert index(store) == "# Mine\r\n\r\n* [Tea](tea.md) — new: yes\r\n* other\r\n"
    face(store, "save", path="tea.md", body="Green\nBlack")
    assert (store / "tea.md").read_bytes().endswith(b"---\r\nGreen\r\nBlack\r\n\r\n")
    # The index with a line in somebody's own words can be had back too.
    assert trash(store) == [old, by_hand, new]
    assert saved.hash == f"sha256:{hashlib.sha256(new).hexdigest()}"


def test_forgetting_and_bringing_back(tea: Path, face: Face) -> None:
    store, before = tea.parent, everything(tea.parent)
    assert face(store, "undo_forget").code == "not-found"
    gone = face(store, "forget", tea.name, expect=hash_of(tea))
    assert gone == WriteResult(
        outcome="written",
        path=tea.name,
        absolute_path=str(tea),
        hash=None,
        created=False,
        index_changed=True,
        code=None,
        message=None,
        report=(),
    )
    assert everything(store) == {"MEMORY.md": b""}
    assert trash(store) == [before[tea.name]]
    again = face(store, "forget", tea.name)
    assert (again.outcome, again.code, again.path) == ("refused", "not-found", tea.name)
    elsewhere = face(store, "undo_forget", "other.md")
    assert (elsewhere.outcome, elsewhere.code) == ("refused", "not-found")
    back = face(store, "undo_forget", path=tea.name)
    assert (back.outcome, back.path, back.created) == ("written", tea.name, True)
    assert back.hash == hash_of(tea)
    assert everything(store) == before
    assert trash(store) == []
    check_nothing_is_left(store)


def test_there_is_another_one_by_now(tea: Path, face: Face) -> None:
    face(tea.parent, "forget", tea.name)
    other = face(tea.parent, "save", **TEA | {"body": "Black."})
    assert other.path == tea.name
    back = face(tea.parent, "undo_forget", tea.name)
    assert (back.outcome, back.code, back.hash) == ("conflict", "exists", other.hash)
    assert face(tea.parent, "read", tea.name).body == "Black."


@pytest.mark.parametrize("path", ["../a.md", "MEMORY.md", "team/memory.md", "a", "a/"])
def test_what_is_no_memory_cannot_be_forgotten(tea: Path, face: Face, path: str) -> None:
    before = everything(tea.parent)
    for result in (face(tea.parent, "forget", path), face(tea.parent, "undo_forget", path)):
        assert (result.outcome, result.created, result.hash) == ("refused", False, None)
        assert result.code in {"invalid-argument", "path-outside-store"}
    assert everything(tea.parent) == before


def test_off_means_off(tea: Path, face: Face) -> None:
    off = {"directory": tea.parent, "settings": {"autoMemoryEnabled": False}}
    before = everything(tea.parent)
    for method, args, named in (("save", (), TEA), ("forget", (tea.name,), {})):
        with pytest.raises(memdir.InputError) as raised:
            face(off, method, *args, **named)
        assert raised.value.code == "disabled"
    assert everything(tea.parent) == before


def test_what_the_disk_says_is_an_error(tmp_path: Path, face: Face) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(memdir.HostError) as raised:
        face(tmp_path / "file", "save", **TEA)
    assert raised.value.code in {"exists", "not-a-directory"}


def test_a_closed_store_is_not_written() -> None:
    memory = Memdir(directory="/srv/notes")
    memory.close()
    calls: list[Callable[[], object]] = [
        lambda: memory.save(**TEA),
        lambda: memory.forget("a.md"),
        memory.undo_forget,
    ]
    for call in calls:
        with pytest.raises(memdir.InputError) as raised:
            call()
        assert raised.value.code == "closed"


def check_saved(store: Path, results: Iterable[WriteResult], count: int) -> None:
    """All memories are there, and each has one line in the index."""
    names = sorted(result.path or "" for result in results)
    assert len(set(names)) == len(names) == count
    assert sorted(header.path for header in Memdir(directory=store).scan().memories) == names
    lines = index(store).splitlines()
    assert sorted(line.partition("](")[2].partition(")")[0] for line in lines) == names
    check_nothing_is_left(store)


def note(number: int) -> dict[str, Any]:
    return {"type": "reference", "name": f"Note {number}", "description": "a", "body": "b"}


@pytest.mark.parametrize("opened", [1, 2])
def test_many_threads_save_at_once(store: Path, opened: int) -> None:
    memories = [Memdir(directory=store) for _ in range(opened)]
    results: list[WriteResult] = []

    def work(thread: int) -> None:
        memory = memories[thread % opened]
        results.extend(memory.save(**note(25 * thread + number)) for number in range(25))

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {result.outcome for result in results} == {"written"}
    check_saved(store, results, 200)


def test_many_tasks_save_at_once(store: Path) -> None:
    async def main() -> list[WriteResult]:
        async with AsyncMemdir(directory=store) as memory:
            # Half of them have one name, for which each must find a file of its own.
            same = (memory.save(**TEA | {"body": str(number)}) for number in range(50))
            other = (memory.save(**note(number)) for number in range(50))
            return await asyncio.gather(*same, *other)

    results = asyncio.run(main())
    assert {result.outcome for result in results} == {"written"}
    check_saved(store, results, 100)


def test_a_cancelled_save_leaves_nothing_behind(store: Path) -> None:
    """Whenever it comes: the memory is there or not, whole, and the next one can be saved."""

    async def main() -> None:
        async with AsyncMemdir(directory=store) as memory:
            for number in range(30):
                task = asyncio.ensure_future(memory.save(**note(number)))
                await asyncio.sleep(number / 5_000)
                task.cancel()
                await asyncio.wait([task])
            await memory.save(**TEA)
            assert (await memory.lint()).findings == ()

    asyncio.run(main())
    check_nothing_is_left(store)


def test_a_save_that_waits_for_another_writer_can_be_cancelled(tea: Path) -> None:
    lock = tea.parent / ".memdir" / "lock"
    held = b'{"token":"0123456789abcdef","hostId":"another machine","pid":1}'
    lock.write_bytes(held)
    before = everything(tea.parent)

    async def main() -> None:
        async with AsyncMemdir(directory=tea.parent) as memory:
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(memory.save(**note(1)), 0.2)

    asyncio.run(main())
    assert lock.read_bytes() == held
    assert everything(tea.parent) == before
    lock.unlink()
    check_nothing_is_left(tea.parent)


# What the core takes for white space, which is not all that Python does.
WHITE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    map(chr, range(0x2000, 0x200B))
)
# What some reader of YAML might take for more than text.
SIGNS = [
    "yes",
    "No",
    "~",
    "null",
    "1e3",
    "0x1f",
    "2026-03-15",
    "- a",
    "a: b",
    "a:",
    " #",
    "# ",
    "'",
]
SIGNS += [
    '"',
    "\\",
    "|",
    ">-",
    "%",
    "@",
    "`",
    "&a",
    "*a",
    "!!str",
    "? ",
    "{",
    "[",
    ",",
    "---",
    "...",
    "=",
]
written = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
trouble = st.lists(st.sampled_from(SIGNS) | written, max_size=3).map("".join)


# A disk may take its time.
@settings(deadline=None)
@given(trouble.filter(lambda name: name.strip(WHITE)), trouble, trouble)
@example("\ufffe", "\x85", "---\na: b\n---\n")
@example("a\u2028b", "\t- a\r\n", "\ufeff")
def test_what_is_written_is_read_back(name: str, description: str, body: str) -> None:
    with tempfile.TemporaryDirectory() as folder, Memdir(directory=folder) as memory:
        saved = memory.save(type="project", name=name, description=description, body=body)
        assert saved.outcome == "written"
        assert saved.path is not None
        read = memory.read(saved.path)
        ours = (read.header.name, read.header.description or "", read.header.type)
        assert ours == (name.strip(WHITE), description.strip(WHITE), "project")
        assert read.body == body.replace("\r\n", "\n").strip("\r\n")
        block, _, _ = read.content.removeprefix("---\n").partition("\n---\n")
        theirs = yaml.safe_load(block)
        assert (theirs["name"], theirs["description"], theirs["type"]) == ours
        (header,) = memory.scan().memories
        assert header == read.header
        assert "error" not in [finding.severity for finding in memory.lint().findings]


@settings(deadline=None)
@given(trouble, trouble)
def test_a_change_is_read_back(first: str, second: str) -> None:
    with tempfile.TemporaryDirectory() as folder, Memdir(directory=folder) as memory:
        for text in (first, second):
            saved = memory.save(type="user", name="Tea", path="a.md", description=text, body=text)
            assert saved.outcome in {"written", "unchanged"}
            read = memory.read("a.md")
            assert read.header.description == (text.strip(WHITE) or None)
            assert read.body == text.replace("\r\n", "\n").strip("\r\n")
