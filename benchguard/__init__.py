"""Observe, replay and grade GPU programs.

    benchguard.record(["python", "program.py"], "x.ncap")    # capture a region of a program's GPU work
    with benchguard.region("forward", inputs={"x": x}): ...  # mark the region in the program
    benchguard.replay("x.ncap").time_us.median               # time it in a clean process, in microseconds
    benchguard.grade("problem.py", "submission.cu").verdict  # judge and time an untrusted submission
    for graded in benchguard.grade_all("problem.py", paths): ...  # many submissions, on one machine or on a cluster
    benchguard.compare("problem.py", "a.cu", "b.cu").call    # is B faster than A?
    benchguard.analyse_log("run.audit.jsonl").findings       # do a program's timing windows hold its work?
    benchguard.compare_captures("a.ncap", "b.ncap").call     # the same for captures
    benchguard.read_log("run.audit.jsonl")                   # lines of an audit log, checked against its hash chain

`import benchguard as pygpubench` provides pygpubench's names, and `do_bench` is a replacement for Triton's.

A name's module is imported when the name is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from .errors import BenchguardError, UsageError
from .phase import phase
from .region import RegionError, region, region_range
from .version import __version__

if TYPE_CHECKING:
    from .audit.log import LogError, Verified, read_log, verify_log
    from .capture import Capture, CaptureError
    from .compat.cuda import CudaError
    from .compat.deterministic import DeterministicContext
    from .compat.do_bench import do_bench
    from .compat.isolated import BenchmarkError, do_bench_impl, do_bench_isolated
    from .compat.statistics import BenchmarkResult, BenchmarkStats, basic_stats
    from .findings import Finding, FindingsError, FindingsReport, analyse_log
    from .fleet.grading import grade_all, grade_many
    from .fleet.job import Graded, Source
    from .gpu.turns import BusyError
    from .grade.captures_result import CaptureComparison
    from .grade.compare import CompareResult, compare
    from .grade.compare_captures import compare_captures
    from .grade.grade import grade
    from .grade.options import GradeOptions
    from .grade.result import GradeResult
    from .problem.errors import ProblemError
    from .problem.problem import Problem
    from .problem.spec import Tolerance
    from .record.options import RecordOptions
    from .record.record import RecordResult, record
    from .replay.options import ReplayOptions
    from .replay.replay import replay
    from .replay.result import ReplayResult
    from .toolchain.errors import ShimError

_MODULES = {
    "BenchmarkError": "compat.isolated",
    "BenchmarkResult": "compat.statistics",
    "BenchmarkStats": "compat.statistics",
    "BusyError": "gpu.turns",
    "Capture": "capture",
    "CaptureComparison": "grade.captures_result",
    "CaptureError": "capture",
    "CompareResult": "grade.compare",
    "CudaError": "compat.cuda",
    "DeterministicContext": "compat.deterministic",
    "Finding": "findings",
    "FindingsError": "findings",
    "FindingsReport": "findings",
    "GradeOptions": "grade.options",
    "GradeResult": "grade.result",
    "Graded": "fleet.job",
    "LogError": "audit.log",
    "Problem": "problem.problem",
    "ProblemError": "problem.errors",
    "RecordOptions": "record.options",
    "RecordResult": "record.record",
    "ReplayOptions": "replay.options",
    "ReplayResult": "replay.result",
    "ShimError": "toolchain.errors",
    "Source": "fleet.job",
    "Tolerance": "problem.spec",
    "Verified": "audit.log",
    "analyse_log": "findings",
    "basic_stats": "compat.statistics",
    "compare": "grade.compare",
    "compare_captures": "grade.compare_captures",
    "do_bench": "compat.do_bench",
    "do_bench_impl": "compat.isolated",
    "do_bench_isolated": "compat.isolated",
    "grade": "grade",
    "grade_all": "fleet.grading",
    "grade_many": "fleet.grading",
    "read_log": "audit.log",
    "record": "record",
    "replay": "replay",
    "verify_log": "audit.log",
}
"""`grade`, `record` and `replay` are packages that can be called."""

__all__ = [
    "BenchguardError", "BenchmarkError", "BenchmarkResult", "BenchmarkStats", "BusyError", "Capture",
    "CaptureComparison", "CaptureError", "CompareResult", "CudaError", "DeterministicContext", "Finding",
    "FindingsError", "FindingsReport", "GradeOptions", "GradeResult", "Graded", "LogError", "Problem", "ProblemError",
    "RecordOptions", "RecordResult", "RegionError", "ReplayOptions", "ReplayResult", "ShimError", "Source", "Tolerance",
    "UsageError", "Verified", "__version__", "analyse_log", "basic_stats", "compare", "compare_captures", "do_bench",
    "do_bench_impl", "do_bench_isolated", "grade", "grade_all", "grade_many", "phase", "read_log", "record", "region",
    "region_range", "replay", "verify_log",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f".{_MODULES[name]}", __name__)
    return module if _MODULES[name] == name else getattr(module, name)


def __dir__() -> list[str]:
    return __all__
