"""How a store is found from a working directory, through the component and by the command."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from component import FEATURES, Component, MemdirError
from effects import Host
from program import Program, printed_of
from stores import write


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    return home


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with one commit."""
    project = tmp_path / "my_app"
    write(project, "src/main.py", "")
    for words in ["init --quiet", "add .", "commit --quiet --message first"]:
        git(project, *words.split())
    return project


def git(folder: Path, *words: str) -> None:
    settings = ["user.name=a", "user.email=a@b.invalid", "commit.gpgsign=false"]
    flags = [part for setting in settings for part in ("-c", setting)]
    subprocess.run(["git", *flags, *words], cwd=folder, check=True, capture_output=True)


def default_of(home: Path, project: Path) -> str:
    slug = "".join(c if c.isascii() and c.isalnum() else "-" for c in str(project))
    return f"{home}/.claude/projects/{slug}/memory/"


def found(component: Component, **options: Any) -> dict[str, Any]:
    given = {
        key: str(value) if isinstance(value, Path) else value for key, value in options.items()
    }
    return component.flow("store.open", component.open(**given)).run(Host())


def test_the_project_of_the_working_directory_decides(
    component: Component, memdir: Program, home: Path, project: Path
) -> None:
    opened = found(component, cwd=project / "src", home=home)
    assert opened == {
        "directory": default_of(home, project),
        "enabled": True,
        "because": "default",
        "chosenBy": "default",
        "chosenFile": None,
        "projectKey": Path(opened["directory"]).parent.name,
        "projectRoot": str(project),
        "refused": [],
        "places": {
            "platform": "posix",
            "store": default_of(home, project),
            "configHome": f"{home}/.claude",
            "agents": [
                f"{home}/.claude/agent-memory",
                f"{project}/.claude/agent-memory",
                f"{project}/.claude/agent-memory-local",
            ],
            "overridden": False,
        },
        "report": [],
    }
    printed = memdir.run(
        *("path", "--json", "--cwd", str(project / "src")),
        folders=[home, project],
        env={"HOME": str(home)},
    )
    assert (printed.code, printed.json) == (0, printed_of(opened))


def test_a_worktree_has_the_store_of_its_repository(
    component: Component, memdir: Program, home: Path, project: Path, tmp_path: Path
) -> None:
    worktree = tmp_path / "elsewhere" / "worktree"
    git(project, "worktree", "add", "--quiet", str(worktree))
    assert (worktree / ".git").is_file()
    opened = found(component, cwd=worktree / "src", home=home)
    assert opened["directory"] == default_of(home, project)
    assert opened["projectRoot"] == str(project)

    arguments = ["path", "--json", "--cwd", str(worktree / "src")]
    env = {"HOME": str(home)}
    printed = memdir.run(*arguments, folders=[home, project, worktree], env=env)
    assert printed.json == printed_of(opened)
    # Without the repository nobody can tell what the worktree belongs to, so it stands for itself.
    alone = memdir.run(*arguments, folders=[home, worktree], env=env)
    assert alone.json["projectRoot"] == str(worktree)


def test_submodules_and_bare_clones(
    component: Component, memdir: Program, home: Path, project: Path, tmp_path: Path
) -> None:
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init", "--quiet")
    local = ["-c", "protocol.file.allow=always"]
    git(outer, *local, "submodule", "--quiet", "add", str(project), "in")
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "--quiet", "--bare", str(project), str(bare))
    tree = tmp_path / "tree"
    git(bare, "worktree", "add", "--quiet", "-b", "other", str(tree))
    for cwd, root in ((outer / "in" / "src", outer / "in"), (outer, outer), (tree, bare)):
        opened = found(component, cwd=cwd, home=home)
        assert opened["directory"] == default_of(home, root)
        arguments = ["path", "--json", "--cwd", str(cwd)]
        env = {"HOME": str(home)}
        printed = memdir.run(*arguments, folders=[home, outer, bare, tree], env=env)
        assert printed.json == printed_of(opened)


def test_settings_are_read_and_those_of_the_repository_are_not_trusted(
    component: Component, memdir: Program, home: Path, project: Path
) -> None:
    write(home, ".claude/settings.json", json.dumps({"autoMemoryDirectory": "~/notes"}))
    write(project, ".claude/settings.json", '{"autoMemoryDirectory": "/etc/notes"}')
    write(project, ".claude/settings.local.json", "{")
    opened = found(component, cwd=project, home=home)
    assert (opened["directory"], opened["chosenBy"]) == (f"{home}/notes/", "settings-user")
    assert opened["chosenFile"] == f"{home}/.claude/settings.json"
    assert opened["refused"] == [{"source": "settings-project", "code": "not-trusted"}]
    codes = [entry["code"] for entry in opened["report"]]
    assert codes == ["settings-invalid", "directory-refused"]

    given = {"cwd": project, "home": home}
    flag = found(component, **given, settings='{"autoMemoryDirectory": "/a/b/c"}')
    assert (flag["directory"], flag["chosenBy"]) == ("/a/b/c/", "settings-flag")
    over = found(component, **given, env={"CLAUDE_COWORK_MEMORY_PATH_OVERRIDE": "/d/e"})
    assert (over["directory"], over["chosenBy"]) == ("/d/e/", "env")

    ran = memdir.run(
        "path", "--cwd", str(project), folders=[home, project], env={"HOME": str(home)}
    )
    assert ran.code == 0
    assert ran.stdout.splitlines()[0] == f"{home}/notes/"
    assert "refused: settings-project (not-trusted)" in ran.stdout
    assert "[settings-invalid]" in ran.stderr


def test_off_means_off(component: Component, memdir: Program, home: Path, sample: Path) -> None:
    env = {"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"}
    store, host = component.open(sample, env=env), Host()
    opened = component.flow("store.open", store).run(host)
    assert (opened["enabled"], opened["because"]) == (False, "env-disabled")
    scan = component.flow("store.scan", store).run(host)
    assert scan["memories"] == []
    assert [entry["code"] for entry in scan["report"]] == ["disabled"]
    with pytest.raises(MemdirError) as error:
        component.flow("store.read", store, "plain.md").run(host)
    assert error.value.code == "disabled"
    assert not {"list", "read-many", "make-dir"} & set(host.seen)

    ran = memdir.run("prompt", "--dir", str(sample), folders=[sample], env=env)
    assert (ran.code, ran.stdout) == (0, "")
    assert "memory is off" in ran.stderr


def test_what_is_missing_is_said(component: Component, memdir: Program, project: Path) -> None:
    with pytest.raises(MemdirError) as error:
        found(component)
    assert error.value.code == "invalid-argument"
    with pytest.raises(MemdirError) as error:
        found(component, cwd=project)
    assert error.value.code == "no-home"
    ran = memdir.run("path", "--cwd", str(project), folders=[project])
    assert ran.code == 1
    assert "[no-home]" in ran.stderr


def test_the_platform_is_a_matter_of_choice(component: Component) -> None:
    opened = found(component, directory="C:\\Users\\u\\notes", platform="windows")
    assert opened["directory"] == "C:\\Users\\u\\notes\\"


def test_features_arrive(component: Component, sample: Path) -> None:
    store = component.open(sample, features=FEATURES | {"oneStep": True})
    options = {"index": True, "pastContext": False, "guidelines": []}
    prompt = component.flow("store.prompt", store, options).run(Host())["prompt"]
    assert "user_role.md" not in prompt


def test_a_project_without_memories_is_in_order(memdir: Program, home: Path, project: Path) -> None:
    ran = memdir.run(
        "lint", "--cwd", str(project), folders=[home, project], env={"HOME": str(home)}
    )
    assert ran.code == 0, ran.stdout
    assert "does not exist" in ran.stdout
    assert list(home.iterdir()) == []


def test_lint_says_what_and_exits_with_1_only_for_errors(memdir: Program, sample: Path) -> None:
    warned = memdir.run("lint", "--dir", str(sample), folders=[sample])
    assert warned.code == 0, warned.stdout
    assert "plain.md: warning: it has no frontmatter" in warned.stdout
    write(sample, "MEMORY.md", "- [Gone](gone.md): nowhere\n")
    broken = memdir.run("lint", "--dir", str(sample), folders=[sample])
    assert broken.code == 1
    assert "MEMORY.md:1: error: " in broken.stdout
    assert "[index-link-broken]" in broken.stdout
    assert broken.stderr.startswith("errors: 1, ")
