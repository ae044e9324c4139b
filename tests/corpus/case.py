"""A case: a kernel of the corpus, its launch arguments and the expected outputs."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt

from tests.corpus.bound import EXACT, Bound

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class In:
    """An input buffer, passed by address."""

    data: Array


@dataclass(frozen=True)
class Out:
    """An output buffer, passed by address. It starts as `initial`, or as zeros."""

    expected: Array
    bound: Bound = EXACT
    initial: Array | None = None

    def start(self) -> Array:
        return np.zeros_like(self.expected) if self.initial is None else self.initial


@dataclass(frozen=True)
class Struct:
    """A structure passed by value: numbers or buffers at their offsets."""

    size: int
    fields: Mapping[int, Argument]


Argument = In | Out | Struct | np.generic


@dataclass(frozen=True)
class Case:
    kernel: str
    arguments: Sequence[Argument]
    grid: Sequence[int] = (1,)
    block: Sequence[int] = (32,)
    shared: int = 0
    variant: str = ""
    minimum_target: int = 75
    """The lowest target that supports the kernel."""
    cooperative: bool = False
    globals: Mapping[str, Array] = field(default_factory=dict)
    """Globals that the host writes before the launch."""
    prints: Sequence[str] = ()
    """Expected lines on standard output, sorted."""
    fails: int = 0
    """The error code that the launch must end with; 0: success."""

    @property
    def name(self) -> str:
        return f"{self.kernel}-{self.variant}" if self.variant else self.kernel


def random(name: str) -> np.random.Generator:
    """A generator with a fixed seed per kernel."""
    return np.random.default_rng(zlib.crc32(name.encode()))


class Shape(TypedDict):
    grid: Sequence[int]
    block: Sequence[int]


def blocks(n: int, size: int = 64) -> Shape:
    """A launch shape with one thread per element."""
    assert n % size == 0
    return Shape(grid=(n // size,), block=(size,))


def s32(values: Any) -> Array:
    """Wrap Python integers of any size to 32 bits."""
    return wrapped(values, np.int32)


def wrapped(values: Any, dtype: Any) -> Array:
    bits = 8 * np.dtype(dtype).itemsize
    flat = [int(v) % 2**bits for v in np.asarray(values, object).ravel()]
    array: Array = np.array(flat, f"u{bits // 8}").view(dtype).reshape(np.shape(values))
    return array


def table(rows: Callable[..., Sequence[int]], dtype: Any, *columns: Array) -> Array:
    """Apply a function to each row of Python integers; its results are wrapped and placed side by side."""
    items = [rows(*map(int, row)) for row in zip(*columns, strict=True)]
    return wrapped(np.array(items, object), dtype)
