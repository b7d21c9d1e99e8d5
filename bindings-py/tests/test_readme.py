"""The examples of the README run as they stand, but for the home directory."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from memdir import __version__
from provider import chose, providing, said, used
from team_server import TOKEN, team_serving

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
    answers, asked = [chose("anthropic", "deploys.md")], int("anthropic/" in example)
    if "tool_runner" in example:
        view = {"command": "view", "path": "/memories/deploys.md"}
        answers, asked = [used(0, view), said("anthropic", "No: an example.")], 2
    with providing(*answers) as provider, team_serving() as team:
        monkeypatch.setenv("OUR_SERVER", team.url)
        monkeypatch.setenv("OUR_TOKEN", TOKEN)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", provider.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "a")
        exec(code, {})
    assert "an example" in capsys.readouterr().out
    assert len(provider.seen) == asked
    assert bool(team.entries) == ("memory.team" in example)
    if "tool_runner" in example:
        (result,) = provider.seen[1].body["messages"][-1]["content"]
        assert "Never on a Friday." in result["content"]


def test_version() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", __version__)
