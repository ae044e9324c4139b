"""The engine in C, under the interface of contract.py."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from importlib.machinery import SourceFileLoader
from types import ModuleType
from typing import Any, TypeVar

from benchguard.toolchain.paths import REPLAY, REPLAY_ABI

from .contract import EngineError
from .host_wait import waited_seconds
from .protocol import NO_SET, OURS, Device, Difference, Limits, Options, Overhead, Prepared, Sample

_Struct = TypeVar("_Struct", Device, Prepared, Sample, Overhead)


def open_engine(capture: int, limits: Limits, library: str | os.PathLike[str] = REPLAY) -> NativeEngine:
    """Read the capture behind a descriptor, which stays the caller's. Raises EngineError."""
    ffi, loaded = load_engine(os.fspath(library))
    return NativeEngine(ffi, loaded, capture, limits)


def open_driver(driver: str, device: int) -> None:
    """Make the primary context of a device, and keep it until the process ends. Raises EngineError."""
    ffi, library = load_engine()
    error = ffi.new("char[]", library.NB_REPLAY_TEXT)
    status = library.nb_replay_open_driver(os.fsencode(driver), device, error)
    if status != library.NB_REPLAY_OK:
        raise EngineError(status, ffi.string(error).decode(errors="replace"))


@cache
def load_engine(library: str = os.fspath(REPLAY)) -> tuple[Any, Any]:
    """The interface that was made from replay.h when the library was built (benchguard.toolchain.abi), and the library.

    Raises EngineError.
    """
    try:
        loader = SourceFileLoader("neutrino_replay_abi", str(REPLAY.parent / REPLAY_ABI))
        module = ModuleType(loader.name)
        loader.exec_module(module)
        return module.ffi, module.ffi.dlopen(library)
    except OSError as error:
        advice = "install neutrino-bench again, or run `python build.py build` in its source"
        raise EngineError(OURS, f"the replay engine cannot be loaded ({error}); {advice}") from error


class NativeEngine:
    """struct nb_replay: see contract.Engine for what it does and replay.h for how."""

    def __init__(self, ffi: Any, library: Any, capture: int, limits: Limits) -> None:
        self._ffi = ffi
        self._library = library
        self._error = ffi.new("char[]", library.NB_REPLAY_TEXT)
        self._sample = ffi.new("struct nb_replay_sample *")
        self._replay: Any = ffi.NULL
        opened = ffi.new("struct nb_replay **")
        native_limits = ffi.new("struct nb_replay_limits *", _fields(limits))
        self._check(library.nb_replay_open(capture, native_limits, opened, self._error))
        self._replay = opened[0]

    def refusal(self, index: int) -> str | None:
        native = self._library.nb_replay_refusal(self._replay, index)
        return self._text(native) if native else None

    def note(self, index: int) -> str | None:
        native = self._library.nb_replay_note(self._replay, index)
        return self._text(native) if native else None

    def prepare(self, driver: str, options: Options) -> tuple[Device, Prepared]:
        native = self._ffi.new("struct nb_replay_options *", _fields(options))
        device = self._ffi.new("struct nb_replay_device *")
        prepared = self._ffi.new("struct nb_replay_prepared *")
        name = os.fsencode(driver)
        self._check(
            self._library.nb_replay_prepare(self._replay, name, native, device, prepared, self._error)
        )
        return self._to_struct(Device, device), self._to_struct(Prepared, prepared)

    def input(self, number: int, address: int, data: memoryview) -> None:
        raw = self._ffi.from_buffer(data)
        self._check(self._library.nb_replay_input(self._replay, number, address, raw, len(raw), self._error))

    def zeros(self, number: int, address: int, size: int) -> None:
        null = self._ffi.NULL
        self._check(self._library.nb_replay_input(self._replay, number, address, null, size, self._error))

    def output(self, address: int, size: int) -> None:
        self._check(self._library.nb_replay_output(self._replay, address, size, self._error))

    def find_in_place(self) -> int | None:
        index = self._ffi.new("uint32_t *")
        self._check(self._library.nb_replay_find_in_place(self._replay, index, self._error))
        return None if index[0] == NO_SET else index[0]

    def once(self, number: int) -> None:
        self._check(self._library.nb_replay_once(self._replay, number, self._error))

    def read(self, address: int, into: memoryview) -> None:
        raw = self._ffi.from_buffer(into, require_writable=True)
        self._check(self._library.nb_replay_read(self._replay, address, raw, len(raw), self._error))

    def recorded(self, address: int, into: memoryview) -> bool:
        """Copy the recorded content after the region; False if the capture has none."""
        raw = self._ffi.from_buffer(into, require_writable=True)
        known = self._ffi.new("uint32_t *")
        self._check(
            self._library.nb_replay_recorded(self._replay, address, raw, len(raw), known, self._error)
        )
        return bool(known[0])

    def warm(self, warm: bool) -> None:
        self._check(self._library.nb_replay_warm(self._replay, int(warm), self._error))

    def follow(self, follows: bool) -> None:
        self._check(self._library.nb_replay_follow(self._replay, int(follows), self._error))

    def verify(self, room: int) -> tuple[int, Sequence[Difference]]:
        native = self._ffi.new("struct nb_replay_difference[]", room)
        count = self._ffi.new("uint32_t *")
        self._check(self._library.nb_replay_verify(self._replay, native, room, count, self._error))
        return count[0], [self._difference(each) for each in native[0 : min(room, count[0])]]

    def measure(self, number: int) -> Sample:
        self._check(self._library.nb_replay_measure(self._replay, number, self._sample, self._error))
        return self._to_struct(Sample, self._sample)

    def check_reads(self, number: int) -> None:
        self._check(self._library.nb_replay_check_reads(self._replay, number, self._error))

    def measure_empty(self, number: int) -> Sample:
        self._check(self._library.nb_replay_measure_empty(self._replay, number, self._sample, self._error))
        return self._to_struct(Sample, self._sample)

    def measure_overhead(self) -> Overhead:
        overhead = self._ffi.new("struct nb_replay_overhead *")
        self._check(self._library.nb_replay_measure_overhead(self._replay, overhead, self._error))
        return self._to_struct(Overhead, overhead)

    def waited(self) -> float:
        return waited_seconds()

    def close(self) -> None:
        if self._replay:
            self._library.nb_replay_close(self._replay)
            self._replay = self._ffi.NULL

    def _check(self, status: int) -> None:
        if status != self._library.NB_REPLAY_OK:
            raise EngineError(status, self._text(self._error))

    def _text(self, characters: Any) -> str:
        text: bytes = self._ffi.string(characters)
        return text.decode(errors="replace")

    def _to_struct(self, kind: type[_Struct], struct: Any) -> _Struct:
        """Fields of a struct have one name on both sides; arrays of characters are text."""
        values: dict[str, Any] = {name: getattr(struct, name) for name in kind.__struct_fields__}
        for name, value in values.items():
            values[name] = value if isinstance(value, (int, float)) else self._text(value)
        return kind(**values)

    def _difference(self, native: Any) -> Difference:
        return Difference(
            native.address,
            native.bytes,
            native.differing,
            native.first_offset,
            getattr(native, "global"),
            bool(native.again),
            bytes(native.expected).hex(),
            bytes(native.actual).hex(),
        )


def _fields(struct: Limits | Options) -> dict[str, int]:
    return {name: int(getattr(struct, name)) for name in struct.__struct_fields__}
