"""GPU MODE's output: lines of `key: value` on the descriptor POPCORN_FD, and an exit status.

Cases named test.N are tests, all others are benchmarks, numbered in their order. Times are in nanoseconds. kernelbot
computes a submission's score from the means; `score` is that number, in seconds.
"""

from __future__ import annotations

import fcntl
import math
import os
import statistics
from collections.abc import Iterator, Mapping

from ..grade.result import GradedCase, GradeResult
from ..ipc.text import one_line

TEXT_MAX = 1 << 16
PASSED = 0
FAILED_TO_RUN = 110
NO_PIPE = 111
WRONG = 112
TIMED_OUT = 114

_STATUS = {"pass": PASSED, "failed": FAILED_TO_RUN, "error": FAILED_TO_RUN, "timeout": TIMED_OUT}
_NS_PER_US = 1e3


def popcorn_status(result: GradeResult) -> int:
    """GPU MODE's exit status for a result."""
    return _STATUS.get(result.verdict, WRONG)


def popcorn_lines(result: GradeResult) -> Iterator[str]:
    """The lines for a result, without newlines."""
    tests = [case for case in result.cases if _is_test(case)]
    benchmarks = [case for case in result.cases if not _is_test(case)]
    if tests:
        yield f"test-count: {len(tests)}"
        for number, case in enumerate(tests):
            yield from _test(f"test.{number}", case)
    if benchmarks or not tests:
        yield f"benchmark-count: {len(benchmarks)}"
        for number, case in enumerate(benchmarks):
            yield from _benchmark(f"benchmark.{number}", case)
    if result.score_s is not None:
        yield f"score: {result.score_s}"
    if not result.cases:
        yield f"error: {one_line(result.reason, TEXT_MAX)}"
    yield f"check: {'pass' if result.verdict == 'pass' else 'fail'}"


def has_popcorn_pipe(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether POPCORN_FD is a descriptor that can be written."""
    try:
        flags = fcntl.fcntl(int(environment["POPCORN_FD"]), fcntl.F_GETFL)
    except (KeyError, ValueError, OverflowError, OSError):
        return False
    return flags & os.O_ACCMODE != os.O_RDONLY


def write_popcorn(result: GradeResult, environment: Mapping[str, str] = os.environ) -> int:
    """Write a result to POPCORN_FD and return GPU MODE's exit status: NO_PIPE if the descriptor cannot be written."""
    if not has_popcorn_pipe(environment):
        return NO_PIPE
    try:
        with open(int(environment["POPCORN_FD"]), "w", encoding="utf-8", closefd=False) as stream:
            stream.writelines(line + "\n" for line in popcorn_lines(result))
    except OSError:
        return NO_PIPE
    return popcorn_status(result)


def _test(key: str, case: GradedCase) -> Iterator[str]:
    yield f"{key}.spec: {_spec(case)}"
    yield f"{key}.status: {'pass' if case.verdict == 'pass' else 'fail'}"
    if case.verdict != "pass":
        yield f"{key}.error: {one_line(case.reason, TEXT_MAX)}"
    elif case.notes:
        yield f"{key}.message: {one_line('; '.join(case.notes), TEXT_MAX)}"


def _benchmark(key: str, case: GradedCase) -> Iterator[str]:
    yield f"{key}.spec: {_spec(case)}"
    if case.verdict != "pass":
        yield f"{key}.status: fail"
        yield f"{key}.error: {one_line(case.reason, TEXT_MAX)}"
        return
    times = [each * _NS_PER_US for each in case.scored]
    std = statistics.stdev(times) if len(times) > 1 else 0.0
    yield f"{key}.runs: {len(times)}"
    yield f"{key}.mean: {statistics.fmean(times)}"
    yield f"{key}.std: {std}"
    yield f"{key}.err: {std / math.sqrt(len(times))}"
    yield f"{key}.best: {min(times)}"
    yield f"{key}.worst: {max(times)}"


def _is_test(case: GradedCase) -> bool:
    return case.name.startswith("test.")


def _spec(case: GradedCase) -> str:
    return one_line(
        "; ".join(f"{name}: {value}" for name, value in case.params.items()) or case.name, TEXT_MAX
    )
