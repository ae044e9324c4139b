"""Time a call in this process: cold caches, a full queue, a pair of events.

The timed code runs in this process and can alter every time, so this is for one's own code.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import ExitStack

from ..toolchain.paths import ENGINE
from .cuda import ATTRIBUTE_L2_BYTES, Address, Cuda, Handle

SCRATCH_FACTOR = 3
"""Scratch memory in L2 sizes: written, then read, so that only clean lines are left in the cache (docs/adr/0009)."""

RELEASE_GO = 2
"""The stream goes on: enum nb_release of engine/replay/sample/utility_state.h."""

HOLD_NANOSECONDS = 5_000_000
"""Longest time that a stream is held while a call is queued. A call that waits for the device waits this long."""

BLOCKS, THREADS = 1024, 256


class Timer:
    """Times calls on a CUstream (0: the legacy default stream). Call close() when done."""

    def __init__(self, stream: int) -> None:
        self._cuda = cuda = Cuda()
        self._stream = Handle(stream)
        self._closing = ExitStack()
        try:
            module, (self._hold, self._read) = cuda.functions(
                ENGINE / "sample" / "kernels.ptx", "nb_hold", "nb_read"
            )
            self._closing.callback(cuda.call, "cuModuleUnload", module)
            self._bytes = max(SCRATCH_FACTOR * cuda.attribute(ATTRIBUTE_L2_BYTES), 1 << 20) & ~0xFFFF
            self._scratch = cuda.allocate(2 * self._bytes)
            self._closing.callback(cuda.call, "cuMemFree_v2", self._scratch)
            self._begin, self._end = cuda.event(), cuda.event()
            for event in (self._begin, self._end):
                self._closing.callback(cuda.call, "cuEventDestroy_v2", event)
            flags = Handle()
            cuda.call("cuMemHostAlloc", ctypes.byref(flags), ctypes.c_size_t(64), 0)
            self._closing.callback(cuda.call, "cuMemFreeHost", flags)
            assert flags.value is not None
            self._flags = flags.value
            cuda.call("cuMemsetD8_v2", self._scratch, 0, ctypes.c_size_t(2 * self._bytes))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._closing.close()

    def chill(self) -> None:
        """Make the L2 cache cold: write, then read, more than it holds."""
        self._cuda.call("cuMemsetD8Async", self._scratch, 1, ctypes.c_size_t(self._bytes), self._stream)
        clean, sink = Address(self._scratch.value + self._bytes), Address(self._flags + 32)
        units = Address(self._bytes // 16)
        self._cuda.launch(self._read, BLOCKS, THREADS, self._stream, clean, units, sink)

    def time(self, function: Callable[[], object]) -> float:
        """Milliseconds of device time for one call."""
        call, release = self._cuda.call, ctypes.c_uint32.from_address(self._flags)
        release.value = 0
        self.chill()
        flag, gave_up, limit = (
            Address(self._flags), Address(self._flags + 16), Address(HOLD_NANOSECONDS)
        )  # fmt: skip
        no_time = Address(0)
        self._cuda.launch(self._hold, 1, 1, self._stream, flag, gave_up, no_time, limit)
        try:
            call("cuEventRecord", self._begin, self._stream)
            function()
            call("cuEventRecord", self._end, self._stream)
        finally:
            release.value = RELEASE_GO
        call("cuEventSynchronize", self._end)
        return self._elapsed()

    def spread(self, function: Callable[[], object], times: int) -> float:
        """Mean milliseconds per call of `times` calls in a row, cold caches included."""
        self._cuda.call("cuEventRecord", self._begin, self._stream)
        for _ in range(times):
            self.chill()
            function()
        self._cuda.call("cuEventRecord", self._end, self._stream)
        self._cuda.call("cuEventSynchronize", self._end)
        return self._elapsed() / times

    def _elapsed(self) -> float:
        milliseconds = ctypes.c_float()
        self._cuda.call("cuEventElapsedTime", ctypes.byref(milliseconds), self._begin, self._end)
        return milliseconds.value
