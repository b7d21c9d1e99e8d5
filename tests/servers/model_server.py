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

# By the provider: where it is asked, the variables for its key and address, and what an address has
# at its end.
FORMATS = {
    "anthropic": ("/v1/messages", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", ""),
    "openai": ("/v1/chat/completions", "OPENAI_API_KEY", "OPENAI_BASE_URL", "/v1"),
}


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
    return calls(said=said)


def calls(*wanted: tuple[str, dict[str, Any]], said: str = "") -> Callable[[Seen], Answer]:
    """The model calls tools, by name and input. An answer costs 100 tokens read and 10 written."""

    def answer(seen: Seen) -> Answer:
        named = [(f"call_{number}", *each) for number, each in enumerate(wanted)]
        if seen.path == "/v1/messages":
            content: list[dict[str, Any]] = [{"type": "text", "text": said}] if said else []
            for id_, name, given in named:
                content.append({"type": "tool_use", "id": id_, "name": name, "input": given})
            body = {
                "type": "message",
                "role": "assistant",
                "model": seen.body["model"],
                "content": content,
                "stop_reason": "tool_use" if wanted else "end_turn",
                "usage": {"input_tokens": 100, "output_tokens": 10},
            }
        elif seen.path == "/v1/chat/completions":
            message: dict[str, Any] = {"role": "assistant", "content": said or None}
            if wanted:
                message["tool_calls"] = [
                    {
                        "id": id_,
                        "type": "function",
                        "function": {"name": name, "arguments": json.dumps(given)},
                    }
                    for id_, name, given in named
                ]
            reason = "tool_calls" if wanted else "stop"
            body = {
                "object": "chat.completion",
                "model": seen.body["model"],
                "choices": [{"index": 0, "message": message, "finish_reason": reason}],
                "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
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
