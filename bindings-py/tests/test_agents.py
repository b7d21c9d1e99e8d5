"""The memories of agents, and the daily log."""

from __future__ import annotations

import asyncio
import os
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import memdir
import pytest
from conftest import Face
from memdir import AgentOptions, AsyncMemdir, Features, Memdir, rules
from test_open import git

TEA: dict[str, Any] = {"type": "project", "name": "Tea", "body": "Green, no sugar."}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with a folder in it."""
    folder = tmp_path.resolve() / "project"
    (folder / "src" / "deep").mkdir(parents=True)
    git("init", "--quiet", folder)
    return folder


def options(project: Path, **more: Any) -> dict[str, Any]:
    return {"cwd": project, "env": {"CLAUDE_CONFIG_DIR": str(project.parent / "config")}} | more


def folder_of(project: Path, scope: str) -> Path:
    return {
        "user": project.parent / "config" / "agent-memory",
        "project": project / ".claude" / "agent-memory",
        "local": project / ".claude" / "agent-memory-local",
    }[scope]


def paths(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if ".git" not in path.parts}


def of_agent(
    face: Face, opened: dict[str, Any], name: str, scope: Any, *calls: tuple[str, tuple[Any, ...]]
) -> list[Any]:
    """What some methods of an agent's memory give; its `opened` comes first."""

    def now(memory: Memdir) -> list[Any]:
        with memory.agent(name, scope) as agent:
            return [agent.opened, *(getattr(agent, method)(*args) for method, args in calls)]

    async def later(memory: AsyncMemdir) -> list[Any]:
        async with memory.agent(name, scope) as agent:
            found = [agent.opened]
            for method, args in calls:
                found.append(await getattr(agent, method)(*args))
            return found

    found: list[Any] = face.using(opened, now, later)
    return found


CREATE = {"command": "create", "path": "/memories/a.md", "file_text": "green\n"}


@pytest.mark.parametrize("scope", ["user", "project", "local"])
def test_an_agent_has_a_folder_of_its_own(face: Face, project: Path, scope: str) -> None:
    before = paths(project.parent)
    folder = folder_of(project, scope) / "reviewer"
    looks = [("scan", ()), ("prompt", ()), ("manifest", ()), ("lint", ()), ("recall", ("tea",))]
    opened, scan, prompt, *_ = of_agent(face, options(project), "reviewer", scope, *looks)
    assert opened.directory == f"{folder}{os.sep}"
    assert (opened.chosen_by, opened.enabled, opened.report) == ("agent", True, ())
    assert scan.memories == ()
    assert opened.directory in prompt
    assert paths(project.parent) == before

    create = ("tool", (CREATE,))
    of_agent(face, options(project), "reviewer", scope, create)
    assert (folder / "a.md").read_bytes() == b"green\n"
    _, scan = of_agent(face, options(project), "reviewer", scope, ("scan", ()))
    assert [header.path for header in scan.memories] == ["a.md"]
    # Neither another agent nor the project itself sees it.
    _, other = of_agent(face, options(project), "tester", scope, ("scan", ()))
    assert other.memories == face(options(project), "scan").memories == ()


@pytest.mark.parametrize(("holder", "cwd"), [("", "src/deep"), ("src", "src/deep"), (None, "src")])
@pytest.mark.parametrize("scope", ["project", "local"])
def test_the_nearest_folder_that_holds_claude_is_taken(
    face: Face, project: Path, holder: str | None, cwd: str, scope: str
) -> None:
    """Not the one that the agent was started in; the root when there is none."""
    if holder is not None:
        (project / holder / ".claude").mkdir()
    found, *_ = of_agent(face, options(project, cwd=project / cwd), "a", scope)
    folder = folder_of(project / (holder or ""), scope) / "a"
    assert found.directory == f"{folder}{os.sep}"


NAMES = ["reviewer", "Reviewer", "reviewer ", "two words", "con", "*", "😀", "x" * 300]
NAMES += ["a:b", "a-b", "a/b", "a\\b", "a.", "..", "../reviewer", "/etc", ".hidden"]
NAMES += ["検査", "проверка", "مراجع", "é", "e\u0301"]


@pytest.mark.parametrize("scope", ["user", "project", "local"])
def test_agents_are_kept_apart(face: Face, project: Path, scope: str) -> None:
    parent = folder_of(project, scope)
    folders = {}
    for name in NAMES:
        text = f"of {name!a}\n"
        create = ("tool", (CREATE | {"file_text": text},))
        opened, _ = of_agent(face, options(project), name, scope, create)
        folder = Path(opened.directory)
        assert folder.parent == parent
        assert (folder / "a.md").read_text(encoding="utf-8") == text
        folders[name] = folder
    assert len(set(folders.values())) == len(NAMES)
    for name, folder in folders.items():
        opened, *_ = of_agent(face, options(project), name, scope)
        assert Path(opened.directory) == folder, name


def test_agents_that_are_opened_together_are_kept_apart(project: Path) -> None:
    with Memdir(**options(project)) as memory:
        first, second = (memory.agent(name, "project") for name in ("a:b", "a-b"))
        assert first.directory != second.directory
        assert {first.save(**TEA).outcome, second.save(**TEA).outcome} == {"written"}
        assert len(list(folder_of(project, "project").iterdir())) == 2


def test_a_folder_of_claude_code_belongs_to_the_first_one_to_write(project: Path) -> None:
    (folder_of(project, "project") / "a-b").mkdir(parents=True)
    with Memdir(**options(project)) as memory:
        first, second = (memory.agent(name, "project") for name in ("a:b", "a-b"))
        assert first.directory == second.directory
        first.save(**TEA)
        # The other one gets its own when it is opened again.
        with pytest.raises(memdir.HostError) as caught:
            second.save(**TEA)
        assert caught.value.code == "exists"
        memory.agent("a-b", "project").save(**TEA)
        assert len(list(folder_of(project, "project").iterdir())) == 2


@pytest.mark.parametrize(
    ("name", "scope", "code"),
    [
        ("", "user", "invalid-argument"),
        (" ", "project", "invalid-argument"),
        ("a\0", "local", "path-nul"),
        ("\ud800", "user", "invalid-text"),
        ("a", "team", "invalid-argument"),
    ],
)
def test_what_is_no_agent(face: Face, project: Path, name: str, scope: str, code: str) -> None:
    with pytest.raises(memdir.MemdirError) as raised:
        of_agent(face, options(project), name, scope)
    assert raised.value.code == code
    assert not (project / ".claude").exists()


def test_an_agent_can_be_opened_directly(face: Face, project: Path) -> None:
    agent = AgentOptions("reviewer", "local")
    opened = face.opened(**options(project, agent=agent, directory=project.parent / "other"))
    assert Path(opened.directory) == folder_of(project, "local") / "reviewer"
    with pytest.raises(TypeError):
        face.opened(**options(project, agent="reviewer"))


def test_an_agent_has_the_options_of_its_store_and_an_end_of_its_own(project: Path) -> None:
    class Mine(Memdir):
        mark = "mine"

    off = options(project, settings={"autoMemoryEnabled": False})
    with Mine(**off) as memory:
        agent = memory.agent("reviewer", "user")
        assert isinstance(agent, Mine)
        assert not agent.enabled
        agent.close()
        with pytest.raises(memdir.InputError):
            agent.scan()
        assert memory.scan().memories == ()

    async def main() -> None:
        async with AsyncMemdir(**off) as waiting:
            with pytest.raises(RuntimeError):
                _ = waiting.agent("reviewer", "user").opened

    asyncio.run(main())


def test_the_paths_of_agents_are_known(face: Face, project: Path) -> None:
    places = face.opened(**options(project)).places
    for scope in ("user", "project", "local"):
        file = str(folder_of(project, scope) / "reviewer" / "a.md")
        assert rules.classify_path(file, places) == "agent"
        assert rules.may_write(file, places)
        call = rules.classify_tool_call("Write", {"file_path": file}, places)
        assert call == memdir.ToolClass(kind="agent", action="write", path=file)
        assert rules.summarise_tool_calls([call], done=True) == ["Wrote 1 memory"]


def test_an_agent_knows_its_own_folder(face: Face, project: Path) -> None:
    (project / "src" / ".claude").mkdir()
    opened, *_ = of_agent(face, options(project, cwd=project / "src"), "reviewer", "project")
    assert rules.classify_path(f"{opened.directory}a.md", opened.places) == "agent"


def test_a_project_knows_the_folders_of_agents_below_its_root(project: Path) -> None:
    (project / "src" / ".claude").mkdir()
    with Memdir(**options(project, cwd=project / "src")) as memory:
        file = memory.agent("reviewer", "project").directory + "a.md"
        assert rules.classify_path(file, memory.opened.places) == "agent"


LINE = r"- \d\d:\d\d "


def test_the_log(tmp_path: Path, face: Face) -> None:
    first = face(tmp_path, "log", "deployed the shop")
    second = face(tmp_path, "log", "  thé\nvert\n")
    assert (first.outcome, first.created, first.index_changed) == ("written", True, False)
    assert (second.outcome, second.created) == ("written", False)
    assert re.fullmatch(r"logs/(\d{4})/(\d\d)/\1-\2-\d\d\.md", first.path)
    # Unless midnight was between the two.
    if first.path == second.path:
        text = (tmp_path / first.path).read_bytes().decode()
        assert re.fullmatch(f"{LINE}deployed the shop\n{LINE}thé\n  vert\n", text)


@pytest.mark.parametrize(
    ("note", "code"),
    [("", "invalid-argument"), (" \n", "invalid-argument"), ("\0", "invalid-text"), ("\ud800", "")],
)
def test_what_is_no_note(tmp_path: Path, face: Face, note: str, code: str) -> None:
    with pytest.raises(memdir.InputError) as raised:
        face(tmp_path, "log", note)
    assert raised.value.code == (code or "invalid-text")
    assert paths(tmp_path) == set()


def test_off_means_no_log(tmp_path: Path, face: Face) -> None:
    off = {"directory": tmp_path, "settings": {"autoMemoryEnabled": False}}
    with pytest.raises(memdir.InputError) as raised:
        face(off, "log", "a")
    assert raised.value.code == "disabled"
    assert paths(tmp_path) == set()


def test_the_prompt_says_how_to_log(tmp_path: Path, face: Face) -> None:
    logged = {"directory": tmp_path, "features": Features(daily_log=True)}
    assert "logs" in face(logged, "prompt")
    assert face(logged, "prompt") != face(tmp_path, "prompt")


def in_threads(work: Callable[[int], None]) -> None:
    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_many_threads_log_at_once(tmp_path: Path) -> None:
    memories = [Memdir(directory=tmp_path) for _ in range(2)]

    def work(thread: int) -> None:
        for number in range(10):
            assert memories[thread % 2].log(f"note {thread} {number}").outcome == "written"

    in_threads(work)
    text = "".join(path.read_text() for path in (tmp_path / "logs").rglob("*.md"))
    found = sorted(re.findall(f"{LINE}(note .*)", text))
    assert found == sorted(f"note {thread} {number}" for thread in range(8) for number in range(10))
