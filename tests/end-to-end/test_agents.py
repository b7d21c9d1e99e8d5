"""The agents of examples/, as a reader runs them: without a key, in a folder of their own."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from support import AS_NOBODY, NODE_TOOLS, ROOT, new_venv, packed, run

EXAMPLES = ROOT / "examples"
SAID = "From now on small commits, please, each with its tests.\n"
ASKED = "How large should my small commits be?\n"


def say(program: list[str | Path], folder: Path, text: str) -> str:
    """Gives the agent its turns; what it answers."""
    environment = {name: value for name, value in AS_NOBODY.items() if "ANTHROPIC" not in name}
    done = subprocess.run(
        [*(str(word) for word in program), str(folder)],
        input=text,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )
    if done.returncode != 0:
        pytest.fail(f"{done.stdout}{done.stderr}", pytrace=False)
    return done.stdout


def converse(program: list[str | Path], folder: Path) -> None:
    """Two conversations, of which the second knows what was said in the first."""
    assert say(program, folder, SAID) == "I will.\n"
    memory = (folder / "feedback_small_commits.md").read_text()
    assert "**Why:**" in memory
    assert "**How to apply:**" in memory
    assert "(feedback_small_commits.md)" in (folder / "MEMORY.md").read_text()
    assert not list((folder / ".memdir").glob("lock"))
    # The answer shows that the model was shown the memory.
    assert say(program, folder, ASKED) == "Small ones, as you like them.\n"


def test_the_agent_in_node(tmp_path: Path, tarball: Path) -> None:
    project = tmp_path / "agent-node"
    shutil.copytree(EXAMPLES / "agent-node", project)
    (project / "package.json").write_text('{ "private": true, "type": "module" }\n')
    run("npm", "install", "--silent", "--no-audit", "--no-fund", "--offline", tarball, cwd=project)
    # Its other dependency is one of the tests already.
    (project / "node_modules" / "@anthropic-ai").symlink_to(NODE_TOOLS.parent / "@anthropic-ai")
    converse(["node", project / "agent.mjs"], tmp_path / "memory")


def test_the_agent_in_python(tmp_path: Path) -> None:
    programs = new_venv(tmp_path / "venv", f"{packed('memdir-*.whl')}[anthropic]")
    converse([programs / "python", EXAMPLES / "agent-python" / "agent.py"], tmp_path / "memory")


@pytest.mark.parametrize("example", ["agent-node/agent.mjs", "agent-python/agent.py"])
def test_they_are_short(example: str) -> None:
    assert len((EXAMPLES / example).read_text().splitlines()) < 120
