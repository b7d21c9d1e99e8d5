"""The models of providers, asked over HTTP: a local server speaks their wire formats and fails in
every way; what decides then, and that the key stays where it belongs.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import time
from pathlib import Path
from typing import Any

import memdir
import pytest
from conftest import Face
from memdir import AsyncMemdir, Features, Memdir, ModelOptions, rules
from provider import Answer, chose, providing, refused, said

DEPLOYS = "---\ndescription: when production deploys may happen\n---\nNever deploy on a Friday.\n"
TEA = "---\ndescription: which tea the team drinks\n---\nGreen, no sugar.\n"
QUERY = "may we deploy on Friday?"
KEY = "sk-Kx7Qw93LmZ0TnV5b"
PROVIDERS = ["anthropic", "openai"]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    (tmp_path / "deploys.md").write_text(DEPLOYS, encoding="utf-8")
    (tmp_path / "tea.md").write_text(TEA, encoding="utf-8")
    return tmp_path


def opening(store: Path, provider: str, url: str, **changed: Any) -> dict[str, Any]:
    options = {
        "directory": store,
        "env": {},
        "features": Features(count_uses=False),
        "model": ModelOptions(f"{provider}/small-1", KEY, url),
    }
    return options | changed


def chosen(recall: memdir.Recall) -> list[tuple[str, str]]:
    return [(memory.path, memory.reason) for memory in recall.memories]


BY_MODEL = [("tea.md", "model")]
BY_WORDS = [("deploys.md", "lexical")]


def test_anthropic_messages(store: Path, face: Face) -> None:
    with providing(chose("anthropic", "tea.md")) as provider:
        recall = face(opening(store, "anthropic", f"{provider.url}/"), "recall", QUERY)
    assert (chosen(recall), recall.report) == (BY_MODEL, ())
    (seen,) = provider.seen
    assert seen.path == "/v1/messages"
    assert seen.headers["x-api-key"] == KEY
    assert seen.headers["anthropic-version"] == "2023-06-01"
    assert seen.headers["content-type"] == "application/json"
    assert "authorization" not in seen.headers
    assert (seen.body["model"], seen.body["max_tokens"]) == ("small-1", 1_024)
    assert "selected_memories" in seen.body["system"]
    (message,) = seen.body["messages"]
    assert message["role"] == "user"
    assert QUERY in message["content"]
    assert "deploys.md" in message["content"]
    format_ = seen.body["output_config"]["format"]
    assert (format_["type"], format_["schema"]["type"]) == ("json_schema", "object")


def test_openai_chat_completions(store: Path, face: Face) -> None:
    with providing(chose("openai", "tea.md")) as provider:
        recall = face(opening(store, "openai", f"{provider.url}/v1"), "recall", QUERY)
    assert (chosen(recall), recall.report) == (BY_MODEL, ())
    (seen,) = provider.seen
    assert seen.path == "/v1/chat/completions"
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert seen.headers["content-type"] == "application/json"
    assert "x-api-key" not in seen.headers
    assert (seen.body["model"], seen.body["max_tokens"]) == ("small-1", 1_024)
    system, user = seen.body["messages"]
    assert (system["role"], user["role"]) == ("system", "user")
    assert QUERY in user["content"]
    format_ = seen.body["response_format"]
    assert (format_["type"], format_["json_schema"]["strict"]) == ("json_schema", True)
    assert format_["json_schema"]["schema"]["type"] == "object"


@pytest.mark.parametrize("provider", PROVIDERS)
def test_key_and_address_may_come_from_the_environment(
    store: Path, face: Face, provider: str
) -> None:
    with providing(chose(provider, "tea.md")) as server:
        name = provider.upper()
        env = {f"{name}_API_KEY": KEY, f"{name}_BASE_URL": server.url}
        recall = face(
            opening(store, provider, "", env=env, model=f"{provider}/small-1"), "recall", QUERY
        )
    assert chosen(recall) == BY_MODEL
    assert KEY in repr(server.seen[0].headers)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_without_a_model_nobody_is_asked(store: Path, face: Face, provider: str) -> None:
    with providing(chose(provider, "tea.md")) as server:
        name = provider.upper()
        env = {f"{name}_API_KEY": KEY, f"{name}_BASE_URL": server.url}
        recall = face(opening(store, provider, "", env=env, model=None), "recall", QUERY)
    assert chosen(recall) == BY_WORDS
    assert server.seen == []


def test_a_server_of_ones_own_needs_no_key(store: Path, face: Face) -> None:
    with providing(chose("openai", "tea.md")) as provider:
        model = ModelOptions("openai/small-1", base_url=provider.url)
        recall = face(opening(store, "openai", "", model=model), "recall", QUERY)
    assert chosen(recall) == BY_MODEL
    assert "authorization" not in provider.seen[0].headers


# What is answered, how often it is asked, what the report says. `retry-after: 0` saves the pauses.
FAILURES = {
    "401": ([refused(401, "invalid x-api-key")], 1, "status 401"),
    "403": ([refused(403)], 1, "status 403"),
    "404": ([refused(404, "model: small-1")], 1, "status 404"),
    "413": ([refused(413)], 1, "status 413"),
    "redirect": ([Answer(b"", 302, {"location": "/elsewhere"})], 1, "status 302"),
    "500": ([refused(500, "overloaded", retry_after="0")], 4, "status 500"),
    "retry-after beyond the limit": ([refused(429, retry_after="3600")], 1, "status 429"),
    "not JSON": ([Answer(b"<!doctype html>", 200, {"content-type": "text/html"})], 1, "no JSON"),
    "not UTF-8": ([Answer(b"\xff\xfe{")], 1, "no JSON"),
    "empty": ([Answer(b"")], 1, "no JSON"),
    "cut in half": ([Answer(chose("anthropic", "tea.md").body[:60])], 1, "no JSON"),
    "another shape": ([Answer(b'{"object": "list", "data": []}')], 1, "no text"),
    "50 MB": ([Answer(megabytes=50)], 1, "larger than 1048576 bytes"),
    "50 MB announced": (
        [Answer(megabytes=50, headers={"content-length": str(50 * 2**20)})],
        1,
        "larger than 1048576 bytes",
    ),
    "deep": ([Answer(b"[" * 100_000)], 1, "no JSON"),
}


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(("answers", "asked", "words"), FAILURES.values(), ids=FAILURES)
def test_when_a_provider_fails_words_decide(
    store: Path, face: Face, provider: str, answers: list[Answer], asked: int, words: str
) -> None:
    start = time.monotonic()
    with providing(*answers) as server:
        recall = face(opening(store, provider, server.url), "recall", QUERY)
    assert chosen(recall) == BY_WORDS
    (entry,) = recall.report
    assert (entry.path, entry.code) == ("", "model-failed")
    assert words in entry.message
    assert len(server.seen) == asked
    assert time.monotonic() - start < 5


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_answer_without_a_list(store: Path, face: Face, provider: str) -> None:
    with providing(said(provider, "I would rather not say.")) as server:
        recall = face(opening(store, provider, server.url), "recall", QUERY)
    assert chosen(recall) == BY_WORDS
    assert "no list" in recall.report[0].message


@pytest.mark.parametrize("provider", PROVIDERS)
def test_busy_then_free(store: Path, face: Face, provider: str) -> None:
    with providing(refused(429, retry_after="1"), chose(provider, "tea.md")) as server:
        start = time.monotonic()
        recall = face(opening(store, provider, server.url), "recall", QUERY)
    assert time.monotonic() - start >= 1
    assert (chosen(recall), recall.report) == (BY_MODEL, ())
    first, second = server.seen
    assert first.body == second.body


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("status", [400, 422])
def test_a_server_that_knows_no_schemas(
    store: Path, face: Face, provider: str, status: int
) -> None:
    with providing(refused(status, "unknown field"), chose(provider, "tea.md")) as server:
        recall = face(opening(store, provider, server.url), "recall", QUERY)
    assert (chosen(recall), recall.report) == (BY_MODEL, ())
    first, second = server.seen
    schema = {"anthropic": "output_config", "openai": "response_format"}[provider]
    assert schema in first.body
    del first.body[schema]
    assert first.body == second.body


def test_a_connection_that_breaks_is_tried_again(store: Path, face: Face) -> None:
    whole = chose("openai", "tea.md")
    with providing(Answer(whole.body, cut=True), whole) as provider:
        start = time.monotonic()
        recall = face(opening(store, "openai", provider.url), "recall", QUERY)
    # The first pause has 500 ms, and up to a quarter more.
    assert 0.5 <= time.monotonic() - start < 5
    assert (chosen(recall), recall.report) == (BY_MODEL, ())
    assert len(provider.seen) == 2


def test_a_provider_that_is_not_there(store: Path, face: Face) -> None:
    with providing() as provider:
        url = provider.url
    start = time.monotonic()
    recall = face(opening(store, "openai", url), "recall", QUERY)
    # Pauses of 500, 1,000 and 2,000 ms, up to a quarter more each.
    assert 3.5 <= time.monotonic() - start < 8
    assert chosen(recall) == BY_WORDS
    assert [entry.code for entry in recall.report] == ["model-failed"]


def test_without_httpx2_words_decide(
    store: Path, face: Face, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with providing(chose("openai", "tea.md")) as provider:
        recall = face(opening(store, "openai", provider.url), "recall", QUERY)
    assert (chosen(recall), provider.seen) == (BY_WORDS, [])
    (entry,) = recall.report
    assert entry.code == "model-failed"
    assert "install httpx2" in entry.message


def test_a_call_cancelled_during_an_exchange_leaves_the_store_usable(store: Path) -> None:
    async def main() -> None:
        with providing(Answer(hangs=True)) as provider:
            async with AsyncMemdir(**opening(store, "anthropic", provider.url)) as memory:
                task = asyncio.create_task(memory.recall(QUERY))
                await asyncio.to_thread(provider.hanging.wait, 20)
                start = time.monotonic()
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                assert time.monotonic() - start < 5
                provider.answers[:] = [chose("anthropic", "tea.md")]
                assert chosen(await memory.recall(QUERY)) == BY_MODEL

    asyncio.run(main())


def echoing(text: str) -> dict[str, Answer]:
    """Every place in which a server can say a text back, but for headers."""
    deep = json.dumps({"error": {"message": "no", "param": text}}).encode()
    return {
        "401": refused(401, f"the key {text} is not valid"),
        "500": refused(500, f"{text} {text}", retry_after="0"),
        "400": refused(400, text),
        "elsewhere": Answer(deep, 403),
        "no JSON": Answer(text.encode()),
        "half": Answer(f'{{"key": "{text}'.encode()),
        "plain 401": Answer(text.encode(), 401),
    }


SAID_BACK = echoing(KEY)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    "answer",
    [
        *(pytest.param(answer, id=name) for name, answer in SAID_BACK.items()),
        *(pytest.param(refused(401, "x" * at + KEY), id=f"at {at}") for at in (186, 190)),
    ],
)
@pytest.mark.filterwarnings("error")
def test_a_key_that_is_said_back_is_nowhere(
    store: Path,
    face: Face,
    provider: str,
    answer: Answer,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG)
    events: list[memdir.Event] = []
    with providing(answer) as server:
        options = opening(store, provider, server.url, on_event=events.append, features=Features())

        def now(memory: Memdir) -> list[Any]:
            return [memory.recall(QUERY), memory, memory._host, memory._store, memory.opened]

        async def later(memory: AsyncMemdir) -> list[Any]:
            recall = await memory.recall(QUERY)
            return [recall, memory, memory._host, memory._store, memory.opened]

        found = face.using(options, now, later)
    recall = found[0]
    assert chosen(recall) == BY_WORDS
    assert [entry.code for entry in recall.report] == ["model-failed"]
    assert KEY in repr(server.seen[0].headers)
    written = [path.read_text("utf-8") for path in store.rglob("*") if path.is_file()]
    shown = "\n".join([repr([*found, events, options]), caplog.text, *capfd.readouterr(), *written])
    assert KEY not in shown
    assert KEY[:8] not in shown


def test_a_key_that_is_said_back_as_an_answer_is_nowhere(store: Path, face: Face) -> None:
    with providing(chose("openai", KEY)) as provider:
        recall = face(opening(store, "openai", provider.url), "recall", QUERY)
    assert [entry.code for entry in recall.report] == ["model-answer-cut"]
    assert KEY not in repr(recall)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_no_object_shows_a_key(provider: str) -> None:
    model = ModelOptions(f"{provider}/small-1", KEY)
    request = memdir.ModelRequest(
        purpose="select-memories",
        system="s",
        messages=(memdir.ModelMessage(role="user", content="c"),),
        max_tokens=9,
    )
    http = rules.encode_model_request(model, request)
    assert any(KEY in header.value for header in http.headers)
    for shown in (repr(model), str(model), repr(http), str(http), f"{http.headers}"):
        assert KEY not in shown
    assert repr(model) == f"ModelOptions(name='{provider}/small-1', base_url=None)"


@pytest.mark.parametrize(
    "model",
    [
        ModelOptions("openai/small-1", f"{KEY}\n{KEY}"),
        ModelOptions("openai/small-1", f"{KEY}é"),
        ModelOptions("openai/small-1", f"{KEY}\ud800"),
        ModelOptions("elsewhere/small-1", KEY),
        ModelOptions("openai/", KEY),
        ModelOptions("openai/small-1", KEY, "localhost"),
    ],
)
def test_no_error_shows_a_key(store: Path, model: ModelOptions) -> None:
    with pytest.raises(memdir.InputError) as raised:
        Memdir(directory=store, model=model)
    assert raised.value.code in {"invalid-argument", "invalid-text"}
    error: BaseException | None = raised.value
    while error is not None:
        assert KEY not in repr(error)
        error = error.__cause__ or error.__context__
