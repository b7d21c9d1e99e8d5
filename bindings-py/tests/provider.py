"""A local server that speaks the wire formats of the providers, or fails to."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MEGABYTE = b"x" * 2**20


@dataclass(frozen=True)
class Answer:
    """One answer; the last of a server's answers is given again and again."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    # So many megabytes follow.
    megabytes: int = 0
    # Whether the connection breaks before the last byte.
    cut: bool = False
    # Whether nothing comes until the server is closed.
    hangs: bool = False


def blocks(*content: dict[str, Any], stop_reason: str) -> Answer:
    """An answer of the Messages API."""
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-4-5",
        "content": content,
        "stop_reason": stop_reason,
        "usage": {"input_tokens": 9, "output_tokens": 9},
    }
    return Answer(json.dumps(message).encode())


def used(number: int, command: dict[str, Any]) -> Answer:
    """A call of the memory tool."""
    call = {"type": "tool_use", "id": f"toolu_{number}", "name": "memory", "input": command}
    return blocks({"type": "text", "text": "hm"}, call, stop_reason="tool_use")


def called(provider: str, number: int, name: str, **given: Any) -> Answer:
    """A call of a tool."""
    if provider == "anthropic":
        call = {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": given}
        return blocks({"type": "text", "text": "Ich prüfe."}, call, stop_reason="tool_use")
    function = {"name": name, "arguments": json.dumps(given)}
    call = {"id": f"call_{number}", "type": "function", "function": function}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    usage = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
    return Answer(json.dumps({"id": "chatcmpl-1", "choices": [choice], "usage": usage}).encode())


def said(provider: str, text: str) -> Answer:
    """A success with this text, as the providers document it."""
    if provider == "anthropic":
        thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
        return blocks(thought, {"type": "text", "text": text}, stop_reason="end_turn")
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    whole = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "choices": [choice]}
    return Answer(json.dumps(whole).encode())


def chose(provider: str, *paths: str) -> Answer:
    return said(provider, json.dumps({"selected_memories": paths}))


def refused(status: int, message: str = "no", **headers: str) -> Answer:
    """An error; both providers have its message in the same place."""
    error = {"type": "error", "error": {"type": "some_error", "message": message}}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(json.dumps(error).encode(), status, named)


@dataclass(frozen=True)
class Seen:
    path: str
    headers: dict[str, str]
    body: Any
    text: str = ""


class Handler(BaseHTTPRequestHandler):
    server: Provider

    def do_POST(self) -> None:
        server = self.server
        text = self.rfile.read(int(self.headers["content-length"])).decode()
        body = json.loads(text)
        headers = {name.lower(): value for name, value in self.headers.items()}
        with server.lock:
            answer = server.answers[min(len(server.seen), len(server.answers) - 1)]
            server.seen.append(Seen(self.path, headers, body, text))
        if answer.hangs:
            server.hanging.set()
            server.release.wait(30)
            return
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if "content-length" not in answer.headers and not answer.megabytes:
            self.send_header("content-length", str(len(answer.body) + answer.cut))
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(answer.body)
            for _ in range(answer.megabytes):
                self.wfile.write(MEGABYTE)
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Provider(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: list[Answer] = []
        self.seen: list[Seen] = []
        self.lock = threading.Lock()
        self.hanging = threading.Event()
        self.release = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, *_: object) -> None:
        """Clients of these tests go away on purpose."""


@contextlib.contextmanager
def providing(*answers: Answer) -> Iterator[Provider]:
    provider = Provider()
    provider.answers.extend(answers)
    thread = threading.Thread(target=provider.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield provider
    finally:
        provider.release.set()
        provider.shutdown()
        thread.join()
        provider.server_close()
