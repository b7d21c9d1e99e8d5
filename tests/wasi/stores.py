"""The stores that the tests read."""

import os
from pathlib import Path

WHEN = 1_773_570_600


def write(store: Path, path: str, text: str, age: int = 0) -> None:
    file = store / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8", newline="")
    os.utime(file, (WHEN - age, WHEN - age))


def write_sample(folder: Path) -> Path:
    """Twelve memories, some in folders, an index, and memdir's own files."""
    store = folder / "sample"
    write(
        store,
        "MEMORY.md",
        "# Memory\n\n- [Role](user_role.md): Go veteran\n- [Deploys](deploys.md): on Tuesdays\n",
    )
    write(
        store,
        "user_role.md",
        "---\nname: Role\ndescription: Go veteran, new to React\ntype: user\n---\n\nTen years.\n",
        10,
    )
    write(
        store,
        "deploys.md",
        "---\nname: Deploys\ndescription: fix: the deploy runs on Tuesdays\ntype: project\n"
        "modified: 2026-03-01T09:00:00Z\n---\n\nOn Tuesdays.\n",
        20,
    )
    write(
        store,
        "team/style.md",
        "---\ndescription: tabs\nmetadata:\n  type: feedback\n  pinned: true\n---\nTabs.\n",
        30,
    )
    write(store, "plain.md", "No frontmatter at all.\n", 40)
    write(store, "crlf.md", "\ufeff---\r\nname: crlf\r\ntype: reference\r\n---\r\nBody\r\n", 50)
    write(
        store, "long.md", "---\nname: long\nnotes: " + "x" * 9000 + "\ntype: user\n---\nBody\n", 60
    )
    for number in range(6):
        write(
            store,
            f"topics/topic {number} 项目.md",
            f"---\nname: topic {number}\n---\n",
            100 + number,
        )
    write(store, ".memdir/lock", "{}")
    write(store, ".memdir/hidden.md", "---\nname: never seen\n---\n")
    write(store, "half.md.memdir-tmp", "half")
    return store


def write_hostile(folder: Path) -> Path:
    """One good memory, and one of each thing that is none."""
    store = folder / "hostile"
    write(store, "good.md", "---\nname: good\ntype: user\n---\nGood.\n")
    write(store, "empty.md", "")
    write(store, "nul.md", "a\0b")
    (store / "latin1.md").write_bytes("caf\xe9".encode("latin-1"))
    (store / "utf16.md").write_bytes("text".encode("utf-16"))
    write(store, "unclosed.md", "---\nname: x\n")
    write(store, "bomb.md", "---\na: &a [x,x]\nb: &b [*a,*a]\nname: [*b,*b]\n---\n")
    (store / "folder.md").mkdir()
    os.mkfifo(store / "pipe.md")
    (store / "dangling.md").symlink_to("nowhere.md")
    (store / "loop.md").symlink_to("loop.md")
    (store / "inside.md").symlink_to("good.md")
    write(folder / "elsewhere", "secret.md", "---\nname: secret\n---\n")
    (store / "outside.md").symlink_to("../elsewhere/secret.md")
    (store / "absolute.md").symlink_to(folder / "elsewhere" / "secret.md")
    (store / "tofolder").symlink_to("../elsewhere")
    return store


# What a scan of the hostile store says: the path and the code.
HOSTILE_REPORT = {
    ("absolute.md", "link-outside"),
    ("bomb.md", "value-ignored"),
    ("dangling.md", "link-dangling"),
    ("empty.md", "empty"),
    ("folder.md", "not-a-file"),
    ("latin1.md", "not-utf8"),
    ("loop.md", "link-loop"),
    ("nul.md", "nul-byte"),
    ("outside.md", "link-outside"),
    ("pipe.md", "not-a-file"),
    ("tofolder", "link-to-folder"),
    ("unclosed.md", "frontmatter-unclosed"),
    ("utf16.md", "not-utf8"),
}
HOSTILE_MEMORIES = {"bomb.md", "empty.md", "good.md", "inside.md", "unclosed.md"}

# WASI never says where an absolute link leads.
WASI_REPORT = HOSTILE_REPORT - {("absolute.md", "link-outside")} | {("absolute.md", "unreadable")}
