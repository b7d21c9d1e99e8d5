"""Team memory through a local server: folders that share, conflicts, tokens, watching, and servers
that do everything wrong.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import memdir
import pytest
from conftest import Face
from memdir import AsyncMemdir, Memdir, TeamOptions, TeamSync
from provider import Answer
from team_server import TOKEN, TeamServer, team_serving
from test_open import git

TEA = "---\nname: Tea\ndescription: which tea the team drinks\ntype: project\n---\nGreen.\n"
MINE, THEIRS = TEA.replace("Green", "Black"), TEA.replace("Green", "White")
NOTHING = TeamSync(received=(), removed=(), sent=(), deleted=(), conflicts=(), report=())


@pytest.fixture
def server() -> Iterator[TeamServer]:
    with team_serving() as started:
        yield started


def options(folder: Path, server: TeamServer, **changed: Any) -> dict[str, Any]:
    team: dict[str, Any] = {"url": server.url, "token": TOKEN, "repository": server.repository}
    team |= {name: changed.pop(name) for name in ("url", "token", "deletions") if name in changed}
    return {"directory": folder, "env": {}, "team": TeamOptions(**team)} | changed


def put(folder: Path, key: str, text: str) -> Path:
    path = folder / "team" / key
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def team(face: Face, opened: dict[str, Any], *calls: Any) -> Any:
    """What some methods of `memory.team` give, all of one store; of one alone, what it gives."""
    named = [call if isinstance(call, tuple) else (call,) for call in calls]

    def now(memory: Memdir) -> list[Any]:
        return [getattr(memory.team, name)(*args) for name, *args in named]

    async def later(memory: AsyncMemdir) -> list[Any]:
        return [await getattr(memory.team, name)(*args) for name, *args in named]

    found: list[Any] = face.using(opened, now, later)
    return found[0] if len(found) == 1 else found


def done(**what: Any) -> TeamSync:
    return TeamSync(**{name: what.get(name, ()) for name in TeamSync.__dataclass_fields__})


def until(condition: Callable[[], Any], seconds: float = 15) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)


# Sharing.


def test_two_folders_share_their_memory(face: Face, tmp_path: Path, server: TeamServer) -> None:
    ours, theirs = (options(tmp_path / name, server) for name in ("ours", "theirs"))
    saved = face(ours, "save", type="project", name="Tea", body="Green.", scope="team")
    assert saved.path == "team/project_tea.md"
    assert team(face, ours, "sync") == done(sent=("MEMORY.md", "project_tea.md"))
    assert server.entries["project_tea.md"].endswith("Green.\n")

    assert team(face, theirs, "pull") == done(received=("MEMORY.md", "project_tea.md"))
    read = face(theirs, "read", saved.path)
    assert (read.body, read.header.scope) == ("Green.", "team")
    assert [one.path for one in face(theirs, "scan").memories] == [saved.path]
    for name in ("MEMORY.md", "project_tea.md"):
        texts = {(tmp_path / folder / "team" / name).read_bytes() for folder in ("ours", "theirs")}
        assert len(texts) == 1

    face(theirs, "save", path=saved.path, body="Black.")
    face(theirs, "save", type="project", name="Cups", scope="team")
    assert team(face, theirs, "push").sent == ("MEMORY.md", "project_cups.md", "project_tea.md")
    received = team(face, ours, "sync")
    assert received == done(received=("MEMORY.md", "project_cups.md", "project_tea.md"))
    assert face(ours, "read", saved.path).body == "Black."


def test_what_has_not_changed_is_neither_sent_nor_touched(
    face: Face, tmp_path: Path, server: TeamServer
) -> None:
    server.put("tea.md", TEA)
    server.put("deep/cups.md", TEA)
    opened = options(tmp_path, server)
    assert team(face, opened, "pull") == done(received=("deep/cups.md", "tea.md"))
    before = {path: path.stat() for path in tmp_path.rglob("*")}
    server.statuses()
    assert team(face, opened, "pull", "push", "sync") == [NOTHING] * 3
    assert server.statuses() == [("GET", 304), ("GET", 304)]
    for path, was in before.items():
        now = path.stat()
        assert (now.st_mtime_ns, now.st_ino) == (was.st_mtime_ns, was.st_ino), path
    assert set(before) == set(tmp_path.rglob("*"))


def test_what_is_on_the_wire(face: Face, tmp_path: Path, server: TeamServer) -> None:
    put(tmp_path, "tea.md", TEA)
    assert team(face, options(tmp_path, server, url=f"{server.url}/"), "sync").sent == ("tea.md",)
    pull, probe, push = server.seen
    assert (pull.method, pull.query, pull.status) == ("GET", "repo=acme/shop", 404)
    assert (probe.method, probe.query, probe.status) == ("GET", "repo=acme/shop&view=hashes", 404)
    assert (push.method, push.query, push.status) == ("PUT", "repo=acme/shop", 200)
    assert push.headers["if-none-match"] == "*"
    assert push.headers["content-type"] == "application/json"
    for seen in server.seen:
        assert seen.headers["authorization"] == f"Bearer {TOKEN}"
        assert seen.headers["user-agent"].startswith("memdir/")


def test_the_repository_comes_from_git_and_the_rest_from_the_environment(
    face: Face, tmp_path: Path, server: TeamServer
) -> None:
    project = tmp_path / "project"
    git("init", "--quiet", project)
    git("-C", project, "remote", "add", "origin", "git@example.com:acme/shop.git")
    put(tmp_path / "store", "tea.md", TEA)
    env = {"MEMDIR_TEAM_URL": server.url, "MEMDIR_TEAM_TOKEN": TOKEN}
    opened: dict[str, Any] = {"directory": tmp_path / "store", "cwd": project, "env": env}
    status, sent = team(face, opened, "status", "push")
    assert (status.repository, sent.sent) == ("acme/shop", ("tea.md",))
    # An option counts more, and an empty one completes nothing.
    assert team(face, opened | {"team": TeamOptions()}, "status").url == status.url
    # What belongs to one repository is not uploaded to another.
    elsewhere = TeamOptions(repository="acme/other")
    with pytest.raises(memdir.InputError, match="acme/shop"):
        team(face, opened | {"team": elsewhere}, "push")


def test_deletions(face: Face, tmp_path: Path, server: TeamServer) -> None:
    server.put("tea.md", TEA)
    opened = options(tmp_path, server, deletions="propagate")
    team(face, opened, "pull")
    face(opened, "forget", "team/tea.md")
    # Seven days pass before a teammate loses it.
    assert team(face, opened, "sync", "status")[0] == NOTHING
    assert server.entries == {"tea.md": TEA}
    server.put("tea.md", "<!-- memdir: deleted -->\n")
    other = options(tmp_path / "other", server)
    put(tmp_path / "other", "cups.md", TEA)
    assert team(face, other, "sync").sent == ("cups.md",)
    assert not (tmp_path / "other/team/tea.md").exists()


# Conflicts.


@pytest.fixture
def conflict(tmp_path: Path, server: TeamServer) -> Path:
    """A folder in which a memory was changed while a teammate changed it on the server."""
    server.put("tea.md", TEA)
    with Memdir(**options(tmp_path, server)) as memory:
        memory.team.pull()
    put(tmp_path, "tea.md", MINE)
    server.put("tea.md", THEIRS)
    return tmp_path


def test_our_version_of_a_conflict_is_kept_and_comes_back(
    face: Face, conflict: Path, server: TeamServer
) -> None:
    opened = options(conflict, server)
    start = time.time()
    synced, status, kept = team(face, opened, "sync", "status", "conflicts")
    assert synced.conflicts == ("tea.md",)
    assert [(entry.path, entry.code) for entry in synced.report] == [
        ("team/tea.md", "team-conflict")
    ]
    path = conflict / "team" / "tea.md"
    assert (path.read_text(encoding="utf-8"), server.entries["tea.md"]) == (THEIRS, THEIRS)
    assert status.conflicts == tuple(kept)
    (one,) = kept
    assert isinstance(one, memdir.Conflict)
    assert (one.path, one.size) == ("team/tea.md", len(MINE.encode()))
    assert start * 1000 - 2000 < one.at_ms < time.time() * 1000 + 2000
    shown = team(face, opened, ("conflict", one.id))
    assert shown == memdir.ConflictFile(id=one.id, path=one.path, at_ms=one.at_ms, content=MINE)

    restored, rest, again = team(face, opened, ("restore", one.id), "conflicts", "sync")
    assert (restored.outcome, restored.path, rest) == ("written", "team/tea.md", [])
    assert again == done(sent=("tea.md",))
    assert (path.read_text(encoding="utf-8"), server.entries["tea.md"]) == (MINE, MINE)
    assert ("tea.md", THEIRS) in server.history


def test_a_kept_version_is_dropped(face: Face, conflict: Path, server: TeamServer) -> None:
    opened = options(conflict, server)
    team(face, opened, "pull")
    (one,) = team(face, opened, "conflicts")
    assert team(face, opened, ("drop", one.id), "conflicts", "push") == [None, [], NOTHING]
    assert server.entries == {"tea.md": THEIRS}
    for call in ("conflict", "restore", "drop"):
        for name in (one.id, "", "../../team/tea", "é\nx"):
            with pytest.raises(memdir.HostError) as raised:
                team(face, opened, (call, name))
            assert raised.value.code == "not-found"
    with pytest.raises(memdir.InputError) as refused:
        team(face, opened, ("drop", "\ud800"))
    assert refused.value.code == "invalid-text"


# Tokens.


def giving(*tokens: Any) -> Callable[[], Any]:
    """A function that gives these, the last one again and again, or raises them."""
    left = list(tokens)

    def give() -> Any:
        token = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(token, BaseException):
            raise token
        return token

    return give


def later(function: Callable[[], Any]) -> Callable[[], Any]:
    async def give() -> Any:
        await asyncio.sleep(0)
        return function()

    return give


FORMS = [pytest.param(lambda it: it, id="function"), pytest.param(later, id="coroutine function")]


@pytest.mark.parametrize("form", FORMS)
def test_a_function_is_asked_for_each_operation(
    face: Face, tmp_path: Path, server: TeamServer, form: Any
) -> None:
    asked = []

    def give() -> str:
        asked.append(threading.current_thread())
        return f" {TOKEN}\n"

    put(tmp_path, "tea.md", TEA)
    # What the environment says does not count then.
    opened = options(tmp_path, server, token=form(give), env={"MEMDIR_TEAM_TOKEN": "other"})

    def now(memory: Memdir) -> None:
        for count in (1, 2):
            memory.team.sync()
            assert len(asked) == count
        memory.team.status()
        assert len(asked) == 2

    async def soon(memory: AsyncMemdir) -> None:
        for count in (1, 2):
            await memory.team.sync()
            assert len(asked) == count
        await memory.team.status()
        assert len(asked) == 2

    face.using(opened, now, soon)
    assert server.entries == {"tea.md": TEA}
    assert {seen.headers["authorization"] for seen in server.seen} == {f"Bearer {TOKEN}"}


@pytest.mark.parametrize("form", FORMS)
def test_a_token_that_is_refused_is_asked_for_once_more(
    face: Face, tmp_path: Path, server: TeamServer, form: Any
) -> None:
    server.put("tea.md", TEA)
    opened = options(tmp_path, server, token=form(giving("expired", TOKEN)))
    assert team(face, opened, "pull").received == ("tea.md",)
    used = [(seen.headers["authorization"], seen.status) for seen in server.seen]
    assert used == [("Bearer expired", 401), (f"Bearer {TOKEN}", 200)]

    server.statuses()
    opened = options(tmp_path, server, token=form(giving("expired")))
    with pytest.raises(memdir.TeamError) as raised:
        team(face, opened, "pull")
    assert raised.value.code == "team-auth"
    # The second one of the first try, and then the last upload, when it is closed.
    assert server.statuses()[:2] == [("GET", 401)] * 2


@pytest.mark.parametrize(
    ("token", "kind", "code"),
    [
        (giving(ValueError("no luck")), memdir.HostError, "other"),
        (giving(7), memdir.HostError, "other"),
        (giving(None), memdir.HostError, "other"),
        (giving("\ud800"), memdir.HostError, "other"),
        (giving(" "), memdir.TeamError, "no-token"),
        (" ", memdir.TeamError, "no-token"),
        (None, memdir.TeamError, "no-token"),
        ("two words", memdir.InputError, "invalid-argument"),
        (giving("two\r\nx-lines: 1"), memdir.InputError, "invalid-argument"),
    ],
    ids=range(9),
)
def test_without_a_token_nothing_is_asked(
    face: Face, tmp_path: Path, server: TeamServer, token: Any, kind: type[Exception], code: str
) -> None:
    put(tmp_path, "tea.md", TEA)
    with pytest.raises(memdir.MemdirError) as raised:
        team(face, options(tmp_path, server, token=token), "sync")
    assert (type(raised.value), raised.value.code) == (kind, code)
    assert server.seen == []


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt()], ids=["exit", "interrupt"])
def test_a_function_that_leaves_the_program(
    tmp_path: Path, server: TeamServer, error: BaseException
) -> None:
    with (
        pytest.raises(type(error)) as raised,
        Memdir(**options(tmp_path, server, token=giving(error, TOKEN))) as memory,
    ):
        memory.team.watch()
    assert raised.value is error


SAID_BACK: dict[str, Answer] = {
    "401": Answer(json.dumps({"error": {"message": f"{TOKEN} is not valid"}}).encode(), 401),
    "400": Answer(json.dumps({"error": {"message": "x" * 180 + TOKEN}}).encode(), 400),
    "503": Answer(json.dumps({"error": {"message": TOKEN}}).encode(), 503, {"retry-after": "0"}),
    "no JSON": Answer(TOKEN.encode()),
    "redirect": Answer(TOKEN.encode(), 302, {"location": "http://127.0.0.1:1/"}),
    "version": Answer(json.dumps({"checksum": TOKEN, "content": {"entries": {}}}).encode()),
}


@pytest.mark.parametrize("answer", SAID_BACK.values(), ids=SAID_BACK)
@pytest.mark.parametrize("token", [TOKEN, giving(TOKEN)], ids=["text", "function"])
def test_a_token_is_nowhere_but_on_the_wire(
    face: Face,
    tmp_path: Path,
    server: TeamServer,
    answer: Answer,
    token: Any,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG)
    put(tmp_path, "tea.md", TEA)
    server.always = answer
    found: list[Any] = []
    opened = options(tmp_path, server, token=token, on_event=found.append)

    def note(memory: Any) -> None:
        found.extend([memory, memory._host, memory._store, memory.team, memory.opened])

    def now(memory: Memdir) -> None:
        note(memory)
        memory.team.sync()

    async def soon(memory: AsyncMemdir) -> None:
        note(memory)
        await memory.team.sync()

    try:
        face.using(opened, now, soon)
    except memdir.MemdirError as error:
        chain: BaseException | None = error
        while chain is not None:
            found.append(chain)
            chain = chain.__cause__ or chain.__context__
    assert TOKEN in repr(server.seen[0].headers)
    found.append(team(face, options(tmp_path, server, token=token), "status"))
    if answer is not SAID_BACK["version"]:
        # There it is what the server calls its version, and not what it was told.
        found += [path.read_text("utf-8") for path in tmp_path.rglob("*") if path.is_file()]
    shown = "\n".join([repr([*found, opened]), caplog.text, *capfd.readouterr()])
    assert TOKEN not in shown
    assert TOKEN[:9] not in shown


@pytest.mark.parametrize("token", [f"{TOKEN} {TOKEN}", f"{TOKEN}é", f"{TOKEN}\ud800"])
def test_no_error_shows_a_token(face: Face, tmp_path: Path, server: TeamServer, token: str) -> None:
    assert repr(TeamOptions(token=token)) == (
        "TeamOptions(url=None, repository=None, deletions='keep')"
    )
    with pytest.raises(memdir.InputError) as raised:
        team(face, options(tmp_path, server, token=token), "pull")
    error: BaseException | None = raised.value
    while error is not None:
        assert TOKEN not in repr(error)
        error = error.__cause__ or error.__context__


# Options, status, and what is never uploaded.


def test_options_that_make_no_sense(face: Face, tmp_path: Path, server: TeamServer) -> None:
    for given, words in (
        ({"url": server.url}, "team must be TeamOptions"),
        (1, "team must be TeamOptions"),
        (TeamOptions(token=7), "token must be"),  # type: ignore[arg-type]
        (TeamOptions(url=7), "str"),  # type: ignore[arg-type]
    ):
        with pytest.raises(TypeError, match=words):
            face({"directory": tmp_path, "team": given}, "scan")
    with pytest.raises(memdir.InputError) as raised:
        face(options(tmp_path, server, deletions="all"), "scan")
    assert raised.value.code == "invalid-argument"
    for url in ("http://example.com", "nonsense", "https://", "ftp://127.0.0.1", f"{server.url}?a"):
        with pytest.raises(memdir.InputError) as raised:
            team(face, options(tmp_path, server, url=url), "pull")
        assert raised.value.code == "invalid-argument", url
    assert server.seen == []


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (TeamOptions(), "no-repository"),
        (TeamOptions(repository="acme/shop"), "no-server"),
        (TeamOptions(url="https://team.example", repository="acme/shop"), "no-token"),
    ],
)
def test_what_is_missing_is_named(
    face: Face, tmp_path: Path, given: TeamOptions, code: str
) -> None:
    opened = {"directory": tmp_path / "store", "cwd": tmp_path, "env": {}, "team": given}
    for call in ("pull", "push", "sync"):
        with pytest.raises(memdir.TeamError) as raised:
            team(face, opened, call)
        assert raised.value.code == code
    status = team(face, opened, "status")
    assert (status.repository, status.synced_ms) == (given.repository, None)


def test_without_memory_there_is_no_team(face: Face, tmp_path: Path, server: TeamServer) -> None:
    opened = options(tmp_path, server, env={"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"})
    for call in ("pull", "push", "sync", "status", "watch", "conflicts"):
        with pytest.raises(memdir.InputError) as raised:
            team(face, opened, call)
        assert raised.value.code == "disabled"
    assert server.seen == []
    assert list(tmp_path.iterdir()) == []


def test_status(face: Face, tmp_path: Path, server: TeamServer) -> None:
    put(tmp_path, "tea.md", TEA)
    put(tmp_path, "cups.md", TEA)
    put(tmp_path, "me.md", TEA.replace("project", "user"))
    put(tmp_path, "key.md", "ghp_" + "A1b2C3d4E5f6" * 3 + "\n")
    opened = options(tmp_path, server)
    status = team(face, opened, "status")
    assert status.repository == "acme/shop"
    assert status.url == f"{server.url}/api/claude_code/team_memory?repo=acme/shop"
    assert (status.synced_ms, status.conflicts) == (None, ())
    assert status.to_send == ("cups.md", "tea.md")
    left_out = [(entry.path, entry.code) for entry in status.report]
    assert left_out == [("team/key.md", "secret-found"), ("team/me.md", "team-private")]
    assert server.seen == []

    pushed, status = team(face, opened, "push", "status")
    assert (pushed.sent, pushed.report) == (("cups.md", "tea.md"), status.report)
    assert server.entries.keys() == {"cups.md", "tea.md"}
    assert status.to_send == ()
    assert abs(status.synced_ms - time.time() * 1000) < 60_000


# Servers that do it wrong.


def test_another_host_gets_no_token(face: Face, tmp_path: Path, server: TeamServer) -> None:
    put(tmp_path, "tea.md", TEA)
    with team_serving() as other:
        for status in (301, 302, 303, 307, 308):
            server.always = Answer(b"", status, {"location": f"{other.url}/"})
            with pytest.raises(memdir.TeamError) as raised:
                team(face, options(tmp_path, server), "sync")
            assert raised.value.code == "team-refused"
        assert other.seen == []


HTML = Answer(b"<!doctype html><title>Log in</title>", 200, {"content-type": "text/html"})
HALF = b'{"checksum": "a", "content": {"entries": {"tea.md": "Gr'

# What is answered, how often it is asked at least, and what is raised.
FAILURES: dict[str, tuple[Answer, int, type[memdir.MemdirError], str]] = {
    "HTML": (HTML, 1, memdir.TeamError, "team-answer"),
    "empty": (Answer(b""), 1, memdir.TeamError, "team-answer"),
    "a list": (Answer(b"[]"), 1, memdir.TeamError, "team-answer"),
    "half JSON": (Answer(HALF), 1, memdir.TeamError, "team-answer"),
    "half a body": (Answer(HALF, cut=True), 4, memdir.HostError, "network"),
    "deep": (Answer(b'{"content":' * 100_000), 1, memdir.TeamError, "team-answer"),
    "not UTF-8": (
        Answer(b'{"content": {"entries": {"\xff": ""}}}'),
        1,
        memdir.TeamError,
        "team-answer",
    ),
    "no map": (Answer(b'{"content": {"entries": ["a"]}}'), 1, memdir.TeamError, "team-answer"),
    "403": (Answer(b"", 403), 1, memdir.TeamError, "team-auth"),
    "418": (Answer(b"", 418), 1, memdir.TeamError, "team-refused"),
    "429": (Answer(b"", 429, {"retry-after": "0"}), 4, memdir.TeamError, "team-busy"),
    "429 for an hour": (
        Answer(b"", 429, {"retry-after": "3600"}),
        1,
        memdir.TeamError,
        "team-busy",
    ),
    "500": (Answer(b"", 500, {"retry-after": "0"}), 4, memdir.TeamError, "team-busy"),
}


@pytest.mark.parametrize(("answer", "asked", "kind", "code"), FAILURES.values(), ids=FAILURES)
def test_a_server_that_fails_changes_nothing(
    face: Face,
    tmp_path: Path,
    server: TeamServer,
    answer: Answer,
    asked: int,
    kind: type[memdir.MemdirError],
    code: str,
) -> None:
    path = put(tmp_path, "tea.md", TEA)
    server.always = answer
    start = time.monotonic()
    with pytest.raises(memdir.MemdirError) as raised:
        team(face, options(tmp_path, server), "sync")
    assert (type(raised.value), raised.value.code) == (kind, code)
    assert "\n" not in str(raised.value)
    assert len(server.seen) >= asked
    assert time.monotonic() - start < 12
    assert path.read_text(encoding="utf-8") == TEA

    # Nothing is left that would keep the next try from being a whole one.
    server.always = None
    server.put("cups.md", THEIRS)
    assert team(face, options(tmp_path, server), "sync") == done(
        received=("cups.md",), sent=("tea.md",)
    )


def test_a_server_that_is_not_there(face: Face, tmp_path: Path) -> None:
    put(tmp_path, "tea.md", TEA)
    with team_serving() as server:
        opened = options(tmp_path, server)
    start = time.monotonic()
    with pytest.raises(memdir.HostError) as raised:
        team(face, opened, "push")
    assert raised.value.code == "network"
    # Pauses of 500, 1,000 and 2,000 ms, up to a quarter more each, and the two seconds of closing.
    assert 3.5 <= time.monotonic() - start < 12


@pytest.mark.parametrize("method", ["pull", "push"])
def test_a_broken_line_is_tried_again(
    face: Face, tmp_path: Path, server: TeamServer, method: str
) -> None:
    server.put("tea.md", TEA)
    put(tmp_path, "cups.md", TEA)
    server.wrong = [Answer(HALF, cut=True)]
    assert team(face, options(tmp_path, server), method) == (
        done(received=("tea.md",)) if method == "pull" else done(sent=("cups.md",))
    )


def test_teammates_that_are_always_faster(face: Face, tmp_path: Path, server: TeamServer) -> None:
    def edit(server: TeamServer, method: str) -> None:
        if method == "PUT":
            server.put("busy.md", str(len(server.history)))

    put(tmp_path, "tea.md", TEA)
    server.before = edit
    with pytest.raises(memdir.TeamError) as raised:
        team(face, options(tmp_path, server), "push")
    assert raised.value.code == "team-conflict"
    assert ("PUT", 412) in server.statuses()
    # Once, and then they rest.
    server.before = lambda server, method: (
        setattr(server, "before", None) if method == "PUT" else None
    )
    server.put("busy.md", "once more")
    assert "tea.md" in team(face, options(tmp_path, server), "sync").sent
    assert server.entries["tea.md"] == TEA


def test_a_server_that_says_412_for_ever(face: Face, tmp_path: Path, server: TeamServer) -> None:
    put(tmp_path, "tea.md", TEA)
    server.put("cups.md", TEA)
    answer = server.answer

    def never(method: str, *rest: Any) -> Answer:
        return Answer(b"", 412) if method == "PUT" else answer(method, *rest)

    server.answer = never  # type: ignore[assignment,method-assign]
    with pytest.raises(memdir.TeamError) as raised:
        team(face, options(tmp_path, server), "sync")
    assert raised.value.code == "team-conflict"
    assert 3 <= server.statuses().count(("PUT", 412)) <= 8


HOSTILE = ["../outside.md", "/etc/cron.d/x", "a\\..\\..\\b.md", "%2e%2e/x.md", ".memdir/x.md", ""]
HOSTILE += ["con.md", "a\u0000b.md", "x" * 2_000, ".git/config", "e\u0301.md", "a/../b.md"]


def test_what_a_server_names_stays_in_the_team_folder(
    face: Face, tmp_path: Path, server: TeamServer
) -> None:
    for key in HOSTILE:
        server.put(key, TEA)
    server.put("tea.md", TEA)
    server.put("large.md", "x" * 300_000)
    store = tmp_path / "store"
    pulled = team(face, options(store, server), "pull")
    assert "tea.md" in pulled.received
    assert not {"../outside.md", "/etc/cron.d/x", ".memdir/x.md"} & set(pulled.received)
    codes = {entry.code for entry in pulled.report}
    assert {"team-key", "team-too-large"} <= codes <= {"team-key", "team-too-large", "team-link"}
    assert {path.name for path in tmp_path.iterdir()} == {"store"}
    files = {path for path in (store / "team").rglob("*") if path.is_file()}
    assert len(files) - 1 == len(pulled.received)


# Watching and closing.


class Watching:
    """A watch in a thread of its own, over either face."""

    def __init__(self, face: Face, opened: dict[str, Any]) -> None:
        self.asynchronous = face.asynchronous
        self.events: list[memdir.Event] = []
        self.opened = opened | {"on_event": self.events.append}
        self.ended: Any = "runs"
        self.closing = threading.Event()
        self.close_took = 0.0
        self.thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        if self.asynchronous:
            asyncio.run(self._main())
        else:
            self._block()

    def _block(self) -> None:
        def watch() -> None:
            try:
                self.ended = memory.team.watch()  # type: ignore[func-returns-value]
            except BaseException as error:  # noqa: BLE001 - it is looked at
                self.ended = error

        memory = Memdir(**self.opened)
        thread = threading.Thread(target=watch)
        thread.start()
        self.closing.wait(60)
        start = time.monotonic()
        memory.close()
        assert not thread.is_alive()
        self.close_took = time.monotonic() - start
        thread.join()

    async def _main(self) -> None:
        async def watch() -> str:
            try:
                self.ended = await memory.team.watch()  # type: ignore[func-returns-value]
            except BaseException as error:
                self.ended = error
                raise
            # It goes on: nobody else has cancelled it.
            await asyncio.sleep(0)
            return "went on"

        memory = await AsyncMemdir.open(**self.opened)
        task = asyncio.create_task(watch())
        await asyncio.to_thread(self.closing.wait, 60)
        start = time.monotonic()
        await memory.close()
        self.close_took = time.monotonic() - start
        assert await task == "went on"
        assert task.cancelling() == 0

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self.thread.join(20)
        assert not self.thread.is_alive()


def test_a_watch_uploads_an_edit_and_ends_when_the_store_is_closed(
    face: Face, tmp_path: Path, server: TeamServer
) -> None:
    server.put("cups.md", TEA)
    put(tmp_path, "tea.md", TEA)
    with Watching(face, options(tmp_path, server)) as watching:
        until(lambda: "tea.md" in server.entries)
        assert (tmp_path / "team" / "cups.md").exists()
        time.sleep(0.5)
        put(tmp_path, "tea.md", MINE)
        start = time.monotonic()
        until(lambda: server.entries["tea.md"] == MINE)
        # Two seconds of quiet, and at most one until it is seen.
        assert 1.5 < time.monotonic() - start < 6
        until(lambda: len(watching.events) == 2)
    assert watching.ended is None
    assert watching.close_took < 4
    kinds = [(event.kind, event.message) for event in watching.events]
    assert kinds == [("team-sync", "received: 1, sent: 1"), ("team-sync", "sent: 1")]


def test_closing_a_watch_uploads_what_is_left(
    face: Face, tmp_path: Path, server: TeamServer
) -> None:
    server.put("cups.md", TEA)
    with Watching(face, options(tmp_path, server)) as watching:
        until(lambda: (tmp_path / "team" / "cups.md").exists())
        time.sleep(0.5)
        put(tmp_path, "tea.md", MINE)
    assert server.entries["tea.md"] == MINE
    assert (watching.ended, watching.close_took < 4) == (None, True)


def test_a_watch_tells_what_goes_wrong_and_goes_on(
    face: Face, tmp_path: Path, server: TeamServer
) -> None:
    put(tmp_path, "tea.md", TEA)
    put(tmp_path, "me.md", TEA.replace("project", "user"))
    server.wrong = [HTML]
    with Watching(face, options(tmp_path, server)) as watching:
        until(lambda: watching.events)
        event = watching.events[0]
        assert (event.kind, event.code) == ("warning", None)
        assert "not in sync" in event.message
        put(tmp_path, "tea.md", MINE)
        until(lambda: server.entries.get("tea.md") == MINE)
        until(lambda: len(watching.events) > 2)
        assert [(event.kind, event.code) for event in watching.events[-2:]] == [
            ("team-sync", None),
            ("warning", "team-private"),
        ]
    assert watching.ended is None


def test_a_watch_ends_while_the_server_hangs(
    face: Face, tmp_path: Path, server: TeamServer
) -> None:
    put(tmp_path, "tea.md", TEA)
    server.always = Answer(hangs=True)
    with Watching(face, options(tmp_path, server)) as watching:
        assert server.hanging.wait(20)
    assert watching.ended is None
    # The last upload has two seconds.
    assert watching.close_took < 5
    left = [(event.path, event.code) for event in watching.events]
    assert left == [("team/tea.md", "team-not-sent")]


def test_a_watch_task_is_cancelled_and_the_store_stays_usable(
    tmp_path: Path, server: TeamServer
) -> None:
    async def main() -> None:
        async with AsyncMemdir(**options(tmp_path, server)) as memory:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(1):
                    await memory.team.watch()
            task = asyncio.create_task(memory.team.watch())
            await asyncio.sleep(0.5)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            put(tmp_path, "tea.md", TEA)
            assert (await memory.team.sync()).sent == ("tea.md",)
            # Whoever is cancelled beside the closing is cancelled.
            task = asyncio.create_task(memory.team.watch())
            await asyncio.sleep(0.5)
            closing = asyncio.create_task(memory.close())
            await asyncio.sleep(0)
            task.cancel()
            await closing
            with pytest.raises(asyncio.CancelledError):
                await task
            with pytest.raises(memdir.InputError) as raised:
                await memory.team.watch()
            assert raised.value.code == "closed"

    asyncio.run(asyncio.wait_for(main(), 30))


def test_several_watches_end_together(face: Face, tmp_path: Path, server: TeamServer) -> None:
    put(tmp_path, "tea.md", TEA)
    with Watching(face, options(tmp_path, server)) as one:
        until(lambda: "tea.md" in server.entries)
        with Watching(face, options(tmp_path / "other", server)) as other:
            until(lambda: (tmp_path / "other" / "team" / "tea.md").exists())
    assert (one.ended, other.ended) == (None, None)


def test_a_listener_may_close_a_watch_that_blocks(tmp_path: Path, server: TeamServer) -> None:
    def close(_: memdir.Event) -> None:
        memory.close()

    put(tmp_path, "tea.md", TEA)
    memory = Memdir(**options(tmp_path, server, on_event=close))
    start = time.monotonic()
    memory.team.watch()
    assert time.monotonic() - start < 5
    assert server.entries == {"tea.md": TEA}


def test_closing_flushes_an_edit_only_after_a_sync(
    face: Face, tmp_path: Path, server: TeamServer
) -> None:
    opened = options(tmp_path, server)

    def now(memory: Memdir) -> None:
        memory.team.sync()
        put(tmp_path, "tea.md", TEA)

    async def soon(memory: AsyncMemdir) -> None:
        await memory.team.sync()
        put(tmp_path, "tea.md", TEA)

    face.using(opened, now, soon)
    assert server.entries == {"tea.md": TEA}
    server.statuses()
    put(tmp_path, "tea.md", MINE)
    # Who has not spoken to the server does not begin to at the end.
    face(opened, "scan")
    team(face, opened, "status")
    assert server.statuses() == []


@contextmanager
def watching(folder: Path, server: TeamServer) -> Iterator[subprocess.Popen[bytes]]:
    """Let the command watch a folder, as a program does that has nothing else to do."""
    put(folder, "tea.md", TEA)
    words = ["team", "watch", "--dir", str(folder), "--url", server.url]
    program = subprocess.Popen(
        [sys.executable, "-m", "memdir", *words, "--repo", server.repository],
        env=os.environ | {"MEMDIR_TEAM_TOKEN": TOKEN},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert program.stderr is not None
        assert program.stderr.readline() == b"sent: 1\n"
        yield program
    finally:
        program.kill()
        program.wait()


def interrupt(program: subprocess.Popen[bytes], number: int) -> tuple[int, bytes, bytes]:
    start = time.monotonic()
    program.send_signal(number)
    stdout, stderr = program.communicate(timeout=20)
    assert time.monotonic() - start < 5
    return program.returncode, stdout, stderr


@pytest.mark.usefixtures("_ctrl_c")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_watch_uploads_what_is_left(
    tmp_path: Path, server: TeamServer, number: int, code: int
) -> None:
    with watching(tmp_path, server) as program:
        put(tmp_path, "tea.md", MINE)
        assert interrupt(program, number) == (code, b"", b"sent: 1\n")
    assert server.entries["tea.md"] == MINE


@pytest.mark.usefixtures("_ctrl_c")
def test_an_interrupted_watch_with_nothing_left_is_silent(
    tmp_path: Path, server: TeamServer
) -> None:
    with watching(tmp_path, server) as program:
        assert interrupt(program, signal.SIGINT) == (130, b"", b"")


@pytest.mark.usefixtures("_ctrl_c")
def test_an_interrupted_watch_says_what_it_could_not_upload(
    tmp_path: Path, server: TeamServer
) -> None:
    with watching(tmp_path, server) as program:
        server.always = Answer(hangs=True)
        put(tmp_path, "tea.md", MINE)
        code, _, stderr = interrupt(program, signal.SIGINT)
    assert code == 130
    assert stderr.startswith(b"team/tea.md: it is not uploaded yet: ")
    assert stderr.count(b"\n") == 1


@pytest.mark.usefixtures("_ctrl_c")
def test_a_watch_that_is_interrupted_twice_ends_at_once(tmp_path: Path, server: TeamServer) -> None:
    with watching(tmp_path, server) as program:
        server.always = Answer(hangs=True)
        put(tmp_path, "tea.md", MINE)
        program.send_signal(signal.SIGINT)
        assert server.hanging.wait(10)
        assert interrupt(program, signal.SIGINT) == (130, b"", b"")


def test_the_command(tmp_path: Path, server: TeamServer) -> None:
    def run(*words: str) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-m", "memdir", "team", *words]
        command += ["--dir", str(tmp_path), "--repo", server.repository]
        env = {"MEMDIR_TEAM_URL": server.url, "MEMDIR_TEAM_TOKEN": TOKEN}
        return subprocess.run(
            command, capture_output=True, check=False, env=os.environ | env, timeout=60
        )

    put(tmp_path, "tea.md", TEA)
    status = json.loads(run("status", "--json").stdout)
    assert (status["repository"], status["toSend"]) == ("acme/shop", ["tea.md"])
    sent = run("push")
    assert (sent.returncode, sent.stdout, sent.stderr) == (0, b"sent: tea.md\n", b"sent: 1\n")
    put(tmp_path, "tea.md", MINE)
    server.put("tea.md", THEIRS)
    assert json.loads(run("pull", "--json").stdout)["conflicts"] == ["tea.md"]
    (kept,) = json.loads(run("conflicts", "--json").stdout)["conflicts"]
    assert run("conflicts", "show", kept["id"]).stdout == MINE.encode()
    assert run("conflicts", "drop", kept["id"]).returncode == 0
    assert json.loads(run("conflicts", "--json").stdout) == {"conflicts": []}
    server.tokens.clear()
    refused = run("pull")
    assert (refused.returncode, refused.stdout) == (1, b"")
    assert b"check the token" in refused.stderr
    assert TOKEN.encode() not in refused.stderr


# At once.

WORK = """
import sys
from memdir import Memdir, TeamOptions
folder, url, token, name = sys.argv[1:]
team = TeamOptions(url=url, token=token, repository="acme/shop")
with Memdir(directory=folder, env={}, team=team) as memory:
    for number in range(6):
        memory.save(type="project", name=f"{name} {number}", description="x", scope="team")
        for _ in range(10):
            try:
                memory.team.sync()
            except Exception as error:
                if getattr(error, "code", "") not in ("busy", "team-conflict"):
                    raise
            else:
                break
"""


def check_whole(folder: Path, server: TeamServer, names: set[str]) -> None:
    files = {
        path.relative_to(folder / "team").as_posix(): path.read_text("utf-8")
        for path in (folder / "team").rglob("*.md")
    }
    assert files == server.entries
    assert names <= files.keys()
    for name in names:
        assert files["MEMORY.md"].count(f"({name})") == 1
    assert Memdir(directory=folder, env={}).lint().findings == ()
    own = {path.name for path in (folder / ".memdir").rglob("*") if path.is_file()}
    assert not [name for name in own if name.endswith(".tmp") or "lock" in name], own


def test_programs_sync_one_folder_at_once(tmp_path: Path, server: TeamServer) -> None:
    names = ("ada", "bob", "eve")
    programs = [
        subprocess.Popen([sys.executable, "-c", WORK, tmp_path, server.url, TOKEN, name])
        for name in names
    ]
    assert [program.wait(120) for program in programs] == [0] * len(programs)
    with Memdir(**options(tmp_path, server)) as memory:
        memory.team.sync()
        assert memory.team.conflicts() == []
    files = {f"project_{name}_{number}.md" for name in names for number in range(6)}
    check_whole(tmp_path, server, files)


def test_threads_sync_one_store_at_once(tmp_path: Path, server: TeamServer) -> None:
    failed: list[str] = []

    def work(name: str) -> None:
        for number in range(4):
            memory.save(type="project", name=f"{name} {number}", description="x", scope="team")
            try:
                memory.team.sync()
            except memdir.MemdirError as error:
                failed.append(error.code)

    with Memdir(**options(tmp_path, server)) as memory:
        threads = [threading.Thread(target=work, args=(name,)) for name in ("ada", "bob", "eve")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        # Each of them may find that the others are always faster.
        assert set(failed) <= {"team-conflict", "busy"}
        memory.team.sync()
    files = {f"project_{name}_{number}.md" for name in ("ada", "bob", "eve") for number in range(4)}
    check_whole(tmp_path, server, files)


def test_an_agent_has_no_watch_of_its_projects_store(tmp_path: Path, server: TeamServer) -> None:
    opened = options(tmp_path, server, cwd=tmp_path)
    with Memdir(**opened) as memory:
        thread = threading.Thread(target=memory.team.watch)
        thread.start()
        with memory.agent("reviewer", "local") as agent:
            assert agent.team.conflicts() == []
        time.sleep(0.3)
        assert thread.is_alive()
    thread.join(5)
    assert not thread.is_alive()
