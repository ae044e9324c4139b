"""The kernels that ran in the timed region, as evidence in a result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from ..capture import Capture, CaptureError
from ..capture.device_code import kernel_codes
from ..capture.model import Dim3, MemcpyHtoD, Operation
from ..capture.unrestored import unrestored
from ..ipc.text import one_line
from ..replay.subject import launched
from .traces import Trace

ORIGIN_MAX = 1024
TEXT_MAX = 1000
LISTED_BYTES = 1 << 18
"""Text of the launch shapes of a case that are listed besides one of each kernel."""

KERNELS_BYTES = 1 << 20
"""Text of all kernels of a case."""

LINE_BYTES = 256
"""Bytes of a listed kernel besides its texts."""

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


class CaptureFacts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Facts about one capture. `name` is its SHA-256; `unlisted` counts launch shapes that are not in `kernels`."""

    name: str
    kernels: tuple[KernelEvidence, ...]
    unlisted: int
    uploaded_bytes: int
    unrestored: str = ""
    """Why a kernel may keep something from sample to sample (unrestored.py); empty if it cannot."""
    doubt: str = ""
    """Why a replay may fail; empty if nothing shows that."""


def facts_of(trace: Trace) -> CaptureFacts:
    """Lists each kernel with its most frequent shape, then the most frequent other shapes up to LISTED_BYTES of text.

    A submission can forge 100,000 shapes of a kernel with a name of 16 KiB. Raises CaptureError for kernels with more
    than KERNELS_BYTES of text.
    """
    capture = trace.capture
    kernels = tuple(_kernels(trace))
    by_launches = sorted(range(len(kernels)), key=lambda index: -kernels[index].launches)
    first = {(kernels[each].name, kernels[each].image_sha256): each for each in reversed(by_launches)}
    listed = set(first.values())
    if sum(_text_bytes(kernels[each]) for each in listed) > KERNELS_BYTES:
        raise CaptureError(f"{len(listed)} kernels have more than {KERNELS_BYTES} bytes of names")
    left = LISTED_BYTES
    for each in by_launches:
        left -= _text_bytes(kernels[each]) if each not in listed else 0
        if left < 0:
            break
        listed.add(each)
    return CaptureFacts(
        name=capture.name,
        kernels=tuple(kernel for index, kernel in enumerate(kernels) if index in listed),
        unlisted=len(kernels) - len(listed),
        uploaded_bytes=_uploaded_bytes(trace.operations),
        unrestored=one_line(unrestored(capture), TEXT_MAX),
        doubt=one_line(next((each.reason for each in capture.refusals if each.is_doubt), ""), TEXT_MAX),
    )


def _text_bytes(kernel: KernelEvidence) -> int:
    return LINE_BYTES + len(kernel.name) + len(kernel.origin) + sum(map(len, kernel.code_sha256))


_known: dict[str, dict[str, tuple[str, ...]]] = {}
"""Digests of kernels' code that were found in this process, by the image's SHA-256 and the kernel's name: the captures
of a submission share their images."""


def _codes(capture: Capture) -> dict[tuple[int, str], tuple[str, ...]]:
    """Digests of the code of each kernel that the capture uses, by image and name."""
    names: dict[int, set[str]] = {}
    for kernel in capture.kernels:
        names.setdefault(capture.modules[kernel.module].image, set()).add(kernel.name)
    found: dict[tuple[int, str], tuple[str, ...]] = {}
    for image, wanted in names.items():
        known = _known.setdefault(capture.images[image].sha256, {})
        if missing := wanted - known.keys():
            known |= _codes_in(capture, image, missing)
        found |= {(image, name): known[name] for name in wanted}
    return found


def _codes_in(capture: Capture, image: int, names: set[str]) -> dict[str, tuple[str, ...]]:
    """Digests of the code of kernels, by name; none for a name that the image does not have."""
    found: dict[str, dict[str, None]] = {name: {} for name in names}
    for code in kernel_codes(capture.image(image), names):
        found[code.name][code.sha256] = None
        if len(found[code.name]) > TARGETS_MAX:
            raise CaptureError(
                f"{capture.path}: kernel {code.name} has code for more than {TARGETS_MAX} targets"
            )
    return {name: tuple(codes) for name, codes in found.items()}


def _kernels(trace: Trace) -> Iterator[KernelEvidence]:
    """Kernels in the order of their first launch; `share` is the share of all launches. Raises CaptureError."""
    capture = trace.capture
    kernels = tuple(capture.kernels)  # decoded once: launches of one kernel share its name
    images = tuple(capture.images)
    modules = tuple(capture.modules)
    codes = _codes(capture)
    for use in launched(trace.operations):
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
            code_sha256=codes.get((modules[kernel.module].image, kernel.name), ()),
        )


def _uploaded_bytes(operations: Sequence[Operation]) -> int:
    """Bytes of host data that the call uploads."""
    return sum(each.content.bytes for each in operations if isinstance(each, MemcpyHtoD))
