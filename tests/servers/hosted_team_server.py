"""The team server of this repository, dist/memdir-team-server, as a process on this machine."""

from __future__ import annotations

import json
import os
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

PROGRAM = Path(__file__).resolve().parents[2] / "dist" / "memdir-team-server"

MEMORY = "/api/claude_code/team_memory"

# Its own settings only.
ENVIRONMENT = {name: text for name, text in os.environ.items() if name != "MEMDIR_TEAM_DATABASE"}
# Tests ask more often than people; what the limits are is tested elsewhere.
UNHURRIED = ["--rate", "1000000", "--burst", "1000000"]


@dataclass
class HostedServer:
    """A server that runs; `data` is its file."""

    address: str
    data: Path

    def command(self, *words: str) -> str:
        """What one of its commands prints, beside the server."""
        done = subprocess.run(
            [PROGRAM, *words, "--data", self.data],
            env=ENVIRONMENT,
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def token(self, name: str, *rights: str) -> str:
        """A new token with rights as the command line says them, such as `--repo`, `*`."""
        return self.command("token", "create", "--name", name, *rights).strip()


@dataclass
class Person:
    """Somebody with a token."""

    server: HostedServer
    token: str

    def ask(self, path: str, parameters: dict[str, str], **more: Any) -> Any:
        """The JSON of an answer."""
        headers = {"Authorization": f"Bearer {self.token}"} | more.pop("headers", {})
        url = f"{self.server.address}{path}?{urlencode(parameters)}"
        request = urllib.request.Request(url, headers=headers, **more)
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.load(response)

    def upload(self, repository: str, entries: dict[str, str], version: str | None = None) -> str:
        """Adds entries; returns the version that there is then."""
        condition = {"If-Match": f'"{version}"'} if version else {"If-None-Match": "*"}
        body = json.dumps({"entries": entries}).encode()
        asked = self.ask(MEMORY, {"repo": repository}, method="PUT", data=body, headers=condition)
        checksum: str = asked["checksum"]
        return checksum

    def entries(self, repository: str) -> dict[str, str]:
        """What there is now."""
        entries: dict[str, str] = self.ask(MEMORY, {"repo": repository})["content"]["entries"]
        return entries

    def history(self, repository: str) -> list[tuple[str, str]]:
        """Key and content of everything that was ever there, the oldest first."""
        listed = self.ask("/api/history", {"repo": repository})
        assert not listed["more"]
        found = []
        for head in reversed(listed["revisions"]):
            one = {"repo": repository, "key": head["key"], "version": str(head["version"])}
            [revision] = self.ask("/api/history", one)["revisions"]
            found.append((revision["key"], revision["content"]))
        return found


@contextmanager
def hosting(folder: Path, options: Sequence[str] = UNHURRIED) -> Iterator[HostedServer]:
    """A server on a free port with a new file in `folder`, where its log is, too."""
    if not PROGRAM.exists():
        pytest.fail(f"{PROGRAM.name} is not in dist/: run `make build`", pytrace=False)
    data = folder / "team.db"
    log = folder / "server.log"
    words = [str(PROGRAM), "--data", str(data), "--listen", "127.0.0.1:0", *options]
    # A file: nobody reads a pipe while the tests run, and the server would wait for that.
    with log.open("wb") as output:
        process = subprocess.Popen(words, env=ENVIRONMENT, stdout=output, stderr=output)
    try:
        yield HostedServer(address_of(process, log), data)
    finally:
        process.terminate()
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise


def address_of(process: subprocess.Popen[bytes], log: Path) -> str:
    """Where it says that it listens."""
    for _ in range(600):
        for line in log.read_text(encoding="utf-8").splitlines():
            if line.startswith("{") and '"listening"' in line:
                address: str = json.loads(line)["address"]
                return address
        if process.poll() is not None:
            break
        time.sleep(0.05)
    return pytest.fail(f"the server does not start: {log.read_text(encoding='utf-8')}")
