"""The examples of the README run as they stand, but for the home directory."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from memdir import __version__
from provider import chose, providing

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
    (store / "deploys.md").write_text(
        "---\ndescription: an example of when to deploy\n---\nNever on a Friday.\n",
        encoding="utf-8",
    )
    # The store of every project.
    monkeypatch.setenv("CLAUDE_COWORK_MEMORY_PATH_OVERRIDE", str(store))
    assert HOME in example
    code = compile(example.replace(HOME, tmp_path.as_posix()), "README.md", "exec")
    with providing(chose("anthropic", "deploys.md")) as provider:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", provider.url)
        exec(code, {})
    assert "an example" in capsys.readouterr().out
    assert len(provider.seen) == ("anthropic/" in example)


def test_version() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", __version__)
