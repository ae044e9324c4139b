"""A replacement for pygpubench.do_bench_isolated that grades."""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Callable, Mapping
from typing import Any, Protocol, runtime_checkable

from ..errors import BenchguardError, UsageError
from ..grade.grade import grade
from ..grade.options import GradeOptions
from ..grade.result import GradedCase, GradeResult
from .locate import file_of, generator_spec
from .statistics import NOT_RUN, BenchmarkResult


@runtime_checkable
class HasDescriptor(Protocol):
    """A connection or an open file."""

    def fileno(self) -> int: ...


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
        test_generator: called as `test_generator(seed=..., **test_args)` in another process; returns
            `(output, *inputs), (expected, rtol, atol)`.
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
    times = _times_of(case, repeats)
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


def _times_of(case: GradedCase, repeats: int) -> list[float]:
    """The samples that the case's time is made of, and their median in place of each other one.

    The others may have the times of cached results, and callers compute statistics of the list.
    """
    counted = case.scored[:repeats]
    others = len(case.samples[:repeats]) - len(counted)
    return [*counted, *([statistics.median(counted)] * others if counted else [])]


def do_bench_impl(
    out_file: str | os.PathLike[str] | int | HasDescriptor,
    qualname: str,
    test_generator: Callable[..., Any] | str,
    test_args: Mapping[str, Any],
    repeats: int,
    seed: int = 0,
    *,
    stream: int | None = None,
    **options: Any,
) -> None:
    """Benchmark like pygpubench.do_bench_impl, and write its lines to a file or a pipe.

    The function is timed in its own process, as with do_bench_isolated(inline=True), and never in this one.

    Args:
        out_file: path, descriptor, or object with fileno(), for the lines `N<tab>MICROSECONDS`,
            `event-overhead<tab>MICROSECONDS us` and `error-count<tab>N`. A descriptor stays open. Without wrong
            outputs there is no line `error-count`, as in pygpubench.
        qualname: as in do_bench_isolated, like `test_generator`, `test_args`, `repeats` and `seed`.
        stream: has to be None: the function's process has streams of its own.
        options: further arguments of do_bench_isolated.

    Returns:
        None: the result is in the file.

    Raises:
        The exceptions of do_bench_isolated.
    """
    if not isinstance(qualname, str):
        raise UsageError(f"the kernel is a {type(qualname).__name__}; give its name, as 'module.function'")
    if stream is not None:
        raise UsageError(
            "a stream of this process cannot be used in the function's own process; leave it out"
        )
    found = do_bench_isolated(
        qualname, test_generator, test_args, repeats, seed, **{"inline": True, **options}
    )
    lines = [f"{number}\t{time}" for number, time in enumerate(found.time_us) if time != NOT_RUN]
    if found.event_overhead_us is not None:
        lines.insert(0, f"event-overhead\t{found.event_overhead_us} us")
    if found.errors:
        lines.append(f"error-count\t{found.errors}")
    place = out_file.fileno() if isinstance(out_file, HasDescriptor) else out_file
    try:
        with open(place, "w", encoding="utf-8", closefd=not isinstance(place, int)) as file:
            file.write("\n".join(lines) + "\n")
    except OSError as error:
        raise BenchguardError(f"cannot write {out_file}: {error.strerror}; name another file") from error
