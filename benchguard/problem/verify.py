"""The default verify_result: compare by tolerance, and describe differences as Tensara does."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import dtype_of, to_numpy
from .c_types import FLOATS
from .tolerances import tolerance_of

SAMPLES = 5


def verify_by_tolerance(expected: Any, actual: Any, tolerances: Any = None) -> tuple[bool, dict[str, Any]]:
    """Compare one output, or tuples of outputs. Details are of the first wrong output; {} if all are right.

    For problems that call it. A grade uses judge/compare.py, which also has rules for NaN and Inf.
    """
    if isinstance(expected, (tuple, list)):
        for place, (each, output) in enumerate(zip(expected, actual, strict=True)):
            right, details = verify_by_tolerance(each, output, tolerances)
            if not right:
                return False, {"output": place, **details}
        return True, {}
    dtype = dtype_of(actual)
    tolerance = tolerance_of(tolerances, "output", dtype)
    number = np.float64 if dtype in FLOATS else object  # whole numbers of Python do not overflow
    a, e = to_numpy(actual).astype(number), to_numpy(expected).astype(number)
    if a.shape != e.shape:
        return False, {"message": f"shape {a.shape}, expected {e.shape}"}
    with np.errstate(invalid="ignore", over="ignore"):
        difference = abs(a - e)
        right = (a == e) | (difference <= tolerance.atol + tolerance.rtol * abs(e))
    if number is np.float64:
        right = (right & np.isfinite(e)) | (a == e) | (np.isnan(a) & np.isnan(e))
    if bool(np.all(right)):
        return True, {}
    samples = {
        str(number): {"expected": e[at], "actual": a[at], "diff": difference[at]}
        for number, at in enumerate(map(tuple, np.argwhere(~right.astype(bool))[:SAMPLES]))
    }
    return False, {
        "max_difference": float(np.max(difference)),
        "mean_difference": float(np.mean(difference)),
        "sample_differences": samples,
    }
