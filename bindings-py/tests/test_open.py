"""Which store a project has, and why: real repositories, settings, switches, features."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from types import MappingProxyType
from typing import Any

import memdir
import pytest
from conftest import Face
from memdir import Features, Memdir, rules

INDEX = "- [Tea](tea.md): green, no sugar\n"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path.resolve()


@pytest.fixture
def config(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = place / "config"
    folder.mkdir()
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(folder))
    return folder


@pytest.fixture
def project(place: Path) -> Path:
    """A repository with one commit."""
    folder = place / "project"
    (folder / "src").mkdir(parents=True)
    git("init", "--quiet", folder)
    (folder / "src" / "main.py").write_text("", encoding="utf-8")
    git("-C", folder, "add", ".")
    git("-C", folder, "commit", "--quiet", "--message", "one")
    return folder


def git(*words: str | Path) -> None:
    settings = ["user.name=A", "user.email=a@example.com", "protocol.file.allow=always"]
    options = [word for setting in settings for word in ("-c", setting)]
    env = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *options, *words], check=True, capture_output=True, env=env, timeout=60)


def store_of(config: Path, root: Path) -> str:
    key = rules.project_slug(str(root))
    return f"{config / 'projects' / key / 'memory'}{os.sep}"


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_a_repository_has_one_store_from_all_of_its_folders(
    face: Face, config: Path, project: Path
) -> None:
    for cwd in (project, project / "src"):
        assert face.opened(cwd=cwd) == memdir.Opened(
            directory=store_of(config, project),
            enabled=True,
            because="default",
            chosen_by="default",
            chosen_file=None,
            project_key=rules.project_slug(str(project)),
            project_root=str(project),
            refused=(),
            places=memdir.MemoryPlaces(
                platform="windows" if os.name == "nt" else "posix",
                store=store_of(config, project),
                config_home=str(config),
                agents=(
                    str(config / "agent-memory"),
                    str(project / ".claude" / "agent-memory"),
                    str(project / ".claude" / "agent-memory-local"),
                ),
            ),
            report=(),
        )
    assert not (config / "projects").exists()


def test_the_working_directory_of_the_process_is_the_default(
    face: Face, config: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project / "src")
    assert face.opened().directory == store_of(config, project)


def test_a_worktree_shares_the_store_of_its_repository(
    face: Face, config: Path, place: Path, project: Path
) -> None:
    git("-C", project, "worktree", "add", "--quiet", "-b", "two", place / "tree")
    opened = face.opened(cwd=place / "tree" / "src")
    assert opened.directory == store_of(config, project)
    assert opened.project_root == str(project)


def test_a_submodule_has_a_store_of_its_own(
    face: Face, config: Path, place: Path, project: Path
) -> None:
    outer = place / "outer"
    git("init", "--quiet", outer)
    git("-C", outer, "submodule", "--quiet", "add", project, "inner")
    assert (outer / "inner" / ".git").is_file()
    inner = face.opened(cwd=outer / "inner" / "src")
    assert inner.directory == store_of(config, outer / "inner")
    assert face.opened(cwd=outer).directory == store_of(config, outer)


def test_worktrees_of_a_bare_clone_share_a_store(
    face: Face, config: Path, place: Path, project: Path
) -> None:
    bare = place / "bare.git"
    git("clone", "--quiet", "--bare", project, bare)
    for name in ("one", "two"):
        git("-C", bare, "worktree", "add", "--quiet", "-b", name, place / name)
        assert face.opened(cwd=place / name).directory == store_of(config, bare)
    # The custom of a bare clone beside its worktrees, in a folder of the project's name.
    git("clone", "--quiet", "--bare", project, place / "beside" / ".git")
    tree = place / "beside" / "tree"
    git("-C", place / "beside" / ".git", "worktree", "add", "--quiet", "-b", "one", tree)
    assert face.opened(cwd=tree).directory == store_of(config, place / "beside")


def test_a_forged_git_file_leads_nowhere(
    face: Face, config: Path, place: Path, project: Path
) -> None:
    git("-C", project, "worktree", "add", "--quiet", "-b", "two", place / "tree")
    forged = write(place / "forged" / ".git", f"gitdir: {project}/.git/worktrees/tree\n").parent
    assert face.opened(cwd=forged).directory == store_of(config, forged)


def test_a_folder_without_a_repository_is_its_own_project(
    face: Face, config: Path, place: Path
) -> None:
    folder = place / "项目 2"
    folder.mkdir()
    assert face.opened(cwd=folder).directory == store_of(config, folder)


def test_a_cwd_that_is_not_absolute_is_refused(face: Face) -> None:
    with pytest.raises(memdir.InputError) as raised:
        face.opened(cwd="project")
    assert raised.value.code == "invalid-argument"


@pytest.mark.skipif(os.name != "posix", reason="Windows keeps a folder that is in use")
def test_a_deleted_working_directory_is_none(
    face: Face, config: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = place / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(memdir.InputError) as raised:
        face.opened()
    assert raised.value.code == "invalid-argument"
    assert face.opened(directory=place / "memory").chosen_by == "option"
    assert face.opened(cwd=place).directory == store_of(config, place)


def test_home_and_platform(face: Face, place: Path) -> None:
    opened = face.opened(directory="~/notes", home=place)
    assert opened.directory == f"{place / 'notes'}{os.sep}"
    assert opened.project_root is None
    opened = face.opened(directory="C:/memory/notes", platform="windows")
    assert opened.directory == "C:\\memory\\notes\\"
    opened = face.opened(cwd=place, home="/home/ines", env={}, platform="posix")
    assert opened.directory.startswith("/home/ines/.claude/projects/")


@pytest.mark.skipif(os.name != "posix", reason="HOME is of posix")
@pytest.mark.parametrize("home", ["", "notes", "/\udcff"])
def test_a_home_that_is_none(
    face: Face, place: Path, monkeypatch: pytest.MonkeyPatch, home: str
) -> None:
    monkeypatch.setenv("HOME", home)
    with pytest.raises(memdir.PathError) as raised:
        face.opened(cwd=place)
    assert raised.value.code == "no-home"
    assert face.opened(directory=place / "memory").enabled


@pytest.mark.skipif(os.name != "posix", reason="the user database is of posix")
def test_without_a_variable_the_system_knows_the_home(
    face: Face, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pwd = pytest.importorskip("pwd")
    monkeypatch.delenv("HOME")
    home = pwd.getpwuid(os.getuid()).pw_dir
    assert face.opened(cwd=place).directory.startswith(f"{home}/.claude/projects/")


@pytest.mark.skipif(os.name != "posix", reason="variables are bytes")
def test_a_variable_that_is_no_text_is_left_out(
    face: Face, config: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMDIR_ODD\udcff", "a")
    monkeypatch.setenv("CLAUDE_CODE_SIMPLE", "\udcff")
    opened = face.opened(cwd=place)
    assert (opened.directory, opened.because) == (store_of(config, place), "default")
    with pytest.raises(memdir.InputError) as raised:
        face.opened(cwd=place, env=os.environ)
    assert raised.value.code == "invalid-text"


def test_the_environment_is_that_of_the_process_or_the_one_given(
    face: Face, config: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "yes")
    opened = face.opened(cwd=place)
    assert (opened.enabled, opened.because) == (False, "env-disabled")
    assert face.opened(cwd=place, env={"CLAUDE_CONFIG_DIR": str(config)}).enabled
    other = MappingProxyType({"CLAUDE_COWORK_MEMORY_PATH_OVERRIDE": str(place / "other")})
    opened = face.opened(cwd=place, env=other)
    assert (opened.chosen_by, opened.directory) == ("env", f"{place / 'other'}{os.sep}")


def test_settings_that_are_passed_count_more_than_files(
    face: Face, config: Path, project: Path, place: Path
) -> None:
    user = write(
        config / "settings.json",
        json.dumps({"autoMemoryDirectory": str(place / "user"), "autoMemoryEnabled": True}),
    )
    write(
        project / ".claude" / "settings.json",
        json.dumps({"autoMemoryDirectory": "/tmp/elsewhere", "env": {"A": "b"}}),
    )
    opened = face.opened(cwd=project)
    assert opened.directory == f"{place / 'user'}{os.sep}"
    assert (opened.chosen_by, opened.chosen_file) == ("settings-user", str(user))
    assert opened.refused == (memdir.Refused(source="settings-project", code="not-trusted"),)
    assert [entry.code for entry in opened.report] == ["directory-refused"]

    given = {"autoMemoryDirectory": str(place / "给"), "autoMemoryEnabled": False}
    opened = face.opened(cwd=project, settings=MappingProxyType(given))
    assert opened.directory == f"{place / '给'}{os.sep}"
    assert (opened.chosen_by, opened.chosen_file) == ("settings-flag", None)
    assert (opened.enabled, opened.because) == (False, "settings-flag")


def test_what_is_wrong_with_settings_is_reported(face: Face, config: Path, place: Path) -> None:
    write(config / "settings.json", "{")
    opened = face.opened(cwd=place, settings={"autoMemoryEnabled": "no", "theme": {"a": [1, None]}})
    assert opened.enabled
    assert {entry.code for entry in opened.report} == {"settings-invalid", "settings-wrong-type"}


def test_off_means_off(face: Face, config: Path, project: Path) -> None:
    off: dict[str, Any] = {"cwd": project, "settings": {"autoMemoryEnabled": False}}
    assert face(off, "prompt") is None
    assert face(off, "manifest") == ""
    scan = face(off, "scan")
    assert scan.memories == ()
    assert [entry.code for entry in scan.report] == ["disabled"]
    assert [finding.code for finding in face(off, "lint").findings] == ["disabled"]
    with pytest.raises(memdir.InputError) as raised:
        face(off, "read", "tea.md")
    assert raised.value.code == "disabled"
    assert list(config.iterdir()) == []


def test_one_step_saving_has_no_index(face: Face, place: Path) -> None:
    write(place / "MEMORY.md", INDEX)
    one_step = {"directory": place, "features": Features(one_step=True)}
    assert "green, no sugar" in face(place, "prompt")
    prompt = face(one_step, "prompt")
    assert "green, no sugar" not in prompt
    assert prompt != face(place, "prompt", index=False)
    assert face(one_step, "prompt", index=False) == prompt


def test_the_prompt_has_what_is_asked_for(face: Face, config: Path, project: Path) -> None:
    here = {"cwd": project}
    plain = face(here, "prompt")
    past = face(here, "prompt", past_context=True)
    transcripts = config / "projects" / rules.project_slug(str(project))
    assert f"{transcripts}" in past.replace(store_of(config, project), "")
    assert len(past) > len(plain)
    prompt = face(here, "prompt", guidelines=("No emoji.", "Dates in ISO."))
    assert "No emoji." in prompt
    assert "Dates in ISO." in prompt


def test_a_closed_store_says_so(place: Path) -> None:
    memory = Memdir(directory=place)
    memory.prompt()
    memory.close()
    for call in (
        memory.scan,
        memory.manifest,
        memory.prompt,
        memory.lint,
        lambda: memory.read("a"),
        lambda: memory.recall("tea"),
    ):
        with pytest.raises(memdir.InputError) as raised:
            call()
        assert raised.value.code == "closed"
    memory.compacted()
    with pytest.raises(memdir.InputError):
        memory.scan()
    assert memory.directory == memory.opened.directory == f"{place}{os.sep}"


def test_the_prompt_stays_until_the_conversation_is_compacted(face: Face, place: Path) -> None:
    index = write(place / "MEMORY.md", INDEX)

    def change() -> None:
        index.write_text("- [Tea](tea.md): black\n", encoding="utf-8")

    def now(memory: Memdir) -> list[str | None]:
        prompts = [memory.prompt()]
        change()
        prompts.append(memory.prompt())
        memory.compacted()
        return [*prompts, memory.prompt()]

    async def later(memory: memdir.AsyncMemdir) -> list[str | None]:
        prompts = [await memory.prompt()]
        change()
        prompts.append(await memory.prompt())
        memory.compacted()
        return [*prompts, await memory.prompt()]

    first, second, third = face.using(place, now, later)
    assert first == second != third
    assert "black" in third


def test_a_changed_file_is_read_again(face: Face, place: Path) -> None:
    path = write(place / "tea.md", "---\nname: Tea\n---\n")
    os.utime(path, (1_700_000_000, 1_700_000_000))

    def change() -> None:
        write(path, "---\nname: Coffee\n---\n")

    def now(memory: Memdir) -> list[memdir.Scan]:
        scans = [memory.scan(), memory.scan()]
        change()
        return [*scans, memory.scan()]

    async def later(memory: memdir.AsyncMemdir) -> list[memdir.Scan]:
        scans = [await memory.scan(), await memory.scan()]
        change()
        return [*scans, await memory.scan()]

    first, second, third = face.using(place, now, later)
    assert first == second
    assert [scan.memories[0].name for scan in (first, third)] == ["Tea", "Coffee"]


def test_lint_names_what_is_wrong(face: Face, place: Path) -> None:
    write(place / "MEMORY.md", INDEX)
    write(place / "coffee.md", "---\nname: Coffee\ndescription: black\ntype: user\n---\n")
    lint = face(place, "lint")
    assert [(found.path, found.line, found.code, found.severity) for found in lint.findings] == [
        ("MEMORY.md", 1, "index-link-broken", "error"),
        ("coffee.md", None, "not-indexed", "warning"),
    ]
    assert all(found.message and found.remedy for found in lint.findings)
    assert isinstance(lint, memdir.Lint)
    hash(lint)


def test_lint_of_a_folder_that_is_not_there(face: Face, place: Path) -> None:
    assert [found.code for found in face(place / "no", "lint").findings] == ["unlistable"]
    assert not (place / "no").exists()
