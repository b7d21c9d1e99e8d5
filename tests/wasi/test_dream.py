"""Dreams, by the component and by the command: what they change, when, and the way back."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from component import DREAM_OPTIONS, FEATURES, Component, Flow, MemdirError, Variant
from effects import Host
from model_server import ModelServer, calls, model_server, text
from program import Program, Ran
from runs import Model, stopped, to_its_end, until_model
from stores import write

KEY = "sk-test-0123456789abcdef"
LOCK = ".consolidate-lock"
INDEX = "- [A](a.md) — a\n- [B](b.md) — b\n- [P](pinned.md) — p\n"
BETTER = "- [A](a.md) — a and b\n- [P](pinned.md) — p\n"
NO_USAGE = {"input": 0, "output": 0, "cached": 0, "written": 0}
DAY = 86_400


def memory(name: str, more: str = "") -> str:
    return f"---\nname: {name}\ndescription: about {name}\ntype: project\n{more}---\n{name}.\n"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    store = tmp_path / "store"
    for name in ("a", "b"):
        write(store, f"{name}.md", memory(name))
    write(store, "pinned.md", memory("pinned", "metadata:\n  pinned: true\n"))
    write(store, "MEMORY.md", INDEX)
    return store


def files(store: Path) -> dict[str, bytes]:
    """Every memory and index, to the byte."""
    return {path.name: path.read_bytes() for path in store.glob("*.md")}


def open_store(component: Component, store: Path | None, **options: Any) -> Any:
    features = FEATURES | {"dream": True} | options.pop("features", {})
    model = {"name": "function", "apiKey": None, "baseUrl": None}
    return component.open(store, **{"model": model, "features": features} | options)


def dream(component: Component, store: Any, **options: Any) -> Flow:
    return component.flow("store.dream", store, DREAM_OPTIONS | options)


def undo(component: Component, store: Any, host: Host | None = None) -> dict[str, Any]:
    return component.flow("store.undo-dream", store).run(host or Host())


def merging(store: Path) -> list[list[tuple[str, dict[str, Any]]]]:
    """What a model calls that merges `b.md` into `a.md`."""
    path = {name: {"file_path": str(store / f"{name}.md")} for name in ("a", "b", "MEMORY")}
    line = {"old_string": INDEX.splitlines()[0], "new_string": BETTER.splitlines()[0]}
    return [
        [("Read", each) for each in path.values()],
        [
            ("Write", path["a"] | {"content": memory("a and b")}),
            ("Delete", path["b"]),
            ("Edit", path["MEMORY"] | line),
        ],
    ]


# The component.


def test_a_dream_takes_effect_and_is_taken_back(component: Component, store: Path) -> None:
    before = files(store)
    model = Model(*merging(store))
    host, opened = Host(model=model), open_store(component, store)
    dreamt = dream(component, opened, force=True).run(host)
    assert isinstance(dreamt.pop("id"), str)
    assert dreamt == {
        "outcome": "done",
        "reason": None,
        "improved": ["a.md"],
        "removed": ["b.md"],
        "conflicts": [],
        "notice": "Improved 2 memories",
        "changes": [],
        "sessions": 0,
        "turns": 3,
        "ended": "answered",
        "usage": NO_USAGE | {"input": 14, "output": 4},
        "code": None,
        "message": None,
        "report": [],
    }
    assert files(store) == {
        "a.md": memory("a and b").encode(),
        "pinned.md": before["pinned.md"],
        "MEMORY.md": BETTER.encode(),
    }
    assert host.events[-1]["message"] == dreamt["notice"]
    assert {event["kind"] for event in host.events} == {"dream"}
    assert {request["purpose"] for request in model.asked} == {"dream"}
    assert all(request["prefix"] is None for request in model.asked)

    undone = undo(component, opened)
    assert isinstance(undone.pop("id"), str)
    assert sorted(undone["restored"]) == ["MEMORY.md", "a.md", "b.md"]
    assert undone["conflicts"] == []
    assert files(store) == before
    assert undo(component, opened) == {"id": None, "restored": [], "conflicts": []}


def test_what_a_person_has_changed_since_stays(component: Component, store: Path) -> None:
    opened = open_store(component, store)
    dream(component, opened, force=True).run(Host(model=Model(*merging(store))))
    (store / "a.md").write_text("mine\n")
    undone = undo(component, opened)
    assert undone["conflicts"] == ["a.md"]
    assert (store / "a.md").read_text() == "mine\n"
    assert (store / "b.md").read_text() == memory("b")


def test_a_dry_run_changes_nothing(component: Component, store: Path) -> None:
    before = files(store)
    host, opened = Host(model=Model(*merging(store))), open_store(component, store)
    dreamt = dream(component, opened, force=True, dryRun=True).run(host)
    changes = {change["path"]: change for change in dreamt["changes"]}
    assert {path: each["kind"] for path, each in changes.items()} == {
        "MEMORY.md": "changed",
        "a.md": "changed",
        "b.md": "deleted",
    }
    assert (changes["b.md"]["added"], changes["b.md"]["removed"]) == (0, 6)
    assert "+a and b.\n" in changes["a.md"]["diff"]
    assert (dreamt["id"], dreamt["notice"], dreamt["improved"]) == (None, None, [])
    assert files(store) == before
    assert not (store / LOCK).exists()
    assert undo(component, opened)["id"] is None


def test_what_is_pinned_stays(component: Component, store: Path) -> None:
    before, pinned = files(store), {"file_path": str(store / "pinned.md")}
    model = Model([("Read", pinned), ("Write", pinned | {"content": "x"}), ("Delete", pinned)])
    dreamt = dream(component, open_store(component, store), force=True).run(Host(model=model))
    assert (dreamt["outcome"], dreamt["id"], dreamt["notice"]) == ("done", None, None)
    results = model.asked[-1]["messages"][-1]["content"]
    assert [bool(each.get("is_error")) for each in results] == [False, True, True]
    assert files(store) == before


@pytest.mark.parametrize(
    ("reason", "options", "features", "env"),
    [
        ("off", {}, {"dream": False}, {}),
        ("disabled", {"force": True}, {}, {"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"}),
        ("remote", {"remote": True}, {}, {}),
        ("remote", {}, {}, {"CLAUDE_CODE_REMOTE": "1", "CLAUDE_CODE_REMOTE_MEMORY_DIR": "/m"}),
        ("daily-log", {}, {"dailyLog": True}, {}),
        # There are no transcripts where a directory was given.
        ("few-sessions", {}, {}, {}),
    ],
)
def test_nothing_is_done_when_it_is_not_time(
    component: Component,
    store: Path,
    reason: str,
    options: dict[str, Any],
    features: dict[str, bool],
    env: dict[str, str],
) -> None:
    before = files(store)
    host, opened = Host(model=Model()), open_store(component, store, features=features, env=env)
    dreamt = dream(component, opened, **options).run(host)
    assert (dreamt["outcome"], dreamt["reason"], dreamt["turns"]) == ("skipped", reason, 0)
    assert "model" not in host.seen
    assert (files(store), (store / LOCK).exists()) == (before, False)


def test_it_waits_for_a_day_and_five_sessions(component: Component, tmp_path: Path) -> None:
    project, home = tmp_path / "project", tmp_path / "home"
    project.mkdir()
    opened = open_store(component, None, cwd=str(project), home=str(home))
    directory = Path(component.flow("store.open", opened).run(Host())["directory"])
    for number in range(5):
        write(directory.parent, f"session-{number}.jsonl", "{}\n")

    def ask(**options: Any) -> tuple[str, str | None, int]:
        dreamt = dream(component, opened, **options).run(Host(model=Model()))
        return dreamt["outcome"], dreamt["reason"], dreamt["sessions"]

    # The current session does not count.
    assert ask(session="session-0")[:2] == ("skipped", "few-sessions")
    assert ask()[:2] == ("skipped", "counted")
    opened = open_store(component, None, cwd=str(project), home=str(home))
    assert ask() == ("done", None, 5)
    assert ask()[:2] == ("skipped", "too-soon")
    lock = directory / LOCK
    os.utime(lock, (lock.stat().st_mtime - DAY - 60,) * 2)
    assert ask()[1] == "counted"
    # Whoever asks for it does not wait.
    assert ask(force=True)[0] == "done"


def test_another_dream_is_left_alone(component: Component, store: Path) -> None:
    (store / LOCK).write_text(str(os.getpid()))
    opened = open_store(component, store)
    dreamt = dream(component, opened, force=True).run(Host(model=Model()))
    assert (dreamt["outcome"], dreamt["reason"]) == ("skipped", "locked")
    # An old one is none, whoever has the number now.
    os.utime(store / LOCK, ((store / LOCK).stat().st_mtime - 3_600,) * 2)
    assert dream(component, opened, force=True).run(Host(model=Model()))["outcome"] == "done"


def test_only_logs_are_distilled(component: Component, store: Path) -> None:
    def prompt(**options: Any) -> str:
        model = Model()
        dream(component, open_store(component, store), force=True, **options).run(Host(model=model))
        return json.dumps(model.asked[0]["messages"])

    assert prompt(logs=True) != prompt()


def test_a_failure_changes_nothing_and_delays_nobody(component: Component, store: Path) -> None:
    before, opened = files(store), open_store(component, store)
    turns = Model(*merging(store)[:1])

    def model(request: str) -> str:
        if len(turns.asked) == 1:
            raise OSError("the line is dead")
        return turns(request)

    host = Host(model=model)
    dreamt = dream(component, opened, force=True).run(host)
    assert (dreamt["outcome"], dreamt["code"], dreamt["ended"]) == ("failed", "other", None)
    assert dreamt["turns"] >= 1
    assert host.events[-1]["kind"] == "warning"
    assert (files(store), (store / LOCK).exists()) == (before, False)
    assert dream(component, opened, force=True).run(Host(model=Model()))["outcome"] == "done"


def test_a_dream_can_be_cancelled(component: Component, store: Path) -> None:
    before, opened, host = files(store), open_store(component, store), Host()
    flow = dream(component, opened, force=True)
    step = stopped(flow, until_model(flow, host), host)
    assert (step.tag, step.payload["code"]) == ("failed", "aborted")
    assert (files(store), (store / LOCK).exists()) == (before, False)
    assert list(store.glob("*.memdir-tmp")) == []
    assert dream(component, opened, force=True).run(Host(model=Model()))["outcome"] == "done"


def test_closing_waits_for_a_dream(component: Component, store: Path) -> None:
    opened, host = open_store(component, store), Host(model=Model(*merging(store)))
    flow = dream(component, opened, force=True)
    step = until_model(flow, host)
    closing = component.flow("store.close", opened)
    waiting = closing.resume([])
    assert [each["effect"].tag for each in waiting.payload["requests"]] == ["sleep"]
    step = to_its_end(flow, step, host)
    assert step.payload["value"].payload["improved"] == ["a.md"]
    assert to_its_end(closing, waiting, Host()).payload["value"].tag == "nothing"
    with pytest.raises(MemdirError, match="closed"):
        dream(component, opened, force=True).run(Host())


def test_closing_stops_a_dream_that_does_not_end(component: Component, store: Path) -> None:
    before, opened = files(store), open_store(component, store)
    host = Host(model=Model(*merging(store)))
    flow = dream(component, opened, force=True)
    step = until_model(flow, host)
    slept: list[int] = []

    def sleep(effect: Variant) -> Variant:
        slept.append(effect.payload["ms"])
        return Variant("done")

    closing = component.flow("store.close", opened)
    assert to_its_end(closing, closing.resume([]), sleep).tag == "done"
    assert sum(slept) == 60_000
    step = to_its_end(flow, step, host)
    dreamt = step.payload["value"].payload
    assert (dreamt["outcome"], dreamt["code"], dreamt["ended"]) == ("failed", "aborted", "stopped")
    assert files(store) == before


def test_draining_waits_for_a_dream(component: Component, store: Path) -> None:
    opened, host = open_store(component, store), Host(model=Model(*merging(store)))
    flow = dream(component, opened, force=True)
    step = until_model(flow, host)
    drained = component.flow("store.drain", opened, 200).run(lambda _: Variant("done"))
    assert drained == {"drained": False}
    assert to_its_end(flow, step, host).payload["value"].payload["outcome"] == "failed"
    assert component.flow("store.drain", opened, 200).run(Host()) == {"drained": True}


def test_wrong_requests_are_refused(component: Component, store: Path) -> None:
    opened = open_store(component, store)
    with pytest.raises(MemdirError) as error:
        dream(component, opened, force=True, readRoots=["here"]).run(Host(model=Model()))
    assert error.value.code == "invalid-argument"
    with pytest.raises(MemdirError) as error:
        dream(component, open_store(component, store, model=None), force=True).run(Host())
    assert error.value.code == "no-model"
    assert not (store / LOCK).exists()
    off = open_store(component, store, env={"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"})
    with pytest.raises(MemdirError) as error:
        undo(component, off)
    assert error.value.code == "disabled"


# The commands.


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as server:
        yield server


def run(program: Program, server: ModelServer, store: Path, *arguments: str) -> Ran:
    env = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url}
    given = ("dream", *arguments, "--dir", str(store))
    ran = program.run(*given, folders=[store.parent], env=env)
    assert KEY not in ran.stdout + ran.stderr
    return ran


def test_the_command_dreams_and_takes_it_back(
    memdir_http: Program, server: ModelServer, store: Path
) -> None:
    before, model = files(store), ("--model", "anthropic/some-model", "--force")
    turns = [calls(*turn) for turn in merging(store)] + [text("Done.")]
    server.answers = [*turns]
    shown = run(memdir_http, server, store, *model, "--dry-run")
    assert shown.code == 0, shown.stderr
    assert "+a and b." in shown.stdout.splitlines()
    assert files(store) == before
    server.answers = [*turns]
    ran = run(memdir_http, server, store, *model, "--json")
    assert (ran.code, ran.json["outcome"]) == (0, "done"), ran.stderr
    assert (ran.json["improved"], ran.json["removed"]) == (["a.md"], ["b.md"])
    assert ran.json["usage"] == NO_USAGE | {"input": 300, "output": 30}
    assert (store / "MEMORY.md").read_text() == BETTER
    assert len(server.seen) == 6
    undone = run(memdir_http, server, store, "--undo", "--json")
    assert (undone.code, undone.json["id"]) == (0, ran.json["id"])
    assert files(store) == before
    assert run(memdir_http, server, store, "--undo").stdout == "there is no dream to take back\n"


def test_the_command_says_why_nothing_is_done(
    memdir_http: Program, server: ModelServer, store: Path
) -> None:
    ran = run(memdir_http, server, store, "--model", "anthropic/some-model")
    assert (ran.code, server.seen) == (0, []), ran.stderr
    assert ran.stdout.startswith("nothing to do: ")
    without = run(memdir_http, server, store, "--force")
    assert (without.code, "[no-model]" in without.stderr) == (1, True), without.stderr
