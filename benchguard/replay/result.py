"""The result of a replay: an object for programs, and the document neutrino-bench/replay/1."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from .. import exit_status
from ..ipc.json_text import json_document
from .caches import icache_text
from .clocks import Clocks
from .evidence import Evidence
from .protocol import (
    Device,
    InARow,
    InputTimes,
    OutputCheck,
    Overhead,
    Prepared,
    Sample,
    SlotTimes,
    TimedSample,
)
from .statistics import Summary, quantile
from .subject import KernelUse

Schema = Literal["neutrino-bench/replay/1"]
SCHEMA: Schema = "neutrino-bench/replay/1"

HOST_WAIT_MIN = 0.02
"""Share of waiting from which a host counts as busy. It is a choice: the hosts of GPUs have not been measured."""

Verdict = Literal[
    "pass", "wrong", "violation", "unreplayable", "unconverged", "unproven", "timeout", "failed", "error"
]
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
"""The exit status of a verdict. `failed`: a kernel or a call of the capture failed on the device. `violation` and
`unproven`: a check of a strict replay failed, or could not tell."""


@dataclass(frozen=True)
class SampleRow:
    """One sample. `ended_ns` is the monotonic clock's; `throttled` says why the clocks were held back.

    `one_use`: its input set was used for it alone. `tail_us`: from the end event, as the host saw it, until the context
    was idle; `guard_us`: for mapping what kernels may not reach, outside the other times; `span_us`: between two times
    of the device that no kernel of the region can write, 0 if unknown. `own`: in a grade, its inputs have the problem's
    own distribution. `process` is the number of the replay's process that took it.
    """

    ended_ns: int
    device_us: float
    host_us: float
    restore_us: float
    clock_mhz: float
    input_set: int | None
    unprimed: bool
    throttled: tuple[str, ...]
    one_use: bool = False
    tail_us: float = 0.0
    guard_us: float = 0.0
    span_us: float = 0.0
    own: bool = True
    process: int = 0


@dataclass(frozen=True)
class Different:
    """Memory that differs after a replay from the captured memory. `memory` is its call, or its global.

    `again`: two replays differ from each other here, so the region itself does not do the same twice.
    """

    memory: str
    address: int
    bytes: int
    differing: int
    first_offset: int
    again: bool
    expected: str
    actual: str


@dataclass(frozen=True)
class Settings:
    """How it was replayed."""

    cold: str
    icache: str
    prime: bool
    until: str
    device: int
    driver: str
    seed: int
    input_sets: int
    ignored_refusals: bool
    one_use_sets: int = 0
    strict: bool = False
    api: str = "cuda"
    flush_cache: bool = False
    rotating_count: int | None = None
    warm_up_samples: int | None = None
    processes: int = 1
    """Processes in which samples were taken, at most."""


@dataclass(frozen=True)
class ReplayResult:
    """`reason` is empty for a pass. Fields of phases that were not reached have the value None, or are empty."""

    verdict: Verdict
    reason: str
    capture: str
    path: str
    region: str
    settings: Settings
    kernels: tuple[KernelUse, ...]
    wall_s: float
    time_us: Summary | None = None
    converged: bool | None = None
    """Whether the stop rule was met."""
    half_width: float | None = None
    half_width_wanted: float | None = None
    table: tuple[SampleRow, ...] = ()
    empty: tuple[TimedSample, ...] = ()
    """With `strict`, samples of an empty kernel that were taken between the others."""
    warm_up_samples: int = 0
    overhead: Overhead | None = None
    device: Device | None = None
    prepared: Prepared | None = None
    unrestored: str = ""
    """In a strict replay without a judge: why kernels may keep data from sample to sample."""
    clocks: Clocks = field(default_factory=lambda: Clocks("the replay ended before it read clocks"))
    verified: bool | None = None
    differences: tuple[Different, ...] = ()
    difference_count: int = 0
    in_a_row: tuple[InARow, ...] = ()
    """Samples of each process on the memory that the run before left, whose outputs the judge got last."""
    host_wait: float = 0.0
    """Share of the time of sampling in which the replay's thread waited for a processor."""
    refusals: tuple[str, ...] = ()
    other_read: int | None = None
    """The input set on which the host read other bytes than when recorded, or None."""
    notes: tuple[str, ...] = ()
    slots: SlotTimes | None = None
    inputs: InputTimes | None = None
    warm: tuple[Sample, ...] = ()
    """Samples that found the captured memory in the cache. `table` and `time_us` are without them."""
    checked: OutputCheck | None = None
    """The check of the outputs of a strict replay that has no judge."""
    evidence: tuple[Evidence, ...] = ()
    """The checks of a strict replay."""
    outputs: dict[str, bytes | list[bytes]] = field(default_factory=dict, repr=False)
    confinement: dict[str, str] = field(default_factory=dict)
    """Protections of a strict replay's process, each "on" or the reason why it is off."""

    @property
    def samples(self) -> list[float]:
        """Microseconds between the events, in the order in which they were taken."""
        return [row.device_us for row in self.table]

    @property
    def warm_us(self) -> float | None:
        """The median of the warm samples."""
        return quantile(sorted(each.device_us for each in self.warm), 0.5) if self.warm else None

    @property
    def icache(self) -> str:
        """How instruction caches were made cold; empty if the replay ended before."""
        return icache_text(self.prepared) if self.prepared is not None else ""

    @property
    def status(self) -> int:
        """The exit status that `neutrino-bench replay` has for it."""
        return STATUS[self.verdict]

    def to_json(self, indent: int = 1) -> str:
        """The document, without the outputs' bytes."""
        return json_document(document(self), indent)


class Anchored(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The median by times that no kernel can write, in microseconds. Differences up to `noise` mean nothing."""

    median: float
    noise: float


class TimeBlock(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    median: float
    ci95: tuple[float, float] | None
    mean: float
    trimmed_mean: float
    min: float
    p5: float
    p95: float
    mad: float
    n: int
    anchored: Anchored | None = None
    """Null if it was not measured: then the time is a claim of the events alone."""


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A replay has one. Rates and errors need a problem that says what there is to do: null here."""

    name: str
    params: dict[str, str]
    time_us: TimeBlock | None
    gflops: float | None
    gbytes_per_s: float | None
    max_abs_error: float | None
    max_rel_error: float | None
    samples: list[float]


class CaptureName(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    sha256: str
    region: str
    path: str


class Verification(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    exact: bool
    count: int
    differences: tuple[Different, ...]


class Convergence(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Relative to the median for an interval; the coefficient of variation for cv."""

    converged: bool | None
    reached: float | None
    wanted: float | None
    warm_up_samples: int


class Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    schema: Schema
    verdict: Verdict
    reason: str
    trust: Literal["replayed"]
    cases: list[Case]
    kernels: tuple[KernelUse, ...]
    device: Device | None
    clocks: Clocks
    audit: None
    capture: CaptureName
    settings: Settings
    icache: str
    convergence: Convergence
    overhead: Overhead | None
    prepared: Prepared | None
    verification: Verification | None
    warm_us: float | None
    evidence: tuple[Evidence, ...]
    refusals: tuple[str, ...]
    notes: tuple[str, ...]
    wall_s: float
    confinement: dict[str, str]
    """Protections of the process of a strict replay: "on", or the reason why one is off. Empty without --strict."""


def time_block(time: Summary, anchored: Anchored | None = None) -> TimeBlock:
    return TimeBlock(
        median=time.median,
        ci95=time.ci95,
        mean=time.mean,
        trimmed_mean=time.trimmed_mean,
        min=time.min,
        p5=time.p5,
        p95=time.p95,
        mad=time.mad,
        n=time.n,
        anchored=anchored,
    )


def document(result: ReplayResult) -> Document:
    block = time_block(result.time_us) if result.time_us is not None else None
    name = f"region {result.region}" if result.region else "region"
    case = Case(name, {}, block, None, None, None, None, result.samples)
    verification = None
    if result.verified is not None:
        verification = Verification(result.verified, result.difference_count, result.differences)
    return Document(
        schema=SCHEMA,
        verdict=result.verdict,
        reason=result.reason,
        trust="replayed",
        cases=[case],
        kernels=result.kernels,
        device=result.device,
        clocks=result.clocks,
        audit=None,
        capture=CaptureName(result.capture, result.region, result.path),
        settings=result.settings,
        icache=result.icache,
        convergence=Convergence(
            result.converged, result.half_width, result.half_width_wanted, result.warm_up_samples
        ),
        overhead=result.overhead,
        prepared=result.prepared,
        verification=verification,
        warm_us=result.warm_us,
        evidence=result.evidence,
        refusals=result.refusals,
        notes=result.notes,
        wall_s=result.wall_s,
        confinement=result.confinement,
    )


def schema() -> dict[str, Any]:
    """The document's JSON Schema (2020-12)."""
    return msgspec.json.schema(Document)
