"""Answers questions with Python's BM25 rankers: prints [[name, [[path, ...], ...]], ...].

Each ranker gets the whole text and cuts it the way its own documentation shows.
"""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import bm25s
from rank_bm25 import BM25Okapi

AT = 5
memories, queries = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
paths = [memory["path"] for memory in memories]
texts = [memory["path"] + " " + memory["text"] for memory in memories]


def best(scores: list[float]) -> list[str]:
    """Give the paths of the highest scores above zero."""
    order = sorted(range(len(paths)), key=lambda at: (-scores[at], paths[at]))
    return [paths[at] for at in order[:AT] if scores[at] > 0]


def rank_bm25() -> Callable[[str], list[str]]:
    """Cut at what is no letter or digit, as is usual with this package."""

    def cut(text: str) -> list[str]:
        return re.findall(r"\w+", text.lower())

    index = BM25Okapi([cut(text) for text in texts])
    return lambda query: best(index.get_scores(cut(query)).tolist())


def bm25s_ranker() -> Callable[[str], list[str]]:
    """Use the tokenizer that comes with the package, with its English stop words."""
    index = bm25s.BM25()
    index.index(bm25s.tokenize(texts, stopwords="en", show_progress=False), show_progress=False)

    def answer(query: str) -> list[str]:
        words = bm25s.tokenize(query, stopwords="en", return_ids=False, show_progress=False)[0]
        known = [word for word in words if word in index.vocab_dict]
        return best(index.get_scores(known).tolist()) if known else []

    return answer


ways = [("rank_bm25", rank_bm25()), ("bm25s", bm25s_ranker())]
print(json.dumps([[name, [way(query["query"]) for query in queries]] for name, way in ways]))
