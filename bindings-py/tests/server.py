"""A small local server that can misbehave."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.seen.append((self.path, dict(self.headers.items())))
        match self.path:
            case "/hang":
                self.server.hanging.set()
                self.server.release.wait(20)
            case "/drip":
                self.send_response(200)
                self.end_headers()
                with contextlib.suppress(OSError):
                    while not self.server.release.wait(0.02):
                        self.wfile.write(b"x")
            case "/redirect":
                self.send_response(302)
                self.send_header("location", "/plain")
                self.send_header("content-length", "0")
                self.end_headers()
            case "/gzip":
                self._answer(b"\x1f\x8b not really", ("content-encoding", "gzip"))
            case "/large":
                self._answer(b"x" * 100_000)
            case "/unannounced":
                self.send_response(200)
                self.end_headers()
                with contextlib.suppress(OSError):
                    self.wfile.write(b"x" * 100_000)
            case _:
                self._answer(b"hello", ("X-Two", "b"), ("X-Two", "a"))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self._answer(self.headers["x-mine"].encode() + b" " + body, status=503)

    def _answer(self, body: bytes, *headers: tuple[str, str], status: int = 200) -> None:
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen: list[tuple[str, dict[str, str]]] = []
        self.hanging = threading.Event()
        self.release = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, *_: object) -> None:
        """Clients of these tests go away on purpose."""


@contextlib.contextmanager
def serving() -> Iterator[Server]:
    server = Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.release.set()
        server.shutdown()
        thread.join()
        server.server_close()
