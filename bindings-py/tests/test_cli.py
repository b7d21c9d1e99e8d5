"""The command as a program. What it says is tested in the core; here, that it says it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from memdir import Memdir
from test_open import git
from test_secrets import token
from test_vectors import plain


def memdir(
    *args: str | bytes,
    cwd: Path | None = None,
    env: Mapping[Any, Any] | None = None,
    stdin: bytes = b"",
) -> subprocess.CompletedProcess[bytes]:
    """`env` comes on top of the environment of the tests; on posix it may be bytes."""
    command = [sys.executable, "-m", "memdir", *args]
    more = {os.fsdecode(name): os.fsdecode(value) for name, value in (env or {}).items()}
    return subprocess.run(
        command,
        input=stdin,
        capture_output=True,
        check=False,
        cwd=cwd,
        env=os.environ | more,
        timeout=60,
    )


@pytest.fixture
def store(tmp_path: Path) -> Path:
    (tmp_path / "é.md").write_text("---\nname: É\n---\n", encoding="utf-8")
    return tmp_path


def test_scan(store: Path) -> None:
    done = memdir("scan", "--dir", str(store), "--json")
    assert (done.returncode, done.stderr) == (0, b"")
    found = json.loads(done.stdout)
    assert [memory["path"] for memory in found["memories"]] == ["é.md"]
    assert found["directory"] == f"{store}{os.sep}"
    relative = memdir("scan", "--dir", store.name, "--json", cwd=store.parent)
    assert relative.stdout == done.stdout


def test_save_and_forget(store: Path) -> None:
    words = ("save", "--dir", str(store), "--type", "user", "--name", "Té", "--json")
    done = memdir(*words, "--description", "which tea", stdin="Green, no sugar é\n".encode())
    assert (done.returncode, done.stderr) == (0, b"")
    saved = json.loads(done.stdout)
    assert (saved["outcome"], saved["path"], saved["created"]) == ("written", "user_té.md", True)
    shown = json.loads(memdir("show", saved["path"], "--dir", str(store), "--json").stdout)
    assert (shown["body"], shown["hash"]) == ("Green, no sugar é", saved["hash"])
    with Memdir(directory=store) as memory:
        result = memory.save(path=saved["path"])
    assert plain(result) == saved | {
        "outcome": "unchanged",
        "created": False,
        "indexChanged": False,
    }

    at = ("--dir", str(store), "--path", saved["path"], "--expect")
    done = memdir("save", *at, saved["hash"], "--name", "Tea")
    assert (done.returncode, done.stdout) == (0, "saved: user_té.md\n".encode())
    done = memdir("save", *at, saved["hash"], "--name", "Coffee", "--json")
    assert (done.returncode, json.loads(done.stdout)["outcome"]) == (1, "conflict")
    done = memdir("save", *at, "absent", "--name", "Coffee")
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"[exists]" in done.stderr

    forget = ("forget", "--dir", str(store), "--json")
    done = memdir(*forget, saved["path"], "--expect", saved["hash"])
    assert (done.returncode, json.loads(done.stdout)["code"]) == (1, "exists")
    assert memdir(*forget, saved["path"]).returncode == 0
    assert not (store / saved["path"]).exists()
    done = memdir(*forget, saved["path"])
    assert (done.returncode, json.loads(done.stdout)["code"]) == (1, "not-found")
    done = memdir(*forget, "--undo")
    assert (done.returncode, json.loads(done.stdout)["path"]) == (0, saved["path"])
    assert "Green" in (store / saved["path"]).read_text(encoding="utf-8")


def test_a_body_that_is_no_text(store: Path) -> None:
    words = ("save", "--dir", str(store), "--type", "user", "--name", "Tea")
    done = memdir(*words, stdin=b"caf\xe9")
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"[not-text]" in done.stderr
    assert not (store / "user_tea.md").exists()


@pytest.mark.parametrize(
    "words",
    ["save a.md", "save --type opinion --name a", "forget", "forget a.md b.md", "scan --undo"],
)
def test_wrong_usage_of_save_and_forget(store: Path, words: str) -> None:
    done = memdir(*words.split(), "--dir", str(store))
    assert (done.returncode, done.stdout) == (2, b"")


def test_wrong_usage() -> None:
    done = memdir("dance")
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="arguments are bytes")
def test_an_argument_that_is_no_text() -> None:
    done = memdir("scan", "--dir", b"/\xff")
    assert done.returncode == 2
    assert done.stderr.startswith(b"memdir: ")


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
def test_a_reader_that_goes_away(store: Path) -> None:
    for number in range(150):
        (store / f"{number}.md").write_text(
            f"---\ndescription: {'x' * 900}\n---\n", encoding="utf-8"
        )
    command = f'"{sys.executable}" -m memdir scan --json --dir "{store}" | true'
    done = subprocess.run(command, shell=True, capture_output=True, check=False, timeout=60)
    assert b"Exception ignored" not in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "project"
    folder.mkdir()
    return folder


def test_path(project: Path) -> None:
    env = {"CLAUDE_CONFIG_DIR": str(project.parent / "config")}
    for done in (
        memdir("path", "--json", cwd=project, env=env),
        memdir("path", "--json", "--cwd", str(project), env=env),
        memdir("path", "--json", "--cwd", project.name, cwd=project.parent, env=env),
    ):
        assert (done.returncode, done.stderr) == (0, b"")
        found = json.loads(done.stdout)
        assert found["projectRoot"] == str(project)
        opened = plain(Memdir(cwd=project, env=env).opened)
        # The places are for programs, and differ with what each host knows.
        assert opened.pop("places")
        assert opened == found
    done = memdir("path", cwd=project, env=env | {"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"})
    assert b"env-disabled" in done.stdout
    assert not (project.parent / "config").exists()


def test_lint(store: Path) -> None:
    (store / "é.md").write_text("---\nname: É\ndescription: a\ntype: user\n---\n", encoding="utf-8")
    index = store / "MEMORY.md"
    for link, code, severities in (("é.md", 0, []), ("e.md", 1, ["error", "warning"])):
        index.write_text(f"- [É]({link})\n", encoding="utf-8")
        done = memdir("lint", "--json", "--dir", str(store))
        assert done.returncode == code
        findings = json.loads(done.stdout)["findings"]
        assert [finding["severity"] for finding in findings] == severities
        assert memdir("lint", "--dir", str(store)).returncode == code


@pytest.mark.skipif(os.name != "posix", reason="variables are bytes")
@pytest.mark.parametrize("home", [b"", b"notes", b"/\xff"])
def test_a_home_that_is_none(project: Path, home: bytes) -> None:
    done = memdir("path", cwd=project, env={b"HOME": home})
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"[no-home]" in done.stderr
    assert memdir("path", "--dir", str(project), env={b"HOME": home}).returncode == 0


@pytest.mark.skipif(os.name != "posix", reason="variables are bytes")
def test_variables_that_are_no_text(project: Path) -> None:
    odd = {b"\xff": b"a", b"CLAUDE_CODE_DISABLE_AUTO_MEMORY": b"1\xff"}
    env = {b"CLAUDE_CONFIG_DIR": os.fsencode(project.parent / "config"), **odd}
    done = memdir("path", "--json", cwd=project, env=env)
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["because"] == "default"


@pytest.mark.skipif(os.name != "posix", reason="Windows keeps a folder that is in use")
def test_a_deleted_working_directory(project: Path) -> None:
    def in_a_deleted_folder(*words: str) -> subprocess.CompletedProcess[bytes]:
        folder = project / "gone"
        folder.mkdir()
        program = ["-c", "import sys; from memdir._cli import main; sys.exit(main())", *words]
        line = 'rmdir "$PWD" && exec "$@"'
        command = ["/bin/sh", "-c", line, "sh", sys.executable, *program]
        return subprocess.run(command, capture_output=True, check=False, cwd=folder, timeout=60)

    done = in_a_deleted_folder("path")
    assert done.returncode == 1
    assert done.stderr.startswith(b"memdir: ")
    assert b"[invalid-argument]" in done.stderr
    done = in_a_deleted_folder("path", "--cwd", str(project))
    assert (done.returncode, done.stderr) == (0, b"")


def test_secrets(store: Path) -> None:
    secret = token("github-pat")
    notes = store / "notes.txt"
    notes.write_bytes(b"caf\xe9\nkey: " + secret.encode() + b"\n")
    finding = f"notes.txt:2: GitHub personal token (classic) [github-pat]{os.linesep}"
    done = memdir("secrets", "notes.txt", cwd=store)
    assert (done.returncode, done.stdout.decode()) == (1, finding)
    assert secret.encode() not in done.stderr
    done = memdir("secrets", "-", "--json", stdin=f"é {secret}".encode())
    assert (done.returncode, done.stderr) == (1, b"")
    (found,) = json.loads(done.stdout)["findings"]
    assert (found["rule"], found["line"], found["start"]) == ("github-pat", 1, 3)
    assert secret.encode() not in done.stdout
    done = memdir("secrets", "-", stdin=b"nothing")
    assert (done.returncode, done.stdout) == (0, b"")
    done = memdir("secrets", "gone.txt", cwd=store)
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"[not-found]" in done.stderr


def test_agent(project: Path) -> None:
    env = {"CLAUDE_CONFIG_DIR": str(project.parent / "config")}
    git("init", "--quiet", project)
    (project / ".claude").mkdir()
    (project / "src").mkdir()
    new = ("save", "--type", "project", "--name", "Tea")
    for scope, folder in (
        (None, project / ".claude" / "agent-memory"),
        ("local", project / ".claude" / "agent-memory-local"),
        ("user", project.parent / "config" / "agent-memory"),
    ):
        words = ["agent", "a:b"] + (["--scope", scope] if scope else [])
        done = memdir(*words, *new, cwd=project / "src", env=env, stdin=b"Green.")
        assert (done.returncode, done.stderr) == (0, b"")
        (own,) = folder.iterdir()
        assert own.name.startswith("a-b-")
        assert (own / "project_tea.md").exists()
    found = json.loads(memdir("agent", "a:b", "--json", cwd=project, env=env).stdout)
    (own,) = (project / ".claude" / "agent-memory").iterdir()
    assert found["directory"] == f"{own}{os.sep}"
    assert found["chosenBy"] == "agent"
    scanned = memdir("agent", "a:b", "scan", "--json", cwd=project, env=env)
    assert [each["path"] for each in json.loads(scanned.stdout)["memories"]] == ["project_tea.md"]


@pytest.mark.parametrize("words", ["path", "scan", "recall tea", "lint"])
def test_the_scope_of_an_agent(project: Path, words: str) -> None:
    env = {"CLAUDE_CONFIG_DIR": str(project.parent / "config")}
    done = memdir("agent", "a", *words.split(), "--scope", "local", cwd=project, env=env)
    assert done.returncode == 0


def test_log(store: Path) -> None:
    at = ("--dir", str(store))
    done = memdir("log", "deployed", "the shop", *at)
    assert (done.returncode, done.stderr) == (0, b"")
    done = memdir("log", "--json", *at, stdin="thé\nvert\n".encode())
    assert (done.returncode, done.stderr) == (0, b"")
    text = (store / json.loads(done.stdout)["path"]).read_bytes().decode()
    assert re.fullmatch(r"- \d\d:\d\d deployed the shop\n- \d\d:\d\d thé\n  vert\n", text)
    done = memdir("log", *at)
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"[invalid-argument]" in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        "secrets",
        "secrets a b",
        "agent",
        "agent a --scope team",
        "agent a dance",
        "scan --scope user",
    ],
)
def test_wrong_usage_of_secrets_and_agents(words: str) -> None:
    done = memdir(*words.split())
    assert (done.returncode, done.stdout) == (2, b"")
