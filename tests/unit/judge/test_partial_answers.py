"""Answers from a part of the inputs: a kernel that reads a part must not pass, and honest kernels must."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchguard.ipc.shared_memory import FIXED, SharedMemory
from benchguard.ipc.slots import SlotPlan
from benchguard.judge import narrowing
from benchguard.judge.compare import compare
from benchguard.judge.formats import Array
from benchguard.judge.partial_answers import (
    MOVED_MOST,
    MOVED_SHARE,
    Movable,
    PartialAnswers,
    are_numbers,
    beside_lost,
    groups_of,
    is_of_small_spread,
    is_sum,
    movable,
    moved_in,
    part_of,
    partial_answers,
    without_extremes,
)
from benchguard.judge.samples import Copy
from benchguard.judge.secret_sets import SecretSets
from benchguard.judge.slack import widened
from benchguard.judge.stored_answers import least_factor, margin_of
from benchguard.problem.spec import Buffer, CaseSpec, Role, Tolerance, layout_of

SETS = 20
LENGTH = 1 << 16
TOLERANCES = {"y": Tolerance(1e-4, 1e-4)}
OUTPUT = Buffer("y", "float32", (1,), "output")


def buffer(name: str, shape: tuple[int, ...], role: Role = "input", dtype: str = "float32") -> Buffer:
    return Buffer(name, dtype, shape, role)  # type: ignore[arg-type]


INPUT = buffer("x", (LENGTH,))


def draw(spread: float = 0.03) -> list[Array]:
    """Numbers of a size that differs from set to set, so that no stored answer passes."""
    random = np.random.default_rng(7)
    return [
        (random.uniform(0.5, 1) * (1 + spread * random.random(LENGTH))).astype(np.float32)
        for _ in range(SETS)
    ]


def mean(numbers: Array) -> dict[str, Array]:
    return {"y": numbers.astype(np.float64).mean(keepdims=True)}


def found_for(inputs: Sequence[Array], *, has_own: bool = True) -> PartialAnswers:
    def rows() -> Iterator[tuple[Mapping[str, Array], Mapping[str, float], Mapping[str, Array]]]:
        for number, each in enumerate(inputs[:3]):
            yield mean(each), {}, mean(part_of([INPUT], {"x": each}, number)["x"])

    def least(buffer: Buffer) -> float:
        own = [{"y": each.mean(keepdims=True)} if has_own else {} for each in inputs]
        return least_factor(buffer, TOLERANCES["y"], list(map(mean, inputs)), own)

    return partial_answers([OUTPUT], TOLERANCES, rows(), least)


def count_wrong(inputs: Sequence[Array], kernel: Callable[[Array], Array], found: PartialAnswers) -> int:
    tolerance = widened(TOLERANCES, found.narrowed({}))["y"]
    return sum(
        compare(np.float32(kernel(each)).reshape(1), mean(each)["y"], "float32", tolerance).wrong
        for each in inputs
    )


def test_mean_of_a_sample_fails_and_honest_sums_pass() -> None:
    inputs = draw()

    def sample(numbers: Array) -> Array:
        return numbers[::8].astype(np.float64).mean()

    def in_turn(numbers: Array) -> Array:
        """Each of 64 threads adds 1024 numbers one after the other, the least exact honest kernel."""
        parts = np.cumsum(numbers.reshape(64, -1), axis=1, dtype=np.float32)[:, -1]
        return parts.sum(dtype=np.float32) / np.float32(LENGTH)

    found = found_for(inputs)
    assert count_wrong(inputs, sample, PartialAnswers()) == 0
    assert count_wrong(inputs, sample, found) > SETS // 4
    assert count_wrong(inputs, np.mean, found) == 0
    assert count_wrong(inputs, in_turn, found) == 0


def test_answers_that_need_all_inputs_keep_the_tolerance() -> None:
    assert found_for(draw(spread=4.0)) == PartialAnswers()


def test_tolerance_without_a_reference_in_the_precision_stays_and_is_reported() -> None:
    assert found_for(draw(), has_own=False) == PartialAnswers({}, ("y",))


def test_limit_is_never_wider_than_the_factor_so_far() -> None:
    assert PartialAnswers({"y": 0.5}).narrowed({"y": 0.1, "z": 3.0}) == {"y": 0.1, "z": 3.0}
    assert PartialAnswers({"y": 0.5}).narrowed({}) == {"y": 0.5}


def test_lost_elements_are_replaced_from_their_row_and_pairs_stay_pairs() -> None:
    shape = (5, 1000)
    buffers = [
        buffer("a", shape),
        buffer("b", shape),
        buffer("small", (5,)),
        buffer("w", (9000,), "constant"),
    ]
    rows = np.arange(5000, dtype=np.float32).reshape(shape)
    arrays = {"a": rows, "b": -rows, "small": rows[0, :5], "w": np.zeros(9000, np.float32)}
    made = part_of(groups_of(buffers)[0], arrays, 3)
    assert made["small"] is arrays["small"] and made["w"] is arrays["w"]
    assert (made["a"] == -made["b"]).all() and (made["a"] // 1000 == rows // 1000).all()
    assert 0.02 < (made["a"] != rows).mean() < 0.05
    assert (arrays["a"] == np.arange(5000).reshape(shape)).all()


def test_lost_elements_are_replaced_from_their_column_where_columns_differ_more() -> None:
    shape = (1000, 5)
    buffers = [buffer("a", shape), buffer("b", shape)]
    columns = (np.arange(5) + np.random.default_rng(1).random(shape)).astype(np.float32)
    alike = np.random.default_rng(2).random(shape, np.float32)
    made = part_of(buffers, {"a": columns, "b": alike}, 3)
    assert (made["a"] // 1 == columns // 1).all() and 0.02 < (made["a"] != columns).mean() < 0.05
    assert ((made["a"] != columns) == (made["b"] != alike)).all()
    rows = np.repeat(np.arange(1000, dtype=np.float32), 5).reshape(shape) + columns / 8
    made = part_of(buffers, {"a": columns, "b": rows}, 3)
    assert (np.abs(made["b"] - rows) < 1).all() and (np.abs(made["a"] - columns) > 1).any()


@pytest.mark.parametrize("each", [buffer("n", (64,), dtype="int32"), buffer("x", ()), buffer("x", (1,))])
def test_inputs_that_cannot_lose_elements_stay(each: Buffer) -> None:
    assert groups_of([each]) == []


def test_inputs_of_one_size_lose_elements_together_and_few_sizes_in_turn() -> None:
    sizes = {"a": 1 << 16, "b": 1 << 16, "c": 1 << 14, "small": 64, "d": 1 << 13, "e": 1 << 12}
    read = [buffer(name, (size,)) for name, size in sizes.items()]
    read += [buffer("w", (1 << 17,), "constant"), buffer("n", (1 << 17,), dtype="int32")]
    assert [[each.name for each in group] for group in groups_of(read)] == [["a", "b"], ["c"], ["d"]]
    assert groups_of(read[3:4]) == [read[3:4]]


def test_bytes_lose_elements_where_there_are_no_floats() -> None:
    pixels, places = buffer("pixels", (64,), dtype="uint8"), buffer("places", (128,), dtype="int32")
    assert groups_of([pixels, places]) == [[pixels]]
    flags = buffer("flags", (64,), dtype="bool")
    assert groups_of([flags]) == [[flags]]
    made = part_of([flags], {"flags": np.arange(64) % 2 == 0}, 1)["flags"]
    assert made.dtype == np.bool_
    made = part_of([pixels], {"pixels": np.arange(64, dtype=np.uint8)}, 1)["pixels"]
    assert made.dtype == np.uint8 and np.count_nonzero(made != np.arange(64)) == 2


def test_bytes_beside_floats_lose_elements_with_floats_of_their_size_or_after_them() -> None:
    sizes = {"pixels": 1 << 17, "scale": 2, "targets": 1 << 14, "few": 64}
    bytes_ = [buffer(name, (size,), dtype="uint8") for name, size in sizes.items() if name != "scale"]
    read = [buffer("scale", (2,)), buffer("predictions", (1 << 14,)), *bytes_]
    groups = [[each.name for each in group] for group in groups_of(read)]
    assert groups == [["predictions", "targets"], ["pixels"]]


def test_masks_and_classes_are_not_numbers() -> None:
    floats, bytes_ = buffer("x", (1 << 12,)), buffer("n", (1 << 12,), dtype="uint8")
    mask, pixels = (np.arange(1 << 12, dtype=np.uint8) % count for count in (8, 9))
    assert not are_numbers([bytes_], {"n": mask})
    assert are_numbers([bytes_], {"n": pixels})
    assert are_numbers([floats, bytes_], {"x": mask.astype(np.float32), "n": mask})


def test_outputs_of_many_inputs_are_sums() -> None:
    read = [buffer("x", (4, 64))]
    assert is_sum(buffer("y", (8,), "output"), read) and not is_sum(buffer("y", (9,), "output"), read)


def test_numbers_that_change_most_and_lost_numbers_are_as_expected() -> None:
    expected = np.linspace(1, 2, 3200)
    answer = expected * (1 + 1e-6)
    answer[::32] += 1
    answer[1:100:33] = np.nan
    expected[7] = answer[7] = np.inf
    given = answer.copy()
    made = beside_lost(expected, answer, Tolerance(0, 1e-4))
    kept = (given < 2.5) & (given != expected)
    assert (made[~kept] == expected[~kept]).all() and np.count_nonzero(made[kept] == given[kept]) > 2700


def test_numbers_near_zero_do_not_tell_the_typical_change() -> None:
    expected = np.zeros(6400)
    expected[:320] = 1
    answer = expected.copy()
    answer[:320] = 0.5
    made = beside_lost(expected, answer.copy(), Tolerance(1e-5, 1e-4))
    assert (made == answer).all()
    assert (beside_lost(expected, answer.copy()) == expected).all()


ROWS, COLUMNS = 4, 1 << 14
LONG = buffer("x", (ROWS, COLUMNS))


def shares(numbers: Array) -> Array:
    return numbers / numbers.sum(axis=1, keepdims=True)


def found_for_rows(
    function: Callable[[Array], Array], tolerance: Tolerance
) -> tuple[list[Array], PartialAnswers]:
    """Input sets with rows of uniform numbers, and what is found for a function of as many outputs."""
    random = np.random.default_rng(5)
    inputs = [random.random((ROWS, COLUMNS), np.float32) for _ in range(SETS)]
    wide = [{"y": function(each.astype(np.float64)).reshape(-1)} for each in inputs]
    output = buffer("y", (ROWS, COLUMNS), "output")

    def rows() -> Iterator[tuple[Mapping[str, Array], Mapping[str, float], Mapping[str, Array]]]:
        for number, (each, expected) in enumerate(zip(inputs[:3], wide, strict=False)):
            arrays = {"x": each}
            part = part_of([LONG], arrays, number)
            answers = {"y": function(part["x"].astype(np.float64)).reshape(-1)}
            yield expected, {}, {"y": beside_lost(expected["y"], answers["y"], tolerance)}

    def least(each: Buffer) -> float:
        return least_factor(each, tolerance, wide, [{"y": function(each).reshape(-1)} for each in inputs])

    return inputs, partial_answers([output], {"y": tolerance}, rows(), least)


@pytest.mark.parametrize("place", [np.asarray, np.fliplr])
def test_sum_replaced_by_its_expected_value_fails_and_honest_shares_pass(
    place: Callable[[Array], Array],
) -> None:
    """Also if the shares lie elsewhere than their inputs."""
    tolerance = Tolerance(1e-5, 1e-2)
    inputs, found = found_for_rows(lambda each: place(shares(each)), tolerance)
    assert 0 < found.limits["y"] < 1 and not found.open
    narrowed = widened({"y": tolerance}, found.limits)["y"]

    def are_wrong(kernel: Callable[[Array], Array], tolerance: Tolerance) -> int:
        return sum(
            compare(
                np.float32(kernel(each)).reshape(-1),
                shares(each.astype(np.float64)).reshape(-1),
                "float32",
                tolerance,
            ).wrong
            > 0
            for each in inputs
        )

    def expected_sum(numbers: Array) -> Array:
        return numbers * np.float32(2 / COLUMNS)

    def in_turn(numbers: Array) -> Array:
        """One thread adds each row, the least exact honest kernel."""
        return numbers / np.cumsum(numbers, axis=1, dtype=np.float32)[:, -1:]

    assert are_wrong(expected_sum, tolerance) == 0
    assert are_wrong(expected_sum, narrowed) > SETS // 4
    assert are_wrong(in_turn, narrowed) == 0 and are_wrong(shares, narrowed) == 0


@pytest.mark.parametrize("function", [np.sqrt, lambda each: np.cumsum(each, axis=1), np.fliplr])
def test_functions_without_a_sum_of_distant_numbers_keep_the_tolerance(
    function: Callable[[Array], Array],
) -> None:
    found = found_for_rows(function, Tolerance(1e-3, 1e-3))[1]
    assert not found.limits and not found.open


LEFT, RIGHT = buffer("a", (8, 1 << 14)), buffer("b", (1 << 14, 8))
CELLS = buffer("c", (8, 8), "output")


def found_for_products(spread: float, tolerance: Tolerance) -> tuple[float, PartialAnswers]:
    """The largest error of products of sums, in tolerances after narrowing, and what is found."""
    random = np.random.default_rng(3)
    sets = [
        {each.name: random.uniform(1 - spread, 1 + spread, each.shape) for each in (LEFT, RIGHT)}
        for _ in range(3)
    ]

    def product(inputs: Mapping[str, Array]) -> dict[str, Array]:
        return {"c": (inputs["a"] @ inputs["b"]).reshape(-1)}

    rows = [
        (product(each), {}, product(moved_in(Movable(LEFT, -1), each, seed)))
        for seed, each in enumerate(sets)
    ]
    found = partial_answers(
        [CELLS], {"c": tolerance}, rows, lambda _: 0.01, share=MOVED_SHARE, most=MOVED_MOST
    )
    narrowed = widened({"c": tolerance}, found.limits)["c"]
    errors = [
        np.abs(np.outer(each["a"].sum(1), each["b"].sum(0)).reshape(-1) / (1 << 14) - expected["c"])
        / (narrowed.atol + narrowed.rtol * expected["c"])
        for each, (expected, _, _) in zip(sets, rows, strict=True)
    ]
    return float(np.max(errors)), found


def test_product_of_sums_fails_where_its_error_is_within_the_tolerance() -> None:
    error, found = found_for_products(0.1, Tolerance(1e-5, 1e-3))
    assert 0.01 < found.limits["c"] < 0.1 and error > 1.5


def test_products_keep_the_tolerance_if_their_pairs_matter_more_or_less_than_roundings() -> None:
    assert found_for_products(0.9, Tolerance(1e-5, 1e-3))[1] == PartialAnswers()
    assert found_for_products(0.001, Tolerance(1e-5, 1e-3))[1] == PartialAnswers()


def test_elements_of_the_first_rows_move_alike_in_each_half_of_the_rows() -> None:
    few, weights = buffer("few", (4, 3)), buffer("w", (9,), "constant")
    assert movable([few, LEFT, RIGHT])[0] == movable([LEFT, weights])[0] == Movable(LEFT, -1)
    assert movable([LEFT]) == [Movable(LEFT, -1)]
    assert movable([few, weights]) == []
    arrays = {"a": np.arange(8 << 14, dtype=np.float32).reshape(LEFT.shape), "b": None}
    made = moved_in(Movable(LEFT, -1), arrays, 1)["a"]
    apart = np.diff(made, axis=0) == 1 << 14
    assert (np.sort(made, axis=1) == arrays["a"]).all()
    assert apart[:3].all() and apart[4:].all() and not apart[3].any()


def test_rows_of_a_flat_matrix_keep_their_sums_if_it_moves() -> None:
    flat = buffer("x", (8 * 4096,))
    numbers = np.random.default_rng(1).random(flat.shape)
    made = moved_in(Movable(flat, -1), {"x": numbers}, 1)["x"]
    assert (made != numbers).mean() > 0.9
    assert np.allclose(made.reshape(8, -1).sum(1), numbers.reshape(8, -1).sum(1))


def test_product_of_an_input_with_itself_is_not_a_product_of_sums() -> None:
    """16 rows of 32768 numbers from 0.9 to 1.1 passed in 1.4 ms instead of 28 ms (CPU driver, 0bc34ce7)."""
    rows, cells = buffer("x", (16, 1 << 15)), buffer("c", (16, 16), "output")
    random, tolerance = np.random.default_rng(5), Tolerance(1e-4, 1e-4)
    sets = [{"x": random.uniform(0.9, 1.1, rows.shape)} for _ in range(3)]

    def product(inputs: Mapping[str, Array]) -> dict[str, Array]:
        return {"c": (inputs["x"] @ inputs["x"].T).reshape(-1)}

    answers = [
        (product(each), {}, product(moved_in(Movable(rows, -1), each, seed)))
        for seed, each in enumerate(sets)
    ]
    found = partial_answers(
        [cells], {"c": tolerance}, answers, lambda _: 0.01, share=MOVED_SHARE, most=MOVED_MOST
    )
    off = [
        np.outer(each["x"].sum(1), each["x"].sum(1)).reshape(-1) / (1 << 15) - expected["c"]
        for each, (expected, _, _) in zip(sets, answers, strict=True)
    ]
    errors = np.abs(off).reshape(3, 16, 16)[:, ~np.eye(16, dtype=bool)]  # its diagonal would be exact
    narrowed = widened({"c": tolerance}, found.limits)["c"]
    assert 0.01 < found.limits["c"] < 1 and errors.max() > narrowed.atol + narrowed.rtol * (1 << 15)


def test_elements_of_columns_and_of_a_second_matrix_move_after_those_of_the_first_rows() -> None:
    one, other = buffer("one", (64, 8)), buffer("other", (32, 64))
    third, bias = buffer("third", (64, 64)), buffer("bias", (64,))
    assert movable([one, other, third]) == [Movable(other, -1), Movable(one, -2), Movable(other, -2)]
    assert movable([bias, one]) == [Movable(bias, -1), Movable(one, -2)]
    made = moved_in(Movable(one, -2), {"one": np.arange(512).reshape(64, 8)}, 1)["one"]
    assert (np.sort(made, axis=0) == np.arange(512).reshape(64, 8)).all() and (
        np.diff(made, axis=1) == 1
    ).all()


def test_spread_is_small_where_numbers_vary_by_less_than_half_of_their_mean() -> None:
    random = np.random.default_rng(2)
    assert is_of_small_spread(random.uniform(0.9, 1.1, 4096)) and is_of_small_spread(
        -random.uniform(1, 4, 4096)
    )
    assert not is_of_small_spread(random.random(4096)) and not is_of_small_spread(
        random.standard_normal(4096)
    )


def test_rows_keep_their_largest_and_least_elements_or_lose_only_these() -> None:
    x = np.random.default_rng(1).standard_normal((4, 2048)).astype(np.float32)
    given = buffer("x", x.shape)
    for seed in range(8):
        part = part_of([given], {"x": x}, seed)["x"]
        assert (part.max(1) == x.max(1)).all() and (part.min(1) == x.min(1)).all()
    made = without_extremes([given], {"x": x}, 1)["x"]
    assert np.count_nonzero(made != x) == 8
    assert (made.max(1) != x.max(1)).all() and (made.min(1) != x.min(1)).all()
    few = np.arange(64, dtype=np.float32)
    assert (without_extremes([buffer("x", (64,))], {"x": few}, 1)["x"] == few).all()


def test_outputs_that_do_not_change_are_named() -> None:
    same = {"y": np.ones(1)}
    assert partial_answers([OUTPUT], TOLERANCES, [(same, {}, same)], lambda _: 0.0).unchanged == ("y",)


def test_no_room_for_honest_errors_where_no_error_is_allowed() -> None:
    assert margin_of(OUTPUT, Tolerance(0, 0), [{"y": np.ones(1)}]) == np.inf
    assert margin_of(OUTPUT, Tolerance(0, 0), [{"y": np.zeros(1)}]) == 0


def test_lost_number_is_no_near_answer() -> None:
    nan = {"y": np.array([np.nan])}
    assert (
        partial_answers([OUTPUT], TOLERANCES, [(mean(np.ones(2)), {}, nan)], lambda _: 0.0)
        == PartialAnswers()
    )
    found = partial_answers([OUTPUT], TOLERANCES, [(nan, {}, nan)], lambda _: 0.0)
    assert not found.limits and not found.open


def asked_sets(
    rejected: frozenset[int] = frozenset(), streamed: int = 0
) -> tuple[list[int], tuple[str, ...]]:
    """Have the problem's own check asked about answers from a part of the inputs of six sets.

    It rejects those of `rejected`. Returns the sets for which it was asked, and the outputs for which they pass.
    """
    spec = CaseSpec("mean", (INPUT, OUTPUT))

    def expected(inputs: Mapping[str, Any]) -> dict[str, Array]:
        return mean(inputs["x"])

    case: Any = SimpleNamespace(
        spec=spec, own_verdict=True, distributions=("own", "other"), expected=expected
    )
    count, layout = 6, layout_of(spec.read)
    pool = SharedMemory("test-secrets", count * layout.stride)
    pool.seal(FIXED)
    distributions = ("own", "other", *["own"] * (count - 2))
    empty: list[dict[str, Any]] = [{} for _ in range(count)]
    plan = SlotPlan(count, streamed, 2, streamed=streamed > 0)
    sets = SecretSets(case, layout, plan, distributions, pool, pool.view(), empty, list(empty))
    asked: list[int] = []

    def ask(number: int, _: Copy) -> str | None:
        asked.append(number)
        return "wrong" if number in rejected else None

    open_outputs = narrowing.Narrowing(
        case, sets, lambda number: number, contextlib.nullcontext()
    ).outputs_open_to_parts(range(count), ask)
    sets.free()
    return asked, open_outputs


def narrowed_for(center: bool) -> narrowing.Narrowing:
    """Narrow the tolerance of the mean of a normalised row, or, without `center`, of the row itself."""
    spec = CaseSpec("rows", (INPUT, OUTPUT))

    def run(inputs: Mapping[str, Any], dtype: type[np.floating[Any]]) -> dict[str, Array]:
        x = inputs["x"].astype(dtype)
        made = (x - x.mean()) / x.std() if center else x
        return {"y": made.mean(keepdims=True)}

    case: Any = SimpleNamespace(
        spec=spec,
        own_verdict=False,
        distributions=("own",),
        tolerances=TOLERANCES,
        baseline=lambda inputs: run(inputs, np.float32),
        expected=lambda inputs: run(inputs, np.float64),
    )
    layout, random = layout_of(spec.read), np.random.default_rng(3)
    count = 6
    pool = SharedMemory("test-secrets", count * layout.stride)
    pool.seal(FIXED)
    answers: list[dict[str, Array]] = [{} for _ in range(count)]
    plan = SlotPlan(count, 0, 2)
    sets = SecretSets(
        case, layout, plan, ("own",) * count, pool, pool.view(), answers, [{} for _ in range(count)]
    )
    for number in range(count):
        x = 1 + np.float32(0.03) * random.random(INPUT.shape, np.float32)
        pool.write(x, layout.place("x", number)[0])
        answers[number].update(run({"x": x}, np.float64))
    found = narrowing.Narrowing(case, sets, lambda number: number, contextlib.nullcontext())
    found.narrow()
    sets.free()
    return found


def test_mean_that_is_zero_but_for_rounding_keeps_the_tolerance_and_has_a_note() -> None:
    """The mean of a normalisation (KernelBench level2/23). Zeros pass, and honest sums are off by far more than the
    exact mean of 1e-17."""
    found = narrowed_for(center=True)
    assert found.stored.open == ("y",)
    assert found.factors_of(0, {}) == {}


def test_mean_of_a_row_has_a_narrowed_tolerance() -> None:
    found = narrowed_for(center=False)
    assert found.factors_of(0, {})["y"] < 1
    assert found.causes == {"y": "stored"}


def asked_about_rows(function: Callable[[Array], Array]) -> tuple[list[Array], tuple[str, ...]]:
    """Have a check that accepts everything asked about outputs of as many numbers as inputs.

    Returns the differences of these outputs from the right ones, and the outputs that it accepts.
    """
    output, random = buffer("y", (ROWS, COLUMNS), "output"), np.random.default_rng(5)
    spec = CaseSpec("rows", (LONG, output))

    def expected(inputs: Mapping[str, Any]) -> dict[str, Array]:
        return {"y": function(inputs["x"].astype(np.float64))}

    case: Any = SimpleNamespace(spec=spec, own_verdict=True, distributions=("own",), expected=expected)
    layout = layout_of(spec.read)
    pool = SharedMemory("test-secrets", 2 * layout.stride)
    pool.seal(FIXED)
    answers: list[dict[str, Array]] = [{}, {}]
    plan = SlotPlan(2, 0, 2)
    sets = SecretSets(case, layout, plan, ("own", "own"), pool, pool.view(), answers, [{}, {}])
    for number in range(2):
        x = random.random((ROWS, COLUMNS), np.float32)
        pool.write(x, layout.place("x", number)[0])
        answers[number]["y"] = expected({"x": x})["y"].reshape(-1)
    errors: list[Array] = []

    def ask(number: int, copy: Copy) -> str | None:
        errors.append(np.abs(copy["y"] - answers[number]["y"]))
        return None

    found = narrowing.Narrowing(
        case, sets, lambda number: number, contextlib.nullcontext()
    ).outputs_open_to_parts(range(2), ask)
    sets.free()
    return errors, found


def test_own_check_is_asked_about_sums_of_a_part_beside_right_numbers() -> None:
    errors, found = asked_about_rows(shares)
    assert found == ("y",) and len(errors) == 2
    assert all(0 < each.max() < 1e-5 for each in errors)


def test_own_check_is_not_asked_about_elementwise_functions() -> None:
    assert asked_about_rows(np.sqrt) == ([], ())


def test_own_check_is_asked_about_three_sets_until_it_rejects_one() -> None:
    assert asked_sets() == ([0, 2, 3], ("y",))
    assert asked_sets(frozenset({2})) == ([0, 2], ())


def test_own_check_is_not_asked_about_streamed_sets() -> None:
    """Their memory has another set by then."""
    assert asked_sets(streamed=3) == ([0, 2], ("y",))


def test_own_check_is_asked_about_one_set_of_large_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(narrowing, "LARGE_BYTES", INPUT.bytes + 1)
    assert asked_sets()[0] == [0, 2, 3]
    monkeypatch.setattr(narrowing, "LARGE_BYTES", INPUT.bytes)
    assert asked_sets() == ([0], ("y",))
    assert asked_sets(frozenset({0})) == ([0], ())


@pytest.mark.parametrize(
    ("dtype", "tolerance", "off", "is_open"),
    [
        ("bool", Tolerance(0.0, 0.0), 0, True),
        ("bool", Tolerance(0.0, 0.0), 1, False),
        ("uint8", Tolerance(1.0, 0.0), 1, True),
        ("uint8", Tolerance(1.0, 0.0), 2, False),
    ],
)
def test_integers_and_bools_that_do_not_change_by_more_than_the_tolerance_are_open(
    dtype: Any, tolerance: Tolerance, off: int, is_open: bool
) -> None:
    """Their tolerance stays: it says which answers are right, and not how a kernel rounds."""
    output = Buffer("y", dtype, (2048,), "output")
    expected = np.random.default_rng(1).integers(0, 2, 2048).astype(dtype)
    answer = expected.copy()
    answer[7] = not expected[7] if dtype == "bool" and off else expected[7] + off
    rows = [({"y": expected}, {}, {"y": each}) for each in (expected, answer, expected)]
    found = partial_answers([output], {"y": tolerance}, rows, lambda _: 1.0)
    assert found == PartialAnswers(open=("y",) if is_open else ())
