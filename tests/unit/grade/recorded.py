"""Captures of one call y = 2 x + y, with what a hostile recorder may change about it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from benchguard.capture import Capture
from benchguard.capture.layout import ARENA, AllocationFlag, Role
from benchguard.capture.model import Launch, MemcpyDtoH, MemcpyHtoD, Operation, Range, Refusal
from benchguard.problem.spec import Buffer, CaseSpec
from tests.support.captures import GRANULE, Builder, Memory, floats, saxpy_launch, saxpy_values

N = 256
SIZE = 4 * N
X, Y, SPARE = ARENA, ARENA + GRANULE, ARENA + 2 * GRANULE

SPEC = CaseSpec("small", (Buffer("x", "float32", (N,)), Buffer("y", "float32", (N,), "output")))
RANGES = (
    Range(X, SIZE, Role.INPUT, "x", "float32", (N,)),
    Range(Y, SIZE, Role.OUTPUT, "y", "float32", (N,)),
)


def launch(**changes: object) -> Launch:
    return msgspec.structs.replace(saxpy_launch(X, Y, N), **changes)  # type: ignore[arg-type]


def record(
    path: Path,
    ranges: Sequence[Range] = RANGES,
    operations: Sequence[Operation] = (),
    refusals: Sequence[Refusal] = (),
    uploads: Sequence[bytes] = (),
    reads: Sequence[bytes] = (),
    y_lives: AllocationFlag = AllocationFlag.BEFORE | AllocationFlag.AFTER,
) -> Capture:
    """An open capture, which the test does not close."""
    x, y, after = map(floats, saxpy_values(N))
    with Builder(path) as builder:
        builder.device()
        builder.saxpy()
        builder.stream()
        builder.memory(Memory(X, x, x))
        builder.memory(Memory(Y, y, after), y_lives)
        builder.memory(Memory(SPARE, b"", b"", SIZE))
        for raw in uploads:
            builder.operation(MemcpyHtoD(0, SPARE, 0, 0, len(raw), 1, 1, builder.content(raw)))
        for raw in reads:
            content = builder.content(raw)
            builder.operation(MemcpyDtoH(0, "cuMemcpyDtoH_v2", SPARE, 0, 0, len(raw), 1, 1, content))
        for operation in operations or (launch(),):
            builder.operation(operation)
        for each in ranges:
            builder.add(each)
        for refusal in refusals:
            builder.add(refusal)
        builder.end()
    return Capture.open(path)
