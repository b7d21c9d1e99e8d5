"""Requests made from the server's own description of its API, for about a minute: it never fails,
and every answer is as described."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hosted_team_server import HostedServer, Person, hosting

SETTINGS = Path(__file__).with_name("schemathesis.toml")
SECONDS = 25


def description(server: HostedServer) -> dict[str, Any]:
    with urllib.request.urlopen(f"{server.address}/openapi.json", timeout=30) as response:
        described: dict[str, Any] = json.load(response)
    return described


def narrowed(description: dict[str, Any]) -> dict[str, Any]:
    """The same with values that requests have in common, so that they find each other's data."""
    values: dict[str, dict[str, Any]] = {
        "repo": {"enum": ["acme/app", "acme/lib"]},
        "view": {"enum": ["hashes"]},
        "key": {"enum": ["MEMORY.md", "a.md"]},
        "version": {"type": "integer", "minimum": 1, "maximum": 3},
        "before": {"type": "integer", "minimum": 1, "maximum": 1000},
        "If-Match": {"enum": ["*", '"sha256:0"']},
        "If-None-Match": {"enum": ["*", '"sha256:0"']},
    }
    for operations in description["paths"].values():
        for method, operation in operations.items():
            parameters = operation.get("parameters", [])
            for parameter in parameters:
                parameter["schema"] = values[parameter["name"]]
                # What a schema cannot say: a version is one of a key.
                parameter["required"] = parameter["name"] in ("repo", "key")
            if method == "put":
                # Nor that one condition excludes the other.
                kept = [each for each in parameters if each["name"] != "If-None-Match"]
                operation["parameters"] = kept
    upload = description["components"]["schemas"]["TeamUpload"]
    upload["properties"]["entries"]["propertyNames"] = {"pattern": "^([a-z]{1,8}[.]md|.{1,8})$"}
    return description


def fuzz(location: str, server: HostedServer, token: str, *options: str) -> None:
    words = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(SETTINGS), "run"]
    words += [location, "--url", server.address, "--header", f"Authorization: Bearer {token}"]
    # The same requests each time: a failure is of what was changed.
    words += ["--seed", "7", "--max-time", str(SECONDS), "--request-timeout", "10", *options]
    done = subprocess.run(
        words,
        cwd=server.data.parent,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=SECONDS * 10,
    )
    if done.returncode != 0:
        pytest.fail(done.stdout + done.stderr, pytrace=False)


def answers(server: HostedServer) -> Counter[tuple[str, str, int]]:
    """How often its log has which method, route and status."""
    counted: Counter[tuple[str, str, int]] = Counter()
    log = server.data.with_name("server.log").read_text(encoding="utf-8")
    for line in log.splitlines():
        record = json.loads(line) if line.startswith("{") else {}
        if record.get("message") == "answered":
            span = record["span"]
            counted[span["method"], span["route"], record["status"]] += 1
    return counted


def test_any_request(tmp_path: Path) -> None:
    """Also those that the description forbids, which must be refused; and without a token."""
    with hosting(tmp_path) as server:
        token = server.token("fuzz", "--repo", "*", "--write")
        options = ["--exclude-checks", "positive_data_acceptance"]
        fuzz(f"{server.address}/openapi.json", server, token, *options)
        counted = answers(server)
        assert {status for _, _, status in counted} >= {200, 400, 401, 405}
        assert not any(status >= 500 for _, _, status in counted)


def test_requests_that_keep_to_the_description(tmp_path: Path) -> None:
    """They are never called invalid."""
    with hosting(tmp_path) as server:
        token = server.token("fuzz", "--repo", "*", "--write")
        Person(server, token).upload("acme/app", {"MEMORY.md": "- [A](a.md)\n", "a.md": "a\n"})
        file = tmp_path / "narrowed.json"
        file.write_text(json.dumps(narrowed(description(server))), encoding="utf-8")
        fuzz(str(file), server, token, "--mode", "positive")
        counted = answers(server)
        memory = "/api/claude_code/team_memory"
        for answer in (
            ("GET", memory, 200),
            ("GET", memory, 304),
            ("PUT", memory, 200),
            ("PUT", memory, 412),
            ("PUT", memory, 422),
            ("GET", "/api/history", 200),
            ("GET", "/api/history", 404),
        ):
            assert counted[answer] > 10, (answer, counted)
        assert not any(status >= 500 for _, _, status in counted)
