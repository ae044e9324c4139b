"""Results of inline timing. Their trust is `inline`: the submission's own code runs in the measuring process."""

from __future__ import annotations

from dataclasses import dataclass

from .seal import ALTERED, PROBE, UNPRIMED, SealedResult

TRUST = "inline"

STEPS = (
    "",
    "the case was run before",
    "buffers overlap, are misaligned, or are not the submission's",
    "the device did not settle",
    "inputs could not be written",
    "the cache could not be flushed",
    "the sample could not be begun",
    "the call raised an exception",
    "the end of the call could not be recorded",
    "the outputs that were returned could not be used",
    "the outputs could not be checked",
    "the work of the call failed",
    "the result could not be read",
)
"""By enum nb_inline_step."""

GUARDS = {
    1: "the arena could not be closed",
    2: "system calls that open the arena are not refused: no seccomp filter can tell whose they are",
    4: "refused system calls are not told of: no seccomp notification",
    8: "code can be remapped: no mseal",
    16: "/proc/self/mem can be opened",
}
"""For each bit of enum nb_guard, the consequence of a missing protection."""

GAP_FACTOR, GAP_US = 1.5, 2.0
"""Limit on the time between a sample's stamps beyond its events: GAP_FACTOR times the gap of an empty sample, plus
GAP_US microseconds.
"""


@dataclass(frozen=True)
class InlineResult:
    """The result of one case.

    `times_us` are in the order of the samples; `errors` are the counts of wrong elements in each, the probe first.
    `full`: every wanted sample was taken. `event_overhead_us` is the median of 100 empty pairs, and is part of the
    times. `arena` is "on", or lists missing protections. `attempts` are refused system calls that would have opened the
    arena. `altered` describes observed tampering, "" without any. `unprimed` samples were queued while they ran, so
    that the host's own time is in them; `settled`: one sample was wrong, and no other, so the inputs of those after it
    were ready before the call, and it does not count; `joins_all`: the end event waits for all streams. `corrected`
    samples took longer by the clock of the kernels around them than by their events, whose handles a submission may
    have found: their times are by that clock. `stopped` is the reason for missing samples, "" if none is missing.
    """

    times_us: tuple[float, ...]
    errors: tuple[int, ...]
    full: bool
    event_overhead_us: float
    arena: str
    wanted: int
    done: int
    sets: int
    unprimed: int
    corrected: int
    settled: bool
    joins_all: bool
    stopped: str
    altered: str
    attempts: tuple[str, ...]
    trust: str = TRUST

    @property
    def correct(self) -> bool:
        return self.done > 0 and not any(self.counted)

    @property
    def counted(self) -> tuple[int, ...]:
        """The errors that decide the verdict."""
        return (0,) * self.done if self.settled else self.errors


def arena_text(guards: int) -> str:
    """ "on", or each thing that is missing."""
    return "; ".join(text for bit, text in GUARDS.items() if not guards & bit) or "on"


def stopped_text(stopped: int) -> str:
    step, code = divmod(stopped, 1000)
    if not 0 < step < len(STEPS):
        return f"stopped with {stopped}" if stopped else ""
    return STEPS[step] + (f" (CUDA error {code})" if code and step not in (2, 7, 9) else "")


def result_of(
    sealed: SealedResult, guards: int, sets: int, joins_all: bool, attempts: tuple[str, ...]
) -> InlineResult:
    samples = [row for row in sealed.rows if not row.flags & PROBE]
    probes = [row for row in sealed.rows if row.flags & PROBE]
    set_count = sealed.wanted - max(1, len(probes))
    slack = GAP_FACTOR * max(sealed.gap_us, 0.0) + GAP_US
    altered = sum(bool(row.flags & ALTERED) for row in sealed.rows)
    return InlineResult(
        times_us=tuple(max(row.event_us, row.stamp_us - slack) for row in samples),
        errors=tuple(row.wrong for row in sealed.rows),
        full=len(samples) == set_count,
        event_overhead_us=sealed.overhead_us,
        arena=arena_text(guards),
        wanted=set_count,
        done=len(samples),
        sets=sets,
        unprimed=sum(bool(row.flags & UNPRIMED) for row in samples),
        corrected=sum(row.stamp_us - slack > row.event_us for row in samples),
        settled=bool(samples and any(row.wrong for row in probes)) and not any(row.wrong for row in samples),
        joins_all=joins_all,
        stopped=stopped_text(sealed.stopped),
        altered=f"what the check of {altered} samples left on the device was overwritten" if altered else "",
        attempts=attempts,
    )
