"""The shared memory of measured processes and their supervisor (hook/core/wire/record.h)."""

from __future__ import annotations

import fcntl
import mmap
import os
import secrets
from dataclasses import dataclass

from ..errors import BenchguardError
from . import layout
from .cordon import Cordon
from .probe_area import ProbeArea, ProbeOptions

RING_COUNT = 512
RING_BYTES = 1 << 20
IMAGE_STORE_BYTES = 8 << 30

# MADV_REMOVE of madvise(2) frees the pages of the file. Python has no constant for it.
_MADV_REMOVE = 9


@dataclass(frozen=True)
class Counters:
    """Losses that the measured processes report. Like all data in the session, the counts are untrusted."""

    images_dropped: int
    rings_exhausted: int
    calls_lost: int


def default_image_store() -> int:
    """8 GiB, or half of the machine's memory if that is less."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min(IMAGE_STORE_BYTES, memory // 2 // layout.PAGE * layout.PAGE)


class Session:
    """A mapped, sealed, sparse memfd: pages are allocated when they are first written."""

    def __init__(
        self,
        ring_count: int = RING_COUNT,
        ring_bytes: int = RING_BYTES,
        image_bytes: int | None = None,
        wait_seconds: float = 0.0,
        cordon: Cordon | None = None,
        probe: ProbeOptions | None = None,
        gpu_time: bool = False,
        gpu_overhead_ns: int | None = None,
        omitted: bytes = b"",
    ) -> None:
        """`wait_seconds`: longest wait of a writer for room in a full ring. 0: the shim's default, 2 s.

        `cordon`: the policy that the measured processes obey. `probe`: their kernels are probed.
        `gpu_time`: each launch is timed on the GPU. `gpu_overhead_ns`: what the events around it add; None: unknown.
        `omitted`: a byte for each slot, 1 if its successful calls have no record. Empty: all calls have one.
        """
        self.ring_count = ring_count
        self.ring_bytes = ring_bytes
        self.image_bytes = default_image_store() if image_bytes is None else image_bytes
        self.cordon = cordon
        self.gpu_time = gpu_time
        self.gpu_overhead_ns = gpu_overhead_ns
        table = cordon.table if cordon is not None else b""
        policy_at = layout.PAGE + ring_count * (layout.PAGE + ring_bytes)
        omitted_at = policy_at + -(-len(table) // layout.PAGE) * layout.PAGE
        probe_at = omitted_at + -(-len(omitted) // layout.PAGE) * layout.PAGE
        self.image_offset = probe_at + (ProbeArea.size() if probe is not None else 0)
        self.nonce = secrets.token_bytes(16)
        size = self.image_offset + self.image_bytes
        try:
            self.descriptor = os.memfd_create("neutrino-bench", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
            os.ftruncate(self.descriptor, size)
            # The measured process can write anywhere in the file, but cannot change its size.
            seals = fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL
            fcntl.fcntl(self.descriptor, fcntl.F_ADD_SEALS, seals)
            self.memory = mmap.mmap(self.descriptor, size)
        except OSError as error:
            raise BenchguardError(
                f"cannot make {size >> 20} MiB of shared memory: {error.strerror}; "
                "allow memfd_create, or raise the address space limit (ulimit -v)"
            ) from error
        header = layout.SESSION.pack(
            layout.SESSION_MAGIC,
            layout.FORMAT_VERSION,
            ring_count,
            ring_bytes,
            self.image_offset,
            self.image_bytes,
            self.nonce,
            int(wait_seconds * 1e9),
        )
        self.memory[: len(header)] = header
        layout.SESSION_GPU_TIME.pack_into(self.memory, layout.SESSION_GPU_TIME_AT, gpu_time)
        if table:
            self.memory[policy_at : policy_at + len(table)] = table
            layout.SESSION_POLICY.pack_into(self.memory, layout.SESSION_POLICY_AT, policy_at, len(table))
        if omitted:
            self.memory[omitted_at : omitted_at + len(omitted)] = omitted
            layout.SESSION_OMITTED.pack_into(self.memory, layout.SESSION_OMITTED_AT, omitted_at, len(omitted))
        self.probe_area = ProbeArea(self.memory, probe_at, probe) if probe is not None else None
        if probe is not None:
            layout.SESSION_PROBE.pack_into(self.memory, layout.SESSION_PROBE_AT, probe_at)

    def environment(self) -> dict[str, str]:
        """Environment variables with which a process finds this session."""
        path = f"/proc/{os.getpid()}/fd/{self.descriptor}"
        return {"NEUTRINO_RING": f"{self.descriptor}:{path}", "NEUTRINO_NONCE": self.nonce.hex()}

    def ring_at(self, index: int) -> int:
        """Offset of a ring's header. The ring's data begin one page later."""
        return layout.PAGE + index * (layout.PAGE + self.ring_bytes)

    def counters(self) -> Counters:
        _, *counts = layout.SESSION_COUNTERS.unpack_from(self.memory, layout.SESSION_COUNTERS_AT)
        return Counters(*counts)

    def image(self, at: int, size: int) -> memoryview | None:
        """A range of the image store; None if it exceeds the store."""
        if size > self.image_bytes or at > self.image_bytes - size:
            return None
        return memoryview(self.memory)[self.image_offset + at : self.image_offset + at + size]

    def forget_image(self, at: int, size: int) -> None:
        """Free the memory of an unloaded image."""
        start = self.image_offset + at
        first = -(-start // layout.PAGE) * layout.PAGE
        end = min(start + -(-size // layout.PAGE) * layout.PAGE, self.image_offset + self.image_bytes)
        if end > first:
            self.memory.madvise(_MADV_REMOVE, first, end - first)

    def close(self) -> None:
        """Close the descriptor. The mapping ends with its last view."""
        os.close(self.descriptor)
