"""Results of grades as lines of flashinfer-bench's Trace JSONL.

The schema is that of flashinfer_bench/data/trace.py at commit 40e6ca7. It has no status for a violation, nor for a
time that was not proved: such cases are left out.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Iterator
from typing import Any

from ..grade.result import GradedCase, GradeResult, Verdict

STATUS: dict[Verdict, str] = {
    "pass": "PASSED",
    "wrong": "INCORRECT_NUMERICAL",
    "timeout": "TIMEOUT",
    "failed": "RUNTIME_ERROR",
}
COMPILE = "the submission failed in compile"
_NAMES = uuid.uuid5(uuid.NAMESPACE_URL, "neutrino-bench/result/1")


def traces_of(result: GradeResult, solution: str, timestamp: str) -> Iterator[dict[str, Any]]:
    """A Trace for each case whose verdict the schema has.

    Args:
        result: the result of a grade.
        solution: name of the submission.
        timestamp: time of the grade, in ISO 8601.

    Returns:
        Traces as data for JSON. Their definition is the problem's name.
    """
    for case in result.cases:
        if case.verdict in STATUS and (case.verdict != "pass" or case.time_us is not None):
            yield {
                "definition": result.problem,
                "workload": _workload(result.problem, case),
                "solution": solution,
                "evaluation": _evaluation(result, case, timestamp),
            }


def workload_id(problem: str, case: GradedCase) -> str:
    """An id of the test case, which is the same in every export."""
    return str(uuid.uuid5(_NAMES, f"{problem}\n{case.name}"))


def axes_of(case: GradedCase) -> dict[str, int]:
    """The parameters of the test case that are integers."""
    return {name: int(value) for name, value in case.params.items() if _is_size(value)}


def _is_size(value: str) -> bool:
    return value.isascii() and value.isdecimal() and len(value) < 20


def _workload(problem: str, case: GradedCase) -> dict[str, Any]:
    return {"axes": axes_of(case), "inputs": {}, "uuid": workload_id(problem, case)}


def _evaluation(result: GradeResult, case: GradedCase, timestamp: str) -> dict[str, Any]:
    device = result.device
    libs = {"neutrino-bench": result.version, **({"cuda": str(device.driver_version)} if device else {})}
    status = STATUS[case.verdict]
    if case.verdict == "failed" and case.reason.startswith(COMPILE):
        status = "COMPILE_ERROR"
    found: dict[str, Any] = {
        "status": status,
        "environment": {"hardware": device.name if device and device.name else "unknown", "libs": libs},
        "timestamp": timestamp,
        "log": case.reason,
    }
    if case.verdict in ("pass", "wrong"):
        found["correctness"] = {
            "max_relative_error": _number(case.max_rel_error),
            "max_absolute_error": _number(case.max_abs_error),
        }
    if case.verdict == "pass" and case.time_us is not None:
        found["performance"] = {"latency_ms": case.time_us.median / 1000}
    return found


def _number(value: float | None) -> float | str:
    """A form of an error that their reader accepts: it is NaN where it is not known, or not finite."""
    return "NaN" if value is None or not math.isfinite(value) else value
