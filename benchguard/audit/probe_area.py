"""The part of the session memory by which kernels are probed (hook/core/wire/probe.h)."""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
from dataclasses import dataclass
from typing import Protocol

from . import layout
from .decode import Probe

ANSWERS = 1 << 14
IMAGE_BYTES = 4 << 30
TRACE_BYTES = 64 << 30
MAP_BYTES = 1 << 30
_ALIGNMENT = 16
_FUTEX_WAKE = 1
_SYS_FUTEX = {"x86_64": 202, "aarch64": 98}.get(platform.machine(), 202)


@dataclass(frozen=True)
class ProbeOptions:
    """`wait_seconds`: longest wait of a launch for its kernel. `map_bytes`: limit of the maps of one process.

    `benchmark`: launches take turns between the original kernel, the kernel without probes, and the probed one.
    """

    wait_seconds: float
    map_bytes: int = MAP_BYTES
    benchmark: bool = False


class ProbeListener(Protocol):
    """Takes what measured processes say about probes. Called by the interpreter, in its thread."""

    def take(self, process: int, started: int, time_ns: int, record: Probe) -> None: ...

    def reason(self, answer: int) -> str:
        """Why a kernel is not probed, for an answer that refuses."""
        ...


class ProbeArea:
    """The area in the session's memory at `offset`."""

    def __init__(self, memory: mmap.mmap, offset: int, options: ProbeOptions) -> None:
        self._memory = memory
        self.map_bytes = options.map_bytes
        self._answers = offset + layout.PAGE
        self._images = self._answers + ANSWERS * layout.PROBE_ANSWER_BYTES
        self._traces = self._images + IMAGE_BYTES
        self._image_next = 0
        layout.PROBE_AREA.pack_into(
            memory,
            offset,
            int(options.wait_seconds * 1e9),
            options.map_bytes,
            self._answers,
            self._images,
            IMAGE_BYTES,
            self._traces,
            TRACE_BYTES,
            ANSWERS,
            options.benchmark,
        )

    @staticmethod
    def size() -> int:
        """Size of an area. It is sparse: pages are allocated when they are first written."""
        return layout.PAGE + ANSWERS * layout.PROBE_ANSWER_BYTES + IMAGE_BYTES + TRACE_BYTES

    def refuse(self, answer: int) -> None:
        self._set(answer, layout.ProbeState.REFUSED)

    def answer(
        self,
        answer: int,
        image: bytes,
        maps: list[tuple[int, int, int, bool]],
        text: bytes,
        pruned: bytes = b"",
    ) -> bool:
        """Hand a probed image back, and the kernel without probes. False if there is no room for them.

        `maps` are (bytes, entries, unit, is counted), as in struct nb_probe_map.
        """
        head = image + b"\0" + text  # a NUL ends an image
        head += bytes(-len(head) % _ALIGNMENT)
        needed = -(-(len(head) + len(pruned) + 1) // layout.PAGE) * layout.PAGE
        if answer >= ANSWERS or self._image_next + needed > IMAGE_BYTES:
            return False
        at, text_at = self._image_next, self._image_next + len(image) + 1
        pruned_at = at + len(head)
        self._image_next += needed
        self._memory[self._images + at : self._images + pruned_at + len(pruned)] = head + pruned
        place = self._answers + answer * layout.PROBE_ANSWER_BYTES + layout.PROBE_ANSWER_AT
        layout.PROBE_ANSWER.pack_into(
            self._memory, place, len(maps), at, len(image), text_at, len(text), pruned_at, len(pruned)
        )
        for index, each in enumerate(maps):
            where = place + layout.PROBE_ANSWER.size + index * layout.PROBE_MAP.size
            layout.PROBE_MAP.pack_into(self._memory, where, *each)
        self._set(answer, layout.ProbeState.PROBED)
        return True

    def trace(self, at: int, size: int) -> memoryview | None:
        """The bytes of a trace; None if a process names a range outside the traces, or more than a launch can have."""
        if size > self.map_bytes or size > TRACE_BYTES or at > TRACE_BYTES - size:
            return None
        return memoryview(self._memory)[self._traces + at : self._traces + at + size]

    def forget_trace(self, at: int, size: int) -> None:
        """Free the memory of a trace that is saved."""
        start = self._traces + at // layout.PAGE * layout.PAGE
        length = min(-(-size // layout.PAGE) * layout.PAGE, self._traces + TRACE_BYTES - start)
        if length > 0:
            self._memory.madvise(9, start, length)  # MADV_REMOVE

    def _set(self, answer: int, state: layout.ProbeState) -> None:
        if answer >= ANSWERS:
            return
        place = self._answers + answer * layout.PROBE_ANSWER_BYTES
        word = ctypes.c_uint32.from_buffer(self._memory, place)
        word.value = state
        libc = ctypes.CDLL(None, use_errno=True)
        libc.syscall(_SYS_FUTEX, ctypes.byref(word), _FUTEX_WAKE, os.cpu_count() or 1, None, None, 0)
        del word  # it holds the mapping
