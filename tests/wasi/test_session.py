"""Notes of a session, and the end of a turn, by the component; notes by the command."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from component import (
    AFTER_TURN_OPTIONS,
    COMPACTION_OPTIONS,
    FEATURES,
    NOTES_OPTIONS,
    Component,
    Flow,
    MemdirError,
    Variant,
    messages,
)
from effects import Host
from model_server import ModelServer, calls, model_server, text
from program import Program, Ran
from runs import Model, stopped, to_its_end, until_model
from stores import write

KEY = "sk-test-0123456789abcdef"
ID = "5f0c1d2e-77aa-4b7e-9d2b-0f6f3c7b8a11"
STATE = "# Current State\n"
NOW = "The parser is done; the tests come next.\n"
NO_USAGE = {"input": 0, "output": 0, "cached": 0, "written": 0}
NO_STATE = {"lastTokens": None, "cursor": None, "lastSummarised": None}


def called(number: int) -> list[dict[str, Any]]:
    """A call of a tool and its result."""
    call = {"type": "tool_use", "id": f"call_{number}", "name": "Read", "input": {}}
    result = {"type": "tool_result", "tool_use_id": f"call_{number}", "content": "text"}
    return [
        {"id": f"a{number}", "role": "assistant", "content": [call]},
        {"id": f"r{number}", "role": "user", "content": [result]},
    ]


# 12,000 tokens and three calls: time for notes.
TALK = [
    {"id": "u", "role": "user", "content": "please always write small commits", "tokens": 12_000},
    *(message for number in range(3) for message in called(number)),
    {"id": "end", "role": "assistant", "content": "I will.", "tokens": 10},
]
SHORT = [
    {"id": "u", "role": "user", "content": "please always write small commits"},
    {"id": "end", "role": "assistant", "content": "I will."},
]


@pytest.fixture
def folders(tmp_path: Path) -> dict[str, str]:
    """A project, and a home in which its sessions are."""
    for name in ("home", "project"):
        (tmp_path / name).mkdir()
    return {"cwd": str(tmp_path / "project"), "home": str(tmp_path / "home")}


def open_store(component: Component, folders: dict[str, str], **options: Any) -> Any:
    model = {"name": "function", "apiKey": None, "baseUrl": None}
    return component.open(**{"model": model} | folders | options)


def update(component: Component, store: Any, said: list[dict[str, Any]], **options: Any) -> Flow:
    arguments = (store, ID, messages(said), NOTES_OPTIONS | options)
    return component.flow("store.session-update", *arguments)


def notes(component: Component, store: Any, id_: str = ID) -> str | None:
    found: str | None = component.flow("store.session-notes", store, id_).run(Host())["notes"]
    return found


def place(component: Component, store: Any, id_: str = ID) -> Path:
    return Path(component.flow("store.session-path", store, id_).run(Host())["notesPath"])


def compaction(
    component: Component, store: Any, said: list[dict[str, Any]], **options: Any
) -> dict[str, Any]:
    arguments = (store, ID, messages(said), COMPACTION_OPTIONS | options)
    found: dict[str, Any] = component.flow("store.session-compaction", *arguments).run(Host())
    return found


def noting(path: Path) -> list[tuple[str, dict[str, Any]]]:
    """What a model calls that writes below `# Worklog`, the last heading."""
    old = "_What was done, step by step, in a few words each_\n"
    given = {"file_path": str(path), "old_string": old, "new_string": old + NOW}
    return [("Edit", given)]


# The component.


def test_notes_are_kept(component: Component, folders: dict[str, str]) -> None:
    store = open_store(component, folders)
    path = place(component, store)
    assert path.parts[-3:] == (ID, "session-memory", "summary.md")
    assert path.is_relative_to(folders["home"])
    assert (path.exists(), notes(component, store)) == (False, None)

    model = Model(noting(path))
    host = Host(model=model)
    result = update(component, store, TALK).run(host)
    text = path.read_text()
    tokens = 12_010 + 3 * tokens_of(component, called(0))
    assert result == {
        "outcome": "done",
        "reason": None,
        "path": str(path),
        "changed": True,
        "turns": 2,
        "ended": "answered",
        "usage": NO_USAGE | {"input": 7, "output": 2},
        "code": None,
        "message": None,
        "overLimit": [],
        "state": {"lastTokens": tokens, "cursor": "end", "lastSummarised": "end"},
        "report": [],
    }
    assert text.endswith(NOW)
    assert len([line for line in text.splitlines() if line.startswith("# ")]) == 10
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert notes(component, store) == text
    assert {event["kind"] for event in host.events} == {"session-notes"}
    assert model.asked[0]["purpose"] == "session-notes"
    assert [tool["name"] for tool in model.asked[0]["tools"]] == ["Read", "Edit"]
    assert "small commits" in json.dumps(model.asked[0]["messages"])

    again = update(component, store, TALK).run(host)
    assert (again["outcome"], again["reason"]) == ("skipped", "not-due")
    # So it is in another process that knows how far the first one came.
    other = update(component, open_store(component, folders), TALK, state=result["state"])
    assert other.run(Host(model=Model()))["reason"] == "not-due"


def tokens_of(component: Component, said: list[dict[str, Any]]) -> int:
    """What messages without numbers of their own take."""
    covered = {"lastSummarised": said[-1]["id"], "boundary": None}
    question = covered | {"notes": "x", "template": ""}
    cut = component.rule("compaction-cut", question | {"messages": messages(said)})
    assert cut["keepFrom"] == 0
    tokens: int = cut["tokens"] - component.rule("estimate-tokens", "x")
    return tokens


def test_a_short_conversation_has_none(component: Component, folders: dict[str, str]) -> None:
    store, host = open_store(component, folders), Host(model=Model())
    result = update(component, store, SHORT).run(host)
    assert (result["outcome"], result["reason"]) == ("skipped", "not-due")
    assert result["state"] == NO_STATE
    assert "model" not in host.seen
    assert not place(component, store).exists()
    # Unless somebody asks for it.
    host = Host(model=Model(noting(place(component, store))))
    assert update(component, store, SHORT, force=True).run(host)["outcome"] == "done"
    assert update(component, store, SHORT, force=True).run(host)["reason"] == "nothing-new"


def test_an_answer_without_calls_counts_when_asked_for(
    component: Component, folders: dict[str, str]
) -> None:
    said = [TALK[0], TALK[-1]]
    for natural, outcome in [(False, "skipped"), (True, "done")]:
        flow = update(component, open_store(component, folders), said, naturalBreak=natural)
        assert flow.run(Host(model=Model()))["outcome"] == outcome


def test_only_the_notes_are_touched(component: Component, folders: dict[str, str]) -> None:
    store = open_store(component, folders)
    path = place(component, store)
    mine = Path(folders["cwd"], "mine.md")
    mine.write_text("mine\n")
    model = Model(
        [
            ("Edit", {"file_path": str(mine), "old_string": "mine", "new_string": "yours"}),
            ("Write", {"file_path": str(path), "content": "x"}),
            ("Read", {"file_path": str(mine)}),
            ("Edit", {"file_path": str(path), "old_string": STATE, "new_string": "# Other\n"}),
        ]
    )
    result = update(component, store, TALK).run(Host(model=model))
    assert (result["outcome"], result["changed"]) == ("done", False)
    results = model.asked[-1]["messages"][-1]["content"]
    assert all(each["is_error"] for each in results)
    assert mine.read_text() == "mine\n"
    assert STATE in path.read_text()


def test_a_person_who_edits_them_meanwhile_wins(
    component: Component, folders: dict[str, str]
) -> None:
    store = open_store(component, folders)
    path = place(component, store)
    turns = Model(noting(path))

    def model(request: str) -> str:
        if not turns.asked:
            path.write_text(path.read_text() + "Mine.\n")
        return turns(request)

    result = update(component, store, TALK).run(Host(model=model))
    assert (result["outcome"], result["changed"]) == ("done", False)
    assert turns.asked[-1]["messages"][-1]["content"][0]["is_error"]
    assert path.read_text().endswith("Mine.\n")


def test_a_failure_is_a_result(component: Component, folders: dict[str, str]) -> None:
    store, host = open_store(component, folders), Host()
    result = update(component, store, TALK).run(host)
    assert (result["outcome"], result["code"], result["ended"]) == ("failed", "unsupported", None)
    assert result["state"] == NO_STATE
    assert host.events[-1]["kind"] == "warning"
    assert update(component, store, TALK).run(Host(model=Model()))["outcome"] == "done"


def test_an_update_can_be_cancelled(component: Component, folders: dict[str, str]) -> None:
    store, host = open_store(component, folders), Host()
    flow = update(component, store, TALK)
    step = stopped(flow, until_model(flow, host), host)
    assert (step.tag, step.payload["code"]) == ("failed", "aborted")
    assert update(component, store, TALK).run(Host(model=Model()))["outcome"] == "done"


def test_there_is_one_update_at_a_time(component: Component, folders: dict[str, str]) -> None:
    store = open_store(component, folders)
    host = Host(model=Model(noting(place(component, store))))
    first = update(component, store, TALK)
    step = until_model(first, host)
    assert update(component, store, TALK).run(host)["reason"] == "running"
    # A compaction waits for it.
    arguments = (store, ID, messages(TALK), COMPACTION_OPTIONS)
    waiting = component.flow("store.session-compaction", *arguments)
    wait = waiting.resume([])
    while {each["effect"].tag for each in wait.payload["requests"]} != {"sleep"}:
        wait = waiting.resume(
            [
                {"id": each["id"], "outcome": host(each["effect"])}
                for each in wait.payload["requests"]
            ]
        )
    closing = component.flow("store.close", store)
    close = closing.resume([])
    assert [each["effect"].tag for each in close.payload["requests"]] == ["sleep"]
    done = to_its_end(first, step, host).payload["value"].payload
    assert (done["outcome"], done["changed"]) == ("done", True)
    cut = to_its_end(waiting, wait, host).payload["value"].payload
    assert NOW in cut["notes"]
    assert to_its_end(closing, close, host).payload["value"].tag == "nothing"
    with pytest.raises(MemdirError, match="closed"):
        update(component, store, TALK).run(Host())


def test_closing_stops_an_update_that_does_not_end(
    component: Component, folders: dict[str, str]
) -> None:
    store = open_store(component, folders)
    path = place(component, store)
    host = Host(model=Model(noting(path)))
    flow = update(component, store, TALK)
    step = until_model(flow, host)
    before = path.read_text()
    closing = component.flow("store.close", store)
    assert to_its_end(closing, closing.resume([]), lambda _: Variant("done")).tag == "done"
    result = to_its_end(flow, step, host).payload["value"].payload
    assert (result["outcome"], result["code"]) == ("failed", "aborted")
    assert path.read_text() == before


def test_notes_take_the_place_of_a_conversation(
    component: Component, folders: dict[str, str]
) -> None:
    store = open_store(component, folders)
    assert compaction(component, store, TALK) == {
        "notes": None,
        "keepFrom": None,
        "reason": "no-notes",
        "tokens": 0,
    }
    path = place(component, store)
    update(component, store, TALK).run(Host(model=Model()))
    assert compaction(component, store, TALK)["reason"] == "empty-notes"
    path.write_text(path.read_text() + NOW)
    more = [*TALK, {"id": "u2", "role": "user", "content": "and tabs", "tokens": 41_000}]
    given = {"lastSummarised": "end", "cursor": "end", "lastTokens": 1}
    other = open_store(component, folders)
    cut = compaction(component, other, more, state=given)
    tokens = component.rule("estimate-tokens", path.read_text()) + 41_000
    # What came after the notes is enough.
    assert cut == {
        "notes": path.read_text(),
        "keepFrom": len(TALK),
        "reason": None,
        "tokens": tokens,
    }
    gone = compaction(component, open_store(component, folders), more[-1:], state=given)
    assert gone["reason"] == "unknown-message"
    unknown = compaction(component, open_store(component, folders), more)
    assert unknown["reason"] == "unknown-message"
    # Nothing in front of the boundary is kept, but for the call of a result.
    last = compaction(component, open_store(component, folders), TALK, state=given, boundary=5)
    assert last["keepFrom"] == 5
    env = {"DISABLE_CLAUDE_CODE_SM_COMPACT": "1"}
    off = compaction(component, open_store(component, folders, env=env), more)
    assert off["reason"] == "off"
    path.write_bytes(b"\xff\xfe")
    assert compaction(component, open_store(component, folders), more)["reason"] == "unreadable"


def test_wrong_requests_are_refused(component: Component, folders: dict[str, str]) -> None:
    def flows(store: Any, id_: str) -> list[Flow]:
        said = messages(TALK)
        return [
            component.flow("store.session-update", store, id_, said, NOTES_OPTIONS),
            component.flow("store.session-notes", store, id_),
            component.flow("store.session-compaction", store, id_, said, COMPACTION_OPTIONS),
            component.flow("store.session-path", store, id_),
        ]

    store = open_store(component, folders)
    cases = [(store, id_) for id_ in ("", "../x", "a/b", "a.b", "memory", "x" * 129)]
    # Where a directory was given there is no project.
    cases.append((component.open(Path(folders["home"], "store")), ID))
    for opened, id_ in cases:
        for flow in flows(opened, id_):
            with pytest.raises(MemdirError) as error:
                flow.run(Host(model=Model()))
            assert error.value.code == "invalid-argument"
    with pytest.raises(MemdirError) as error:
        update(component, open_store(component, folders, model=None), TALK).run(Host())
    assert error.value.code == "no-model"
    broken = messages(TALK)
    broken[-1]["content"] = "no JSON"
    with pytest.raises(MemdirError) as error:
        component.flow("store.session-update", store, ID, broken, NOTES_OPTIONS).run(Host())
    assert error.value.code == "invalid-argument"
    assert list(Path(folders["home"]).rglob("*.md")) == []


def test_memory_that_is_off_has_no_notes(component: Component, folders: dict[str, str]) -> None:
    env = {"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"}
    store = open_store(component, folders, env=env)
    result = update(component, store, TALK, force=True).run(Host(model=Model()))
    assert (result["reason"], result["path"]) == ("disabled", None)
    assert notes(component, store) is None
    assert compaction(component, store, TALK)["reason"] == "off"
    with pytest.raises(MemdirError) as error:
        place(component, store)
    assert error.value.code == "disabled"


# The component: the end of a turn.


def after_turn(
    component: Component, store: Any, said: list[dict[str, Any]], **options: Any
) -> Flow:
    return component.flow("store.after-turn", store, messages(said), AFTER_TURN_OPTIONS | options)


def test_each_is_done_by_its_own_gate(component: Component, folders: dict[str, str]) -> None:
    features = FEATURES | {"extract": True, "dream": True}
    store = open_store(component, folders, features=features)
    directory = Path(component.flow("store.open", store).run(Host())["directory"])
    for number in range(5):
        write(directory.parent, f"session-{number}.jsonl", "{}\n")
    model = Model()
    done = after_turn(component, store, TALK, session=ID).run(Host(model=model))
    assert set(done) == {"extraction", "notes", "dream"}
    assert [part["outcome"] for part in done.values()] == ["done"] * 3
    purposes = [request["purpose"] for request in model.asked]
    assert purposes == ["extract-memories", "session-notes", "dream"]
    # What was not noted is shown again, when the conversation has grown.
    assert (done["extraction"]["state"]["cursor"], done["notes"]["state"]["cursor"]) == (
        "end",
        None,
    )
    assert done["dream"]["sessions"] == 5

    again = after_turn(component, store, TALK, session=ID).run(Host(model=model))
    assert [part["reason"] for part in again.values()] == ["nothing-new", "not-due", "too-soon"]
    assert len(model.asked) == 3
    # Another process is told how far they have come.
    other = open_store(component, folders, features=features)
    state = {part: done[part]["state"] for part in ("extraction", "notes")}
    taken_up = after_turn(component, other, TALK, session=ID, **state).run(Host(model=model))
    assert [part["reason"] for part in taken_up.values()] == ["nothing-new", "not-due", "too-soon"]


def test_a_turn_of_another_agent_is_passed_by(
    component: Component, folders: dict[str, str]
) -> None:
    store, host = open_store(component, folders), Host(model=Model())
    done = after_turn(component, store, TALK, session=ID, agent="sub").run(host)
    assert (done["extraction"]["reason"], done["notes"]) == ("sub-agent", None)
    assert done["dream"]["reason"] == "sub-agent"
    assert "model" not in host.seen


def test_without_a_session_there_are_no_notes(
    component: Component, folders: dict[str, str]
) -> None:
    store = open_store(component, folders)
    done = after_turn(component, store, TALK).run(Host(model=Model()))
    assert (done["extraction"]["reason"], done["notes"]) == ("off", None)
    assert done["dream"]["reason"] == "off"


def test_one_that_fails_does_not_keep_the_others(
    component: Component, folders: dict[str, str]
) -> None:
    features = FEATURES | {"extract": True}
    store = open_store(component, folders, features=features)

    def model(request: str) -> str:
        if json.loads(request)["purpose"] == "extract-memories":
            raise OSError("the line is dead")
        return "Nothing more."

    done = after_turn(component, store, TALK, session=ID).run(Host(model=model))
    assert (done["extraction"]["outcome"], done["extraction"]["code"]) == ("failed", "other")
    assert (done["notes"]["outcome"], done["dream"]["reason"]) == ("done", "off")
    without = open_store(component, folders, features=features, model=None)
    done = after_turn(component, without, TALK, session=ID).run(Host())
    assert [done[part]["code"] for part in ("extraction", "notes")] == ["no-model"] * 2
    no_project = component.open(Path(folders["home"], "store"), features=features)
    done = after_turn(component, no_project, TALK, session=ID).run(Host())
    assert done["notes"]["code"] == "invalid-argument"


def test_the_end_of_a_turn_can_be_cancelled(component: Component, folders: dict[str, str]) -> None:
    features = FEATURES | {"extract": True}
    store, host = open_store(component, folders, features=features), Host()
    flow = after_turn(component, store, TALK, session=ID)
    step = stopped(flow, until_model(flow, host), host)
    assert (step.tag, step.payload["code"]) == ("failed", "aborted")
    assert not place(component, store).exists()
    component.flow("store.close", store).run(Host())
    with pytest.raises(MemdirError, match="closed"):
        after_turn(component, store, TALK, session=ID).run(Host())


def test_closing_lets_no_further_one_begin(component: Component, folders: dict[str, str]) -> None:
    store = open_store(component, folders, features=FEATURES | {"extract": True, "dream": True})
    host = Host(model=Model())
    flow = after_turn(component, store, TALK, session=ID)
    step = until_model(flow, host)
    closing = component.flow("store.close", store)
    close = closing.resume([])
    assert close.tag == "effects"
    done = to_its_end(flow, step, host).payload["value"].payload
    assert done["extraction"]["outcome"] == "done"
    for part in ("notes", "dream"):
        assert (done[part]["outcome"], done[part]["reason"]) == ("skipped", "closed")
        assert done[part]["code"] is None
    assert host.seen.count("model") == 1
    assert to_its_end(closing, close, Host()).payload["value"].tag == "nothing"


def test_a_wrong_turn_is_refused(component: Component, folders: dict[str, str]) -> None:
    broken = messages(TALK)
    broken[-1]["content"] = "no JSON"
    for said, id_ in [(broken, ID), (messages(TALK), "a/b")]:
        store, given = open_store(component, folders), AFTER_TURN_OPTIONS | {"session": id_}
        with pytest.raises(MemdirError) as error:
            component.flow("store.after-turn", store, said, given).run(Host(model=Model()))
        assert error.value.code == "invalid-argument"


# The commands.


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as server:
        yield server


def run(program: Program, server: ModelServer, folders: dict[str, str], *arguments: str) -> Ran:
    env = {"HOME": folders["home"], "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url}
    given = ("session", ID, *arguments, "--cwd", folders["cwd"])
    ran = program.run(*given, folders=[Path(folders["home"]).parent], env=env)
    assert KEY not in ran.stdout + ran.stderr
    return ran


def test_the_command_keeps_and_shows_notes(
    component: Component,
    memdir_http: Program,
    server: ModelServer,
    folders: dict[str, str],
) -> None:
    path = place(component, open_store(component, folders))
    none = run(memdir_http, server, folders, "--json")
    assert (none.code, none.json) == (1, {"path": str(path), "notes": None}), none.stderr
    transcript = Path(folders["cwd"], "session.jsonl")
    transcript.write_text("".join(f"{json.dumps(message)}\n" for message in SHORT))
    model = (str(transcript), "--model", "anthropic/some-model", "--json")
    skipped = run(memdir_http, server, folders, *model)
    assert (skipped.code, skipped.json["reason"], server.seen) == (0, "not-due", [])
    server.answers = [calls(*noting(path)), text("Done.")]
    ran = run(memdir_http, server, folders, *model, "--force")
    assert (ran.code, ran.json["outcome"], ran.json["changed"]) == (0, "done", True), ran.stderr
    assert (ran.json["turns"], len(server.seen)) == (2, 2)
    assert path.read_text().endswith(NOW)
    assert run(memdir_http, server, folders, "--show").stdout == path.read_text()
