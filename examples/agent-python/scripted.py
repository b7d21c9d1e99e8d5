"""Plays Anthropic's Messages API for the example, so that it runs without a key.

It answers a conversation with one line, and an extraction with the memory that a model would write.
"""

from __future__ import annotations

import json
import re
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MEMORY = """\
---
name: Small commits
description: the user wants small commits, each with its tests
type: feedback
---
Keep commits small, each with its tests.

**Why:** large ones were hard to review.
**How to apply:** split the work before it is committed.
"""


def reply(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Give the blocks of an answer."""
    messages = request["messages"]
    said = json.dumps(messages)

    def text(text: str) -> list[dict[str, Any]]:
        return [{"type": "text", "text": text}]

    def call(name: str, **given: str) -> dict[str, Any]:
        return {"type": "tool_use", "id": f"{name}_{len(messages)}", "name": name, "input": given}

    if "tools" not in request:
        return text("Small ones, as you like them." if "Small commits" in said else "I will.")
    found = re.search(r"the folder `([^`]+)`", messages[0]["content"][0]["text"])
    folder = found.group(1) if found else ""
    if "small commits, please" not in said or "[feedback]" in said:
        return text("Nothing to keep.")
    # Turn by turn: look, write, done.
    if len(messages) == 1:
        return [call("Read", file_path=f"{folder}MEMORY.md")]
    if len(messages) > 3:
        return text("Kept.")
    line = "- [Small commits](feedback_small_commits.md) — each with its tests\n"
    return [
        call("Write", file_path=f"{folder}feedback_small_commits.md", content=MEMORY),
        call("Write", file_path=f"{folder}MEMORY.md", content=line),
    ]


class Api(BaseHTTPRequestHandler):
    """One request."""

    def do_POST(self) -> None:
        """Answer it."""
        content = reply(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        calls = any(block["type"] == "tool_use" for block in content)
        message = {
            "id": f"msg_{uuid.uuid4()}",
            "type": "message",
            "role": "assistant",
            "model": "scripted",
            "content": content,
            "stop_reason": "tool_use" if calls else "end_turn",
            "usage": {"input_tokens": 100, "output_tokens": 20},
        }
        body = json.dumps(message).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def play_anthropic() -> Iterator[str]:
    """Run the server, and give its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Api)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
