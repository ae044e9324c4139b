"""Observe, cordon and time untrusted GPU kernels.

log = benchguard.read_log("run.audit.jsonl")      # every line, checked against the hash chain
benchguard.verify_log("run.audit.jsonl")          # raises LogError at the first line that does not fit
with benchguard.region("forward", inputs={"x": x}): ...  # what `neutrino-bench record` records
with benchguard.Capture.open("x.ncap") as capture: ...   # what was recorded
benchguard.replay("x.ncap").time_us.median        # how long it takes, in a clean process
benchguard.do_bench_isolated("submission.kernel", generator, {"size": 1024}, 100, 5)   # pygpubench's call, graded
benchguard.do_bench(lambda: kernel(x))            # Triton's call, for one's own code

Importing this is cheap: what it names is loaded when it is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from .region import RegionError, region, region_range

if TYPE_CHECKING:
    from .audit.log import LogError, Verified, read_log, verify_log
    from .capture import Capture, CaptureError
    from .compat.deterministic import DeterministicContext
    from .compat.do_bench import do_bench
    from .compat.isolated import BenchmarkError, do_bench_isolated
    from .compat.statistics import BenchmarkResult, BenchmarkStats, basic_stats
    from .problem.problem import Problem
    from .replay.replay import replay
    from .replay.result import ReplayResult

__version__ = "0.1.0"
__all__ = [
    "BenchmarkError",
    "BenchmarkResult",
    "BenchmarkStats",
    "Capture",
    "CaptureError",
    "DeterministicContext",
    "LogError",
    "Problem",
    "RegionError",
    "ReplayResult",
    "Verified",
    "__version__",
    "basic_stats",
    "do_bench",
    "do_bench_isolated",
    "read_log",
    "region",
    "region_range",
    "replay",
    "verify_log",
]

_HOMES = {
    "BenchmarkError": "compat.isolated",
    "BenchmarkResult": "compat.statistics",
    "BenchmarkStats": "compat.statistics",
    "Capture": "capture",
    "CaptureError": "capture",
    "DeterministicContext": "compat.deterministic",
    "LogError": "audit.log",
    "Problem": "problem.problem",
    "ReplayResult": "replay.result",
    "Verified": "audit.log",
    "basic_stats": "compat.statistics",
    "do_bench": "compat.do_bench",
    "do_bench_isolated": "compat.isolated",
    "read_log": "audit.log",
    "verify_log": "audit.log",
}


def __getattr__(name: str) -> object:
    if name == "replay":  # the package, which can be called
        return import_module(".replay", __name__)
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
