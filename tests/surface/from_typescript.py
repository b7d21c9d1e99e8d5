"""Reads the declarations that the Node package ships."""

from __future__ import annotations

import re

from surface import Fields, Function, Surface, kebab

# Under another name in the Node package.
RENAMED = {
    "memdir-event": "event",
    "memdir-error": "error",
    "memory-age": "age",
    "cut-memory": "cut",
    "memdir": "store",
}
# What the names of interfaces end with whose fields are parameters; but for those that are values.
OPTIONS = ("Options", "Question", "Input", "NotesDue", "LockLook")
VALUES = {"ModelOptions", "AgentOptions", "TeamOptions"}
# Objects that a store has or gives, and what their operations are called by.
OBJECTS = {"Team": "team", "InboxOperations": "inbox", "SessionNotes": "session"}
# Functions of the user's that stand for a text; for each of them the WIT has a flag.
ASKED = " | TokenFunction"


def read(rules: str, types: str, memdir: str, errors: str, effects: str) -> Surface:
    rules, types, memdir, errors, effects = map(plain, (rules, types, memdir, errors, effects))
    interfaces = {
        name: fields(body)
        for name, body in blocks(types, r"export interface (\w+)(?: extends \w+)? \{")
    }
    options = {
        name: interfaces.pop(name)
        for name in list(interfaces)
        if name.endswith(OPTIONS) and name not in VALUES
    }

    def function(parameters: str, result: str) -> Function:
        found: Fields = {}
        for name, type_ in parts(parameters):
            if type_.startswith("{"):
                found |= fields(balanced(type_, 0)[0])
            elif type_ in options:
                found |= options[type_]
            else:
                found[kebab(name)] = type_of(type_)
        return Function(found, type_of(result))

    def methods(body: str) -> dict[str, Function]:
        found = {}
        for name in re.finditer(r"^ {4}(?:static )?(\w+)\(", body, re.M):
            inner, end = balanced(body, name.end() - 1)
            result = re.match(r": (?:Promise<([^;]+)>|(\w+));", body[end:])
            if result is not None:
                found[kebab(name[1])] = function(inner, result[1] or result[2])
        return found

    functions = {}
    for found in re.finditer(r"export declare function (\w+)\(", rules):
        inner, end = balanced(rules, found.end() - 1)
        result = re.match(r": ([^;]+);", rules[end:])
        assert result is not None, f"no result of {found[1]}"
        functions[kebab(found[1])] = function(inner, result[1])

    ((_, body),) = blocks(memdir, r"export declare class (Memdir) [^{]*\{")
    operations = methods(body)
    for object_, owner in OBJECTS.items():
        ((_, body),) = blocks(types, rf"export interface ({object_}) \{{")
        # What an object is asked for by belongs to each of its operations.
        given = operations.pop(owner, Function({}, "")).parameters
        operations |= {
            f"{owner}-{name}": Function(given | each.parameters, each.result)
            for name, each in methods(body).items()
        }
        del interfaces[object_]

    records = {kebab(name): body for name, body in interfaces.items()}
    ((_, body),) = blocks(errors, r"export declare class (MemdirError) [^{]*\{")
    records["memdir-error"] = {**fields(body), "message": "string"}

    enums = {}
    for name, cases in re.findall(r"export type (\w+) =((?:[\s|]*\"[a-z0-9-]+\")+);", types):
        enums[kebab(name)] = re.findall(r'"([a-z0-9-]+)"', cases)

    ((_, body),) = blocks(effects, r"export interface (Effects) \{")
    asked = {}
    for name, type_ in parts(body):
        asked[name.strip('"')] = fields(balanced(type_, 0)[0]) if type_[0] == "{" else {}
    objects = "|".join(OBJECTS)
    known = re.findall(rf"^ {{4}}(?:readonly|get) (\w+)\b(?!: (?:{objects});)", memdir, re.M)
    properties = set(map(kebab, known))
    return Surface(functions, operations, rename(records), enums, asked, properties)


def plain(text: str) -> str:
    """Without comments."""
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def balanced(text: str, start: int) -> tuple[str, int]:
    """What stands between the bracket at `start` and the one that closes it, and where it ends."""
    depth = 0
    for at in range(start, len(text)):
        if text[at] in "({[<":
            depth += 1
        elif text[at] in ")}]" or (text[at] == ">" and text[at - 1] != "="):
            depth -= 1
            if depth == 0:
                return text[start + 1 : at], at + 1
    raise ValueError(f"a bracket is not closed: {text[start : start + 40]!r}")


def blocks(text: str, opening: str) -> list[tuple[str, str]]:
    return [(found[1], balanced(text, found.end() - 1)[0]) for found in re.finditer(opening, text)]


def parts(text: str) -> list[tuple[str, str]]:
    """Names and types of `name: type` pairs that `,` or `;` separates."""
    pairs = []
    start = depth = 0
    for at, sign in enumerate(text + ";"):
        if sign in "({[<":
            depth += 1
        elif sign in ")}]" or (sign == ">" and text[at - 1] != "="):
            depth -= 1
        elif sign in ",;" and depth == 0:
            pair, start = text[start:at].strip(), at + 1
            found = re.fullmatch(r"(?:readonly )?([\w\"-]+)\??: (.+)", pair, re.S)
            if found is not None:
                pairs.append((found[1], " ".join(found[2].split())))
    return pairs


def fields(text: str) -> Fields:
    found = {kebab(name): type_of(type_.replace(ASKED, "")) for name, type_ in parts(text)}
    return found | {f"ask-{kebab(name)}": "bool" for name, type_ in parts(text) if ASKED in type_}


def type_of(text: str) -> str:
    bare = re.sub(r" \| undefined", "", text.removeprefix("readonly "))
    # Blocks cross as JSON text, too.
    bare = bare.removesuffix(" | readonly Block[]")
    if bare.startswith("Readonly<"):
        return type_of(balanced(bare, len("Readonly"))[0])
    if bare.endswith(" | null"):
        return type_of(bare.removesuffix(" | null")) + "?"
    if bare.endswith("[]"):
        return f"[{type_of(bare.removesuffix('[]'))}]"
    if bare.startswith("Record<string, "):
        return f"{{{type_of(balanced(bare, len('Record'))[0].removeprefix('string, '))}}}"
    simple = {
        "string": "string",
        "number": "number",
        "boolean": "bool",
        "unknown": "any",
        # A string of a certain form.
        "ModelName": "string",
        "void": "",
    }
    name = kebab(bare)
    return simple.get(bare, RENAMED.get(name, name))


def rename(records: dict[str, Fields]) -> dict[str, Fields]:
    return {RENAMED.get(name, name): body for name, body in records.items()}
