"""Grade one test case: check its captures, replay one on secret inputs, judge the outputs."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec

from ..capture import CaptureError
from ..gpu.turns import Turns
from ..judge.ceilings import rates_of
from ..judge.contract import Checked
from ..judge.process import JudgeProcess
from ..problem.spec import CaseSpec, Tolerance
from ..quarantine.contract import Quarantined
from ..replay.relay import Relay
from ..replay.replay import SAMPLING_SECONDS
from ..replay.result import ReplayResult, SampleRow, time_block
from ..replay.statistics import summarise
from ..shim.vendors import Api
from .conclusion import TimedCase
from .cordon import CheckedAccesses, check_accesses
from .evidence import CaptureFacts, KernelEvidence
from .examine import ON_THE_DEVICE, examined_of
from .judged_replay import Report, SecretInputs, judged_replay, warm_samples_of
from .off_the_clock import give_same_outputs
from .options import GradeOptions
from .outcome import Findings, Outcome, evidence_of, outcome_of, unknown_globals
from .placements import notes_of, placed, placements_of
from .provenance import attributed, refusal_of
from .result import Checks, GradedCase, Inputs, Times, Verdict
from .specification import Finding
from .time_tests import TimeTests, longest_tail
from .timing import (
    believed,
    carried_doubt,
    carried_reason,
    first_use_of,
    is_one_use_only,
    is_own_only,
    reported,
    untested,
)
from .tolerance import tolerance_notes, used_tolerances

NO_KERNELS = (
    "the call launched no kernel: check that its code is built for this GPU, and the error that its launch "
    "returned (a line 'CPU driver:' of the output names a feature that the CPU driver does not support)"
)
SAME_OUTPUTS = "; these do not matter, because both captures give the same outputs on the same inputs"
RIGHT_OUTPUTS = (
    "; these do not matter, because the outputs on all secret inputs are right with those of the first call"
)
NO_FACTS = Finding("failed", "the captures cannot be used: the reader found nothing in them")


@dataclass(frozen=True)
class CaseWork:
    """The inputs of a case's grade. `seconds` are left before the time-out, for this case and `cases_after`. Waits for
    `turns` do not count. `relay` has the processes that replay. At most `processes` of them take samples, and
    `following` those of the next case; 0: no case follows. `is_timed`: whether the case's time is of interest; else its
    outputs are judged, and no test of the time is made."""

    spec: CaseSpec
    found: Quarantined
    secret: SecretInputs
    tolerances: dict[str, Tolerance]
    seconds: float
    turns: Turns
    relay: Relay | None = None
    cases_after: int = 0
    api: Api = "cuda"
    processes: int = 1
    following: int = 0
    is_timed: bool = True

    @property
    def sampling_seconds(self) -> float:
        """Half of the case's share: slow samples of one case must not take the time of the next."""
        return min(SAMPLING_SECONDS, self.seconds / (1 + self.cases_after) / 2)


@dataclass(frozen=True)
class Recorded:
    """Facts about the replayed capture. `suspicion` names bytes that differ between the two captures, if any.

    `is_harmless`: the outputs are wrong, and both captures give the same ones. `are_repeated`: see Examined.
    """

    facts: CaptureFacts
    suspicion: str
    is_harmless: bool
    are_repeated: bool


def grade_case(work: CaseWork, judge: JudgeProcess, options: GradeOptions, report: Report) -> TimedCase:
    """Grade a case. Raises UsageError for invalid replay options; anything a capture contains leads to a verdict."""
    began = time.monotonic()
    end = began + work.seconds - work.turns.waited
    case = work.secret.case
    examined = examined_of(work.found.examined[case])
    choice = work.found.replayed[case]
    if not examined.facts:
        return _refused(work, examined.finding or NO_FACTS, began)
    facts = examined.facts[choice]
    kernels = attributed(facts.kernels, options.forbid_library, options.allow_images)
    finding = examined.finding
    if finding is None and (refusal := refusal_of(kernels, options.forbid_library, options.allow_images)):
        finding = Finding("violation", refusal)
    if finding is not None:
        return _refused(work, finding, began, kernels)
    path = work.found.captures[case][choice]
    try:
        result, checked = judged_replay(
            path,
            work.secret,
            judge,
            options,
            end + work.turns.waited - time.monotonic(),
            report,
            warm_samples_of(options.samples, work.secret.sets) if work.is_timed else 0,
            work.sampling_seconds,
            work.turns,
            work.api,
            work.relay,
            processes=work.processes,
            following=work.following,
            in_a_row=work.is_timed,
        )
    except CaptureError as error:
        return _refused(work, Finding("failed", f"the capture cannot be used: {error}"), began)
    is_harmless = bool(examined.suspicion and checked.wrong and result.table) and give_same_outputs(
        work.found.captures[case],
        work.secret,
        options,
        end + work.turns.waited - time.monotonic(),
        work.turns,
    )
    recorded = Recorded(
        msgspec.structs.replace(facts, kernels=kernels),
        examined.suspicion,
        is_harmless,
        examined.are_repeated,
    )
    cordon = None
    if options.cordon_device and result.table:
        report("device cordon", 0, None)
        cordon = check_accesses(
            path, work.secret, options, end + work.turns.waited - time.monotonic(), work.turns
        )
    return _judged(work, result, checked, recorded, cordon, options.require_evidence == "full", began)


def _refused(
    work: CaseWork, finding: Finding, began: float, kernels: tuple[KernelEvidence, ...] = ()
) -> TimedCase:
    case = GradedCase(
        name=work.spec.name,
        params=work.spec.params,
        verdict=finding.verdict,
        reason=finding.text,
        kernels=kernels,
        wall_s=time.monotonic() - began,
    )
    return TimedCase(case)


def _judged(
    work: CaseWork,
    result: ReplayResult,
    checked: Checked,
    recorded: Recorded,
    accesses: CheckedAccesses | None,
    require_evidence: bool,
    began: float,
) -> TimedCase:
    spec, known = work.spec, work.secret.sets
    unrestored = recorded.facts.unrestored or unknown_globals(result)
    first_use = first_use_of(result.table)
    carried, doubt = carried_reason(result.table, first_use), carried_doubt(result.table, first_use)
    unsafe = unrestored or doubt
    tests = TimeTests(result, unsafe)
    table = tests.table
    rows = reported(table, unsafe) if work.is_timed else list(table)
    included_us = tests.included_us if work.is_timed else 0.0
    scored = [
        each + included_us for each in believed(rows, tests.safe([row for row in table if row.one_use]))
    ]
    placements = placements_of(rows, scored, {row.process for row in table})
    summary = placed(summarise(scored), placements) if scored else None
    median = summary.median if summary else None
    device = result.device.name if result.device else ""
    rates = rates_of(median, spec.flops, spec.moved_bytes, device)
    cordon = accesses.cordon if accesses is not None else None
    findings = Findings(
        result,
        checked if result.table else None,
        rates,
        carried,
        unrestored,
        doubt,
        cordon,
        recorded.are_repeated if work.is_timed else None,
        work.is_timed,
    )
    outcome = outcome_of(findings, require_evidence)
    if outcome.verdict == "failed" and recorded.facts.doubt:
        outcome = Outcome("unreplayable", f"{recorded.facts.doubt}: {outcome.reason}")
    if outcome.verdict == "wrong" and not recorded.facts.kernels:
        outcome = Outcome("wrong", f"{NO_KERNELS}; {outcome.reason}")
    if outcome.verdict == "wrong" and recorded.suspicion and not recorded.is_harmless:
        outcome = Outcome(
            "unreplayable",
            f"{recorded.suspicion}. If a kernel reads these bytes, {ON_THE_DEVICE}; if none does, the result is wrong. "
            f"On other inputs {outcome.reason}",
        )
    if result.other_read is not None and result.other_read < len(known.distributions):
        kind = known.distributions[result.other_read]
        outcome = Outcome(outcome.verdict, f"{outcome.reason} ({kind} inputs); {ON_THE_DEVICE}")
    looked_at = checked.samples > 0
    case = GradedCase(
        name=spec.name,
        params=spec.params,
        verdict=outcome.verdict,
        reason=outcome.reason,
        time_us=time_block(summary, tests.anchored) if summary else None,
        converged=result.converged,
        gflops=rates.gflops,
        gbytes_per_s=rates.gbytes_per_s,
        share_of_compute=rates.share_of_compute,
        share_of_memory=rates.share_of_memory,
        max_abs_error=checked.max_absolute_error if looked_at else None,
        max_rel_error=checked.max_relative_error if looked_at else None,
        inputs=Inputs(known.sets, known.one_use, dict(Counter(known.distributions))),
        checks=Checks(
            checked.samples,
            checked.wrong,
            checked.nondeterministic,
            checked.precision,
            {} if checked.own_verdict else used_tolerances(work.tolerances, checked.factors),
        ),
        evidence=evidence_of(findings) if result.table and work.is_timed else (),
        times=Times(
            recorded=_recorded_us(work),
            one_use=first_use.one_use_us if first_use else None,
            repeated=first_use.repeated_us if first_use else None,
            tail=longest_tail(result.table),
            floor=rates.floor_us,
            warm=result.warm_us,
        ),
        overhead=result.overhead,
        clocks=result.clocks,
        kernels=recorded.facts.kernels,
        uploaded_bytes=recorded.facts.uploaded_bytes,
        returned=work.found.returned.get(work.secret.case) if spec.returns is not None else None,
        capture=recorded.facts.name,
        placements=placements,
        cordon=cordon,
        notes=(
            *_notes(result, recorded, table, unsafe, work.is_timed, outcome.verdict == "pass"),
            *_included(included_us),
            *notes_of(placements),
            *tolerance_notes(checked),
        ),
        samples=tuple(result.samples),
        scored_samples=() if scored == result.samples else tuple(scored),
        wall_s=time.monotonic() - began,
    )
    confinement = {**result.confinement, **(accesses.confinement if accesses is not None else {})}
    return TimedCase(case, result.device, result.settings, _seconds(result), confinement)


def _notes(
    result: ReplayResult,
    recorded: Recorded,
    table: Sequence[SampleRow],
    unsafe: str,
    is_timed: bool,
    is_pass: bool,
) -> Iterator[str]:
    yield from result.notes
    if recorded.suspicion:
        why = RIGHT_OUTPUTS if is_pass else SAME_OUTPUTS if recorded.is_harmless else ""
        yield f"{recorded.suspicion}{why}"
    if recorded.facts.unlisted:
        yield f"{recorded.facts.unlisted} more shapes of launches are not listed in kernels"
    if not is_timed:
        return
    rows = reported(table, unsafe)
    if rows and is_one_use_only(table, unsafe):
        why = untested(table) or unsafe or "samples on repeated inputs are faster"
        yield f"timed on {len(rows)} samples on one-use inputs only: {why}"
    if rows and is_own_only(table, unsafe):
        yield (
            f"timed on {len(rows)} samples on the problem's own distribution: those on other distributions were faster"
        )


def _included(included_us: float) -> Iterator[str]:
    if included_us:
        yield (
            f"a call takes {included_us:.4g} us longer on the memory that another call left, and the time includes "
            "that: something outside of the calls may make memory ready, or the machine was busy"
        )


def _seconds(result: ReplayResult) -> dict[str, float]:
    seconds = {}
    if result.prepared is not None:
        seconds["replay: preparing"] = result.prepared.total_ms / 1000
    if result.slots is not None:
        seconds["replay: copying outputs"] = result.slots.copy_s
        seconds["replay: waiting for the judge"] = result.slots.wait_s
    if result.inputs is not None:
        seconds["replay: writing inputs"] = result.inputs.write_s
        seconds["replay: waiting for inputs"] = result.inputs.wait_s
    return seconds


def _recorded_us(work: CaseWork) -> float | None:
    seconds = work.found.seconds.get(f"call {work.secret.case}")
    return None if seconds is None else 1e6 * seconds


__all__ = ["CaseWork", "TimedCase", "Verdict", "grade_case"]
