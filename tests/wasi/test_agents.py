"""What agents are given: the memory tool, the daily log, memories of their own, and what keeps
secrets out of memories. The component with a host in Python, and memdir.wasm over real files."""

import datetime
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from component import SAVE_OPTIONS, Component, MemdirError, Variant
from effects import Host
from program import Program, printed_of
from stores import write

# Put together here, so that no file holds a token.
TOKEN = "ghp_" + hashlib.sha256(b"no secret").hexdigest()[:36]
LEAK = f"é\nkey {TOKEN} end\n"
KIND = "GitHub personal token (classic)"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    return home


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "my_app"
    (project / ".claude").mkdir(parents=True)
    return project


def open_store(component: Component, project: Path, home: Path, **options: Any) -> Any:
    return component.open(cwd=str(project), home=str(home), **options)


def opened(component: Component, store: Any) -> Any:
    return component.flow("store.open", store).run(Host())


def save(component: Component, store: Any, **options: Any) -> Any:
    return component.flow("store.save", store, SAVE_OPTIONS | options).run(Host())


def files(folder: Path) -> list[str]:
    """Every file but memdir's own."""
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return sorted(str(path) for path in found if ".memdir" not in path.parts)


def test_a_round_of_the_memory_tool(component: Component, tmp_path: Path) -> None:
    folder = tmp_path / "store"
    store, host = component.open(folder), Host()
    path = "/memories/plans/spring.md"

    def tool(command: str, **given: Any) -> str:
        given["command"] = command
        return component.flow("store.tool", store, json.dumps(given)).run(host)["answer"]

    assert path in tool("create", path=path, file_text="One\nTwo\n")
    assert (folder / "plans/spring.md").read_text() == "One\nTwo\n"
    edited = tool("str_replace", path=path, old_str="Two", new_str="2 项目")
    assert "     2\t2 项目\n" in edited
    seen = tool("view", path=path)
    assert seen.splitlines()[1:] == ["     1\tOne", "     2\t2 项目"]
    assert path in tool("view", path="/memories")
    assert path in tool("delete", path=path)
    assert files(folder) == []
    # What was deleted is kept for those who want it back.
    assert any((folder / ".memdir/trash").iterdir())

    for command, given, code in (
        ("view", {"path": path}, "not-found"),
        ("create", {"path": "/memories/../out.md", "file_text": ""}, "path-outside-store"),
        ("create", {"path": "/etc/passwd", "file_text": ""}, "path-outside-store"),
        ("burn", {}, "invalid-argument"),
    ):
        with pytest.raises(MemdirError) as error:
            tool(command, **given)
        assert error.value.code == code
    assert files(tmp_path) == []


def test_an_agent_has_a_memory_of_its_own(
    component: Component, memdir: Program, project: Path, home: Path
) -> None:
    parent = open_store(component, project, home)
    store = component.method(parent, "agent", "reviewer", "project")
    found = opened(component, store)
    folder = project / ".claude/agent-memory/reviewer"
    assert (found["directory"], found["chosenBy"]) == (f"{folder}/", "agent")
    assert found["places"]["store"] is None
    assert not folder.exists()

    agent = {"name": "reviewer", "scope": "project"}
    assert opened(component, open_store(component, project, home, agent=agent)) == found

    # The two are closed by themselves.
    component.flow("store.close", parent).run(Host())
    about = {"type": "feedback", "name": "Short functions", "description": "When reviewing"}
    saved = save(component, store, **about, body="At most 40 lines.\n")
    assert (saved["outcome"], saved["path"]) == ("written", "feedback_short_functions.md")
    assert saved["path"] in files(folder)
    assert files(home) == []

    places = found["places"]
    assert component.rule("classify-path", saved["absolutePath"], places) == "agent"
    assert component.rule("may-write", saved["absolutePath"], places)
    call = json.dumps({"file_path": saved["absolutePath"]})
    seen = component.rule("classify-tool-call", "Read", call, places)
    assert seen == {"kind": "agent", "action": "read", "path": saved["absolutePath"]}
    assert component.rule("summarise-tool-calls", [seen], True) == ["Recalled 1 memory"]

    def run(*arguments: str, **options: Any) -> Any:
        words = ["agent", "reviewer", *arguments, "--cwd", str(project)]
        return memdir.run(*words, folders=[home, project], env={"HOME": str(home)}, **options)

    assert run("--json").json == printed_of(found)
    shown = run("show", saved["path"])
    assert (shown.code, shown.stdout) == (0, (folder / saved["path"]).read_text())
    kept = run("save", "--type", "project", "--name", "Mine", "--scope", "local", stdin=b"x")
    assert (kept.code, kept.stdout, kept.stderr) == (0, "saved: project_mine.md\n", "")
    assert "project_mine.md" in files(project / ".claude/agent-memory-local/reviewer")
    unknown = run("scan", "--scope", "team")
    assert unknown.code == 1
    assert "[usage]" in unknown.stderr


def test_an_agent_without_a_name_or_a_project(component: Component, home: Path) -> None:
    parent = component.open(home=str(home))
    for name, scope, code in (
        (" ", "user", "invalid-argument"),
        ("a\0b", "user", "path-nul"),
        ("reviewer", "project", "invalid-argument"),
        ("reviewer", "local", "invalid-argument"),
    ):
        with pytest.raises(MemdirError) as error:
            opened(component, component.method(parent, "agent", name, scope))
        assert error.value.code == code
    found = opened(component, component.method(parent, "agent", "reviewer", "user"))
    assert found["directory"] == f"{home}/.claude/agent-memory/reviewer/"


def test_notes_go_to_the_log_of_the_day(component: Component, tmp_path: Path) -> None:
    class Late(Host):
        """Half past ten in Greenwich, where the host is it is the next day."""

        def now(self) -> Variant:
            when = datetime.datetime(2026, 3, 15, 22, 30, tzinfo=datetime.UTC)
            ms = int(when.timestamp()) * 1000
            return Variant("now", {"ms": ms, "offsetMinutes": 120})

    store, host = component.open(tmp_path), Late()

    def log(text: str) -> Any:
        return component.flow("store.log", store, text).run(host)

    first = log("  Fixed the build\n")
    assert (first["outcome"], first["created"]) == ("written", True)
    assert first["path"] == "logs/2026/03/2026-03-16.md"
    assert log("Slept")["created"] is False
    assert files(tmp_path) == [first["path"]]
    assert (tmp_path / first["path"]).read_text() == "- 00:30 Fixed the build\n- 00:30 Slept\n"
    for text, code in (("", "invalid-argument"), ("a\0b", "invalid-text")):
        with pytest.raises(MemdirError) as error:
            log(text)
        assert error.value.code == code


def test_the_command_writes_to_the_log(memdir: Program, tmp_path: Path) -> None:
    store = tmp_path / "store"
    for words, stdin in ((["Fixed", "the", "build"], b""), ([], b"Slept\n")):
        ran = memdir.run("log", *words, "--dir", str(store), folders=[tmp_path], stdin=stdin)
        assert (ran.code, ran.stderr) == (0, "")
        assert ran.stdout.startswith("logged: logs/")
    notes = [line[8:] for path in files(store) for line in (store / path).read_text().splitlines()]
    assert notes == ["Fixed the build", "Slept"]
    assert memdir.run("log", "--dir", str(store), folders=[tmp_path]).code == 1


def test_secrets_are_found_and_removed(component: Component) -> None:
    start = len("é\nkey ".encode())
    assert component.rule("scan-secrets", LEAK) == [
        {"rule": "github-pat", "label": KIND, "line": 2, "start": start, "end": start + 40}
    ]
    redacted = component.rule("redact-secrets", LEAK)
    assert redacted == "é\nkey [secret removed: github-pat] end\n"
    assert component.rule("redact-secrets", redacted) == redacted
    assert component.rule("scan-secrets", redacted) == []


def test_teammates_are_sent_no_secrets(component: Component, tmp_path: Path) -> None:
    store = component.open(tmp_path)
    memory = {"type": "reference", "name": "Access", "body": LEAK}
    refused = save(component, store, **memory, scope="team")
    assert (refused["outcome"], refused["code"]) == ("refused", "secret-found")
    assert files(tmp_path) == []
    kept = save(component, store, **memory)
    assert kept["outcome"] == "written"
    assert [(entry["path"], entry["code"]) for entry in kept["report"]] == [
        (kept["path"], "secret-found")
    ]
    for said in (refused["message"], kept["report"][0]["message"]):
        assert KIND in said
        assert TOKEN not in said


def test_the_command_finds_secrets(memdir: Program, tmp_path: Path) -> None:
    found = memdir.run("secrets", "-", stdin=LEAK.encode())
    assert (found.code, found.stdout) == (1, f"standard input:2: {KIND} [github-pat]\n")
    assert found.stderr == "secrets: 1\n"
    write(tmp_path, "notes.md", LEAK)
    file = str(tmp_path / "notes.md")
    assert memdir.run("secrets", file, folders=[tmp_path]).stdout.startswith(f"{file}:2: ")
    as_json = memdir.run("secrets", "-", "--json", stdin=LEAK.encode())
    assert [each["line"] for each in as_json.json["findings"]] == [2]
    assert TOKEN not in as_json.stdout
    clean = memdir.run("secrets", "-", stdin=b"nothing\n")
    assert (clean.code, clean.stdout) == (0, "")
