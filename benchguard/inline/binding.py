"""engine/inline.h by ctypes, which can call with Python's lock held: the submission's other threads wait meanwhile."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from typing import Any

from ..errors import BenchguardError
from ..problem.spec import Buffer, CaseSpec, DType
from ..toolchain.paths import INLINE
from .contract import InlineCase, InlineOrder

TEXT_BYTES = 512
BUFFERS_MAX = 64
DIMENSIONS_MAX = 16

DTYPES: tuple[DType, ...] = (
    "float64", "float32", "float16", "bfloat16", "float8_e4m3", "float8_e5m2",
    "int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8", "bool",
)  # fmt: skip
"""enum nb_dtype."""


class InlineError(BenchguardError):
    """The loop's line for people."""


class _Opening(ctypes.Structure):
    _fields_ = (
        ("driver", ctypes.c_char_p),
        ("seal", ctypes.c_int32),
        ("channel", ctypes.c_int32),
        ("cases", ctypes.c_uint32),
        ("samples", ctypes.c_uint32),
        ("device", ctypes.c_uint32),
        ("hold_ms", ctypes.c_uint32),
    )


class _Opened(ctypes.Structure):
    _fields_ = (
        ("overhead_us", ctypes.c_double),
        ("gap_us", ctypes.c_double),
        ("arena", ctypes.c_uint64),
        ("arena_bytes", ctypes.c_uint64),
        ("joins_all", ctypes.c_uint32),
        ("pad", ctypes.c_uint32),
    )


class _Buffer(ctypes.Structure):
    _fields_ = (
        ("bytes", ctypes.c_uint64),
        ("given", ctypes.c_uint64),
        ("expected", ctypes.c_uint64),
        ("slots", ctypes.c_uint64),
        ("absolute", ctypes.c_double),
        ("relative", ctypes.c_double),
        ("dtype", ctypes.c_uint32),
        ("expected_dtype", ctypes.c_uint32),
        ("is_read", ctypes.c_uint32),
        ("is_checked", ctypes.c_uint32),
        ("is_constant", ctypes.c_uint32),
        ("dimensions", ctypes.c_uint32),
        ("shape", ctypes.c_uint64 * DIMENSIONS_MAX),
        ("strides", ctypes.c_uint64 * DIMENSIONS_MAX),
    )


class _Case(ctypes.Structure):
    _fields_ = (
        ("buffers", ctypes.POINTER(_Buffer)),
        ("count", ctypes.c_uint32),
        ("sets", ctypes.c_uint32),
        ("inputs", ctypes.c_int32),
        ("expected", ctypes.c_int32),
        ("inputs_stride", ctypes.c_uint64),
        ("expected_stride", ctypes.c_uint64),
        ("taken", ctypes.c_uint32),
        ("pad", ctypes.c_uint32),
    )


class _Armed(ctypes.Structure):
    _fields_ = (("guards", ctypes.c_uint32), ("listener", ctypes.c_int32))


class Running(ctypes.Structure):
    """struct nb_inline_running: `places` are the buffers' device addresses, in the case's order; `outputs` is an
    object's address, or None."""

    _fields_ = (
        ("case_number", ctypes.c_uint32),
        ("pad", ctypes.c_uint32),
        ("call", ctypes.py_object),
        ("outputs", ctypes.c_void_p),
        ("places", ctypes.c_uint64 * BUFFERS_MAX),
    )


class Engine:
    """One a process. All but `run` are called before the submission is there, and raise InlineError."""

    def __init__(self, driver: str, order: InlineOrder, library: str | os.PathLike[str] = INLINE) -> None:
        try:
            self._library = ctypes.PyDLL(os.fspath(library))
        except OSError as error:
            advice = "install neutrino-bench again, or run `python build.py build`"
            raise InlineError(f"the inline engine cannot be loaded ({error}); {advice}") from error
        self._text = ctypes.create_string_buffer(TEXT_BYTES)
        opening = _Opening(
            os.fsencode(driver), order.seal, order.channel, len(order.cases), order.samples, order.device,
            order.hold_ms,
        )  # fmt: skip
        opened = _Opened()
        self._ask("nb_inline_open", opening, opened, self._text)
        self.joins_all = bool(opened.joins_all)
        self._run = self._library.nb_inline_run

    def load(self, spec: CaseSpec, case: InlineCase) -> int:
        """Upload a case's sets, and close their files. How many were taken."""
        buffers = [_buffer(each, case) for each in spec.buffers]
        array = (_Buffer * max(len(buffers), 1))(*buffers)
        loading = _Case(
            array, len(buffers), case.sets, case.inputs, case.expected, case.inputs_layout.stride,
            case.expected_layout.stride,
        )  # fmt: skip
        self._ask("nb_inline_load", loading, self._text)
        return int(loading.taken)

    def arm(self) -> tuple[int, int]:
        """Guards, and the descriptor of refused calls or -1."""
        armed = _Armed()
        self._ask("nb_inline_arm", armed, self._text)
        return armed.guards, armed.listener

    def run(self, running: Running) -> int:
        """0, or 1000 * the step + the driver's result. Raises what the submission raised."""
        return int(self._run(ctypes.byref(running)))

    def _ask(self, name: str, *arguments: Any) -> None:
        if getattr(self._library, name)(*(ctypes.byref(each) for each in arguments)) != 0:
            raise InlineError(self._text.value.decode(errors="replace"))


def _buffer(buffer: Buffer, case: InlineCase) -> _Buffer:
    native = _Buffer(bytes=buffer.bytes, slots=buffer.elements, dtype=DTYPES.index(buffer.dtype))
    native.expected_dtype = native.dtype
    if buffer.is_read:
        native.is_read, native.is_constant = 1, buffer.role == "constant"
        native.given = _offset(case.inputs_layout.places, buffer.name, buffer.bytes)
    if buffer.is_checked:
        tolerance = case.tolerances[buffer.name]
        dtype = case.expected_dtypes.get(buffer.name, buffer.dtype)
        if dtype != buffer.dtype and not ("float" in buffer.dtype and dtype in ("float32", "float64")):
            raise InlineError(
                f"{buffer.name} is {buffer.dtype}, {dtype} cannot be expected; this is a fault of ours"
            )
        native.is_checked, native.expected_dtype = 1, DTYPES.index(dtype)
        native.expected = _offset(case.expected_layout.places, buffer.name, None)
        native.absolute, native.relative = tolerance.atol, tolerance.rtol
        _describe_gaps(buffer, native)
    return native


def _offset(places: dict[str, tuple[int, int]], name: str, size: int | None) -> int:
    if name not in places or size not in (None, places[name][1]):
        raise InlineError(f"the sets have no {name}, or not all of it; this is a fault of ours")
    return places[name][0]


def _describe_gaps(buffer: Buffer, native: _Buffer) -> None:
    """Dimensions by falling strides, where an element is not simply behind the one before."""
    steps = nesting(buffer.shape, buffer.strides)
    if steps is None:
        raise InlineError(f"{buffer.name}: an output with strides {buffer.strides} cannot be checked inline")
    native.dimensions = len(steps)
    for axis, (extent, step) in enumerate(steps):
        native.shape[axis], native.strides[axis] = extent, step


def nesting(shape: Sequence[int], strides: Sequence[int] | None) -> tuple[tuple[int, int], ...] | None:
    """(extent, stride) by falling strides, without those of extent 1, each larger than all that the later ones span;
    empty for row-major memory without gaps; None if elements are interleaved in another way."""
    if strides is None or 0 in shape:
        return ()
    steps = sorted(
        ((n, step) for n, step in zip(shape, strides, strict=True) if n > 1), key=lambda each: -each[1]
    )
    room = 1
    for extent, step in reversed(steps):
        if step < room:
            return None
        room = (extent - 1) * step + room
    return tuple(steps)
