"""Memory that writes itself, by the component and by the commands: extraction with the driver's
model, with one that runs elsewhere, and with one behind both wire formats; the inbox; transcripts.
"""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from component import (
    EXTRACT_OPTIONS,
    FEATURES,
    Component,
    Flow,
    MemdirError,
    Variant,
    messages,
)
from effects import Host, failed
from model_server import FORMATS, Answer, ModelServer, Seen, calls, model_server, refusal, text
from program import Program, Ran
from runs import Model, answers
from stores import write

ROOT = Path(__file__).resolve().parents[2]
KEY = "sk-test-0123456789abcdef"
COMMITS = (
    "---\nname: Small commits\ndescription: commits are small\ntype: feedback\n---\n"
    "Keep commits small.\n"
)
INDEX = "- [Tests](feedback_tests.md) — how\n"
LINE = "- [Small commits](feedback_commits.md) — small\n"
TALK = [
    {"id": "u1", "role": "user", "content": "please always write small commits"},
    {"id": "a1", "role": "assistant", "content": [{"type": "text", "text": "I will."}]},
]
MORE = [
    *TALK,
    {"id": "u2", "role": "user", "content": "and use tabs in this project"},
    {"id": "a2", "role": "assistant", "content": "Sure."},
]
NO_USAGE = {"input": 0, "output": 0, "cached": 0, "written": 0}
WELL = {"error": None, "turns": 1, "usage": NO_USAGE}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    store = tmp_path / "store"
    write(store, "MEMORY.md", INDEX)
    write(
        store,
        "feedback_tests.md",
        "---\nname: Tests\ndescription: how tests are run\ntype: feedback\n---\nRun them all.\n",
    )
    (tmp_path / "outside.md").write_text("not yours\n")
    return store


def open_store(component: Component, store: Path, **features: Any) -> Any:
    return component.open(
        store,
        model={"name": "function", "apiKey": None, "baseUrl": None},
        features=FEATURES | {"extract": True} | features,
    )


def extract(component: Component, store: Any, said: list[dict[str, Any]], **options: Any) -> Flow:
    """The flow; its host is up to the test."""
    return component.flow("store.extract", store, messages(said), EXTRACT_OPTIONS | options)


def begin(component: Component, store: Any, said: list[dict[str, Any]], **options: Any) -> Any:
    flow = component.flow(
        "store.begin-extraction", store, messages(said), EXTRACT_OPTIONS | options
    )
    return flow.run(Host())


def call(component: Component, store: Any, run: int, name: str, given: Any) -> dict[str, Any]:
    given = given if isinstance(given, str) else json.dumps(given)
    return component.flow("store.call-tool", store, run, name, given).run(Host())


def end(component: Component, store: Any, run: int, **report: Any) -> dict[str, Any]:
    return component.flow("store.end-extraction", store, run, WELL | report).run(Host())


def write_calls(store: Path) -> list[tuple[str, dict[str, Any]]]:
    """What a model calls to write a memory and its line."""
    index = {"file_path": str(store / "MEMORY.md")}
    return [
        ("Write", {"file_path": str(store / "feedback_commits.md"), "content": COMMITS}),
        ("Edit", index | {"old_string": INDEX, "new_string": INDEX + LINE}),
    ]


def without_marks(value: Any) -> Any:
    """Without what tells a provider where its cache may end; it is no part of what is cached."""
    if isinstance(value, list):
        return [without_marks(item) for item in value]
    if isinstance(value, dict):
        return {key: without_marks(item) for key, item in value.items() if key != "cache_control"}
    return value


def grow(requests: list[list[dict[str, Any]]]) -> bool:
    """Whether each request has all messages of the one before, then the answer and its results."""
    pairs = pairwise(without_marks(requests))
    return all(after[:-2] == before for before, after in pairs)


# The component, with the driver's model.


def test_what_is_worth_it_is_written(component: Component, store: Path) -> None:
    read = [("Read", {"file_path": "MEMORY.md"}), ("Read", {"file_path": str(store / "MEMORY.md")})]
    model = Model(read, write_calls(store))
    host, opened = Host(model=model), open_store(component, store)
    result = extract(component, opened, TALK).run(host)
    assert result == {
        "outcome": "done",
        "reason": None,
        "paths": ["feedback_commits.md"],
        "removed": [],
        "notice": "Memory updated in feedback_commits.md",
        "inbox": [],
        "turns": 3,
        "ended": "answered",
        "usage": NO_USAGE | {"input": 14, "output": 4},
        "code": None,
        "message": None,
        "state": {"cursor": "a1", "turns": 0},
        "report": [],
    }
    assert (store / "feedback_commits.md").read_text() == COMMITS
    assert (store / "MEMORY.md").read_text() == INDEX + LINE
    kinds = [event["kind"] for event in host.events]
    assert kinds == ["extract-memories"] * 4
    assert host.events[-1]["message"] == result["notice"]

    first = model.asked[0]
    assert set(first) == {"purpose", "system", "prefix", "tools", "messages", "maxTokens"}
    assert (first["purpose"], first["prefix"]) == ("extract-memories", None)
    assert "please always write small commits" in first["messages"][0]["content"][0]["text"]
    assert {"Read", "Write", "Edit", "Delete"} <= {tool["name"] for tool in first["tools"]}
    assert grow([request["messages"] for request in model.asked])

    again = extract(component, opened, TALK).run(host)
    assert (again["outcome"], again["reason"]) == ("skipped", "nothing-new")
    assert len(model.asked) == 3


@pytest.mark.parametrize(
    ("reason", "options", "features", "said"),
    [
        ("sub-agent", {"agent": "sub"}, {}, TALK),
        ("off", {}, {"extract": False}, TALK),
        ("not-interactive", {"interactive": False}, {}, TALK),
        ("remote", {"remote": True}, {}, TALK),
        ("not-final", {}, {}, TALK[:1]),
        ("nothing-new", {"state": {"cursor": "a1", "turns": 0}}, {}, TALK),
        ("too-little", {}, {}, [{"id": "u", "role": "user", "content": "yes"}, TALK[1]]),
        ("throttled", {}, {"extractEvery": 2}, TALK),
    ],
)
def test_nothing_is_done_without_a_reason_to(
    component: Component,
    store: Path,
    reason: str,
    options: dict[str, Any],
    features: dict[str, Any],
    said: list[dict[str, Any]],
) -> None:
    host = Host(model=Model())
    opened = open_store(component, store, **features)
    result = extract(component, opened, said, **options).run(host)
    assert (result["outcome"], result["reason"]) == ("skipped", reason)
    assert "model" not in host.seen
    assert host.events == []


def test_only_what_is_looked_at_must_be_a_message(component: Component, store: Path) -> None:
    given = messages([{"id": "u0", "role": "user", "content": ""}, *TALK])
    given[0]["content"] = "no JSON"

    def run(**options: Any) -> Any:
        opened = open_store(component, store)
        flow = component.flow("store.extract", opened, given, EXTRACT_OPTIONS | options)
        return flow.run(Host(model=Model()))

    assert run(state={"cursor": "u0", "turns": 0})["outcome"] == "done"
    with pytest.raises(MemdirError) as error:
        run()
    assert error.value.code == "invalid-argument"


def test_an_extraction_can_be_cancelled(component: Component, store: Path) -> None:
    opened, host = open_store(component, store), Host(model=Model(write_calls(store)))
    flow = extract(component, opened, TALK)
    step = flow.resume([])
    while all(each["effect"].tag != "model" for each in step.payload["requests"]):
        step = flow.resume(answers(step, host))
    flow.cancel()
    while step.tag == "effects":
        step = flow.resume(answers(step, lambda _: failed("aborted", "stopped")))
    assert (step.tag, step.payload["code"]) == ("failed", "aborted")
    assert not (store / "feedback_commits.md").exists()
    result = extract(component, opened, TALK).run(Host(model=Model()))
    assert (result["outcome"], result["turns"]) == ("done", 1)


def test_a_failure_is_a_result(component: Component, store: Path) -> None:
    opened, host = open_store(component, store), Host()
    result = extract(component, opened, TALK).run(host)
    assert (result["outcome"], result["code"], result["ended"]) == ("failed", "unsupported", None)
    assert result["state"] == {"cursor": None, "turns": 0}
    assert [event["kind"] for event in host.events] == ["extract-memories", "warning"]
    # The same messages are looked at again.
    assert extract(component, opened, TALK).run(Host(model=Model()))["outcome"] == "done"


def test_without_a_model_none_can_be_asked(component: Component, store: Path) -> None:
    opened = component.open(store, features=FEATURES | {"extract": True})
    with pytest.raises(MemdirError) as error:
        extract(component, opened, TALK).run(Host())
    assert error.value.code == "no-model"


# The component, with a model that runs elsewhere.


def test_a_run_by_hand(component: Component, store: Path) -> None:
    opened = open_store(component, store)
    step = begin(component, opened, TALK)
    assert step["result"] is None
    task = step["task"]
    assert (task["maxTurns"], task["maxTokens"]) == (5, 200_000)
    assert "please always write small commits" in task["prompt"]
    assert task["system"]
    schemas = {tool["name"]: json.loads(tool["inputSchema"]) for tool in task["tools"]}
    assert schemas["Write"]["required"] == ["file_path", "content"]

    run = task["run"]
    shown = call(component, opened, run, "Read", {"file_path": str(store / "MEMORY.md")})
    assert not shown["isError"]
    assert INDEX.strip() in shown["content"]
    for name, given in write_calls(store):
        assert not call(component, opened, run, name, given)["isError"]
    denied = [
        ("Read", {"file_path": str(store.parent / "outside.md")}),
        ("Write", {"file_path": str(store.parent / "new.md"), "content": "x"}),
        ("Bash", {"command": "rm -r ."}),
        ("Task", {"prompt": "x"}),
        ("Read", "no JSON"),
    ]
    for name, given in denied:
        reply = call(component, opened, run, name, given)
        assert reply["isError"], name
        assert "not yours" not in reply["content"]

    usage = {"input": 1, "output": 2, "cached": 3, "written": 4}
    step = end(component, opened, run, turns=4, usage=usage)
    assert step["task"] is None
    result = step["result"]
    assert (result["outcome"], result["paths"]) == ("done", ["feedback_commits.md"])
    assert (result["turns"], result["usage"], result["ended"]) == (4, usage, "answered")
    assert (store / "feedback_commits.md").read_text() == COMMITS
    with pytest.raises(MemdirError, match="not-found"):
        call(component, opened, run, "Glob", {"pattern": "*"})
    with pytest.raises(MemdirError, match="not-found"):
        end(component, opened, run)


def test_what_comes_meanwhile_is_done_behind_it(component: Component, store: Path) -> None:
    opened = open_store(component, store)
    first = begin(component, opened, TALK)["task"]
    queued = begin(component, opened, MORE)
    assert (queued["task"], queued["result"]["outcome"]) == (None, "queued")
    other = begin(component, opened, TALK, session="another")["task"]
    assert other is not None
    step = end(component, opened, first["run"])
    second = step["task"]
    assert step["result"] is None
    assert "and use tabs in this project" in second["prompt"]
    assert "please always write small commits" not in second["prompt"]
    step = end(component, opened, second["run"], turns=2)
    assert step["task"] is None
    assert (step["result"]["turns"], step["result"]["state"]["cursor"]) == (3, "a2")
    assert end(component, opened, other["run"])["result"]["state"]["cursor"] == "a1"


def test_a_run_that_fails_is_made_again(component: Component, store: Path) -> None:
    opened = open_store(component, store)
    run = begin(component, opened, TALK)["task"]["run"]
    result = end(component, opened, run, error="the agent broke down")["result"]
    assert (result["outcome"], result["ended"]) == ("failed", None)
    assert result["message"] == "the agent broke down"
    assert begin(component, opened, TALK)["task"]["run"] != run


def test_draining_stops_what_does_not_end(component: Component, store: Path) -> None:
    opened = open_store(component, store)
    drain = "store.drain"
    assert component.flow(drain, opened, None).run(Host()) == {"drained": True}
    run = begin(component, opened, TALK)["task"]["run"]
    slept: list[int] = []

    def perform(effect: Variant) -> Variant:
        assert effect.tag == "sleep"
        slept.append(effect.payload["ms"])
        return Variant("done")

    assert component.flow(drain, opened, None).run(perform) == {"drained": False}
    assert sum(slept) == 60_000
    slept.clear()
    assert component.flow(drain, opened, 250).run(perform) == {"drained": False}
    assert sum(slept) == 250
    assert call(component, opened, run, "Glob", {"pattern": "*.md"})["isError"]
    assert end(component, opened, run)["result"]["code"] == "aborted"
    assert component.flow(drain, opened, None).run(perform) == {"drained": True}


def test_closing_waits_for_a_run(component: Component, store: Path) -> None:
    opened = open_store(component, store)
    run = begin(component, opened, TALK)["task"]["run"]
    closing = component.flow("store.close", opened)
    step = closing.resume([])
    assert [each["effect"].tag for each in step.payload["requests"]] == ["sleep"]
    with pytest.raises(MemdirError) as error:
        begin(component, opened, MORE)
    assert error.value.code == "closed"
    for name, given in write_calls(store)[:1]:
        assert not call(component, opened, run, name, given)["isError"]
    assert end(component, opened, run)["result"]["paths"] == ["feedback_commits.md"]
    host = Host()
    while step.tag == "effects":
        step = closing.resume(answers(step, host))
    assert (step.tag, step.payload["value"].tag) == ("done", "nothing")
    assert host.events == []


# The component, behind another conversation.


def test_a_run_goes_on_behind_the_conversation(component: Component, store: Path) -> None:
    tools = [{"name": "Write", "input_schema": {"type": "object"}, "description": "Writes “it”."}]
    # Not as anybody's library would write it.
    parts = {
        "system": '[{"type":"text", "text":"You are\\u0020an agent."}]',
        "tools": json.dumps(tools, ensure_ascii=False),
        "messages": '[ {"role":"user","content":"please always write small commits"}',
    }
    request = (
        f'{{"model":"of-the-agent", "system":{parts["system"]}, "tools":{parts["tools"]},'
        f' "messages":{parts["messages"]}], "stream":true, "max_tokens":7}}'
    )
    bodies: list[str] = []
    turns = [calls(*write_calls(store)), text("Done.")]

    def http(url: str, body: Variant, **exchange: Any) -> Variant:
        bodies.append(body.payload["text"])

        class Asked:
            path = url.removeprefix("http://model.invalid")
            body = json.loads(bodies[-1])

        answer = turns[len(bodies) - 1](Asked())
        return Variant(
            "http", {"status": answer.status, "headers": [], "body": answer.body.encode()}
        )

    opened = component.open(
        store,
        model={"name": "anthropic/x", "apiKey": KEY, "baseUrl": "http://model.invalid"},
        features=FEATURES | {"extract": True},
    )
    result = extract(component, opened, TALK, request=request).run(Host(http=http))
    assert (result["outcome"], result["turns"]) == ("done", 2)
    assert result["usage"] == NO_USAGE | {"input": 200, "output": 20}
    for body in bodies:
        assert all(part in body for part in parts.values())
        sent = json.loads(body)
        assert (sent["model"], "stream" in sent) == ("of-the-agent", False)
        assert sent["tools"] == tools
    assert grow([json.loads(body)["messages"] for body in bodies])
    with pytest.raises(MemdirError) as error:
        extract(component, open_store(component, store), TALK, request="[]").run(Host())
    assert error.value.code == "invalid-argument"


# The component: the inbox.


def test_what_is_reviewed_waits(component: Component, store: Path) -> None:
    opened = open_store(component, store)
    index = [("Read", {"file_path": str(store / "MEMORY.md")})]
    host = Host(model=Model(index, write_calls(store)))
    result = extract(component, opened, TALK, review=True).run(host)
    assert result["outcome"] == "done"
    (id_,) = result["inbox"]
    assert not (store / "feedback_commits.md").exists()
    assert (store / "MEMORY.md").read_text() == INDEX

    inbox = component.flow("store.inbox", opened).run(Host())
    assert inbox["report"] == []
    (item,) = inbox["items"]
    assert (item["id"], item["purpose"], item["atMs"] > 0) == (id_, "extract", True)
    changes = {change.pop("path"): change for change in item["changes"]}
    assert changes["feedback_commits.md"] == {
        "kind": "created",
        "diff": "--- /dev/null\n+++ b/feedback_commits.md\n@@ -0,0 +1,6 @@\n"
        + "".join(f"+{line}\n" for line in COMMITS.splitlines()),
        "added": 6,
        "removed": 0,
        "isStale": False,
    }
    assert changes["MEMORY.md"] == {
        "kind": "changed",
        "diff": f"--- a/MEMORY.md\n+++ b/MEMORY.md\n@@ -1 +1,2 @@\n {INDEX}+{LINE}",
        "added": 1,
        "removed": 0,
        "isStale": False,
    }

    def apply(id_: str, paths: list[str] | None) -> dict[str, Any]:
        return component.flow("store.apply-proposal", opened, id_, paths).run(Host())

    done = apply(id_, ["feedback_commits.md"])
    assert [(each["path"], each["outcome"]) for each in done["results"]] == [
        ("feedback_commits.md", "written")
    ]
    assert done["left"] == ["MEMORY.md"]
    assert (store / "feedback_commits.md").read_text() == COMMITS
    assert apply(id_, None)["left"] == []
    assert (store / "MEMORY.md").read_text() == INDEX + LINE
    assert component.flow("store.inbox", opened).run(Host()) == {"items": [], "report": []}
    for wrong, code in [(id_, "not-found"), ("../x", "invalid-argument")]:
        with pytest.raises(MemdirError) as error:
            apply(wrong, None)
        assert error.value.code == code


def test_what_is_reviewed_can_be_dropped(component: Component, store: Path) -> None:
    opened = open_store(component, store)
    index = [("Read", {"file_path": str(store / "MEMORY.md")})]
    host = Host(model=Model(index, write_calls(store)))
    (id_,) = extract(component, opened, TALK, review=True).run(host)["inbox"]

    def drop(paths: list[str] | None) -> list[str]:
        return component.flow("store.drop-proposal", opened, id_, paths).run(Host())["left"]

    with pytest.raises(MemdirError) as error:
        drop(["other.md"])
    assert error.value.code == "not-found"
    assert drop(["MEMORY.md"]) == ["feedback_commits.md"]
    assert drop(None) == []
    assert component.flow("store.inbox", opened).run(Host())["items"] == []
    assert (store / "MEMORY.md").read_text() == INDEX


# The component: transcripts.


def test_a_transcript_is_read(component: Component, store: Path) -> None:
    file = store.parent / "talk.jsonl"
    lines = "".join(f"{json.dumps(message)}\n" for message in MORE)
    file.write_text(lines + "broken\n")
    opened = component.open(store, cwd=str(file.parent))
    read = component.flow("store.transcript", opened, file.name).run(Host())
    plain = [each | {"content": json.loads(each["content"])} for each in read["messages"]]
    assert plain == [{"isMeta": False, "tokens": None} | each for each in MORE]
    assert read["leftOut"] == 0
    assert [(entry["code"], entry["path"]) for entry in read["report"]] == [
        ("broken-line", str(file))
    ]
    assert component.rule("parse-transcript", file.read_text())["messages"] == read["messages"]
    # What was read can be given back as it is.
    flow = component.flow(
        "store.extract", open_store(component, store), read["messages"], EXTRACT_OPTIONS
    )
    assert flow.run(Host(model=Model()))["state"]["cursor"] == "a2"
    for path, code in [("none.jsonl", "not-found"), (".", "is-a-directory")]:
        with pytest.raises(MemdirError) as error:
            component.flow("store.transcript", opened, path).run(Host())
        assert error.value.code == code
    with pytest.raises(MemdirError) as error:
        component.flow("store.transcript", component.open(store), "talk.jsonl").run(Host())
    assert error.value.code == "invalid-argument"


# The commands.


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as server:
        yield server


@pytest.fixture(params=FORMATS)
def provider(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A session as Claude Code writes it."""
    file = tmp_path / "session.jsonl"
    file.write_text("".join(map(line, TALK)))
    return file


def line(message: dict[str, Any]) -> str:
    said = {"role": message["role"], "content": message["content"]}
    return json.dumps({"type": said["role"], "uuid": message["id"], "message": said}) + "\n"


def run(program: Program, store: Path, *arguments: str, env: dict[str, str] | None = None) -> Ran:
    folders = [store.parent]
    return program.run(*arguments, "--dir", str(store), folders=folders, env=env)


def ask(
    program: Program, server: ModelServer, provider: str, store: Path, session: Path, *more: str
) -> Ran:
    """`--model` with key and address from the environment."""
    _, key, address, below = FORMATS[provider]
    env = {key: KEY, address: server.url + below}
    arguments = ("--model", f"{provider}/some-model", *more)
    ran = run(program, store, "extract", str(session), *arguments, env=env)
    assert KEY not in ran.stdout + ran.stderr
    return ran


def test_the_command_writes_a_memory(
    memdir_http: Program, server: ModelServer, provider: str, store: Path, session: Path
) -> None:
    read = calls(("Read", {"file_path": str(store / "MEMORY.md")}), said="Let me look.")
    server.answers = [read, calls(*write_calls(store)), text("Done.")]
    ran = ask(memdir_http, server, provider, store, session, "--json")
    assert (ran.code, ran.json["outcome"]) == (0, "done"), ran.stderr
    assert (ran.json["paths"], ran.json["turns"]) == (["feedback_commits.md"], 3)
    assert ran.json["usage"] == NO_USAGE | {"input": 300, "output": 30}
    assert (store / "feedback_commits.md").read_text() == COMMITS
    assert (store / "MEMORY.md").read_text() == INDEX + LINE
    assert [seen.path for seen in server.seen] == [FORMATS[provider][0]] * 3
    bodies = [seen.body for seen in server.seen]
    for body in bodies:
        assert body["tools"] == bodies[0]["tools"]
        assert body.get("system") == bodies[0].get("system")
    requests = [body["messages"] for body in bodies]
    if provider == "anthropic":
        assert grow(requests)
    else:
        # One message for each result of a tool.
        assert [len(each) for each in requests] == [2, 4, 7]
        assert requests[2][:4] == requests[1]
        assert requests[1][:2] == requests[0]
    shown = json.dumps(requests[1][-1])
    assert "feedback_tests.md" in shown


def test_the_next_time_only_what_is_new_is_shown(
    memdir_http: Program, server: ModelServer, store: Path, session: Path
) -> None:
    server.answers = [text("Nothing worth it.")]
    first = ask(memdir_http, server, "anthropic", store, session)
    assert (first.code, first.stdout) == (0, "nothing to save: the model found nothing worth it\n")
    again = ask(memdir_http, server, "anthropic", store, session, "--json")
    assert (again.code, again.json["reason"]) == (0, "nothing-new")
    assert len(server.seen) == 1
    with session.open("a") as file:
        file.writelines(map(line, MORE[2:]))
    assert ask(memdir_http, server, "anthropic", store, session, "--json").json["turns"] == 1
    shown = json.dumps(server.seen[-1].body["messages"])
    assert "and use tabs in this project" in shown
    assert "please always write small commits" not in shown


def test_a_model_without_an_end_has_five_turns(
    memdir_http: Program, server: ModelServer, provider: str, store: Path, session: Path
) -> None:
    server.answers = [calls(("Glob", {"pattern": "*.md", "path": str(store)}))]
    ran = ask(memdir_http, server, provider, store, session, "--json")
    assert (ran.code, ran.json["ended"], ran.json["turns"]) == (0, "turns", 5)
    assert len(server.seen) == 5


def test_a_command_that_is_stopped_leaves_what_is_whole(
    memdir_http: Program, server: ModelServer, store: Path, session: Path
) -> None:
    """Under WASI nothing asks the command to stop: it ends while it waits for the model."""
    asked, over = threading.Event(), threading.Event()

    def hang(_: Seen) -> Answer:
        asked.set()
        over.wait(60)
        return Answer(500)

    write = ("Write", {"file_path": str(store / "feedback_commits.md"), "content": COMMITS})
    server.answers = [calls(write), hang]
    _, key, address, _ = FORMATS["anthropic"]
    runner = ROOT / "demo" / "run_wasi.py"
    options = ["--http", f"--env={key}={KEY}", f"--env={address}={server.url}"]
    command = [ROOT / "dist" / "memdir-http.wasm", "extract", session, "--dir", store]
    with subprocess.Popen(
        [
            sys.executable,
            runner,
            *options,
            f"--dir={store.parent}",
            *command,
            "--model=anthropic/x",
        ],
        stderr=subprocess.DEVNULL,
    ) as program:
        assert asked.wait(120)
        program.kill()
    over.set()
    assert (store / "feedback_commits.md").read_text() == COMMITS
    assert (store / "MEMORY.md").read_text() == INDEX
    assert not [path for path in store.rglob("*") if path.name == "lock"]
    assert not list(store.rglob("*.memdir-tmp"))
    assert len(server.seen) == 2
    # The next one is not delayed, and looks at the same messages.
    server.answers = [text("Done.")]
    ran = ask(memdir_http, server, "anthropic", store, session, "--json")
    assert (ran.code, ran.json["outcome"]) == (0, "done"), ran.stderr
    assert "please always write small commits" in json.dumps(server.seen[-1].body["messages"])


def test_a_model_that_refuses_is_told(
    memdir_http: Program, server: ModelServer, provider: str, store: Path, session: Path
) -> None:
    server.answers = [refusal(401, f"wrong key {KEY}")]
    ran = ask(memdir_http, server, provider, store, session, "--json")
    assert (ran.code, ran.json["outcome"], ran.json["code"]) == (1, "failed", "model-auth")
    assert len(server.seen) == 1
    as_text = ask(memdir_http, server, provider, store, session)
    assert as_text.code == 1
    assert "check its key" in as_text.stderr


def test_the_command_proposes(
    memdir_http: Program, server: ModelServer, store: Path, session: Path
) -> None:
    read = calls(("Read", {"file_path": str(store / "MEMORY.md")}))
    server.answers = [read, calls(*write_calls(store)), text("Done.")]
    ran = ask(memdir_http, server, "anthropic", store, session, "--review", "--json")
    (id_,) = ran.json["inbox"]
    assert not (store / "feedback_commits.md").exists()
    listed = run(memdir_http, store, "inbox", "--json").json
    assert [item["id"] for item in listed["items"]] == [id_]
    shown = run(memdir_http, store, "inbox", "show", id_)
    assert "+Keep commits small." in shown.stdout.splitlines()
    applied = run(memdir_http, store, "inbox", "apply", id_)
    assert applied.code == 0, applied.stderr
    assert (store / "feedback_commits.md").read_text() == COMMITS
    assert (store / "MEMORY.md").read_text() == INDEX + LINE
    assert run(memdir_http, store, "inbox", "--json").json["items"] == []


def test_the_build_without_http_cannot(
    memdir: Program, server: ModelServer, store: Path, session: Path
) -> None:
    ran = ask(memdir, server, "anthropic", store, session, "--json")
    assert (ran.code, ran.json["code"]) == (1, "unsupported")
    assert server.seen == []


def test_a_command_line_without_a_model_or_a_file_is_refused(
    memdir_http: Program, store: Path, session: Path
) -> None:
    ran = run(memdir_http, store, "extract", str(session))
    assert ran.code == 1
    assert "--model" in ran.stderr
    env = {"ANTHROPIC_API_KEY": KEY}
    named = ("--model", "anthropic/some-model")
    missing = run(memdir_http, store, "extract", f"{session}.none", *named, env=env)
    assert missing.code == 1
    nothing = run(memdir_http, store, "extract", *named, env=env)
    # Under WASI there is no other code.
    assert (nothing.code, "[usage]" in nothing.stderr) == (1, True)
