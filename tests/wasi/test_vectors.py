"""Every vector through memdir-core.wasm."""

import json
from pathlib import Path
from typing import Any

import pytest
from component import NO_CHANGES, Component, MemdirError, messages

VECTORS = Path(__file__).resolve().parents[1] / "vectors"
FILES = sorted(path for path in VECTORS.glob("*.json") if path.name != "schema.json")

# The arguments of each rule, by their keys in `input`. A vector file of a rule that is not here
# fails.
ARGUMENTS = {
    "truncate_index": ["text"],
    "parse_frontmatter": ["text"],
    "format_manifest": ["memories"],
    "project_slug": ["path"],
    "injective_key": ["path"],
    "validate_memory_path": ["path", "platform", "home"],
    "env_flag": ["value"],
    "memory_enabled": ["env", "settings"],
    "parse_settings": ["text"],
    "memory_age": ["mtimeMs", "modifiedMs", "nowMs"],
    "default_scope": ["type", "team"],
    "team_delta": ["local", "server"],
    "team_repository": ["remote"],
    "team_reconcile": ["base", "local", "server", "forgotten"],
    "merge_team_index": ["base", "local", "server"],
    "retry_pause_ms": ["retries", "random", "retryAfter"],
    "batch_entries": ["entries", "maxBytes"],
    "tokenize": ["text"],
    "rank_memories": ["query", "memories"],
    "cut_memory": ["text", "size", "path", "maxBytes"],
    "grant_bytes": ["used", "sizes"],
    "read_selection": ["answer", "candidates"],
    "recent_tools": ["results"],
    "read_only_command": ["command"],
    "encode_model_request": ["model", "request"],
    "decode_model_answer": ["name", "status", "body"],
    "encode_tool_request": ["model", "request"],
    "decode_tool_answer": ["name", "status", "body"],
    "conversation_text": ["messages"],
    "decide_extraction": ["messages", "state", "gate"],
    "parse_transcript": ["text"],
    "parse_instructions": ["text"],
    "resolve_import": ["target", "file", "home", "platform"],
    "rule_applies": ["patterns", "path"],
    "instructions_excluded": ["patterns", "paths", "platform"],
    "measure_notes": ["text"],
    "notes_are_empty": ["text", "template"],
    "estimate_tokens": ["text"],
    "fill_template": ["text", "values"],
    "decide_dream": ["gate"],
    "memory_file_name": ["type", "name", "number"],
    "update_memory": ["text", "changes"],
    "update_index": ["text", "folder", "path", "entry"],
    "validate_team_key": ["key", "others"],
    "classify_path": ["path", "places"],
    "classify_tool_call": ["name", "input", "places"],
    "may_write": ["path", "places"],
    "summarise_tool_calls": ["calls", "done"],
}
# Their one argument is a record: `input` itself.
OF_A_RECORD = {
    *("choose_directory", "lint_memories", "session_notes_due", "compaction_cut", "lock_is_held"),
    "instruction_places",
}


def expand(value: Any) -> Any:
    """Writes out `{"repeat": [[text, count], ...]}`."""
    if isinstance(value, list):
        return [expand(item) for item in value]
    if isinstance(value, dict):
        if set(value) == {"repeat"}:
            return "".join(text * count for text, count in value["repeat"])
        return {key: expand(item) for key, item in value.items()}
    return value


def fits(actual: Any, expected: Any) -> bool:
    """Whether all that is expected is there."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        return all(key in actual and fits(actual[key], value) for key, value in expected.items())
    if isinstance(expected, list) and isinstance(actual, list):
        return len(actual) == len(expected) and all(map(fits, actual, expected))
    return type(actual) is type(expected) and actual == expected


def cases() -> list[Any]:
    found = []
    for path in FILES:
        document = json.loads(path.read_text("utf-8"))
        assert document["rule"] == path.stem, f"{path.name} is about another rule"
        for case in document["cases"]:
            found.append(pytest.param(path.stem, case, id=f"{path.stem}: {case['name']}"))
    return found


def complete(rule: str, given: dict[str, Any]) -> dict[str, Any]:
    """Records of a WIT have no defaults, and JSON crosses as text."""
    match rule:
        case "rank_memories":
            memories = [{"ageDays": 0, "uses": 0, **memory} for memory in given["memories"]]
            return given | {"memories": memories}
        case "recent_tools":
            return {"results": [{"ok": None, **result} for result in given["results"]]}
        case "encode_model_request":
            request = {"schema": None, **given["request"]}
            if request["schema"] is not None:
                request["schema"] = json.dumps(request["schema"])
            return {
                "model": {"apiKey": None, "baseUrl": None, **given["model"]},
                "request": request,
            }
        case "encode_tool_request":
            tools = [
                tool | {"inputSchema": json.dumps(tool["inputSchema"])}
                for tool in given["request"]["tools"]
            ]
            return {
                "model": {"apiKey": None, "baseUrl": None, **given["model"]},
                "request": given["request"] | {"tools": tools},
            }
        case "decide_extraction" | "conversation_text":
            return given | {"messages": messages(given["messages"])}
        case "session_notes_due":
            return {"naturalBreak": False, "lastTurnCalls": False, **given}
        case "compaction_cut":
            said = {"messages": messages(given["messages"])}
            return {"lastSummarised": None, "notes": None, "boundary": None} | given | said
        case "decide_dream":
            unknown = {"lastMs": None, "countedMs": None, "sessions": None}
            return {"gate": unknown | given["gate"]}
        case "lock_is_held":
            return {"alive": None} | given
        case "update_memory":
            return given | {"changes": NO_CHANGES | given["changes"]}
        case "update_index" if given["entry"] is not None:
            return given | {"entry": {"description": None, **given["entry"]}}
    return given


def plain(rule: str, result: Any) -> Any:
    """JSON that crossed as text."""
    if rule == "parse_transcript":
        for message in result["messages"]:
            message["content"] = json.loads(message["content"])
    return result


def arguments(rule: str, given: dict[str, Any]) -> list[Any]:
    if rule in OF_A_RECORD:
        return [given]
    assert set(given) == set(ARGUMENTS[rule])
    return [given[key] for key in ARGUMENTS[rule]]


@pytest.mark.parametrize(("rule", "case"), cases())
def test_vector(component: Component, rule: str, case: dict[str, Any]) -> None:
    assert set(case) <= {"name", "input", "ok", "err", "partial"}
    given = arguments(rule, complete(rule, expand(case["input"])))
    name = rule.replace("_", "-")
    if "err" in case:
        with pytest.raises(MemdirError) as failed:
            component.rule(name, *given)
        assert failed.value.code == case["err"]
        return
    actual, expected = plain(rule, component.rule(name, *given)), expand(case["ok"])
    if case.get("partial"):
        assert fits(actual, expected), f"{actual!r} does not fit {expected!r}"
    else:
        assert actual == expected


def test_there_are_vectors() -> None:
    assert sorted([*ARGUMENTS, *OF_A_RECORD]) == [path.stem for path in FILES]
    assert len(cases()) >= 1000
