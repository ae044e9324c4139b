"""A replacement for pygpubench.do_bench_isolated that grades."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from ..errors import BenchguardError, UsageError
from ..grade.grade import grade
from ..grade.options import GradeOptions
from ..grade.result import GradeResult
from .locate import file_of, generator_spec
from .statistics import NOT_RUN, BenchmarkResult


class BenchmarkError(BenchguardError, RuntimeError):
    """The benchmark has no times. pygpubench raises RuntimeError there.

    Attributes:
        grade: the full result.
    """

    def __init__(self, text: str, grade: GradeResult) -> None:
        super().__init__(text)
        self.grade = grade
        self.status = grade.status


def do_bench_isolated(
    qualname: str,
    test_generator: Callable[..., Any] | str,
    test_args: Mapping[str, Any],
    repeats: int,
    seed: int = 0,
    *,
    discard: bool = True,
    nvtx: bool = False,
    timeout: float = 300,
    landlock: bool = True,
    mseal: bool = True,
    allow_root: bool = False,
    inline: bool = False,
    driver: str = "auto",
) -> BenchmarkResult:
    """Benchmark a function on generated test cases, like pygpubench.do_bench_isolated.

    The function is graded: it is captured in a sandbox, replayed in a process that runs none of its host code, and
    every timed output is checked.

    Args:
        qualname: "module.function" on sys.path. The module is not imported in this process.
        test_generator: called as test_generator(seed=..., **test_args) in another process; returns
            (output, *inputs), (expected, rtol, atol).
        test_args: arguments of the generator, as JSON can hold them.
        repeats: number of timed samples, at least 2.
        seed: ignored: seeds are random, because the function could know this one.
        discard: ignored, as are `nvtx`, `landlock`, `mseal` and `allow_root`: caches are always cold, and all
        protections are always on.
        timeout: seconds for the whole grade.
        inline: time in the submission's process, as pygpubench does. Do not rank such times with others.
        driver: "auto", "sim" (the CPU driver), or the path of a driver library.

    Returns:
        Times in microseconds, and the number of wrong outputs (`errors`).

    Raises:
        BenchmarkError: the function ran too long, failed, or cannot be replayed. It is also a RuntimeError.
        UsageError: an argument is invalid.
    """
    del seed, discard, nvtx, landlock, mseal, allow_root
    if repeats < 2:
        raise UsageError(f"repeats is {repeats}; give at least 2")
    try:
        arguments = json.dumps(dict(test_args))
    except (TypeError, ValueError) as error:
        raise UsageError(f"test_args are not JSON: {error}") from error
    path, name = file_of(qualname)
    options = GradeOptions(
        adapter="pygpubench",
        adapter_options={"arguments": arguments},
        entry=name,
        samples=repeats,
        timeout=timeout,
        inline=inline,
        driver=driver,
    )
    return result_of(grade(generator_spec(test_generator), path, options), repeats)


def result_of(graded: GradeResult, repeats: int) -> BenchmarkResult:
    """Convert a grade of one case to pygpubench's form. Raises BenchmarkError for a grade without times."""
    if graded.verdict not in ("pass", "wrong") or not graded.cases:
        raise BenchmarkError(f"{graded.verdict}: {graded.reason}", graded)
    case = graded.cases[0]
    times = list(case.samples[:repeats])
    errors = 0
    if graded.verdict == "wrong":
        errors = max(1, case.checks.wrong if case.checks is not None else 1)
    return BenchmarkResult(
        None if case.overhead is None else case.overhead.empty_pair_us,
        times + [NOT_RUN] * (repeats - len(times)),
        errors,
        len(times) == repeats,
        graded,
    )
