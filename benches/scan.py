"""Times Python's ways of reading the heads of a store: prints [[name, median ms], ...]."""

import json
import statistics
import sys
import time
from collections.abc import Callable
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


def median_ms(way: Callable[[], None]) -> float:
    """Time a way alone, so that it does not pay for the garbage of another."""
    samples = []
    for turn in range(-10, ROUNDS):
        start = time.perf_counter()
        way()
        if turn >= 0:
            samples.append((time.perf_counter() - start) * 1000)
    return statistics.median(samples)


ways = [("memdir in Python", ours), ("python-frontmatter", peer)]
print(json.dumps([[name, median_ms(way)] for name, way in ways]))
