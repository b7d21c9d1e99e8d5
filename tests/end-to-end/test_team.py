"""Clients of every package share team memory at once, through the model of a server and through the
one in dist/: in the end all have the same, and every edit is in the server's history or kept where
it was made."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

import pytest
from hosted_team_server import HostedServer, Person, hosting
from local_team_server import REPOSITORY, TOKEN, TeamServer, listening
from support import AS_NOBODY, DIST, ROOT

EDITS = 6
SHARED = "project_shared.md"
INDEX = "MEMORY.md"


class Server(Protocol):
    """What the test must know of one."""

    address: str
    token: str

    def entries(self) -> dict[str, str]: ...

    def history(self) -> list[tuple[str, str]]: ...


class Model:
    def __init__(self, server: TeamServer, address: str) -> None:
        self.server = server
        self.address = address
        self.token = TOKEN

    def entries(self) -> dict[str, str]:
        return self.server.entries

    def history(self) -> list[tuple[str, str]]:
        return self.server.history


class Hosted:
    def __init__(self, server: HostedServer) -> None:
        self.address = server.address
        self.token = server.token("all", "--repo", REPOSITORY, "--write")
        self.person = Person(server, self.token)

    def entries(self) -> dict[str, str]:
        return self.person.entries(REPOSITORY)

    def history(self) -> list[tuple[str, str]]:
        return self.person.history(REPOSITORY)


@pytest.fixture(params=["the model", "the server of dist/"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    if request.param == "the model":
        model = TeamServer()
        with listening(model) as address:
            yield Model(model, address)
    else:
        # Its own limits: what clients may ask for is what they do ask for.
        with hosting(tmp_path, options=[]) as hosted:
            yield Hosted(hosted)


class Mate:
    """Somebody with a folder and one of the packages."""

    def __init__(self, name: str, words: list[str], folder: Path, server: Server) -> None:
        self.name = name
        self.words = words
        self.store = folder / name
        self.team = self.store / "team"
        self.team.mkdir(parents=True)
        self.token = server.token
        self.env = AS_NOBODY | {
            "MEMDIR_TEAM_URL": server.address,
            "MEMDIR_TEAM_TOKEN": server.token,
        }
        self.edits: list[tuple[str, str]] = []

    def sync(self) -> dict[str, list[str]] | None:
        """What came of it; nothing when teammates were faster all the time."""
        words = [word.replace("STORE", str(self.store)) for word in self.words]
        words += ["team", "sync", "--json", "--dir", str(self.store), "--repo", REPOSITORY]
        done = subprocess.run(
            words, capture_output=True, encoding="utf-8", env=self.env, check=False, timeout=300
        )
        assert self.token not in done.stdout + done.stderr
        if done.returncode != 0:
            assert "[team-conflict]" in done.stderr, done.stderr
            return None
        result: dict[str, list[str]] = json.loads(done.stdout)
        return result

    def edit(self, number: int) -> None:
        """A memory of their own, one that all write, and a line in the index that all share."""
        text = f"edit {number} of {self.name}\n"
        for key in (f"project_{self.name}_{number}.md", SHARED):
            path = self.team / key
            if path.exists():
                # Whoever writes over their own words has given them up.
                old = (key, path.read_text(encoding="utf-8"))
                self.edits = [edit for edit in self.edits if edit != old]
            path.write_text(text, encoding="utf-8")
            self.edits.append((key, text))
        index = self.team / INDEX
        lines = index.read_text(encoding="utf-8") if index.exists() else ""
        line = f"- [{self.name} {number}](project_{self.name}_{number}.md)\n"
        index.write_text(lines + line, encoding="utf-8")

    def work(self) -> None:
        for number in range(EDITS):
            self.edit(number)
            self.sync()

    def files(self) -> dict[str, str]:
        return {
            path.relative_to(self.team).as_posix(): path.read_text(encoding="utf-8")
            for path in self.team.rglob("*")
            if path.is_file() and ".memdir" not in path.parts
        }

    def kept(self) -> set[str]:
        folder = self.store / ".memdir"
        return {path.read_text(encoding="utf-8") for path in folder.rglob("*.bytes")}


def test_clients_of_every_package_lose_nothing(
    node_project: Path, python_programs: Path, tmp_path: Path, server: Server
) -> None:
    wasi = [sys.executable, str(ROOT / "demo" / "run_wasi.py"), "--http", "--dir", "STORE"]
    for variable in ("MEMDIR_TEAM_URL", "MEMDIR_TEAM_TOKEN"):
        wasi += ["--env", variable]
    mates = [
        Mate("node", [str(node_project / "node_modules/.bin/memdir")], tmp_path, server),
        Mate("python", [str(python_programs / "memdir")], tmp_path, server),
        Mate("wasi", [*wasi, str(DIST / "memdir-http.wasm")], tmp_path, server),
    ]
    with ThreadPoolExecutor() as pool:
        for done in [pool.submit(mate.work) for mate in mates]:
            done.result()
    # No more edits: a few rounds bring everybody to the same.
    keys = ("received", "removed", "sent", "deleted", "conflicts", "report")
    nothing: dict[str, list[str]] = {key: [] for key in keys}
    for _ in range(6):
        results = [mate.sync() for mate in mates]
        if all(result == nothing for result in results):
            break
    else:
        pytest.fail(f"no rest: {results}")
    entries, history = server.entries(), server.history()
    for mate in mates:
        assert mate.files() == entries, mate.name
        for edit in mate.edits:
            assert edit in history or edit[1] in mate.kept(), (mate.name, edit)
    lines = entries[INDEX].splitlines()
    wanted = {
        f"- [{mate.name} {number}](project_{mate.name}_{number}.md)"
        for mate in mates
        for number in range(EDITS)
    }
    assert set(lines) == wanted
    assert len(lines) == len(wanted)


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("package", ["node", "python"])
def test_a_watch_that_is_interrupted_uploads_what_was_just_edited(
    node_project: Path, python_programs: Path, tmp_path: Path, package: str
) -> None:
    programs = {
        "node": node_project / "node_modules/.bin/memdir",
        "python": python_programs / "memdir",
    }
    model = TeamServer()
    with listening(model) as address:
        mate = Mate(package, [], tmp_path, Model(model, address))
        mate.edit(0)
        words = ["team", "watch", "--dir", str(mate.store), "--repo", REPOSITORY]
        with subprocess.Popen(
            [str(programs[package]), *words], stderr=subprocess.PIPE, env=mate.env
        ) as watch:
            assert watch.stderr is not None
            assert watch.stderr.readline() == b"sent: 3\n"
            mate.edit(1)
            watch.send_signal(signal.SIGINT)
            assert watch.stderr.read() == b"sent: 3\n"
        assert watch.returncode == 130
        assert model.entries == mate.files()
