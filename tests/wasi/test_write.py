"""Saving and forgetting: the component with a host in Python, and memdir.wasm over real files."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from component import FORGET_OPTIONS, SAVE_OPTIONS, Component, MemdirError, Variant
from effects import Host, failed
from program import Program
from stores import write

FREEZE = {
    "type": "project",
    "name": "Release freeze",
    "description": "From Thursday on",
    "body": "No merges.\n",
}
PATH = "project_release_freeze.md"
LINE = f"- [Release freeze]({PATH}) — From Thursday on\n"


class Writer:
    """The writing flows of one store."""

    def __init__(self, component: Component, directory: Path, **options: Any) -> None:
        self.component = component
        self.store = component.open(directory, **options)
        self.host = Host()

    def start(self, name: str, *arguments: Any) -> Any:
        return self.component.flow(f"store.{name}", self.store, *arguments)

    def save(self, **options: Any) -> Any:
        return self.start("save", SAVE_OPTIONS | options).run(self.host)

    def forget(self, path: str, **options: Any) -> Any:
        return self.start("forget", path, FORGET_OPTIONS | options).run(self.host)

    def undo(self, path: str | None = None) -> Any:
        return self.start("undo-forget", path).run(self.host)

    def read(self, path: str) -> Any:
        return self.start("read", path).run(self.host)


def hash_of(file: Path) -> str:
    return f"sha256:{hashlib.sha256(file.read_bytes()).hexdigest()}"


def left_over(store: Path) -> list[str]:
    """What a writer leaves behind only when it is cut off."""
    names = [path.name for path in store.rglob("*")]
    return [name for name in names if name == "lock" or name.endswith(".memdir-tmp")]


def says(result: dict[str, Any], outcome: str, code: str | None = None) -> bool:
    return (result["outcome"], result["code"]) == (outcome, code)


def test_a_memory_comes_changes_goes_and_comes_back(component: Component, tmp_path: Path) -> None:
    store = tmp_path / "store"
    memory = Writer(component, store)
    saved = memory.save(**FREEZE)
    assert saved == {
        "outcome": "written",
        "path": PATH,
        "absolutePath": str(store / PATH),
        "hash": hash_of(store / PATH),
        "created": True,
        "indexChanged": True,
        "code": None,
        "message": None,
        "report": [],
    }
    assert (store / "MEMORY.md").read_text() == LINE
    file = memory.read(PATH)
    assert (file["body"], file["hash"]) == ("No merges.", saved["hash"])
    assert file["content"] == (store / PATH).read_text()

    again = memory.save(**FREEZE)
    assert again == saved | {"outcome": "unchanged", "created": False, "indexChanged": False}

    changed = memory.save(path=PATH, body="Merges again.", expect=saved["hash"])
    assert says(changed, "written")
    assert (changed["created"], changed["indexChanged"]) == (False, False)
    assert changed["hash"] == hash_of(store / PATH) != saved["hash"]
    assert memory.read(PATH)["header"]["name"] == "Release freeze"
    for stale in (
        memory.save(path=PATH, body="Never.", expect=saved["hash"]),
        memory.forget(PATH, expect=saved["hash"]),
    ):
        assert says(stale, "conflict", "exists")
        assert stale["hash"] == changed["hash"]
        assert stale["message"]

    text = (store / PATH).read_bytes()
    gone = memory.forget(PATH, expect=changed["hash"])
    assert says(gone, "written")
    assert (gone["hash"], gone["indexChanged"]) == (None, True)
    assert not (store / PATH).exists()
    assert (store / "MEMORY.md").read_text() == ""
    back = memory.undo()
    assert says(back, "written")
    assert (back["path"], back["hash"], back["created"]) == (PATH, changed["hash"], True)
    assert (store / PATH).read_bytes() == text
    assert (store / "MEMORY.md").read_text() == LINE
    assert says(memory.undo(PATH), "refused", "not-found")
    assert left_over(store) == []


def test_a_team_memory_that_is_forgotten_is_still_with_the_team(
    component: Component, tmp_path: Path
) -> None:
    memory = Writer(component, tmp_path / "store")
    saved = memory.save(type="reference", name="On call", scope="team")
    assert saved["path"] == "team/reference_on_call.md"
    assert (tmp_path / "store/team/MEMORY.md").read_text() == "- [On call](reference_on_call.md)\n"
    gone = memory.forget(saved["path"])
    assert [(entry["path"], entry["code"]) for entry in gone["report"]] == [
        (saved["path"], "team-keeps-copy")
    ]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"name": "Role"}, "invalid-argument"),
        ({"type": "user", "name": " "}, "invalid-argument"),
        ({"path": "MEMORY.md"}, "invalid-argument"),
        ({"path": "good.txt"}, "invalid-argument"),
        ({"path": "good.md", "scope": "team"}, "invalid-argument"),
        ({"path": "good.md", "expect": "sha256:1"}, "invalid-argument"),
        ({"path": "new.md", "body": "x"}, "invalid-argument"),
        ({"path": "good.md", "body": "a\0b"}, "invalid-text"),
        ({"type": "user", "name": "Role", "scope": "team"}, "user-private"),
        ({"path": "flow.md", "name": "New"}, "frontmatter-invalid"),
        ({"path": "../new.md", "type": "user", "name": "Role"}, "path-outside-store"),
        ({"path": "outside.md", "body": "x"}, "link-outside"),
        ({"path": "absolute.md", "body": "x"}, "link-outside"),
        ({"path": "tofolder/secret.md", "body": "x"}, "link-outside"),
        ({"path": "folder.md", "body": "x"}, "is-a-directory"),
        ({"path": "pipe.md", "body": "x"}, "unsupported"),
        ({"path": "latin1.md", "body": "x"}, "not-text"),
    ],
)
def test_what_a_rule_forbids_is_refused(
    component: Component, hostile: Path, options: dict[str, Any], code: str
) -> None:
    write(hostile, "flow.md", "---\n{name: old, other: 1}\n---\n")
    before = contents(hostile.parent)
    refused = Writer(component, hostile).save(**options)
    assert says(refused, "refused", code), refused
    assert refused["message"]
    assert contents(hostile.parent) == before


def contents(folder: Path) -> dict[str, Any]:
    """Every file with its bytes and every link with its target, but for memdir's own."""
    return {
        str(path.relative_to(folder)): path.readlink() if path.is_symlink() else path.read_bytes()
        for path in folder.rglob("*")
        if (path.is_symlink() or path.is_file()) and ".memdir" not in path.parts
    }


def test_a_link_within_the_store_is_written_through(component: Component, hostile: Path) -> None:
    assert says(Writer(component, hostile).save(path="inside.md", body="Better."), "written")
    assert (hostile / "inside.md").is_symlink()
    assert "Better." in (hostile / "good.md").read_text()


def test_what_the_disk_says_is_an_error(component: Component, tmp_path: Path) -> None:
    class Full(Host):
        def write(self, path: str, **rest: Any) -> Variant:
            if ".memdir" in path and Path(path).name.startswith("write-"):
                return failed("no-space", "the disk is full")
            return super().write(path, **rest)

    memory = Writer(component, tmp_path / "store")
    memory.save(**FREEZE)
    before = contents(tmp_path)
    memory.host = Full()
    with pytest.raises(MemdirError) as error:
        memory.save(path=PATH, body="More.")
    assert error.value.code == "no-space"
    assert contents(tmp_path) == before
    assert left_over(tmp_path) == []


def test_nothing_is_written_while_memory_is_off(component: Component, tmp_path: Path) -> None:
    env = {"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"}
    memory = Writer(component, tmp_path / "store", env=env)
    for run in (lambda: memory.save(**FREEZE), lambda: memory.forget(PATH), memory.undo):
        with pytest.raises(MemdirError) as error:
            run()
        assert error.value.code == "disabled"
    assert list(tmp_path.iterdir()) == []


def test_saves_side_by_side_wait_for_each_other(component: Component, tmp_path: Path) -> None:
    memory = Writer(component, tmp_path / "store")
    names = ["One", "Two", "Three"]
    flows = [memory.start("save", SAVE_OPTIONS | FREEZE | {"name": name}) for name in names]
    steps = [flow.resume([]) for flow in flows]
    while any(step.tag == "effects" for step in steps):
        for number, step in enumerate(steps):
            if step.tag == "effects":
                asked = step.payload["requests"]
                answers = [
                    {"id": each["id"], "outcome": memory.host(each["effect"])} for each in asked
                ]
                steps[number] = flows[number].resume(answers)
    assert all(says(step.payload["value"].payload, "written") for step in steps)
    assert "sleep" in memory.host.seen
    assert len((tmp_path / "store/MEMORY.md").read_text().splitlines()) == 3
    assert left_over(tmp_path) == []


def test_a_save_that_was_cut_off_stops_nobody(component: Component, tmp_path: Path) -> None:
    class CutError(Exception):
        pass

    class Mortal(Host):
        def __init__(self, effects: int) -> None:
            super().__init__()
            self.left = effects

        def host_info(self) -> Variant:
            info = super().host_info()
            return Variant("host-info", info.payload | {"pid": dead.pid})

        def __call__(self, effect: Variant) -> Variant | None:
            if self.left == 0:
                raise CutError
            self.left -= 1
            return super().__call__(effect)

    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    cut = 0
    while True:
        store = tmp_path / str(cut)
        memory = Writer(component, store)
        first = memory.start("save", SAVE_OPTIONS | FREEZE)
        try:
            first.run(Mortal(cut))
            break
        except CutError:
            # Nobody resumes it any more.
            first.drop()
        result = memory.save(**FREEZE)
        assert result["outcome"] in ("written", "unchanged"), cut
        assert (store / "MEMORY.md").read_text() == LINE
        assert memory.read(PATH)["body"] == "No merges."
        assert left_over(store) == [], cut
        cut += 1
    assert cut > 10


def run(program: Program, store: Path, *arguments: str, **options: Any) -> Any:
    return program.run(*arguments, "--dir", str(store), folders=[store.parent], **options)


def test_the_command_saves_forgets_and_brings_back(memdir: Program, tmp_path: Path) -> None:
    store = tmp_path / "store"
    about = ["--type", "project", "--name", "Release freeze"]
    more = ["--description", "From Thursday on"]
    saved = run(memdir, store, "save", *about, *more, stdin=b"No merges.\n")
    assert (saved.code, saved.stdout, saved.stderr) == (0, f"saved: {PATH}\n", "")
    assert (store / "MEMORY.md").read_text() == LINE
    shown = run(memdir, store, "show", PATH, "--json").json
    assert (shown["body"], shown["hash"]) == ("No merges.", hash_of(store / PATH))

    change = ["save", "--path", PATH, "--json", "--expect"]
    changed = run(memdir, store, *change, shown["hash"], stdin=b"Merges again.")
    assert (changed.code, changed.json["outcome"]) == (0, "written")
    stale = run(memdir, store, *change, shown["hash"], stdin=b"Never.")
    assert stale.code == 1
    assert says(stale.json, "conflict", "exists")

    gone = run(memdir, store, "forget", PATH)
    assert (gone.code, gone.stdout, gone.stderr) == (0, f"forgot: {PATH}\n", "")
    assert not (store / PATH).exists()
    assert run(memdir, store, "forget", PATH).code == 1
    back = run(memdir, store, "forget", "--undo", "--json").json
    assert back["hash"] == changed.json["hash"] == hash_of(store / PATH)
    assert (store / "MEMORY.md").read_text() == LINE
    assert left_over(store) == []


def test_the_command_says_what_the_component_says(
    component: Component, memdir: Program, tmp_path: Path
) -> None:
    for folder in ("one", "other"):
        write(tmp_path / folder, "a.md", "---\nname: A\ntype: user\n---\nText\n")
        write(tmp_path / folder, "MEMORY.md", "- [A](a.md)\n")
    said = Writer(component, tmp_path / "one").forget("a.md")
    printed = run(memdir, tmp_path / "other", "forget", "a.md", "--json").json
    assert printed == said | {"absolutePath": str(tmp_path / "other/a.md")}


def test_the_command_writes_nothing_outside_the_store(memdir: Program, hostile: Path) -> None:
    before = contents(hostile.parent)
    # WASI does not say where an absolute link leads; it follows neither.
    for path in ("outside.md", "absolute.md", "tofolder/secret.md", "../elsewhere/secret.md"):
        saved = run(memdir, hostile, "save", "--path", path, stdin=b"x")
        assert (saved.code, saved.stdout) == (1, ""), path
    assert contents(hostile.parent) == before
    assert left_over(hostile) == []


def test_a_folder_that_may_only_be_read(memdir: Program, tmp_path: Path) -> None:
    write(tmp_path / "store", "a.md", "---\nname: A\n---\n")
    for arguments in (["save", "--path", "a.md"], ["forget", "a.md"]):
        ran = run(memdir, tmp_path / "store", *arguments, stdin=b"x", writable=False)
        assert (ran.code, ran.stdout) == (1, "")
        assert "[permission]" in ran.stderr or "[read-only]" in ran.stderr
    assert [path.name for path in (tmp_path / "store").iterdir()] == ["a.md"]


def test_the_lock_of_a_dead_writer_is_taken_over(memdir: Program, tmp_path: Path) -> None:
    # WASI knows no processes, so it takes five seconds of silence.
    write(tmp_path / "store", ".memdir/lock", '{"token":"0","hostId":"elsewhere","pid":1}')
    write(tmp_path / "store", ".memdir/write-0-0.memdir-tmp", "half")
    ran = run(memdir, tmp_path / "store", "save", "--type", "user", "--name", "Role")
    assert (ran.code, ran.stdout) == (0, "saved: user_role.md\n")
    assert left_over(tmp_path) == []


def test_processes_write_to_one_store_at_once(memdir: Program, tmp_path: Path) -> None:
    store = tmp_path / "store"
    store.mkdir()
    compiled = memdir.compiled(tmp_path)
    writer = [sys.executable, Path(__file__).with_name("writer.py"), compiled, store]
    names = ["Ada", "Bob", "Cyd", "Dan"]
    processes = [
        subprocess.Popen([*writer, name, "30"], stdout=subprocess.PIPE, text=True) for name in names
    ]
    results = {
        name: json.loads(process.communicate()[0])
        for name, process in zip(names, processes, strict=True)
    }
    assert [process.returncode for process in processes] == [0] * 4

    races = {name: result.pop(0) for name, result in results.items()}
    (winner,) = [name for name, race in races.items() if race["outcome"] == "written"]
    assert f"Race of {winner}" in (store / "race.md").read_text()
    lost = [race for name, race in races.items() if name != winner]
    assert all(says(race, "conflict", "exists") for race in lost), lost
    assert {race["hash"] for race in races.values()} == {hash_of(store / "race.md")}

    for each in (result for all_of_one in results.values() for result in all_of_one):
        assert (each["exit"], each["outcome"]) == (0, "written"), each
    expected = {"race.md"} | {
        f"project_note_{number}_of_{name.lower()}.md"
        for name in names
        for number in range(30)
        if number % 3 != 2
    }
    assert {path.name for path in store.glob("*.md")} == expected | {"MEMORY.md"}
    lines = (store / "MEMORY.md").read_text().splitlines()
    assert sorted(line.split("](")[1].split(")")[0] for line in lines) == sorted(expected)
    assert run(memdir, store, "lint", "--json").json == {"findings": []}
    assert left_over(store) == []
