"""A sample store, and the packages of dist/ installed outside the repository, as a user would."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import BROKEN, CONSUMERS, ROOT, new_venv, packed, run


@pytest.fixture(scope="session")
def tarball() -> Path:
    """The npm package."""
    return packed("memdir-*.tgz")


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sample store, its files a minute apart in the order of their names."""
    store = tmp_path_factory.mktemp("store").resolve() / "memory"
    shutil.copytree(ROOT / "demo" / "store", store)
    for index, path in enumerate(sorted(store.rglob("*.md"))):
        time = 1_793_610_000 + 60 * index
        os.utime(path, (time, time))
    return store


@pytest.fixture(scope="session")
def memories(store: Path) -> set[str]:
    """The well-formed memories of the store."""
    paths = {path.relative_to(store).as_posix() for path in store.rglob("*.md")}
    return paths - {"MEMORY.md", BROKEN}


@pytest.fixture(scope="session")
def node_project(tmp_path_factory: pytest.TempPathFactory, tarball: Path) -> Path:
    """A project outside the repository in which the npm package is installed."""
    project = tmp_path_factory.mktemp("node")
    (project / "package.json").write_text('{ "private": true }\n')
    run("npm", "install", "--silent", "--no-audit", "--no-fund", "--offline", tarball, cwd=project)
    for consumer in CONSUMERS.glob("*.[cm][jt]s"):
        shutil.copy(consumer, project)
    return project


@pytest.fixture(scope="session")
def python_programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that has the wheel and its declared dependencies only."""
    return new_venv(tmp_path_factory.mktemp("python") / "venv", packed("memdir-*.whl"))


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C interrupts, also where whoever started the tests ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before if before is not None else signal.SIG_DFL)
