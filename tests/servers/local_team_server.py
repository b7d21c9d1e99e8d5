"""A team's server, as it is described (facts 11.2): versions, conditions, and everything that it
ever took. In this process, or at an address of this machine."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "t0ken-0123456789"
REPOSITORY = "acme/widgets"
PATH = "/api/claude_code/team_memory"


def checksum(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


class TeamServer:
    """`refusals` are answered before anything else, in turn: a status and headers."""

    def __init__(self) -> None:
        self.repositories: dict[str, dict[str, str]] = {}
        self.history: list[tuple[str, str]] = []
        self.requests: list[str] = []
        self.tokens: list[str | None] = []
        self.refusals: list[tuple[int, dict[str, str]]] = []
        self.valid = {TOKEN}
        self.lock = threading.Lock()

    @property
    def entries(self) -> dict[str, str]:
        return self.repositories.setdefault(REPOSITORY, {})

    def asked(self) -> list[str]:
        """Method, view and status of each request since the last call."""
        asked, self.requests = self.requests, []
        return asked

    def answer(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        with self.lock:
            query = parse_qs(urlsplit(url).query)
            status, more, content = self.decide(method, url, query, headers, body)
            view = " ".join([method, *query.get("view", [])])
            self.requests.append(f"{view} {status}")
            self.tokens.append(headers.get("authorization", "").removeprefix("Bearer "))
            return status, more, b"" if content is None else json.dumps(content).encode()

    def decide(
        self,
        method: str,
        url: str,
        query: dict[str, list[str]],
        headers: Mapping[str, str],
        body: bytes,
    ) -> tuple[int, dict[str, str], Any]:
        if self.refusals:
            status, more = self.refusals.pop(0)
            return status, more, None
        if headers.get("authorization", "").removeprefix("Bearer ") not in self.valid:
            return 401, {}, {"error": {"message": "no such token"}}
        if urlsplit(url).path != PATH or len(query.get("repo", [])) != 1:
            return 404, {}, None
        repository = query["repo"][0]
        entries = self.repositories.get(repository)
        version = f'"{self.version(entries)}"'
        if method == "PUT":
            return self.put(repository, version, headers, body)
        if not entries:
            return 404, {}, None
        checksums = {key: checksum(text) for key, text in entries.items()}
        if query.get("view") == ["hashes"]:
            return 200, {}, {"checksum": self.version(entries), "entryChecksums": checksums}
        if headers.get("if-none-match") == version:
            return 304, {}, None
        content = {"entries": entries, "entryChecksums": checksums}
        return 200, {}, {"version": 1, "checksum": self.version(entries), "content": content}

    def put(
        self, repository: str, version: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, dict[str, str], Any]:
        entries = self.repositories.get(repository)
        condition = (headers.get("if-match"), headers.get("if-none-match"))
        if condition != ((version, None) if entries else (None, "*")):
            return 412, {}, None
        sent = json.loads(body)["entries"]
        self.repositories[repository] = (entries or {}) | sent
        self.history += sent.items()
        changed = {"checksum": self.version(self.repositories[repository])}
        return 200, {}, changed | {"lastModified": "2026-11-30T00:00:00Z"}

    @staticmethod
    def version(entries: dict[str, str] | None) -> str:
        return checksum(json.dumps(entries, sort_keys=True))


@contextmanager
def listening(server: TeamServer) -> Iterator[str]:
    """Its address on this machine."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.exchange()

        def do_PUT(self) -> None:
            self.exchange()

        def exchange(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, more, content = server.answer(self.command, self.path, headers, body)
            self.send_response(status)
            for name, value in more.items():
                self.send_header(name, value)
            if status != 304:
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            pass

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.server_address[1]}"
    finally:
        listener.shutdown()
        listener.server_close()
