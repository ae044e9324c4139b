"""Histograms with atomics: exact in any order."""

from __future__ import annotations

import numpy as np

from tests.corpus.case import Case, In, Out, random


def cases() -> list[Case]:
    r = random("histogram")
    words = r.integers(0, 2**32, 3000, dtype=np.uint32)
    octets = np.minimum(r.poisson(40, 3000), 255).astype(np.uint8)
    return [
        Case(
            "histogram_global",
            [In(words), Out(np.bincount(words >> 26, minlength=64).astype(np.uint32)), np.int32(3000)],
            grid=(5,),
            block=(128,),
        ),
        Case(
            "histogram_shared",
            [In(octets), Out(np.bincount(octets, minlength=256).astype(np.uint32)), np.int32(3000)],
            grid=(5,),
            block=(96,),
        ),
        Case(
            "histogram_matched",
            [In(words[:1024]), Out(np.bincount(words[:1024] % 7, minlength=7).astype(np.uint64))],
            grid=(4,),
            block=(256,),
        ),
    ]
