"""The result of a grade that has ended: verdict, reason, notes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from ..ipc.text import joined
from ..judge.contract import Opened
from ..quarantine.contract import Quarantined, is_full
from ..quarantine.submission import Submission
from ..replay.clocks import Clocks
from ..replay.protocol import Device
from ..replay.result import Settings
from ..version import __version__
from .archive import captures_by_case
from .evidence import KernelEvidence
from .result import SCHEMA, AuditBlock, GradedCase, GradeResult, Sandbox, Source, Trust, Verdict
from .score import score_of
from .specification import OR_INLINE, Finding

LEFT_OUT_SHOWN = 8

OTHER_ORDER = (
    "the CPU driver runs the threads of a block in another order than a GPU: outputs of a kernel that lacks a barrier, "
    "such as __syncthreads(), can be right there and wrong here"
)


@dataclass(frozen=True)
class TimedCase:
    """A graded case. `seconds` has the time that each part took, and `confinement` the protections of the replay."""

    case: GradedCase
    device: Device | None = None
    settings: Settings | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    confinement: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Conclusion:
    """A submission's run and its timed cases. `finding` is the reason why there are no cases."""

    opened: Opened
    submission: Submission
    quarantined: Quarantined
    timed: Sequence[TimedCase]
    finding: Finding | None

    def captures_by_case(self) -> dict[str, tuple[Path, Path]]:
        return captures_by_case([each.name for each in self.opened.cases], self.quarantined.captures)


def may_lack_barrier(kernels: Sequence[KernelEvidence]) -> bool:
    """Whether a kernel has blocks of several threads. No known kernels: it may have."""
    return not kernels or any(math.prod(each.block) > 1 for each in kernels)


def concluded(
    done: Conclusion,
    *,
    trust: Trust,
    notes: Sequence[str],
    seconds: dict[str, float],
    wall_s: float,
    audit: AuditBlock | None,
) -> GradeResult:
    """The result. `notes` come before those of this module."""
    opened, submission, quarantined = done.opened, done.submission, done.quarantined
    cases = tuple(replace(each.case, reason=joined(advised(each.case.reason, opened))) for each in done.timed)
    failed = next((case for case in cases if case.verdict != "pass"), None)
    verdict: Verdict = "pass"
    reason = ""
    if done.finding is not None:
        verdict, reason = done.finding.verdict, done.finding.text
    elif failed is not None:
        verdict, reason = failed.verdict, f"case {failed.name}: {failed.reason}"
    confinement = confinement_of(quarantined.confinement, [each.confinement for each in done.timed])
    clocks = next((case.clocks for case in cases if case.clocks is not None), None)
    device = next((each.device for each in done.timed if each.device is not None), None)
    kernels = tuple(dict.fromkeys(kernel for case in cases for kernel in case.kernels))
    if verdict == "wrong" and device is not None and not device.pci_bus and may_lack_barrier(kernels):
        notes = (*notes, OTHER_ORDER)
    return GradeResult(
        schema=SCHEMA,
        verdict=verdict,
        reason=joined(advised(reason, opened)),
        trust=trust,
        problem=opened.name,
        submission=Source(
            str(submission.path), submission.language, submission.entry, quarantined.submission_sha256
        ),
        converged=all(known) if (known := [c.converged for c in cases if c.converged is not None]) else None,
        cases=cases,
        kernels=kernels,
        device=device,
        clocks=clocks or Clocks("no case was timed"),
        sandbox=Sandbox(is_full(confinement), confinement),
        audit=audit,
        settings=max(
            (each.settings for each in done.timed if each.settings is not None),
            key=lambda each: each.processes,
            default=None,
        ),
        score_s=score_of(cases, opened.ranking) if verdict == "pass" else None,
        notes=(*notes, *notes_of(opened, cases, confinement)),
        output=output_of(quarantined),
        seconds=seconds,
        wall_s=wall_s,
        version=__version__,
    )


def advised(reason: str, opened: Opened) -> str:
    """The reason, without the advice to grade with --inline where the problem has a check of its own (inline.py)."""
    return reason.replace(OR_INLINE, "") if opened.own_checks else reason


def confinement_of(quarantined: Mapping[str, str], replays: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """For each protection: "on" if it was on for the submission and for all replays, or the reason why it was off."""
    features = dict(quarantined)
    for replay in replays:
        for name, why in replay.items():
            if features.get(name, "on") == "on" and why != "on":
                features[name] = f"in a replay: {why}"
    return features


def notes_of(opened: Opened, cases: Sequence[GradedCase], confinement: Mapping[str, str]) -> tuple[str, ...]:
    """Facts that a reader of the verdict should know."""
    notes = []
    missing = [f"{name} ({why})" for name, why in confinement.items() if why != "on"]
    if missing:
        notes.append(f"the sandbox is partial, without: {'; '.join(missing)}")
    if opened.left_out:
        count = len(opened.left_out) - LEFT_OUT_SHOWN
        more = f"; and {count} more" if count > 0 else ""
        notes.append(
            f"on the CPU driver only the smallest case is graded, {opened.cases[0].name}; give --case for others: "
            f"{'; '.join(opened.left_out[:LEFT_OUT_SHOWN])}{more}"
        )
    if cases and len(cases) < len(opened.cases):
        notes.append(
            f"{len(opened.cases) - len(cases)} of {len(opened.cases)} cases were not graded after the first failure"
        )
    for spec in opened.cases:
        notes += [f"case {spec.name}: {note}" for note in spec.notes]
    for case in cases:
        notes += [f"case {case.name}: {note}" for note in case.notes]
        if case.checks is not None and case.checks.precision:
            notes.append(f"case {case.name}: {case.checks.precision}")
        if case.checks is not None and case.checks.nondeterministic:
            within = "" if case.checks.wrong else ", within the tolerances"
            notes.append(
                f"case {case.name}: outputs for equal inputs differ from sample to sample{within} (atomics, races)"
            )
    return tuple(notes)


def output_of(quarantined: Quarantined) -> str:
    """The submission's prints, then the compiler's or Python's text about its failure."""
    detail = quarantined.broke.detail if quarantined.broke is not None else ""
    return "\n".join(filter(None, (quarantined.output.rstrip("\n"), detail)))
