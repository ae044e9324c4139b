"""Double precision on tensor cores: quarters of small whole numbers, so that every sum is exact."""

from __future__ import annotations

import numpy as np

from tests.corpus.case import Case, In, Out, random


def cases() -> list[Case]:
    r = random("wmma_double")
    a, b = r.integers(-8, 9, (8, 4)) / 4, r.integers(-8, 9, (4, 8)) / 2
    return [Case("wmma_double", [In(a), In(np.ascontiguousarray(b.T)), Out(a @ b + 0.25)], minimum_target=80)]
