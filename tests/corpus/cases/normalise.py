"""Row-wise softmax, layer normalisation and similar kernels."""

from __future__ import annotations

from math import erf

import numpy as np

from tests.corpus.bound import Relative
from tests.corpus.case import Array, Case, In, Out, random

ROWS, COLUMNS = 9, 200


def cases() -> list[Case]:
    r = random("normalise")
    x = (r.normal(size=(ROWS, COLUMNS)) * 4).astype(np.float32)
    gain, bias = r.normal(size=(2, COLUMNS)).astype(np.float32)
    wide = x.astype(np.float64)
    soft = np.exp(wide - wide.max(1, keepdims=True))
    soft /= soft.sum(1, keepdims=True)
    centred = wide - wide.mean(1, keepdims=True)
    normal = centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5)
    layer = normal * gain + bias
    flat = wide.ravel()
    gelu = flat * 0.5 * (1 + np.array([erf(v / 2**0.5) for v in flat]))
    n = np.int32(COLUMNS)
    return [
        # In units of 2^-24: 4 for the exponential, |x - max| < 32 for its rounded argument, 15 for a sum of 200 terms
        # in 64 parts, 2 for the division. Subnormal results may round coarser.
        Case(
            "softmax",
            [In(x), _out(soft, 53 * 2**-24, 1e-30), n],
            grid=(ROWS,),
            block=(64,),
            shared=4 * COLUMNS,
        ),
        # Two calls of __expf, each with an error of 2 + |1.173 x| ulp and |x| < 32.
        Case("online_softmax", [In(x), _out(soft, 100 * 2**-24, 1e-30), n], grid=(ROWS,)),
        Case(
            "layer_norm",
            [In(x), In(gain), In(bias), _out(layer, 8 * 2**-24, 40 * 2**-24), n],
            grid=(ROWS,),
            block=(96,),
        ),
        # For x far below zero, 1 + erf(x) cancels: erf's error of 2 ulp of 1 remains.
        Case(
            "gelu",
            [In(x), _out(gelu, 8 * 2**-24, 4 * 16 * 2**-24), np.int32(x.size)],
            grid=(15,),
            block=(128,),
        ),
    ]


def _out(expected: Array, relative: float, absolute: float) -> Out:
    return Out(expected.astype(np.float32), Relative(relative, absolute))
