"""From what a replay and the judge found to the verdict of a case. Pure functions; the first reason wins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..judge.carried import FirstUse
from ..judge.ceilings import Rates
from ..judge.contract import Checked
from ..replay.protocol import Overhead
from ..replay.result import ReplayResult, SampleRow
from ..replay.statistics import quantile
from .result import Verdict
from .timing import least_reason

TAIL_US = 100.0
"""The device may go on for so long after the end event: waiting for it to be idle takes the host some microseconds."""

TAIL_SHARE = 0.25
"""Or for such a share of the time, if that is more."""

TAIL_FACTOR = 4.0
"""Or for so many times what it takes after an empty kernel here, on a busy host."""

HIDDEN_US = 200.0
"""Before the start event a sample's queue is busy for as long as an empty one's, and so much longer at the most, or
as long again as the time that is reported, if that is more."""

HIDDEN_SHARE = 0.5
"""Or by such a share of what an empty one takes, where that is long: on the CPU driver emptying the caches is."""

HOST_SLACK = 0.98
"""By the host's clock a batch of samples takes at least this share of what their events say: clocks differ by less."""


@dataclass(frozen=True)
class Outcome:
    """`reason` is empty for a pass."""

    verdict: Verdict
    reason: str


@dataclass(frozen=True)
class Findings:
    """All that is known of a case that was replayed. `checked` is None if the judge did not come to it."""

    replay: ReplayResult
    checked: Checked | None
    rates: Rates
    first_use: FirstUse | None


def outcome_of(found: Findings) -> Outcome:
    return next(_outcomes(found), Outcome("pass", ""))


def _outcomes(found: Findings) -> Iterator[Outcome]:
    """Why it is not a pass, what is most telling first: a wrong answer before a doubtful time."""
    replay, checked = found.replay, found.checked
    if replay.verdict not in ("pass", "unconverged"):
        yield Outcome(replay.verdict, replay.reason)
        return
    if checked is None:
        yield Outcome("error", "the judge did not look at the outputs; grade again")
        return
    if checked.first is not None:
        first = checked.first
        yield Outcome(
            "wrong",
            f"{checked.wrong} of {checked.samples} timed outputs are wrong; first {first.buffer!r} of sample "
            f"{first.sample} ({first.distribution} inputs): {first.count} of {first.elements} elements, {first.text}",
        )
    if mismatch := _count_mismatch(replay.table, checked):
        yield Outcome("error", mismatch)
    if tail := tail_reason(replay.table, replay.overhead):
        yield Outcome("violation", tail)
    if hidden := hidden_reason(replay.table, replay.overhead):
        yield Outcome("violation", hidden)
    if disagreement := host_reason(replay.table):
        yield Outcome("violation", disagreement)
    if found.first_use is not None and found.first_use.remembered:
        yield Outcome("violation", found.first_use.text)
    if least := least_reason(replay.table):
        yield Outcome("violation", least)
    if found.rates.impossible:
        yield Outcome("violation", found.rates.impossible)
    if replay.verdict == "unconverged":
        yield Outcome("unconverged", replay.reason)


def _count_mismatch(table: Sequence[SampleRow], checked: Checked) -> str:
    """Every timed sample was checked, on the set that it ran on."""
    timed = Counter(row.input_set for row in table)
    seen = dict(checked.counts)
    if checked.samples == len(table) and all(
        seen.get(number, 0) == n for number, n in timed.items() if number is not None
    ):
        return ""
    return (
        f"{len(table)} samples were timed and {checked.samples} checked, or on other inputs; this is ours, please "
        "report it"
    )


def longest_tail(table: Sequence[SampleRow]) -> float | None:
    """The median of how long the device went on after the end event, in microseconds: one late wake-up is the
    host's."""
    tails = sorted(row.tail_us for row in table)
    return tails[len(tails) // 2] if tails else None


def tail_reason(table: Sequence[SampleRow], overhead: Overhead | None) -> str:
    tail = longest_tail(table)
    if tail is None:
        return ""
    median = quantile(sorted(row.device_us for row in table), 0.5)
    empty = overhead.empty_tail_us if overhead is not None else 0.0
    allowed = max(TAIL_US, TAIL_SHARE * median, TAIL_FACTOR * empty)
    if tail <= allowed:
        return ""
    return (
        f"the device went on for {tail:.0f} us after the end event (median of {len(table)} samples): work outlives "
        "the call; join what is launched from the device or on other streams"
    )


def hidden_reason(table: Sequence[SampleRow], overhead: Overhead | None) -> str:
    """Work that runs before the start event, in kernels of ours that were overwritten, say, is in no event; the host
    sees it, from when it lets the queue go."""
    rows = [row for row in table if not row.unprimed]
    if overhead is None or not rows:
        return ""
    median = quantile(sorted(row.device_us for row in rows), 0.5)
    beside = quantile(sorted(row.host_us - row.device_us for row in rows), 0.5)
    allowed = max(HIDDEN_US, median, HIDDEN_SHARE * overhead.empty_host_us)
    if beside <= overhead.empty_host_us + allowed:
        return ""
    return (
        f"a sample keeps the device busy for {beside:.0f} us beside its {median:.4g} us, an empty one for "
        f"{overhead.empty_host_us:.0f} us: work is done outside of the events"
    )


def host_reason(table: Sequence[SampleRow]) -> str:
    """The host saw a sample from its release to its end event, so it cannot have taken less than the events say."""
    rows = [row for row in table if not row.unprimed]
    device, host = sum(row.device_us for row in rows), sum(row.host_us for row in rows)
    if not rows or host >= HOST_SLACK * device:
        return ""
    return (
        f"events say {device / 1000:.2f} ms for {len(rows)} samples, the host's clock {host / 1000:.2f} ms: one of "
        "them was tampered with"
    )
