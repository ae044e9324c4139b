"""Other values for an input, from values that the problem itself drew.

A kernel that is right on one distribution alone (one that skips small values, sums every other element, or takes a
mean to be 0) is wrong on another. What a problem's values mean is not known here, so whatever is made stays between
the least and the greatest value that the problem drew:

    own       as the problem drew them
    uniform   anything between least and greatest
    normal    about their mean, with their spread, cut off at both ends
    scaled    runs of 64 elements, each brought nearer to 0 by a power of two, down to 1/128
    sparse    15 in 16 at 0
    ties      at most 8 different values
    shifted   all in the upper half

0 is the value nearest to it where the problem's are all on one side. Not touched: NaN and infinities; whole numbers in
ascending order (offsets of rows); those that are a permutation are permuted. Floats in ascending order stay so.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .arrays import NUMPY_DTYPES, Numbers, dtype_of
from .c_types import FLOATS

OWN = "own"
NAMES = (OWN, "uniform", "normal", "scaled", "sparse", "ties", "shifted")
RUN = 64
LEVELS = 8
SPARSE = 1 / 16

Doubles = NDArray[np.float64]
Rule = Callable[[np.random.Generator, Doubles, float, float], Doubles]


def transformed(own: Numbers, distribution: str, random: np.random.Generator) -> Numbers:
    """Of the same shape and dtype. Raises KeyError for a distribution that is none."""
    rule = _RULES[distribution] if distribution != OWN else None
    if rule is None or own.size == 0:
        return own
    flat = own.reshape(-1)
    if dtype_of(own) == "bool":
        return _drawn_bool(flat, random).reshape(own.shape)
    return (_floats if dtype_of(own) in FLOATS else _whole)(flat, rule, random).reshape(own.shape)


def fresh(template: Numbers, random: np.random.Generator) -> Numbers:
    """For an input that is the same whatever the seed: values uniform over the template's range."""
    return transformed(template, "uniform", random)


def is_permutation(flat: Numbers) -> bool:
    """Every whole number from the least to the greatest, once, in no order."""
    span = int(flat.max()) - int(flat.min()) + 1
    return span == flat.size > 2 and len(np.unique(flat)) == span


def is_ascending(flat: Numbers) -> bool:
    return bool(flat.size > 2 and flat[0] < flat[-1] and (flat[1:] >= flat[:-1]).all())


def _floats(flat: Numbers, rule: Rule, random: np.random.Generator) -> Numbers:
    values = flat.astype(np.float64)
    finite = np.isfinite(values)
    kept = values[finite]
    if kept.size == 0:
        return flat
    low, high = float(kept.min()), float(kept.max())
    made = np.clip(rule(random, kept, low, high), low, high)
    if is_ascending(kept):
        made.sort()
    values[finite] = made
    # Rounding to the dtype cannot leave the range: both its ends are numbers of the dtype.
    return values.astype(NUMPY_DTYPES[dtype_of(flat)])


def _whole(flat: Numbers, rule: Rule, random: np.random.Generator) -> Numbers:
    if is_permutation(flat):
        return random.permutation(flat)
    if is_ascending(flat):
        return flat
    low, high = int(flat.min()), int(flat.max())
    if rule is _uniform:
        return random.integers(low, high, flat.shape, flat.dtype, endpoint=True)
    if high - low >= 1 << 53:  # float64 does not tell its numbers apart
        return random.choice(flat, flat.shape)
    values = (flat - flat.dtype.type(low)).astype(np.float64)  # exact, wherever the range lies
    made = np.rint(np.clip(rule(random, values + low, low, high), low, high))
    return np.clip(made, low, high).astype(flat.dtype)


def _drawn_bool(flat: Numbers, random: np.random.Generator) -> Numbers:
    """As often true as the problem has it."""
    made: Numbers = np.less(random.random(flat.shape), flat.mean())
    return made


def _uniform(random: np.random.Generator, values: Doubles, low: float, high: float) -> Doubles:
    return low + (high - low) * random.random(values.shape)  # an infinite range is clipped to its ends


def _normal(random: np.random.Generator, values: Doubles, low: float, high: float) -> Doubles:
    middle = float(values.mean())
    return np.clip(random.normal(middle, float(values.std()), values.shape), low, high)


def _scaled(random: np.random.Generator, values: Doubles, low: float, high: float) -> Doubles:
    zero = min(max(0.0, low), high)
    runs = 0.5 ** random.integers(0, 8, -(-values.size // RUN))
    return zero + (values - zero) * np.repeat(runs, RUN)[: values.size]


def _sparse(random: np.random.Generator, values: Doubles, low: float, high: float) -> Doubles:
    zero = min(max(0.0, low), high)
    return np.where(random.random(values.shape) < SPARSE, values, zero)


def _ties(random: np.random.Generator, values: Doubles, low: float, high: float) -> Doubles:  # noqa: ARG001
    levels = random.choice(values, LEVELS)
    return levels[random.integers(0, LEVELS, values.shape)]


def _shifted(random: np.random.Generator, values: Doubles, low: float, high: float) -> Doubles:  # noqa: ARG001
    return values / 2 + high / 2 if high > low else values


_RULES: dict[str, Rule] = {
    "uniform": _uniform,
    "normal": _normal,
    "scaled": _scaled,
    "sparse": _sparse,
    "ties": _ties,
    "shifted": _shifted,
}
