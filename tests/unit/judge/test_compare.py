"""The comparison against an oracle in plain Python, element by element, and each rule by an example."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import benchguard.judge.compare as compare_module
from benchguard.judge.compare import CHUNK, Comparison, check_tolerance, compare
from benchguard.judge.formats import FLOATS, decoded, numpy_dtype, rounded, stored_dtype
from benchguard.problem.spec import DType, Tolerance

EXACT = Tolerance(0.0, 0.0)
LARGEST = float(np.finfo(np.float64).max)
FLOAT_NAMES = tuple(FLOATS)
INTEGERS = ("int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8")


def is_right(actual: float, expected: float, name: DType, tolerance: Tolerance) -> bool:  # noqa: PLR0911
    """The docstring of compare.py, read by somebody else."""
    form = FLOATS[name]
    if math.isnan(expected):
        return math.isnan(actual)
    if math.isinf(expected) and form.infinities:
        return actual == expected
    with np.errstate(all="ignore"):
        nearest = float(rounded(np.array([expected]), form)[0])
    if abs(nearest) > form.largest:
        sign = math.copysign(1.0, expected)
        if actual == sign * form.largest or (actual == sign * math.inf and form.infinities):
            return True
        if math.isnan(actual):
            return not form.infinities
        if math.isinf(expected):
            return False
    if not math.isfinite(actual):
        return False
    if actual == nearest:
        return True
    bound = min(tolerance.atol + tolerance.rtol * abs(expected), LARGEST)
    return abs(actual - expected) <= bound


def stored(name: DType, values: object) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.array(values, np.float64).astype(numpy_dtype(name)).view(stored_dtype(name))


ODD = [0.0, -0.0, math.nan, math.inf, -math.inf, 1e-320, 65504.0, 65520.0, 1e5, 448.0, 464.0, 480.0, 57344.0, 1e39,
       -1e39, 3.4028234663852886e38, LARGEST, -LARGEST]  # fmt: skip
VALUES = st.one_of(st.floats(-10, 10), st.sampled_from(ODD), st.floats())
BOUNDS = st.one_of(st.just(0.0), st.floats(0, 1), st.sampled_from([1e-6, 1e-2, 1e300]))


@st.composite
def outputs(draw: st.DrawFn) -> tuple[DType, list[float], np.ndarray]:
    """Expected values, and stored ones that are often near them."""
    name = draw(st.sampled_from(FLOAT_NAMES))
    expected = draw(st.lists(VALUES, min_size=1, max_size=12))
    kind = stored_dtype(name)
    bits = []
    for value in expected:
        pattern = stored(name, [value]).view(f"u{kind.itemsize}")[0]
        change = draw(st.sampled_from(["same", "next", "any", "any value"]))
        if change == "next":
            pattern = int(pattern) + 1
        elif change == "any":
            pattern = draw(st.integers(0, (1 << (8 * kind.itemsize)) - 1))
        elif change == "any value":
            pattern = stored(name, [draw(VALUES)]).view(f"u{kind.itemsize}")[0]
        bits.append(int(pattern) & ((1 << (8 * kind.itemsize)) - 1))
    return name, expected, np.array(bits, f"u{kind.itemsize}").view(kind)


@given(outputs(), BOUNDS, BOUNDS)
def test_compare_agrees_with_oracle(
    case: tuple[DType, list[float], np.ndarray], absolute: float, relative: float
) -> None:
    name, expected, actual = case
    tolerance = Tolerance(absolute, relative)
    comparison = compare(actual, np.array(expected, np.float64), name, tolerance)
    numbers = [float(each) for each in decoded(name, actual)]
    with np.errstate(all="ignore"):
        right = [is_right(a, e, name, tolerance) for a, e in zip(numbers, expected, strict=True)]
    assert comparison.wrong == right.count(False)
    assert comparison.elements == len(expected)
    if comparison.wrong:
        index = right.index(False)
        assert comparison.first is not None and comparison.first[0] == index
        np.testing.assert_array_equal(comparison.first[1:], [expected[index], numbers[index]])
    differences = [abs(a - e) for a, e in zip(numbers, expected, strict=True)]
    assert comparison.max_absolute == max((each for each in differences if math.isfinite(each)), default=0.0)


def whole(actual: np.ndarray, expected: np.ndarray, name: DType, tolerance: Tolerance) -> Comparison:
    """The formula over a whole output: no chunks, and each relative error divided."""
    numbers, targets = decoded(name, actual), expected.astype(np.float64)
    differences, sizes = np.abs(numbers - targets), np.abs(targets)
    right = differences <= np.minimum(sizes * tolerance.rtol + tolerance.atol, LARGEST)
    for at in np.flatnonzero(~right):
        right[at] = is_right(float(numbers[at]), float(targets[at]), name, tolerance)
    wrong = np.flatnonzero(~right)
    finite = np.isfinite(differences)
    large = finite & (sizes > max(tolerance.atol, FLOATS[name].smallest_normal))
    return Comparison(
        len(actual),
        len(wrong),
        (int(wrong[0]), float(targets[wrong[0]]), float(numbers[wrong[0]])) if len(wrong) else None,
        float(differences[finite].max(initial=0.0)),
        float((differences[large] / sizes[large]).max(initial=0.0)),
    )


@pytest.mark.parametrize("name", FLOAT_NAMES)
@pytest.mark.parametrize("wide", [True, False])
def test_chunks_give_the_errors_of_the_whole_output(
    name: DType, wide: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Most chunks are not divided. Later chunks have smaller and larger errors, zeros, tiny and odd numbers."""
    monkeypatch.setattr(compare_module, "CHUNK", 32)
    random = np.random.default_rng(5)
    tolerances = [
        Tolerance(*pair)
        for pair in [
            (0, 0),
            (1e-3, 0),
            (0, 1e-3),
            (1e-6, 1e-4),
            (1e-2, 1e-2),
            (1e300, 1e300),
            (1e-320, 1e-300),
        ]
    ]
    right = 0
    for turn in range(60):
        n = int(random.integers(1, 400))
        expected = random.standard_normal(n) * 10.0 ** random.integers(-4, 3)
        tiny = random.random(n) < random.choice([0.0, 0.1])
        expected[tiny] *= 2.0 ** -random.integers(100, 1060, int(tiny.sum()))
        expected[random.random(n) < random.choice([0.0, 0.3])] = 0.0
        odd = random.random(n) < random.choice([0.0, 0.0, 0.02])
        expected[odd] = random.choice(ODD, int(odd.sum()))
        with np.errstate(all="ignore"):
            expected = expected if wide else expected.astype(np.float32)
            error = random.choice([0.0, 1e-7, 1e-4, 1e-2]) * random.standard_normal(n)
            actual = stored(name, expected.astype(np.float64) * (1 + error * (random.random(n) < 0.7)))
            bits = actual.view(f"u{actual.dtype.itemsize}")
            changed = random.random(n) < random.choice([0.0, 0.0, 0.01])
            bits[changed] = random.integers(0, 1 << 8, int(changed.sum()))
            for tolerance in tolerances:
                comparison, found = (
                    compare(actual, expected, name, tolerance),
                    whole(actual, expected, name, tolerance),
                )
                assert str(comparison) == str(found), (turn, tolerance)  # a NaN is not equal to itself
                right += found.wrong == 0
    assert 40 < right < 60 * len(tolerances)


@pytest.mark.parametrize("step", range(-4, 5))
@pytest.mark.parametrize("name", FLOAT_NAMES)
def test_relative_error_of_a_later_chunk_counts_to_the_last_bit(name: DType, step: int) -> None:
    """The second chunk has an error of about 1/2 that is up to four units in the last place above or below the
    first's."""
    expected = np.full(CHUNK + 1, 1 + 9 * 2.0**-52)
    expected[CHUNK] += step * 2.0**-52
    comparison = compare(stored(name, np.full(CHUNK + 1, 0.5)), expected, name, Tolerance(0.6, 0))
    assert comparison.max_relative == ((expected - 0.5) / expected).max()


def test_relative_error_of_a_small_float64_counts() -> None:
    """2^-52 of a number so small that slightly less than 2^-52 of it, the first chunk's error, rounds to 2^-52."""
    expected = np.full(CHUNK + 1, 1 + 2.0**-12)
    actual = expected.copy()
    actual[0] += 2.0**-52
    expected[CHUNK] = 2.0**-1013
    actual[CHUNK] = 2.0**-1013 + 2.0**-1065
    assert compare(actual[:CHUNK], expected[:CHUNK], "float64", Tolerance(0, 1e-3)).max_relative < 2.0**-52
    assert compare(actual, expected, "float64", Tolerance(0, 1e-3)).max_relative == 2.0**-52


@given(st.sampled_from(INTEGERS), st.data(), st.sampled_from([0.0, 1.0, 2.5]), st.sampled_from([0.0, 0.1]))
def test_integer_differences_exact(
    name: DType, data: st.DataObject, absolute: float, relative: float
) -> None:
    info = np.iinfo(name)
    values = st.integers(info.min, info.max)
    expected = data.draw(st.lists(values, min_size=1, max_size=8))
    moved = [
        data.draw(
            st.one_of(st.just(e), st.sampled_from([max(e - 1, info.min), min(e + 1, info.max)]), values)
        )
        for e in expected
    ]
    comparison = compare(np.array(moved, name), np.array(expected, name), name, Tolerance(absolute, relative))
    exact = absolute == 0 and relative == 0
    wrong = [
        a != e if exact else float(abs(a - e)) > absolute + relative * abs(float(e))
        for a, e in zip(moved, expected, strict=True)
    ]
    assert comparison.wrong == sum(wrong)
    if comparison.wrong:
        index = wrong.index(True)
        assert comparison.first == (index, expected[index], moved[index])


@pytest.mark.parametrize(
    ("name", "expected", "actual", "right"),
    [
        ("float32", math.nan, math.nan, True),
        ("float32", math.nan, 0.0, False),
        ("float32", 0.0, math.nan, False),
        ("float32", math.inf, math.inf, True),
        ("float32", math.inf, -math.inf, False),
        ("float32", math.inf, 3.4028234663852886e38, False),
        ("float32", 1.0, math.inf, False),
        ("float32", -0.0, 0.0, True),
        ("float16", 65519.0, 65504.0, True),  # the nearest
        ("float16", 65519.0, math.inf, False),
        ("float16", 65520.0, math.inf, True),  # rounds over the largest
        ("float16", 1e6, math.inf, True),
        ("float16", 1e6, 65504.0, True),
        ("float16", 1e6, -math.inf, False),
        ("float16", 1e6, -65504.0, False),
        ("float16", 1e6, math.nan, False),
        ("float16", 1e6, 65472.0, False),
        ("float16", 1 + 2**-11, 1.0, True),  # a tie, to even
        ("float16", 1 + 2**-11, 1 + 2**-10, False),  # as near, but not what rounding gives
        ("float8_e4m3", 1e6, math.nan, True),
        ("float8_e4m3", 1e6, 448.0, True),
        ("float8_e4m3", math.inf, math.nan, True),
        ("float8_e4m3", math.inf, 448.0, True),
        ("float8_e4m3", -math.inf, 448.0, False),
        ("float8_e4m3", 440.0, math.nan, False),
        ("float8_e5m2", 1e6, math.inf, True),
        ("bfloat16", 1.0 + 2**-10, 1.0, True),
        ("float64", 1.0, 1.0 + 2**-52, False),
    ],
)
def test_rules(name: DType, expected: float, actual: float, right: bool) -> None:
    comparison = compare(stored(name, [actual]), np.array([expected]), name, EXACT)
    assert (comparison.wrong == 0) is right


@pytest.mark.parametrize("bits", [0x7F800001, 0x7FFFFFFF, 0xFFC00000])
def test_expected_nan_accepts_any_nan(bits: int) -> None:
    actual = np.array([bits], np.uint32).view(np.float32)
    assert compare(actual, np.array([math.nan]), "float32", EXACT).wrong == 0
    assert compare(actual, np.array([1.0]), "float32", Tolerance(1e300, 1e300)).wrong == 1


def test_infinite_bound_rejects_infinity() -> None:
    loose = Tolerance(1e308, 1e308)
    actual = stored("float64", [math.inf, -math.inf, 5.0])
    comparison = compare(actual, np.array([LARGEST, math.inf, LARGEST]), "float64", loose)
    assert comparison.wrong == 2 and comparison.first == (0, LARGEST, math.inf)


def test_bool_bytes_are_0_or_1() -> None:
    actual = np.array([0, 1, 2, 255], np.uint8)
    comparison = compare(actual, np.array([0, 1, 1, 1], np.uint8), "bool", Tolerance(300.0, 0.0))
    assert comparison.wrong == 2 and comparison.first == (2, 1, 2)


def test_difference_of_far_integers() -> None:
    actual, expected = np.array([-(1 << 63)]), np.array([(1 << 63) - 1])
    comparison = compare(actual, expected, "int64", EXACT)
    assert comparison.wrong == 1 and comparison.max_absolute == 2.0**64


def test_relative_errors_ignore_tiny_values() -> None:
    actual = stored("float32", [1e-5, 2.002, 0.0])
    comparison = compare(actual, np.array([2e-5, 2.0, 0.0]), "float32", Tolerance(1e-3, 1e-3))
    assert comparison.wrong == 0
    assert comparison.max_relative == pytest.approx(1e-3, rel=1e-3)


def test_empty_output_is_right() -> None:
    assert compare(np.empty(0, np.float32), np.empty(0), "float32", EXACT) == Comparison(0)


@pytest.mark.parametrize("at", [0, CHUNK - 1, CHUNK, (1 << 21) + 5, (1 << 22) + 16])
def test_threads_do_not_change_result(at: int) -> None:
    n = (1 << 22) + 17
    expected = np.random.default_rng(1).standard_normal(n)
    actual = expected.astype(np.float32)
    actual[at] += 1
    actual[n - 1] = math.nan
    tolerance = Tolerance(1e-6, 1e-6)
    with ThreadPoolExecutor(3) as pool:
        comparison = compare(actual, expected, "float32", tolerance, pool=pool, threads=3)
    alone = compare(actual, expected, "float32", tolerance)
    assert str(comparison) == str(alone)  # a NaN is not equal to itself
    assert comparison.first is not None and comparison.first[:2] == (at, expected[at])
    assert comparison.wrong == 2 - (at == n - 1) and comparison.elements == n


@pytest.mark.parametrize("value", [math.nan, math.inf, -1e-9])
def test_invalid_tolerances_refused(value: float) -> None:
    assert "atol" in check_tolerance(Tolerance(value, 0.0))
    assert "rtol" in check_tolerance(Tolerance(0.0, value))
    assert check_tolerance(EXACT) == ""


def test_errors_are_the_same_if_not_all_wrong_elements_are_counted() -> None:
    chance = np.random.default_rng(3)
    expected = chance.standard_normal(3 * CHUNK + 7)
    actual = (expected * (1 + 1e-3 * chance.standard_normal(len(expected)))).astype(np.float32)
    tolerance = Tolerance(1e-5, 1e-5)
    whole = compare(actual, expected, "float32", tolerance)
    errors = compare(actual, expected, "float32", tolerance, counts=False)
    assert 0 < errors.wrong < whole.wrong
    assert errors.first == whole.first
    assert errors.max_absolute == whole.max_absolute
    assert errors.max_relative == pytest.approx(whole.max_relative, rel=1e-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_bad_number_in_the_last_chunk_is_found_without_a_count_of_all(bad: float) -> None:
    expected = np.ones(2 * CHUNK + 1)
    actual = expected.astype(np.float32)
    actual[-1] = bad
    assert compare(actual, expected, "float32", Tolerance(1e-5, 1e-5), counts=False).wrong == 1
