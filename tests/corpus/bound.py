"""Bounds: how far an output may be from its reference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.unit.ptx.single import BF16, F16, F32, F64, Format

Array = npt.NDArray[Any]
FORMATS = {np.dtype(np.float16): F16, np.dtype(np.float32): F32, np.dtype(np.float64): F64}


@dataclass(frozen=True)
class Exact:
    """The same bits on every driver. Against the reference, any NaN equals any other."""

    def worst(self, got: Array, expected: Array) -> float:
        """The largest error as a fraction of the bound; at most 1 passes."""
        same = got == expected.astype(got.dtype)
        if got.dtype.kind == "f":
            same = (same & (np.signbit(got) == np.signbit(expected))) | (np.isnan(got) & np.isnan(expected))
        return 0.0 if bool(same.all()) else float("inf")

    def __str__(self) -> str:
        return "exact"


@dataclass(frozen=True)
class Ulp:
    """Units in the last place of the reference rounded to the format."""

    units: float | Array
    form: Format | None = None

    def worst(self, got: Array, expected: Array) -> float:
        form = self.form or FORMATS[got.dtype]
        reference = decoded(expected, form).astype(np.longdouble)
        value = decoded(got, form).astype(np.longdouble)
        _, exponent = np.frexp(np.where(np.isfinite(reference), reference, 1))
        unit = np.ldexp(np.longdouble(1), np.maximum(exponent - 1, 1 - form.bias) - form.fraction)
        return _used(value, reference, self.units * unit)

    def __str__(self) -> str:
        units = self.units if isinstance(self.units, float | int) else f"up to {np.max(self.units):g}"
        return f"{units} ulp"


@dataclass(frozen=True)
class Relative:
    """A relative error plus an absolute error."""

    relative: float
    absolute: float | Array = 0.0

    def worst(self, got: Array, expected: Array) -> float:
        reference, value = expected.astype(np.longdouble), got.astype(np.longdouble)
        return _used(value, reference, np.abs(reference) * self.relative + self.absolute)

    def __str__(self) -> str:
        return f"{self.relative:.2g} relative + {np.max(self.absolute):.2g}"


@dataclass(frozen=True)
class Holds:
    """A property that holds for every order of the threads."""

    what: str
    test: Callable[[Array], bool]

    def worst(self, got: Array, expected: Array) -> float:  # noqa: ARG002
        return 0.0 if self.test(got) else float("inf")

    def __str__(self) -> str:
        return self.what


Bound = Exact | Ulp | Relative | Holds
EXACT = Exact()


def decoded(bits: Array, form: Format) -> Array:
    """The numbers in an output buffer. bfloat16, which numpy lacks, is given as bits."""
    if bits.dtype.kind == "f":
        return bits
    return (bits.astype(np.uint32) << 16).view(np.float32) if form is BF16 else bits.view(np.float16)


def _used(value: Array, reference: Array, allowed: Array) -> float:
    """The largest error of any element as a fraction of its bound."""
    same = (value == reference) | (np.isnan(value) & np.isnan(reference))
    with np.errstate(invalid="ignore", divide="ignore"):
        used = np.where(same, 0, np.abs(value - reference) / allowed)
    return float(np.max(np.where(np.isnan(used), np.inf, used)))
