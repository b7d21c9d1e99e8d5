"""Properties of rules that no list of cases can show."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st
from memdir import MemdirError, rules

text = st.text(max_size=400)
lines = st.lists(st.text(max_size=60), max_size=260).map("\n".join)
repeated = st.tuples(st.text(min_size=1, max_size=40), st.integers(1, 4000)).map(
    lambda pair: pair[0] * pair[1]
)
entries = st.dictionaries(text, text, max_size=12)


@given(text | lines | repeated)
def test_truncation_keeps_its_limits_and_is_a_prefix(raw: str) -> None:
    cut = rules.truncate_index(raw)
    assert len(cut.content.encode()) <= 25_000
    assert cut.content.count("\n") < 200
    assert cut.content in raw
    assert (cut.warning is not None) == (cut.lines_cut or cut.bytes_cut)
    if cut.warning is None:
        assert len(cut.content.encode()) == cut.bytes
        assert cut.lost == ()
    again = rules.truncate_index(cut.content)
    assert again.content == cut.content.strip() or again.warning is None


@given(text | st.tuples(text, text).map(lambda pair: f"---\n{pair[0]}\n---\n{pair[1]}"))
def test_parsing_never_fails(raw: str) -> None:
    found = rules.parse_frontmatter(raw)
    raw.encode()[found.body :].decode()


@given(text, st.sampled_from(["posix", "windows"]))
def test_validation_is_idempotent(path: str, platform: str) -> None:
    try:
        once = rules.validate_memory_path(path, platform=platform)  # type: ignore[arg-type]
    except MemdirError as error:
        assert error.code.startswith("path-")  # noqa: PT017
    else:
        assert rules.validate_memory_path(once, platform=platform) == once  # type: ignore[arg-type]


@given(entries, st.integers(0, 2000))
def test_batches_keep_their_limit_and_lose_nothing(given: dict[str, str], limit: int) -> None:
    batches = rules.batch_entries(given, max_bytes=limit)
    merged: dict[str, str] = {}
    for batch in batches:
        merged |= batch
        size = len(
            json.dumps({"entries": batch}, ensure_ascii=False, separators=(",", ":")).encode()
        )
        assert len(batch) == 1 or size <= limit
    assert merged == given
    assert list(merged) == sorted(given, key=lambda key: key.encode())


@given(entries, entries)
def test_a_delta_has_only_local_entries(local: dict[str, str], server: dict[str, str]) -> None:
    delta = rules.team_delta(local, server)
    assert delta.items() <= local.items()
    assert set(local) - set(server) <= set(delta)


@given(*[st.dictionaries(st.sampled_from("abc"), st.sampled_from("123"))] * 4)
def test_a_sync_loses_no_edit(
    base: dict[str, str], local: dict[str, str], server: dict[str, str], forgotten: dict[str, str]
) -> None:
    actions = rules.team_reconcile(base=base, local=local, server=server, forgotten=forgotten)
    for key in local.keys() | server.keys():
        here, there, action = local.get(key), server.get(key), actions.get(key)
        assert (action is None) == (here == there)
        if here is not None and here != base.get(key):
            # What was changed here goes there, or is kept.
            assert action in {None, "send", "conflict"}
        if there is not None and there != base.get(key):
            assert action in {None, "receive", "conflict", "forgotten"}
    assert actions.keys() <= local.keys() | server.keys()


index = st.lists(
    st.sampled_from([f"- [{name}]({name}.md): {text}" for name in "abc" for text in "12"]),
    unique_by=lambda line: line[3],
).map(lambda lines: "".join(f"{line}\n" for line in lines))


@given(st.none() | index, index, index)
def test_a_merged_index_has_what_either_side_added(
    base: str | None, local: str, server: str
) -> None:
    merged = rules.merge_team_index(base=base, local=local, server=server)
    known = {line[3] for line in (base or "").splitlines()}
    found = [line[3] for line in merged.content.splitlines()]
    assert len(set(found)) == len(found)
    for text in (local, server):
        assert {line[3] for line in text.splitlines()} - known <= set(found)
    assert rules.merge_team_index(base=server, local=server, server=local).content == local
    again = rules.merge_team_index(base=local, local=merged.content, server=merged.content)
    assert (again.content, again.lost) == (merged.content, False)


@given(st.integers(0, 2**32 - 1), st.integers(0, 255))
def test_a_pause_has_at_most_40_seconds(retries: int, random: int) -> None:
    assert 500 <= rules.retry_pause_ms(retries, random=random) <= 40_000


@given(text)
def test_a_repository_has_an_owner(remote: str) -> None:
    for address in (remote, f"https://example.com/{remote}", f"git@example.com:{remote}"):
        found = rules.team_repository(address)
        assert found is None or all(part.strip() for part in found.split("/"))


@given(text | lines | repeated, st.integers(0, 5_000))
def test_a_cut_memory_keeps_its_limits_and_is_a_prefix(raw: str, limit: int) -> None:
    size = len(raw.encode())
    cut = rules.cut_memory(raw, size=size, path="/code/shop/a.md", max_bytes=limit)
    assert raw.startswith(cut.content)
    assert len(cut.content.encode()) <= min(limit, 4_096) + (raw == cut.content)
    assert cut.lines <= 200
    assert (cut.note is None) == (raw == cut.content)


@given(text, st.lists(text, max_size=8))
def test_a_selection_is_made_of_candidates(answer: str, candidates: list[str]) -> None:
    for said in (answer, json.dumps(candidates), json.dumps({"selected_memories": candidates})):
        try:
            found = rules.read_selection(said, candidates)
        except MemdirError as error:
            assert error.code == "model-answer"  # noqa: PT017
        else:
            assert set(found.paths) <= set(candidates)
            assert len(set(found.paths)) == len(found.paths) <= 5
