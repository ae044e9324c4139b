"""Results of grades, made without a grade."""

from __future__ import annotations

from benchguard.grade.result import SCHEMA, GradedCase, GradeResult, Sandbox, Source, Trust, Verdict
from benchguard.replay.clocks import Clocks
from benchguard.replay.evidence import Evidence
from benchguard.replay.protocol import Device
from benchguard.replay.result import TimeBlock

GPU = Device("Test GPU", 13000, 9, 0, 132, 1 << 20, 1_000_000, 1 << 30, 1 << 30, "0000:01:00.0")


def times(median: float) -> TimeBlock:
    """Equal samples, in microseconds."""
    return TimeBlock(median, None, median, median, median, median, median, 0.0, 20)


def graded_case(
    verdict: Verdict, median: float | None, evidence: tuple[Evidence, ...] = (), name: str = "case"
) -> GradedCase:
    block = times(median) if median is not None else None
    return GradedCase(name, {}, verdict, "", time_us=block, evidence=evidence)


def graded_result(
    verdict: Verdict = "pass",
    medians: tuple[float | None, ...] = (10.0,),
    *,
    reason: str = "",
    device: Device | None = GPU,
    score_s: float | None = None,
    evidence: tuple[Evidence, ...] = (),
    trust: Trust = "replayed",
    output: str = "",
) -> GradeResult:
    """A result with one case for each median, in microseconds."""
    return GradeResult(
        schema=SCHEMA,
        verdict=verdict,
        reason=reason,
        trust=trust,
        problem="problem",
        submission=Source("submission.cu", "cuda", "solution", "0" * 64),
        converged=None,
        cases=tuple(graded_case(verdict, each, evidence, f"case {n}") for n, each in enumerate(medians)),
        kernels=(),
        device=device,
        clocks=Clocks("no case was timed"),
        sandbox=Sandbox(True, {}),
        audit=None,
        settings=None,
        notes=(),
        output=output,
        seconds={},
        wall_s=1.0,
        version="0",
        score_s=score_s,
    )
