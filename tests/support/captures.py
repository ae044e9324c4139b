"""Small valid captures, written by hand: what the tests of readers and of replay begin with.

Every capture has one image (PTX), one context's memory from NB_CAPTURE_ARENA on, and what each run leaves there
computed here, in Python, so that a replay can be compared with it.
"""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass
from pathlib import Path

from benchguard.capture import CaptureWriter
from benchguard.capture.layout import (
    ARENA,
    BLOB_MAX,
    NOTHING,
    PAGE,
    AllocationFlag,
    ImageFormat,
    Kind,
    ModuleKind,
    Role,
    StreamKind,
    Vendor,
)
from benchguard.capture.model import (
    Allocation,
    Device,
    Edge,
    Empty,
    End,
    EventRecord,
    EventWait,
    Global,
    GraphLaunch,
    Image,
    Kernel,
    Launch,
    Memcpy,
    MemcpyDtoH,
    MemcpyHtoD,
    Memset,
    Meta,
    Module,
    Operation,
    Option,
    Parameter,
    Range,
    Refusal,
    Relocation,
    Stream,
    Synchronize,
)
from tests.support.kernels import PTX_HEAD, SAXPY

GRANULE = 2 << 20
# Adds `value` to the 32-bit integer at `at`, and to the module's own counter.
COUNT = (
    PTX_HEAD
    + """
.visible .global .align 4 .u32 counter = 7;
.visible .entry count(.param .u64 at, .param .u32 value)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [at];
    ld.param.u32 %r1, [value];
    cvta.to.global.u64 %rd2, %rd1;
    ld.global.u32 %r2, [%rd2];
    add.u32 %r3, %r2, %r1;
    st.global.u32 [%rd2], %r3;
    mov.u64 %rd3, counter;
    ld.global.u32 %r4, [%rd3];
    add.u32 %r5, %r4, %r1;
    st.global.u32 [%rd3], %r5;
    ret;
}
"""
)
SAXPY_LAYOUT = (Parameter(0, 4), Parameter(8, 8), Parameter(16, 8), Parameter(24, 4))
COUNT_LAYOUT = (Parameter(0, 8), Parameter(8, 4))
COUNTER = 0x310000001200  # where the global was: nothing is there in a replay
BLOCK = 128


@dataclass(frozen=True)
class Memory:
    """One allocation: where, and what is there before and after."""

    address: int
    before: bytes
    after: bytes
    size: int = 0
    call: str = "cuMemAlloc_v2"

    @property
    def bytes(self) -> int:
        return self.size or max(len(self.before), len(self.after))


def floats(values: list[float]) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


def saxpy_values(n: int) -> tuple[list[float], list[float], list[float]]:
    """x, y and 2 x + y: small integers, so that the sum is exact."""
    x, y = [float(i % 251) for i in range(n)], [float(i % 127) for i in range(n)]
    return x, y, [2 * a + b for a, b in zip(x, y, strict=True)]


def saxpy_parameters(x: int, y: int, n: int, a: float = 2.0) -> bytes:
    return struct.pack("<f4xQQI", a, x, y, n)


def saxpy_launch(x: int, y: int, n: int, stream: int = 0, graph: int = 0) -> Launch:
    grid = ((n + BLOCK - 1) // BLOCK, 1, 1)
    return Launch(stream, 0, grid, (BLOCK, 1, 1), 0, saxpy_parameters(x, y, n), graph=graph)


def fill(stream: int, address: int, value: int, size: int, graph: int = 0) -> Memset:
    return Memset(stream, address, 0, size, 1, value, 1, graph)


def copy(stream: int, destination: int, source: int, size: int, graph: int = 0) -> Memcpy:
    return Memcpy(stream, destination, 0, 0, source, 0, 0, size, graph=graph)


class Builder(CaptureWriter):
    """A CaptureWriter that knows what most captures have."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._operations = 0
        self._memories: list[Memory] = []

    def device(self) -> None:
        """As the CPU driver describes itself (SIM_GPU=small)."""
        memory, arena = 8 << 30, 1 << 40
        self.add(Device(Vendor.CUDA, 13000, 9, 0, 16, 0, memory, ARENA, arena, "00" * 16, "a test's device"))
        self.add(Meta("region", "1"))
        self.add(Meta("program", "tests/support/captures.py"))

    def module(self, text: str, options: tuple[Option, ...] = ()) -> int:
        raw = text.encode() + b"\0"
        digest = hashlib.sha256(raw).hexdigest()
        image = self.add(Image(digest, ImageFormat.PTX, "/tests/support/captures.py", self.content(raw)))
        return self.add(Module(image, ModuleKind.MODULE, options))

    def saxpy(self, options: tuple[Option, ...] = ()) -> int:
        return self.add(Kernel(self.module(SAXPY, options), 28, 12, 0, 0, 1024, "saxpy", SAXPY_LAYOUT))

    def stream(self, handle: int = 0, kind: StreamKind = StreamKind.LEGACY, flags: int = 0) -> int:
        return self.add(Stream(handle, kind, flags))

    def memory(
        self, memory: Memory, flags: AllocationFlag = AllocationFlag.BEFORE | AllocationFlag.AFTER
    ) -> int:
        """In the order of addresses."""
        self._memories.append(memory)
        return self.add(Allocation(memory.address, memory.bytes, flags, memory.call))

    def operation(self, operation: Operation) -> int:
        self._operations += 1
        return self.add(operation)

    def end(self) -> None:
        """The runs of all memory, and the end of the region."""
        for memory in self._memories:
            for at in pieces(memory.before):
                self.add_run(Kind.BEFORE, memory.address + at, memory.before[at : at + BLOB_MAX])
        for memory in self._memories:
            self._differing(memory)
        self.add(End(0, self._operations))

    def _differing(self, memory: Memory) -> None:
        size = memory.bytes
        before, after = memory.before.ljust(size, b"\0"), memory.after.ljust(size, b"\0")
        for at in range(0, size, PAGE):
            old, new = before[at : at + PAGE], after[at : at + PAGE]
            if old != new:
                raw = None if not any(new) else new
                self.add_run(Kind.AFTER, memory.address + at, raw, len(new))


def pieces(raw: bytes) -> range:
    return range(0, len(raw), BLOB_MAX)


def saxpy_capture(path: Path, n: int = 1024, options: tuple[Option, ...] = ()) -> Path:
    """y = 2 x + y on the legacy stream; x is called "x" and y "y". `options` are those of the module's load."""
    x, y, after = map(floats, saxpy_values(n))
    address_x, address_y = ARENA, ARENA + -(-4 * n // GRANULE) * GRANULE
    with Builder(path) as builder:
        builder.device()
        builder.saxpy(options)
        builder.stream()
        builder.memory(Memory(address_x, x, x))
        builder.memory(Memory(address_y, y, after))
        builder.operation(saxpy_launch(address_x, address_y, n))
        builder.add(Range(address_x, 4 * n, Role.INPUT, "x", "float32", (n,)))
        builder.add(Range(address_y, 4 * n, Role.STATE, "y", "float32", (n,)))
        builder.end()
    return path


def streams_capture(path: Path, n: int = 1024) -> Path:
    """y = 2 x + y on one stream, then z = 2 y + z on another that waits for it; then the host waits."""
    x, y, y_after = saxpy_values(n)
    z = [1.0] * n
    z_after = [2 * a + b for a, b in zip(y_after, z, strict=True)]
    at_x, at_y, at_z = (ARENA + i * GRANULE for i in range(3))
    with Builder(path) as builder:
        builder.device()
        builder.saxpy()
        first = builder.stream(0x1001, StreamKind.CREATED, 1)
        second = builder.stream(0x1002, StreamKind.CREATED, 1)
        builder.memory(Memory(at_x, floats(x), floats(x)))
        builder.memory(Memory(at_y, floats(y), floats(y_after)))
        builder.memory(Memory(at_z, floats(z), floats(z_after)))
        builder.operation(saxpy_launch(at_x, at_y, n, first))
        builder.operation(EventRecord(first, 0))
        builder.operation(EventWait(second, 0))
        builder.operation(saxpy_launch(at_y, at_z, n, second))
        builder.operation(Synchronize(NOTHING))
        builder.end()
    return path


def copies_capture(path: Path, n: int = 1024) -> Path:
    """x is set to bytes of 1, y uploaded in two rows, z copied from y; w is set to zero."""
    size = 4 * n
    host = bytes(i % 255 + 1 for i in range(size))
    half = size // 2
    at = [ARENA + i * GRANULE for i in range(4)]
    with Builder(path) as builder:
        builder.device()
        stream = builder.stream()
        builder.memory(Memory(at[0], b"", b"\1" * size, size))
        builder.memory(Memory(at[1], b"", host, size))
        builder.memory(Memory(at[2], b"\xff" * size, host, size))
        builder.memory(Memory(at[3], b"\xee" * size, b"", size))
        builder.operation(fill(stream, at[0], 1, size))
        builder.operation(MemcpyHtoD(stream, at[1], half, 0, half, 2, 1, builder.content(host)))
        builder.operation(copy(stream, at[2], at[1], size))
        builder.operation(Memset(stream, at[3], half, half // 4, 2, 0, 4))
        builder.end()
    return path


def graph_capture(path: Path, n: int = 1024) -> Path:
    """A graph, launched twice: y = 2 x + y, behind it z = y and, beside that, a node without work."""
    x, y, _ = saxpy_values(n)
    y_after = [4 * a + b for a, b in zip(x, y, strict=True)]
    at_x, at_y, at_z = (ARENA + i * GRANULE for i in range(3))
    with Builder(path) as builder:
        builder.device()
        builder.saxpy()
        stream = builder.stream(0x1001, StreamKind.CREATED)
        builder.memory(Memory(at_x, floats(x), floats(x)))
        builder.memory(Memory(at_y, floats(y), floats(y_after)))
        builder.memory(Memory(at_z, b"", floats(y_after)))
        first = builder.operation(saxpy_launch(at_x, at_y, n, NOTHING, 1))
        second = builder.operation(copy(NOTHING, at_z, at_y, 4 * n, 1))
        third = builder.operation(Empty(1))
        builder.add(Edge(first, second))
        builder.add(Edge(first, third))
        builder.operation(GraphLaunch(stream, 1))
        builder.operation(GraphLaunch(stream, 1))
        builder.end()
    return path


def global_capture(path: Path, value: int = 5) -> Path:
    """A kernel that adds to its module's global and to what its first parameter leads to: first memory, then,
    in a second launch, the global itself, by a relocated address."""
    before, after = struct.pack("<I", 100), struct.pack("<I", 100 + value)
    with Builder(path) as builder:
        builder.device()
        module = builder.module(COUNT)
        builder.add(Kernel(module, 12, 8, 0, 0, 1024, "count", COUNT_LAYOUT))
        old, new = struct.pack("<I", 40), struct.pack("<I", 40 + 3 * value)
        builder.add(Global(module, COUNTER, 4, "counter", builder.content(old), builder.content(new)))
        builder.stream()
        builder.memory(Memory(ARENA, before, after))
        builder.operation(Launch(0, 0, (1, 1, 1), (1, 1, 1), 0, struct.pack("<QI", ARENA, value)))
        second = Launch(0, 0, (1, 1, 1), (1, 1, 1), 0, struct.pack("<QI", COUNTER, value))
        builder.add(Relocation(builder.operation(second), 0, 0, 0))
        builder.end()
    return path


def reads_capture(path: Path, n: int = 1024) -> Path:
    """y = 2 x + y, which the host reads in part: two rows of y, as the kernel left it, and the first 8 bytes of x.
    Then z = 2 x + z."""
    x, y, y_after = saxpy_values(n)
    at_x, at_y, at_z = (ARENA + i * GRANULE for i in range(3))
    with Builder(path) as builder:
        builder.device()
        builder.saxpy()
        stream = builder.stream()
        builder.memory(Memory(at_x, floats(x), floats(x)))
        builder.memory(Memory(at_y, floats(y), floats(y_after)))
        builder.memory(Memory(at_z, floats(y), floats(y_after)))
        builder.operation(saxpy_launch(at_x, at_y, n))
        rows = builder.content(floats([y_after[1], y_after[17]]))
        builder.operation(MemcpyDtoH(stream, "cuMemcpy2D_v2", at_y + 4, 64, 0, 4, 2, 1, rows))
        first = builder.content(floats(x[:2]))
        builder.operation(MemcpyDtoH(stream, "cuMemcpyDtoH_v2", at_x, 8, 8, 8, 1, 1, first))
        builder.operation(Synchronize(stream))
        builder.operation(saxpy_launch(at_x, at_z, n))
        builder.end()
    return path


def refused_capture(path: Path, n: int = 1024) -> Path:
    """saxpy_capture of a program that then reads the result in its region."""
    x, y, after = map(floats, saxpy_values(n))
    with Builder(path) as builder:
        builder.device()
        builder.saxpy()
        builder.stream()
        builder.memory(Memory(ARENA, x, x))
        builder.memory(Memory(ARENA + GRANULE, y, after))
        index = builder.operation(saxpy_launch(ARENA, ARENA + GRANULE, n))
        reason = "reads device memory; what follows may depend on it"
        builder.add(Refusal(index + 1, "cuMemcpyDtoH_v2", reason))
        builder.end()
    return path


CAPTURES = {
    "saxpy": saxpy_capture,
    "streams": streams_capture,
    "copies": copies_capture,
    "graph": graph_capture,
    "global": global_capture,
    "reads": reads_capture,
    "refused": refused_capture,
}
