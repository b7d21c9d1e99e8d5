"""The memory tool: every command and error, alone, and through Anthropic's SDK with a server that
plays the Messages API.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import memdir
import pytest
from anthropic import Anthropic, AsyncAnthropic
from conftest import Face
from memdir import AsyncMemdir, Memdir
from memdir.anthropic import AsyncMemoryTool, MemoryTool
from provider import Provider, providing, said, used
from test_agents import in_threads

LATIN = b"caf\xe9\n"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "b.md").write_bytes(b"b\n")
    (tmp_path / "a.md").write_bytes(b"one\ntwo\ntwo\n")
    (tmp_path / "latin.md").write_bytes(LATIN)
    return tmp_path


def files(folder: Path) -> dict[str, bytes]:
    """All but memdir's own."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".memdir" not in path.parts
    }


def view(path: str, **more: Any) -> dict[str, Any]:
    return {"command": "view", "path": path} | more


def create(path: str, text: str = "new\n") -> dict[str, Any]:
    return {"command": "create", "path": path, "file_text": text}


def replace(path: str, old: str, new: str = "x") -> dict[str, Any]:
    return {"command": "str_replace", "path": path, "old_str": old, "new_str": new}


def insert(path: str, line: Any, text: str = "x\n") -> dict[str, Any]:
    return {"command": "insert", "path": path, "insert_line": line, "insert_text": text}


def delete(path: str) -> dict[str, Any]:
    return {"command": "delete", "path": path}


def rename(old: str, new: str) -> dict[str, Any]:
    return {"command": "rename", "old_path": old, "new_path": new}


def test_what_is_viewed(store: Path, face: Face) -> None:
    shown = face(store, "tool", view("/memories/a.md")).splitlines()
    assert [line.split("\t") for line in shown[1:]] == [
        ["     1", "one"],
        ["     2", "two"],
        ["     3", "two"],
    ]
    part = face(store, "tool", view("/memories/a.md", view_range=[2, -1])).splitlines()
    assert part[1:] == shown[2:]
    listed = face(store, "tool", view("/memories")).splitlines()
    assert [line.split("\t")[1] for line in listed[1:]] == [
        "/memories",
        "/memories/a.md",
        "/memories/folder/",
        "/memories/folder/b.md",
        "/memories/latin.md",
    ]
    assert face(store, "tool", view("/memories/")).splitlines() == listed
    folder = face(store, "tool", view("/memories/folder"))
    assert folder.splitlines()[-1].endswith("\t/memories/folder/b.md")


def test_a_store_that_is_not_there_yet(tmp_path: Path, face: Face) -> None:
    store = tmp_path / "memory"
    assert "/memories" in face(store, "tool", view("/memories"))
    assert not store.exists()
    face(store, "tool", create("/memories/deep/down/a.md", "é\r\n"))
    assert files(store) == {"deep/down/a.md": "é\r\n".encode()}


def test_what_is_changed(store: Path, face: Face) -> None:
    assert "/memories/a.md" in face(
        store, "tool", replace("/memories/a.md", "one\ntwo\n", "1\n2\n3\n")
    )
    assert files(store)["a.md"] == b"1\n2\n3\ntwo\n"
    face(store, "tool", insert("/memories/a.md", 0, "0"))
    face(store, "tool", insert("/memories/a.md", 5, "end\n"))
    assert files(store)["a.md"] == b"0\n1\n2\n3\ntwo\nend\n"
    without = {"command": "str_replace", "path": "/memories/a.md", "old_str": "1\n2\n3\n"}
    face(store, "tool", without)
    assert files(store)["a.md"] == b"0\ntwo\nend\n"
    assert "/memories/c/d.md" in face(store, "tool", rename("/memories/a.md", "/memories/c/d.md"))
    face(store, "tool", rename("/memories/folder", "/memories/c/folder"))
    assert set(files(store)) == {"c/d.md", "c/folder/b.md", "latin.md"}
    face(store, "tool", delete("/memories/c/d.md"))
    face(store, "tool", delete("/memories/c"))
    face(store, "tool", delete("/memories/latin.md"))
    assert files(store) == {}
    assert not (store / "c").exists()
    for path, content in (("latin.md", LATIN), ("c/folder/b.md", b"b\n")):
        face(store, "undo_forget", path)
        assert files(store)[path] == content


def test_line_ends_are_kept(store: Path, face: Face) -> None:
    (store / "a.md").write_bytes(b"one\r\ntwo\r\nthree")
    face(store, "tool", replace("/memories/a.md", "one\ntwo", "1\n2"))
    face(store, "tool", insert("/memories/a.md", 1, "a\nb\n"))
    assert files(store)["a.md"] == b"1\r\na\r\nb\r\n2\r\nthree"
    face(store, "tool", insert("/memories/a.md", 5, "end"))
    assert files(store)["a.md"] == b"1\r\na\r\nb\r\n2\r\nthree\r\nend"


def test_the_index_follows_a_rename(tmp_path: Path, face: Face) -> None:
    face(tmp_path, "save", type="user", name="Tea", body="Green.")
    face(tmp_path, "tool", rename("/memories/user_tea.md", "/memories/drinks/tea.md"))
    assert b"](drinks/tea.md)" in files(tmp_path)["MEMORY.md"]
    assert [
        finding for finding in face(tmp_path, "lint").findings if finding.severity == "error"
    ] == []


OUTSIDE = ["/memoriesX/a.md", "/memories/../x", "/etc/passwd", "a.md", "", "/memories/.memdir/lock"]
OUTSIDE += ["/memories//a.md", "/memories/./a.md", "/memories/folder/../../x"]

# What fails, and what it says of it besides.
FAILING: list[tuple[dict[str, Any], str, str]] = [
    *((view(path), "path-outside-store", "") for path in OUTSIDE),
    *((create(path), "path-outside-store", "") for path in OUTSIDE),
    *((replace(path, "one"), "path-outside-store", "") for path in OUTSIDE),
    *((insert(path, 0), "path-outside-store", "") for path in OUTSIDE),
    *((delete(path), "path-outside-store", "") for path in OUTSIDE),
    *((rename(path, "/memories/new.md"), "path-outside-store", "") for path in OUTSIDE),
    *((rename("/memories/a.md", path), "path-outside-store", "") for path in OUTSIDE),
    (view("/memories/gone.md"), "not-found", "/memories/gone.md"),
    (view("/memories/latin.md"), "not-text", "UTF-8"),
    (view("/memories/latin.md"), "not-text", "/memories/latin.md"),
    (view("/memories/folder", view_range=[8, 9]), "invalid-argument", "view_range"),
    (view("/memories/a.md", view_range=[4, 9]), "invalid-argument", "3 lines"),
    (view("/memories/a.md", view_range=[0, 1]), "invalid-argument", "view_range"),
    (view("/memories/a.md", view_range=[3, 2]), "invalid-argument", "view_range"),
    (view("/memories/a.md", view_range="all"), "invalid-argument", "view_range"),
    ({"command": "view"}, "invalid-argument", "path"),
    (create("/memories/a.md"), "exists", "/memories/a.md"),
    (create("/memories/latin.md"), "exists", "/memories/latin.md"),
    (create("/memories/team/con.md"), "key-reserved", "con.md"),
    ({"command": "create", "path": "/memories/n.md"}, "invalid-argument", "file_text"),
    (replace("/memories/gone.md", "a"), "not-found", "/memories/gone.md"),
    (replace("/memories/a.md", "two"), "invalid-argument", "lines 2, 3"),
    (replace("/memories/a.md", "four"), "invalid-argument", "old_str"),
    (replace("/memories/a.md", ""), "invalid-argument", "old_str"),
    (replace("/memories/latin.md", "caf"), "not-text", "UTF-8"),
    (insert("/memories/gone.md", 0), "not-found", "/memories/gone.md"),
    (insert("/memories/a.md", 4), "invalid-argument", "0 to 3"),
    (insert("/memories/a.md", -1), "invalid-argument", "0 to 3"),
    (insert("/memories/a.md", "one"), "invalid-argument", "insert_line is no whole number"),
    (insert("/memories/a.md", 2**70), "invalid-argument", "insert_line is no whole number"),
    (create("/memories/new/"), "invalid-argument", "/memories/new/"),
    (create("/memories/n.md", "a\0b"), "invalid-text", "NUL"),
    (insert("/memories/latin.md", 0), "not-text", "UTF-8"),
    (delete("/memories"), "invalid-argument", "/memories"),
    (delete("/memories/"), "invalid-argument", "/memories"),
    (delete("/memories/gone.md"), "not-found", "/memories/gone.md"),
    (rename("/memories/a.md", "/memories/latin.md"), "exists", "/memories/latin.md"),
    (rename("/memories/a.md", "/memories/folder"), "exists", "folder"),
    (rename("/memories/a.md", "/memories/latin.md/a.md"), "not-a-directory", "/memories/latin.md"),
    (rename("/memories/gone.md", "/memories/new.md"), "not-found", "/memories/gone.md"),
    (rename("/memories/a.md", "/memories/team/a?.md"), "key-character", ""),
    (rename("/memories", "/memories/new"), "invalid-argument", "/memories itself"),
    (rename("/memories/a.md", "/memories"), "invalid-argument", "/memories itself"),
]


def test_every_error(store: Path, face: Face) -> None:
    (store.parent / "x").mkdir(exist_ok=True)
    before = files(store)

    def check(given: dict[str, Any], raised: memdir.MemdirError, code: str, text: str) -> None:
        assert raised.code == code, (given, raised)
        assert text in str(raised)
        assert str(store) not in str(raised)

    def now(memory: Memdir) -> None:
        for given, code, text in FAILING:
            with pytest.raises(memdir.MemdirError) as raised:
                memory.tool(given)
            check(given, raised.value, code, text)

    async def later(memory: AsyncMemdir) -> None:
        for given, code, text in FAILING:
            with pytest.raises(memdir.MemdirError) as raised:
                await memory.tool(given)
            check(given, raised.value, code, text)

    face.using(store, now, later)
    assert files(store) == before
    assert (store.parent / "x").is_dir()


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"command": "dance"}, memdir.InputError),
        ({}, memdir.InputError),
        ("[]", memdir.InputError),
        ("no", memdir.InputError),
        ({"command": float("nan")}, memdir.InputError),
        (create("/memories/n.md", "\ud800"), memdir.InputError),
        (["view"], TypeError),
        ({"command": b"view"}, TypeError),
    ],
)
def test_what_is_no_command(store: Path, face: Face, given: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        face(store, "tool", given)
    assert "n.md" not in files(store)


def test_a_command_as_text(store: Path, face: Face) -> None:
    command = view("/memories/a.md", view_range=[1, 2])
    assert face(store, "tool", json.dumps(command)) == face(store, "tool", command)


def test_off_means_off(store: Path, face: Face) -> None:
    off = {"directory": store, "settings": {"autoMemoryEnabled": False}}
    for command in (view("/memories"), create("/memories/n.md"), delete("/memories/a.md")):
        with pytest.raises(memdir.InputError) as raised:
            face(off, "tool", command)
        assert raised.value.code == "disabled"
    assert "n.md" not in files(store)


def test_ten_thousand_files(tmp_path: Path, face: Face) -> None:
    for number in range(10_000):
        (tmp_path / f"{number:04}.md").write_bytes(b"a\n")
    listed = face(tmp_path, "tool", view("/memories")).splitlines()
    assert len(listed) <= 1_003
    assert "1001 to 10000" in listed[-1]
    assert listed[2].endswith("\t/memories/0000.md")
    face(tmp_path, "tool", create("/memories/new.md"))
    face(tmp_path, "tool", insert("/memories/9999.md", 1, "b"))
    face(tmp_path, "tool", delete("/memories/5000.md"))
    assert (tmp_path / "9999.md").read_bytes() == b"a\nb\n"
    assert len(files(tmp_path)) == 10_000


def check_inserted(store: Path) -> None:
    lines = (store / "a.md").read_text(encoding="utf-8").splitlines()
    assert sorted(lines) == sorted(f"{a} {b}" for a in range(8) for b in range(20))


@pytest.mark.parametrize("opened", [1, 2])
def test_many_threads_insert_at_once(tmp_path: Path, opened: int) -> None:
    (tmp_path / "a.md").write_bytes(b"")
    tools = [Memdir(directory=tmp_path).tool() for _ in range(opened)]

    def work(thread: int) -> None:
        for number in range(20):
            tools[thread % opened].call(insert("/memories/a.md", 0, f"{thread} {number}"))

    in_threads(work)
    check_inserted(tmp_path)


def test_many_tasks_insert_at_once(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"")

    async def main() -> None:
        async with AsyncMemdir(directory=tmp_path) as memory:
            tool = await memory.tool()
            texts = (f"{a} {b}" for a in range(8) for b in range(20))
            await asyncio.gather(*(tool.call(insert("/memories/a.md", 0, text)) for text in texts))

    asyncio.run(main())
    check_inserted(tmp_path)


def asked() -> dict[str, Any]:
    """How the SDK is used, as Anthropic documents it."""
    message: Any = {"role": "user", "content": "Remember that I like tea."}
    return {"model": "claude-haiku-4-5", "max_tokens": 1024, "messages": [message]}


def converse(face: Face, store: Path, *commands: dict[str, Any]) -> tuple[list[Any], Provider]:
    """What the model was answered to its commands, and the server that was the model."""
    calls = [used(number, command) for number, command in enumerate(commands)]
    with providing(*calls, said("anthropic", "Done.")) as provider:
        client: dict[str, Any] = {"api_key": "a", "base_url": provider.url, "max_retries": 0}

        def now(memory: Memdir) -> Any:
            with Anthropic(**client) as anthropic:
                runner = anthropic.beta.messages.tool_runner(**asked(), tools=[memory.tool()])
                return runner.until_done()

        async def later(memory: AsyncMemdir) -> Any:
            async with AsyncAnthropic(**client) as anthropic:
                tool = await memory.tool()
                runner = anthropic.beta.messages.tool_runner(**asked(), tools=[tool])
                return await runner.until_done()

        message = face.using(store, now, later)
    assert message.content[-1].text == "Done."
    assert len(provider.seen) == len(commands) + 1
    answers = [seen.body["messages"][-1]["content"] for seen in provider.seen[1:]]
    assert [each["tool_use_id"] for (each,) in answers] == [
        f"toolu_{number}" for number in range(len(commands))
    ]
    return [each for (each,) in answers], provider


def test_a_model_keeps_a_memory(tmp_path: Path, face: Face) -> None:
    answers, provider = converse(
        face,
        tmp_path,
        view("/memories"),
        create("/memories/tea.md", "Green tea.\n"),
        replace("/memories/tea.md", "Green", "Black"),
        insert("/memories/tea.md", 1, "No sugar.\n"),
        rename("/memories/tea.md", "/memories/drinks.md"),
        view("/memories/drinks.md", view_range=[1, 2]),
        create("/memories/old.md"),
        delete("/memories/old.md"),
    )
    assert provider.seen[0].path.startswith("/v1/messages")
    assert provider.seen[0].body["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    assert [answer.get("is_error", False) for answer in answers] == [False] * 8
    assert answers[1]["content"] == "Created /memories/tea.md."
    assert answers[5]["content"].endswith("     1\tBlack tea.\n     2\tNo sugar.\n")
    assert files(tmp_path) == {"drinks.md": b"Black tea.\nNo sugar.\n"}
    assert [header.path for header in face(tmp_path, "scan").memories] == ["drinks.md"]


def test_a_model_is_told_what_is_wrong(store: Path, face: Face) -> None:
    before = files(store)
    commands = [given for given, _, _ in FAILING]
    answers, _ = converse(face, store, *commands)
    for command, answer in zip(commands, answers, strict=True):
        with pytest.raises(memdir.MemdirError) as raised:
            face(store, "tool", command)
        assert answer["is_error"]
        assert answer["content"] == str(raised.value)
    assert files(store) == before


def test_a_model_changes_texts_of_every_kind(tmp_path: Path, face: Face) -> None:
    before = {"twice.md": b"a\nb\na\nb\n", "latin.md": b"c\xe9"}
    for name, content in before.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "a.md").write_bytes("ひと\r\nふた\r\n三\r\n".encode())
    answers, _ = converse(
        face,
        tmp_path,
        replace("/memories/a.md", "ひと\nふた", "é\nü"),
        insert("/memories/a.md", 2, "👩 x\ny"),
        replace("/memories/twice.md", "a\nb", "c"),
        replace("/memories/latin.md", "c", "d"),
    )
    wrong = [answer.get("is_error", False) for answer in answers]
    assert wrong == [False, False, True, True]
    changed = "é\r\nü\r\n👩 x\r\ny\r\n三\r\n".encode()
    assert files(tmp_path) == before | {"a.md": changed}


def test_what_a_tool_is_told_to_cache(store: Path) -> None:
    with Memdir(directory=store) as memory:
        tool = MemoryTool(memory, cache_control={"type": "ephemeral"})
        assert tool.to_dict().get("cache_control") == {"type": "ephemeral"}
        assert "cache_control" not in memory.tool().to_dict()

    async def main() -> None:
        async with AsyncMemdir(directory=store) as waiting:
            cached = AsyncMemoryTool(waiting, cache_control={"type": "ephemeral"})
            assert cached.to_dict().get("cache_control") == {"type": "ephemeral"}

    asyncio.run(main())


def test_the_package_of_anthropic_is_optional(tmp_path: Path) -> None:
    program = """
import sys
sys.modules["anthropic"] = None
from memdir import Memdir
with Memdir(directory=sys.argv[1]) as memory:
    print(memory.tool({"command": "view", "path": "/memories"}))
    try:
        memory.tool()
    except ImportError as error:
        print(error)
"""
    command = [sys.executable, "-c", program, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert "/memories" in done.stdout
    assert "anthropic" in done.stdout
    program = "import sys, memdir; sys.exit('anthropic' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
