"""The kernels that ran in the timed region, as evidence in a result."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Literal

import msgspec

from ..capture import Capture, CaptureError
from ..capture.device_code import kernel_codes
from ..capture.model import Dim3, MemcpyHtoD
from ..replay.subject import launched

ORIGIN_MAX = 1024
TARGETS_MAX = 64
"""Targets that a fat binary has code for; nvcc 13.0 knows 20."""


class KernelEvidence(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Launches of one kernel with one shape in one call; with --inline, the mean of all samples, rounded up.

    `origin` is the library or program that loaded the code. The submission's process recorded it and could
    forge it. `image_sha256` and `code_sha256` are computed from the code that was timed; the latter is that of the
    kernel's instructions, one for each target that the image has code for. `source` is the installed library that
    contains the kernel's code (`source_by` is "content") or that loaded it ("loader"), else "submission".
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
    code_sha256: tuple[str, ...] = ()
    source: str = ""
    source_by: Literal["content", "loader", ""] = ""


def kernels_of(capture: Capture) -> tuple[KernelEvidence, ...]:
    """Kernels in the order of their first launch; `share` is the share of all launches. Raises CaptureError."""
    return tuple(_kernels(capture))


def _codes(capture: Capture) -> dict[tuple[int, str], tuple[str, ...]]:
    """Digests of the code of each kernel that the capture uses, by image and name."""
    names: dict[int, set[str]] = {}
    for kernel in capture.kernels:
        names.setdefault(capture.modules[kernel.module].image, set()).add(kernel.name)
    return {
        (image, name): codes
        for image, wanted in names.items()
        for name, codes in codes_of(capture.image(image), wanted, str(capture.path)).items()
    }


def codes_of(image: bytes, names: Container[str], where: str) -> dict[str, tuple[str, ...]]:
    """Digests of the code of an image's kernels, by name, one for each target. Raises CaptureError."""
    found: dict[str, dict[str, None]] = {}
    for code in kernel_codes(image, names):
        codes = found.setdefault(code.name, {})
        codes[code.sha256] = None
        if len(codes) > TARGETS_MAX:
            raise CaptureError(f"{where}: kernel {code.name} has code for more than {TARGETS_MAX} targets")
    return {name: tuple(codes) for name, codes in found.items()}


def _kernels(capture: Capture) -> Iterator[KernelEvidence]:
    codes = _codes(capture)
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
            code_sha256=codes.get((capture.modules[kernel.module].image, kernel.name), ()),
        )


def uploaded_bytes(capture: Capture) -> int:
    """Bytes of host data that the call uploads."""
    return sum(each.content.bytes for each in capture.operations if isinstance(each, MemcpyHtoD))
