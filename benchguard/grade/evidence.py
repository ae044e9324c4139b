"""The kernels that ran in the timed region, as evidence in a result."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Sequence
from pathlib import PurePath

import msgspec

from ..audit.launches import LoggedKernel
from ..capture import Capture
from ..capture.model import Dim3, MemcpyHtoD
from ..replay.subject import launched

ORIGIN_MAX = 1024


class KernelEvidence(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Launches of one kernel with one shape in one call; with --inline, the mean of all samples, rounded up.

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


def kernels_of(capture: Capture) -> tuple[KernelEvidence, ...]:
    """Kernels in the order of their first launch; `share` is the share of all launches."""
    return tuple(_kernels(capture))


def _kernels(capture: Capture) -> Iterator[KernelEvidence]:
    for use in launched(capture):
        kernel = capture.kernels[use.kernel]
        image = capture.images[capture.modules[kernel.module].image]
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


def kernels_of_log(logged: Sequence[LoggedKernel], calls: int) -> tuple[KernelEvidence, ...]:
    """Kernels that the audit log lists for `calls` calls, in the order of their first launch."""
    total = sum(each.launches for each in logged) or 1
    return tuple(
        KernelEvidence(
            name=each.name,
            image_sha256=each.image,
            origin=each.origin[:ORIGIN_MAX],
            grid=each.grid,
            block=each.block,
            registers=each.registers,
            shared_bytes=each.shared_bytes,
            launches=-(-each.launches // max(calls, 1)),
            share=each.launches / total,
        )
        for each in logged
    )


def uploaded_bytes(capture: Capture) -> int:
    """Bytes of host data that the call uploads."""
    return sum(each.content.bytes for each in capture.operations if isinstance(each, MemcpyHtoD))


def forbidden(kernels: Sequence[KernelEvidence], patterns: Sequence[str]) -> str:
    """A reason that names the first kernel whose name or origin matches a pattern; empty without a match."""
    for kernel in kernels:
        names = (kernel.name, kernel.origin, PurePath(kernel.origin).name)
        for pattern in patterns:
            if any(fnmatch.fnmatchcase(name, pattern) for name in names if name):
                return (
                    f"kernel {kernel.name} of {kernel.origin or 'unknown origin'} is forbidden by {pattern!r}"
                )
    return ""
