"""The lines of the audit log, as they are written. Fields are append-only (docs/formats.md).

`time_ns` is nanoseconds of CLOCK_MONOTONIC since the session began; `duration_ns` is how long the driver's call
took. `process` and `thread` are the numbers in the process's own namespace.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta

CallName: TypeAlias = Annotated[str, Meta(max_length=256)]
Arguments: TypeAlias = Annotated[dict[CallName, int], Meta(max_length=64)]
"""A line of a forged log has up to 4 MiB. A record has at most layout.ARGUMENTS_MAX arguments, and the longest known
name of a call has 52 characters."""
Floats: TypeAlias = Annotated[dict[CallName, float | None], Meta(max_length=64)]


class Entry(msgspec.Struct, frozen=True, tag_field="kind", omit_defaults=False):
    """Any line."""


class SessionEntry(Entry, frozen=True, tag="session"):
    format: str
    version: str
    started: str
    command: list[str]
    driver: dict[str, Any]
    shim: dict[str, Any]
    session_ns: int
    api: str = "cuda"
    served: dict[str, int] | None = None
    """The program's process, user and group, as `serve` knows them from the kernel."""
    policy: dict[str, Any] | None = None
    gpu_time: bool | msgspec.UnsetType = msgspec.UNSET
    """True if launches are timed on the GPU; else absent."""
    gpu_overhead_ns: int | msgspec.UnsetType = msgspec.UNSET
    """How much longer than a kernel two events around it measured before the command; absent: not measured."""
    only_calls: list[str] | msgspec.UnsetType = msgspec.UNSET
    """Patterns of the calls that have lines (`--calls`); absent: all."""
    no_lookups: bool | msgspec.UnsetType = msgspec.UNSET
    """True if successful lookups of driver functions have no line; else absent."""


class ProcessEntry(Entry, frozen=True, tag="process"):
    time_ns: int
    process: int
    thread: int
    parent: int
    executable: str
    driver: str


class ImageEntry(Entry, frozen=True, tag="image"):
    time_ns: int
    process: int
    thread: int
    image: int
    sha256: str | None
    bytes: int
    format: str
    origin: str
    call: CallName
    note: str | None


class KernelEntry(Entry, frozen=True, tag="kernel"):
    time_ns: int
    process: int
    thread: int
    kernel: int
    name: str
    demangled: str | None
    image: str | None
    registers: int
    static_shared_bytes: int
    local_bytes: int
    constant_bytes: int
    max_threads: int
    binary_version: int
    layout_source: str
    layout: list[tuple[int, int]]


class LaunchAttributes(msgspec.Struct, frozen=True):
    """`others`: number and value, in hexadecimal, of each attribute besides the cluster."""

    cluster: tuple[int, int, int] | None
    others: list[tuple[int, str]]


class LaunchEntry(Entry, frozen=True, tag="launch"):
    """The interpreter writes this line without the struct, because it is the most frequent one."""

    time_ns: int
    duration_ns: int
    process: int
    thread: int
    call: CallName
    stream: int
    kernel: int
    name: str | None
    demangled: str | None
    image: str | None
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    cooperative: bool
    captured: bool
    attributes: LaunchAttributes
    parameters: list[str]
    parameter_bytes: int
    result: int
    number: int | msgspec.UnsetType = msgspec.UNSET
    """The number by which the line of the launch's GPU time names it. Absent: the launch is not timed."""
    form: Literal["pruned", "probed"] | msgspec.UnsetType = msgspec.UNSET
    """The kernel ran that an engine wrote, without or with probes. Absent: the program's own."""


class GraphKernel(msgspec.Struct, frozen=True):
    name: str | None
    demangled: str | None
    image: str | None
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    parameters: list[str]
    parameter_bytes: int


class GraphEntry(Entry, frozen=True, tag="graph"):
    time_ns: int
    process: int
    thread: int
    graph: int
    nodes: int
    opaque: int
    kernels: list[GraphKernel]
    first: int = 0


class GraphLaunchEntry(Entry, frozen=True, tag="graph_launch"):
    time_ns: int
    duration_ns: int
    process: int
    thread: int
    call: CallName
    graph: int
    stream: int
    kernels: int | None
    result: int
    number: int | msgspec.UnsetType = msgspec.UNSET


class LaunchTimeEntry(Entry, frozen=True, tag="launch_time"):
    """The GPU's time of a launch, read from events around it when it had ended.

    `number` is that of the launch's line; a later launch of the process with the same number follows an exec. A launch
    of a graph has `graph` and no kernel. `early`: the GPU was at the launch before it was queued, so `gpu_ns` includes
    the time until then.
    """

    time_ns: int
    process: int
    thread: int
    number: int
    stream: int
    kernel: int | None
    graph: int | None
    name: str | None
    demangled: str | None
    image: str | None
    gpu_ns: int
    early: bool


class CallEntry(Entry, frozen=True, tag="call"):
    time_ns: int
    duration_ns: int
    process: int
    thread: int
    call: CallName
    group: str | None
    arguments: Arguments
    result: int
    floats: Floats | msgspec.UnsetType = msgspec.UNSET
    """The floating-point arguments as numbers; null if one is not finite. Absent if the call has none."""
    repeats: int | msgspec.UnsetType = msgspec.UNSET
    """How many calls the line stands for, which equal the call before them. `duration_ns` is then from entry of the
    first to return of the last. Absent: one call."""

    @property
    def count(self) -> int:
        """The number of calls that the line stands for."""
        return 1 if self.repeats is msgspec.UNSET else max(self.repeats, 1)


class UnmappedEntry(Entry, frozen=True, tag="unmapped"):
    time_ns: int
    process: int
    thread: int
    name: str
    asked_version: int
    flags: int


class NoteEntry(Entry, frozen=True, tag="note"):
    time_ns: int
    process: int
    thread: int
    text: str


class ProbeEntry(Entry, frozen=True, tag="probe"):
    """A kernel's launches run a probed kernel, or why they, or one of them, run the original.

    `outcome` is probed, original or skipped; `name` is empty if the kernel is unknown.
    """

    time_ns: int
    process: int
    thread: int
    kernel: int
    name: str
    outcome: str
    reason: str


class PhaseEntry(Entry, frozen=True, tag="phase"):
    """The process entered a phase of the benchmark: before, setup, warm-up, timing or after."""

    time_ns: int
    process: int
    thread: int
    phase: str
    source: str
    label: str
    origin: str


class DecisionEntry(Entry, frozen=True, tag="decision"):
    """A rule of the policy logged or denied a call. A denied call did not reach the driver."""

    time_ns: int
    process: int
    thread: int
    call: CallName
    action: str
    rule: str
    phase: str
    arguments: Arguments
    origin: str
    kernel: str | None
    image: str | None
    result: int


class InFlightEntry(Entry, frozen=True, tag="in_flight"):
    """A call was inside the driver when its process ended or the session did."""

    time_ns: int
    process: int
    thread: int
    call: CallName
    since_ns: int


class WaitingEntry(Entry, frozen=True, tag="waiting"):
    """A call has been inside the driver for a quarter of a second. `time_ns` is its entry. Its own line comes later."""

    time_ns: int
    process: int
    thread: int
    call: CallName


class LostEntry(Entry, frozen=True, tag="lost"):
    """Records that a full ring dropped, or a ring that could not be read on."""

    time_ns: int
    process: int
    thread: int
    records: int
    corrupt: str | None


class ContinuedEntry(Entry, frozen=True, tag="continued"):
    """The last line of a file whose log continues in the file of this part."""

    part: int


class PartEntry(Entry, frozen=True, tag="part"):
    """The first line of a file that continues a log."""

    part: int


class EndEntry(Entry, frozen=True, tag="end", kw_only=True):
    time_ns: int
    status: int | None
    launches: int
    graph_launches: int
    calls: int
    images: int
    kernels: int
    processes: int
    unmapped: int
    denied: int = 0
    dropped: int
    images_dropped: int
    rings_exhausted: int
    corrupt_rings: int
    outlived: list[int]
    unobserved: list[str] = []
    complete: bool
    truncated: bool = False
    calls_left_out: int = 0


Line = (
    SessionEntry
    | ProcessEntry
    | ImageEntry
    | KernelEntry
    | LaunchEntry
    | GraphEntry
    | GraphLaunchEntry
    | LaunchTimeEntry
    | CallEntry
    | UnmappedEntry
    | NoteEntry
    | ProbeEntry
    | PhaseEntry
    | DecisionEntry
    | InFlightEntry
    | WaitingEntry
    | LostEntry
    | ContinuedEntry
    | PartEntry
    | EndEntry
)
KINDS = frozenset(str(kind.__struct_config__.tag) for kind in Line.__args__)


def parse_entry(line: dict[str, Any]) -> Line | None:
    """A line of a log as an object; None for a kind that this version does not know.

    Raises msgspec.ValidationError if the line lacks a field or has one of another type.
    """
    kind = line.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        return None
    entry: Line = msgspec.convert(line, Line)
    return entry
