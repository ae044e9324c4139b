"""A set does not count where the answer changes by far more than the inputs, in most of its elements."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchguard.judge.undecided import CHECK_SHARE, MOVES, SHARE, undecided_answer
from benchguard.problem.spec import Buffer, DType, Tolerance

COUNT = 64
TOLERANCE = Tolerance(1e-5, 1e-4)
MOVED = 1 + 4 * 2.0**-23


def is_undecided(
    moved: float,
    share: float = 1.0,
    *,
    tolerance: Tolerance = TOLERANCE,
    factor: float = 1.0,
    dtype: DType = "float32",
    least: float = SHARE,
    read: DType = "float32",
) -> bool:
    """Whether a set does not count in which this share of the elements is `moved` times as large nearby."""
    buffer = Buffer("y", dtype, (COUNT,), "output")
    spec = SimpleNamespace(checked=[buffer], read=[Buffer("x", read, (COUNT,))])
    case: Any = SimpleNamespace(spec=spec, tolerances={"y": tolerance})
    expected = np.arange(1, COUNT + 1).astype(np.float64 if dtype == "float32" else dtype)
    answer = np.where(np.arange(COUNT) < share * COUNT, expected * moved, expected).astype(expected.dtype)
    answers = [{"y": expected}, {"y": answer}]
    return undecided_answer(case, {"y": factor}, {"y": expected}, answers, least) is not None


@pytest.mark.parametrize(("share", "least"), [(SHARE, SHARE), (CHECK_SHARE, CHECK_SHARE)])
def test_more_than_the_share_must_change(share: float, least: float) -> None:
    assert not is_undecided(1.1, share, least=least)
    assert is_undecided(1.1, share + 1 / COUNT, least=least)


def test_change_within_the_tolerance_counts() -> None:
    assert is_undecided(1 + 3e-4)
    assert not is_undecided(1 + 0.9e-4)
    assert not is_undecided(1 + 3e-4, factor=4)


@pytest.mark.parametrize("factor", [1.0, 1e-6])
def test_answer_that_moves_as_far_as_the_inputs_counts(factor: float) -> None:
    """The largest numbers of a row: a kernel that finds others is wrong, whatever the tolerance."""
    exact = Tolerance(0.0, 0.0)
    assert not is_undecided(MOVED, tolerance=exact, factor=factor)
    assert is_undecided(1 + 2 * MOVES * (MOVED - 1), tolerance=exact, factor=factor)


@pytest.mark.parametrize(("read", "is_found"), [("float32", False), ("float64", True)])
def test_move_of_the_inputs_is_that_of_their_dtype(read: DType, is_found: bool) -> None:
    """A sum in float64 of numbers in float32, which move farther than the tolerance of float64."""
    exact = Tolerance(1e-10, 1e-9)
    assert is_undecided(MOVED, tolerance=exact, dtype="float64", read=read) == is_found


def test_narrowed_tolerance_is_not_taken() -> None:
    """Factors below 1 guard against answers without the inputs."""
    assert not is_undecided(1 + 0.9e-4, factor=1e-3)


def test_most_integers_must_change() -> None:
    assert is_undecided(2, dtype="int32", tolerance=Tolerance(0.0, 0.0))
    assert not is_undecided(2, SHARE, dtype="int32", tolerance=Tolerance(0.0, 0.0))
