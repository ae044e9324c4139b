"""pygpubench.do_bench_isolated, graded."""

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
    """There are no times, as where pygpubench raises RuntimeError. `grade` says why in full."""

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
    """Benchmark the function `qualname`, "module.kernel", on `repeats` test cases of `test_generator`.

    The call is pygpubench's; what it does is a grade: the function is recorded in a quarantine, replayed in a process
    that runs none of its host code, and every timed output is checked. `test_generator(seed=..., **test_args)` gives
    (output, *inputs), (expected, rtol, atol); it is called in a process of its own, so `test_args` have to be what JSON
    can hold. Times are in microseconds.

    `seed` seeds nothing: the function could know it, and with it its inputs, so seeds are the operating system's. All
    the protections are always on, and caches are always cold, so `discard`, `landlock`, `mseal` and `allow_root` change
    nothing; nor does `nvtx`. `inline` times within the submission's process, as pygpubench does; such times are not to
    be ranked with others. `driver` is auto, sim or a path.

    Raises BenchmarkError, a RuntimeError, for what runs too long, fails or cannot be replayed; a wrong result is no
    error, but `errors` of what is returned. Raises UsageError for what cannot be asked.
    """
    del seed, discard, nvtx, landlock, mseal, allow_root
    if repeats < 2:
        raise UsageError(f"repeats is {repeats}; give 2 at least")
    try:
        arguments = json.dumps(dict(test_args))
    except (TypeError, ValueError) as error:
        raise UsageError(f"test_args cannot be handed to another process: {error}") from error
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


def result_of(found: GradeResult, repeats: int) -> BenchmarkResult:
    """A grade of one case in pygpubench's form. Raises BenchmarkError for one without times."""
    if found.verdict not in ("pass", "wrong") or not found.cases:
        raise BenchmarkError(f"{found.verdict}: {found.reason}", found)
    case = found.cases[0]
    times = list(case.samples[:repeats])
    errors = 0
    if found.verdict == "wrong":
        errors = max(1, case.checks.wrong if case.checks is not None else 1)
    return BenchmarkResult(
        None if case.overhead is None else case.overhead.empty_pair_us,
        times + [NOT_RUN] * (repeats - len(times)),
        errors,
        len(times) == repeats,
        found,
    )
