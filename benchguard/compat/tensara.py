"""Tensara's result of a benchmark: a row per test case, and averages over the cases."""

from __future__ import annotations

from typing import Any

from ..grade.result import GradedCase, GradeResult

_MS_PER_US = 1e-3


def tensara_result(result: GradeResult) -> dict[str, Any]:
    """The fields of Tensara's BENCHMARKED message; those of its check if the submission did not pass.

    Times are medians of samples on cold caches. GFLOP/s are averaged over the cases, as on Tensara's leaderboard, and
    None if the problem does not count its operations.
    """
    if result.verdict != "pass":
        return {
            "status": result.verdict.upper(),
            "total_tests": len(result.cases),
            "passed_tests": sum(case.verdict == "pass" for case in result.cases),
            "test_results": [
                {
                    "test_id": number,
                    "name": case.name,
                    "status": "PASSED" if case.verdict == "pass" else "FAILED",
                    "debug_info": {"message": case.reason} if case.reason else {},
                }
                for number, case in enumerate(result.cases, 1)
            ],
            "details": result.reason,
        }
    rows = [_row(number, case) for number, case in enumerate(result.cases, 1)]
    return {
        "status": "BENCHMARKED",
        "total_tests": len(rows),
        "avg_runtime_ms": _average([row["runtime_ms"] for row in rows]),
        "avg_gflops": _average([row["gflops"] for row in rows]),
        "test_results": rows,
    }


def _row(number: int, case: GradedCase) -> dict[str, Any]:
    time_ms = None if case.time_us is None else case.time_us.median * _MS_PER_US
    return {"test_id": number, "name": case.name, "runtime_ms": time_ms, "gflops": case.gflops}


def _average(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None
