"""Packs a raw capture into a capture file.

The raw capture is hostile. If it does not describe a valid capture, CaptureError is raised, and the raw capture
stays in place. Bulk data are never in memory as a whole.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..version import __version__
from .codec import MalformedError
from .errors import CaptureError
from .extents import Joined
from .layout import BLOB_MAX, PAGE, AllocationFlag, Kind
from .model import End, Meta, Refusal
from .pack_elements import ElementPacker, Gathered, gather
from .pack_memory import Snapshot, Stretch, pack_after, pack_before
from .raw_capture import ELEMENTS_MAX, RawCapture, open_raw_capture
from .reader import Capture
from .validate import Limits
from .writer import CaptureWriter

UNKNOWN = AllocationFlag.BEFORE_UNKNOWN | AllocationFlag.AFTER_UNKNOWN


@dataclass(frozen=True)
class PackSummary:
    """`memory_bytes` are those before the region without zero pages; `unknown` counts elements left out."""

    path: Path
    name: str
    operations: int
    refusals: tuple[Refusal, ...]
    raw_bytes: int
    file_bytes: int
    memory_bytes: int
    changed_bytes: int
    unknown: int
    seconds: float


def pack(
    raw_capture: Path, target: Path, calls: Sequence[str] = (), *, deadline: float | None = None
) -> PackSummary:
    """Write the capture `target` of a raw capture. Raises CaptureError.

    `calls`: the driver's exports in the order of the shim's slots (surface.json), for allocations that name a
    slot alone. `deadline`, by the monotonic clock: a raw capture may be of any size, and mostly holes.
    """
    try:
        descriptor = open_raw_capture(raw_capture)
    except OSError as error:
        raise CaptureError(
            f"cannot read the raw capture {raw_capture}: {error.strerror}; check the path"
        ) from error
    try:
        return pack_descriptor(descriptor, target, calls, deadline=deadline)
    except MalformedError as error:
        raise CaptureError(
            f"{raw_capture}: {error}; the raw capture is kept, record the program again"
        ) from None
    except OSError as error:
        raise CaptureError(
            f"cannot read the raw capture {raw_capture}: {error.strerror}; try again"
        ) from error
    finally:
        os.close(descriptor)


def pack_descriptor(
    descriptor: int,
    target: Path,
    calls: Sequence[str] = (),
    *,
    deadline: float | None = None,
    elements_max: int = ELEMENTS_MAX,
    limits: Limits = Limits(),  # noqa: B008 - frozen
    has_memory: Callable[[str, int], bool] | None = None,
) -> PackSummary:
    """Like pack(), for an open raw capture, which stays open. Raises MalformedError, OSError.

    `elements_max` counts elements besides memory's; `limits` are of the written capture. `has_memory` is asked with the
    region's name and the bytes of its memory whether the capture needs that; without it the capture cannot be replayed.
    """
    began = time.monotonic()
    opened = RawCapture(descriptor, deadline, elements_max)
    gathered = gather(opened)
    summary: dict[str, Any] = {}
    with CaptureWriter(target, lambda path: summary.update(_summary(path, limits))) as writer:
        packs_memory = has_memory is None or has_memory(gathered.region, _bytes_before(gathered))
        elements = ElementPacker(gathered, writer, calls, AllocationFlag(0) if packs_memory else UNKNOWN)
        elements.pack()
        memory_bytes, changed_bytes = _pack_memory(gathered, writer) if packs_memory else (0, 0)
        _finish(gathered, writer, elements.operations)
    return PackSummary(
        path=target,
        raw_bytes=opened.bytes,
        memory_bytes=memory_bytes,
        changed_bytes=changed_bytes,
        unknown=opened.unknown,
        seconds=time.monotonic() - began,
        **summary,
    )


def _bytes_before(gathered: Gathered) -> int:
    return sum(int(gathered.values(each)["bytes"]) for each in gathered.elements[Kind.BEFORE])


def _pack_memory(gathered: Gathered, writer: CaptureWriter) -> tuple[int, int]:
    memory_bytes = pack_before(writer, _snapshot(gathered, Kind.BEFORE))
    if _end(gathered).status:
        return memory_bytes, 0  # memory after a fault is undefined
    living = [
        (values["address"] // PAGE * PAGE, -(-(values["address"] + values["bytes"]) // PAGE) * PAGE)
        for values in map(gathered.values, gathered.elements[Kind.ALLOCATION])
        if values["flags"] & AllocationFlag.AFTER
    ]
    return memory_bytes, pack_after(writer, _snapshot(gathered, Kind.AFTER), Joined(living))


def _snapshot(gathered: Gathered, kind: Kind) -> Snapshot:
    stretches = []
    for element in gathered.elements[kind]:
        values = gathered.values(element)
        place = gathered.raw_capture.place(element, *values["content"])
        size = values["bytes"]
        is_whole = place.bytes == size
        if not is_whole and (place.bytes not in (0, PAGE) or not place.bytes < size <= BLOB_MAX):
            raise MalformedError(f"memory at {element.at}: {place.bytes} bytes of content for {size}")
        if size:
            stretches.append(Stretch(values["address"], size, place))
    return Snapshot(gathered.raw_capture, stretches)


def _end(gathered: Gathered) -> End:
    values = gathered.values(gathered.elements[Kind.END][0])
    return End(values["status"], values["operations"])


def _finish(gathered: Gathered, writer: CaptureWriter, packed: int) -> None:
    """Write the elements that only the packer knows. `packed`: operations of the capture."""

    end, operations = _end(gathered), len(gathered.elements[Kind.OPERATION])
    if end.operations != operations:
        raise MalformedError(
            f"the raw capture has {operations} operations, but its end counts {end.operations}"
        )
    if end.status:
        reason = f"the driver answered {end.status} when the region ended; a kernel may have faulted"
        writer.add(Refusal(packed, "", reason))
    writer.add(Meta("tool", f"neutrino-bench {__version__}"))
    writer.add(Meta("host_kernel", f"{platform.system()} {platform.release()} {platform.machine()}"))
    writer.add(Meta("packed", time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime())))
    writer.add(End(end.status, packed))


def _summary(path: Path, limits: Limits) -> dict[str, Any]:
    """Check the finished file, and describe it."""
    try:
        with Capture.open(path, limits) as capture:
            return {
                "name": capture.name,
                "operations": len(capture.operations),
                "refusals": tuple(capture.refusals),
                "file_bytes": capture.file_bytes,
            }
    except CaptureError as error:
        raise MalformedError(str(error.__cause__ or error)) from None
