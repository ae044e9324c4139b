"""The verdict of a case, from the findings of the replay and the judge. Pure functions; the first reason wins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..judge.ceilings import Rates
from ..judge.contract import Checked
from ..replay.protocol import is_gpu
from ..replay.result import HOST_WAIT_MIN, ReplayResult
from .cordon_result import Cordon
from .result import Evidence, Verdict
from .time_tests import TimeTests
from .timing import untested

RESTORED = "restored memory"
"""The check whether a kernel may keep something in memory that the replay does not restore."""

IN_A_ROW = "calls in a row"
"""The check whether a call is also right, and as fast, on the memory that another call left: memory that is restored
before each sample may have been made ready outside of the calls."""

CORDON = "device cordon"
"""The check whether kernels accessed only the memory that they were given."""

OF_EVENTS = ("anchored time", "host clock", "work after the end event", "empty samples")
"""Checks that compare the events with other clocks. Work of another process on the device makes them fail, too."""

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
    doubt: str = ""
    """Why results may be carried, by too little for `carried`; empty if nothing shows that."""
    cordon: Cordon | None = None
    """The device cordon's findings, if it was asked for."""
    are_repeated: bool | None = None
    """Whether both recorded calls use the same addresses and numbers. None: a replay without calls in a row."""
    is_timed: bool = True
    """Whether the time is of interest, so that its tests count."""


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
    yield from _of_calls_in_a_row(findings)
    if unshown := checked.unchanged or checked.of_other_inputs:
        yield Outcome("unproven", unshown)
    if not findings.is_timed:
        return
    evidence = evidence_of(findings)
    for each in evidence:
        if each.state == "failed" and each.check != IN_A_ROW:
            yield failure_of(each, replay)
    if few := _too_few_primed(replay):
        yield Outcome("unconverged", few)
    if replay.verdict == "unconverged":
        yield Outcome("unconverged", replay.reason)
    unknown = [each for each in evidence if each.state == "could not tell"]
    if require_evidence and unknown:
        yield Outcome("unproven", "; ".join(f"{each.check}: {each.text}" for each in unknown))


def _of_calls_in_a_row(findings: Findings) -> Iterator[Outcome]:
    if found := _wrong_in_a_row(findings):
        yield Outcome("wrong", found)
    if findings.are_repeated is False and _trouble_in_a_row(findings):
        yield Outcome("unproven", _unknown_in_a_row(findings))
    if slower := _slower_in_a_row(findings):
        yield Outcome("unproven", slower)


def failure_of(failed: Evidence, replay: ReplayResult) -> Outcome:
    """The outcome of a check that failed. Other programs of the machine may make the checks of the events fail."""
    disturbed = _disturbance(replay) if failed.check in OF_EVENTS else ""
    if disturbed:
        return Outcome("unproven", f"{disturbed}, and {failed.text}; time it again on an idle machine")
    return Outcome("violation", failed.text)


def _disturbance(replay: ReplayResult) -> str:
    """How other programs disturbed the samples of a GPU; empty if nothing is known."""
    if not is_gpu(replay.device):
        return ""
    if others := replay.clocks.other_processes:
        return f"{'another process' if others == 1 else f'{others} other processes'} had the device open"
    if replay.host_wait >= HOST_WAIT_MIN:
        return f"the replay waited {replay.host_wait:.0%} of its time for a processor"
    return ""


def evidence_of(found: Findings) -> tuple[Evidence, ...]:
    """The checks of the time. Each held, failed, or could not tell."""
    replay = found.replay
    tests = _tests(found)
    shared = "" if is_gpu(replay.device) else "the CPU driver shares its cores with the host"
    checks = [
        ("anchored time", tests.anchor_unknown, tests.anchor_reason),
        ("host clock", tests.host_unknown, tests.host_reason),
        ("work after the end event", shared or tests.unknown, tests.tail_reason),
        ("empty samples", shared or tests.unknown or tests.shortened, tests.empty_reason),
        (RESTORED, found.unrestored, lambda: ""),
        ("carried results", untested(replay.table) or found.doubt, lambda: found.carried),
    ]
    if found.rates.is_counted:
        ceiling = "" if found.rates.floor_us is not None else "the ceilings of this device were not measured"
        checks.append(("possible rates", ceiling, lambda: found.rates.impossible))
    evidence = tuple(_evidence(check, unknown, reason) for check, unknown, reason in checks)
    if found.are_repeated is not None:
        reason = _wrong_in_a_row(found) or _slower_in_a_row(found)
        evidence += (_evidence(IN_A_ROW, _unknown_in_a_row(found), lambda: reason),)
    cordon = found.cordon
    return evidence if cordon is None else (*evidence, Evidence(CORDON, cordon.status, cordon.reason))


def _tests(found: Findings) -> TimeTests:
    return TimeTests(found.replay, found.unrestored or found.doubt)


def _wrong_in_a_row(found: Findings) -> str:
    """A reason if a call is wrong on the memory that the same call left; else empty."""
    trouble = _trouble_in_a_row(found)
    if not trouble or not found.are_repeated:
        return ""
    return (
        f"{trouble}; both recorded calls ask for the same work, so something outside of the calls makes memory ready: "
        "do that in the call"
    )


def _slower_in_a_row(found: Findings) -> str:
    """A reason if calls take longer on the memory that another call left; else empty."""
    tests = _tests(found)
    longer = next(filter(None, map(tests.in_a_row_reason, found.replay.in_a_row)), "")
    if longer and (disturbed := _disturbance(found.replay)):
        return (
            f"{disturbed}, and {longer}: time it again on an idle machine; if it takes longer there, too, something "
            "outside of the calls makes memory ready: do that in each call"
        )
    return longer and f"{longer}: something outside of the calls may make memory ready; do that in each call"


def _unknown_in_a_row(found: Findings) -> str:
    if not found.replay.in_a_row:
        return "no input set was left for a call that follows another one"
    if trouble := _trouble_in_a_row(found):
        return (
            f"{trouble}; the recorded calls use different memory or numbers, so the next call may differ, and work "
            "outside of the calls may make memory ready: clear memory in the call that uses it"
        )
    if _is_wrong(found):
        return "the outputs of single calls are wrong"
    return _tests(found).in_a_row_unknown


def _trouble_in_a_row(found: Findings) -> str:
    """The fault of a call on the memory that another call left; empty if the call is right, or was not made.

    Empty also if single calls are wrong: that tells nothing of this memory.
    """
    what = "a call on the memory that another call left"
    if trouble := next(filter(None, (each.trouble for each in found.replay.in_a_row)), ""):
        return f"{what} does not end well: {trouble}"
    wrong = found.checked.in_a_row if found.checked is not None else None
    return "" if wrong is None or _is_wrong(found) else f"{what} is wrong: {wrong.text}"


def _is_wrong(found: Findings) -> bool:
    return found.checked is not None and found.checked.wrong > 0


def unknown_globals(replay: ReplayResult) -> str:
    """Why kernels may keep data in memory that the replay does not restore; empty if it is not known.

    Only a strict replay without a judge searches the images for such memory; a grade's reader does it otherwise.
    """
    if replay.unrestored:
        return replay.unrestored
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
    if text := reason():
        return Evidence(check, "failed", text)
    return Evidence(check, "could not tell", unknown) if unknown else Evidence(check, "held", "")


def _count_mismatch(replay: ReplayResult, checked: Checked) -> str:
    """A reason if the judge did not check every timed sample against its own input set; else empty."""
    timed = _timed(replay)
    announced = timed.copy()
    for calls in replay.in_a_row:
        announced.update(each.input_set for each in calls.samples)
    counts = dict(checked.counts)
    if checked.samples == timed.total() and all(
        counts.get(number, 0) == n for number, n in announced.items() if number is not None
    ):
        return ""
    return (
        f"{timed.total()} samples were timed, but {checked.samples} checked, or against other inputs: a kernel changed "
        "the replay process's memory; if yours does not, please report this bug"
    )


def _timed(replay: ReplayResult) -> Counter[int | None]:
    """The number of timed samples of each input set."""
    return Counter([*(row.input_set for row in replay.table), *(each.input_set for each in replay.warm)])
