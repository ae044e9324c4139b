"""Is a capture a call of what the problem asked? Its writer is the adversary: only the problem's word counts here.

Sizes, roles and names come from the CaseSpec. Where a buffer lies is the recording's word, and harmless: an address
that the submission does not read gives a wrong answer, one that it does not write another. What is not harmless is
memory that is two buffers at once, so it is refused.
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
"""As the runner names ranges. One in place is an input, since the replay writes it; the judge knows that it is both."""


@dataclass(frozen=True)
class Finding:
    """Why there is no pass. `text` is one line: what, where, and what to do."""

    verdict: Verdict
    text: str


def check_capture(capture: Capture, spec: CaseSpec) -> Finding | None:
    """The first reason not to replay it; None if there is none."""
    return next(_findings(capture, spec), None)


def _findings(capture: Capture, spec: CaseSpec) -> Iterator[Finding]:
    if capture.end.status != 0:
        yield Finding(
            "failed",
            f"the call ended with driver error {capture.end.status}; run the submission alone first",
        )
    for refusal in capture.refusals:
        what = f"{refusal.call}: {refusal.reason}" if refusal.call else refusal.reason
        yield Finding(
            "unreplayable", f"after {refusal.operation} operations {what}; remove it, or grade with --inline"
        )
    ranges = tuple(capture.ranges)
    yield from _names(ranges, spec)
    placed = {each.name: each for each in ranges}
    for buffer in spec.buffers:
        if buffer.bytes and buffer.name in placed:
            yield from _place(placed[buffer.name], buffer, tuple(capture.allocations))
    yield from _overlaps([each for each in ranges if each.bytes])


def _names(ranges: Sequence[Range], spec: CaseSpec) -> Iterator[Finding]:
    wanted = {each.name for each in spec.buffers if each.bytes}
    counted = Counter(each.name for each in ranges)
    for name in sorted(wanted - counted.keys()):
        yield Finding("violation", f"the recording has no buffer {name!r}, which the problem has")
    for name, times in sorted(counted.items()):
        if name not in {each.name for each in spec.buffers}:
            yield Finding(
                "violation", f"the recording names memory {name!r}, which the problem does not have"
            )
        elif times > 1:
            yield Finding("violation", f"the recording names {times} places for buffer {name!r}")


def _place(found: Range, buffer: Buffer, allocations: Sequence[Allocation]) -> Iterator[Finding]:
    if found.bytes != buffer.bytes:
        yield Finding(
            "violation",
            f"buffer {buffer.name!r} has {found.bytes} bytes recorded, {buffer.bytes} in the problem",
        )
    if found.role is not ROLES[buffer.role]:
        yield Finding(
            "violation",
            f"buffer {buffer.name!r} is recorded as {found.role.name.lower()}, it is {buffer.role}",
        )
    lives = AllocationFlag.BEFORE if buffer.is_read else AllocationFlag.AFTER
    end = found.address + found.bytes
    held = any(
        lives in each.flags and each.address <= found.address and end <= each.address + each.bytes
        for each in allocations
    )
    if not held:
        when = "when the call begins" if buffer.is_read else "when the call ends"
        yield Finding(
            "violation", f"buffer {buffer.name!r} at {found.address:#x} is in no memory that lives {when}"
        )


def _overlaps(ranges: Sequence[Range]) -> Iterator[Finding]:
    in_order = sorted(ranges, key=lambda each: each.address)
    for first, second in pairwise(in_order):
        if second.address < first.address + first.bytes:
            yield Finding(
                "violation",
                f"buffers {first.name!r} and {second.name!r} share memory at {second.address:#x}; "
                "only a problem can say that an argument is written in place",
            )
