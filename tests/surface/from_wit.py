"""Reads wit/memdir.wit: a small parser of the part of WIT that the file uses; all else fails."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from surface import Fields, Function, Surface

TOKEN = re.compile(r"///[^\n]*|//[^\n]*|\s+|%?[a-z][a-z0-9-]*|->|@[0-9.]+|[0-9]+|[{}()<>:;,.=]")
NUMBERS = {"u8", "u16", "u32", "u64", "s32", "s64", "f64"}
# What the value of an operation is called when it is not called as the operation.
RESULTS = {
    "read": "memory-file",
    "save": "write-result",
    "log": "write-result",
    "tool": "answer",
    "forget": "write-result",
    "undo-forget": "write-result",
    "close": "nothing",
    "team-pull": "team-sync",
    "team-push": "team-sync",
    "team-watch": "nothing",
    "team-conflicts": "conflicts",
    "team-conflict": "conflict-file",
    "team-restore": "write-result",
    "team-drop": "nothing",
    "extract": "extraction",
    "drain": "drained",
    "apply-proposal": "inbox-result",
    "drop-proposal": "left",
    "session-update": "notes-result",
    "session-notes": "notes",
    "session-compaction": "compaction",
    "session-path": "notes-path",
    "undo-dream": "dream-undone",
    "instructions-for": "instructions",
}
# Operations of an object that the packages have, under its name and theirs.
OF_OBJECTS = {
    "inbox": "inbox-list",
    "apply-proposal": "inbox-apply",
    "drop-proposal": "inbox-drop",
    "session-compaction": "session-for-compaction",
}
# What a package does itself when an extraction is given a function that runs it.
DRIVEN = {"begin-extraction", "call-tool", "end-extraction"}
# Their fields are parameters in the packages.
OPTIONS = {
    *("open-options", "prompt-options", "recall-options", "save-options", "forget-options"),
    *("extract-options", "directory-question", "lint-input", "notes-options", "notes-due"),
    *("compaction-options", "compaction-question", "dream-options", "lock-look"),
    *("after-turn-options", "instructions-options", "places-question"),
}
# Records and enums of the flows that the packages show too.
SHOWN = {
    *("opened", "features", "scan", "memory-file", "lint", "event"),
    *("recall", "recalled-memory", "recall-state", "write-result"),
    *("team-options", "team-sync", "team-status", "conflict", "conflict-file"),
    *("extraction", "extraction-task", "tool-reply", "run-report"),
    *("inbox", "inbox-item", "inbox-change", "inbox-result"),
    *("notes-state", "notes-result", "dream", "dream-undone", "after-turn"),
    *("instructions", "instruction-file", "load-entry", "load-note", "context", "context-part"),
}
SHOWN_ENUMS = {
    *("strategy", "recall-reason", "write-outcome", "team-deletions"),
    *("extraction-outcome", "run-end", "inbox-change-kind"),
    *("notes-outcome", "notes-skip", "dream-outcome"),
    *("load-kind", "load-outcome", "context-kind"),
}


@dataclass
class Interface:
    records: dict[str, Fields] = field(default_factory=dict)
    enums: dict[str, list[str]] = field(default_factory=dict)
    variants: dict[str, dict[str, str | None]] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    resources: dict[str, dict[str, Function]] = field(default_factory=dict)


class Parser:
    def __init__(self, text: str) -> None:
        self.tokens: list[str] = []
        at = 0
        while at < len(text):
            found = TOKEN.match(text, at)
            if found is None:
                raise ValueError(f"cannot read the WIT at {text[at : at + 40]!r}")
            at = found.end()
            if not found[0].isspace() and not found[0].startswith("//"):
                self.tokens.append(found[0])
        self.tokens.reverse()

    def next(self, *expected: str) -> str:
        token = self.tokens.pop()
        if expected and token not in expected:
            raise ValueError(f"the WIT has {token!r} where {expected} is expected")
        return token.removeprefix("%")

    def takes(self, token: str) -> bool:
        if self.tokens and self.tokens[-1] == token:
            self.tokens.pop()
            return True
        return False

    def skip(self, end: str) -> None:
        while self.tokens.pop() != end:
            pass

    def file(self) -> dict[str, Interface]:
        interfaces = {}
        while self.tokens:
            if self.takes("package") or self.takes("use"):
                self.skip(";")
            elif self.takes("world"):
                self.skip("}")
            else:
                self.next("interface")
                name = self.next()
                interfaces[name] = self.interface()
        return interfaces

    def interface(self) -> Interface:
        found = Interface()
        self.next("{")
        while not self.takes("}"):
            match self.next():
                case "use":
                    self.skip(";")
                case "record":
                    name = self.next()
                    found.records[name] = self.fields("{", "}")
                case "enum":
                    name = self.next()
                    found.enums[name] = list(self.cases())
                case "variant":
                    name = self.next()
                    found.variants[name] = self.cases()
                case "resource":
                    name = self.next()
                    found.resources[name] = self.resource()
                case name:
                    self.next(":")
                    found.functions[name] = self.function()
        return found

    def fields(self, opening: str, closing: str) -> Fields:
        fields = {}
        self.next(opening)
        while not self.takes(closing):
            name = self.next()
            self.next(":")
            fields[name] = self.type()
            if not self.takes(","):
                self.next(closing)
                break
        return fields

    def cases(self) -> dict[str, str | None]:
        cases: dict[str, str | None] = {}
        self.next("{")
        while not self.takes("}"):
            name = self.next()
            cases[name] = None
            if self.takes("("):
                cases[name] = self.type()
                self.next(")")
            self.next(",")
        return cases

    def resource(self) -> dict[str, Function]:
        methods = {}
        self.next("{")
        while not self.takes("}"):
            name = self.next()
            if name == "constructor":
                methods[name] = Function(self.fields("(", ")"), "")
                self.next(";")
            else:
                self.next(":")
                methods[name] = self.function()
        return methods

    def function(self) -> Function:
        self.next("func")
        parameters = self.fields("(", ")")
        result = self.type() if self.takes("->") else ""
        self.next(";")
        return Function(parameters, result)

    def type(self) -> str:
        name = self.next()
        if not self.takes("<"):
            return "number" if name in NUMBERS else name
        if name == "list" and self.takes("u8"):
            self.next(">")
            return "bytes"
        parts = [self.type()]
        while self.takes(","):
            parts.append(self.type())
        self.next(">")
        match name, parts:
            case "option", [part]:
                return f"{part}?"
            case "list", [part] if found := re.fullmatch(r"\(string, (.+)\)", part):
                return f"{{{found[1]}}}"
            case "list", [part]:
                return f"[{part}]"
            case "tuple", [one, other]:
                return f"({one}, {other})"
            case "result", [part, "error"]:
                return part
        raise ValueError(f"the WIT has a type {name}<{', '.join(parts)}>")


def read(text: str) -> Surface:
    interfaces = Parser(text).file()
    rules, flows = interfaces["rules"], interfaces["flows"]
    values = flows.variants["value"]

    records = rules.records | flows.records

    def flat(parameters: Fields) -> Fields:
        """Records of options stand for their fields."""
        found: Fields = {}
        for name, type_ in parameters.items():
            found |= records[type_] if type_ in OPTIONS else {name: type_}
        return found

    def result(operation: str, given: str) -> str:
        if given != "flow":
            return given
        record = values[RESULTS.get(operation, operation)]
        if record is None:
            return ""
        match list(records[record].items()):
            case [(name, type_)] if name == record:
                return type_
        return record

    store = dict(flows.resources["store"])
    opening = store.pop("constructor")
    del store["open"]
    operations = {
        OF_OBJECTS.get(name, name): Function(flat(each.parameters), result(name, each.result))
        for name, each in store.items()
        if name not in DRIVEN
    }
    operations["open"] = Function(flat(opening.parameters), "opened")

    effects = {
        name: flows.records[record] if record else {}
        for name, record in flows.variants["effect"].items()
    }
    shown = (rules.records.keys() - OPTIONS) | SHOWN
    return Surface(
        rules={
            name: Function(flat(each.parameters), each.result)
            for name, each in rules.functions.items()
        },
        operations=operations,
        records={name: records[name] for name in shown},
        enums=rules.enums | {name: flows.enums[name] for name in SHOWN_ENUMS},
        effects=effects,
    )
