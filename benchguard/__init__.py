"""Observe, cordon and time untrusted GPU kernels.

log = benchguard.read_log("run.audit.jsonl")      # every line, checked against the hash chain
benchguard.verify_log("run.audit.jsonl")          # raises LogError at the first line that does not fit
with benchguard.region("forward", inputs={"x": x}): ...  # what `neutrino-bench record` records
benchguard.Capture.open("x.ncap")                 # what a region did on the device, checked
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .audit.log import LogError, Verified, read_log, verify_log
from .region import RegionError, region

if TYPE_CHECKING:
    from .capture import Capture, CaptureError

__version__ = "0.1.0"
__all__ = [
    "Capture",
    "CaptureError",
    "LogError",
    "RegionError",
    "Verified",
    "__version__",
    "read_log",
    "region",
    "verify_log",
]


def __getattr__(name: str) -> Any:
    """What needs zstandard is imported when it is first used: the region of a program needs it not."""
    if name not in {"Capture", "CaptureError"}:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import capture  # noqa: PLC0415

    return getattr(capture, name)
