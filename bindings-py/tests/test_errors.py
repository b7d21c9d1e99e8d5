"""The exceptions and the table of codes."""

from __future__ import annotations

import pickle

import memdir
import pytest
from memdir import errors, rules
from memdir._core import Flow, failure_code, probe


def test_every_family_of_the_table_has_a_class() -> None:
    table = rules.error_table()
    assert {row.family for row in table} == set(errors.FAMILIES)
    assert len({row.code for row in table}) == len(table) > 30
    for row in table:
        error = errors.FAMILIES[row.family](row.example, code=row.code, path="a.md")
        assert isinstance(error, memdir.MemdirError)
        assert (error.code, error.path, str(error)) == (row.code, "a.md", row.example)
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), again.code, again.path) == (type(error), row.code, "a.md")


def test_the_classes_stand_where_python_programs_expect_them() -> None:
    assert issubclass(memdir.InputError, ValueError)
    assert issubclass(memdir.PathError, ValueError)
    assert issubclass(memdir.HostError, OSError)
    assert not issubclass(memdir.EngineError, ValueError | OSError)


def started() -> Flow[list[object]]:
    flow = probe([{"kind": "sleep", "ms": 0}])
    step = flow.resume([])
    assert not step.done
    assert step.value is None
    assert step.effects == flow.pending() == [{"id": 0, "effect": {"kind": "sleep", "ms": 0}}]
    return flow


@pytest.mark.parametrize(
    "responses",
    [
        [],
        [{"id": 7, "outcome": "done"}],
        [{"id": 0, "outcome": {"alive": True}}],
        [{"id": 0, "outcome": "done"}, {"id": 0, "outcome": "done"}],
        [{"id": 0, "outcome": "danced"}],
        [{"id": 0}],
        [{"id": 0, "outcome": {"failed": {"code": "bad-mood", "message": ""}}}],
    ],
)
def test_a_broken_contract_is_an_error_and_no_crash(responses: list[dict[str, object]]) -> None:
    flow = started()
    with pytest.raises(memdir.EngineError) as raised:
        flow.resume(responses)
    assert raised.value.code == "protocol"


def test_a_resume_after_the_end() -> None:
    flow = started()
    step = flow.resume([{"id": 0, "outcome": "done"}])
    assert step.done
    assert step.value == ["done"]
    assert step.effects == flow.pending() == []
    with pytest.raises(memdir.EngineError) as raised:
        flow.resume([])
    assert raised.value.code == "protocol"


def test_a_cancelled_flow_ends_with_aborted() -> None:
    flow = started()
    flow.cancel()
    with pytest.raises(memdir.EngineError) as raised:
        flow.resume([{"id": 0, "outcome": {"failed": {"code": "aborted", "message": ""}}}])
    assert raised.value.code == "aborted"


def test_numbers_of_the_system_have_codes() -> None:
    assert failure_code(2) == "not-found"
    assert failure_code(28) == "no-space"
