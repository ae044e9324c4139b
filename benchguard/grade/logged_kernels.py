"""The kernels of inline timing: from the audit log, because no capture has them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..audit.launches import SHAPES_MAX, LoggedKernel, Span, launched_within
from ..capture import CaptureError
from ..quarantine.contract import Quarantined
from .evidence import ORIGIN_MAX, KernelEvidence, codes_of
from .specification import Finding

NEVER: Span = (0, 0)
Found = tuple[tuple[KernelEvidence, ...], Finding | None]


def logged_kernels(found: Quarantined, calls: Sequence[int]) -> list[Found]:
    """The kernels of the timed calls of each case, and a reason against them, if any.

    `calls` has the number of calls of each case, by the sealed results. The submission's process wrote the trace, so
    this is its word, as all evidence of inline timing is. Raises LogError.
    """
    spans = [found.timed_ns.get(case, NEVER) for case in range(len(calls))]
    logged = launched_within(Path(found.audit.path), spans)
    return [_evidence(each, found.images, count) for each, count in zip(logged, calls, strict=True)]


def _evidence(logged: Sequence[LoggedKernel], images: Path | None, calls: int) -> Found:
    if len(logged) >= SHAPES_MAX:
        return (), Finding("failed", f"the calls launch more than {SHAPES_MAX} different kernels or shapes")
    total = sum(each.launches for each in logged)
    try:
        codes = {image: _codes(images, image, logged) for image in {each.image for each in logged}}
    except (CaptureError, OSError) as error:
        return (), Finding("failed", f"the code of the timed kernels cannot be read: {error}")
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
            code_sha256=codes[each.image].get(each.name, ()),
        )
        for each in logged
    ), None


def _codes(images: Path | None, image: str, logged: Sequence[LoggedKernel]) -> dict[str, tuple[str, ...]]:
    path = images / image if images is not None and image else None
    if path is None or not path.is_file():
        return {}
    return codes_of(path.read_bytes(), {each.name for each in logged if each.image == image}, str(path))
