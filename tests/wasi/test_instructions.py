"""Instructions and the context, by the component with a host in Python, and by the command,
which says that it has no editor.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from component import INSTRUCTIONS_OPTIONS, Component, Flow, MemdirError, Variant
from effects import Host, failed
from program import Program, Ran
from runs import answers, to_its_end
from stores import write

RULE = "---\npaths: ['*.py']\n---\nAbout Python.\n"


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A project with instructions, in which somebody works in `src`, and a home with some, too."""
    base = tmp_path.resolve()
    write(base, "home/.claude/CLAUDE.md", "Mine.\n")
    write(base, "work/.git/HEAD", "ref: refs/heads/main\n")
    write(base, "work/CLAUDE.md", "Work. See @docs/style.md and @missing.md\n")
    write(base, "work/docs/style.md", "Style é.\n")
    write(base, "work/.claude/rules/py.md", RULE)
    write(base, "work/CLAUDE.local.md", "Local.\n")
    write(base, "work/src/main.py", "")
    write(base, "work/src/web/CLAUDE.md", "Web.\n")
    return base


def open_store(component: Component, base: Path, **options: Any) -> Any:
    places = {"cwd": str(base / "work" / "src"), "home": str(base / "home")}
    return component.open(**places | options)


def start(component: Component, store: Any, path: str | None = None, **options: Any) -> Flow:
    given = INSTRUCTIONS_OPTIONS | options
    if path is None:
        return component.flow("store.instructions", store, given)
    return component.flow("store.instructions-for", store, path, given)


def context(component: Component, store: Any, **options: Any) -> dict[str, Any]:
    flow = component.flow("store.context", store, INSTRUCTIONS_OPTIONS | options)
    found: dict[str, Any] = flow.run(Host())
    return found


def names(loaded: dict[str, Any], base: Path) -> list[str]:
    return [str(Path(file["path"]).relative_to(base)) for file in loaded["files"]]


def test_what_is_loaded_and_what_is_said_of_the_rest(component: Component, base: Path) -> None:
    store = open_store(component, base)
    host = Host()
    loaded = start(component, store).run(host)
    assert names(loaded, base) == [
        "home/.claude/CLAUDE.md",
        "work/CLAUDE.md",
        "work/docs/style.md",
        "work/CLAUDE.local.md",
    ]
    assert [file["source"] for file in loaded["files"]] == ["user", "project", "project", "local"]
    assert loaded["files"][2] == {
        "path": str(base / "work/docs/style.md"),
        "source": "project",
        "kind": "import",
        "text": "Style é.",
        "parent": str(base / "work/CLAUDE.md"),
        "globs": None,
        "differs": False,
    }
    entries = {Path(entry["path"]).name: entry for entry in loaded["report"][1:]}
    assert entries["style.md"]["outcome"] == "loaded"
    assert (entries["style.md"]["bytes"], entries["style.md"]["lines"]) == (10, 1)
    assert entries["missing.md"]["code"] == "import-missing"
    assert entries["missing.md"]["depth"] == 1
    assert (entries["py.md"]["outcome"], entries["py.md"]["globs"]) == ("conditional", ["*.py"])
    assert all(
        text in loaded["text"] for text in ("Mine.", "Work. See @docs", "Style é.", "Local.")
    )

    codes = [(event["kind"], event["code"]) for event in host.events]
    assert codes == [("instructions", "session-start")] * 2 + [
        ("instructions", "include"),
        ("instructions", "session-start"),
    ]
    # Nothing that was read is read again, nor told.
    again = Host()
    assert start(component, store).run(again) == loaded
    assert not {"read", "read-many"} & set(again.seen)
    assert again.events == []


def test_options(component: Component, base: Path) -> None:
    write(base, "work/AGENTS.md", "Agents.\n")
    write(base, "more/CLAUDE.md", "More.\n")

    def loaded(**options: Any) -> list[str]:
        return names(start(component, open_store(component, base), **options).run(Host()), base)

    without = {"user": False, "local": False}
    assert loaded(**without, agentsMd=True)[:2] == ["work/AGENTS.md", "work/CLAUDE.md"]
    assert loaded(user=False, project=False) == ["work/CLAUDE.local.md"]
    assert loaded(excludes=["**/CLAUDE*.md"]) == []
    more = loaded(**without, additionalDirectories=[str(base / "more")])
    assert more[-1] == "more/CLAUDE.md"
    known = loaded(**without, loaded=[str(base / "work/docs/style.md")])
    assert known == ["work/CLAUDE.md"]
    with pytest.raises(MemdirError) as wrong:
        loaded(approved=["relative.md"])
    assert wrong.value.code == "invalid-argument"


def test_what_comes_with_a_file(component: Component, base: Path) -> None:
    store = open_store(component, base)
    for path in ("web/a.py", str(base / "work/src/web/a.py")):
        touched = start(component, store, path).run(Host())
        assert names(touched, base) == ["work/.claude/rules/py.md", "work/src/web/CLAUDE.md"]
        assert touched["files"][0]["globs"] == ["*.py"]
    assert start(component, store, "main.rs").run(Host())["files"] == []
    with pytest.raises(MemdirError) as wrong:
        start(component, store, "").run(Host())
    assert wrong.value.code == "invalid-argument"


def outside(base: Path) -> str:
    write(base, "home/notes.md", "Noted.\n")
    write(base, "work/CLAUDE.md", "@~/notes.md\n")
    return str(base / "home" / "notes.md")


def about(loaded: dict[str, Any], path: str) -> tuple[str, str | None]:
    (found,) = (
        (each["outcome"], each["code"]) for each in loaded["report"] if each["path"] == path
    )
    return found


@pytest.mark.parametrize("answer", [True, False])
def test_the_driver_is_asked_once(component: Component, base: Path, answer: bool) -> None:
    path = outside(base)
    asked: list[tuple[str, str]] = []

    def approve(*paths: str) -> bool:
        asked.append(paths)
        return answer

    store = open_store(component, base)
    for _ in range(2):
        loaded = start(component, store).run(Host(approve=approve))
        assert about(loaded, path) == (
            ("loaded", None) if answer else ("skipped", "needs-approval")
        )
        component.method(store, "compacted")
    assert asked == [(path, str(base / "work/CLAUDE.md"))]


def test_approval_without_anybody_to_ask(component: Component, base: Path) -> None:
    path = outside(base)
    store = open_store(component, base)
    assert about(start(component, store).run(Host()), path) == ("skipped", "needs-approval")
    loaded = start(component, store, approved=[path]).run(Host())
    assert about(loaded, path) == ("loaded", None)


def until_asked(flow: Flow, host: Host) -> Variant:
    step = flow.resume([])
    while all(each["effect"].tag != "approve" for each in step.payload["requests"]):
        step = flow.resume(answers(step, host))
    return step


def test_a_question_that_is_not_answered(component: Component, base: Path) -> None:
    path = outside(base)

    class Late(Host):
        def approve(self, path: str, parent: str, **limits: int) -> Variant:
            assert limits == {"timeoutMs": 600_000}
            return failed("timeout", "nobody came")

    store = open_store(component, base)
    loaded = start(component, store).run(Late())
    assert about(loaded, path) == ("skipped", "needs-approval")
    (message,) = (each["message"] for each in loaded["report"] if each["path"] == path)
    assert "nobody came" in message
    assert "work/CLAUDE.local.md" in names(loaded, base)

    flow = start(component, store)
    step = until_asked(flow, Host())
    flow.cancel()

    def gone(effect: Variant) -> Variant | None:
        return failed("aborted", "gone") if effect.tag == "approve" else Host()(effect)

    step = to_its_end(flow, step, gone)
    assert (step.tag, step.payload["code"]) == ("failed", "aborted")


def test_another_outcome_than_the_one_wanted(component: Component, base: Path) -> None:
    outside(base)
    flow = start(component, open_store(component, base))
    step = until_asked(flow, Host())
    (request,) = step.payload["requests"]
    step = flow.resume([{"id": request["id"], "outcome": Variant("changed", {"changed": True})}])
    assert (step.tag, step.payload["code"]) == ("failed", "protocol")


def test_a_context_stays_until_a_compaction(component: Component, base: Path) -> None:
    memories = base / "memories"
    write(memories, "MEMORY.md", "- [Tea](tea.md) — green\n")
    store = open_store(component, base, directory=str(memories))
    first = context(component, store)
    assert [part["kind"] for part in first["parts"]] == ["instructions", "memory", "index"]
    assert first["text"] == "\n\n".join(part["text"] for part in first["parts"])
    assert first["report"][-1]["kind"] == "index"
    assert first["report"][-1]["source"] == "memory"
    write(memories, "MEMORY.md", "- [Coffee](coffee.md) — black\n", age=-60)
    write(base, "work/CLAUDE.md", "Changed.\n", age=-60)
    assert context(component, store) == first
    assert "Changed." in context(component, store, local=False)["text"]
    component.method(store, "compacted")
    changed = context(component, store)["text"]
    assert "Changed." in changed
    assert "Coffee" in changed


def test_a_closed_store(component: Component, base: Path) -> None:
    store = open_store(component, base)
    component.flow("store.close", store).run(Host())
    for flow in (
        start(component, store),
        start(component, store, "a"),
        component.flow("store.context", store, INSTRUCTIONS_OPTIONS),
    ):
        with pytest.raises(MemdirError) as closed:
            flow.run(Host())
        assert closed.value.code == "closed"


def run(memdir: Program, base: Path, *words: str, stdin: bytes = b"", **env: str) -> Ran:
    """Everything below `base` is there, and nothing else."""
    at = ("--cwd", str(base / "work" / "src"))
    env = {"HOME": str(base / "home")} | env
    return memdir.run(*words, *at, stdin=stdin, folders=[base], env=env)


def test_the_command_says_what_is_loaded(component: Component, memdir: Program, base: Path) -> None:
    ran = run(memdir, base, "instructions", "--json")
    assert (ran.code, ran.stderr) == (0, "")
    store = open_store(component, base)
    assert ran.json == start(component, store).run(Host())
    with_file = run(memdir, base, "instructions", "web/a.py", "--json")
    assert with_file.json == start(component, store, "web/a.py").run(Host())
    table = run(memdir, base, "instructions").stdout.splitlines()
    assert table[0].split() == ["STATUS", "SOURCE", "LINES", "BYTES", "FILE"]
    assert table[-1] == "loaded: 4, conditional: 1, skipped: 1"
    tree = run(memdir, base, "instructions", "--tree").stdout.splitlines()
    assert f"  {base / 'work/docs/style.md'}" in tree
    text = run(memdir, base, "instructions", "--text", "--no-user")
    assert "Style é." in text.stdout
    assert "Mine." not in text.stdout
    assert "[import-missing]" in text.stderr


def test_the_command_approves_what_it_is_told_to(memdir: Program, base: Path) -> None:
    path = outside(base)
    ran = run(memdir, base, "instructions", "--text")
    assert "[needs-approval]" in ran.stderr
    approved = run(memdir, base, "instructions", "--text", "--approve", str(base / "home"))
    assert "Noted." in approved.stdout
    assert path in approved.stdout


def test_the_command_gives_the_context(memdir: Program, base: Path) -> None:
    ran = run(memdir, base, "context", "--no-local")
    assert ran.code == 0
    found = run(memdir, base, "context", "--no-local", "--json").json
    assert ran.stdout == found["text"] + "\n"
    assert [part["kind"] for part in found["parts"]] == ["instructions", "memory", "index"]
    assert "Local." not in found["text"]


def test_there_is_no_editor(memdir: Program, base: Path) -> None:
    for env in ({}, {"EDITOR": "vi"}):
        for words, stdin in ((["edit", "work/CLAUDE.md"], b""), (["edit"], b"2\nmore\n")):
            ran = run(memdir, base, *words, stdin=stdin, **env)
            assert ran.code == 1
            assert "an editor is not available here" in ran.stderr
            assert str(base / "work" / "CLAUDE.md") in ran.stderr
            assert "[unsupported]" in ran.stderr


def test_what_could_be_edited_is_listed_all_the_same(memdir: Program, base: Path) -> None:
    files = run(memdir, base, "edit", "--json").json["files"]
    assert [file["path"] for file in files[:3]] == [
        str(base / "home/.claude/CLAUDE.md"),
        str(base / "work/CLAUDE.md"),
        str(base / "work/docs/style.md"),
    ]
    asked = run(memdir, base, "edit", stdin=b"\n")
    assert asked.code == 0
    assert "cancelled" in asked.stderr
    assert str(base / "work" / "CLAUDE.md") in asked.stdout
    unknown = run(memdir, base, "edit", stdin=b"nothing.md\n")
    assert (unknown.code, "[not-found]" in unknown.stderr) == (1, True)


def test_a_command_asks_the_driver_of_the_component(component: Component, base: Path) -> None:
    """The editor is the driver's; which one it is, and on what, is decided here."""

    class Terminal(Host):
        def __init__(self, *lines: str) -> None:
            super().__init__()
            self.lines = list(lines)
            self.opened: list[list[str]] = []

        def read_stdin(self, line: bool, **limits: int) -> Variant:
            assert line
            return Variant("content", {"content": Variant("text", {"text": self.lines.pop(0)})})

        def open_editor(self, argv: list[str]) -> Variant:
            self.opened.append(argv)
            return Variant("done")

    host = Terminal("2")
    options = {
        "args": ["edit"],
        "cwd": str(base / "work"),
        "home": str(base / "home"),
        "env": {"EDITOR": "code --wait"},
    }
    assert component.flow("command", options).run(host) == {"code": 0}
    path = str(base / "work" / "CLAUDE.md")
    assert host.opened == [["code", "--wait", path]]
    assert "EDITOR" in host.printed["stderr"]
    assert json.dumps(path)[1:-1] in host.printed["stdout"]
