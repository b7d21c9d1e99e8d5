"""Calls memdir-core.wasm with plain Python values, whatever the WIT says: the types are asked."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from wasmtime import Engine, Store
from wasmtime import component as wasm
from wasmtime.component import Variant

__all__ = [
    "AFTER_TURN_OPTIONS",
    "COMMAND_OPTIONS",
    "COMPACTION_OPTIONS",
    "DREAM_OPTIONS",
    "EXTRACT_OPTIONS",
    "FEATURES",
    "FORGET_OPTIONS",
    "INSTRUCTIONS_OPTIONS",
    "NOTES_OPTIONS",
    "NO_CHANGES",
    "PROMPT_OPTIONS",
    "RECALL_OPTIONS",
    "SAVE_OPTIONS",
    "TEAM_OPTIONS",
    "Component",
    "Flow",
    "MemdirError",
    "Variant",
    "messages",
]


# What the packages fill in for options that are not given.
FEATURES = {
    "team": False,
    "extract": False,
    "extractNonInteractive": False,
    "oneStep": False,
    "dailyLog": False,
    "dream": False,
    "extractEvery": 1,
    "countUses": True,
}
OPEN_OPTIONS = {
    "directory": None,
    "cwd": None,
    "home": None,
    "env": {},
    "settings": None,
    "platform": None,
    "model": None,
    "agent": None,
    "team": None,
    "features": FEATURES,
}
TEAM_OPTIONS = {
    "url": None,
    "token": None,
    "askToken": False,
    "repository": None,
    "deletions": "keep",
}
PROMPT_OPTIONS = {"index": True, "pastContext": False, "guidelines": []}
INSTRUCTIONS_OPTIONS = {
    "agentsMd": False,
    "user": True,
    "project": True,
    "local": True,
    "additionalDirectories": [],
    "excludes": [],
    "approved": [],
    "loaded": [],
}
RECALL_OPTIONS = {
    "limit": None,
    "strategy": "auto",
    "recentTools": [],
    "toolResults": [],
    "surfaced": [],
    "alreadyRead": [],
    "state": {"surfaced": [], "bytes": 0},
}
# What changes nothing.
NO_CHANGES = {"name": None, "description": None, "type": None, "modified": None, "body": None}
SAVE_OPTIONS = {
    "type": None,
    "name": None,
    "description": None,
    "body": None,
    "scope": None,
    "path": None,
    "expect": None,
}
FORGET_OPTIONS = {"expect": None}
EXTRACT_OPTIONS = {
    "agent": "main",
    "interactive": True,
    "remote": False,
    "session": "",
    "state": None,
    "request": None,
    "readRoots": [],
    "review": False,
}
NOTES_OPTIONS = {"force": False, "naturalBreak": False, "request": None, "state": None}
COMPACTION_OPTIONS = {"boundary": None, "state": None}
DREAM_OPTIONS = {
    "force": False,
    "dryRun": False,
    "logs": False,
    "session": None,
    "remote": False,
    "readRoots": [],
}
AFTER_TURN_OPTIONS = {
    "agent": "main",
    "interactive": True,
    "remote": False,
    "session": None,
    "request": None,
    "readRoots": [],
    "review": False,
    "naturalBreak": False,
    "extraction": None,
    "notes": None,
}
COMMAND_OPTIONS = {"args": [], "cwd": None, "home": None, "env": {}}


def messages(said: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Messages as they are written in JSON; what they say crosses as text."""
    return [
        {"id": None, "isMeta": False, "tokens": None}
        | message
        | {"content": json.dumps(message["content"])}
        for message in said
    ]


class MemdirError(Exception):
    """A rule or a flow answered with an error record."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(f"{error['code']}: {error['message']}")
        self.code: str = error["code"]
        self.message: str = error["message"]
        self.path: str | None = error["path"]


class Component:
    def __init__(self, path: Path) -> None:
        engine = Engine()
        component = wasm.Component.from_file(engine, str(path))
        self.type = component.type
        self.imports = list(component.type.imports(engine))
        self.store = Store(engine)
        # Nothing is linked, so this fails when the component imports anything.
        self.instance = wasm.Linker(engine).instantiate(self.store, component)
        self._functions: dict[str, wasm.Func] = {}

    def function(self, interface: str, name: str) -> wasm.Func:
        key = f"{interface}.{name}"
        if key not in self._functions:
            outer = self.instance.get_export_index(self.store, f"memdir:memdir/{interface}@0.1.0")
            assert outer is not None, f"no interface {interface}"
            inner = self.instance.get_export_index(self.store, name, outer)
            found = inner and self.instance.get_func(self.store, inner)
            if found is None:
                raise LookupError(f"memdir-core.wasm has no {key}")
            self._functions[key] = found
        return self._functions[key]

    def call(self, interface: str, name: str, *arguments: Any) -> Any:
        function = self.function(interface, name)
        kind = function.type(self.store)
        given = [
            lower(type_, value) for (_, type_), value in zip(kind.params, arguments, strict=True)
        ]
        result = function(self.store, *given)
        if isinstance(kind.result, wasm.ResultType):
            # Where its two classes differ, wasmtime gives the bare value of either.
            if not isinstance(result, Variant):
                result = Variant("err" if isinstance(result, wasm.Record) else "ok", result)
            if result.tag == "err":
                raise MemdirError(lift(kind.result.err, result.payload))
            return lift(kind.result.ok, result.payload)
        return None if kind.result is None else lift(kind.result, result)

    def rule(self, name: str, *arguments: Any) -> Any:
        return self.call("rules", name, *arguments)

    def open(self, directory: str | Path | None = None, **options: Any) -> Any:
        given = OPEN_OPTIONS | {"directory": directory and str(directory)} | options
        return self.call("flows", "[constructor]store", given)

    def method(self, store: Any, name: str, *arguments: Any) -> Any:
        """What needs no flow."""
        return self.call("flows", f"[method]store.{name}", store, *arguments)

    def flow(self, name: str, *arguments: Any) -> Flow:
        """`command` and `probe`, or with a dot the method of a store."""
        name = f"[method]{name}" if "." in name else name
        return Flow(self, self.call("flows", name, *arguments))


class Flow:
    def __init__(self, component: Component, handle: Any) -> None:
        self.component = component
        self.handle = handle

    def resume(self, responses: list[dict[str, Any]]) -> Variant:
        return self.component.call("flows", "[method]flow.resume", self.handle, responses)

    def cancel(self) -> None:
        self.component.call("flows", "[method]flow.cancel", self.handle)

    def drop(self) -> None:
        self.handle.drop(self.component.store)

    def run(self, perform: Any) -> Any:
        """Drives the flow to its end; `perform` turns one effect into its outcome."""
        step = self.resume([])
        while step.tag == "effects":
            responses = []
            for request in step.payload["requests"]:
                outcome = perform(request["effect"])
                if outcome is not None:
                    responses.append({"id": request["id"], "outcome": outcome})
            step = self.resume(responses)
        self.drop()
        if step.tag == "failed":
            raise MemdirError(step.payload)
        return step.payload["value"].payload


def camel(name: str) -> str:
    return re.sub(r"-(.)", lambda match: match[1].upper(), name)


def is_map(type_: Any) -> bool:
    element = type_.element
    return (
        isinstance(element, wasm.TupleType)
        and len(element.elements) == 2
        and isinstance(element.elements[0], wasm.String)
    )


def lower(type_: Any, value: Any) -> Any:
    """From plain values to what wasmtime takes."""
    if isinstance(type_, wasm.RecordType):
        record = wasm.Record()
        left = dict(value)
        for name, field in type_.fields:
            setattr(record, name, lower(field, left.pop(camel(name))))
        if left:
            raise TypeError(f"no such fields: {', '.join(left)}")
        return record
    if isinstance(type_, wasm.OptionType):
        return None if value is None else lower(type_.payload, value)
    if isinstance(type_, wasm.VariantType):
        kind = dict(type_.cases)[value.tag]
        return Variant(value.tag, None if kind is None else lower(kind, value.payload))
    if isinstance(type_, wasm.ListType) and not isinstance(value, bytes):
        if is_map(type_):
            return list(value.items())
        element = type_.element
        return [lower(element, item) for item in value]
    return value


def lift(type_: Any, value: Any) -> Any:
    """From what wasmtime gives to plain values."""
    if isinstance(type_, wasm.RecordType):
        return {camel(name): lift(field, getattr(value, name)) for name, field in type_.fields}
    if isinstance(type_, wasm.OptionType):
        return None if value is None else lift(type_.payload, value)
    if isinstance(type_, wasm.VariantType):
        kind = dict(type_.cases)[value.tag]
        return Variant(value.tag, None if kind is None else lift(kind, value.payload))
    if isinstance(type_, wasm.ListType) and not isinstance(value, bytes):
        if is_map(type_):
            return dict(value)
        element = type_.element
        return [lift(element, item) for item in value]
    return value
