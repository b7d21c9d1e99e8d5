"""memdir.wasm and memdir-http.wasm: what they may touch, and the command line over real files."""

import os
from pathlib import Path

import pytest
from program import Program
from stores import HOSTILE_MEMORIES, WASI_REPORT, write


@pytest.fixture(params=["memdir", "memdir_http"])
def program(request: pytest.FixtureRequest) -> Program:
    return request.getfixturevalue(request.param)


def interfaces(program: Program) -> set[str]:
    return {name.split("@")[0].split("/")[0] for name in program.imports}


def test_the_plain_build_has_no_way_to_the_network(memdir: Program) -> None:
    assert interfaces(memdir) <= {
        "wasi:cli",
        "wasi:clocks",
        "wasi:filesystem",
        "wasi:io",
        "wasi:random",
    }
    assert "wasi:filesystem" in interfaces(memdir)


def test_the_other_build_has_http_and_no_sockets(memdir_http: Program) -> None:
    assert "wasi:http" in interfaces(memdir_http)
    assert "wasi:sockets" not in interfaces(memdir_http)


def test_scan_as_text_and_as_json(program: Program, sample: Path) -> None:
    text = program.run("scan", "--dir", str(sample), folders=[sample])
    assert text.code == 0
    assert len(text.stdout.splitlines()) == 12
    assert text.stdout.startswith("- [user] user_role.md (")
    found = program.run("scan", "--dir", str(sample), "--json", folders=[sample]).json
    assert found["directory"] == f"{sample}/"
    assert set(found["memories"][0]) == {
        *("path", "name", "description", "type", "scope", "pinned", "modifiedMs", "mtimeMs", "size")
    }
    assert [entry["code"] for entry in found["report"]] == ["frontmatter-repaired"]


def test_show_prints_the_file_as_it_is(program: Program, sample: Path) -> None:
    shown = program.run("show", "crlf.md", "--dir", str(sample), folders=[sample])
    assert shown.stdout.encode() == (sample / "crlf.md").read_bytes()


def test_prompt_of_a_folder_that_may_only_be_read(program: Program, tmp_path: Path) -> None:
    store = tmp_path / "store"
    store.mkdir()
    ran = program.run("prompt", "--dir", str(store), folders=[store], writable=False)
    assert (ran.code, ran.stderr) == (0, "")
    missing = program.run("prompt", "--dir", str(store / "new"), folders=[store], writable=False)
    assert missing.code == 0
    assert "cannot be created" in missing.stderr


def test_prompt_creates_the_folder(program: Program, tmp_path: Path) -> None:
    store = tmp_path / "not" / "yet"
    ran = program.run("prompt", "--dir", str(store), folders=[tmp_path])
    assert (ran.code, ran.stderr) == (0, "")
    assert str(store) in ran.stdout
    assert store.is_dir()


def test_a_relative_folder_is_looked_up_from_the_root_of_the_sandbox(
    memdir: Program, sample: Path
) -> None:
    ran = memdir.run("scan", "--json", "--dir", str(sample).lstrip("/"), folders=[sample])
    assert ran.json["directory"] == f"{sample}/"


def test_nothing_outside_the_given_folders_is_seen(
    program: Program, sample: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    ran = program.run("scan", "--json", "--dir", str(sample), folders=[other])
    assert ran.json["memories"] == []
    assert [entry["code"] for entry in ran.json["report"]] == ["unlistable"]


def test_failures_and_wrong_usage(program: Program, sample: Path) -> None:
    # WASI 0.2 has one exit code for both.
    missing = program.run("show", "missing.md", "--dir", str(sample), folders=[sample])
    assert (missing.code, missing.stdout) == (1, "")
    assert "missing.md" in missing.stderr
    assert "[not-found]" in missing.stderr
    wrong = program.run("scam")
    assert (wrong.code, wrong.stdout) == (1, "")
    assert "[usage]" in wrong.stderr


def test_help_and_version(program: Program) -> None:
    assert program.run("--version").stdout.startswith("memdir ")
    assert "scan" in program.run("--help").stdout


def test_a_hostile_store(program: Program, hostile: Path) -> None:
    # The whole folder around the store is given, so the program can see where its links lead.
    ran = program.run("scan", "--json", "--dir", str(hostile), folders=[hostile.parent])
    assert ran.code == 0
    assert {memory["path"] for memory in ran.json["memories"]} == HOSTILE_MEMORIES
    assert {(entry["path"], entry["code"]) for entry in ran.json["report"]} == WASI_REPORT
    assert "secret" not in ran.stdout
    shown = program.run("show", "outside.md", "--dir", str(hostile), folders=[hostile.parent])
    assert (shown.code, shown.stdout) == (1, "")
    assert "[link-outside]" in shown.stderr


def test_a_link_out_of_the_sandbox_leads_nowhere(program: Program, hostile: Path) -> None:
    ran = program.run("scan", "--json", "--dir", str(hostile), folders=[hostile])
    assert {memory["path"] for memory in ran.json["memories"]} == HOSTILE_MEMORIES
    codes = {entry["path"]: entry["code"] for entry in ran.json["report"]}
    # In the sandbox there is nothing where it leads. Nobody can tell that the other one leads to a
    # folder, and it has not the name of a memory.
    assert codes.pop("outside.md") == "link-dangling"
    assert codes == {
        path: code for path, code in WASI_REPORT if path not in ("outside.md", "tofolder")
    }


def test_a_name_that_is_not_utf8_ends_the_listing_and_is_reported(
    program: Program, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    write(store, "sub/good.md", "---\nname: good\n---\n")
    write(store, "bad/good.md", "---\nname: good\n---\n")
    (Path(os.fsdecode(os.fsencode(store / "bad") + b"/caf\xe9.md"))).write_text("x")
    ran = program.run("scan", "--json", "--dir", str(store), folders=[store])
    assert ran.code == 0
    assert "sub/good.md" in [memory["path"] for memory in ran.json["memories"]]
    assert ("bad", "listing-incomplete") in [
        (entry["path"], entry["code"]) for entry in ran.json["report"]
    ]


def test_a_huge_file_is_not_read(program: Program, tmp_path: Path) -> None:
    store = tmp_path / "store"
    write(store, "good.md", "---\nname: good\n---\n")
    with (store / "huge.md").open("wb") as file:
        file.write(b"---\nname: huge\n---\n" + b"text\n" * 2000)
        # Sparse: more than a 32-bit program could hold.
        file.truncate(5 * 1024**3)
    ran = program.run("scan", "--json", "--dir", str(store), folders=[store])
    sizes = {memory["name"]: memory["size"] for memory in ran.json["memories"]}
    assert sizes == {"good": 19, "huge": 5 * 1024**3}
    assert [(entry["path"], entry["code"]) for entry in ran.json["report"]] == [
        ("huge.md", "large")
    ]
