"""The result of a grade: the document neutrino-bench/result/1."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from .. import exit_status
from ..replay.clocks import Clocks
from ..replay.protocol import Device, Overhead
from ..replay.result import Settings, TimeBlock
from .evidence import KernelEvidence

Schema = Literal["neutrino-bench/result/1"]
SCHEMA: Schema = "neutrino-bench/result/1"

Verdict = Literal["pass", "wrong", "violation", "unreplayable", "unconverged", "timeout", "failed", "error"]
Trust = Literal["replayed", "inline"]

STATUS: dict[Verdict, int] = {
    "pass": exit_status.PASS,
    "wrong": exit_status.WRONG,
    "violation": exit_status.VIOLATION,
    "unreplayable": exit_status.UNREPLAYABLE,
    "unconverged": exit_status.UNCONVERGED,
    "timeout": exit_status.TIMEOUT,
    "failed": exit_status.FAILED,
    "error": exit_status.INTERNAL,
}
"""The exit status of a verdict. `failed`: the submission failed to import, compile or run; `error`: we did."""


class Inputs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the samples ran on. `one_use` of the sets served one sample each. Seeds are the OS's and are not kept."""

    sets: int
    one_use: int
    distributions: dict[str, int]


class Checks(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`samples` outputs were compared in full; `nondeterministic` sets had samples that differ in their bits."""

    samples: int
    wrong: int
    nondeterministic: int
    precision: str
    """Empty, or the precision that the errors look like, if it is less than was promised."""


class Times(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the time was held against, in microseconds.

    `recorded` is the submission's own host time of one call, synchronised, by its own word. `one_use` and `repeated`
    are the medians of samples on inputs that were used once, and of the others. `tail` is the longest that the
    device went on after the end event, `floor` what bytes and operations need at the least on this device.
    """

    recorded: float | None
    one_use: float | None
    repeated: float | None
    tail: float | None
    floor: float | None


class GradedCase(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One test case. Rates need a problem that says what there is to do; shares a device with known ceilings."""

    name: str
    params: dict[str, str]
    verdict: Verdict
    reason: str
    time_us: TimeBlock | None = None
    gflops: float | None = None
    gbytes_per_s: float | None = None
    share_of_compute: float | None = None
    share_of_memory: float | None = None
    max_abs_error: float | None = None
    max_rel_error: float | None = None
    inputs: Inputs | None = None
    checks: Checks | None = None
    times: Times | None = None
    overhead: Overhead | None = None
    clocks: Clocks | None = None
    kernels: tuple[KernelEvidence, ...] = ()
    uploaded_bytes: int = 0
    capture: str = ""
    """SHA-256 of the capture that was replayed."""
    notes: tuple[str, ...] = ()
    samples: tuple[float, ...] = ()
    wall_s: float = 0.0


class Sandbox(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`features` by name: "on", or why not. `full`: all are on."""

    full: bool
    features: dict[str, str]


class AuditBlock(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    path: str
    head: str
    records: int
    dropped: int
    complete: bool


class Source(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    path: str
    language: str
    entry: str
    sha256: str


class GradeResult(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`reason` is empty for a pass; the first case that is none says why. `seconds` is what the parts took."""

    schema: Schema
    verdict: Verdict
    reason: str
    trust: Trust
    problem: str
    submission: Source
    cases: tuple[GradedCase, ...]
    kernels: tuple[KernelEvidence, ...]
    """Of all cases, each once."""
    device: Device | None
    clocks: Clocks
    """Of the first case that was timed; each case has its own."""
    sandbox: Sandbox
    audit: AuditBlock | None
    settings: Settings | None
    notes: tuple[str, ...]
    output: str
    """The last of what the submission printed, or a compiler's words: hostile text."""
    seconds: dict[str, float]
    wall_s: float
    version: str

    @property
    def status(self) -> int:
        """The exit status that `neutrino-bench grade` has for it."""
        return STATUS[self.verdict]

    def to_json(self, indent: int = 1) -> str:
        return msgspec.json.format(msgspec.json.encode(self), indent=indent).decode()


def read_result(path: str | Path) -> GradeResult:
    """A result that was written down. Raises msgspec.ValidationError for what is none."""
    return msgspec.json.decode(Path(path).read_bytes(), type=GradeResult)


__all__ = ["SCHEMA", "STATUS", "GradeResult", "GradedCase", "Verdict"]
