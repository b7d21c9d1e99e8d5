"""The examples of the README run as they stand, but for the home directory."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from memdir import __version__

TEXT = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
HOME = "/home/me"


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_example(
    example: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = tmp_path / "notes" / "memory"
    store.mkdir(parents=True)
    (store / "a.md").write_text("---\ndescription: an example\n---\n", encoding="utf-8")
    # The store of every project.
    monkeypatch.setenv("CLAUDE_COWORK_MEMORY_PATH_OVERRIDE", str(store))
    assert HOME in example
    exec(compile(example.replace(HOME, tmp_path.as_posix()), "README.md", "exec"), {})
    assert "an example" in capsys.readouterr().out


def test_version() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", __version__)
