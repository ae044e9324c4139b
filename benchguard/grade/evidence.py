"""What ran in the timed window, so that a reader of a verdict can judge for themselves."""

from __future__ import annotations

import fnmatch
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePath

import msgspec

from ..capture import Capture
from ..capture.layout import OperationFlag
from ..capture.model import Dim3, GraphLaunch, Launch, Upload

ORIGIN_MAX = 1024


class KernelEvidence(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Launches of one kernel with one shape in one call. `origin` is the library or program that loaded its code, by
    the recorder's word, which the submission could forge; the hash is of the code that was timed."""

    name: str
    image_sha256: str
    origin: str
    grid: Dim3
    block: Dim3
    registers: int
    shared_bytes: int
    launches: int
    share: float


def kernels_of(capture: Capture) -> tuple[KernelEvidence, ...]:
    """In the order of their first launch; `share` is of all launches."""
    return tuple(_kernels(capture))


def _kernels(capture: Capture) -> Iterator[KernelEvidence]:
    operations = tuple(capture.operations)
    launched = Counter(each.launched for each in operations if isinstance(each, GraphLaunch))
    uses: Counter[tuple[int, Dim3, Dim3, int]] = Counter()
    for each in operations:
        if isinstance(each, Launch) and OperationFlag.DISABLED not in each.flags:
            times = launched[each.graph] if each.graph else 1
            uses[each.kernel, each.grid, each.block, each.shared_bytes] += times
    total = sum(uses.values()) or 1
    for (index, grid, block, dynamic), launches in uses.items():
        kernel = capture.kernels[index]
        image = capture.images[capture.modules[kernel.module].image]
        yield KernelEvidence(
            name=kernel.name,
            image_sha256=image.sha256,
            origin=image.origin[:ORIGIN_MAX],
            grid=grid,
            block=block,
            registers=kernel.registers,
            shared_bytes=kernel.static_shared_bytes + dynamic,
            launches=launches,
            share=launches / total,
        )


def uploaded_bytes(capture: Capture) -> int:
    """Host data that the call brings along."""
    return sum(each.content.bytes for each in capture.operations if isinstance(each, Upload))


def forbidden(kernels: Sequence[KernelEvidence], patterns: Sequence[str]) -> str:
    """The first kernel whose name or origin matches a pattern, as a reason; empty if none does."""
    for kernel in kernels:
        names = (kernel.name, kernel.origin, PurePath(kernel.origin).name)
        for pattern in patterns:
            if any(fnmatch.fnmatchcase(name, pattern) for name in names if name):
                return (
                    f"kernel {kernel.name} of {kernel.origin or 'unknown origin'} is forbidden by {pattern!r}"
                )
    return ""
