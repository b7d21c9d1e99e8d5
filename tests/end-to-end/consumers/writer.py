"""One of many writers; argv: the store, the writer's name, how often (0: for ever).

Prints the path of each memory that it was told is written.
"""

import itertools
import sys

import memdir

SHARED = "project_shared.md"


def told(what: str | None, outcome: str) -> None:
    if outcome != "written":
        raise SystemExit(f"{what}: {outcome}")
    print(what, flush=True)


def add_line(memory: memdir.Memdir, line: str) -> None:
    """Adds a line to a memory that all change: reads it again when somebody was faster."""
    while True:
        file = memory.read(SHARED)
        saved = memory.save(path=SHARED, body=f"{file.body}\n- {line}", expect=file.hash)
        if saved.outcome != "conflict":
            told(line, saved.outcome)
            return


directory, writer, count = sys.argv[1:]
with memdir.Memdir(directory=directory) as memory:
    for number in range(int(count)) if count != "0" else itertools.count():
        name = f"{writer} {number}"
        if number % 3 == 2:
            add_line(memory, name)
        else:
            saved = memory.save(
                type="project",
                name=name,
                description=f"of {name}",
                body=f"Body of {name}.",
                scope="private" if number % 3 == 0 else "team",
            )
            told(saved.path, saved.outcome)
