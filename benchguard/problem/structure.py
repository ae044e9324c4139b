"""Keep what an input's values mean when a distribution replaces them.

A kernel may rely on properties that every draw of the problem has: it skips the zeros of a triangular matrix, reads
half of a symmetric one, or decodes only the bytes that a quantiser writes. Other distributions keep these properties:

- zeros among floats stay zeros, where the problem drew them (triangles, masks, missing edges of a graph)
- an input with few different values keeps to these values (labels, pixels, encoded numbers)
- whole numbers stored as floats stay whole
- a symmetric matrix stays symmetric
- rows of non-negative numbers that sum to 1 stay as drawn
"""

from __future__ import annotations

import numpy as np

from .arrays import Numbers, dtype_of
from .c_types import FLOATS
from .threads import in_parts

SAMPLE = 1 << 15
"""Elements, spread over the input, that show its properties."""

PART = 1 << 20
"""Elements that a thread looks at at once."""

FEW = 256
"""As many values as a byte has. Each must occur REPEATS times on average."""
REPEATS = 4

CHOICE = 32
"""So few values (labels, say) are not replaced by their nearest ones: a distribution could leave one of them only."""

ROWS = 64
CLOSE = 1e-5
SUM_CLOSE = 1e-3


def keep_structure(own: Numbers, made: Numbers) -> Numbers:
    """`made`, with the properties of `own`, which the problem drew; `own` itself where `made` cannot have them.

    Writes to `made`.
    """
    sample = own.reshape(-1)[:: max(1, own.size // SAMPLE)]
    levels = np.unique(sample)
    few = len(levels) <= FEW and len(levels) * REPEATS <= len(sample)
    floats = dtype_of(own) in FLOATS
    if floats and _are_probabilities(own):
        return own
    if few and not np.isin(made, levels).all():
        if len(levels) <= CHOICE:
            return own
        made = _nearest(made, levels)
    elif floats and _are_whole(sample):
        made = np.rint(made)
    if floats:
        made = _with_zeros(own, made)
    if _is_symmetric(own):
        lower = np.tril(made)
        made = lower + np.swapaxes(np.tril(made, -1), -1, -2)
    return own if made.size > 1 and _is_constant(made.reshape(-1)) else made.astype(own.dtype, copy=False)


def _with_zeros(own: Numbers, made: Numbers) -> Numbers:
    """`made`, with the zeros of `own`."""
    source, made = own.reshape(-1), np.require(made, requirements=("C", "W"))
    flat = made.reshape(-1)

    def keep(start: int) -> None:
        part = source[start : start + PART]
        if (zeros := part == 0).any():
            np.copyto(flat[start : start + PART], part, where=zeros)

    in_parts(keep, own.size, PART)
    return made


def _nearest(values: Numbers, levels: Numbers) -> Numbers:
    """The nearest of the ascending `levels` to each value; the lower one of two."""
    wide = levels.astype(np.float64)
    return levels[np.searchsorted((wide[1:] + wide[:-1]) / 2, values.astype(np.float64))]


def _is_constant(flat: Numbers) -> bool:
    return bool((flat[:SAMPLE] == flat[0]).all() and (flat == flat[0]).all())


def _are_whole(sample: Numbers) -> bool:
    numbers = sample.astype(np.float64)
    return bool((np.isfinite(numbers) & (np.rint(numbers) == numbers)).all())


def _are_probabilities(own: Numbers) -> bool:
    rows = own.reshape(-1, own.shape[-1] if own.ndim else 1)
    if rows.shape[1] < 2:
        return False
    some = rows[:: max(1, len(rows) // ROWS)]
    with np.errstate(invalid="ignore"):
        if not (some[:, :SAMPLE] >= 0).all():
            return False
        numbers = some.astype(np.float64)
        return bool((numbers >= 0).all() and (np.abs(numbers.sum(axis=1) - 1) < SUM_CLOSE).all())


def _is_symmetric(own: Numbers) -> bool:
    if own.ndim < 2 or own.shape[-1] != own.shape[-2] or own.shape[-1] < 2:
        return False
    some = np.arange(0, own.shape[-1], max(1, own.shape[-1] // ROWS))
    rows = own[..., some, :].astype(np.float64)
    columns = np.swapaxes(own[..., some], -1, -2).astype(np.float64)
    return bool(
        np.allclose(rows, columns, rtol=CLOSE, atol=CLOSE * float(np.abs(rows).max()), equal_nan=True)
    )
