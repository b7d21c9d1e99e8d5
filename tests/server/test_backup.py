"""The backup that README.md names: made with one statement beside a server that runs, it is all
that another server needs."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from hosted_team_server import Person, hosting

REPOSITORY = "acme/app"


def test_a_backup_is_whole(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
    with hosting(first) as server:
        ada = Person(server, server.token("ada", "--repo", "*", "--write"))
        version = ada.upload(REPOSITORY, {"a.md": "one\n"})
        version = ada.upload(REPOSITORY, {"a.md": "two\n"}, version)
        with closing(sqlite3.connect(server.data)) as database:
            database.execute("VACUUM INTO ?", [str(second / "backup.db")])
        ada.upload(REPOSITORY, {"a.md": "three\n"}, version)
    # The second server begins with data of its own, which the backup takes the place of.
    with hosting(second) as server:
        server.token("nobody", "--repo", "*")
    for name in ("team.db-wal", "team.db-shm"):
        (second / name).unlink(missing_ok=True)
    shutil.move(second / "backup.db", second / "team.db")
    with hosting(second) as server:
        ada = Person(server, ada.token)
        assert ada.history(REPOSITORY) == [("a.md", "one\n"), ("a.md", "two\n")]
        assert server.command("history", REPOSITORY).count("\tada\t") == 2
        assert server.command("restore", REPOSITORY, "a.md", "1") == "3\n"
        assert ada.entries(REPOSITORY) == {"a.md": "one\n"}
