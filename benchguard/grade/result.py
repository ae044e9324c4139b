"""The result of a grade: the document neutrino-bench/result/1."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from .. import exit_status
from ..archive.manifest import RESULT_MAX
from ..ipc.bounded_file import read_bounded
from ..ipc.json_text import json_document, unique
from ..problem.spec import Returned
from ..replay.clocks import Clocks
from ..replay.evidence import Evidence
from ..replay.protocol import Device, Overhead
from ..replay.result import Settings, TimeBlock
from .cordon_result import Cordon
from .evidence import KernelEvidence

Schema = Literal["neutrino-bench/result/1"]
SCHEMA: Schema = "neutrino-bench/result/1"

Verdict = Literal[
    "pass", "wrong", "violation", "unreplayable", "unconverged", "unproven", "timeout", "failed", "error"
]
Trust = Literal["replayed", "inline"]

STATUS: dict[Verdict, int] = {
    "pass": exit_status.PASS,
    "wrong": exit_status.WRONG,
    "violation": exit_status.VIOLATION,
    "unreplayable": exit_status.UNREPLAYABLE,
    "unconverged": exit_status.UNCONVERGED,
    "unproven": exit_status.UNPROVEN,
    "timeout": exit_status.TIMEOUT,
    "failed": exit_status.FAILED,
    "error": exit_status.INTERNAL,
}
"""The exit status of a verdict. `failed`: the submission failed to import, compile or run; `error`: we did."""


class Inputs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The input sets of a case. `one_use` of them served one sample each. Their random seeds are not stored."""

    sets: int
    one_use: int
    distributions: dict[str, int]


class Checks(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The checks of a case: outputs compared in full, wrong outputs, and input sets whose outputs differed bitwise."""

    samples: int
    wrong: int
    nondeterministic: int
    precision: str
    """The precision that the errors suggest, if it is lower than the problem requires; else empty."""
    tolerances: dict[str, UsedTolerance] = {}
    """By output; empty for outputs that the problem's own check decides about."""


class UsedTolerance(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The tolerance of an output: the problem's, times `factor`.

    `source` is "problem", or "reference" if the factor is twice the error of the problem's own reference in the
    submission's precision, or "zeros" if zeros, or one stored answer for all
    inputs, would pass under the tolerance (judge/slack.py, judge/stored_answers.py). The factor is the largest of all
    input sets; each set has its own.
    """

    atol: float
    rtol: float
    factor: float
    source: Literal["problem", "reference", "zeros"]


class Times(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Times to compare the result with, in microseconds.

    Attributes:
        recorded: host time of one synchronised call, measured in the submission's process, which could forge it.
        one_use: median of the samples on one-use input sets.
        repeated: median of the other samples.
        tail: median time that the device was busy after the end event.
        floor: least time for the problem's bytes and operations on this device.
        warm: median of samples that find their memory in the cache. It is not the score.
    """

    recorded: float | None
    one_use: float | None
    repeated: float | None
    tail: float | None
    floor: float | None
    warm: float | None = None


class Placements(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The times of a case in several processes.

    Attributes:
        medians_us: median of each process, in microseconds. The median in `time_us` of the case is their geometric
            mean, with its 95 % interval by Student's t of the logarithms.
        spread: how much longer the largest median is than the smallest, as a share.
    """

    medians_us: tuple[float, ...]
    spread: float


class GradedCase(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One test case.

    Rates are set if the problem declares its operations and bytes, shares if the device's ceilings are known. `time_us`
    and `samples` are in microseconds, `wall_s` in seconds.
    """

    name: str
    params: dict[str, str]
    verdict: Verdict
    reason: str
    time_us: TimeBlock | None = None
    converged: bool | None = None
    """Whether the stop rule was met, so that the interval is as narrow as was asked."""
    gflops: float | None = None
    gbytes_per_s: float | None = None
    share_of_compute: float | None = None
    share_of_memory: float | None = None
    max_abs_error: float | None = None
    max_rel_error: float | None = None
    inputs: Inputs | None = None
    checks: Checks | None = None
    evidence: tuple[Evidence, ...] = ()
    """The checks of the time. Without those that the problem gives no numbers for."""
    times: Times | None = None
    overhead: Overhead | None = None
    clocks: Clocks | None = None
    kernels: tuple[KernelEvidence, ...] = ()
    uploaded_bytes: int = 0
    returned: Returned | None = None
    """The calls' return values, if submissions of the suite choose memory and form of their results."""
    capture: str = ""
    """SHA-256 of the capture that was replayed."""
    placements: Placements | None = None
    """The times in the processes that took the samples; null for one."""
    cordon: Cordon | None = None
    """The accesses that the kernels made, with `cordon_device`."""
    notes: tuple[str, ...] = ()
    samples: tuple[float, ...] = ()
    sample_launches: tuple[int, ...] = ()
    """With --inline: the kernels that each of `samples` launched, by the audit log."""
    scored_samples: tuple[float, ...] = ()
    """The samples that `time_us` is made of, for statistics such as a mean: none is far below the fastest one-use
    sample. Empty: as `samples`."""
    wall_s: float = 0.0

    @property
    def scored(self) -> tuple[float, ...]:
        """The samples that a score may be made of. The others may have the times of cached results."""
        return self.scored_samples or self.samples


class Sandbox(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The sandbox. `features` maps a protection to "on" or to the reason why it is off; `full` means that all are
    on."""

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
    """The result of a grade. `reason` is empty for a pass, else that of the first case that did not pass.

    `seconds` has the time that each part of the grade took. `submission: driver` and `submission: compile` overlap for
    CUDA C++: the driver's context is made while nvcc runs. Neither contains waits for the other, or for the judge.
    """

    schema: Schema
    verdict: Verdict
    reason: str
    trust: Trust
    problem: str
    submission: Source
    converged: bool | None
    """Whether the times of all cases converged. None: no case was timed by a stop rule."""
    cases: tuple[GradedCase, ...]
    kernels: tuple[KernelEvidence, ...]
    """The kernels of all cases, without repeats."""
    device: Device | None
    clocks: Clocks
    """The clocks during the first timed case."""
    sandbox: Sandbox
    audit: AuditBlock | None
    settings: Settings | None
    notes: tuple[str, ...]
    output: str
    """The end of what the submission printed, then the compiler's or Python's text. The submission can forge it."""
    seconds: dict[str, float]
    wall_s: float
    version: str
    score_s: float | None = None
    """The score in seconds by the rule of the suite's leaderboard, for a pass in a suite that has one."""

    @property
    def status(self) -> int:
        """The exit status of `neutrino-bench grade` for this verdict."""
        return STATUS[self.verdict]

    def to_json(self, indent: int = 1) -> str:
        return json_document(self, indent)


def read_result(path: str | Path) -> GradeResult:
    """Read a result that `to_json` wrote.

    Raises OSError, and for other documents what UNREADABLE of ipc/json_text.py lists.
    """
    return msgspec.json.decode(unique(read_bounded(path, RESULT_MAX)), type=GradeResult)


__all__ = ["RESULT_MAX", "SCHEMA", "STATUS", "Evidence", "GradeResult", "GradedCase", "Verdict"]
