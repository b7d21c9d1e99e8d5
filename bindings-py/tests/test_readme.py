"""The examples of the README run as they stand, but for the folder."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from memdir import __version__

TEXT = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
FOLDER = "/home/me/notes/memory"


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_example(example: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.md").write_text("---\ndescription: an example\n---\n", encoding="utf-8")
    assert FOLDER in example
    exec(compile(example.replace(FOLDER, tmp_path.as_posix()), "README.md", "exec"), {})
    assert "an example" in capsys.readouterr().out


def test_version() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", __version__)
