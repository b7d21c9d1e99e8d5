"""The http effect of memdir-http.wasm against a server on this machine."""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from program import Program


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.server.seen.append(self.path)
        path = self.path.split("?")[0]
        if path == "/slow":
            time.sleep(3)
        if path == "/redirect":
            return self.answer(302, b"over there", location="/hello")
        if path == "/fail":
            return self.answer(500, b"broken")
        if path == "/big":
            return self.answer(200, b"x" * 300_000)
        if path == "/drip":
            return self.drip()
        if path == "/cut":
            return self.cut()
        if path == "/headers":
            return self.answer(
                200, "\n".join(f"{k.lower()}: {v}" for k, v in self.headers.items()).encode()
            )
        return self.answer(200, b"hello \xff", **{"X-Zebra": "1", "X-Apple": "\xe9"})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.answer(201, self.headers.get("content-type", "").encode() + b"|" + body)

    def answer(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        with contextlib.suppress(BrokenPipeError):  # a client that has seen enough
            self.wfile.write(body)

    def drip(self) -> None:
        """Answers at once and never comes to an end."""
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        try:
            for _ in range(30):
                self.wfile.write(b".")
                self.wfile.flush()
                time.sleep(0.1)
        except OSError:
            pass
        self.close_connection = True

    def cut(self) -> None:
        """Promises more than it sends."""
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"half")
        self.close_connection = True

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def server() -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.seen = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def effect(server: ThreadingHTTPServer, path: str, **changes: Any) -> dict[str, Any]:
    return {
        "kind": "http",
        "method": "GET",
        "url": f"http://127.0.0.1:{server.server_address[1]}{path}",
        "headers": [],
        "body": None,
        "timeoutMs": 20_000,
        "maxBytes": 1_000_000,
        **changes,
    }


def ask(program: Program, effect: dict[str, Any]) -> dict[str, Any]:
    (outcome,) = program.probe([effect])
    return outcome


def code(outcome: dict[str, Any]) -> str:
    return outcome["failed"]["code"]


def test_a_round_trip(probe_http: Program, server: ThreadingHTTPServer) -> None:
    answer = ask(probe_http, effect(server, "/hello?a=%20b#part"))["http"]
    assert (answer["status"], bytes(answer["body"])) == (200, b"hello \xff")
    names = [header["name"] for header in answer["headers"]]
    assert names == sorted(names)
    assert {"x-apple", "x-zebra", "content-length"} <= set(names)
    assert {"name": "x-apple", "value": "\xe9"} in answer["headers"]
    assert server.seen[-1] == "/hello?a=%20b"


def test_a_body_and_headers_are_sent(probe_http: Program, server: ThreadingHTTPServer) -> None:
    headers = [{"name": "content-type", "value": "text/plain"}]
    text = ask(probe_http, effect(server, "/", method="POST", headers=headers, body={"text": "é"}))[
        "http"
    ]
    assert (text["status"], bytes(text["body"]).decode()) == (201, "text/plain|é")
    # More than fits into one write.
    large = [7] * 200_000
    data = ask(
        probe_http, effect(server, "/", method="POST", headers=headers, body={"bytes": large})
    )["http"]
    assert bytes(data["body"]) == b"text/plain|" + bytes(large)


def test_what_the_host_adds(probe_http: Program, server: ThreadingHTTPServer) -> None:
    for headers in [[], [{"name": "Accept-Encoding", "value": "gzip"}]]:
        answer = ask(probe_http, effect(server, "/headers", headers=headers))["http"]
        lines = bytes(answer["body"]).decode().splitlines()
        assert [line for line in lines if line.startswith("accept")] == [
            "accept-encoding: identity"
        ]


def test_a_redirect_is_an_answer(probe_http: Program, server: ThreadingHTTPServer) -> None:
    server.seen.clear()
    answer = ask(probe_http, effect(server, "/redirect"))["http"]
    assert answer["status"] == 302
    assert {"name": "location", "value": "/hello"} in answer["headers"]
    assert server.seen == ["/redirect"]


def test_a_server_error_is_an_answer(probe_http: Program, server: ThreadingHTTPServer) -> None:
    answer = ask(probe_http, effect(server, "/fail"))["http"]
    assert (answer["status"], bytes(answer["body"])) == (500, b"broken")


@pytest.mark.parametrize("path", ["/slow", "/drip"])
def test_the_time_is_for_the_whole_exchange(
    probe_http: Program, server: ThreadingHTTPServer, path: str
) -> None:
    start = time.monotonic()
    assert code(ask(probe_http, effect(server, path, timeoutMs=400))) == "timeout"
    assert time.monotonic() - start < 2.5


def test_a_large_answer_is_refused(probe_http: Program, server: ThreadingHTTPServer) -> None:
    assert code(ask(probe_http, effect(server, "/big", maxBytes=299_999))) == "too-large"
    fits = ask(probe_http, effect(server, "/big", maxBytes=300_000))["http"]
    assert len(fits["body"]) == 300_000


def test_a_broken_answer_and_no_server(probe_http: Program, server: ThreadingHTTPServer) -> None:
    assert code(ask(probe_http, effect(server, "/cut"))) == "network"
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/"
        assert code(ask(probe_http, effect(server, "/", url=url))) == "network"


def test_an_invalid_request_fails(probe_http: Program, server: ThreadingHTTPServer) -> None:
    for url in ["ftp://127.0.0.1/", "nonsense"]:
        assert code(ask(probe_http, effect(server, "/", url=url))) == "unsupported"
    for changes in [{"url": "http:///"}, {"method": "A B"}]:
        assert "failed" in ask(probe_http, effect(server, "/", **changes)), changes
    outcome = ask(probe_http, effect(server, "/", headers=[{"name": "a b", "value": "x"}]))
    assert "a b" in outcome["failed"]["message"]


def test_the_plain_build_cannot(probe: Program, server: ThreadingHTTPServer) -> None:
    server.seen.clear()
    assert code(ask(probe, effect(server, "/hello"))) == "unsupported"
    assert server.seen == []
