"""What a package offers, in one form for all languages, and how two of them differ.

Names are in kebab-case. Types are written `string`, `bool`, `number`, `bytes`, `[T]` for a list,
`{T}` for a map from strings, `T?` for what may be absent, or the name of a record or an enum.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

Fields = dict[str, str]


@dataclass(frozen=True)
class Function:
    """Options that a language groups in an object stand among the parameters."""

    parameters: Fields
    result: str


@dataclass
class Surface:
    rules: dict[str, Function] = field(default_factory=dict)
    operations: dict[str, Function] = field(default_factory=dict)
    records: dict[str, Fields] = field(default_factory=dict)
    enums: dict[str, list[str]] = field(default_factory=dict)
    effects: dict[str, Fields] = field(default_factory=dict)
    # What an open store has.
    properties: set[str] = field(default_factory=set)


def kebab(name: str) -> str:
    """From camelCase, PascalCase or snake_case."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name.replace("_", "-")).lower()


def differences(wit: Surface, face: Surface, *, loose: frozenset[str] = frozenset()) -> list[str]:
    """One line for each thing that only one of them has or that is of another type.

    `loose` are enums that the face has as plain strings.
    """

    def type_of(name: str) -> str:
        bare = name.strip("[]?")
        return name.replace(bare, "string") if bare in loose else name

    def fields(given: Fields) -> Fields:
        return {name: type_of(type_) for name, type_ in given.items()}

    def functions(given: Mapping[str, Function]) -> dict[str, Fields]:
        return {
            name: {**fields(each.parameters), "its result": type_of(each.result)}
            for name, each in given.items()
        }

    found = compare("rule", functions(wit.rules), functions(face.rules))
    found += compare("operation", functions(wit.operations), functions(face.operations))
    records = {name: fields(each) for name, each in wit.records.items()}
    found += compare("record", records, {name: fields(each) for name, each in face.records.items()})
    enums = {name: cases for name, cases in wit.enums.items() if name not in loose}
    found += compare("enum", as_fields(enums), as_fields(face.enums))
    return found


def compare(what: str, wit: dict[str, Fields], face: dict[str, Fields]) -> list[str]:
    found = [f"the {what} {name} is only in the WIT" for name in wit.keys() - face.keys()]
    found += [f"the {what} {name} is not in the WIT" for name in face.keys() - wit.keys()]
    for name in wit.keys() & face.keys():
        one, other = wit[name], face[name]
        found += [f"{what} {name}: {part} is only in the WIT" for part in one.keys() - other.keys()]
        found += [f"{what} {name}: {part} is not in the WIT" for part in other.keys() - one.keys()]
        found += [
            f"{what} {name}: {part} is {other[part]}, in the WIT {one[part]}"
            for part in one.keys() & other.keys()
            if one[part] != other[part]
        ]
    return sorted(found)


def as_fields(enums: Mapping[str, list[str]]) -> dict[str, Fields]:
    return {name: dict.fromkeys(cases, "case") for name, cases in enums.items()}
