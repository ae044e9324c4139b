"""Honest submissions, timed inline on the CPU driver."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchguard.problem.spec import Buffer, CaseSpec, Tolerance
from tests.unit.inline.support import HONEST, Given, doubled, timed

EXACT = Tolerance(0.0, 0.0)
pytestmark = pytest.mark.usefixtures("native")


def test_honest_submission_passes(tmp_path: Path) -> None:
    result = timed(tmp_path, HONEST, doubled()).result
    assert result.correct and result.full and not result.stopped and not result.altered
    assert result.errors == (0,) * 6 and len(result.times_us) == result.done == 5
    assert all(time > 0 for time in result.times_us) and result.event_overhead_us > 0
    assert result.unprimed == 0 and result.joins_all and result.trust == "inline"


def test_each_input_set_is_used_once(tmp_path: Path) -> None:
    """Memory holds three sets: one for the probe, and two for samples, of which five were requested."""
    result = timed(tmp_path, HONEST, doubled(sets=3)).result
    assert (result.done, result.sets, result.wanted, result.full) == (2, 3, 5, False)
    assert result.correct


def test_several_cases_run_in_turn(tmp_path: Path) -> None:
    outcome = timed(tmp_path, HONEST, doubled(7), doubled(100_000, seed=2))
    assert [result.correct for result in outcome.results if not isinstance(result, str)] == [True, True]  # type: ignore[union-attr]


def whole(n: int = 3000, sets: int = 4) -> Given:
    """In place, a second output with gaps, a constant: a += 3, b[i, j] = c[i, j] + 5."""
    random = np.random.default_rng(5)
    rows, columns, step = 30, 50, 64
    spec = CaseSpec(
        "whole",
        (
            Buffer("a", "int32", (n,), "inout"),
            Buffer("c", "int32", (rows, columns), "constant", (step, 1)),
            Buffer("b", "int32", (rows, columns), "output", (step, 1)),
        ),
    )
    constant = random.integers(-1000, 1000, spec.buffers[1].elements, np.int32)
    results = []
    for _ in range(sets):
        a = random.integers(-(1 << 30), 1 << 30, n, np.int32)
        results.append(({"a": a, "c": constant}, {"a": a + 3, "b": constant + 5}))
    return Given(spec, results, {"a": EXACT, "b": EXACT})


WHOLE = """
def bind(cuda, number, case, places):
    a, c, b = case.buffers
    def call():
        cuda.plus(places["a"], places["a"], 3, a.elements)
        cuda.plus(places["b"], places["c"], 5, b.elements)
        {more}
    return call
"""


def test_in_place_and_several_outputs_pass(tmp_path: Path) -> None:
    result = timed(tmp_path, WHOLE.format(more=""), whole(), samples=3).result
    assert result.correct and result.full


def test_gaps_between_elements_are_not_compared(tmp_path: Path) -> None:
    """Element (1, 0) is at 64, the last element of row 0 at 49: the bytes between belong to no element."""
    gap = 'cuda.fill(places["b"] + 50 * 4, 1, 14 * 4)'
    assert timed(tmp_path, WHOLE.format(more=gap), whole(), samples=3).result.correct
    element = 'cuda.fill(places["b"] + 49 * 4, 1, 4)'
    assert timed(tmp_path, WHOLE.format(more=element), whole(), samples=3).result.errors == (1,) * 4


def test_returned_output_is_compared(tmp_path: Path) -> None:
    outcome = timed(
        tmp_path,
        """
        def bind(cuda, number, case, places):
            n = case.buffers[0].elements
            made = [cuda.allocate(4 * n) for _ in range(2)]
            def call():
                made.reverse()
                cuda.twice(made[0], places["x"], n)
                return made[0]
            return call, lambda returned: {"y": returned}
        """,
        doubled(),
    )
    assert outcome.result.correct and outcome.result.full


def test_call_that_synchronises_passes(tmp_path: Path) -> None:
    """The loop cannot hold the queue for this call. Its time is the time for which a user would wait."""
    outcome = timed(
        tmp_path,
        """
        def bind(cuda, number, case, places):
            n = case.buffers[0].elements
            def call():
                cuda.twice(places["y"], places["x"], n)
                cuda.synchronise()
            return call
        """,
        doubled(),
    )
    assert outcome.result.correct and outcome.result.full
    assert outcome.result.unprimed == outcome.result.done == 5


def test_work_on_another_stream_is_awaited_and_timed(tmp_path: Path) -> None:
    """The other stream waits for the default stream, as it should, so its work begins after the inputs are restored."""
    outcome = timed(
        tmp_path,
        """
        import ctypes
        def bind(cuda, number, case, places):
            n, other, ready = case.buffers[0].elements, cuda.stream(), ctypes.c_void_p()
            cuda.ask("cuEventCreate", ctypes.byref(ready), 2)
            def call():
                cuda.ask("cuEventRecord", ready, None)
                cuda.ask("cuStreamWaitEvent", other, ready, 0)
                cuda.idle(3_000_000, other)
                cuda.twice(places["y"], places["x"], n, other)
            return call
        """,
        doubled(),
    )
    assert outcome.result.correct
    assert min(outcome.result.times_us) >= 3000


def test_raising_call_stops_the_case(tmp_path: Path) -> None:
    outcome = timed(
        tmp_path,
        """
        def bind(cuda, number, case, places):
            left = [2]
            def call():
                left[0] -= 1
                if left[0] < 0:
                    raise RuntimeError("no more of this")
                cuda.twice(places["y"], places["x"], case.buffers[0].elements)
            return call
        """,
        doubled(),
    )
    assert "no more of this" in outcome.errors and outcome.status != 0
    assert (outcome.result.done, outcome.result.full) == (1, False)
    assert outcome.result.stopped == "the call raised an exception"


def test_empty_buffers_pass(tmp_path: Path) -> None:
    result = timed(tmp_path, "def bind(*_): return lambda: None", doubled(n=0)).result
    assert result.correct and result.full
