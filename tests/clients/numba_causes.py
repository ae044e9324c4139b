"""Why a test of numba-cuda's did not pass on the CPU driver, read from what it printed."""

from __future__ import annotations

import re
from dataclasses import dataclass

CUBIN = "needs machine code or its tools"
ELSEWHERE = "needs what this machine has not got"
DISABLED = "switched off by numba-cuda itself"


FAULTY = {
    f"cudapy/test_caching.py::CUDAAndCPUCachingTest::{name}": "fails on an H200 too"
    for name in ("test_cpu_and_cuda_reuse", "test_cpu_and_cuda_targets")
}
"""Tests that fail whatever the driver, with the versions of numba and numba-cuda that are current."""


@dataclass(frozen=True)
class Cause:
    """`group` is one of the above or a kind of fault of the driver's; `detail` names the call or instruction."""

    group: str
    detail: str


_SKIPS = (
    (CUBIN, r"nvJitLink|nvdisasm|cudadevrt|BIN_DIR|necessary binaries|cuobjdump|LTO|SASS|cubin"),
    (
        ELSEWHERE,
        r"gpus|GPUs|cupy|torch|[Cc]onda|curand|PTDS|could not import|module|toolkit|available|cc |CUDA_MEM",
    ),
)
"""Reasons that numba-cuda gives for a skip; any other is its own choice."""

_FAILURES = (
    ("unsupported PTX", r"line \d+; error *: (?:line \d+: )?(.*)"),
    ("a PTX library function it has not got", r"(\w*(?:undefined|unresolved)[^\n]*)"),
    ("an unsupported call", r"CPU driver: (\w+) is not supported"),
    ("a call it has not got", r"function (cu\w+) is not found"),
    ("an error of the driver's", r"(CUDA_ERROR_\w+)"),
    ("a wrong result", r"^E +(AssertionError[^\n]*)"),
    ("another error", r"^E +([^\n]+)"),
)
_TOOLS = re.compile(
    r"nvdisasm|cuobjdump|libcudadevrt|cudadevrt|nvJitLink|nvjitlink\w* (?:is )?(?:not|missing)|ltoir|NO_BINARY_FOR_GPU"
    r"|requires? nvJitLink|cubin input"
)


def skip_cause(reason: str) -> Cause:
    line = " ".join(reason.split())[:90]
    for group, pattern in _SKIPS:
        if re.search(pattern, reason):
            return Cause(group, line)
    return Cause(DISABLED, line)


def failure_cause(text: str) -> Cause:
    """The first reason that `text`, a traceback and what the test wrote, gives."""
    errors = "\n".join(line for line in text.splitlines() if line.startswith("E ")) or text
    if match := _TOOLS.search(_without_warnings(errors)):
        return Cause(CUBIN, match[0])
    for group, pattern in _FAILURES:
        if match := re.search(pattern, text, re.MULTILINE):
            return Cause(group, " ".join(match[1].split())[:90])
    return Cause("another error", text.strip().splitlines()[-1][:90] if text.strip() else "")


def _without_warnings(text: str) -> str:
    """cuda.core warns at each link that nvjitlink is missing; the link succeeds."""
    return "\n".join(line for line in text.splitlines() if "RuntimeWarning" not in line)
