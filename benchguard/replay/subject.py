"""Facts about the replayed capture for the result, and the places of its memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..capture import Capture
from ..capture.layout import OperationFlag, Role, Vendor
from ..capture.model import Dim3, GraphLaunch, Launch, Operation, Range
from ..errors import UsageError
from ..shim.vendors import Api


@dataclass(frozen=True)
class KernelUse:
    """Launches of one kernel with one shape in one replay; `share` of all launches."""

    name: str
    image_sha256: str
    grid: Dim3
    block: Dim3
    registers: int
    shared_bytes: int
    launches: int
    share: float


@dataclass(frozen=True)
class Launched:
    """Launches of a kernel, by its index, with one shape; `shared_bytes` are the dynamic ones."""

    kernel: int
    grid: Dim3
    block: Dim3
    shared_bytes: int
    launches: int
    share: float


@dataclass(frozen=True)
class Extent:
    """Memory that was given at one time: by which call, or which global of a module it is."""

    address: int
    bytes: int
    label: str

    def holds(self, address: int, size: int) -> bool:
        return self.address <= address and address + size <= self.address + self.bytes

    def meets(self, address: int, size: int) -> bool:
        return self.address < address + size and address < self.address + self.bytes


@dataclass(frozen=True)
class Subject:
    name: str
    region: str
    ranges: tuple[Range, ...]
    allocations: tuple[Extent, ...]
    globals: tuple[Extent, ...]
    kernels: tuple[KernelUse, ...]
    api: Api = "cuda"
    """Vendor of the driver that replays it."""

    def place(self, key: str | int, size: int) -> Extent:
        """The extent of a named range, or of `size` bytes at an address. Raises UsageError."""
        if isinstance(key, str):
            return self._range(key)
        for extent in (*self.allocations, *self.globals):
            if extent.holds(key, size):
                return Extent(key, size, extent.label)
        raise UsageError(
            f"{size} bytes at {key:#x} are not within one allocation of the capture; "
            "`neutrino-bench inspect` lists them"
        )

    def _range(self, name: str) -> Extent:
        matches = [each for each in self.ranges if each.name == name]
        if len(matches) == 1:
            return Extent(matches[0].address, matches[0].bytes, name)
        if matches:
            raise UsageError(
                f"the capture has {len(matches)} ranges of the name {name!r}; give an address instead"
            )
        names = ", ".join(sorted({each.name for each in self.ranges})) or "none"
        raise UsageError(f"the capture has no range {name!r}; it has {names}")

    def label(self, address: int, global_index: int | None) -> str:
        """Label for memory by its address, or for a global by its index."""
        if global_index is not None:
            return self.globals[global_index].label if global_index < len(self.globals) else "a global"
        labels = [extent.label for extent in self.allocations if extent.holds(address, 1)]
        return labels[-1] if labels else "memory"

    def outputs(self) -> tuple[str, ...]:
        """The ranges that the program called outputs and that a name tells apart."""
        names = Counter(each.name for each in self.ranges)
        return tuple(e.name for e in self.ranges if e.role is Role.OUTPUT and names[e.name] == 1)

    def output_places(self) -> list[Extent]:
        """All ranges that the program called outputs or state, each once."""
        places = {
            (each.address, each.bytes): Extent(each.address, each.bytes, each.name)
            for each in self.ranges
            if each.role is not Role.INPUT and each.bytes
        }
        return list(places.values())

    def is_written(self, address: int, size: int) -> bool:
        """Whether the program called it an output, and none of it an input or state, which are read too."""
        place = Extent(address, size, "")
        outputs = [each for each in self.ranges if each.role is Role.OUTPUT]
        read = [each for each in self.ranges if each.role is not Role.OUTPUT]
        inside = any(Extent(each.address, each.bytes, "").holds(address, size) for each in outputs)
        return inside and not any(place.meets(each.address, each.bytes) for each in read)


def subject_of(capture: Capture) -> Subject:
    return Subject(
        name=capture.name,
        region=capture.meta.get("region", ""),
        ranges=tuple(capture.ranges),
        allocations=tuple(Extent(a.address, a.bytes, a.call) for a in capture.allocations),
        globals=tuple(Extent(g.address, g.bytes, f"global {g.name}") for g in capture.globals),
        kernels=tuple(_kernels(capture)),
        api=api_of(capture),
    )


def api_of(capture: Capture) -> Api:
    """The driver that the capture names as its recorder's."""
    return "hip" if capture.device.vendor is Vendor.HIP else "cuda"


def _kernels(capture: Capture) -> Iterator[KernelUse]:
    kernels, modules = tuple(capture.kernels), tuple(capture.modules)  # decoded once
    hashes = [image.sha256 for image in capture.images]
    for use in launched(tuple(capture.operations)):
        kernel = kernels[use.kernel]
        yield KernelUse(
            name=kernel.name,
            image_sha256=hashes[modules[kernel.module].image],
            grid=use.grid,
            block=use.block,
            registers=kernel.registers,
            shared_bytes=kernel.static_shared_bytes + use.shared_bytes,
            launches=use.launches,
            share=use.share,
        )


def launched(operations: Sequence[Operation]) -> Iterator[Launched]:
    """In the order of their first launch; a graph's nodes count as often as it was launched."""
    graphs = Counter(each.launched for each in operations if isinstance(each, GraphLaunch))
    uses: Counter[tuple[int, Dim3, Dim3, int]] = Counter()
    for each in operations:
        if isinstance(each, Launch) and OperationFlag.DISABLED not in each.flags:
            times = graphs[each.graph] if each.graph else 1
            uses[each.kernel, each.grid, each.block, each.shared_bytes] += times
    total = sum(uses.values()) or 1
    for shape, launches in uses.items():
        yield Launched(*shape, launches, launches / total)
