"""Distributions give other values within the range of the problem's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchguard.problem import distributions
from benchguard.problem.arrays import NUMPY_DTYPES, Numbers
from benchguard.problem.c_types import FLOATS
from benchguard.problem.distributions import BURST, NAMES, _burst, fresh, transformed
from benchguard.problem.spec import ELEMENT_BYTES, DType

OTHERS = NAMES[1:]
RANGES = st.tuples(st.floats(-300, 300), st.floats(0, 100)).map(lambda r: (r[0], r[0] + r[1]))


def draw(dtype: DType, low: float, high: float, seed: int, size: int = 500) -> Numbers:
    values = np.random.default_rng(seed).uniform(low, high, size)
    if dtype not in FLOATS:
        info = (0, 1) if dtype == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        values = np.clip(np.rint(values), *info)
    return values.astype(NUMPY_DTYPES[dtype])


def of(own: Numbers, distribution: str, seed: int = 1) -> Numbers:
    return transformed(own, distribution, seed, "x")


def whole(own: Numbers, distribution: str) -> Numbers:
    """With a seed by which the first eighth is changed, too."""
    seeds = (seed for seed in range(99) if not np.array_equal(first(of(own, distribution, seed)), first(own)))
    return of(own, distribution, next(seeds))


def first(values: Numbers) -> Numbers:
    return values.reshape(-1)[: values.size // 8]


@given(st.sampled_from(sorted(ELEMENT_BYTES)), st.sampled_from(OTHERS), RANGES, st.integers(0, 99))
def test_values_stay_in_range(
    dtype: DType, distribution: str, limits: tuple[float, float], seed: int
) -> None:
    own = draw(dtype, *limits, seed)
    values = of(own, distribution, seed)
    assert values.shape == own.shape and values.dtype == own.dtype
    assert values.min() >= own.min() and values.max() <= own.max()
    assert np.array_equal(values, of(own, distribution, seed))


@pytest.mark.parametrize("distribution", OTHERS)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32", "uint8", "uint64"])
def test_seeds_and_distributions_differ(dtype: DType, distribution: str) -> None:
    own = draw(dtype, 0, 200, 3)
    assert not np.array_equal(of(own, distribution), own)
    if distribution not in ("shifted", "sorted"):  # which follow from the problem's own draw alone
        assert not np.array_equal(of(own, distribution, 1), of(own, distribution, 2))


def test_properties_of_each_distribution() -> None:
    own = np.random.default_rng(0).standard_normal(10_000).astype(np.float32)
    assert len(np.unique(whole(own, "ties"))) <= 8
    assert 0.9 < (whole(own, "sparse") == 0).mean() < 0.97
    assert whole(own, "shifted").min() >= (own.min() + own.max()) / 2 - 1e-3
    assert abs(whole(own, "uniform").mean() - (own.min() + own.max()) / 2) < 0.1
    assert abs(whole(own, "normal").std() - 1) < 0.05
    runs = np.abs(whole(own, "scaled") / own).reshape(-1)[: 10_000 // 64 * 64].reshape(-1, 64)
    assert np.allclose(runs, runs[:, :1]) and set(np.log2(runs[:, 0]).round()) == set(range(-7, 1))


def test_burst_changes_an_eighth_of_each_row() -> None:
    own = np.random.default_rng(0).uniform(1, 2, (64, 1000)).astype(np.float32)
    made = whole(own, "burst")
    changed = made != own
    assert ((changed.sum(axis=1) >= 123) & (changed.sum(axis=1) <= 125)).all()
    assert set(np.unique(made[changed])) == {own.min(), own.max()}
    runs = np.diff(changed.astype(int), axis=1).clip(0).sum(axis=1) <= 1
    assert 0 < runs.sum() < 64, "both runs and stripes"


def test_rows_of_sorted_ascend_descend_or_are_dealt_out() -> None:
    own = np.random.default_rng(0).integers(-9, 9, (80, 256))
    made = whole(own, "sorted")
    steps = np.diff(made, axis=1)
    rising, falling = (steps >= 0).all(axis=1), (steps <= 0).all(axis=1)
    assert rising.any() and falling.any()
    assert np.array_equal(np.sort(made, axis=1), np.sort(own, axis=1))
    dealt = made[~rising & ~falling]
    for row in dealt:
        distances = [
            each
            for each in (2, 4, 8, 16)
            if _is_monotonic(np.concatenate([row[n::each] for n in range(each)]))
        ]
        assert distances


def _is_monotonic(values: Numbers) -> bool:
    steps = np.diff(values)
    return bool((steps >= 0).all() or (steps <= 0).all())


def test_half_of_the_columns_is_sorted_and_half_is_burst() -> None:
    own = np.random.default_rng(0).standard_normal((256, 20)).astype(np.float32)
    made = whole(own, "columns")
    same = (np.sort(made, axis=0) == np.sort(own, axis=0)).all(axis=0)
    assert same.sum() == 10
    burst = made[:, ~same] != own[:, ~same]
    assert (burst.mean(axis=0) <= 0.14).all() and set(np.unique(made[:, ~same][burst])) == {
        own.min(),
        own.max(),
    }


@pytest.mark.parametrize(("shape", "rows"), [((40, 100), 5), ((6400,), 8), ((6401,), 8), ((3, 50), 1)])
def test_few_rows_differ_and_never_the_first(shape: tuple[int, ...], rows: int) -> None:
    own = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    for seed in range(20):
        made = of(own, "few", seed)
        changed = (made != own).reshape(-1)[: 6400 if len(shape) == 1 else None]
        by_row = changed.reshape(64 if len(shape) == 1 else shape[0], -1).any(axis=1)
        assert by_row.sum() <= rows and not by_row[0]
    assert by_row.any()


@pytest.mark.parametrize("distribution", OTHERS)
def test_first_eighth_is_own_in_half_of_the_sets_for_all_inputs_alike(distribution: str) -> None:
    own = np.random.default_rng(0).standard_normal((64, 64)).astype(np.float32)
    kept = 0
    for seed in range(60):
        a, b = (transformed(own, distribution, seed, name) for name in ("a", "b"))
        is_kept = [np.array_equal(first(each), first(own)) for each in (a, b)]
        assert distribution == "few" or is_kept[0] == is_kept[1]
        assert not np.array_equal(a, own)
        kept += is_kept[0]
    assert distribution == "few" or 15 < kept < 45


def test_high_is_in_the_upper_sixteenth() -> None:
    own = np.random.default_rng(0).uniform(0, 1, 1000)
    assert whole(own, "high").min() >= own.max() - (own.max() - own.min()) / 16


def test_values_of_same_sign_use_nearest_to_zero() -> None:
    own = np.random.default_rng(0).uniform(2, 3, 1000)
    assert (whole(own, "sparse") == own.min()).mean() > 0.9


def test_infinities_unchanged() -> None:
    own = np.array([1.0, -np.inf, 2.0, np.nan, 3.0] * 20, np.float32)
    for distribution in OTHERS:
        values = of(own, distribution)
        assert np.array_equal(np.isfinite(values), np.isfinite(own))
        assert np.array_equal(np.isneginf(values), np.isneginf(own))
    empty = np.full(4, np.nan)
    assert np.isnan(of(empty, "normal")).all()


def test_row_offsets_unchanged() -> None:
    own = np.cumsum(np.random.default_rng(0).integers(0, 5, 100)).astype(np.int32)
    for distribution in OTHERS:
        assert np.array_equal(of(own, distribution), own)


def test_permutation_stays_permutation() -> None:
    own = np.random.default_rng(0).permutation(100).astype(np.int64)
    for distribution in OTHERS:
        values = of(own, distribution)
        assert sorted(values) == list(range(100)) and not np.array_equal(values, own)


def test_sorted_floats_stay_sorted() -> None:
    own = np.sort(np.random.default_rng(0).standard_normal(100))
    for distribution in OTHERS:
        assert (np.diff(of(own, distribution)) >= 0).all()


def test_large_floats_repeat_what_was_made_for_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distributions, "LARGE", 64)
    own = np.random.default_rng(0).random((100, 8), np.float32)
    for distribution in OTHERS:
        values = whole(own, distribution)
        assert all(np.array_equal(values[at : at + 8], values[:8][: 100 - at]) for at in range(0, 100, 8))
        assert (
            not np.array_equal(values[:8], own[:8]) and own.min() <= values.min() <= values.max() <= own.max()
        )


@pytest.mark.parametrize("kind", ["one row", "infinite", "ascending", "integers"])
def test_large_inputs_whose_elements_belong_together_are_made_as_a_whole(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = np.random.default_rng(0).random((100, 8))
    given = {
        "one row": own.reshape(1, 800),
        "infinite": np.where(own > 0.9, np.inf, own),
        "ascending": np.sort(own.reshape(-1)),
        "integers": (100 * own).astype(np.int32),
    }[kind]
    small = [of(given, distribution) for distribution in OTHERS]
    monkeypatch.setattr(distributions, "LARGE", 256)
    for distribution, expected in zip(OTHERS, small, strict=True):
        assert np.array_equal(of(given, distribution), expected)


def test_full_int64_range() -> None:
    limits: Any = np.iinfo(np.int64)
    own = np.array([limits.min, limits.max, 0] * 50)
    for distribution in OTHERS:
        assert of(own, distribution).dtype == np.int64


@given(st.sampled_from(sorted(ELEMENT_BYTES)), st.sampled_from(NAMES))
def test_empty_input_stays_empty(dtype: DType, distribution: str) -> None:
    assert of(np.empty((0, 3), NUMPY_DTYPES[dtype]), distribution).shape == (0, 3)


def test_seed_independent_input_gets_uniform_values() -> None:
    own = np.arange(7.0, 9.0, 0.01)[::-1]
    values = fresh(own, 1, "x")
    assert not np.array_equal(values, own) and values.min() >= own.min() and values.max() <= own.max()


def test_unknown_distribution_raises() -> None:
    with pytest.raises(KeyError):
        of(np.ones(3), "cauchy")


@pytest.mark.parametrize("shape", [(1, 1000), (60, 64), (64, 8)])
def test_burst_changes_a_run_or_every_eighth_element_of_each_row(shape: tuple[int, int]) -> None:
    """A few long rows are made one by one, many short ones at once."""
    own = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    random, size = np.random.default_rng(2), -(-shape[1] // BURST)
    made = _burst(random, own, np.float32(-9), np.float32(9))
    for before, after in zip(own, made, strict=True):
        places = np.flatnonzero(before != after)
        assert set(after[places]) in ({np.float32(-9)}, {np.float32(9)})
        steps = set(np.diff(places))
        assert (steps <= {1} and len(places) == size) or (
            steps <= {BURST} and len(places) >= shape[1] // BURST
        )
