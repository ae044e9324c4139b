"""Numbers of an output that a problem's own check does not see."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from benchguard.judge.formats import Array, decoded
from benchguard.judge.other_inputs import Drawn, drawn
from benchguard.judge.samples import Place
from benchguard.judge.unseen import SHARE, At, unseen_reason, unseen_share, unseen_shares, with_others
from benchguard.problem.spec import Buffer, DType, Tolerance

COUNT = 1 << 10
Y = Buffer("y", "float32", (COUNT,), "output")
TOLERANCES = {"y": Tolerance(1e-4, 1e-4)}
Accepts = Callable[[Array, Array], bool]
"""A check of outputs against expected ones."""


def answer(number: int) -> Array:
    return np.random.default_rng(number).standard_normal(COUNT)


def rows(seen: int) -> Accepts:
    """A check that sees the first numbers only."""
    return lambda actual, expected: bool(np.allclose(actual[:seen], expected[:seen], rtol=0.1, atol=0.1))


def norm(actual: Array, expected: Array) -> bool:
    error, size = (np.linalg.norm(each.astype(np.float64)) for each in (actual - expected, expected))
    return bool(error <= 0.2 * size)


def shares_of(accepts: Accepts, kernel: Callable[[Array], Array], seed: int = 7) -> dict[str, float]:
    place = Place(Y, 0, "float32")

    def pair(number: int, other: int) -> list[Drawn]:
        answers = ({"y": answer(each)} for each in (number, other))
        copy = {"y": kernel(answer(number)).astype(np.float32)}
        return drawn([place], copy, (next(answers), next(answers)), TOLERANCES, 5)

    def shows(name: str, at: At) -> bool:
        assert name == "y"
        return not all(accepts(each, answer(0)) for each in with_others(Y, answer(0), at))

    return unseen_shares([pair(0, 1), pair(1, 0)], TOLERANCES, 0, shows, seed)


def lost_from(first: int, error: float = 0.0) -> Callable[[Array], Array]:
    """Writes NaN from a place on, and other numbers with an error."""

    def kernel(right: Array) -> Array:
        return np.where(np.arange(COUNT) < first, right + error, np.nan)

    return kernel


@pytest.mark.parametrize("error", [0.0, 0.01], ids=["right", "errors"])
def test_outputs_with_few_seen_numbers_show_nothing(error: float) -> None:
    """Also if errors that the check accepts hide which numbers it does not see."""
    shares = shares_of(rows(COUNT // 16), lost_from(COUNT // 16, error))
    assert shares["y"] == pytest.approx(15 / 16, abs=2 / 17)
    assert "of the numbers of y are not right, and the problem's check does not see them" in unseen_reason(
        shares
    )


def test_half_padding_passes_with_its_share() -> None:
    shares = shares_of(rows(COUNT // 2), lost_from(COUNT // 2))
    assert shares["y"] == pytest.approx(0.5, abs=0.01)
    assert unseen_reason(shares) == ""


@pytest.mark.parametrize("accepts", [rows(COUNT), norm], ids=["numbers", "norm"])
def test_errors_that_the_check_sees_and_accepts_are_shown(accepts: Accepts) -> None:
    assert shares_of(accepts, lambda right: right + 0.05) == {}


def test_half_padding_beside_errors_is_no_reason() -> None:
    """The check rejects four places after ten others in one of six grades, and their share is too rough to accuse."""
    shares = [shares_of(rows(COUNT // 2), lost_from(COUNT // 2, 0.01), seed) for seed in range(100)]
    assert sum(bool(unseen_reason(each)) for each in shares) <= 3
    assert any(each["y"] == SHARE for each in shares)


def test_right_numbers_pass_under_any_check() -> None:
    assert shares_of(lambda *_: True, np.copy) == {}


def test_check_that_overflows_sees_smaller_numbers() -> None:
    def exponentials(actual: Array, expected: Array) -> bool:
        with np.errstate(all="ignore"):
            shares, right = np.exp(actual), np.exp(expected)
            return not np.abs(shares / shares.sum() - right / right.sum()).max() > 1e-4

    assert shares_of(exponentials, lambda right: right + 5) == {}


def test_half_seen_places_are_asked_about_until_four_are_rejected() -> None:
    asked: list[int] = []

    def shows(at: At) -> bool:
        asked.append(len(at))
        return bool((at < COUNT // 2).any())

    share = unseen_share(np.arange(COUNT), shows, 7)
    assert asked[0] == COUNT and set(asked[1:]) == {1}
    assert len(asked) < 18 and share <= SHARE + 0.2


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16", "float8_e4m3"])
def test_other_numbers_are_finite_and_far_in_each_dtype(dtype: DType) -> None:
    buffer = Buffer("y", dtype, (4,), "output")
    for changed in with_others(buffer, np.array([1.0, -2.0, 3.0, 0.0]), np.array([1, 3])):
        numbers = decoded(dtype, changed)
        assert numbers[[0, 2]].tolist() == [1, 3]
        assert numbers[1] >= 8 and numbers[3] <= -8
        assert np.isfinite(numbers).all()
