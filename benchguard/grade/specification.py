"""Check that a capture is a call of the problem's case. The submission's process wrote the capture and may lie in it.

Sizes, roles and names come from the CaseSpec. The capture states only the addresses of buffers. A false address makes
the outputs wrong, which the judge sees. Buffers that share memory could help a cheat, so they are refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ..capture import Capture
from ..capture.layout import AllocationFlag, Role
from ..capture.model import Allocation, Range
from ..problem.spec import Buffer, CaseSpec
from .result import Verdict

ROLES: dict[str, Role] = {
    "input": Role.INPUT,
    "output": Role.OUTPUT,
    "inout": Role.INPUT,
    "constant": Role.STATE,
}
"""Roles that the runner gives ranges. An in-place buffer is an input, because the replay writes it; the judge also
checks it as an output."""


OR_INLINE = ", or grade with --inline"
"""Advice that ends a reason. conclusion.py leaves it out where --inline is refused."""


@dataclass(frozen=True)
class Finding:
    """A reason against a pass. `text` is one line: what happened, where, and what to do."""

    verdict: Verdict
    text: str


def check_capture(capture: Capture, spec: CaseSpec) -> Finding | None:
    """The first reason not to replay the capture; None for a valid capture."""
    return next(_findings(capture, spec), None)


def _findings(capture: Capture, spec: CaseSpec) -> Iterator[Finding]:
    if capture.end.status != 0:
        yield Finding(
            "failed",
            f"the call ended with driver error {capture.end.status}; run the submission alone first",
        )
    for refusal in capture.refusals:
        if refusal.is_doubt:
            continue
        what = f"{refusal.call}: {refusal.reason}" if refusal.call else refusal.reason
        yield Finding("unreplayable", f"after {refusal.operation} operations {what}; remove it{OR_INLINE}")
    ranges = tuple(capture.ranges)
    yield from _names(ranges, spec)
    placed = {each.name: each for each in ranges}
    for buffer in spec.buffers:
        if buffer.bytes and buffer.name in placed:
            yield from _place(placed[buffer.name], buffer, tuple(capture.allocations))
    yield from _overlaps([each for each in ranges if each.bytes])


def _names(ranges: Sequence[Range], spec: CaseSpec) -> Iterator[Finding]:
    names = {each.name for each in spec.buffers if each.bytes}
    counted = Counter(each.name for each in ranges)
    for name in sorted(names - counted.keys()):
        yield Finding("violation", f"the capture lacks buffer {name!r} of the problem")
    for name, times in sorted(counted.items()):
        if name not in {each.name for each in spec.buffers}:
            yield Finding("violation", f"the capture names a buffer {name!r} that the problem does not have")
        elif times > 1:
            yield Finding("violation", f"the capture names {times} places for buffer {name!r}")


def _place(memory: Range, buffer: Buffer, allocations: Sequence[Allocation]) -> Iterator[Finding]:
    if memory.bytes != buffer.bytes:
        yield Finding(
            "violation",
            f"buffer {buffer.name!r} has {memory.bytes} bytes in the capture, {buffer.bytes} in the problem",
        )
    if memory.role is not ROLES[buffer.role]:
        yield Finding(
            "violation",
            f"buffer {buffer.name!r} is {memory.role.name.lower()} in the capture, {buffer.role} in the problem",
        )
    lives = AllocationFlag.BEFORE if buffer.is_read else AllocationFlag.AFTER
    end = memory.address + memory.bytes
    is_allocated = any(
        lives in each.flags and each.address <= memory.address and end <= each.address + each.bytes
        for each in allocations
    )
    if not is_allocated:
        when = "when the call begins" if buffer.is_read else "when the call ends"
        yield Finding(
            "violation", f"buffer {buffer.name!r} at {memory.address:#x} is not in allocated memory {when}"
        )


def _overlaps(ranges: Sequence[Range]) -> Iterator[Finding]:
    in_order = sorted(ranges, key=lambda each: each.address)
    for first, second in pairwise(in_order):
        if second.address < first.address + first.bytes:
            yield Finding(
                "violation",
                f"buffers {first.name!r} and {second.name!r} share memory at {second.address:#x}; "
                "only the problem can declare an argument as written in place",
            )
