"""Secrets in texts: they are found, and never said again.

Tokens are put together when a test runs, so that none stands in a file.
"""

from __future__ import annotations

import dataclasses
import random
import string
from pathlib import Path

import memdir
import pytest
from conftest import Face
from hypothesis import given
from hypothesis import strategies as st
from memdir import Features, Memdir, rules

ALNUM = string.ascii_letters + string.digits
# How each kind begins, what follows, and how much of it.
KINDS = {
    "github-pat": ("ghp_", ALNUM, 36),
    "gcp-api-key": ("AIza", ALNUM, 35),
    "npm-access-token": ("npm_", ALNUM, 36),
    "digitalocean-pat": ("dop_v1_", "0123456789abcdef", 64),
    "stripe-access-token": ("sk_" + "live_", ALNUM, 24),
}


def token(rule: str) -> str:
    """The same in every run."""
    start, letters, length = KINDS[rule]
    return start + "".join(random.Random(rule).choices(letters, k=length))


@pytest.mark.parametrize("rule", KINDS)
def test_a_token_is_found_and_removed(rule: str) -> None:
    secret = token(rule)
    text = f'é\nthe key: {secret}\nand "{secret}".\n'
    findings = rules.scan_secrets(text)
    assert [(finding.rule, finding.line) for finding in findings] == [(rule, 2), (rule, 3)]
    for finding in findings:
        assert text.encode()[finding.start : finding.end].decode() == secret
        assert finding.label
        assert secret not in repr(finding)
    with pytest.raises(dataclasses.FrozenInstanceError):
        findings[0].start = 0  # type: ignore[misc]
    redacted = rules.redact_secrets(text)
    mark = f"[secret removed: {rule}]"
    assert redacted == text.replace(secret, mark)
    assert rules.redact_secrets(redacted) == redacted
    assert rules.scan_secrets(redacted) == []


def test_what_is_no_token() -> None:
    text = "ghp_ is how one begins, and ghp_" + "x" * 36 + " stands in manuals"
    assert rules.scan_secrets(text) == []
    assert rules.redact_secrets(text) == text


def test_an_error_does_not_say_it() -> None:
    secret = token("github-pat")
    for rule in (rules.scan_secrets, rules.redact_secrets):
        with pytest.raises(memdir.InputError) as raised:
            rule(secret + "\ud800")
        assert raised.value.code == "invalid-text"
        assert secret not in str(raised.value)
        with pytest.raises(TypeError) as wrong:
            rule(secret.encode())  # type: ignore[arg-type]
        assert secret not in str(wrong.value)


pieces = st.lists(
    st.text(max_size=30) | st.sampled_from([token(rule) for rule in KINDS]), max_size=6
)


@given(pieces.map(" ".join))
def test_findings_lie_in_the_text_and_apart(text: str) -> None:
    end = 0
    for finding in rules.scan_secrets(text):
        assert end <= finding.start < finding.end
        text.encode()[finding.start : finding.end].decode()
        assert finding.line == text.encode()[: finding.start].count(b"\n") + 1
        end = finding.end
    assert end <= len(text.encode())
    redacted = rules.redact_secrets(text)
    assert rules.redact_secrets(redacted) == redacted
    assert (redacted == text) == (end == 0)


def files(store: Path) -> bytes:
    return b"".join(path.read_bytes() for path in store.rglob("*") if path.is_file())


@pytest.mark.parametrize("place", ["body", "description", "name"])
def test_teammates_get_no_secret(tmp_path: Path, face: Face, place: str) -> None:
    secret = token("github-pat")
    memory = {
        "type": "project",
        "name": "Deploys",
        "path": "team/deploys.md",
        place: f"by {secret}",
    }
    result = face(tmp_path, "save", **memory)
    assert (result.outcome, result.code) == ("refused", "secret-found")
    assert secret not in repr(result)
    assert secret.encode() not in files(tmp_path)


def test_a_secret_of_ones_own_is_reported(tmp_path: Path, face: Face) -> None:
    secret = token("gcp-api-key")
    result = face(tmp_path, "save", type="project", name="Maps", body=f"a\n\nkey {secret}")
    assert (result.outcome, result.code) == ("written", None)
    assert [entry.code for entry in result.report] == ["secret-found"]
    assert secret not in repr(result)


def test_the_tool_says_no_secret(tmp_path: Path, face: Face) -> None:
    secret = token("npm-access-token")
    command = {"command": "create", "path": "/memories/team/a.md", "file_text": f"key {secret}\n"}
    with pytest.raises(memdir.InputError) as raised:
        face(tmp_path, "tool", command)
    assert raised.value.code == "secret-found"
    assert secret not in str(raised.value)
    # A private file may hold it, but not become the team's.
    face(tmp_path, "tool", command | {"path": "/memories/a.md"})
    rename = {"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/team/a.md"}
    with pytest.raises(memdir.InputError) as raised:
        face(tmp_path, "tool", rename)
    assert raised.value.code == "secret-found"
    assert secret not in str(raised.value)
    assert not (tmp_path / "team" / "a.md").exists()


def test_a_folder_with_a_secret_stays_private(tmp_path: Path, face: Face) -> None:
    text = f"key {token('github-pat')}\n"
    face(tmp_path, "tool", {"command": "create", "path": "/memories/n/a.md", "file_text": text})
    rename = {"command": "rename", "old_path": "/memories/n", "new_path": "/memories/team/n"}
    with pytest.raises(memdir.InputError):
        face(tmp_path, "tool", rename)
    assert not (tmp_path / "team").exists()


def test_a_team_of_its_own_is_asked_too(tmp_path: Path) -> None:
    with Memdir(directory=tmp_path, features=Features(team=True)) as memory:
        result = memory.save(type="reference", name="Keys", body=token("stripe-access-token"))
    assert (result.outcome, result.code) == ("refused", "secret-found")
