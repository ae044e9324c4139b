"""Running sums of a block, and of a chain of blocks."""

from __future__ import annotations

import numpy as np

from tests.corpus.case import Case, In, Out, random


def cases() -> list[Case]:
    r = random("scan")
    small = r.integers(-100, 100, 1024).astype(np.int32)
    wide = r.integers(0, 2**32, 1024, dtype=np.uint32)
    blocks = wide.reshape(4, 256)
    exclusive = np.cumsum(blocks, 1, dtype=np.uint32) - blocks
    row = small[:256]
    positive = row[row > 0]
    compacted = np.concatenate([positive, np.full(256 - len(positive), -1)]).astype(np.int32)
    odd = (small.reshape(16, 64) & 1).sum(1)
    sums = np.cumsum(odd).astype(np.int32)
    return [
        Case(
            "inclusive_scan",
            [In(small), Out(np.cumsum(small.reshape(4, 256), 1, dtype=np.int32))],
            grid=(4,),
            block=(256,),
        ),
        Case("exclusive_scan", [In(wide), Out(exclusive)], grid=(4,), block=(128,), shared=1024),
        Case(
            "compact",
            [
                In(row),
                Out(compacted, initial=np.full(256, -1, np.int32)),
                Out(np.array([len(positive)], np.int32)),
            ],
            block=(256,),
        ),
        Case(
            "chained_scan",
            [In(small), Out(np.repeat(sums, 64)), Out(sums), Out(np.ones(16, np.int32))],
            grid=(16,),
            block=(64,),
        ),
    ]
