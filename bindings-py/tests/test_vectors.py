"""Every vector of `tests/vectors` against `memdir.rules`."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any

import pytest
from conftest import REPOSITORY
from memdir import (
    CallResult,
    DreamGate,
    ExtractionGate,
    ExtractionState,
    IndexEntry,
    LintMemory,
    MemdirError,
    MemoryChanges,
    MemoryHeader,
    MemoryPlaces,
    ModelMessage,
    ModelOptions,
    ModelRequest,
    RankedMemory,
    TemplateValues,
    ToolClass,
    ToolDefinition,
    ToolRequest,
    ToolResult,
    ToolTurn,
    rules,
)

FOLDER = REPOSITORY / "tests" / "vectors"


def expand(value: Any) -> Any:
    if isinstance(value, list):
        return [expand(item) for item in value]
    if isinstance(value, dict):
        if value.keys() == {"repeat"} and isinstance(value["repeat"], list):
            return "".join(text * count for text, count in value["repeat"])
        return {key: expand(item) for key, item in value.items()}
    return value


def snake_case(name: str) -> str:
    return re.sub(r"[A-Z]", lambda letter: "_" + letter[0].lower(), name)


def camel_case(name: str) -> str:
    return re.sub(r"_([a-z])", lambda letter: letter[1].upper(), name)


def plain(value: Any) -> Any:
    """The JSON of a result."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = dataclasses.fields(value)
        return {camel_case(field.name): plain(getattr(value, field.name)) for field in fields}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


def given(expected: Any, actual: Any) -> Any:
    """What of `actual` is compared in a partial case."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        return {key: given(value, actual.get(key)) for key, value in expected.items()}
    if isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        return [given(e, a) for e, a in zip(expected, actual, strict=True)]
    return actual


def snake_cased(given: dict[str, Any]) -> dict[str, Any]:
    return {snake_case(key): value for key, value in given.items()}


RECORDS: dict[str, tuple[str, type]] = {
    "decide_dream": ("gate", DreamGate),
    "fill_template": ("values", TemplateValues),
    "update_memory": ("changes", MemoryChanges),
}


def arguments(rule: str, given: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    named = snake_cased(given)
    memory = {
        "format_manifest": MemoryHeader,
        "lint_memories": LintMemory,
        "rank_memories": RankedMemory,
    }.get(rule)
    if memory is not None:
        named["memories"] = [memory(**snake_cased(one)) for one in named["memories"]]
    if rule in RECORDS:
        name, record = RECORDS[rule]
        named[name] = record(**snake_cased(named[name]))
    if "places" in named:
        named["places"] = MemoryPlaces(**snake_cased(named["places"]))
    if rule == "summarise_tool_calls":
        named["calls"] = [ToolClass(**one) for one in named["calls"]]
    if rule == "recent_tools":
        named["results"] = [ToolResult(**one) for one in named["results"]]
    if rule == "encode_model_request":
        named["model"] = ModelOptions(**snake_cased(named["model"]))
        request = snake_cased(named["request"])
        request["messages"] = tuple(ModelMessage(**one) for one in request["messages"])
        named["request"] = ModelRequest(**request)
    if rule == "encode_tool_request":
        named["model"] = ModelOptions(**snake_cased(named["model"]))
        request = snake_cased(named["request"])
        request["tools"] = tuple(
            ToolDefinition(**snake_cased(one)) for one in request.get("tools", ())
        )
        request["turns"] = tuple(
            ToolTurn(
                answer=turn["answer"],
                results=tuple(CallResult(**snake_cased(one)) for one in turn["results"]),
            )
            for turn in request.get("turns", ())
        )
        named["request"] = ToolRequest(**request)
    if rule == "decide_extraction":
        named["state"] = ExtractionState(**named["state"])
        gate = snake_cased(named["gate"])
        if gate.get("places") is not None:
            gate["places"] = MemoryPlaces(**snake_cased(gate["places"]))
        named["gate"] = ExtractionGate(**gate)
    if rule == "update_index" and named["entry"] is not None:
        named["entry"] = IndexEntry(**named["entry"])
    if rule == "parse_frontmatter":
        return [named.pop("text")], named
    return [], named


def cases() -> list[Any]:
    found = []
    for path in sorted(FOLDER.glob("*.json")):
        if path.name == "schema.json":
            continue
        file = json.loads(path.read_text(encoding="utf-8"))
        assert file.keys() == {"rule", "doc", "cases"}, path.name
        assert file["rule"] == path.stem
        assert file["rule"] in rules.__all__, f"unknown rule {file['rule']}"
        assert file["cases"], f"{path.name} has no case"
        for case in file["cases"]:
            assert case.keys() <= {"name", "input", "ok", "err", "partial"}, case["name"]
            found.append(pytest.param(file["rule"], case, id=f"{path.stem}: {case['name']}"))
    return found


@pytest.mark.parametrize(("rule", "case"), cases())
def test_vector(rule: str, case: dict[str, Any]) -> None:
    positional, named = arguments(rule, expand(case["input"]))
    call = getattr(rules, rule)
    if "err" in case:
        with pytest.raises(MemdirError) as raised:
            call(*positional, **named)
        assert raised.value.code == case["err"]
        return
    expected = expand(case["ok"])
    actual = plain(call(*positional, **named))
    if rule == "parse_frontmatter" or case.get("partial"):
        # The messages of problems are free text and left out of the vectors.
        actual = given(expected, actual)
    assert actual == expected


def test_a_tool_call_as_a_mapping() -> None:
    """What the vectors say of JSON text holds for the same as a mapping."""
    file = json.loads((FOLDER / "classify_tool_call.json").read_text(encoding="utf-8"))
    compared = 0
    for case in file["cases"]:
        _, named = arguments(file["rule"], expand(case["input"]))
        try:
            given = json.loads(named["input"])
        except ValueError:
            continue
        if isinstance(given, dict):
            found = plain(rules.classify_tool_call(**named | {"input": given}))
            assert found == plain(rules.classify_tool_call(**named))
            compared += 1
    assert compared


def test_a_tool_call_that_is_no_json() -> None:
    places = MemoryPlaces(platform="posix", store="/mem")
    with pytest.raises(MemdirError) as raised:
        rules.classify_tool_call("Read", {"file_path": float("nan")}, places)
    assert raised.value.code == "invalid-argument"
    for given in (["/mem/a.md"], None, {"file_path": b"/mem/a.md"}):
        with pytest.raises(TypeError):
            rules.classify_tool_call("Read", given, places)  # type: ignore[arg-type]


def test_a_class_of_a_call_that_there_is_not() -> None:
    for call in (
        ToolClass(kind="house", action="read"),  # type: ignore[arg-type]
        ToolClass(kind="team", action="dance"),  # type: ignore[arg-type]
    ):
        with pytest.raises(MemdirError, match="expected one of") as raised:
            rules.summarise_tool_calls([call], done=True)
        assert raised.value.code == "invalid-argument"


def test_there_are_vectors_for_every_rule() -> None:
    files = {path.stem for path in FOLDER.glob("*.json")} - {"schema"}
    # No token stands in a file, so those of secrets are made in test_secrets.py.
    assert set(rules.__all__) - {"error_table", "scan_secrets", "redact_secrets"} <= files
