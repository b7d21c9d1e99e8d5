"""A team's server by its description: versions, conditions, tokens; and what it does wrong on
demand.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from provider import Answer

TOKEN = "t0k3n-Kx7Qw93LmZ0TnV5b"
PATH = "/api/claude_code/team_memory"


def checksum(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


@dataclass(frozen=True)
class Seen:
    method: str
    query: str
    headers: dict[str, str]
    status: int


class Handler(BaseHTTPRequestHandler):
    server: TeamServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer(b"")

    def do_PUT(self) -> None:
        self._answer(self.rfile.read(int(self.headers["content-length"])))

    def _answer(self, body: bytes) -> None:
        server = self.server
        headers = {name.lower(): value for name, value in self.headers.items()}
        if server.before is not None:
            server.before(server, self.command)
        with server.lock:
            answer = server.wrong.pop(0) if server.wrong else server.always
            if answer is None:
                answer = server.answer(self.command, self.path, headers, body)
            query = urlsplit(self.path).query
            server.seen.append(Seen(self.command, query, headers, answer.status))
        if answer.hangs:
            server.hanging.set()
            server.release.wait(30)
            self.close_connection = True
            return
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.status != 304:
            self.send_header("content-length", str(len(answer.body) + answer.cut))
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(answer.body)
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class TeamServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.repository = "acme/shop"
        self.tokens = {TOKEN}
        self.entries: dict[str, str] = {}
        self.history: list[tuple[str, str]] = []
        self.exists = False
        self.seen: list[Seen] = []
        # What is answered instead, in this order, and then always.
        self.wrong: list[Answer] = []
        self.always: Answer | None = None
        # Called with the method of every request, before it is answered.
        self.before: Callable[[TeamServer, str], None] | None = None
        self.lock = threading.RLock()
        self.hanging = threading.Event()
        self.release = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def put(self, key: str, text: str) -> None:
        """What a teammate uploads."""
        with self.lock:
            self.exists = True
            self.entries[key] = text
            self.history.append((key, text))

    def statuses(self) -> list[tuple[str, int]]:
        """Method and status of what was asked since the last call."""
        with self.lock:
            found = [(seen.method, seen.status) for seen in self.seen]
            self.seen.clear()
        return found

    def answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Answer:
        address = urlsplit(path)
        query = parse_qs(address.query)
        if headers.get("authorization") not in {f"Bearer {token}" for token in self.tokens}:
            return Answer(b'{"error": {"message": "who are you?"}}', 401)
        if address.path != PATH or query["repo"] != [self.repository]:
            return Answer(b"", 404)
        version = f'"{self.version()}"'
        if method == "PUT":
            expected = headers.get("if-match")
            if expected != version if self.exists else headers.get("if-none-match") != "*":
                return Answer(b"", 412)
            for key, text in json.loads(body)["entries"].items():
                self.put(key, text)
            return said({"checksum": self.version(), "lastModified": "2026-11-30T00:00:00Z"})
        if not self.exists:
            return Answer(b"", 404)
        if headers.get("if-none-match") == version:
            return Answer(b"", 304)
        sums = {key: checksum(text) for key, text in self.entries.items()}
        if query.get("view") == ["hashes"]:
            return said({"checksum": self.version(), "entryChecksums": sums})
        content = {"entries": self.entries, "entryChecksums": sums}
        return said({"version": 1, "checksum": self.version(), "content": content})

    def version(self) -> str:
        return checksum(json.dumps(self.entries, sort_keys=True))

    def handle_error(self, *_: object) -> None:
        """Clients of these tests go away on purpose."""


def said(body: Any) -> Answer:
    return Answer(json.dumps(body).encode(), headers={"content-type": "application/json"})


@contextlib.contextmanager
def team_serving() -> Iterator[TeamServer]:
    server = TeamServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.release.set()
        server.shutdown()
        thread.join()
        server.server_close()
