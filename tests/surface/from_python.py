"""Reads the stubs and the typed sources of the Python package."""

from __future__ import annotations

import ast

from surface import Fields, Function, Surface, kebab

# Under another name in the Python package.
RENAMED = {
    "memory-scope": "scope",
    "platform-name": "platform",
    "memdir-error": "error",
    "memory-age": "age",
    "cut-memory": "cut",
    # An open one; `Self` is either.
    "memdir": "store",
    "async-memdir": "store",
    "self": "store",
}
LISTS = {"list", "tuple", "Sequence"}
MAPS = {"dict", "Mapping"}


def read(core: str, rules: str, types: str, memdir: str, errors: str) -> Surface:
    """The surface of `Memdir`; that of `AsyncMemdir` is compared with it by the test."""
    offered = exported(rules)
    functions = {
        kebab(each.name): function(each)
        for each in ast.parse(core).body
        if isinstance(each, ast.FunctionDef) and each.name in offered
    }
    records = {}
    enums = {}
    for each in ast.parse(types).body:
        if isinstance(each, ast.ClassDef):
            records[named(each.name)] = fields(each)
        elif isinstance(each, ast.Assign) and isinstance(each.value, ast.Subscript):
            # A closed list of texts.
            enums[named(ast.unparse(each.targets[0]))] = list(ast.literal_eval(each.value.slice))
    records["error"] = {**fields(class_of(errors, "MemdirError")), "message": "string"}
    return Surface(
        rules=functions,
        operations=operations(memdir, "Memdir"),
        records=records,
        enums=enums,
        properties=properties(memdir, "Memdir"),
    )


def operations(memdir: str, name: str) -> dict[str, Function]:
    """The public methods of a class, of the private base that it may have, and of the objects that
    it has, under the names of both.
    """
    found = class_of(memdir, name)
    methods = {
        kebab(each.name): function(each)
        for each in found.body
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
        and not each.name.startswith("_")
        and not is_property(each)
    }
    for base in bases(found):
        methods = operations(memdir, base) | methods
    for owner, class_name in objects(memdir, found).items():
        # What an object is asked for by belongs to each of its operations.
        given = methods.pop(owner, Function({}, "")).parameters
        methods |= {
            f"{owner}-{method}": Function(given | each.parameters, each.result)
            for method, each in operations(memdir, class_name).items()
        }
    return methods


def objects(memdir: str, found: ast.ClassDef) -> dict[str, str]:
    """What a class has or gives of another class of the same module, with its name."""
    classes = {each.name for each in ast.parse(memdir).body if isinstance(each, ast.ClassDef)}
    results = {
        kebab(each.name): ast.unparse(each.returns)
        for each in found.body
        if isinstance(each, ast.FunctionDef) and each.returns is not None
    }
    return {
        name: result
        for name, result in results.items()
        if result in classes and named(result) != "store"
    }


def exported(source: str) -> list[str]:
    for each in ast.parse(source).body:
        if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == "__all__":
            return list(ast.literal_eval(each.value))
    raise ValueError("no __all__")


def class_of(source: str, name: str) -> ast.ClassDef:
    for each in ast.parse(source).body:
        if isinstance(each, ast.ClassDef) and each.name == name:
            return each
    raise ValueError(f"no class {name}")


def properties(source: str, name: str) -> set[str]:
    """What a class and the private base that it may have give as properties, but for objects."""
    found = class_of(source, name)
    methods = {
        kebab(each.name)
        for each in found.body
        if isinstance(each, ast.FunctionDef) and is_property(each)
    }
    methods -= objects(source, found).keys()
    return methods.union(*(properties(source, base) for base in bases(found)))


def bases(found: ast.ClassDef) -> list[str]:
    return [base.id for base in found.bases if isinstance(base, ast.Name)]


def is_property(found: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(ast.unparse(decorator) == "property" for decorator in found.decorator_list)


def fields(found: ast.ClassDef) -> Fields:
    given = {
        kebab(each.target.id): each.annotation
        for each in found.body
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    }
    # A function of the user's may stand for a text; the WIT has a flag for that.
    asked = {
        f"ask-{name}": "bool" for name, each in given.items() if "Callable" in ast.unparse(each)
    }
    return {name: type_of(each) for name, each in given.items()} | asked


def function(found: ast.FunctionDef | ast.AsyncFunctionDef) -> Function:
    arguments = [*found.args.posonlyargs, *found.args.args, *found.args.kwonlyargs]
    parameters = {
        kebab(each.arg): type_of(each.annotation)
        for each in arguments
        if each.arg not in ("self", "cls") and each.annotation is not None
    }
    return Function(parameters, type_of(found.returns))


def named(name: str) -> str:
    return RENAMED.get(kebab(name), kebab(name))


def type_of(node: ast.expr | None) -> str:
    match node:
        case ast.BinOp(left=left, op=ast.BitOr(), right=ast.Constant(value=None)):
            return type_of(left) + "?"
        case ast.BinOp(left=left, op=ast.BitOr()):
            # Either of several accepted forms: the first is the one that the others stand for.
            return type_of(left)
        case ast.Subscript(value=ast.Name(id="NotRequired"), slice=part):
            return type_of(part)
        case ast.Subscript(value=value, slice=ast.Tuple(elts=[_, ast.Name(id="Any")])):
            return "{any}"
        case ast.Subscript(value=value, slice=ast.Tuple(elts=[part, other])):
            return f"{{{type_of(other)}}}" if type_of(value) in MAPS else f"[{type_of(part)}]"
        case ast.Subscript(value=value, slice=part) if type_of(value) in LISTS:
            return f"[{type_of(part)}]"
        case ast.Attribute(attr=name) | ast.Name(id=name):
            simple = {"str": "string", "int": "number", "float": "number", "bool": "bool"}
            return name if name in LISTS | MAPS else simple.get(name, named(name))
        case ast.Constant(value=None) | None:
            return ""
    raise ValueError(f"cannot read the type {ast.unparse(node)}")
