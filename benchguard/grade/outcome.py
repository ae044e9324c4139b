"""The verdict of a case, from the findings of the replay and the judge. Pure functions; the first reason wins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ..judge.ceilings import Rates
from ..judge.contract import Checked
from ..replay.protocol import Device, Overhead
from ..replay.result import ReplayResult, SampleRow
from ..replay.statistics import quantile
from .result import Evidence, Verdict
from .timing import untested

TAIL_US = 100.0
"""Microseconds that the device may stay busy after the end event: the host needs some time to see it idle."""

TAIL_SHARE = 0.25
"""Or this share of the sample's time, if that is more."""

TAIL_FACTOR = 4.0
"""Or this multiple of the time after an empty kernel, which is long on a busy host."""

HIDDEN_US = 200.0
"""Microseconds that a sample may keep the queue busy outside its events, beyond an empty sample; or the reported time,
if that is more."""

HIDDEN_SHARE = 0.5
"""Or this share of an empty sample, which is long on the CPU driver because it empties the caches."""

HOST_SLACK = 0.98
"""The host clock must show at least this share of the events' total: clocks drift by less."""


RESTORED = "restored memory"
"""The check whether a kernel may keep something in memory that the replay does not restore."""

UNPRIMED_MAX = 0.5
"""Share of samples that may begin before they are queued, where all operations of a sample can be queued."""


@dataclass(frozen=True)
class Outcome:
    """The verdict of a case. `reason` is empty for a pass."""

    verdict: Verdict
    reason: str


@dataclass(frozen=True)
class Findings:
    """The facts from which the verdict of a replayed case follows.

    `checked` has the judge's results for the outputs; None if no sample was timed. `carried` says why results seem to
    be carried from one sample to the next; empty if they do not.
    """

    replay: ReplayResult
    checked: Checked | None
    rates: Rates
    carried: str
    unrestored: str = ""
    """Why a kernel may keep something in memory that the replay does not restore; empty if it cannot."""


def outcome_of(findings: Findings, require_evidence: bool = False) -> Outcome:
    """The verdict. With `require_evidence` a check that could not tell prevents a pass."""
    return next(_outcomes(findings, require_evidence), Outcome("pass", ""))


def _outcomes(findings: Findings, require_evidence: bool) -> Iterator[Outcome]:
    """Reasons against a pass, the most important first: wrong outputs before doubtful times."""
    replay, checked = findings.replay, findings.checked
    if replay.verdict not in ("pass", "unconverged"):
        yield Outcome(replay.verdict, replay.reason)
        return
    if checked is None:
        yield Outcome("error", "the judge did not check the outputs; grade again")
        return
    if checked.first is not None:
        first = checked.first
        count = (
            f"{first.count} of {first.elements} elements, " if first.count else ""
        )  # none from a problem's own test
        yield Outcome(
            "wrong",
            f"{checked.wrong} of {checked.samples} timed outputs are wrong; first {first.buffer!r} of sample "
            f"{first.sample} ({first.distribution} inputs): {count}{first.text}",
        )
    if mismatch := _count_mismatch(replay, checked):
        yield Outcome("failed", mismatch)
    evidence = evidence_of(findings)
    for each in evidence:
        if each.state == "failed":
            yield Outcome("violation", each.text)
    if few := _too_few_primed(replay):
        yield Outcome("unconverged", few)
    if replay.verdict == "unconverged":
        yield Outcome("unconverged", replay.reason)
    unknown = [each for each in evidence if each.state == "could not tell"]
    if require_evidence and unknown:
        yield Outcome("unproven", "; ".join(f"{each.check}: {each.text}" for each in unknown))


def evidence_of(found: Findings) -> tuple[Evidence, ...]:
    """The checks of the time. Each held, failed, or could not tell."""
    replay = found.replay
    table, overhead = replay.table, replay.overhead
    primed = any(not row.unprimed for row in table)
    shared = "" if is_gpu(replay.device) else "the CPU driver shares its cores with the host"
    unprimed = "" if primed else "no sample was queued before it began"
    empty = "" if overhead is not None else "no empty sample was measured"
    checks = [
        ("work after the end event", shared, lambda: tail_reason(table, overhead)),
        ("work outside the events", shared or empty or unprimed, lambda: hidden_reason(table, overhead)),
        ("host clock", unprimed, lambda: host_reason(table)),
        (RESTORED, found.unrestored, lambda: ""),
        ("carried results", "" if found.carried else untested(table), lambda: found.carried),
    ]
    if found.rates.is_counted:
        ceiling = "" if found.rates.floor_us is not None else "the ceilings of this device were not measured"
        checks.append(("possible rates", ceiling, lambda: found.rates.impossible))
    return tuple(_evidence(check, unknown, reason) for check, unknown, reason in checks)


def unknown_globals(replay: ReplayResult) -> str:
    """Why the engine may not have restored all globals; empty if it has."""
    if replay.prepared is None or not replay.prepared.unknown_globals:
        return ""
    return "an image may have globals without a name, which are not restored"


def _too_few_primed(replay: ReplayResult) -> str:
    """A reason if most samples began before they were queued; else empty."""
    unprimed = sum(row.unprimed for row in replay.table)
    if replay.prepared is None or not replay.prepared.primed or unprimed <= UNPRIMED_MAX * len(replay.table):
        return ""
    return f"{unprimed} of {len(replay.table)} samples began before they were queued; grade again on a quiet machine"


def _evidence(check: str, unknown: str, reason: Callable[[], str]) -> Evidence:
    if unknown:
        return Evidence(check, "could not tell", unknown)
    text = reason()
    return Evidence(check, "failed" if text else "held", text)


def _count_mismatch(replay: ReplayResult, checked: Checked) -> str:
    """A reason if the judge did not check every timed sample against its own input set; else empty."""
    timed = Counter([row.input_set for row in replay.table])
    timed.update(each.input_set for each in replay.warm)
    counts = dict(checked.counts)
    if checked.samples == timed.total() and all(
        counts.get(number, 0) == n for number, n in timed.items() if number is not None
    ):
        return ""
    return (
        f"{timed.total()} samples were timed, but {checked.samples} checked, or against other inputs: a kernel changed "
        "the replay process's memory; if yours does not, please report this bug"
    )


def is_gpu(device: Device | None) -> bool:
    """Whether the device is a GPU. The CPU driver, which has no PCI address, shares its cores with the host, so host
    times mean nothing there."""
    return device is not None and bool(device.pci_bus)


def longest_tail(table: Sequence[SampleRow]) -> float | None:
    """The median time that the device was busy after the end event, in microseconds. The median ignores a single late
    wake-up of the host."""
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
        f"the device was busy for {tail:.0f} us after the end event (median of {len(table)} samples): work outlives "
        "the call; synchronise kernels launched from the device or on other streams"
    )


def hidden_reason(table: Sequence[SampleRow], overhead: Overhead | None) -> str:
    """A reason if work ran outside the events, for example in overwritten helper kernels; else empty. The host sees
    such work between the release of the queue and its end."""
    rows = [row for row in table if not row.unprimed]
    if overhead is None or not rows:
        return ""
    median = quantile(sorted(row.device_us for row in rows), 0.5)
    beside = quantile(sorted(row.host_us - row.device_us for row in rows), 0.5)
    allowed = max(HIDDEN_US, median, HIDDEN_SHARE * overhead.empty_host_us)
    if beside <= overhead.empty_host_us + allowed:
        return ""
    return (
        f"a sample keeps the device busy for {beside:.0f} us in addition to its {median:.4g} us, an empty sample for "
        f"{overhead.empty_host_us:.0f} us: work runs outside the events"
    )


def host_reason(table: Sequence[SampleRow]) -> str:
    """A reason if the host clock shows less time than the events, which is impossible untampered; else empty."""
    rows = [row for row in table if not row.unprimed]
    device, host = sum(row.device_us for row in rows), sum(row.host_us for row in rows)
    if not rows or host >= HOST_SLACK * device:
        return ""
    return (
        f"events show {device / 1000:.2f} ms for {len(rows)} samples, the host clock {host / 1000:.2f} ms: one of "
        "them was tampered with"
    )
