"""The rows of a summary: kernels, images, calls, failures, copies, memory, and what was lost."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..ipc.json_text import json_document
from .durations import GpuTime, HostTime
from .graph_times import GraphRow
from .memory import AliveRow, BadFree, MemoryRow

SCHEMA = "neutrino-bench/summary/2"


@dataclass(frozen=True)
class KernelRow:
    """One kernel of one image. `launches` counts accepted launches, `graph_launches` those by graphs.

    `host` is the time of the launch calls. `library` is the file that contained or loaded the image. Grid and block are
    those of the most frequent of `shapes` different ones.
    """

    name: str
    image: str | None
    launches: int
    graph_launches: int
    failed: int
    host: HostTime
    grid: tuple[int, ...]
    block: tuple[int, ...]
    shapes: int
    library: str | None
    gpu: GpuTime | None = None
    """None if no launch of the kernel was timed on the GPU."""

    @property
    def total(self) -> int:
        return self.launches + self.graph_launches


@dataclass(frozen=True)
class ImageRow:
    """One code image and its number of loads. `origin` is the library that contained or loaded it."""

    sha256: str | None
    format: str
    bytes: int
    origin: str
    loads: int
    launches: int
    note: str | None


@dataclass(frozen=True)
class CallRow:
    """One driver function. `errors` counts every result but success by name; `failed` leaves out "not ready"."""

    call: str
    count: int
    failed: int
    errors: dict[str, int]
    host: HostTime


@dataclass(frozen=True)
class FailureRow:
    """Failed calls of one function with one error. The other fields describe the first of them."""

    call: str
    error: str
    result: int
    count: int
    line: int
    time_ns: int
    process: int
    thread: int
    details: str


@dataclass(frozen=True)
class DecisionRow:
    """Calls that a rule of the policy logged or denied. A denied call is in no other row: the driver never got it.

    `line` and `details` are those of the first of them.
    """

    rule: str
    action: str
    call: str
    phase: str
    origin: str
    error: str
    count: int
    line: int
    details: str


@dataclass(frozen=True)
class CopyRow:
    """Copies of one direction. `bytes` leaves out the `unsized` copies, whose size is in a structure.

    `host_rate` is bytes per second of host time. It is None for asynchronous copies, whose calls return before the
    copy is done.
    """

    direction: str
    asynchronous: bool
    copies: int
    failed: int
    bytes: int
    unsized: int
    host: HostTime
    host_rate: float | None


@dataclass(frozen=True)
class Summary:
    """The summary of a run, which the tables show and `--summary` writes."""

    command: list[str]
    driver: str
    status: int | None
    kernels: list[KernelRow]
    images: list[ImageRow]
    calls: list[CallRow]
    failures: list[FailureRow]
    decisions: list[DecisionRow]
    copies: list[CopyRow]
    memory: list[MemoryRow]
    alive: list[AliveRow]
    bad_frees: list[BadFree]
    unmapped: list[str]
    other_calls: int
    launches: int
    graph_launches: int
    failed_launches: int
    captured_launches: int
    captured_copies: int
    failed_calls: int
    denied_calls: int
    processes: int
    export_tables: int
    dropped: int
    images_dropped: int
    rings_exhausted: int
    corrupt_rings: int
    in_flight: list[str]
    outlived: list[int]
    unobserved: list[str]
    notes: list[str]
    limits: list[str]
    """Sentences about rows that are left out, because there are too many."""
    complete: bool
    lines: int
    head: str
    api: str
    graphs: list[GraphRow] = field(default_factory=list)
    gpu_time: bool = False
    """Whether launches were timed on the GPU. The next three counts are 0 if not."""
    gpu_overhead_ns: int | None = None
    """Time that was subtracted from each GPU time; None: it was not measured, so nothing was subtracted."""
    gpu_launches: int = 0
    """Timed launches, of kernels and of graphs."""
    gpu_graph_launches: int = 0
    gpu_unmeasured: int = 0
    """Accepted launches without a GPU time, except those that stream capture took."""
    schema: str = field(default=SCHEMA)

    def to_json(self) -> str:
        return json_document(self)
