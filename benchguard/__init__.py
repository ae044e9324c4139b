"""Observe, cordon and time untrusted GPU kernels.

log = benchguard.read_log("run.audit.jsonl")      # every line, checked against the hash chain
benchguard.verify_log("run.audit.jsonl")          # raises LogError at the first line that does not fit
with benchguard.region("forward", inputs={"x": x}): ...  # what `neutrino-bench record` records
"""

from __future__ import annotations

from .audit.log import LogError, Verified, read_log, verify_log
from .region import RegionError, region

__version__ = "0.1.0"
__all__ = ["LogError", "RegionError", "Verified", "__version__", "read_log", "region", "verify_log"]
