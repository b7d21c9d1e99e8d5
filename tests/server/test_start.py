"""Programs that find a new file at once, as when a script starts a server and makes tokens."""

from __future__ import annotations

import subprocess
from pathlib import Path

from hosted_team_server import ENVIRONMENT, PROGRAM

ROUNDS = 10
AT_ONCE = 4


def test_all_begin_one_file(tmp_path: Path) -> None:
    for number in range(ROUNDS):
        data = tmp_path / f"{number}.db"
        words = [
            str(PROGRAM),
            "token",
            "create",
            "--name",
            "ada",
            "--repo",
            "*",
            "--data",
            str(data),
        ]
        started = [
            subprocess.Popen(
                words, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
            for _ in range(AT_ONCE)
        ]
        for process in started:
            printed, complaint = process.communicate(timeout=60)
            assert process.returncode == 0, complaint
            assert printed.startswith("mdt_")
