"""Exchange between the lanes of a warp."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.corpus.case import Array, Case, In, Out, blocks, random, wrapped

ALL = 2**32 - 1


def cases() -> list[Case]:
    r = random("warp")
    values = r.integers(-20, 100, 128).astype(np.int32)
    alike = np.where(np.arange(128) < 64, 7 << 40, r.integers(0, 3, 128) << 40).astype(np.uint64)
    alike += r.integers(0, 2**40, 128).astype(np.uint64)
    doubles, longs = r.normal(size=128), r.integers(-(2**62), 2**62, 128)
    lanes = np.arange(128)
    shape = blocks(128)
    return [
        Case("shuffles", [In(values), Out(_rows(_shuffled, values, np.int32))], **shape),
        Case(
            "wide_shuffles",
            [In(doubles), In(longs), Out(doubles[lanes ^ 1]), Out(longs[lanes ^ 31])],
            **shape,
        ),
        Case("votes", [In(values), Out(_rows(_voted, values, np.uint32))], **shape),
        Case("matches", [In(alike), Out(_rows(_matched, alike >> np.uint64(40), np.uint32))], **shape),
        Case("partial_masks", [In(values), Out(_rows(_partial, values, np.uint32)[:, 0])], **shape),
        Case("special_registers", [Out(_rows(_registers, values, np.uint32))], **shape),
    ]


def _rows(one: object, values: Array, dtype: type) -> Array:
    assert callable(one)
    items = [one(warp.tolist(), lane) for warp in values.reshape(-1, 32) for lane in range(32)]
    return wrapped(np.array(items, object), dtype)


def _from(warp: Sequence[int], lane: int, source: int, width: int = 32, clamped: bool = False) -> int:
    """The value of another lane of the segment, or the lane's own value if the source is outside the segment."""
    if clamped and source // width != lane // width:
        return warp[lane]
    return warp[lane - lane % width + source % width]


def _shuffled(warp: list[int], lane: int) -> list[int]:
    # A butterfly may reach an earlier segment, not a later one.
    across = warp[lane ^ 5] if (lane ^ 5) <= (lane | 3) else warp[lane]
    last = _from(warp, lane, lane + 3, 16, True) + across
    return [
        _from(warp, lane, lane - 3, 32, True),
        _from(warp, lane, lane + 5, 32, True),
        warp[lane ^ 9],
        warp[(lane * 7 + 2) % 32],
        _from(warp, lane, lane - 2, 8, True),
        last + _from(warp, lane, 11, 8),
    ]


def _mask(found: Sequence[bool]) -> int:
    return sum(1 << lane for lane, is_set in enumerate(found) if is_set)


def remainder(value: int, by: int) -> int:
    """The remainder as in C, with the sign of the dividend."""
    return abs(value) % by * (-1 if value < 0 else 1)


def _voted(warp: list[int], lane: int) -> list[int]:
    same = [remainder(v, 5) == remainder(warp[lane], 5) for v in warp]
    return [
        _mask([v & 1 == 1 for v in warp]),
        all(v > 4 for v in warp),
        any(v > 95 for v in warp),
        _mask(same),
    ]


def _matched(warp: list[int], lane: int) -> list[int]:
    alike = len(set(warp)) == 1
    return [_mask([v == warp[lane] for v in warp]), ALL if alike else 0, alike]


def _partial(warp: list[int], lane: int) -> list[int]:
    if lane < 12:
        return [_mask([v & 1 == 1 for v in warp[:12]]) + warp[3]]
    if lane % 2:
        return [_mask([v & 2 == 2 and i >= 12 and i % 2 == 1 for i, v in enumerate(warp)]) + warp[lane]]
    return [1 if any(v == 7 for v in warp[12::2]) else 2]


def _registers(_: list[int], lane: int) -> list[int]:
    return [lane, (1 << lane) - 1, ALL - ((1 << lane) - 1), 1 << lane, 2, 32]
