"""Every file of vectors is what `tests/vectors/schema.json` says it is."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

FOLDER = Path(__file__).parents[1] / "vectors"
SCHEMA = json.loads((FOLDER / "schema.json").read_text(encoding="utf-8"))
FILES = sorted(path for path in FOLDER.glob("*.json") if path.name != "schema.json")


def test_the_schema_knows_every_rule() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    known = {rule["if"]["properties"]["rule"]["const"] for rule in SCHEMA["allOf"]}
    assert known == {path.stem for path in FILES}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_vectors_follow_the_schema(path: Path) -> None:
    file: Any = json.loads(path.read_text(encoding="utf-8"))
    found = jsonschema.Draft202012Validator(SCHEMA).iter_errors(file)
    assert [f"{error.json_path}: {error.message}" for error in found] == []
