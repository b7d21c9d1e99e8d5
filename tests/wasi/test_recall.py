"""Recall by the component and by the commands: by words, by the caller's function, and by a model
behind both wire formats."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from component import FEATURES, RECALL_OPTIONS, Component, MemdirError, Variant
from effects import Host, failed
from model_server import FORMATS, Answer, ModelServer, chosen, model_server, refusal, text
from program import Program, Ran
from stores import write

KEY = "sk-test-0123456789abcdef"
QUERY = "when does the deploy of the shop run"
# What the words of the query find, and what they never would.
BY_WORDS = "deploys.md"
BY_MODEL = "team/fridays.md"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    store = tmp_path / "store"
    write(store, "MEMORY.md", "- [Deploys](deploys.md): on Tuesdays\n")
    write(
        store,
        BY_WORDS,
        "---\nname: Deploys\ndescription: the deploy of the shop runs on Tuesdays\n"
        "type: project\n---\nOn Tuesdays.\n",
    )
    write(
        store,
        BY_MODEL,
        "---\nname: Fridays\ndescription: nothing goes live before a weekend\ntype: feedback\n"
        "---\nNothing on Fridays.\n",
        10,
    )
    for number in range(6):
        write(
            store,
            f"topics/{number}.md",
            f"---\nname: topic {number}\ndescription: postgres index number {number}\n"
            "type: reference\n---\nA btree.\n",
            100 + number,
        )
    return store


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as server:
        yield server


def recall(component: Component, store: Any, query: str = QUERY, **options: Any) -> Any:
    """The flow; its host is up to the test."""
    return component.flow("store.recall", store, query, RECALL_OPTIONS | options)


def paths(recalled: dict[str, Any]) -> list[str]:
    return [memory["path"] for memory in recalled["memories"]]


def codes(recalled: dict[str, Any]) -> list[str]:
    return [entry["code"] for entry in recalled["report"]]


# The component.


def test_words_find_a_memory(component: Component, store: Path) -> None:
    host = Host()
    recalled = recall(component, component.open(store)).run(host)
    assert paths(recalled) == [BY_WORDS]
    assert recalled["report"] == []
    content = (store / BY_WORDS).read_text()
    assert recalled["state"] == {"surfaced": [BY_WORDS], "bytes": len(content.encode())}
    (memory,) = recalled["memories"]
    scan = component.flow("store.scan", component.open(store)).run(Host())
    assert memory["header"] in scan["memories"]
    assert memory["absolutePath"] == str(store / BY_WORDS)
    assert memory["mtimeMs"] == (store / BY_WORDS).stat().st_mtime_ns // 1_000_000
    assert (memory["content"], memory["note"], memory["reason"]) == (content, None, "lexical")
    age = component.rule("memory-age", memory["mtimeMs"], None, time.time_ns() // 1_000_000)
    assert (memory["ageDays"], memory["age"]) == (age["days"], age["text"])
    assert memory["warning"] == age["warning"]
    assert memory["score"] > 0
    assert content.strip() in memory["text"]
    # No model was asked.
    assert not {"model", "http"} & set(host.seen)


def test_the_rule_ranks_as_a_recall_does(component: Component, store: Path) -> None:
    query = "postgres btree index"
    recalled = recall(component, component.open(store), query).run(Host())
    # All were written on one day.
    (days,) = {memory["ageDays"] for memory in recalled["memories"]}
    memories = [
        {"path": path, "text": (store / path).read_text(), "ageDays": days, "uses": 0}
        for path in [BY_WORDS, BY_MODEL, *(f"topics/{number}.md" for number in range(6))]
    ]
    found = component.rule("rank-memories", query, memories)
    assert len(found) == 6
    # At most five memories.
    assert [
        {"path": memory["path"], "score": memory["score"]} for memory in recalled["memories"]
    ] == found[:5]


def test_what_was_shown_or_read_is_left_out(component: Component, store: Path) -> None:
    opened = component.open(store)
    first = recall(component, opened, "postgres btree index", limit=2).run(Host())
    second = recall(
        component,
        opened,
        "postgres btree index",
        state=first["state"],
        surfaced=[str(store / "topics/5.md")],
        alreadyRead=["topics/4.md"],
    ).run(Host())
    gone = {*paths(first), "topics/4.md", "topics/5.md"}
    assert set(paths(second)) == {f"topics/{number}.md" for number in range(6)} - gone
    assert second["state"]["surfaced"] == paths(first) + paths(second)


def test_the_callers_model_chooses(component: Component, store: Path) -> None:
    asked: list[dict[str, Any]] = []

    def model(request: str) -> str:
        asked.append(json.loads(request))
        return json.dumps({"selected_memories": [BY_MODEL, "invented.md"]})

    options = {"name": "function", "apiKey": None, "baseUrl": None}
    recalled = recall(
        component,
        component.open(store, model=options),
        strategy="model",
        recentTools=["Bash"],
        toolResults=[{"tool": "Read", "ok": True}, {"tool": "Grep", "ok": None}],
    ).run(Host(model=model))
    assert [(memory["path"], memory["reason"]) for memory in recalled["memories"]] == [
        (BY_MODEL, "model")
    ]
    # No word of it is in the query.
    assert recalled["memories"][0]["score"] is None
    assert codes(recalled) == ["model-answer-cut"]
    assert "invented.md" in recalled["report"][0]["message"]
    (request,) = asked
    assert set(request) == {"purpose", "system", "messages", "maxTokens", "schema"}
    assert request["purpose"] == "select-memories"
    (message,) = request["messages"]
    assert message["role"] == "user"
    for part in [QUERY, BY_WORDS, BY_MODEL, "Bash", "Read"]:
        assert part in message["content"]
    assert "Grep" not in message["content"]
    assert request["schema"]["required"] == ["selected_memories"]


def test_a_model_that_is_asked_for_must_be_there(component: Component, store: Path) -> None:
    with pytest.raises(MemdirError) as error:
        recall(component, component.open(store), strategy="model").run(Host())
    assert error.value.code == "no-model"
    with pytest.raises(MemdirError) as error:
        recall(component, component.open(store), limit=0).run(Host())
    assert error.value.code == "invalid-argument"
    options = {"name": "nobody/x", "apiKey": KEY, "baseUrl": None}
    with pytest.raises(MemdirError) as error:
        recall(component, component.open(store, model=options)).run(Host())
    assert error.value.code == "invalid-argument"
    assert KEY not in str(error.value)


def test_words_decide_when_they_are_asked_for(component: Component, store: Path) -> None:
    options = {"name": "function", "apiKey": None, "baseUrl": None}
    host = Host(model=lambda _: pytest.fail("the model was asked"))
    recalled = recall(component, component.open(store, model=options), strategy="lexical").run(host)
    assert paths(recalled) == [BY_WORDS]


def test_a_provider_is_asked_over_http(component: Component, store: Path) -> None:
    exchanges: list[dict[str, Any]] = []

    def http(**exchange: Any) -> Variant:
        exchanges.append(exchange)
        body = {
            "content": [{"type": "text", "text": json.dumps({"selected_memories": [BY_MODEL]})}]
        }
        return Variant("http", {"status": 200, "headers": [], "body": json.dumps(body).encode()})

    # The options count more than the environment.
    options = {
        "name": "anthropic/claude-haiku-4-5",
        "apiKey": KEY,
        "baseUrl": "https://llm.invalid",
    }
    env = {"ANTHROPIC_API_KEY": "sk-other", "ANTHROPIC_BASE_URL": "https://other.invalid"}
    recalled = recall(component, component.open(store, model=options, env=env)).run(Host(http=http))
    assert (paths(recalled), recalled["report"]) == ([BY_MODEL], [])
    (exchange,) = exchanges
    assert (exchange["method"], exchange["url"]) == ("POST", "https://llm.invalid/v1/messages")
    headers = {header["name"]: header["value"] for header in exchange["headers"]}
    assert headers["x-api-key"] == KEY
    body = json.loads(exchange["body"].payload["text"])
    assert body["model"] == "claude-haiku-4-5"


def test_a_host_without_http_lets_words_decide(component: Component, store: Path) -> None:
    options = {"name": "openai/qwen3", "apiKey": KEY, "baseUrl": None}
    recalled = recall(component, component.open(store, model=options)).run(Host())
    assert (paths(recalled), codes(recalled)) == ([BY_WORDS], ["model-failed"])
    assert KEY not in json.dumps(recalled)


def test_uses_are_written_when_the_store_is_closed(component: Component, store: Path) -> None:
    opened, host = component.open(store), Host()
    for _ in range(2):
        recall(component, opened).run(host)
    assert "write" not in host.seen
    assert component.flow("store.close", opened).run(host) is None
    uses = json.loads((store / ".memdir/uses.json").read_text())["uses"]
    assert {path: use["count"] for path, use in uses.items()} == {BY_WORDS: 2}
    assert (store / ".memdir/.gitignore").read_text() == "*\n"
    # The temporary file became the real one.
    assert sorted(path.name for path in (store / ".memdir").iterdir()) == [
        ".gitignore",
        "uses.json",
    ]
    # What is used ranks higher.
    plain = recall(component, component.open(store), limit=1).run(Host())
    (store / ".memdir/uses.json").unlink()
    unused = recall(component, component.open(store), limit=1).run(Host())
    assert plain["memories"][0]["score"] > unused["memories"][0]["score"]


def test_uses_are_not_counted_when_that_is_off(component: Component, store: Path) -> None:
    opened = component.open(store, features=FEATURES | {"countUses": False})
    assert paths(recall(component, opened).run(Host())) == [BY_WORDS]
    component.flow("store.close", opened).run(Host())
    assert not (store / ".memdir").exists()


def test_where_nothing_can_be_written_it_recalls_all_the_same(
    component: Component, store: Path
) -> None:
    class ReadOnly(Host):
        def make_dir(self, path: str, within: str | None, mode: int) -> Variant:
            return failed("read-only", "a file system that takes no writes")

    opened, host = component.open(store), ReadOnly()
    recalled = recall(component, opened).run(host)
    assert (paths(recalled), recalled["report"]) == ([BY_WORDS], [])
    assert component.flow("store.close", opened).run(host) is None
    assert "make-dir" in host.seen
    assert host.events == []


def test_a_recall_can_be_cancelled(component: Component, store: Path) -> None:
    options = {"name": "function", "apiKey": None, "baseUrl": None}
    flow, host = recall(component, component.open(store, model=options)), Host()
    step, asked = flow.resume([]), False
    while step.tag == "effects":
        requests = step.payload["requests"]
        if any(request["effect"].tag == "model" for request in requests):
            asked = True
            flow.cancel()
        step = flow.resume(
            [
                {
                    "id": each["id"],
                    "outcome": failed("aborted", "stopped") if asked else host(each["effect"]),
                }
                for each in requests
            ]
        )
    assert asked
    assert (step.tag, step.payload["code"]) == ("failed", "aborted")


def test_a_schema_that_is_no_json_is_refused(component: Component) -> None:
    request = {
        "purpose": "select-memories",
        "system": "",
        "messages": [{"role": "user", "content": "hi"}],
        "maxTokens": 5,
        "schema": "{no json",
    }
    model = {"name": "openai/qwen3", "apiKey": KEY, "baseUrl": "http://llm.invalid/v1"}
    with pytest.raises(MemdirError) as error:
        component.rule("encode-model-request", model, request)
    assert error.value.code == "invalid-argument"
    schema = {"type": "object", "properties": {}}
    sent = component.rule("encode-model-request", model, request | {"schema": json.dumps(schema)})
    assert json.loads(sent["body"])["response_format"]["json_schema"]["schema"] == schema


# The commands.


@pytest.fixture(params=["memdir", "memdir_http"])
def program(request: pytest.FixtureRequest) -> Program:
    return request.getfixturevalue(request.param)


def run(program: Program, store: Path, *arguments: str, **settings: Any) -> Ran:
    """Neither the output nor anything that is written has the key, whatever happens."""
    ran = program.run("recall", *arguments, "--dir", str(store), folders=[store], **settings)
    written = [path.read_text() for path in (store / ".memdir").glob("*")]
    for output in [ran.stdout, ran.stderr, *written]:
        assert KEY not in output
    return ran


def test_the_command_recalls_what_the_component_does(
    component: Component, program: Program, store: Path
) -> None:
    query = "postgres btree index"
    expected = recall(component, component.open(store), query, limit=3).run(Host())
    ran = run(program, store, "--json", "--limit", "3", query)
    assert (ran.code, ran.stderr) == (0, "")
    assert ran.json == {"memories": expected["memories"], "report": []}
    assert len(ran.json["memories"]) == 3
    # A person who looks something up is no use of it.
    assert not (store / ".memdir").exists()


def test_text_is_what_the_model_is_shown(program: Program, store: Path) -> None:
    ran = run(program, store, "--limit", "9", "postgres", "btree", "index")
    memories = run(program, store, "--json", "postgres btree index").json["memories"]
    shown = {memory["path"]: memory["text"] for memory in memories}
    assert len(shown) == 5
    assert ran.stdout.count("Memory ") == 5
    assert "[limit-lowered]" in ran.stderr
    for each in shown.values():
        assert each in ran.stdout


def test_no_memory_fits(program: Program, store: Path) -> None:
    ran = run(program, store, "kubernetes ingress")
    assert (ran.code, ran.stdout) == (0, "")
    assert "no memory fits" in ran.stderr
    assert not (store / ".memdir").exists()


@pytest.fixture(params=FORMATS)
def provider(request: pytest.FixtureRequest) -> str:
    return request.param


def ask(
    program: Program, server: ModelServer, provider: str, store: Path, *more: str
) -> tuple[Ran, list[str]]:
    """`--model` with key and address from the environment; with the paths that were asked for."""
    _, key, address, below = FORMATS[provider]
    env = {key: KEY, address: server.url + below}
    arguments = ("--model", f"{provider}/some-model", *more, QUERY)
    ran = run(program, store, *arguments, env=env)
    assert ran.code == 0
    return ran, [seen.path for seen in server.seen]


def test_a_model_is_asked_in_its_wire_format(
    memdir_http: Program, server: ModelServer, provider: str, store: Path
) -> None:
    server.answers = [chosen(BY_MODEL)]
    ran, asked = ask(memdir_http, server, provider, store, "--json")
    assert asked == [FORMATS[provider][0]]
    assert (paths(ran.json), ran.json["report"]) == ([BY_MODEL], [])
    assert ran.json["memories"][0]["reason"] == "model"
    (seen,) = server.seen
    assert seen.headers["content-type"] == "application/json"
    assert seen.body["model"] == "some-model"
    assert seen.body["max_tokens"] > 0
    if provider == "anthropic":
        assert seen.headers["x-api-key"] == KEY
        assert seen.headers["anthropic-version"] == "2023-06-01"
        assert seen.body["system"]
        (message,) = seen.body["messages"]
    else:
        assert seen.headers["authorization"] == f"Bearer {KEY}"
        system, message = seen.body["messages"]
        assert (system["role"], bool(system["content"])) == ("system", True)
    assert message["role"] == "user"
    assert QUERY in message["content"]
    assert BY_MODEL in message["content"]


def test_a_wrong_key_lets_words_decide(
    memdir_http: Program, server: ModelServer, provider: str, store: Path
) -> None:
    # Some providers say the key back.
    server.answers = [refusal(401, f"invalid key {KEY}")]
    ran, asked = ask(memdir_http, server, provider, store, "--json")
    assert len(asked) == 1
    assert (paths(ran.json), codes(ran.json)) == ([BY_WORDS], ["model-failed"])
    assert "401" in ran.json["report"][0]["message"]
    as_text, _ = ask(memdir_http, server, provider, store)
    assert "[model-failed]" in as_text.stderr
    assert "Memory " in as_text.stdout


@pytest.mark.parametrize(
    "said",
    ['{"selected_memories": ["team/fri', "", "I cannot choose."],
    ids=["cut", "empty", "prose"],
)
def test_an_answer_that_is_none_lets_words_decide(
    memdir_http: Program, server: ModelServer, provider: str, store: Path, said: str
) -> None:
    server.answers = [text(said)]
    ran, asked = ask(memdir_http, server, provider, store, "--json")
    assert len(asked) == 1
    assert (paths(ran.json), codes(ran.json)) == ([BY_WORDS], ["model-failed"])


def test_a_connection_that_breaks_off_is_tried_again(
    memdir_http: Program, server: ModelServer, provider: str, store: Path
) -> None:
    server.answers = [Answer(body='{"content": [', cut=True), chosen(BY_MODEL)]
    ran, asked = ask(memdir_http, server, provider, store, "--json")
    assert len(asked) == 2
    assert (paths(ran.json), ran.json["report"]) == ([BY_MODEL], [])


def test_one_that_always_breaks_off_lets_words_decide(
    memdir_http: Program, server: ModelServer, store: Path
) -> None:
    server.answers = [Answer(body='{"content": [', cut=True)]
    ran, asked = ask(memdir_http, server, "anthropic", store, "--json")
    # The first try and three more (facts 11.3).
    assert len(asked) == 4
    assert (paths(ran.json), codes(ran.json)) == ([BY_WORDS], ["model-failed"])


def test_a_busy_model_is_asked_again_when_it_says(
    memdir_http: Program, server: ModelServer, provider: str, store: Path
) -> None:
    server.answers = [refusal(429, "slow down", ("retry-after", "1")), chosen(BY_MODEL)]
    start = time.monotonic()
    ran, asked = ask(memdir_http, server, provider, store, "--json")
    assert time.monotonic() - start >= 1
    assert len(asked) == 2
    assert (paths(ran.json), ran.json["report"]) == ([BY_MODEL], [])


def test_a_server_that_knows_no_schemas_is_asked_without(
    memdir_http: Program, server: ModelServer, provider: str, store: Path
) -> None:
    server.answers = [refusal(400, "unknown field"), chosen(BY_MODEL)]
    ran, _ = ask(memdir_http, server, provider, store, "--json")
    assert paths(ran.json) == [BY_MODEL]
    field = {"anthropic": "output_config", "openai": "response_format"}[provider]
    assert [field in seen.body for seen in server.seen] == [True, False]


def test_the_build_without_http_lets_words_decide(
    memdir: Program, server: ModelServer, provider: str, store: Path
) -> None:
    server.answers = [chosen(BY_MODEL)]
    ran, asked = ask(memdir, server, provider, store, "--json")
    assert asked == []
    assert (paths(ran.json), codes(ran.json)) == ([BY_WORDS], ["model-failed"])
    assert "memdir-http.wasm" in ran.json["report"][0]["message"]


def test_no_model_is_asked_unless_it_is_named(
    memdir_http: Program, server: ModelServer, store: Path
) -> None:
    server.answers = [chosen(BY_MODEL)]
    env = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url}
    assert paths(run(memdir_http, store, "--json", QUERY, env=env).json) == [BY_WORDS]
    assert server.seen == []


def test_a_model_that_is_none_is_refused(memdir_http: Program, store: Path) -> None:
    for name, env in [("nobody/x", {"OPENAI_API_KEY": KEY}), ("openai/x", {})]:
        ran = run(memdir_http, store, "--model", name, QUERY, env=env)
        assert (ran.code, ran.stdout) == (1, "")
        assert "[invalid-argument]" in ran.stderr
