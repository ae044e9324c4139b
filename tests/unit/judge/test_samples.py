"""Samples that are checked at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from benchguard.judge.compare import Comparison
from benchguard.judge.samples import Place, Samples, mismatch_text
from benchguard.problem.spec import Buffer, Tolerance

COUNT, SETS = 4096, 6


def test_samples_wrong_at_once_are_looked_at_again_only_for_the_first() -> None:
    """Reference runs take the problem's lock, so that each of them would wait for those of all other samples."""
    expected = np.ones(COUNT)
    output = expected.astype(np.float32)
    output[7] = 2
    asked: list[int] = []
    together = threading.Barrier(SETS)

    def nearby(of_set: int) -> Iterator[Mapping[str, Any]]:
        asked.append(of_set)
        time.sleep(0.05)
        yield {"y": expected}

    with ThreadPoolExecutor(SETS) as pool:
        samples = Samples(
            [Place(Buffer("y", "float32", (COUNT,), "output"), 0, "float32")],
            [output.view(np.uint8)] * SETS,
            [{"y": Tolerance(0.0, 1e-3)}] * SETS,
            [{"y": expected.astype(np.float32)}] * SETS,
            ["own"] * SETS,
            None,
            nearby,
            lambda _: (),
            pool,
            1,
        )

        def check(number: int) -> None:
            together.wait()
            samples.first(number, number, number, lambda: None)()

        list(pool.map(check, range(SETS)))
    assert all(each.mismatch is not None for each in samples.sets)
    assert len(asked) == 1


def test_own_check_is_not_asked_about_later_outputs_a_rounding_off() -> None:
    """Its answer for the first ones is theirs. GPU MODE's prefix sum waited 82 s for it, of 111 s (H200)."""
    first = np.linspace(1, 2, COUNT, dtype=np.float32)
    rounded, other = np.nextafter(first, np.float32(9)), first * np.float32(1.001)
    slots = [each.view(np.uint8) for each in (first, rounded, other)]
    asked: list[Any] = []

    def own(of_set: int, copy: Mapping[str, Any], is_near: bool) -> str | None:
        del of_set, is_near
        asked.append(copy["y"].copy())
        return None

    with ThreadPoolExecutor(1) as pool:
        samples = Samples(
            [Place(Buffer("y", "float32", (COUNT,), "output"), 0, "float32")],
            slots,
            [{"y": Tolerance(1e-2, 1e-2)}],
            [{"y": first}],
            ["own"],
            own,
            lambda _: (),
            lambda _: (),
            pool,
            1,
            own_decides=True,
        )
        samples.first(0, 0, 0, lambda: None)()
        assert samples.later(1, 0, 1, lambda: None) is None
        rest = samples.later(2, 0, 2, lambda: None)
        assert rest is not None
        rest()
        assert not asked  # a check on the GPU would take time from the samples
        samples.ask_rest()
    assert len(asked) == 1
    assert (asked[0] == other).all()
    assert samples.sets[0].same == [0, 1]  # wrong if the first ones are
    assert samples.sets[0].differing == {1, 2}


def test_outputs_a_rounding_off_are_wrong_by_a_tolerance_without_room() -> None:
    """The problem's own tolerance decides where it has one."""
    first = np.linspace(1, 2, COUNT, dtype=np.float32)
    slots = [each.view(np.uint8) for each in (first, np.nextafter(first, np.float32(9)))]
    with ThreadPoolExecutor(1) as pool:
        samples = Samples(
            [Place(Buffer("y", "float32", (COUNT,), "output"), 0, "float32")],
            slots,
            [{"y": Tolerance(0.0, 0.0)}],
            [{"y": first}],
            ["own"],
            lambda *_: None,
            lambda _: (),
            lambda _: (),
            pool,
            1,
        )
        samples.first(0, 0, 0, lambda: None)()
        rest = samples.later(1, 0, 1, lambda: None)
        assert rest is not None
        rest()
    assert len(samples.wrong_later) == 1


@pytest.mark.parametrize(
    ("counts", "wrong", "questions"),
    [
        pytest.param([5, 12.05], [2], [5, 5], id="alone"),
        pytest.param([5, 12.5], [2], [5, 5, 12.5], id="lowest"),
        pytest.param([19, 12.5], [2], [12.5, 19, 19, 12.5], id="highest"),
        pytest.param([11.5, 12.5, 12.2], [], [11.5, 12.5], id="accepted"),
        pytest.param([12.5], [], [12.5], id="one"),
    ],
)
def test_small_number_that_is_far_off_in_a_later_sample_is_shown_to_the_own_check(
    counts: list[float], wrong: list[int], questions: list[float]
) -> None:
    """A count beside large numbers: a kernel that finds the memory of another call may count wrongly.

    Samples that are far off at the same place have the lowest and the highest number shown, then each its own.
    """
    first = np.full(COUNT, 1e6, np.float32)
    first[-1] = 12
    slots = [first.copy() for _ in range(len(counts) + 2)]
    slots[1][0] = np.nextafter(np.float32(1e6), np.float32(0))
    for slot, count in zip(slots[2:], counts, strict=True):
        slot[-1] = count
    asked: list[Any] = []

    def own(of_set: int, copy: Mapping[str, Any], is_near: bool) -> str | None:
        del of_set, is_near
        asked.append(copy["y"][-1])
        return None if abs(copy["y"][-1] - 12) < 1 else "another count"

    with ThreadPoolExecutor(1) as pool:
        samples = Samples(
            [Place(Buffer("y", "float32", (COUNT,), "output"), 0, "float32")],
            [each.view(np.uint8) for each in slots],
            [{"y": Tolerance(1e-2, 1e-2)}],
            [{"y": first}],
            ["own"],
            own,
            lambda _: (),
            lambda _: (),
            pool,
            1,
            own_decides=True,
        )
        samples.first(0, 0, 0, lambda: None)()
        for number in range(1, len(slots)):
            assert samples.later(number, 0, number, lambda: None) is None
        samples.ask_rest()
    assert [each.sample for each in samples.wrong_later] == wrong
    assert samples.sets[0].same == [each for each in range(len(slots)) if each not in wrong]
    assert asked == questions


@pytest.mark.parametrize("is_undecided", [True, False])
def test_set_that_is_undecided_does_not_count(is_undecided: bool) -> None:
    """The next set counts as before."""
    expected = np.ones(COUNT)
    outputs = np.full(COUNT, 2, np.float32), expected.astype(np.float32)
    with ThreadPoolExecutor(1) as pool:
        samples = Samples(
            [Place(Buffer("y", "float32", (COUNT,), "output"), 0, "float32")],
            [each.view(np.uint8) for each in outputs],
            [{"y": Tolerance(0.0, 1e-3)}] * 2,
            [{"y": expected}] * 2,
            ["normal", "own"],
            None,
            lambda _: (),
            lambda _: (),
            pool,
            1,
            is_undecided=lambda of_set: is_undecided and of_set == 0,
        )
        for number in range(2):
            samples.first(number, number, number, lambda: None)()
    assert [each.mismatch is not None for each in samples.sets] == [not is_undecided, False]
    assert samples.undecided == ({0} if is_undecided else set())
    assert samples.sets[0].is_near is False


@pytest.mark.parametrize(("shape", "element"), [((), "y"), ((1,), "y[0]"), ((2, 3), "y[0, 0]")])
def test_wrong_number_without_dimensions_is_named_without_an_index(
    shape: tuple[int, ...], element: str
) -> None:
    text = mismatch_text(Buffer("y", "float32", shape, "output"), Comparison(1, 1, (0, 2.0, 3.0)))
    assert text == f"{element} should be 2, is 3; 1 of 1 elements are wrong"
