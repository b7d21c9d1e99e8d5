"""Instructions in real folders, through both faces and the command: what is loaded, in which order,
and what is said of all that is not.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import memdir
import pytest
from conftest import Face
from memdir import (
    AsyncMemdir,
    Event,
    InputError,
    InstructionFile,
    Instructions,
    LoadEntry,
    LoadNote,
    Memdir,
)
from test_cli import memdir as command
from test_open import git, write
from test_vectors import plain


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository whose user has instructions, too; what is run is run in its `src`."""
    root = tmp_path.resolve() / "work" / "shop"
    git("init", "--quiet", root)
    write(root / "src" / "main.py", "")
    return root


def user(project: Path) -> Path:
    """The folder of the user's configuration."""
    return project.parents[1] / "config"


def surroundings(project: Path) -> dict[str, str]:
    home = project.parents[1] / "home"
    return {"CLAUDE_CONFIG_DIR": str(user(project)), "HOME": str(home), "USERPROFILE": str(home)}


def opening(project: Path, **changed: Any) -> dict[str, Any]:
    options = {
        "cwd": project / "src",
        "home": project.parents[1] / "home",
        "env": surroundings(project),
    }
    return options | changed


def names(loaded: Instructions, project: Path) -> list[str]:
    """What was loaded, relative to the folder of the test."""
    return [
        os.path.relpath(file.path, project.parents[1]).replace(os.sep, "/") for file in loaded.files
    ]


def told(loaded: Instructions, path: Path) -> list[tuple[str, str | None]]:
    return [(each.outcome, each.code) for each in loaded.report if each.path == str(path)]


def test_from_the_broadest_to_the_nearest(face: Face, project: Path) -> None:
    written = {
        "config/CLAUDE.md": ("user", "file"),
        "config/rules/a/tea.md": ("user", "rule"),
        "work/CLAUDE.md": ("project", "file"),
        "work/shop/CLAUDE.md": ("project", "file"),
        "work/shop/.claude/CLAUDE.md": ("project", "file"),
        "work/shop/.claude/rules/tests.md": ("project", "rule"),
        "work/shop/CLAUDE.local.md": ("local", "file"),
        "work/shop/src/CLAUDE.md": ("project", "file"),
    }
    for name in written:
        write(project.parents[1] / name, f"What {name} says.\n")
    write(project / "AGENTS.md", "Not asked for.")
    loaded = face(opening(project), "instructions")
    assert names(loaded, project) == list(written)
    assert [(file.source, file.kind) for file in loaded.files] == list(written.values())
    places = [loaded.text.index(f"What {name} says.") for name in written]
    assert places == sorted(places)
    assert "Not asked for" not in loaded.text
    # Every field, in Python's own types.
    path = str(project / "CLAUDE.local.md")
    (file,) = (file for file in loaded.files if file.source == "local")
    assert file == InstructionFile(
        path=path,
        source="local",
        kind="file",
        text="What work/shop/CLAUDE.local.md says.",
        parent=None,
        globs=None,
        differs=False,
    )
    (entry,) = (entry for entry in loaded.report if entry.source == "local")
    assert entry == LoadEntry(
        path=path,
        source="local",
        kind="file",
        outcome="loaded",
        code=None,
        message=None,
        parent=None,
        depth=0,
        bytes=37,
        lines=1,
        globs=None,
        notes=(),
    )
    assert isinstance(loaded, Instructions)
    assert isinstance(loaded.files, tuple)
    with pytest.raises(dataclasses.FrozenInstanceError):
        loaded.text = ""  # type: ignore[misc]


def test_without_any_there_is_nothing(face: Face, project: Path) -> None:
    assert face(opening(project), "instructions") == Instructions(text="", files=(), report=())
    write(project / "CLAUDE.md", "Shop.")
    off = opening(project, env=surroundings(project) | {"CLAUDE_CODE_DISABLE_CLAUDE_MDS": "1"})
    assert face(off, "instructions").files == ()
    # They are there where memory is off, too.
    off = opening(project, settings={"autoMemoryEnabled": False})
    assert names(face(off, "instructions"), project) == ["work/shop/CLAUDE.md"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ["config/CLAUDE.md", "work/shop/CLAUDE.md", "work/shop/CLAUDE.local.md"]),
        ({"user": False}, ["work/shop/CLAUDE.md", "work/shop/CLAUDE.local.md"]),
        ({"project": False}, ["config/CLAUDE.md", "work/shop/CLAUDE.local.md"]),
        ({"local": False}, ["config/CLAUDE.md", "work/shop/CLAUDE.md"]),
        (
            {"agents_md": True, "user": False, "local": False},
            ["work/shop/AGENTS.md", "work/shop/CLAUDE.md"],
        ),
        ({"excludes": ["**/shop/CLAUDE*.md"]}, ["config/CLAUDE.md"]),
        ({"excludes": ["CLAUDE.md", "["], "user": False, "local": False}, ["work/shop/CLAUDE.md"]),
        (
            {"additional_directories": ["more"], "user": False, "local": False},
            ["work/shop/CLAUDE.md", "more/CLAUDE.md"],
        ),
        (
            {"loaded": ["config/CLAUDE.md"], "local": False},
            ["work/shop/CLAUDE.md"],
        ),
    ],
)
def test_what_is_asked_for(
    face: Face, project: Path, options: dict[str, Any], expected: list[str]
) -> None:
    base = project.parents[1]
    for name in ("config/CLAUDE.md", "more/CLAUDE.md"):
        write(base / name, "Text.")
    for name in ("AGENTS.md", "CLAUDE.md", "CLAUDE.local.md"):
        write(project / name, "Text.")
    for name in ("additional_directories", "loaded"):
        if name in options:
            options = options | {name: [str(base / one) for one in options[name]]}
    loaded = face(opening(project), "instructions", **options)
    assert names(loaded, project) == expected
    if "excludes" in options and expected == ["config/CLAUDE.md"]:
        assert told(loaded, project / "CLAUDE.md") == [("skipped", "excluded")]


def test_excludes_of_the_settings(face: Face, project: Path) -> None:
    write(project / "CLAUDE.md", "Shop.")
    write(project / "src" / "CLAUDE.md", "Sources.")
    settings = {"claudeMdExcludes": [str(project / "CLAUDE.md")]}
    loaded = face(opening(project, settings=settings), "instructions")
    assert names(loaded, project) == ["work/shop/src/CLAUDE.md"]


def test_imports(face: Face, project: Path) -> None:
    write(
        project / "CLAUDE.md",
        "Read @docs/style.md, but `@docs/code.md` is code, and so is\n\n    @docs/block.md\n\n"
        "Mail a@docs.md or @alice; @missing.md is missing. @logo.png is a picture.\n",
    )
    write(project / "docs" / "style.md", "Style. See @../CLAUDE.md and @deeper.md")
    write(project / "docs" / "deeper.md", "Deeper.")
    write(project / "logo.png", "no text")
    loaded = face(opening(project), "instructions")
    assert names(loaded, project) == [
        "work/shop/CLAUDE.md",
        "work/shop/docs/style.md",
        "work/shop/docs/deeper.md",
    ]
    style = str(project / "docs" / "style.md")
    assert [file.parent for file in loaded.files] == [None, str(project / "CLAUDE.md"), style]
    assert "Read @docs/style.md" in loaded.text
    considered = [(Path(each.path).name, each.depth, each.code) for each in loaded.report]
    assert considered == [
        ("CLAUDE.md", 0, None),
        ("style.md", 1, None),
        ("CLAUDE.md", 2, "already-loaded"),
        ("deeper.md", 2, None),
        ("missing.md", 1, "import-missing"),
        ("logo.png", 1, "not-text-type"),
    ]
    assert all((each.code is None) == (each.message is None) for each in loaded.report)


def test_imports_are_followed_four_times(face: Face, project: Path) -> None:
    write(project / "CLAUDE.md", "@1.md")
    for number in range(1, 6):
        write(project / f"{number}.md", f"@{number + 1}.md")
    loaded = face(opening(project), "instructions")
    assert names(loaded, project)[1:] == [f"work/shop/{number}.md" for number in range(1, 5)]
    assert told(loaded, project / "5.md") == [("skipped", "import-too-deep")]


def outside(project: Path) -> Path:
    """A file outside of the working tree, which the project imports."""
    write(project / "CLAUDE.md", "@~/notes/team.md")
    return write(project.parents[1] / "home" / "notes" / "team.md", "From outside.")


def test_what_lies_outside_needs_approval(face: Face, project: Path) -> None:
    file = outside(project)
    loaded = face(opening(project), "instructions")
    assert told(loaded, file) == [("skipped", "needs-approval")]
    assert "From outside" not in loaded.text
    for approved in (file, file.parent):
        loaded = face(opening(project), "instructions", approved=[str(approved)])
        assert told(loaded, file) == [("loaded", None)]
    # What the user's own instructions import is the user's wish.
    write(user(project) / "CLAUDE.md", "@~/notes/team.md")
    loaded = face(opening(project), "instructions", project=False)
    assert told(loaded, file) == [("loaded", None)]


@pytest.mark.skipif(sys.platform == "win32", reason="needs links")
def test_a_link_out_of_the_working_tree_needs_approval(face: Face, project: Path) -> None:
    file = outside(project)
    (project / "CLAUDE.md").unlink()
    (project / "CLAUDE.md").symlink_to(file)
    loaded = face(opening(project), "instructions")
    assert told(loaded, project / "CLAUDE.md") == [("skipped", "needs-approval")]
    asked: list[tuple[str, str]] = []
    loaded = face(opening(project, approve_import=noting(asked, True)), "instructions")
    assert told(loaded, project / "CLAUDE.md") == [("loaded", None)]
    assert asked == [(str(file), str(project / "CLAUDE.md"))]


def noting(asked: list[tuple[str, str]], answer: Any) -> Callable[[str, str], bool]:
    def approve(path: str, parent: str) -> bool:
        asked.append((path, parent))
        if isinstance(answer, Exception):
            raise answer
        return bool(answer)

    return approve


def awaited(function: Callable[[str, str], bool]) -> Any:
    async def later(path: str, parent: str) -> bool:
        return function(path, parent)

    return later


FORMS = pytest.mark.parametrize(
    "form", [lambda function: function, awaited], ids=["function", "coroutine function"]
)


@FORMS
@pytest.mark.parametrize("answer", [True, False])
def test_a_function_is_asked_once(
    face: Face, project: Path, form: Callable[..., Any], answer: bool
) -> None:
    file = outside(project)
    asked: list[tuple[str, str]] = []
    options = opening(project, approve_import=form(noting(asked, answer)))

    def now(memory: Memdir) -> list[Instructions]:
        found = [memory.instructions()]
        memory.compacted()
        return [*found, memory.instructions()]

    async def later(memory: AsyncMemdir) -> list[Instructions]:
        found = [await memory.instructions()]
        memory.compacted()
        return [*found, await memory.instructions()]

    expected = ("loaded", None) if answer else ("skipped", "needs-approval")
    for loaded in face.using(options, now, later):
        assert told(loaded, file) == [expected]
    assert asked == [(str(file), str(project / "CLAUDE.md"))]


@FORMS
def test_a_function_that_raises_leaves_the_file_out(
    face: Face, project: Path, form: Callable[..., Any]
) -> None:
    file = outside(project)
    asked: list[tuple[str, str]] = []
    options = opening(project, approve_import=form(noting(asked, ValueError("nobody there"))))
    loaded = face(options, "instructions")
    assert told(loaded, file) == [("skipped", "needs-approval")]
    (message,) = (entry.message for entry in loaded.report if entry.code)
    assert message is not None
    assert "ValueError: nobody there" in message
    assert names(loaded, project) == ["work/shop/CLAUDE.md"]
    # Whoever is asked the next time may be there.
    face(options, "instructions")
    assert len(asked) == 2


def test_what_comes_with_a_file(face: Face, project: Path) -> None:
    write(project / "CLAUDE.md", "Shop.")
    rule = '---\npaths: ["src/**/*.{ts,tsx}", docs/]\n---\nTypes.\n'
    write(project / ".claude" / "rules" / "types.md", rule)
    write(project / "src" / "web" / "CLAUDE.md", "Web.")
    write(project / "src" / "web" / ".claude" / "rules" / "all.md", "Always in web.")
    loaded = face(opening(project), "instructions")
    assert names(loaded, project) == ["work/shop/CLAUDE.md"]
    (entry,) = (entry for entry in loaded.report if entry.outcome == "conditional")
    assert entry.globs == ("src/**/*.{ts,tsx}", "docs/")

    for path in ("web/app/page.tsx", str(project / "src" / "web" / "app" / "page.tsx")):
        touched = face(opening(project), "instructions_for", path)
        assert names(touched, project) == [
            "work/shop/.claude/rules/types.md",
            "work/shop/src/web/CLAUDE.md",
            "work/shop/src/web/.claude/rules/all.md",
        ]
        assert touched.files[0].globs == entry.globs
        assert "Types." in touched.text
        assert "Shop." not in touched.text
    assert face(opening(project), "instructions_for", "main.py").files == ()
    guide = str(project / "docs" / "guide.md")
    assert len(face(opening(project), "instructions_for", guide).files) == 1
    shown = [str(project / ".claude" / "rules" / "types.md")]
    again = face(opening(project), "instructions_for", "web/a.ts", loaded=shown)
    assert told(again, Path(shown[0])) == [("skipped", "already-loaded")]


def bad_inputs(project: Path) -> dict[str, tuple[Path, str, str | None]]:
    """Files that cannot be loaded, or not as they are: what is said of each."""
    rules = project / ".claude" / "rules"
    rules.mkdir(parents=True)
    found: dict[str, tuple[bytes, str, str | None]] = {
        "binary": (b"\x00\x01", "skipped", "nul-byte"),
        "latin": ("Café".encode("latin-1"), "skipped", "not-utf8"),
        "large": (b"x" * (4 * 1024 * 1024 + 1), "skipped", "too-large"),
        "unclosed": (b"---\npaths: a\n\nText.", "loaded", "frontmatter-unclosed"),
        "invalid": (b"---\n\tpaths: [\n---\nText.", "loaded", "frontmatter-invalid"),
        "number": (b"---\npaths: 7\n---\nText.", "loaded", "paths-ignored"),
        "brackets": (b'---\npaths: ["[", "*.py"]\n---\nText.', "conditional", None),
        "comment": (b"Text.\n\n<!-- open", "loaded", "comment-unclosed"),
        "long": (b"word " * 9_000, "loaded", "instructions-large"),
        "nothing": (b"", "loaded", "empty"),
    }
    for name, (content, _, _) in found.items():
        (rules / f"{name}.md").write_bytes(content)
    return {
        name: (rules / f"{name}.md", outcome, code) for name, (_, outcome, code) in found.items()
    }


def test_bad_input_costs_nothing_else(face: Face, project: Path) -> None:
    bad = bad_inputs(project)
    (project / "CLAUDE.md").mkdir()
    write(project / "CLAUDE.local.md", "The rest.")
    loaded = face(opening(project), "instructions")
    assert "The rest." in loaded.text
    entries = {entry.path: entry for entry in loaded.report}
    for path, outcome, code in bad.values():
        entry = entries[str(path)]
        said = [entry.code, *(note.code for note in entry.notes)]
        assert (entry.outcome, code in said) == (outcome, True), entry
    assert told(loaded, project / "CLAUDE.md") == [("skipped", "not-a-file")]
    (note,) = entries[str(bad["long"][0])].notes
    assert isinstance(note, LoadNote)
    assert "40000 characters" in note.message
    with_rule = face(opening(project), "instructions_for", "main.py")
    assert told(with_rule, bad["brackets"][0]) == [("loaded", None)]


@pytest.mark.skipif(sys.platform == "win32", reason="needs links")
def test_links(face: Face, project: Path) -> None:
    rules = project / ".claude" / "rules"
    write(project / "shared" / "one.md", "One.")
    rules.mkdir(parents=True)
    (rules / "folder").symlink_to("../../shared")
    (rules / "again.md").symlink_to("../../shared/one.md")
    (rules / "dangling.md").symlink_to("nowhere.md")
    (rules / "loop").symlink_to("../rules")
    loaded = face(opening(project), "instructions")
    assert loaded.text.count("One.") == 1
    assert told(loaded, rules / "dangling.md") == [("skipped", "link-dangling")]
    codes = [entry.code for entry in loaded.report]
    assert codes.count("already-loaded") == 1


def test_a_file_that_has_changed_is_read_again(face: Face, project: Path) -> None:
    path = write(project / "CLAUDE.md", "Before.")
    os.utime(path, (1_000_000_000, 1_000_000_000))

    def now(memory: Memdir) -> list[str]:
        found = [memory.instructions().text, memory.instructions().text]
        write(path, "Afterwards.")
        return [*found, memory.instructions().text]

    async def later(memory: AsyncMemdir) -> list[str]:
        found = [(await memory.instructions()).text, (await memory.instructions()).text]
        write(path, "Afterwards.")
        return [*found, (await memory.instructions()).text]

    before, again, after = face.using(opening(project), now, later)
    assert before == again
    assert "Before." in before
    assert "Afterwards." in after


def test_a_context_stays_until_a_compaction(face: Face, project: Path) -> None:
    write(project / "CLAUDE.md", "Shop.")
    store = project.parents[1] / "memory"
    write(store / "MEMORY.md", "- [Tea](tea.md) — green\n")

    def change() -> None:
        write(project / "CLAUDE.md", "Changed.")
        write(store / "MEMORY.md", "- [Coffee](coffee.md) — black\n")

    def now(memory: Memdir) -> list[memdir.Context]:
        found = [memory.context()]
        change()
        found += [memory.context(), memory.context(local=False)]
        memory.compacted()
        return [*found, memory.context()]

    async def later(memory: AsyncMemdir) -> list[memdir.Context]:
        found = [await memory.context()]
        change()
        found += [await memory.context(), await memory.context(local=False)]
        memory.compacted()
        return [*found, await memory.context()]

    first, second, other, third = face.using(opening(project, directory=store), now, later)
    assert first == second
    assert [part.kind for part in first.parts] == ["instructions", "memory", "index"]
    assert first.text == "\n\n".join(part.text for part in first.parts)
    assert "Shop." in first.parts[0].text
    assert "Tea" in first.parts[2].text
    assert "Tea" not in first.parts[1].text
    assert [(entry.source, entry.kind) for entry in first.report] == [
        ("project", "file"),
        ("memory", "index"),
    ]
    # Other options are another context.
    assert "Changed." in other.text
    for changed in ("Changed.", "Coffee"):
        assert changed in third.text
    assert isinstance(first.parts[0], memdir.ContextPart)


def test_a_context_of_a_team(face: Face, project: Path) -> None:
    store = project.parents[1] / "memory"
    write(store / "team" / "MEMORY.md", "- [Deploys](deploys.md) — on Fridays\n")
    options = opening(project, directory=store, features=memdir.Features(team=True))
    context = face(options, "context")
    assert [part.kind for part in context.parts] == ["memory", "index", "team-index"]
    assert "on Fridays" in context.parts[2].text
    off = face(options | {"settings": {"autoMemoryEnabled": False}}, "context")
    assert (off.text, off.parts, off.report) == ("", (), ())


def test_each_load_is_told(face: Face, project: Path) -> None:
    write(user(project) / "CLAUDE.md", "Mine.")
    write(project / "CLAUDE.md", "@more.md")
    write(project / "more.md", "More.")
    write(project / ".claude" / "rules" / "py.md", "---\npaths: '*.py'\n---\nPython.")
    write(project / "src" / "web" / "CLAUDE.md", "Web.")
    heard: list[Event] = []
    options = opening(project, on_event=heard.append)

    def now(memory: Memdir) -> None:
        memory.instructions()
        memory.instructions()
        memory.instructions_for("web/a.py")
        memory.compacted()
        memory.instructions(user=False)

    async def later(memory: AsyncMemdir) -> None:
        await memory.instructions()
        await memory.instructions()
        await memory.instructions_for("web/a.py")
        memory.compacted()
        await memory.instructions(user=False)

    face.using(options, now, later)
    assert [(event.kind, Path(event.path or "").name, event.code) for event in heard] == [
        ("instructions", "CLAUDE.md", "session-start"),
        ("instructions", "CLAUDE.md", "session-start"),
        ("instructions", "more.md", "include"),
        ("instructions", "py.md", "path-glob-match"),
        ("instructions", "CLAUDE.md", "nested-traversal"),
        ("instructions", "CLAUDE.md", "compact"),
        ("instructions", "more.md", "include"),
    ]
    assert heard[0].message.startswith("user instructions")
    assert str(project / "CLAUDE.md") in heard[2].message


@pytest.mark.parametrize(
    "options",
    [
        {"additional_directories": ["more"]},
        {"approved": ["~/notes"]},
        {"loaded": ["CLAUDE.md"]},
        {"excludes": ["\ud800"]},
    ],
)
@pytest.mark.parametrize("method", ["instructions", "context"])
def test_what_makes_no_sense(
    face: Face, project: Path, method: str, options: dict[str, Any]
) -> None:
    with pytest.raises(InputError) as raised:
        face(opening(project), method, **options)
    expected = "invalid-text" if "excludes" in options else "invalid-argument"
    assert raised.value.code == expected


@pytest.mark.parametrize(
    "options",
    [
        {"agents_md": 1},
        {"user": None},
        {"excludes": "**/CLAUDE.md"},
        {"approved": [Path("/a")]},
        {"loaded": 7},
        {"additional_directories": b"/a"},
    ],
)
def test_other_types_are_none(face: Face, project: Path, options: dict[str, Any]) -> None:
    for method, words in (("instructions", ()), ("instructions_for", ("a.py",)), ("context", ())):
        with pytest.raises(TypeError):
            face(opening(project), method, *words, **options)


def test_a_file_that_is_none_and_a_closed_store(face: Face, project: Path) -> None:
    with pytest.raises(InputError) as raised:
        face(opening(project), "instructions_for", "")
    assert raised.value.code == "invalid-argument"
    memory = Memdir(**opening(project))
    memory.close()
    for call in (memory.instructions, lambda: memory.instructions_for("a"), memory.context):
        with pytest.raises(InputError) as raised:
            call()
        assert raised.value.code == "closed"


def run(project: Path, *words: str, **named: Any) -> subprocess.CompletedProcess[bytes]:
    env = surroundings(project) | named.pop("env", {})
    return command(*words, cwd=project / "src", env=env, **named)


def test_the_command_says_what_is_loaded(project: Path) -> None:
    write(project / "CLAUDE.md", "@docs/style.md and @missing.md")
    write(project / "docs" / "style.md", "Style é.")
    write(project / ".claude" / "rules" / "py.md", "---\npaths: '*.py'\n---\nPython.")
    write(project / "AGENTS.md", "Agents.")
    as_json = run(project, "instructions", "--json")
    assert (as_json.returncode, as_json.stderr) == (0, b"")
    with Memdir(**opening(project)) as memory:
        assert json.loads(as_json.stdout) == plain(memory.instructions())
        touched = plain(memory.instructions_for("main.py"))
    assert json.loads(run(project, "instructions", "main.py", "--json").stdout) == touched

    table = run(project, "instructions").stdout.decode().splitlines()
    assert table[0].split() == ["STATUS", "SOURCE", "LINES", "BYTES", "FILE"]
    assert table[-1] == "loaded: 2, conditional: 1, skipped: 1"
    assert any("[import-missing]" in line for line in table)
    tree = run(project, "instructions", "--tree", "--agents-md").stdout.decode().splitlines()
    assert tree[:3] == [
        str(project / "AGENTS.md"),
        str(project / "CLAUDE.md"),
        f"  {project / 'docs' / 'style.md'}",
    ]
    text = run(project, "instructions", "--text")
    assert "Style é." in text.stdout.decode()
    assert b"[import-missing]" in text.stderr
    relative = run(project, "instructions", "--add-dir", "../docs", "--no-project", "--json")
    assert json.loads(relative.stdout)["files"] == []
    assert run(project, "scan", "--tree").returncode == 2


def test_the_command_gives_the_context(project: Path) -> None:
    write(project / "CLAUDE.md", "Shop é. @~/notes.md")
    notes = write(project.parents[1] / "home" / "notes.md", "Noted.")
    done = run(project, "context")
    assert done.returncode == 0
    assert b"[needs-approval]" in done.stderr
    with Memdir(**opening(project)) as memory:
        assert done.stdout.decode() == memory.context().text + "\n"
    as_json = run(project, "context", "--json", "--approve", str(notes))
    found = json.loads(as_json.stdout)
    assert [part["kind"] for part in found["parts"]] == ["instructions", "memory", "index"]
    assert "Noted." in found["text"]


@pytest.fixture
def editor(tmp_path: Path) -> tuple[str, Path]:
    """The command of an editor, and the file in which it notes what it was opened with."""
    noted = tmp_path / "noted"
    program = write(
        tmp_path / "an editor.py",
        "import json, pathlib, sys\n"
        f"pathlib.Path({str(noted)!r}).write_text(json.dumps(sys.argv[1:]))\n"
        "pathlib.Path(sys.argv[-1]).write_text('edited')\n",
    )
    return f"{shlex.quote(sys.executable)} {shlex.quote(str(program))} --wait", noted


needs_shell_words = pytest.mark.skipif(sys.platform == "win32", reason="quotes as a shell does")


@needs_shell_words
def test_edit_by_name(project: Path, editor: tuple[str, Path]) -> None:
    path = write(project / "CLAUDE.md", "Shop.")
    words, noted = editor
    env = {"EDITOR": words}
    done = run(project, "edit", "shop/CLAUDE.md", env=env)
    assert (done.returncode, done.stdout) == (0, b""), done.stderr
    assert json.loads(noted.read_text()) == ["--wait", str(path)]
    assert path.read_text() == "edited"
    assert b"EDITOR" in done.stderr
    assert str(path).encode() in done.stderr
    # VISUAL comes first.
    done = run(project, "edit", "shop/CLAUDE.md", env={"EDITOR": "missing", "VISUAL": words})
    assert done.returncode == 0
    missing = run(project, "edit", "nothing.md", env=env)
    assert (missing.returncode, b"[not-found]" in missing.stderr) == (1, True)


@needs_shell_words
def test_edit_by_number_makes_what_is_not_there(project: Path, editor: tuple[str, Path]) -> None:
    words, noted = editor
    done = run(project, "edit", env={"EDITOR": words}, stdin=b"1\r\nmore\n")
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.decode().splitlines()[:2]
    path = user(project) / "CLAUDE.md"
    assert str(path) in first
    assert "new" in first
    assert str(project / "CLAUDE.md") in second
    assert json.loads(noted.read_text()) == ["--wait", str(path)]
    assert path.read_text() == "edited"
    assert path.stat().st_mode & 0o777 == 0o600
    assert not (project / "CLAUDE.md").exists()


@needs_shell_words
@pytest.mark.parametrize("stdin", [b"\n", b"", b"  \r\n"])
def test_edit_cancelled(project: Path, editor: tuple[str, Path], stdin: bytes) -> None:
    words, noted = editor
    done = run(project, "edit", env={"EDITOR": words}, stdin=stdin)
    assert done.returncode == 0
    assert b"cancelled" in done.stderr
    assert not noted.exists()
    assert not user(project).joinpath("CLAUDE.md").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_edit_given_up_with_ctrl_c(project: Path, editor: tuple[str, Path]) -> None:
    words, noted = editor
    # A shell may have started us with the signal ignored, which the program would inherit.
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from memdir._cli import main; sys.exit(main(['edit']))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=project / "src",
        env=os.environ | surroundings(project) | {"EDITOR": words},
    ) as program:
        assert program.stderr is not None
        asked = program.stderr.read(len("Which one?"))
        program.send_signal(signal.SIGINT)
        assert program.wait(20) == 128 + signal.SIGINT
    assert asked == b"Which one?"
    assert not noted.exists()


def test_what_can_be_edited(project: Path) -> None:
    write(project / "CLAUDE.md", "@docs/style.md")
    write(project / "docs" / "style.md", "Style.")
    with Memdir(**opening(project)) as memory:
        memory.save(type="user", name="Tea", description="green")
        directory = Path(memory.directory)
    found = json.loads(run(project, "edit", "--json").stdout)["files"]
    assert [(file["path"], file["depth"], file["exists"]) for file in found] == [
        (str(user(project) / "CLAUDE.md"), 0, False),
        (str(project / "CLAUDE.md"), 0, True),
        (str(project / "docs" / "style.md"), 1, True),
        (str(directory / "MEMORY.md"), 0, True),
        (str(directory / "user_tea.md"), 0, True),
    ]


@needs_shell_words
def test_an_editor_that_fails(project: Path, tmp_path: Path) -> None:
    path = write(project / "CLAUDE.md", "Shop.")
    nobody = {"EDITOR": "", "VISUAL": ""}
    fails = run(project, "edit", str(path), env=nobody | {"EDITOR": "false"})
    assert (fails.returncode, b"EDITOR" in fails.stderr) == (1, True)
    missing = run(project, "edit", str(path), env=nobody | {"VISUAL": str(tmp_path / "missing")})
    assert (missing.returncode, b"[not-found]" in missing.stderr) == (1, True)
    # Without either the system's own is looked for.
    bin_ = tmp_path / "bin"
    none = run(project, "edit", str(path), env=nobody | {"PATH": str(bin_)})
    assert none.returncode == 1
    assert b"set VISUAL or EDITOR" in none.stderr
    nano = write(bin_ / "nano", '#!/bin/sh\necho edited > "$1"\n')
    nano.chmod(0o755)
    done = run(project, "edit", str(path), env=nobody | {"PATH": str(bin_)})
    assert done.returncode == 0
    assert path.read_text() == "edited\n"
