"""Default tolerances, for problems that define none.

    |actual - expected| <= atol + rtol * |expected|

A float's relative tolerance is a few units in its last place, and below the rounding error of the next format down:
results that were computed in less precision than the output has do not pass. For sums of many terms with both signs
the error grows with the terms and not with their sum, so such a problem should set its own absolute tolerance.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from .errors import ProblemError
from .spec import DType, Tolerance

EXACT = Tolerance(0.0, 0.0)

DEFAULTS: dict[DType, Tolerance] = {
    "float64": Tolerance(1e-10, 1e-9),
    "float32": Tolerance(1e-5, 1e-4),
    "float16": Tolerance(1e-3, 2e-3),
    "bfloat16": Tolerance(1e-2, 1.6e-2),
    "float8_e4m3": Tolerance(2.0**-6, 3 * 2.0**-5),
    "float8_e5m2": Tolerance(2.0**-5, 2.0**-2),
}
"""Integers and bool are not in it: they are exact."""

Written: TypeAlias = "Tolerance | tuple[float, float] | Mapping[str, Any]"
"""A tolerance from a problem: Tolerance, (atol, rtol), or {"atol": ..., "rtol": ...}."""


def default(dtype: DType) -> Tolerance:
    return DEFAULTS.get(dtype, EXACT)


def tolerance_of(entry: Any, name: str, dtype: DType) -> Tolerance:
    """The tolerance of output `name`.

    `written` is a tolerance for all outputs, or a mapping by name of an output or of a dtype. None: the default.
    """
    if isinstance(entry, Mapping) and not entry.keys() <= {"atol", "rtol"}:
        entry = entry.get(name, entry.get(dtype))
    if entry is None:
        return default(dtype)
    if isinstance(entry, Tolerance):
        tolerance = entry
    elif isinstance(entry, Mapping):
        tolerance = _numbers(entry.get("atol", 0.0), entry.get("rtol", 0.0), name)
    elif isinstance(entry, (tuple, list)) and len(entry) == 2:
        tolerance = _numbers(entry[0], entry[1], name)
    else:
        raise ProblemError(f"the tolerance of {name} is {entry!r}; give (atol, rtol)")
    bounds = (tolerance.atol, tolerance.rtol)
    if not all(0 <= bound < float("inf") for bound in bounds):
        raise ProblemError(f"the tolerance of {name} is {bounds}; give finite numbers of at least 0")
    return tolerance


def _numbers(atol: Any, rtol: Any, name: str) -> Tolerance:
    try:
        return Tolerance(float(atol), float(rtol))
    except (TypeError, ValueError):
        raise ProblemError(f"the tolerance of {name} is ({atol!r}, {rtol!r}); give two numbers") from None
