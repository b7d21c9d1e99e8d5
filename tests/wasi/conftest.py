"""Finds what is tested; says what to do when it is not there."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from component import Component
from program import Program
from stores import write_hostile, write_sample

ROOT = Path(__file__).resolve().parents[2]


def artefact(name: str) -> Path:
    path = ROOT / "dist" / name
    if not path.exists():
        pytest.fail(f"dist/{name} is missing: run `cargo run -p xtask -- component` and `command`")
    return path


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def component() -> Component:
    """One instance for all tests: a test that breaks it shows in those after it."""
    return Component(artefact("memdir-core.wasm"))


@pytest.fixture(scope="session")
def memdir() -> Program:
    return Program(artefact("memdir.wasm"))


@pytest.fixture(scope="session")
def memdir_http() -> Program:
    return Program(artefact("memdir-http.wasm"), http=True)


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """A store as one finds them."""
    return write_sample(tmp_path)


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A store with everything that should not be in one."""
    return write_hostile(tmp_path)


@pytest.fixture(scope="session")
def probe(tmp_path_factory) -> Program:
    """The probe in a build without HTTP."""
    return build_probe(tmp_path_factory, "probe")


@pytest.fixture(scope="session")
def probe_http(tmp_path_factory) -> Program:
    """The probe in a build with HTTP."""
    return build_probe(tmp_path_factory, "probe,http")


def build_probe(tmp_path_factory, features: str) -> Program:
    # The same flags as for the command itself, so that everything below it is built already.
    build = ["cargo", "build", "--quiet", "--profile", "wasm", "--target", "wasm32-wasip2"]
    build += ["--config", "profile.wasm.strip=true", "-p", "memdir-command", "--bin", "probe"]
    build += ["--features", features, "--message-format", "json-render-diagnostics"]
    done = subprocess.run(build, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    built = next(
        line
        for line in done.stdout.splitlines()
        if '"name":"probe"' in line and "probe.wasm" in line
    )
    # The next build with other features replaces the file.
    path = next(name for name in json.loads(built)["filenames"] if name.endswith("probe.wasm"))
    copy = tmp_path_factory.mktemp("probe") / "probe.wasm"
    shutil.copy(path, copy)
    return Program(copy, http="http" in features)
