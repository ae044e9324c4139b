"""The known kernels, images and functions of a process, and the parts of log lines made of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

from . import decode, entries
from .clock import Clock
from .drain import Identity
from .layout import Phase

CLUSTER_DIMENSION = 4  # CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION


@dataclass
class Totals:
    """Counts of the log's lines and records."""

    launches: int = 0
    graph_launches: int = 0
    calls: int = 0
    left_out: int = 0
    """Calls without a line, by the user's choice (choice.py)."""
    images: int = 0
    kernels: int = 0
    processes: int = 0
    unmapped: int = 0
    denied: int = 0
    dropped: int = 0
    corrupt_rings: int = 0
    unread_bytes: int = 0


@dataclass(frozen=True)
class KnownKernel:
    """A kernel's part of a launch line, which is encoded once."""

    name: str
    demangled: str | None
    image: str | None
    layout: tuple[tuple[int, int], ...]
    fragment: bytes


@dataclass
class KnownProcess:
    clock: Clock = field(default_factory=Clock)
    images: dict[int, str | None] = field(default_factory=dict)
    stored: dict[int, tuple[int, int]] = field(default_factory=dict)  # handle: where its bytes are
    kernels: dict[int, KnownKernel] = field(default_factory=dict)
    nodes: dict[int, dict[int, decode.GraphNode]] = field(default_factory=dict)
    graphs: dict[int, int] = field(default_factory=dict)  # graph: kernels


@dataclass
class Pending:
    """A launch, its time or a graph whose kernel's record has not come yet."""

    identity: Identity
    record: decode.Launch | decode.LaunchTime | decode.Graph


UNKNOWN_KERNEL = KnownKernel("", None, None, (), b'"name":null,"demangled":null,"image":null')


def plausible_layout(layout: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    """The parameter layout; None if parameters overlap, because lines would repeat the same bytes many times."""
    end = 0
    for offset, size in sorted(layout):
        if offset < end:
            return ()
        end = offset + size
    return layout


def split_parameters(stored: bytes, layout: tuple[tuple[int, int], ...]) -> list[str]:
    """The stored bytes of each parameter, in hexadecimal; without a layout, all bytes as one parameter."""
    if not layout:
        return [stored.hex()] if stored else []
    return [stored[offset : offset + size].hex() for offset, size in layout if offset < len(stored)]


def launch_attributes(record: decode.Launch) -> dict[str, object]:
    cluster = None
    others = []
    for identifier, value in record.attributes:
        if identifier == CLUSTER_DIMENSION:
            cluster = [int.from_bytes(value[at : at + 4], "little") for at in (0, 4, 8)]
        else:
            others.append((identifier, value.rstrip(b"\0").hex()))
    return {"cluster": cluster, "others": others}


def graph_kernel(kernel: KnownKernel, node: decode.GraphNode) -> entries.GraphKernel:
    return entries.GraphKernel(
        kernel.name or None,
        kernel.demangled,
        kernel.image,
        node.grid,
        node.block,
        node.shared_bytes,
        split_parameters(node.parameters, kernel.layout),
        node.parameter_bytes,
    )


def name_of(numbers: type[IntEnum], value: int) -> str:
    try:
        return numbers(value).name.lower()
    except ValueError:
        return "unknown"


def phase_name(value: int) -> str:
    """As benchguard.phase() spells it."""
    return name_of(Phase, value).replace("_", "-")
