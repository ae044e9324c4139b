"""Asynchronous copies: cp.async, pipeline primitives, mbarrier, named barriers."""

from __future__ import annotations

import numpy as np

from tests.corpus.case import Case, In, Out, random


def cases() -> list[Case]:
    r = random("copies")
    values = r.integers(-1000, 1000, 5 * 64).astype(np.int32)
    wide = r.integers(-(2**31), 2**31, (32, 4)).astype(np.int32)
    longs = r.integers(-(2**62), 2**62, 32)
    lanes, sixteen = np.arange(64), np.arange(32)
    summed = values.reshape(5, 64)[:, ::-1].sum(0, dtype=np.int32)
    # The last argument is the number of the 16 bytes that are filled with zeros.
    cut = np.where(np.arange(4) < (4 - sixteen % 4)[:, None], wide, 0).astype(np.int32)
    first = values[:64]
    return [
        Case("pipelined_sum", [In(values), Out(summed), np.int32(5)], block=(64,)),
        Case("wide_copies", [In(wide), Out(cut[sixteen ^ 1])]),
        Case(
            "copy_instructions",
            [In(wide), In(longs), Out(np.ascontiguousarray(wide[::-1])), Out(longs[(sixteen + 5) % 32])],
            minimum_target=80,
        ),
        Case("arrive_and_wait", [In(first), Out(2 * first[lanes ^ 33])], block=(64,), minimum_target=80),
        Case("copies_arrive", [In(first), Out(first[lanes ^ 21])], block=(64,), minimum_target=80),
        Case("named_barriers", [In(values[:32]), Out(values[:32][::-1] + 5)], block=(64,)),
    ]
