"""Grade results of a few cases."""

from __future__ import annotations

from typing import Any

from benchguard.grade.result import SCHEMA, Checks, GradedCase, GradeResult, Sandbox, Source, Verdict
from benchguard.replay.clocks import Clocks
from benchguard.replay.protocol import Overhead


def made_case(name: str, verdict: Verdict = "pass", reason: str = "", **fields: Any) -> GradedCase:
    params = fields.pop("params", {"size": "128", "seed": "1001"})
    return GradedCase(name, params, verdict, reason, **fields)


def timed_case(name: str, *samples: float, wrong: int = 0, **fields: Any) -> GradedCase:
    return made_case(
        name,
        "wrong" if wrong else "pass",
        "they differ" if wrong else "",
        samples=samples,
        checks=Checks(len(samples), wrong, 0, ""),
        overhead=Overhead(0.032, 1.25, 2.0),
        **fields,
    )


def made_result(*cases: GradedCase, verdict: Verdict | None = None, reason: str = "") -> GradeResult:
    failed = next((case for case in cases if case.verdict != "pass"), None)
    if verdict is None:
        verdict = failed.verdict if failed is not None else "pass"
        reason = f"case {failed.name}: {failed.reason}" if failed is not None else ""
    return GradeResult(
        schema=SCHEMA,
        verdict=verdict,
        reason=reason,
        trust="replayed",
        problem="p",
        submission=Source("s.py", "python", "kernel", "0" * 64),
        converged=None,
        cases=cases,
        kernels=(),
        device=None,
        clocks=Clocks("none"),
        sandbox=Sandbox(True, {}),
        audit=None,
        settings=None,
        notes=(),
        output="",
        seconds={},
        wall_s=1.0,
        version="0",
    )
