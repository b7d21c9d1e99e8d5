"""HTTP against a local server, through both drivers."""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import Run
from memdir._core import __version__, probe
from server import Server, serving


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with serving() as started:
        yield started


def http(url: str, **changed: Any) -> dict[str, Any]:
    effect: dict[str, Any] = {
        "kind": "http",
        "method": "GET",
        "url": url,
        "headers": [],
        "body": None,
        "timeoutMs": 20_000,
        "maxBytes": 10_000,
    }
    return effect | changed


def code(outcome: Any) -> Any:
    return outcome["failed"]["code"]


def test_an_exchange(server: Server, run: Run) -> None:
    (outcome,) = run(probe([http(f"{server.url}/plain")]))
    answer = outcome["http"]
    assert answer["status"] == 200
    assert answer["body"] == b"hello"
    names = [header["name"] for header in answer["headers"]]
    assert names == sorted(names) == [name.lower() for name in names]
    two = [header["value"] for header in answer["headers"] if header["name"] == "x-two"]
    assert two == ["a", "b"]
    ((_, sent),) = server.seen
    sent = {name.lower(): value for name, value in sent.items()}
    assert sent["accept-encoding"] == "identity"
    assert sent["user-agent"] == f"memdir/{__version__}"


def test_a_request_with_a_body_and_an_answer_with_a_bad_status(server: Server, run: Run) -> None:
    effect = http(
        f"{server.url}/post",
        method="POST",
        headers=[{"name": "x-mine", "value": "me"}, {"name": "Accept-Encoding", "value": "gzip"}],
        body={"text": "é"},
    )
    both = [effect, effect | {"body": {"bytes": b"\x00\xff"}}]
    outcomes = run(probe(both))
    assert [outcome["http"]["status"] for outcome in outcomes] == [503, 503]
    assert [outcome["http"]["body"] for outcome in outcomes] == ["me é".encode(), b"me \x00\xff"]


def test_a_redirect_is_not_followed(server: Server, run: Run) -> None:
    (outcome,) = run(probe([http(f"{server.url}/redirect")]))
    assert outcome["http"]["status"] == 302
    assert [path for path, _ in server.seen] == ["/redirect"]


def test_a_body_arrives_as_it_was_sent(server: Server, run: Run) -> None:
    (outcome,) = run(probe([http(f"{server.url}/gzip")]))
    assert outcome["http"]["body"] == b"\x1f\x8b not really"


@pytest.mark.parametrize("path", ["/large", "/unannounced"])
def test_too_large(server: Server, run: Run, path: str) -> None:
    enough, less = (http(f"{server.url}{path}", maxBytes=limit) for limit in (100_000, 99_999))
    outcomes = run(probe([enough, less]))
    assert len(outcomes[0]["http"]["body"]) == 100_000
    assert code(outcomes[1]) == "too-large"


@pytest.mark.parametrize("path", ["/hang", "/drip"])
def test_the_limit_is_for_the_whole_exchange(server: Server, run: Run, path: str) -> None:
    start = time.monotonic()
    (outcome,) = run(probe([http(f"{server.url}{path}", timeoutMs=300)]))
    assert code(outcome) == "timeout"
    assert 0.25 < time.monotonic() - start < 5


def test_nobody_listens(run: Run) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (outcome,) = run(probe([http(f"http://127.0.0.1:{port}/")]))
    assert code(outcome) == "network"


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/", "http://", "nonsense", "http://[::1"])
def test_no_address(run: Run, url: str) -> None:
    (outcome,) = run(probe([http(url)]))
    assert code(outcome) in {"unsupported", "network"}


def test_the_proxy_of_the_environment(
    server: Server, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", server.url)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    # What is meant for this machine goes straight there.
    outcomes = run(probe([http("http://memdir.invalid/plain"), http(f"{server.url}/plain")]))
    assert [outcome["http"]["body"] for outcome in outcomes] == [b"hello"] * 2
    assert {path for path, _ in server.seen} == {"http://memdir.invalid/plain", "/plain"}


def test_the_effects_of_a_step_run_side_by_side(server: Server, run: Run) -> None:
    effects = [http(f"{server.url}/hang", timeoutMs=600) for _ in range(4)]
    start = time.monotonic()
    outcomes = run(probe([*effects, {"kind": "sleep", "ms": 600}]))
    assert time.monotonic() - start < 1.8
    assert [code(outcome) for outcome in outcomes[:4]] == ["timeout"] * 4
    assert outcomes[4] == "done"


def test_without_httpx2_it_says_what_to_install(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)
    (outcome,) = run(probe([http("http://127.0.0.1:1/")]))
    assert outcome["failed"]["code"] == "unsupported"
    assert "install httpx2" in outcome["failed"]["message"]
