"""Hand-written captures of kernels whose results show what the engine did; see also tests/support/captures.py."""

from __future__ import annotations

import struct
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from benchguard.capture.layout import ARENA, NOTHING, AllocationFlag, StreamKind
from benchguard.capture.model import (
    Attribute,
    Edge,
    EventRecord,
    EventWait,
    Global,
    GraphLaunch,
    Kernel,
    Launch,
    Limit,
    MemcpyHtoD,
    Parameter,
    Setting,
    Synchronize,
)
from tests.support.captures import COUNT, COUNTER, GRANULE, PTX_HEAD, Builder, Memory, copy, fill

ONE = (1, 1, 1)
POINTER = (Parameter(0, 8),)

# Adds 1 to each of `n` integers. Without a restore between samples the values grow.
ADD_ONE = """
.visible .entry add_one(.param .u64 at, .param .u32 n)
{
    .reg .pred %p;
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [at];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.u32 %r2, %r2, %r3, %r4;
    setp.ge.u32 %p, %r2, %r1;
    @%p bra done;
    mul.wide.u32 %rd2, %r2, 4;
    add.u64 %rd3, %rd1, %rd2;
    ld.global.u32 %r5, [%rd3];
    add.u32 %r5, %r5, 1;
    st.global.u32 [%rd3], %r5;
done:
    ret;
}
"""

ENDLESS = """
.visible .entry endless(.param .u64 at)
{
    .reg .pred %p;
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [at];
again:
    ld.volatile.global.u32 %r1, [%rd1];
    setp.eq.u32 %p, %r1, 0;
    @%p bra again;
    ret;
}
"""

# Writes 1 to the address that is stored at `at`.
FOLLOW = """
.visible .entry follow(.param .u64 at)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [at];
    ld.global.u64 %rd2, [%rd1];
    mov.u32 %r1, 1;
    st.global.u32 [%rd2], %r1;
    ret;
}
"""

# Increments the number at the address that is stored at `at`, and stores the old number behind that address.
REMEMBER = """
.visible .entry remember(.param .u64 at)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [at];
    ld.global.u64 %rd2, [%rd1];
    ld.volatile.global.u32 %r1, [%rd2];
    st.global.u32 [%rd1+8], %r1;
    add.u32 %r2, %r1, 1;
    st.volatile.global.u32 [%rd2], %r2;
    ret;
}
"""

# Writes 0 where the pointer at `at` leads.
CLEAR = """
.visible .entry clear(.param .u64 at)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [at];
    ld.global.u64 %rd2, [%rd1];
    mov.u32 %r1, 0;
    st.volatile.global.u32 [%rd2], %r1;
    ret;
}
"""

# Copies uninitialised shared memory to `at`, 1024 words a block, and leaves a mark in that shared memory.
PEEK = """
.extern .shared .align 16 .b8 shared[];
.visible .entry peek(.param .u64 at)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [at];
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, shared;
    add.u32 %r3, %r3, %r2;
    ld.volatile.shared.u32 %r4, [%r3];
    mov.u32 %r5, %ctaid.x;
    mad.lo.u32 %r5, %r5, 1024, %r1;
    mul.wide.u32 %rd2, %r5, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r4;
    st.volatile.shared.u32 [%r3], 0x5ec2e700;
    ret;
}
"""

# Writes the time to memory, so that each run writes another value.
CLOCK = """
.visible .entry clock(.param .u64 at)
{
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [at];
    mov.u64 %rd2, %globaltimer;
    st.global.u64 [%rd1], %rd2;
    ret;
}
"""


def integers(values: list[int]) -> bytes:
    return struct.pack(f"<{len(values)}I", *values)


def add_one(stream: int, address: int, n: int, kernel: int = 0) -> Launch:
    grid = ((n + 127) // 128, 1, 1)
    return Launch(stream, kernel, grid, (128, 1, 1), 0, struct.pack("<QI", address, n))


def add_one_capture(path: Path, n: int = 1024, launches: int = 1, address: int = ARENA) -> Path:
    before = list(range(n))
    with Builder(path) as builder:
        builder.device()
        module = builder.module(PTX_HEAD + ADD_ONE)
        builder.add(Kernel(module, 12, 8, 0, 0, 1024, "add_one", (Parameter(0, 8), Parameter(8, 4))))
        builder.stream()
        after = [value + launches for value in before]
        builder.memory(Memory(address, integers(before), integers(after)))
        for _ in range(launches):
            builder.operation(add_one(0, address, n))
        builder.end()
    return path


def scattered_capture(path: Path) -> Path:
    """Three separate allocations: one full, one with content on a few pages only, one freed in the region."""
    at = [ARENA, ARENA + 3 * GRANULE, ARENA + 8 * GRANULE]
    sparse = bytearray(GRANULE + 4096)
    for page in (0, 7, 200, 512):
        sparse[page * 4096 : page * 4096 + 4] = integers([page + 1])
    changed = bytearray(sparse)
    changed[:4] = integers([2])
    with Builder(path) as builder:
        builder.device()
        module = builder.module(PTX_HEAD + ADD_ONE)
        builder.add(Kernel(module, 12, 8, 0, 0, 1024, "add_one", (Parameter(0, 8), Parameter(8, 4))))
        builder.stream()
        builder.memory(Memory(at[0], integers([5]), integers([6]), 512))
        builder.memory(Memory(at[1], bytes(sparse), bytes(changed)))
        builder.memory(Memory(at[2], b"", b"", GRANULE), AllocationFlag(0))
        for address in at:
            builder.operation(add_one(0, address, 1))
        builder.end()
    return path


def one_kernel(
    path: Path,
    text: str,
    name: str,
    before: bytes,
    after: bytes | None = None,
    launch: Callable[[Launch], Launch] = lambda each: each,
    attributes: tuple[Setting, ...] = (),
    limits: tuple[Limit, ...] = (),
) -> Path:
    """A kernel that takes the address of the only allocation."""
    with Builder(path) as builder:
        builder.device()
        for limit in limits:
            builder.add(limit)
        module = builder.module(PTX_HEAD + text)
        builder.add(Kernel(module, 8, 8, 0, 0, 1024, name, POINTER, attributes))
        builder.stream()
        builder.memory(Memory(ARENA, before, before if after is None else after))
        builder.operation(launch(Launch(0, 0, ONE, ONE, 0, struct.pack("<Q", ARENA))))
        builder.end()
    return path


def crossing_capture(path: Path, n: int = 64) -> Path:
    """One integer row that four streams add to in turn, ordered by events, by a join of one stream, and by a join
    of all; the legacy and a blocking stream are among them."""
    before = [0] * n
    with Builder(path) as builder:
        builder.device()
        module = builder.module(PTX_HEAD + ADD_ONE)
        builder.add(Kernel(module, 12, 8, 0, 0, 1024, "add_one", (Parameter(0, 8), Parameter(8, 4))))
        legacy = builder.stream()
        first = builder.stream(0x1001, StreamKind.CREATED, 1)
        second = builder.stream(0x1002, StreamKind.CREATED, 0)
        own = builder.stream(0x2, StreamKind.PER_THREAD)
        builder.memory(Memory(ARENA, integers(before), integers([12] * n)))
        for event in range(2):
            builder.operation(add_one(legacy, ARENA, n))
            builder.operation(EventRecord(legacy, event))
            builder.operation(EventWait(first, event))
            for _ in range(2):
                builder.operation(add_one(first, ARENA, n))
            builder.operation(Synchronize(first))
            builder.operation(add_one(second, ARENA, n))
            builder.operation(Synchronize(second))
            builder.operation(add_one(own, ARENA, n))
            builder.operation(Synchronize(NOTHING))
            builder.operation(add_one(first, ARENA, n))
            builder.operation(Synchronize())
        builder.end()
    return path


def global_capture(path: Path) -> Path:
    """Every operation but a launch, on a global, by its captured address: as steps, and as nodes of a graph."""
    memory, content = bytearray(range(1, 33)), bytearray(b"abcd")
    before, began = bytes(memory), bytes(content)
    with Builder(path) as builder:
        builder.device()
        module = builder.module(COUNT)
        builder.stream()

        def work(graph: int) -> list[int]:
            stream, to = (NOTHING, ARENA + 16) if graph else (0, ARENA)
            raw, at = bytes([65 + graph, 66]), 16 if graph else 0
            content[:2], content[2:3] = raw, bytes([7 + graph])
            memory[at : at + 4] = content
            content[3:] = memory[at + 8 : at + 9]
            return [
                builder.operation(MemcpyHtoD(stream, COUNTER, 0, 0, 2, 1, 1, builder.content(raw), graph)),
                builder.operation(fill(stream, COUNTER + 2, 7 + graph, 1, graph)),
                builder.operation(copy(stream, to, COUNTER, 4, graph)),
                builder.operation(copy(stream, COUNTER + 3, to + 8, 1, graph)),
            ]

        work(0)
        nodes = work(1)
        for source, target in pairwise(nodes):
            builder.add(Edge(source, target))
        builder.operation(GraphLaunch(0, 1))
        after = bytes(content)
        builder.add(Global(module, COUNTER, 4, "counter", builder.content(began), builder.content(after)))
        builder.memory(Memory(ARENA, before, bytes(memory)))
        builder.end()
    return path


def forked_capture(path: Path, events: bool, n: int = 64) -> Path:
    """A second stream with work of its own: between two launches of the first one, or, without events, in no
    defined order. At the end the host waits for both."""
    at = [ARENA, ARENA + GRANULE]
    with Builder(path) as builder:
        builder.device()
        module = builder.module(PTX_HEAD + ADD_ONE)
        builder.add(Kernel(module, 12, 8, 0, 0, 1024, "add_one", (Parameter(0, 8), Parameter(8, 4))))
        first = builder.stream()
        second = builder.stream(0x1001, StreamKind.CREATED, 1)
        builder.memory(Memory(at[0], integers([0] * n), integers([2] * n)))
        builder.memory(Memory(at[1], integers([5] * n), integers([6] * n)))
        builder.operation(add_one(first, at[0], n))
        if events:
            builder.operation(EventRecord(first, 0))
            builder.operation(EventWait(second, 0))
        builder.operation(add_one(second, at[1], n))
        if events:
            builder.operation(EventRecord(second, 1))
            builder.operation(EventWait(first, 1))
        builder.operation(add_one(first, at[0], n))
        builder.operation(Synchronize(first))
        builder.operation(Synchronize())
        builder.end()
    return path


COOPERATIVE = Attribute(2, struct.pack("<i60x", 1))
EVENT_OF_A_LAUNCH = Attribute(7, struct.pack("<Q56x", 0x1234))
