"""Make other values for an input, from values that the problem drew.

A kernel that is right for one distribution only (because it skips small values, sums every other element, or assumes a
mean of 0) is wrong for another. The meaning of a problem's values is unknown here, so all values stay between the least
and the greatest value that the problem drew:

    own       as the problem drew them
    uniform   anything between least and greatest
    normal    about their mean, with their spread, cut off at both ends
    scaled    runs of 64 elements, each brought nearer to 0 by a power of two, down to 1/128
    sparse    15 in 16 at 0
    ties      at most 8 different values
    shifted   all in the upper half
    high      all in the upper sixteenth: what early elements contribute is not forgotten
    burst     as the problem drew them, but an eighth of each row at the least or the greatest value: a run of elements,
              or every eighth element
    sorted    each row in ascending or descending order, or with neighbours in that order as far apart as a power of two
    columns   half as burst, half as sorted, along another axis than the last
    few       as the problem drew them, but one row in 8 as burst or as sorted, never the first

In half of the sets the first eighth of each input stays as the problem drew it, so a kernel that looks at the first
values to choose an approximation is wrong, too. The last four differ along a row, so a kernel that reads only a part of
each row is wrong even within wide tolerances, and so is one that keeps few candidates of each part of a row, whether a
part is a run or every n-th element.
A row is the last axis. `few` takes 64 parts of a single long row for rows.

In floats of more than LARGE elements, the values for the first ones come again and again.

If all values have the same sign, "0" is the value nearest to 0. NaN, infinities, and integers in ascending order (row
offsets) stay unchanged. Permutations are permuted. Floats in ascending order are sorted again. structure.py lists other
properties that stay.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ..errors import UsageError
from .arrays import NUMPY_DTYPES, Numbers, dtype_of
from .c_types import FLOATS
from .seeding import generator
from .spec import ELEMENT_BYTES
from .structure import keep_structure
from .threads import all_parts, in_parts
from .turns import others_turn

OWN = "own"
NAMES = (
    OWN,
    "uniform",
    "normal",
    "scaled",
    "sparse",
    "ties",
    "shifted",
    "high",
    "burst",
    "sorted",
    "columns",
    "few",
)
RUN = 64
LEVELS = 8
SPARSE = 1 / 16
HIGH = 1 / 16
BURST = 8
"""A burst is one of this many parts of a row, or as many elements with this distance."""

FEW = 8
"""One of this many rows is another than the problem's own."""

FIRST = 8
"""The first of this many parts of an input may stay as the problem drew it."""

PARTS = 64
"""Parts of a single row."""

LONG = 8
"""Least length of an axis along which columns are changed."""

CHUNK = 1 << 17
"""Elements per chunk. A chunk fits in a core's cache, and has its own generator, so that chunks run in parallel."""

LARGE = 1 << 26
"""To make values for all of 2^31 elements took 12 s (16 processors), and a replay waits for its sets. The problem's own
distribution is drawn as a whole."""

SAMPLE = 1 << 15
"""Elements from which mean, spread and levels are estimated."""


@dataclass(frozen=True)
class Shape:
    """Statistics of the problem's own values. `levels` are some of the values."""

    low: float
    high: float
    mean: float
    spread: float
    levels: Numbers

    @property
    def zero(self) -> float:
        return min(max(0.0, self.low), self.high)


Rule = Callable[[np.random.Generator, Numbers, Shape], Numbers]
"""Makes the values of a chunk."""

Number: TypeAlias = Any
"""An element."""

RowRule = Callable[[np.random.Generator, Numbers, Number, Number], Numbers]
"""Makes rows from the problem's own rows, and the least and the greatest value."""


def named(text: str) -> tuple[str, ...]:
    """The distributions that a text names, separated by commas. Raises UsageError."""
    names = tuple(each.strip() for each in text.split(","))
    if len(set(names)) < len(names) or not set(names) <= set(NAMES):
        raise UsageError(f"distributions cannot be {text!r}; give some of {', '.join(NAMES)}")
    return names


def transformed(own: Numbers, distribution: str, seed: int, name: str) -> Numbers:
    """Values of the same shape and dtype, derived from `seed` and `name`. Raises KeyError: unknown distribution.

    Call it where another thread may run the author's code: it takes a while.
    """
    if distribution == OWN or own.size == 0:
        return own
    with others_turn():
        make = _repeated if own.size > LARGE else _transformed
        made = make(own, distribution, seed, name)
        if generator(seed, "first", distribution).random() < 0.5:  # the same for all inputs of a set
            _keep_first(own.reshape(-1), made.reshape(-1))
        return keep_structure(own, made)


def _repeated(own: Numbers, distribution: str, seed: int, name: str) -> Numbers:
    """As _transformed(), but make values for LARGE elements and repeat them, if `own` has finite floats in no order."""
    count = max(1, LARGE // (own.size // len(own)))
    flat = own.reshape(-1)
    if count >= len(own) or dtype_of(own) not in FLOATS or is_ascending(flat) or not _is_finite(flat):
        return _transformed(own, distribution, seed, name)
    part, made = _transformed(own[:count], distribution, seed, name), np.empty(own.shape, own.dtype)

    def fill(start: int) -> None:
        made[start : start + count] = part[: len(own) - start]

    in_parts(fill, len(own), count)
    return made


def _is_finite(flat: Numbers) -> bool:
    size = 8 * CHUNK  # threads that do so little wait for each other's Python
    return all_parts(lambda at: bool(np.isfinite(flat[at : at + size]).all()), flat.size, size)


def _transformed(own: Numbers, distribution: str, seed: int, name: str) -> Numbers:
    words = (name, distribution)
    if distribution in _ROW_RULES:
        return _by_rows(own, _ROW_RULES[distribution], generator(seed, *words))
    if distribution == "columns":
        return _by_columns(own, generator(seed, *words))
    rule = _RULES[distribution]
    flat = own.reshape(-1)
    if dtype_of(own) in FLOATS:
        numbers = _floats(flat, rule, seed, words)
    elif dtype_of(own) == "bool":
        numbers = np.less(generator(seed, *words).random(flat.shape), flat.mean())  # as often true as it is
    else:
        numbers = _whole(flat, rule, seed, words)
    return numbers.reshape(own.shape)


def fresh(template: Numbers, seed: int, name: str) -> Numbers:
    """Uniform values over the template's range, for an input that does not depend on the seed."""
    return _transformed(template, "uniform", seed, name) if template.size else template


def is_permutation(flat: Numbers, low: int, high: int) -> bool:
    """Whether all integers from the least to the greatest occur exactly once."""
    return high - low + 1 == flat.size > 2 and len(np.unique(flat)) == flat.size


def is_ascending(flat: Numbers) -> bool:
    if flat.size < 3 or not flat[0] < flat[-1]:
        return False
    part = flat[:SAMPLE]
    return bool((part[1:] >= part[:-1]).all() and (flat[1:] >= flat[:-1]).all())


def _keep_first(own: Numbers, made: Numbers) -> None:
    """Write the first part of the problem's own values to `made`, unless the order of all values matters."""
    whole = dtype_of(own) not in FLOATS and dtype_of(own) != "bool"
    if is_ascending(made) or (whole and is_permutation(made, int(made.min()), int(made.max()))):
        return
    made[: len(own) // FIRST] = own[: len(own) // FIRST]


def _floats(flat: Numbers, rule: Rule, seed: int, words: tuple[str, ...]) -> Numbers:
    low, high = float(flat.min()), float(flat.max())
    numbers: Numbers
    if np.isfinite(low) and np.isfinite(high):
        numbers = _by_chunks(flat, rule, low, high, seed, words)
        return np.sort(numbers) if is_ascending(flat) else numbers
    finite = np.isfinite(flat)
    numbers = flat.copy()
    if finite.any():
        numbers[finite] = _floats(flat[finite], rule, seed, words)
    return numbers


def _whole(flat: Numbers, rule: Rule, seed: int, words: tuple[str, ...]) -> Numbers:
    low, high = int(flat.min()), int(flat.max())
    if is_permutation(flat, low, high):
        return np.asarray(generator(seed, *words).permutation(flat))
    if is_ascending(flat):
        return flat
    if rule is _uniform:
        return generator(seed, *words).integers(low, high, flat.shape, flat.dtype, endpoint=True)
    if max(abs(low), abs(high)) > 1 << 53:  # float64 does not tell its numbers apart
        return np.asarray(generator(seed, *words).choice(flat, flat.shape))
    return _by_chunks(flat, rule, low, high, seed, words)


def _by_rows(own: Numbers, rule: RowRule, random: np.random.Generator) -> Numbers:
    """Change each row. Rows with NaN or infinities, ascending values and permutations stay as they are."""
    flat = own.reshape(-1)
    floats = dtype_of(own) in FLOATS
    if is_ascending(flat) or (floats and not np.isfinite(flat).all()):
        return own
    if not floats and dtype_of(own) != "bool" and is_permutation(flat, int(flat.min()), int(flat.max())):
        return np.asarray(random.permutation(flat)).reshape(own.shape)
    rows = own.reshape(-1, own.shape[-1] if own.ndim else 1)
    return rule(random, rows, flat.min(), flat.max()).reshape(own.shape)


def _by_columns(own: Numbers, random: np.random.Generator) -> Numbers:
    """Change each row along another axis than the last, if one is long enough, else along the last."""
    axes = [axis for axis in range(own.ndim - 1) if own.shape[axis] >= LONG]
    if not axes or is_ascending(own.reshape(-1)):
        return _by_rows(own, _both, random)
    axis = int(random.choice(axes))
    made = _by_rows(np.ascontiguousarray(np.moveaxis(own, axis, -1)), _both, random)
    return np.ascontiguousarray(np.moveaxis(made, -1, axis))


def _by_chunks(
    flat: Numbers, rule: Rule, low: float, high: float, seed: int, words: tuple[str, ...]
) -> Numbers:
    """Make values chunk by chunk, computed in float32 if that represents all values of the dtype."""
    dtype = dtype_of(flat)
    wide = ELEMENT_BYTES[dtype] > (4 if dtype in FLOATS else 2)
    number = np.float64 if wide else np.float32
    sample = flat[:: max(1, flat.size // SAMPLE)].astype(np.float64)
    levels = generator(seed, *words, "levels").choice(sample, LEVELS)
    with np.errstate(over="ignore"):  # of float64s near their end
        shape = Shape(low, high, float(sample.mean()), float(sample.std()), levels.astype(number))
    numbers = np.empty_like(flat)

    def make(start: int) -> None:
        values = flat[start : start + CHUNK].astype(number)
        values = np.clip(rule(generator(seed, *words, str(start)), values, shape), low, high)
        if dtype not in FLOATS:
            np.rint(values, out=values)
        # Rounding cannot leave the range, because both of its ends are values of the dtype.
        numbers[start : start + CHUNK] = values.astype(NUMPY_DTYPES[dtype])

    in_parts(make, flat.size, CHUNK)
    return numbers


def _draw(random: np.random.Generator, like: Numbers) -> Numbers:
    """Uniform values between 0 and 1."""
    return random.random(like.shape, like.dtype)


def _uniform(random: np.random.Generator, values: Numbers, shape: Shape) -> Numbers:
    part = _draw(random, values)
    return np.asarray(part * shape.high + (1 - part) * shape.low)  # high - low may overflow


def _normal(random: np.random.Generator, values: Numbers, shape: Shape) -> Numbers:
    numbers = random.standard_normal(values.shape, values.dtype)
    numbers *= shape.spread
    numbers += shape.mean
    return numbers


def _scaled(random: np.random.Generator, values: Numbers, shape: Shape) -> Numbers:
    runs = (0.5 ** random.integers(0, 8, -(-values.size // RUN))).astype(values.dtype)
    values -= shape.zero
    values *= np.repeat(runs, RUN)[: values.size]
    values += shape.zero
    return values


def _sparse(random: np.random.Generator, values: Numbers, shape: Shape) -> Numbers:
    values[_draw(random, values) >= SPARSE] = shape.zero
    return values


def _ties(random: np.random.Generator, values: Numbers, shape: Shape) -> Numbers:
    return np.asarray(shape.levels[random.integers(0, LEVELS, values.shape, np.uint8)])


def _shifted(random: np.random.Generator, values: Numbers, shape: Shape) -> Numbers:
    del random
    return np.asarray(values / 2 + shape.high / 2)


def _high(random: np.random.Generator, values: Numbers, shape: Shape) -> Numbers:
    part = _draw(random, values) * HIGH
    return np.asarray((1 - part) * shape.high + part * shape.low)


def _burst(random: np.random.Generator, rows: Numbers, low: Number, high: Number) -> Numbers:
    count, length = rows.shape
    size = -(-length // BURST)
    begins = random.integers(0, length - size + 1, (count,))
    is_run = random.random((count,)) < 0.5
    ends = np.array([low, high], rows.dtype)[random.integers(0, 2, (count,))]
    if count <= length:  # masks as large as the rows would take longer than a loop
        made: Numbers = rows.copy()
        for row, begin, run, end in zip(made, begins, is_run, ends, strict=True):
            row[slice(begin, begin + size) if run else slice(begin % BURST, None, BURST)] = end
        return made
    place = np.arange(length)
    runs = (place >= begins[:, None]) & (place < begins[:, None] + size)
    striped = place % BURST == begins[:, None] % BURST
    return np.where(np.where(is_run[:, None], runs, striped), ends[:, None], rows)


def _sorted(random: np.random.Generator, rows: Numbers, low: Number, high: Number) -> Numbers:
    del low, high
    made = np.sort(rows, axis=1)
    length = rows.shape[1]
    largest = max(0, length.bit_length() - 5)  # at least 16 elements lie at each distance
    distances = 1 << random.integers(0, largest + 1, len(rows))
    for distance in np.unique(distances[distances > 1]):
        dealt, rest = distances == distance, length % distance
        runs = made[dealt, rest:].reshape(dealt.sum(), distance, -1)
        made[dealt, rest:] = runs.swapaxes(1, 2).reshape(len(runs), -1)
    falling = random.random(len(rows)) < 0.5
    made[falling] = made[falling, ::-1]
    return made


def _both(random: np.random.Generator, rows: Numbers, low: Number, high: Number) -> Numbers:
    """Half of the rows as in burst, half as in sorted; one row as in one of them."""
    made = np.empty_like(rows)
    is_sorted = random.permutation(len(rows)) % 2 == random.integers(0, 2)
    for half, rule in ((is_sorted, _sorted), (~is_sorted, _burst)):
        if half.any():
            made[half] = rule(random, rows[half], low, high)
    return made


def _few(random: np.random.Generator, rows: Numbers, low: Number, high: Number) -> Numbers:
    count, length = rows.shape
    made: Numbers = rows.copy()
    if count == 1 and length > PARTS:
        size = length // PARTS
        parts = rows[0, : PARTS * size].reshape(PARTS, size)
        made[0, : PARTS * size] = _few(random, parts, low, high).reshape(-1)
        return made
    chosen = random.choice(np.arange(min(1, count - 1), count), max(1, count // FEW), replace=False)
    made[chosen] = _both(random, rows[chosen], low, high)
    return made


_ROW_RULES: dict[str, RowRule] = {"burst": _burst, "sorted": _sorted, "few": _few}
_RULES: dict[str, Rule] = {
    "uniform": _uniform,
    "normal": _normal,
    "scaled": _scaled,
    "sparse": _sparse,
    "ties": _ties,
    "shifted": _shifted,
    "high": _high,
}
