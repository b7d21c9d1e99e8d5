"""memdir-core.wasm: what it is, its flows, and what it says to drivers that break the contract."""

import hashlib
from pathlib import Path

import pytest
from component import (
    COMMAND_OPTIONS,
    EXTRACT_OPTIONS,
    FORGET_OPTIONS,
    PROMPT_OPTIONS,
    RECALL_OPTIONS,
    SAVE_OPTIONS,
    Component,
    MemdirError,
    Variant,
)
from effects import Host, failed
from program import Program, printed_of
from stores import HOSTILE_MEMORIES, HOSTILE_REPORT


def test_it_imports_nothing(component: Component) -> None:
    assert component.imports == []


def test_a_scan_equals_that_of_the_command(
    component: Component, memdir: Program, sample: Path
) -> None:
    scan = component.flow("store.scan", component.open(sample)).run(Host())
    printed = memdir.run("scan", "--json", "--dir", str(sample), folders=[sample]).json
    assert printed.pop("directory") == f"{sample}/"
    assert len(scan["memories"]) == 12
    assert scan == printed


def test_a_hostile_scan_equals_that_of_the_command(
    component: Component, memdir: Program, hostile: Path
) -> None:
    scan = component.flow("store.scan", component.open(hostile)).run(Host())
    assert {memory["path"] for memory in scan["memories"]} == HOSTILE_MEMORIES
    assert {(entry["path"], entry["code"]) for entry in scan["report"]} == HOSTILE_REPORT
    printed = memdir.run("scan", "--json", "--dir", str(hostile), folders=[hostile.parent]).json
    assert scan["memories"] == printed["memories"]
    same = [entry for entry in scan["report"] if entry["path"] != "absolute.md"]
    assert same == [entry for entry in printed["report"] if entry["path"] != "absolute.md"]


def test_every_operation_of_a_store(component: Component, memdir: Program, sample: Path) -> None:
    store, host = component.open(sample), Host()
    opened = component.flow("store.open", store).run(host)
    printed = memdir.run("path", "--json", "--dir", str(sample), folders=[sample])
    assert printed.json == printed_of(opened)
    assert (opened["directory"], opened["enabled"]) == (f"{sample}/", True)

    scan = component.flow("store.scan", store).run(host)
    manifest = component.flow("store.manifest", store).run(host)["manifest"]
    assert manifest == component.rule("format-manifest", scan["memories"])

    file = component.flow("store.read", store, "team/style.md").run(host)
    assert file["content"] == (sample / "team/style.md").read_text()
    assert file["header"] in scan["memories"]
    assert file["body"] == "Tabs."
    data = (sample / "team/style.md").read_bytes()
    assert file["hash"] == f"sha256:{hashlib.sha256(data).hexdigest()}"
    shown = memdir.run(
        "show", "team/style.md", "--json", "--dir", str(sample), folders=[sample]
    ).json
    assert shown == file

    lint = component.flow("store.lint", store).run(host)
    assert lint == memdir.run("lint", "--json", "--dir", str(sample), folders=[sample]).json
    assert {
        "path": "topics/topic 0 项目.md",
        "line": None,
        "code": "type-missing",
        "severity": "warning",
        "message": "its frontmatter has no type",
        "remedy": "add a line type: …",
    } in lint["findings"]

    prompt = component.flow("store.prompt", store, PROMPT_OPTIONS).run(host)["prompt"]
    assert "- [Role](user_role.md): Go veteran" in prompt
    assert memdir.run("prompt", "--json", "--dir", str(sample), folders=[sample]).json == {
        "prompt": prompt
    }
    more = {"index": False, "pastContext": True, "guidelines": ["Write in Latin."]}
    other = component.flow("store.prompt", store, more).run(host)["prompt"]
    assert "user_role.md" not in other
    assert "Write in Latin." in other
    assert "## Searching the past" in other
    assert "## Searching the past" not in prompt
    # The store was found once; the events would be warnings.
    assert host.seen.count("host-info") == 1
    assert host.events == []


def test_the_command_line_is_a_flow_too(component: Component, sample: Path) -> None:
    host = Host()
    options = COMMAND_OPTIONS | {
        "args": ["show", "plain.md", "--dir", sample.name],
        "cwd": str(sample.parent),
    }
    assert component.flow("command", options).run(host) == {"code": 0}
    assert host.printed == {"stdout": "No frontmatter at all.\n", "stderr": ""}
    wrong = COMMAND_OPTIONS | {"args": ["show"]}
    assert component.flow("command", wrong).run(host) == {"code": 2}
    assert "memdir --help" in host.printed["stderr"]


def test_a_warning_is_an_event(component: Component, tmp_path: Path) -> None:
    store = tmp_path / "store"
    store.mkdir()
    (store / "MEMORY.md").write_bytes(b"\xff\xfe")
    host = Host()
    component.flow("store.prompt", component.open(store), PROMPT_OPTIONS).run(host)
    assert [(event["kind"], event["path"]) for event in host.events] == [("warning", "MEMORY.md")]


def test_what_is_remembered_lasts_until_compacted(component: Component, sample: Path) -> None:
    store, host = component.open(sample), Host()

    def prompt() -> str:
        return component.flow("store.prompt", store, PROMPT_OPTIONS).run(host)["prompt"]

    first = component.flow("store.scan", store).run(host)
    host.seen.clear()
    assert component.flow("store.scan", store).run(host) == first
    assert set(host.seen) == {"now", "list"}
    before = prompt()
    (sample / "MEMORY.md").write_text("- [New](new.md): a line\n")
    assert prompt() == before
    component.method(store, "compacted")
    assert "- [New](new.md): a line" in prompt()
    host.seen.clear()
    component.flow("store.scan", store).run(host)
    assert "read-many" in host.seen


def test_a_closed_store_refuses_everything(component: Component, sample: Path) -> None:
    store = component.open(sample)
    component.flow("store.scan", store).run(Host())
    for _ in range(2):
        assert component.flow("store.close", store).run(Host()) is None
    component.method(store, "compacted")
    arguments = {
        "read": ["plain.md"],
        "prompt": [PROMPT_OPTIONS],
        "recall": ["deploys", RECALL_OPTIONS],
        "save": [SAVE_OPTIONS],
        "forget": ["plain.md", FORGET_OPTIONS],
        "undo-forget": [None],
        "tool": ['{"command": "view", "path": "/memories"}'],
        "log": ["A note"],
        "team-watch": [None],
        "team-conflict": ["one"],
        "team-restore": ["one"],
        "team-drop": ["one"],
        "extract": [[], EXTRACT_OPTIONS],
        "begin-extraction": [[], EXTRACT_OPTIONS],
        "transcript": ["talk.jsonl"],
        "apply-proposal": ["one", None],
        "drop-proposal": ["one", None],
    }
    team = [f"team-{name}" for name in ("pull", "push", "sync", "status", "conflicts")]
    for name in ["open", "scan", "manifest", "lint", "inbox", *team, *arguments]:
        with pytest.raises(MemdirError) as error:
            component.flow(f"store.{name}", store, *arguments.get(name, [])).run(Host())
        assert error.value.code == "closed", name


@pytest.mark.parametrize(
    ("directory", "path", "code"),
    [
        ("relative", "a.md", "path-relative"),
        (None, "../a.md", "path-outside-store"),
        (None, "outside.md", "link-outside"),
        (None, "missing.md", "not-found"),
        (None, "folder.md", "is-a-directory"),
        (None, "latin1.md", "not-text"),
        (None, "pipe.md", "unsupported"),
    ],
)
def test_a_failure_has_a_code(
    component: Component, hostile: Path, directory: str | None, path: str, code: str
) -> None:
    with pytest.raises(MemdirError) as error:
        component.flow("store.read", component.open(directory or hostile), path).run(Host())
    assert error.value.code == code
    assert error.value.message


def test_the_error_table_is_closed(component: Component) -> None:
    table = component.rule("error-table")
    codes = [row["code"] for row in table]
    kinds = dict(
        component.function("rules", "error-table").type(component.store).result.element.fields
    )
    assert codes == kinds["code"].names
    assert {row["family"] for row in table} == set(kinds["family"].names)
    assert all(row["example"] for row in table)


ONE_EFFECT = [Variant("now")]
NOW = Variant("now", {"ms": 1, "offsetMinutes": 0})


@pytest.mark.parametrize(
    "responses",
    [
        [],
        [{"id": 7, "outcome": NOW}],
        [{"id": 0, "outcome": Variant("done")}],
        [{"id": 0, "outcome": NOW}, {"id": 0, "outcome": NOW}],
        [{"id": 0, "outcome": NOW}, {"id": 1, "outcome": NOW}],
    ],
    ids=["no answer", "a wrong number", "a wrong kind", "twice", "one too many"],
)
def test_a_broken_contract_ends_the_flow(component: Component, responses: list) -> None:
    flow = component.flow("probe", ONE_EFFECT)
    assert flow.resume([]).tag == "effects"
    for _ in range(2):
        step = flow.resume(responses)
        assert (step.tag, step.payload["code"]) == ("failed", "protocol")
    flow.drop()


def test_answers_before_the_first_question_break_the_contract(component: Component) -> None:
    flow = component.flow("probe", ONE_EFFECT)
    step = flow.resume([{"id": 0, "outcome": NOW}])
    assert (step.tag, step.payload["code"]) == ("failed", "protocol")


def test_a_resume_after_the_end_breaks_the_contract(component: Component) -> None:
    flow = component.flow("probe", ONE_EFFECT)
    flow.resume([])
    step = flow.resume([{"id": 0, "outcome": NOW}])
    assert step.payload["value"].payload == {"outcomes": [NOW]}
    step = flow.resume([])
    assert (step.tag, step.payload["code"]) == ("failed", "protocol")


def test_a_cancelled_flow_ends_with_aborted(component: Component, sample: Path) -> None:
    flow = component.flow("store.scan", component.open(sample))
    step = flow.resume([])
    while step.tag == "effects":
        flow.cancel()
        answers = [
            {"id": request["id"], "outcome": failed("aborted", "stopped")}
            for request in step.payload["requests"]
        ]
        step = flow.resume(answers)
    assert (step.tag, step.payload["code"]) == ("failed", "aborted")


def test_flows_of_one_store_run_side_by_side(component: Component, sample: Path) -> None:
    store, host = component.open(sample), Host()
    flows = [component.flow("store.scan", store) for _ in range(3)]
    flows.append(component.flow("store.manifest", store))
    steps = [flow.resume([]) for flow in flows]
    # A flow that is dropped midway leaves the others alone.
    flows.pop(0).drop()
    steps.pop(0)
    values = [None] * len(flows)
    while None in values:
        for index, flow in enumerate(flows):
            if steps[index].tag == "done":
                values[index] = steps[index].payload["value"].payload
                continue
            requests = steps[index].payload["requests"]
            steps[index] = flow.resume(
                [{"id": each["id"], "outcome": host(each["effect"])} for each in requests]
            )
    assert values[0] == values[1]
    assert len(values[0]["memories"]) == len(values[2]["manifest"].splitlines()) == 12


def test_every_effect_and_outcome_crosses_both_ways(component: Component) -> None:
    text, data = Variant("text", {"text": "é"}), Variant("bytes", {"bytes": b"\x00\xff"})
    stat = {
        "kind": "link",
        "size": 2**60,
        "mtimeMs": -1,
        "mtimeNs": 999_999,
        "ctimeMs": None,
        "inode": 2**63,
        "mode": 0o640,
    }
    limits = {"timeoutMs": 1, "maxBytes": 2}
    header = {"name": "a", "value": "b"}
    on_path = {"path": "/a"}
    done = Variant("done")
    pairs = [
        (
            "list",
            {"path": "/a", "within": "/"},
            Variant(
                "listing",
                {"entries": [{"name": "x", "invalidName": True, "stat": stat}], "incomplete": True},
            ),
        ),
        (
            "read",
            {"path": "/a", "within": None, "offset": 2**40, "length": 1},
            Variant("content", {"content": data}),
        ),
        (
            "read-many",
            {"paths": ["/a", "/b"], "within": "/", "length": 3},
            Variant(
                "heads",
                {"heads": [Variant("content", {"content": data}), failed("not-found", "gone")]},
            ),
        ),
        ("stat", on_path, Variant("stat", stat)),
        ("lstat", on_path, failed("loop", "circle")),
        ("read-link", on_path, Variant("text", {"text": "target"})),
        ("real-path", on_path, Variant("text", {"text": "/a"})),
        (
            "write",
            {
                "path": "/a",
                "within": "/",
                "content": text,
                "via": "/a.memdir-tmp",
                "mode": 0o600,
                "sync": True,
            },
            done,
        ),
        ("append", {"path": "/a", "content": data, "mode": 0o600}, done),
        ("make-dir", {"path": "/a", "within": None, "mode": 0o700}, done),
        ("remove", {"path": "/a", "within": "/"}, done),
        (
            "rename",
            {"from": "/a", "to": "/b", "within": None, "replace": False, "sync": True},
            done,
        ),
        ("link", {"from": "/a", "to": "/b", "within": "/"}, done),
        ("set-mtime", {"path": "/a", "mtimeMs": -5}, done),
        ("process-alive", {"pid": 1}, Variant("alive", {"alive": True})),
        (
            "http",
            {"method": "POST", "url": "http://x/", "headers": [header], "body": text, **limits},
            Variant("http", {"status": 404, "headers": [header], "body": b"no"}),
        ),
        ("model", {"request": "{}", "timeoutMs": 1}, Variant("text", {"text": "{}"})),
        ("token", {"timeoutMs": 1}, Variant("text", {"text": "t"})),
        (
            "approve",
            {"path": "/a", "parent": "/b", "timeoutMs": 1},
            Variant("approved", {"approved": True}),
        ),
        (
            "run",
            {"argv": ["a"], "cwd": "/", "env": [header], "stdin": None, **limits},
            Variant("ran", {"exitCode": None, "stdout": b"o", "stderr": b"e"}),
        ),
        ("now", None, NOW),
        ("sleep", {"ms": 1}, done),
        ("random", {"length": 2}, Variant("content", {"content": data})),
        ("watch", {"path": "/a", "timeoutMs": 1}, Variant("changed", {"changed": True})),
        ("print", {"stream": "stderr", "text": "x"}, done),
        ("read-stdin", {"maxBytes": 1, "line": True}, Variant("content", {"content": data})),
        ("open-editor", {"argv": ["vi", "/a"]}, done),
        (
            "host-info",
            None,
            Variant("host-info", {"hostId": "h", "pid": None, "platform": "windows"}),
        ),
        (
            "emit",
            {"event": {"kind": "warning", "path": None, "code": "large", "message": "m"}},
            None,
        ),
    ]
    kind = dict(component.function("flows", "probe").type(component.store).params)[
        "effects"
    ].element
    assert [name for name, _, _ in pairs] == [name for name, _ in kind.cases]

    effects = [Variant(name, payload) for name, payload, _ in pairs]
    flow = component.flow("probe", effects)
    requests = flow.resume([]).payload["requests"]
    assert [request["effect"] for request in requests] == effects
    answers = [
        {"id": request["id"], "outcome": outcome}
        for request, (_, _, outcome) in zip(requests, pairs, strict=True)
        if outcome is not None
    ]
    step = flow.resume(answers)
    assert step.payload["value"].payload["outcomes"] == [outcome or done for _, _, outcome in pairs]


def test_text_answers_a_read_as_well_as_bytes(component: Component) -> None:
    effect = {"path": "/a", "within": None, "offset": 0, "length": 9}
    flow = component.flow("probe", [Variant("read", effect)])
    flow.resume([])
    step = flow.resume(
        [{"id": 0, "outcome": Variant("content", {"content": Variant("text", {"text": "é"})})}]
    )
    assert step.payload["value"].payload["outcomes"] == [
        Variant("content", {"content": Variant("bytes", {"bytes": "é".encode()})})
    ]
