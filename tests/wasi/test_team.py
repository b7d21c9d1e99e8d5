"""Team memory: the component with a host in Python and a server in this process, and the commands
against the same server at an address of this machine."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from component import FORGET_OPTIONS, SAVE_OPTIONS, TEAM_OPTIONS, Component, MemdirError, Variant
from effects import Host, failed
from local_team_server import REPOSITORY, TOKEN, TeamServer, checksum, listening
from program import Program
from stores import write

URL = "https://memory.example.com"
ADDRESS = f"{URL}/api/claude_code/team_memory?repo=acme/widgets"
DEPLOYS = "---\nname: Deploys\ndescription: when\ntype: project\n---\nOn Tuesdays.\n"
NOTHING: dict[str, list[Any]] = {
    key: [] for key in ("received", "removed", "sent", "deleted", "conflicts", "report")
}
DAY = 86_400_000


def answering(server: TeamServer) -> Callable[..., Variant]:
    """Answers the effect `http`, without a network."""

    def http(method: str, url: str, headers: list[Any], body: Any, **_: int) -> Variant:
        given = {header["name"]: header["value"] for header in headers}
        data = b"" if body is None else body.payload["text"].encode()
        status, more, content = server.answer(method, url, given, data)
        answered = [{"name": name, "value": value} for name, value in sorted(more.items())]
        return Variant("http", {"status": status, "headers": answered, "body": content})

    return http


class Mate:
    """Somebody of the team: a folder, and a host of their own."""

    def __init__(
        self, component: Component, folder: Path, server: TeamServer, **options: Any
    ) -> None:
        self.component = component
        self.folder = folder
        self.host = Host(http=answering(server))
        given = {"url": URL, "token": TOKEN, "repository": REPOSITORY} | options
        self.store = component.open(folder, team=TEAM_OPTIONS | given)

    def flow(self, name: str, *arguments: Any) -> Any:
        return self.component.flow(f"store.{name}", self.store, *arguments)

    def run(self, name: str, *arguments: Any) -> Any:
        return self.flow(name, *arguments).run(self.host)

    def sync(self) -> dict[str, Any]:
        """What a sync has done, but for what it has not."""
        done = self.run("team-sync")
        assert set(done) == set(NOTHING)
        return {key: value for key, value in done.items() if value}

    def refused(self, name: str, *arguments: Any) -> tuple[str, str]:
        with pytest.raises(MemdirError) as error:
            self.run(name, *arguments)
        assert TOKEN not in error.value.message
        return error.value.code, error.value.message

    def save(self, name: str, body: str) -> dict[str, Any]:
        memory = {"type": "project", "name": name, "description": "when", "body": body}
        return self.run("save", SAVE_OPTIONS | memory | {"scope": "team"})

    def text(self, key: str) -> str:
        return (self.folder / "team" / key).read_text()


@pytest.fixture
def server() -> TeamServer:
    return TeamServer()


@pytest.fixture
def anna(component: Component, tmp_path: Path, server: TeamServer) -> Mate:
    return Mate(component, tmp_path / "anna", server)


@pytest.fixture
def ben(component: Component, tmp_path: Path, server: TeamServer) -> Mate:
    return Mate(component, tmp_path / "ben", server)


# The component.


def test_what_one_saves_the_other_has(anna: Mate, ben: Mate, server: TeamServer) -> None:
    key = Path(anna.save("Deploys", "On Tuesdays.")["path"]).name
    assert anna.sync() == {"sent": ["MEMORY.md", key]}
    assert server.asked() == ["GET 404", "GET hashes 404", "PUT 200"]
    assert ben.sync() == {"received": ["MEMORY.md", key]}
    assert ben.text(key) == anna.text(key) == server.entries[key]
    server.asked()
    # Nothing crosses twice.
    assert ben.run("team-sync") == NOTHING
    assert server.asked() == ["GET 304"]

    (ben.folder / "team" / key).write_text(DEPLOYS)
    assert ben.run("team-push") == NOTHING | {"sent": [key]}
    assert anna.run("team-pull") == NOTHING | {"received": [key]}
    assert anna.text(key) == DEPLOYS
    assert "team-sync" not in {event["kind"] for event in anna.host.events + ben.host.events}
    assert set(server.tokens) == {TOKEN}


def test_both_change_the_same_and_nothing_is_lost(
    anna: Mate, ben: Mate, server: TeamServer
) -> None:
    for mate in (anna, ben):
        write(mate.folder, "team/plan.md", "v1\n")
        mate.sync()
    write(anna.folder, "team/plan.md", "anna's\n")
    write(ben.folder, "team/plan.md", "ben's\n")
    assert anna.sync() == {"sent": ["plan.md"]}
    assert ben.run("team-conflicts") == {"conflicts": []}
    done = ben.sync()
    assert done["conflicts"] == ["plan.md"]
    assert ben.text("plan.md") == "anna's\n"

    (kept,) = ben.run("team-conflicts")["conflicts"]
    assert (kept["path"], kept["size"]) == ("team/plan.md", len("ben's\n"))
    file = ben.run("team-conflict", kept["id"])
    assert file.pop("content") == "ben's\n"
    assert file | {"size": kept["size"]} == kept
    assert ben.run("team-status")["conflicts"] == [kept]

    restored = ben.run("team-restore", kept["id"])
    assert (restored["outcome"], restored["path"]) == ("written", "team/plan.md")
    assert ben.run("team-conflicts") == {"conflicts": []}
    assert ben.sync() == {"sent": ["plan.md"]}
    assert anna.sync() == {"received": ["plan.md"]}
    assert anna.text("plan.md") == "ben's\n"
    for name in ("team-conflict", "team-restore", "team-drop"):
        assert ben.refused(name, kept["id"])[0] == "not-found"


def test_a_kept_version_can_be_dropped(anna: Mate, server: TeamServer) -> None:
    server.entries["plan.md"] = "the server's\n"
    write(anna.folder, "team/plan.md", "mine\n")
    assert anna.sync()["conflicts"] == ["plan.md"]
    (kept,) = anna.run("team-conflicts")["conflicts"]
    assert anna.run("team-drop", kept["id"]) is None
    assert anna.run("team-conflicts") == {"conflicts": []}
    assert anna.refused("team-drop", "../team/plan")[0] == "not-found"
    assert anna.text("plan.md") == "the server's\n"


def test_the_index_is_merged(anna: Mate, ben: Mate) -> None:
    for mate, name in ((anna, "Deploys"), (ben, "Holidays")):
        mate.save(name, "In May.")
    anna.sync()
    done = ben.sync()
    assert "conflicts" not in done
    anna.sync()
    assert anna.text("MEMORY.md") == ben.text("MEMORY.md")
    assert all(name in anna.text("MEMORY.md") for name in ("Deploys", "Holidays"))


def test_what_is_not_shared(anna: Mate, server: TeamServer) -> None:
    write(anna.folder, "team/me.md", "---\nname: Me\ntype: user\n---\nI like tea.\n")
    write(anna.folder, "team/large.md", "x" * 250_001)
    write(anna.folder, "team/con.md", "a device\n")
    write(anna.folder, "team/key.md", f"ghp_{checksum('no secret')[7:43]}\n")
    (anna.folder / "team/link.md").symlink_to("good.md")
    write(anna.folder, "team/good.md", "good\n")
    wanted = {
        ("team/me.md", "team-private"),
        ("team/large.md", "team-too-large"),
        ("team/con.md", "team-key"),
        ("team/key.md", "secret-found"),
        ("team/link.md", "team-link"),
    }
    status = anna.run("team-status")
    assert status["toSend"] == ["good.md"]
    assert {(entry["path"], entry["code"]) for entry in status["report"]} == wanted
    done = anna.sync()
    assert {(entry["path"], entry["code"]) for entry in done["report"]} == wanted
    assert done["sent"] == list(server.entries) == ["good.md"]


def test_what_the_server_should_not_have(anna: Mate, server: TeamServer) -> None:
    server.entries.update({"../out.md": "x", "a/good.md": "good\n", "large.md": "x" * 250_001})
    done = anna.sync()
    assert done["received"] == ["a/good.md"]
    assert {(entry["path"], entry["code"]) for entry in done["report"]} == {
        ("team/../out.md", "team-key"),
        ("team/large.md", "team-too-large"),
    }
    assert not (anna.folder / "out.md").exists()


def test_the_status_asks_nobody(
    component: Component, memdir: Program, tmp_path: Path, server: TeamServer
) -> None:
    project = tmp_path / "project"
    remote = "git@github.com:acme/widgets.git"
    write(project, ".git/config", f'[remote "origin"]\n\turl = {remote}\n')
    write(project, "memory/team/plan.md", "v1\n")
    folder = project / "memory"
    mate = Mate(component, folder, server)
    env = {"MEMDIR_TEAM_URL": URL, "MEMDIR_TEAM_TOKEN": TOKEN}
    mate.store = component.open(folder, cwd=str(project), env=env)
    first = mate.run("team-status")
    assert first == {
        "repository": REPOSITORY,
        "url": ADDRESS,
        "syncedMs": None,
        "toSend": ["plan.md"],
        "conflicts": [],
        "report": [],
    }
    assert "http" not in mate.host.seen

    def printed() -> Any:
        words = ["team", "status", "--json", "--dir", str(folder), "--cwd", str(project)]
        return memdir.run(*words, folders=[project], env=env).json

    assert printed() == first
    assert mate.sync() == {"sent": ["plan.md"]}
    after = mate.run("team-status")
    assert after["toSend"] == []
    assert after["syncedMs"] > 1_700_000_000_000
    assert printed() == after
    nowhere = component.flow("store.team-status", component.open(tmp_path / "store")).run(Host())
    assert (nowhere["repository"], nowhere["url"]) == (None, None)


def test_a_token_that_the_driver_gives(
    component: Component, tmp_path: Path, server: TeamServer
) -> None:
    # It counts more than one that is given as well.
    mate = Mate(component, tmp_path / "store", server, token="other", askToken=True)
    given = ["expired", TOKEN, TOKEN]
    mate.host.give_token = lambda: given.pop(0)
    write(mate.folder, "team/plan.md", "v1\n")
    assert mate.sync() == {"sent": ["plan.md"]}
    assert server.tokens[:2] == ["expired", TOKEN]
    assert server.asked()[0] == "GET 401"
    assert mate.host.seen.count("token") == 2

    mate.host.give_token = lambda: "wrong"
    code, message = mate.refused("team-sync")
    assert code == "team-auth"
    assert "wrong" not in message
    assert server.asked() == ["GET 401", "GET 401"]
    mate.host.give_token = None
    assert mate.refused("team-sync")[0] == "unsupported"
    mate.host.give_token = lambda: " \n"
    assert mate.refused("team-sync")[0] == "no-token"
    assert server.asked() == []


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"url": None}, "no-server"),
        ({"token": None}, "no-token"),
        ({"repository": None}, "no-repository"),
        ({"url": "http://memory.example.com"}, "invalid-argument"),
        ({"url": "memory.example.com"}, "invalid-argument"),
        ({"repository": "widgets"}, "invalid-argument"),
        ({"token": "two words"}, "invalid-argument"),
    ],
)
def test_what_must_be_known(
    component: Component, tmp_path: Path, server: TeamServer, options: dict[str, Any], code: str
) -> None:
    mate = Mate(component, tmp_path, server, **options)
    for name in ("team-pull", "team-push", "team-sync"):
        assert mate.refused(name)[0] == code
    assert server.asked() == []
    (family,) = {row["family"] for row in component.rule("error-table") if row["code"] == code}
    assert family == ("input" if code == "invalid-argument" else "team")


@pytest.mark.parametrize(
    ("status", "code", "tries"),
    [
        (401, "team-auth", 1),
        (403, "team-auth", 1),
        (302, "team-refused", 1),
        (400, "team-refused", 1),
        (409, "team-busy", 1),
        (429, "team-busy", 4),
        (503, "team-busy", 4),
        (200, "team-answer", 1),
    ],
)
def test_what_the_server_refuses(
    anna: Mate, server: TeamServer, status: int, code: str, tries: int
) -> None:
    server.refusals = [(status, {"location": "https://elsewhere.example.com"})] * 4
    assert anna.refused("team-pull")[0] == code
    assert server.asked() == [f"GET {status}"] * tries
    assert anna.host.seen.count("sleep") == tries - 1


def test_a_server_that_asks_for_patience(anna: Mate, server: TeamServer) -> None:
    pauses: list[int] = []

    def sleep(ms: int) -> Variant:
        pauses.append(ms)
        return Variant("done")

    anna.host.sleep = sleep
    server.refusals = [(503, {}), (429, {"retry-after": "7"})]
    assert anna.run("team-pull") == NOTHING
    first, second = pauses
    assert 500 <= first <= 625
    assert second == 7_000


def test_no_way_to_the_server(anna: Mate) -> None:
    anna.host.exchange = lambda **_: failed("network", f"refused; {TOKEN} was sent")
    code, message = anna.refused("team-pull")
    assert code == "network"
    assert "(token)" in message
    anna.host.exchange = None
    assert anna.refused("team-pull")[0] == "unsupported"


def test_a_sync_can_be_cancelled(anna: Mate, server: TeamServer) -> None:
    write(anna.folder, "team/plan.md", "v1\n")
    flow = anna.flow("team-sync")

    def perform(effect: Variant) -> Variant | None:
        if effect.tag == "http":
            flow.cancel()
            return failed("aborted", "stopped")
        return anna.host(effect)

    with pytest.raises(MemdirError) as error:
        flow.run(perform)
    assert error.value.code == "aborted"
    assert server.asked() == []
    assert anna.sync() == {"sent": ["plan.md"]}


def test_what_is_forgotten_stays_on_the_server_or_goes_after_a_week(
    component: Component, tmp_path: Path, server: TeamServer
) -> None:
    for deletions in ("keep", "propagate"):
        server.entries.clear()
        mate = Mate(component, tmp_path / deletions, server, deletions=deletions)
        other = Mate(component, tmp_path / f"other-{deletions}", server)
        late = Later(mate.host)
        write(mate.folder, "team/plan.md", "v1\n")
        mate.sync()
        other.sync()
        forgotten = mate.run("forget", "team/plan.md", FORGET_OPTIONS)
        assert [entry["code"] for entry in forgotten["report"]] == ["team-keeps-copy"]
        assert mate.sync() == {}
        assert not (mate.folder / "team/plan.md").exists()
        late.by = 7 * DAY
        if deletions == "keep":
            assert mate.sync() == {}
            assert server.entries == {"plan.md": "v1\n"}
            assert other.sync() == {}
        else:
            assert mate.sync() == {"deleted": ["plan.md"]}
            assert other.sync() == {"removed": ["plan.md"]}
            assert not (other.folder / "team/plan.md").exists()


class Later:
    """Moves the clock of a host."""

    def __init__(self, host: Host) -> None:
        self.by = 0
        self.clock = host.now
        host.now = self.now

    def now(self) -> Variant:
        clock = self.clock().payload
        return Variant("now", clock | {"ms": clock["ms"] + self.by})


class Watching:
    """Answers `watch` and `sleep` at once; what happens at each `watch` is given."""

    def __init__(self, host: Host, *happens: Any) -> None:
        self.happens = list(happens)
        self.paths: list[str] = []
        self.limits: list[dict[str, int]] = []
        host.watch = self.watch

    def watch(self, path: str, **limits: int) -> Variant:
        self.limits.append(limits)
        self.paths.append(path)
        happens = self.happens.pop(0)
        if happens is not None:
            happens()
        return Variant("changed", {"changed": happens is not None})


def test_watching_ends_when_the_store_is_closed(anna: Mate, ben: Mate, server: TeamServer) -> None:
    closed = []

    def edit(text: str) -> None:
        write(anna.folder, "team/plan.md", text)

    def from_ben() -> None:
        write(ben.folder, "team/bens.md", "ben's\n")
        ben.sync()

    watching = Watching(
        anna.host,
        lambda: edit("one\n"),
        from_ben,
        None,
        lambda: edit("one and two\n"),
        lambda: closed.append(anna.run("close")),
    )
    write(anna.folder, "team/first.md", "first\n")
    assert anna.run("team-watch", 6_000) is None
    assert closed == [None]
    assert set(watching.paths) == {f"{anna.folder}/team"}
    assert watching.happens == []
    # Five seconds, but no longer than until the next sync is due.
    assert [limits["timeoutMs"] for limits in watching.limits] == [
        5_000,
        3_000,
        2_000,
        5_000,
        3_000,
    ]
    assert (server.entries["first.md"], server.entries["plan.md"]) == ("first\n", "one and two\n")
    assert anna.text("bens.md") == "ben's\n"
    said = [event["message"] for event in anna.host.events if event["kind"] == "team-sync"]
    assert said == ["sent: 1", "sent: 1", "received: 1", "sent: 1"]


def test_watching_can_be_cancelled_and_tells_what_goes_wrong(
    anna: Mate, server: TeamServer
) -> None:
    server.refusals = [(403, {})]
    flow = anna.flow("team-watch", None)
    Watching(anna.host, None, flow.cancel)
    with pytest.raises(MemdirError) as error:
        flow.run(anna.host)
    assert error.value.code == "aborted"
    (event,) = anna.host.events
    assert event["kind"] == "warning"
    assert "403" in event["message"]
    # A token that is refused is not tried again and again.
    assert server.asked() == ["GET 403"]


def test_closing_uploads_what_is_left(anna: Mate, server: TeamServer) -> None:
    write(anna.folder, "team/plan.md", "v1\n")
    anna.sync()
    write(anna.folder, "team/plan.md", "the last words\n")
    assert anna.run("close") is None
    assert server.entries == {"plan.md": "the last words\n"}
    assert anna.host.events == []


def test_closing_tells_what_did_not_make_it(anna: Mate, ben: Mate, server: TeamServer) -> None:
    anna.sync()
    for mate in (anna, ben):
        write(mate.folder, "team/plan.md", "v1\n")
        mate.host.exchange = lambda **_: failed("timeout", "too slow")
    assert anna.run("close") is None
    assert [(event["code"], event["path"]) for event in anna.host.events] == [
        ("team-not-sent", "team/plan.md")
    ]
    # Who never spoke to the server does not at the end.
    ben.host.seen.clear()
    assert ben.run("close") is None
    assert "http" not in ben.host.seen
    assert ben.host.events == []


# The commands.


def command(program: Program, folder: Path, *words: str, url: str = "", **options: Any) -> Any:
    env = {"MEMDIR_TEAM_URL": url, "MEMDIR_TEAM_TOKEN": TOKEN} | options.pop("env", {})
    given = ["team", *words, "--dir", str(folder), *options.pop("options", ["--repo", REPOSITORY])]
    return program.run(*given, folders=[folder.parent], env=env, **options)


def test_the_command_syncs_two_folders(
    memdir_http: Program, tmp_path: Path, server: TeamServer
) -> None:
    anna, ben = tmp_path / "anna", tmp_path / "ben"
    write(anna, "team/plan.md", "v1 项目\n")
    # More than one upload, and more than fits into one write.
    for number in range(5):
        write(anna, f"team/topics/{number}.md", f"{number}" * 90_000)
    with listening(server) as url:

        def sync(folder: Path, *words: str) -> Any:
            return command(memdir_http, folder, *(words or ["sync"]), url=url)

        first = sync(anna)
        assert (first.code, first.stderr) == (0, "sent: 6\n")
        assert "sent: plan.md\n" in first.stdout
        assert server.asked()[2:] == ["PUT 200"] * 3
        assert sync(ben).stdout.count("received: ") == 6
        assert (ben / "team/plan.md").read_text() == "v1 项目\n"
        assert (ben / "team/topics/4.md").read_text() == "4" * 90_000
        server.asked()
        again = sync(ben)
        assert (again.stdout, again.stderr) == ("", "nothing to do\n")
        assert server.asked() == ["GET 304"]

        write(anna, "team/plan.md", "anna's\n")
        write(ben, "team/plan.md", "ben's\n")
        assert sync(anna, "push", "--json").json == NOTHING | {"sent": ["plan.md"]}
        assert "conflict: plan.md\n" in sync(ben, "pull").stdout
        assert (ben / "team/plan.md").read_text() == "anna's\n"
        (kept,) = sync(ben, "conflicts", "--json").json["conflicts"]
        assert kept["path"] == "team/plan.md"
        assert sync(ben, "conflicts", "show", kept["id"]).stdout == "ben's\n"
        assert sync(ben, "conflicts", "restore", kept["id"]).stdout == "restored: team/plan.md\n"
        assert sync(ben).stderr == "sent: 1\n"
        assert sync(anna).stderr == "received: 1\n"
        assert sync(ben, "conflicts", "drop", kept["id"]).code == 1
    assert (anna / "team/plan.md").read_text() == "ben's\n"
    assert server.entries["plan.md"] == "ben's\n"
    assert set(server.tokens) == {TOKEN}


def test_the_repository_is_that_of_the_git_remote(
    memdir_http: Program, tmp_path: Path, server: TeamServer
) -> None:
    project = tmp_path / "project"
    remote = "https://github.com/acme/other.git"
    write(project, ".git/config", f'[remote "origin"]\n\turl = {remote}\n')
    write(project / "memory", "team/plan.md", "v1\n")
    with listening(server) as url:
        options = ["--cwd", str(project), "--url", url]
        ran = command(memdir_http, project / "memory", "push", options=options)
    assert (ran.code, ran.stderr) == (0, "sent: 1\n")
    assert server.repositories == {"acme/other": {"plan.md": "v1\n"}}


def test_the_command_says_why_not(memdir_http: Program, tmp_path: Path, server: TeamServer) -> None:
    folder = tmp_path / "store"
    write(folder, "team/plan.md", "v1\n")
    with listening(server) as url:
        for env, code in (
            ({"MEMDIR_TEAM_TOKEN": "wrong"}, "team-auth"),
            ({"MEMDIR_TEAM_TOKEN": ""}, "no-token"),
            ({"MEMDIR_TEAM_URL": ""}, "no-server"),
            ({"MEMDIR_TEAM_URL": "http://memory.example.com"}, "invalid-argument"),
        ):
            ran = command(memdir_http, folder, "sync", url=url, env=env)
            assert (ran.code, ran.stdout) == (1, "")
            assert f"[{code}]" in ran.stderr
            assert "wrong" not in ran.stderr
        # Where a redirect leads nothing is sent.
        server.refusals = [(307, {"location": f"{url}/elsewhere"})]
        server.asked()
        assert "[team-refused]" in command(memdir_http, folder, "sync", url=url).stderr
        assert server.asked() == ["GET 307"]
    assert server.history == []


def test_a_folder_that_may_only_be_read(
    memdir_http: Program, tmp_path: Path, server: TeamServer
) -> None:
    folder = tmp_path / "store"
    folder.mkdir()
    server.entries["plan.md"] = "v1\n"
    with listening(server) as url:
        ran = command(memdir_http, folder, "pull", url=url, writable=False)
    assert ran.code == 1
    assert "[permission]" in ran.stderr or "[read-only]" in ran.stderr


def test_the_plain_build_asks_no_server(
    memdir: Program, tmp_path: Path, server: TeamServer
) -> None:
    folder = tmp_path / "store"
    write(folder, "team/plan.md", "v1\n")
    with listening(server) as url:
        for word in ("pull", "push", "sync"):
            ran = command(memdir, folder, word, url=url)
            assert (ran.code, ran.stdout) == (1, "")
            assert "[unsupported]" in ran.stderr
            assert "memdir-http.wasm" in ran.stderr
        status = command(memdir, folder, "status", "--json", url=url)
        assert json.loads(status.stdout)["toSend"] == ["plan.md"]
        conflicts = command(memdir, folder, "conflicts", url=url)
        assert (conflicts.code, conflicts.stderr) == (0, "kept versions: 0\n")
    assert server.asked() == []
