"""A server on this machine that speaks both wire formats, as its providers document them: Anthropic
Messages and OpenAI chat completions."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Seen:
    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass
class Answer:
    status: int = 200
    body: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    # Promises more than it sends.
    cut: bool = False


class ModelServer:
    """`answers` are given in turn, the last one for ever; each may depend on the request."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.seen: list[Seen] = []
        self.answers: list[Answer | Callable[[Seen], Answer]] = []

    def next(self, seen: Seen) -> Answer:
        self.seen.append(seen)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return answer(seen) if callable(answer) else answer


def text(said: str) -> Callable[[Seen], Answer]:
    """The model says so, in the format that was asked in."""

    def answer(seen: Seen) -> Answer:
        if seen.path == "/v1/messages":
            body = {
                "type": "message",
                "role": "assistant",
                "model": seen.body["model"],
                "content": [{"type": "text", "text": said}],
                "stop_reason": "end_turn",
            }
        elif seen.path == "/v1/chat/completions":
            message = {"role": "assistant", "content": said}
            body = {
                "object": "chat.completion",
                "model": seen.body["model"],
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            }
        else:
            return refusal(404, "no such address")
        return Answer(body=json.dumps(body))

    return answer


def chosen(*paths: str) -> Callable[[Seen], Answer]:
    return text(json.dumps({"selected_memories": paths}))


def refusal(status: int, message: str, *headers: tuple[str, str]) -> Answer:
    """Both providers have the message of an error in the same place."""
    return Answer(status, json.dumps({"error": {"type": "error", "message": message}}), headers)


@contextmanager
def model_server() -> Iterator[ModelServer]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = server.next(Seen(self.path, headers, body))
            data = answer.body.encode()
            self.send_response(answer.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data) + (100 if answer.cut else 0)))
            for name, value in answer.headers:
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)
            self.close_connection = answer.cut

        def log_message(self, *_: Any) -> None:
            pass

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server = ModelServer(f"http://127.0.0.1:{listener.server_address[1]}")
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        listener.shutdown()
        listener.server_close()
