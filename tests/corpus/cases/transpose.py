"""Transposition: data is moved, not changed."""

from __future__ import annotations

import numpy as np

from tests.corpus.case import Case, In, Out, random


def cases() -> list[Case]:
    r = random("transpose")
    bits = r.integers(0, 2**32, (45, 70), dtype=np.uint32)
    matrix = r.integers(-(2**62), 2**62, (20, 20))
    words = r.integers(0, 2**32, (3, 32), dtype=np.uint32)
    places = words[:, :, None] >> np.arange(32, dtype=np.uint32) & 1
    columns = (places << np.arange(32, dtype=np.uint32)[:, None]).sum(1, dtype=np.uint32)
    return [
        Case(
            "transpose",
            [In(bits), Out(np.ascontiguousarray(bits.T)), np.int32(70), np.int32(45)],
            grid=(3, 2),
            block=(32, 8),
        ),
        Case(
            "transpose_in_place",
            [Out(np.ascontiguousarray(matrix.T), initial=matrix), np.int32(20)],
            grid=(3, 3),
            block=(8, 8),
        ),
        Case("transpose_bits", [In(words), Out(columns)], grid=(3,)),
    ]
