"""Outputs whose numbers are numbers of the inputs: a maximum, a sorted array, the largest numbers of rows.

No honest kernel rounds them, so a tolerance for rounding errors permits only work that is left out. The maximum of a
part of many uniform numbers is near that of all, and numbers need not be sorted by their last bits. The tolerance of a
suite, and a default one, are therefore narrowed to a few units in the last place. A tolerance that a problem gives
itself stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..problem.arrays import to_numpy
from ..problem.spec import Buffer, Tolerance
from ..problem.threads import all_parts, in_parts
from .compare import CHUNK
from .formats import FLOATS, Array, Doubles, decoded, is_float
from .nearby import EXACT_BITS
from .reference import Expected

SPARE_BITS = 2
"""Errors of 2 to 4 units in the last place of the largest number pass."""

DRAWN = 16
"""Numbers of an output that are looked up among the inputs. If all are there, the whole output is compared."""

Set = tuple[Mapping[str, Any], Expected, Callable[[], Mapping[str, Array]]]
"""A set's inputs, its expected outputs, and those of the reference in the submission's precision."""


def selected(
    read: Sequence[Buffer],
    checked: Sequence[Buffer],
    tolerances: Mapping[str, Tolerance],
    sets: Iterable[Set],
    seed: int,
) -> dict[str, float]:
    """The outputs whose numbers are numbers of the inputs, or 0, in all `sets`, and which the reference does not round.

    Each has the factor that narrows its tolerance to an error in the last SPARE_BITS bits of its largest number, or the
    largest such factor of all sets.
    Outputs of numbers with few bits do not count: sums of small whole numbers are among the inputs by chance.
    """
    found = {each.name: each for each in checked if has_more_bits(each)}
    random, factors = np.random.default_rng(seed), dict[str, float]()
    for arrays, expected, own in sets:
        for name, buffer in list(found.items()):
            numbers = _drawn(expected[name], random)
            is_selected = _have_bits(numbers) and _are_in(numbers, read, arrays)
            if not is_selected or not _is_exact(buffer, own().get(name), expected[name]):
                del found[name]
            else:
                factors[name] = max(factors.get(name, 0.0), _factor(buffer, tolerances[name], expected[name]))
        if not found:
            break
    return {name: each for name, each in factors.items() if name in found and each < 1}


def _factor(buffer: Buffer, tolerance: Tolerance, expected: Array) -> float:
    largest = _largest(expected)
    bound = tolerance.atol + tolerance.rtol * largest
    return largest * 2.0 ** (SPARE_BITS - FLOATS[buffer.dtype].digits) / bound if bound else np.inf


def _largest(expected: Array) -> float:
    """The largest finite number, without its sign."""
    found = [0.0]

    def look(start: int) -> None:
        sizes = np.abs(expected[start : start + CHUNK])
        found.append(float(sizes.max(where=np.isfinite(sizes), initial=0)))

    in_parts(look, len(expected), CHUNK)
    return max(found)


def has_more_bits(buffer: Buffer) -> bool:
    """Whether numbers of the output can have more than EXACT_BITS significant bits."""
    return is_float(buffer.dtype) and FLOATS[buffer.dtype].digits > EXACT_BITS


def _drawn(expected: Array, random: np.random.Generator) -> Doubles:
    """Some numbers of an output that are not 0, each once and in ascending order."""
    numbers = expected if expected.size <= DRAWN else expected[random.integers(0, expected.size, DRAWN)]
    return np.unique(numbers[np.isfinite(numbers) & (numbers != 0)].astype(np.float64))


def _have_bits(numbers: Doubles) -> bool:
    """Whether at least half of the numbers have more than EXACT_BITS significant bits."""
    mantissas = np.frexp(numbers)[0] * 2.0**EXACT_BITS
    return 0 < len(numbers) <= 2 * int(np.count_nonzero(mantissas != np.rint(mantissas)))


def _are_in(numbers: Doubles, read: Sequence[Buffer], arrays: Mapping[str, Any]) -> bool:
    """Whether all numbers are among the floats of the inputs. Ends at the first missing number, since most outputs
    are computed."""
    floats = [to_numpy(arrays[each.name]).reshape(-1) for each in read if is_float(each.dtype)]
    return all(any(_is_in(number, given) for given in floats) for number in numbers)


def _is_in(number: np.float64, given: Array) -> bool:
    with np.errstate(over="ignore"):  # a number beyond the range of the input's dtype
        wanted = given.dtype.type(number)
    if np.float64(wanted) != number:
        return False
    return not all_parts(lambda start: not (given[start : start + CHUNK] == wanted).any(), len(given), CHUNK)


def _is_exact(buffer: Buffer, own: Array | None, expected: Array) -> bool:
    """Whether the reference in the submission's precision, `own`, as stored, makes no error. Chunk by chunk: whole
    arrays in float64 would be several times as large as the output."""
    if own is None:
        return False

    def is_same(start: int) -> bool:
        numbers = decoded(buffer.dtype, own[start : start + CHUNK])
        return np.array_equal(numbers, expected[start : start + CHUNK], equal_nan=True)

    return all_parts(is_same, len(expected), CHUNK)
