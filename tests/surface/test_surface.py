"""The WIT, the Node package and the Python package offer the same: every rule with its parameters
and its result, every operation, every record with its fields, every enum with its cases; and every
rule has vectors.

Effects and outcomes are no part of the packages. The Node host has types for its effects, which
are compared too; tests/conformance holds all hosts against each other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import from_python
import from_typescript
import from_wit
import pytest
from surface import Fields, Function, Surface, compare, differences

ROOT = Path(__file__).resolve().parents[2]
JS = "bindings-js/dist"
PY = "bindings-py/python/memdir"

# What only a face can take: functions of the user's, and cancellation.
FACE_ONLY = {"signal", "on-event", "run", "approve-import"}
# What a face takes in more forms than the WIT.
MANY_FORMS = {"settings", "model", "request"}
# Fields that cross as JSON text and are JSON itself in a face.
JSON_TEXT = {"model-request": "schema", "tool-definition": "input-schema"}
# Records that a face needs only to run an extraction with the user's function.
DRIVEN = {"extraction-step"}
# Values whose fields a face fills in, where they are not given.
FILLED_IN = {"team-options"}
# What a face gives in the form that the vendor's own package takes.
VENDOR_FORMS = {"tool"}
# Python has these enums as plain texts.
LOOSE_IN_PYTHON = frozenset({"error-code", "report-code"})


@dataclass
class Sources:
    """The texts, by path; a test may change one."""

    changed: dict[str, str] = field(default_factory=dict)

    def text(self, path: str) -> str:
        if path in self.changed:
            return self.changed[path]
        file = ROOT / path
        if not file.exists():
            pytest.fail(f"{path} is missing: build the packages first (`make build`)")
        return file.read_text("utf-8")

    @cached_property
    def wit(self) -> Surface:
        return from_wit.read(self.text("wit/memdir.wit"))

    @cached_property
    def node(self) -> Surface:
        names = ["rules", "types", "memdir", "errors", "effects"]
        return from_typescript.read(*(self.text(f"{JS}/{name}.d.ts") for name in names))

    @cached_property
    def python(self) -> Surface:
        names = ["_core.pyi", "rules.py", "_types.py", "_memdir.py", "errors.py"]
        return from_python.read(*(self.text(f"{PY}/{name}") for name in names))

    def of_node(self) -> list[str]:
        found = differences(self.wit, offered(self.node, self.wit))
        return found + compare("effect", names(self.wit.effects), names(self.node.effects))

    def of_python(self) -> list[str]:
        return differences(self.wit, offered(self.python, self.wit), loose=LOOSE_IN_PYTHON)


def offered(face: Surface, wit: Surface) -> Surface:
    """A face without what it must have more than the WIT, or otherwise."""
    operations = {}
    for name, each in face.operations.items():
        wanted = wit.operations.get(name, Function({}, ""))
        operations[name] = Function(
            {
                key: taken(key, type_, wanted.parameters.get(key))
                for key, type_ in each.parameters.items()
                if key not in FACE_ONLY
            },
            # Opening gives an object, which has what the WIT gives as a property.
            wanted.result if name == "open" else each.result,
        )
    operations |= {
        name: wit.operations[name]
        for name in VENDOR_FORMS & operations.keys() & wit.operations.keys()
    }
    records = {name: fields for name, fields in face.records.items() if name not in DRIVEN}
    # In Node the family of an error is a property, in Python it is the class.
    records["error"] = {key: type_ for key, type_ in records["error"].items() if key != "family"}
    for name, field_ in JSON_TEXT.items():
        type_ = records.get(name, {}).get(field_)
        if type_ is not None:
            records[name] = records[name] | {field_: type_.replace("{any}", "string")}
    for name in FILLED_IN & records.keys() & wit.records.keys():
        wanted = wit.records[name]
        records[name] = {
            key: taken(key, type_, wanted.get(key)) for key, type_ in records[name].items()
        }
    return Surface(face.rules, operations, records, face.enums, face.effects, face.properties)


def taken(name: str, type_: str, wanted: str | None) -> str:
    """What a face takes as an option, in the terms of the WIT."""
    # Settings are an object of the language, which the face turns into JSON text; a model is a
    # function, a name or a record; and what a face fills in may be absent.
    if wanted is not None and (name in MANY_FORMS or type_ == wanted + "?"):
        return wanted
    return type_


def names(given: dict[str, Fields]) -> dict[str, Fields]:
    return {name: dict.fromkeys(fields, "field") for name, fields in given.items()}


def test_the_node_package_offers_what_the_wit_does() -> None:
    assert Sources().of_node() == []


def test_the_python_package_offers_what_the_wit_does() -> None:
    assert Sources().of_python() == []


def test_an_open_store_has_what_opening_gave() -> None:
    sources = Sources()
    properties = {"directory", "enabled", "opened"}
    assert sources.node.properties == properties
    assert sources.python.properties == properties
    # The two that are asked for most are short for fields of the third.
    assert properties - {"opened"} <= set(sources.wit.records["opened"])


def test_both_faces_of_python_are_the_same() -> None:
    memdir = Sources().text(f"{PY}/_memdir.py")
    blocking = from_python.operations(memdir, "Memdir")
    waiting = from_python.operations(memdir, "AsyncMemdir")
    # A model of asyncio may be a coroutine function, and so may what runs an extraction.
    for each in (blocking, waiting):
        each["open"].parameters.pop("model")
        each["extract"].parameters.pop("run")
    assert blocking == waiting
    assert from_python.properties(memdir, "AsyncMemdir") == Sources().python.properties


def test_every_rule_has_vectors() -> None:
    # The table of errors takes nothing, and tokens may stand in no file: tests put them together.
    without = {"error_table", "scan_secrets", "redact_secrets"}
    rules = {name.replace("-", "_") for name in Sources().wit.rules} - without
    vectors = {path.stem for path in (ROOT / "tests" / "vectors").glob("*.json")} - {"schema"}
    assert vectors == rules


def test_every_item_of_the_wit_is_documented() -> None:
    lines = Sources().text("wit/memdir.wit").splitlines()
    # Continuations, the ends of blocks, and `use` take no documentation.
    bare = re.compile(r" *(\}.*|///.*|use .*|export .*|)$")
    missing = [
        line.strip()
        for before, line in pairwise(lines)
        if not bare.match(line) and not before.strip().startswith("///")
    ]
    assert missing == []


def test_something_was_compared() -> None:
    for surface in (Sources().wit, Sources().node, Sources().python):
        assert len(surface.rules) >= 57
        assert len(surface.operations) >= 40
        assert len(surface.records) >= 92
        assert all(surface.records.values())
        assert len(surface.enums) >= 34
    assert len(Sources().wit.effects) >= 29


# One change of each kind: the file, what is there, what is put in its place, what is said of it.
CHANGES = [
    ("wit/memdir.wit", "    pinned: bool,\n    /// The front", "    /// The front", "pinned"),
    ("wit/memdir.wit", "  project-slug: func(path: string) -> string;", "", "project-slug"),
    ("wit/memdir.wit", "body: u32,", "body: option<u32>,", "body"),
    ("wit/memdir.wit", "    manifest: func() -> flow;", "", "manifest"),
    ("wit/memdir.wit", "    team,\n", "    team,\n    world,\n", "world"),
    ("wit/memdir.wit", "    chosen-by: source,\n    /// The settings", "    /// The", "chosen-by"),
    ("wit/memdir.wit", "    compacted: func();", "    forgotten: func();", "forgotten"),
    ("wit/memdir.wit", "    cwd: option<string>,\n    /// The user's", "    /// The", "cwd"),
    ("wit/memdir.wit", "    team-index: option<string>,", "", "team-index"),
    ("wit/memdir.wit", "    remote-without-folder,", "", "remote-without-folder"),
    ("wit/memdir.wit", "    score: option<f64>,", "    score: f64,", "score"),
    ("wit/memdir.wit", "    already-read: list<string>,", "", "already-read"),
    ("wit/memdir.wit", "    api-key: option<string>,", "", "api-key"),
    (
        "wit/memdir.wit",
        "    lexical,\n  }\n\n  /// What a conv",
        "  }\n\n  /// What a conv",
        "lexical",
    ),
    ("wit/memdir.wit", "    close: func() -> flow;", "    close: func() -> bool;", "close"),
    ("wit/memdir.wit", "    model-busy,\n", "", "model-busy"),
    ("wit/memdir.wit", "    model: option<model-options>,", "", "model is not in the WIT"),
    ("wit/memdir.wit", "    undo-forget: func(path: option<string>) -> flow;", "", "undo-forget"),
    ("wit/memdir.wit", "    log: func(text: string) -> flow;", "", "operation log"),
    ("wit/memdir.wit", "    tool: func(input: string) -> flow;", "", "operation tool"),
    (
        "wit/memdir.wit",
        "    agent: func(name: string, scope: agent-scope) -> store;",
        "    agent: func(name: string, scope: agent-scope) -> bool;",
        "agent: its result",
    ),
    ("wit/memdir.wit", "    agent: option<agent-options>,", "", "agent is not in the WIT"),
    ("wit/memdir.wit", "    places: memory-places,", "", "opened: places"),
    ("wit/memdir.wit", "    key-twin,\n", "", "key-twin"),
    ("wit/memdir.wit", "    session-transcript,\n", "", "session-transcript"),
    ("wit/memdir.wit", "    index-changed: bool,", "    index: bool,", "index-changed"),
    ("wit/memdir.wit", "    refused,\n", "", "refused is not in the WIT"),
    ("wit/memdir.wit", "    team-keeps-copy,\n", "", "team-keeps-copy"),
    ("wit/memdir.wit", "    team-pull: func() -> flow;", "", "operation team-pull"),
    ("wit/memdir.wit", "func(period-ms: option<u64>)", "func()", "period-ms"),
    ("wit/memdir.wit", "    team: option<team-options>,", "", "team is not in the WIT"),
    ("wit/memdir.wit", "    ask-token: bool,", "", "ask-token"),
    ("wit/memdir.wit", "tuple<string, team-action>>", "tuple<string, string>>", "team-reconcile"),
    ("wit/memdir.wit", "    token(token-effect),", "", "effect token"),
    ("wit/memdir.wit", "    propagate,\n", "", "propagate"),
    ("wit/memdir.wit", "    at-ms: s64,", "", "at-ms"),
    ("wit/memdir.wit", "    shell-redirection,\n", "", "shell-redirection"),
    ("wit/memdir.wit", "    argv: list<string>,", "    argv: string,", "argv"),
    (
        "wit/memdir.wit",
        "    extract: func(messages: list<message>, ",
        "    extract: func(",
        "messages",
    ),
    ("wit/memdir.wit", "    read-roots: list<string>,", "", "read-roots"),
    ("wit/memdir.wit", "    drain: func(timeout-ms: option<u64>) -> flow;", "", "operation drain"),
    ("wit/memdir.wit", "    inbox: func() -> flow;", "", "operation inbox-list"),
    ("wit/memdir.wit", "    left-out: u64,", "", "left-out"),
    ("wit/memdir.wit", "    input-schema: string,", "    input-schema: bool,", "input-schema"),
    ("wit/memdir.wit", "    is-stale: bool,", "", "is-stale"),
    ("wit/memdir.wit", "    too-little,\n", "", "too-little"),
    ("wit/memdir.wit", "    messages-left-out,\n", "", "messages-left-out"),
    ("wit/memdir.wit", "    session-path: func(id: string)", "    session-path: func()", "id"),
    (
        "wit/memdir.wit",
        "    session-update: func(id: string, messages: list<message>, ",
        "    session-update: func(id: string, ",
        "operation session-update: messages",
    ),
    ("wit/memdir.wit", "    natural-break: bool,", "", "natural-break"),
    ("wit/memdir.wit", "    undo-dream: func() -> flow;", "", "operation undo-dream"),
    ("wit/memdir.wit", "    few-sessions,\n", "", "few-sessions"),
    ("wit/memdir.wit", "    keep-from: option<u32>,", "    keep-from: u32,", "keep-from"),
    ("wit/memdir.wit", "    over-limit: list<notes-section>,", "", "over-limit"),
    ("wit/memdir.wit", "    alive: option<bool>,", "    alive: bool,", "alive"),
    ("wit/memdir.wit", "    dry-run: bool,", "", "dry-run"),
    ("wit/memdir.wit", "    agents-md: bool,", "", "agents-md"),
    ("wit/memdir.wit", "    %import,\n", "", "import"),
    ("wit/memdir.wit", "    certain: bool,", "    certain: string,", "certain"),
    ("wit/memdir.wit", "    globs: option<list<string>>,", "    globs: list<string>,", "globs"),
    (
        "wit/memdir.wit",
        "    instructions-for: func(path: string, ",
        "    instructions-for: func(",
        "operation instructions-for: path",
    ),
    ("wit/memdir.wit", "    approve(approve-effect),", "", "effect approve"),
    ("wit/memdir.wit", "    line: bool,", "", "effect read-stdin: line"),
    ("wit/memdir.wit", "    to-send: list<string>,", "    to-send: u32,", "to-send"),
    ("wit/memdir.wit", "entry: option<index-entry>)", "entry: index-entry)", "entry"),
    (f"{JS}/types.d.ts", "    leftOut: number;", "", "left-out"),
    (f"{JS}/memdir.d.ts", "    session(id: ", "    session(name: ", "name"),
    (f"{JS}/memdir.d.ts", "    afterTurn(", "    endTurn(", "end-turn"),
    (f"{JS}/types.d.ts", "    forCompaction(", "    compact(", "session-compact"),
    (f"{JS}/types.d.ts", "    naturalBreak?: ", "    isBreak?: ", "is-break"),
    (
        f"{JS}/rules.d.ts",
        "function estimateTokens(text: ",
        "function estimateTokens(said: ",
        "said",
    ),
    (f"{JS}/types.d.ts", "    readRoots?: ", "    roots?: ", "read-roots"),
    (f"{JS}/types.d.ts", "    apply(id: string", "    take(id: string", "inbox-take"),
    (f"{JS}/memdir.d.ts", "    extract(messages: ", "    extract(said: ", "said"),
    (f"{JS}/types.d.ts", "    countUses?: boolean", "    countUse?: boolean", "count-uses"),
    (
        f"{JS}/types.d.ts",
        "    schema: Record<string, unknown> | null;",
        "    schema: {};",
        "schema",
    ),
    (f"{JS}/types.d.ts", "    apiKey?: ", "    key?: ", "api-key"),
    (f"{JS}/memdir.d.ts", "    recall(query: string", "    recall(text: string", "query"),
    (f"{JS}/memdir.d.ts", "    forget(path: string", "    forget(name: string", "name"),
    (f"{JS}/types.d.ts", "    absolutePath: string | null;", "", "absolute-path"),
    (f"{JS}/types.d.ts", "    mtimeMs: number;", "", "mtime-ms"),
    (f"{JS}/types.d.ts", "    warning: string | null;", "    warning: string;", "warning"),
    (f"{JS}/types.d.ts", '"project" | ', "", "project"),
    (f"{JS}/types.d.ts", "interface ReportEntry", "interface ReportLine", "report-line"),
    (f"{JS}/rules.d.ts", "function teamDelta", "function teamDiff", "team-diff"),
    (f"{JS}/rules.d.ts", "maxBytes?: number", "maxSize?: number", "max-size"),
    (f"{JS}/memdir.d.ts", "    read(path: string", "    read(name: string", "name"),
    (f"{JS}/effects.d.ts", "via: string | null;", "", "via"),
    (f"{JS}/errors.d.ts", "    readonly path: string | null;", "", "path"),
    (f"{PY}/_types.py", "    new_messages: int\n", "", "new-messages"),
    (f"{PY}/_memdir.py", "read_roots: Sequence[str]", "read_roots: str", "read-roots"),
    (f"{PY}/_memdir.py", "    def session(self, id: ", "    def session(self, name: ", "name"),
    (f"{PY}/_memdir.py", "    def for_compaction(", "    def compact(", "session-compact"),
    (f"{PY}/_memdir.py", "    def undo_dream(", "    def wake(", "wake"),
    (f"{PY}/_memdir.py", "    def context(", "    def start(", "start"),
    (f"{PY}/_memdir.py", "excludes: Sequence[str]", "excludes: str", "excludes"),
    (f"{PY}/_types.py", "    differs: bool\n", "", "differs"),
    (f"{PY}/_core.pyi", "def rule_applies(patterns: ", "def rule_applies(globs: ", "globs"),
    (f"{PY}/_types.py", "    keep_from: int | None\n", "", "keep-from"),
    (f"{PY}/_types.py", '    "few-sessions",\n', "", "few-sessions"),
    (f"{PY}/_memdir.py", "    def drain(", "    def drains(", "drains"),
    (f"{PY}/_types.py", "    modified_ms: int | None\n", "", "modified-ms"),
    (f"{PY}/_types.py", '"private", ', "", "private"),
    (f"{PY}/_types.py", "    score: float | None\n", "", "score"),
    (f"{PY}/_types.py", "    state: RecallState\n", "    state: str\n", "state"),
    (f"{PY}/_memdir.py", "already_read: Sequence[str]", "already_read: str", "already-read"),
    (f"{PY}/_core.pyi", "def grant_bytes(used: int", "def grant_bytes(gone: int", "gone"),
    (f"{PY}/_types.py", "    hash: str\n", "", "hash"),
    (f"{PY}/_memdir.py", "expect: str | None", "expects: str | None", "expects"),
    (f"{PY}/_types.py", "    problems: tuple[Problem, ...]", "    problems: str", "problems"),
    (f"{PY}/_core.pyi", "def project_slug(path: str)", "def project_slug(folder: str)", "folder"),
    (f"{PY}/rules.py", '    "truncate_index",\n', "", "truncate-index"),
    (f"{PY}/_memdir.py", "    def scan(", "    def scans(", "scans"),
]


@pytest.mark.parametrize(("path", "old", "new", "named"), CHANGES)
def test_a_difference_is_found(path: str, old: str, new: str, named: str) -> None:
    text = Sources().text(path)
    assert old in text, "the example of a change is out of date"
    sources = Sources({path: text.replace(old, new)})
    found = sources.of_node() + sources.of_python()
    assert any(named in line for line in found), found


def test_a_missing_input_fails() -> None:
    with pytest.raises(pytest.fail.Exception, match="make build"):
        Sources().text("wit/missing.wit")


def test_a_wit_that_is_not_understood_fails() -> None:
    text = Sources().text("wit/memdir.wit")
    for change in ["record scope {}\n  flags x { a }", "/* a */", "type a = b;"]:
        with pytest.raises(ValueError, match="WIT"):
            from_wit.read(text.replace("interface rules {", "interface rules {\n" + change))
