"""Times Python's ways of reading the heads of a store: prints [[name, median ms], ...]."""

import json
import statistics
import sys
import time
from pathlib import Path

import frontmatter
import memdir

folder = Path(sys.argv[1])
ROUNDS = 100


def ours() -> None:
    with memdir.Memdir(directory=str(folder)) as memory:
        memory.scan()


def peer() -> None:
    for path in folder.rglob("*.md"):
        frontmatter.load(str(path))
        path.stat()


ways = [("memdir in Python", ours), ("python-frontmatter", peer)]
samples: dict[str, list[float]] = {name: [] for name, _ in ways}
for turn in range(-10, ROUNDS):
    for name, way in ways:
        start = time.perf_counter()
        way()
        if turn >= 0:
            samples[name].append((time.perf_counter() - start) * 1000)
print(json.dumps([[name, statistics.median(samples[name])] for name, _ in ways]))
