"""Numbers of an output that a problem's own check does not see.

A check may leave numbers out on purpose (padding), or look at a few rows only. There it accepts any numbers, so
these tell nothing about the call.

So the right answer is shown to the check with other numbers in some places. If it accepts these, it does not see the
places. Other numbers are of two sizes, and the check must accept both: a norm of the error hardly grows by a few
numbers that are not much larger than the right ones, and very large ones may overflow in the check.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..problem.spec import Buffer, Tolerance
from .compare import CHUNK
from .formats import FLOATS, Array, numpy_dtype, stored_dtype
from .other_inputs import Drawn, Outputs
from .reference import as_output

SHARE = 5 / 8
"""The largest share of the numbers that depend on the inputs which may be neither right nor seen. Rows with lengths
from 1 to the longest are half padding, and kernels need not write it."""

NOTED = 1 / 32
"""The least share that is looked at."""

ASKED = 17
REJECTED = 4
"""Up to ASKED places are looked at one by one, until the check has rejected REJECTED. It accepts 14 of 17 before in
98 % of grades if it sees one number in 16, and in 0.6 % if it sees half of them (binomial distribution)."""

ROUGH = 1 - REJECTED / ASKED
"""A share of up to this is that of few places, because the check had rejected REJECTED. It accuses no kernel."""

TIMES = 4.0
HUGE = 2.0**60
"""Other numbers are TIMES the largest right one, and HUGE, whose square is finite in float32."""

At = NDArray[np.intp]

Shows = Callable[[str, At], bool]
"""Whether the check rejects the right answer with other numbers in these places of an output."""


def off_share(outputs: Sequence[Drawn], tolerance: Tolerance) -> float:
    """The share of the numbers which depend on the inputs that are not right, in all pairs of sets together."""
    off = sum(int(_off(each, tolerance).sum()) for each in outputs)
    return off / max(1, sum(int(each.differing.sum()) for each in outputs))


def unseen_shares(
    pairs: Sequence[Outputs], tolerances: Mapping[str, Tolerance], shown: int, shows: Shows, seed: int
) -> dict[str, float]:
    """Estimate, for each output, which share of the numbers that depend on the inputs is neither right nor seen.

    `shows` is asked about the first set of the pair `shown`. The submission must not know `seed`, which chooses places.
    Outputs with less than NOTED are left out.
    """
    found = {}
    for number, output in enumerate(pairs[shown] if pairs else ()):
        name = output.place.buffer.name
        off = off_share([each[number] for each in pairs], tolerances[name])
        at = output.at[_off(output, tolerances[name])]
        if off > NOTED and len(at):
            unseen = unseen_share(at, partial(shows, name), seed, one_by_one=off > SHARE)
            share = off * unseen if unseen > ROUGH else min(off * unseen, SHARE)
            if share > NOTED:
                found[name] = share
    return found


def unseen_share(at: At, shows: Callable[[At], bool], seed: int, *, one_by_one: bool = True) -> float:
    """The share of these places that the check does not see: 1 if it accepts other numbers in all of them at once,
    otherwise the share of those that it is asked about one by one."""
    if not shows(at):
        return 1.0
    if not one_by_one:
        return 0.0
    chosen = np.random.default_rng(seed).permutation(at)[:ASKED]
    rejected = 0
    for asked, place in enumerate(chosen):
        rejected += shows(np.array([place]))
        if rejected == REJECTED:
            return 1 - rejected / (asked + 1)
    return 1 - rejected / len(chosen)


def with_others(buffer: Buffer, expected: Array, at: At) -> Iterator[Array]:
    """The right answer, as stored, with other numbers in these places: of both sizes."""
    form = FLOATS[buffer.dtype]
    for size in (TIMES * max(1.0, _largest(expected)), HUGE):
        others = np.where(expected[at] < 0, 1.0, -1.0) * min(size, form.largest)
        changed = as_output(buffer, expected).copy()
        changed[at] = others.astype(numpy_dtype(buffer.dtype)).view(stored_dtype(buffer.dtype))
        yield changed


def unseen_reason(shares: Mapping[str, float]) -> str:
    """Why nothing shows that the call computes its outputs; empty if something does."""
    name = max(shares, key=lambda each: shares[each], default="")
    if not name or shares[name] <= SHARE:
        return ""
    return (
        f"about {shares[name]:.0%} of the numbers of {name} are not right, and the problem's check does not see them: "
        "it accepts any numbers there, so nothing shows that the call computes them"
    )


def _off(output: Drawn, tolerance: Tolerance) -> NDArray[np.bool_]:
    with np.errstate(all="ignore"):
        bounds = tolerance.atol + tolerance.rtol * np.abs(output.expected)
        is_right = np.abs(output.actual - output.expected) <= bounds
    return output.differing & ~is_right


def _largest(expected: Array) -> float:
    parts = (np.abs(expected[start : start + CHUNK]) for start in range(0, len(expected), CHUNK))
    return float(max(each.max(initial=0.0, where=np.isfinite(each)) for each in parts))
