"""The kernels that ran in the timed region, as evidence in a result."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath

import msgspec

from ..capture import Capture
from ..capture.model import Dim3, MemcpyHtoD
from ..replay.subject import launched

ORIGIN_MAX = 1024
LINE_BYTES = 256
"""Bytes of a listed kernel besides its name and its origin."""

LISTED_BYTES = 1 << 18
"""Text of all listed kernels of a case: a hostile capture has 100,000 shapes of a kernel with a name of 16 KiB."""


class KernelEvidence(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Launches of one kernel with one shape in one call.

    `origin` is the library or program that loaded the code. The submission's process recorded it and could
    forge it; the hash is computed from the code that was timed.
    """

    name: str
    image_sha256: str
    origin: str
    grid: Dim3
    block: Dim3
    registers: int
    shared_bytes: int
    launches: int
    share: float


class CaptureFacts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Facts about one capture. `name` is its SHA-256; `unlisted` counts launch shapes that are not in `kernels`."""

    name: str
    kernels: tuple[KernelEvidence, ...]
    unlisted: int
    uploaded_bytes: int


def facts_of(capture: Capture) -> CaptureFacts:
    """Lists the kernels with the most launches, up to LISTED_BYTES of text. Raises CaptureError."""
    kernels = kernels_of(capture)
    left = LISTED_BYTES
    listed = set()
    for each in sorted(range(len(kernels)), key=lambda index: -kernels[index].launches):
        left -= len(kernels[each].name) + len(kernels[each].origin) + LINE_BYTES
        if left < 0:
            break
        listed.add(each)
    return CaptureFacts(
        name=capture.name,
        kernels=tuple(kernel for index, kernel in enumerate(kernels) if index in listed),
        unlisted=len(kernels) - len(listed),
        uploaded_bytes=uploaded_bytes(capture),
    )


def kernels_of(capture: Capture) -> tuple[KernelEvidence, ...]:
    """Kernels in the order of their first launch; `share` is the share of all launches."""
    return tuple(_kernels(capture))


def _kernels(capture: Capture) -> Iterator[KernelEvidence]:
    kernels = tuple(capture.kernels)  # decoded once: launches of one kernel share its name
    images = tuple(capture.images)
    modules = tuple(capture.modules)
    for use in launched(capture):
        kernel = kernels[use.kernel]
        image = images[modules[kernel.module].image]
        yield KernelEvidence(
            name=kernel.name,
            image_sha256=image.sha256,
            origin=image.origin[:ORIGIN_MAX],
            grid=use.grid,
            block=use.block,
            registers=kernel.registers,
            shared_bytes=kernel.static_shared_bytes + use.shared_bytes,
            launches=use.launches,
            share=use.share,
        )


def uploaded_bytes(capture: Capture) -> int:
    """Bytes of host data that the call uploads."""
    return sum(each.content.bytes for each in capture.operations if isinstance(each, MemcpyHtoD))


def forbidden(kernels: Iterable[KernelEvidence], patterns: Sequence[str]) -> str:
    """A reason that names the first kernel whose name or origin matches a pattern; empty without a match."""
    for name, origin in dict.fromkeys((kernel.name, kernel.origin) for kernel in kernels):
        names = (name, origin, PurePath(origin).name)
        for pattern in patterns:
            if any(fnmatch.fnmatchcase(each, pattern) for each in names if each):
                return f"kernel {name} of {origin or 'unknown origin'} is forbidden by {pattern!r}"
    return ""
