"""Matrix products through tiles in shared memory."""

from __future__ import annotations

import numpy as np

from tests.corpus.bound import EXACT, Bound, Relative
from tests.corpus.case import Array, Case, In, Out, random


def cases() -> list[Case]:
    r = random("matmul")
    results = []
    for m, n, k in [(16, 16, 16), (37, 50, 29)]:
        a, b = r.normal(size=(m, k)), r.normal(size=(k, n))
        results.append(_product("float", a.astype(np.float32), b.astype(np.float32), 2**-24))
        results.append(_product("double", a, b, 2**-53))
        whole, others = (np.round(1000 * each).astype(np.int32) for each in (a, b))
        results.append(_product("int", whole, others, 0))
    a, b = r.normal(size=(2, 64, 64)).astype(np.float32)
    out = Out((a.astype(np.float64) @ b).astype(np.float32), _bound(a, b, 2**-24))
    results.append(Case("matmul_blocked", [In(a), In(b), out, np.int32(64)], grid=(2, 2), block=(8, 8)))
    return results


def _product(kind: str, a: Array, b: Array, unit: float) -> Case:
    (m, k), n = a.shape, b.shape[1]
    wide = np.int64 if unit == 0 else np.longdouble
    out = Out((a.astype(wide) @ b.astype(wide)).astype(a.dtype), _bound(a, b, unit))
    sizes = [np.int32(m), np.int32(n), np.int32(k)]
    grid = (-(-n // 16), -(-m // 16))
    return Case(f"matmul_{kind}", [In(a), In(b), out, *sizes], grid, (16, 16), variant=f"{m}x{n}x{k}")


def _bound(a: Array, b: Array, unit: float) -> Bound:
    """k fused additions, each rounded once: k + 1 units of the sum of magnitudes."""
    if unit == 0:
        return EXACT
    magnitudes = np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64)
    return Relative(0, magnitudes * unit * (a.shape[1] + 1))
