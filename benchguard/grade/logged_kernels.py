"""The kernels of inline timing: from the audit log, because no capture has them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..audit.launches import SHAPES_MAX, LoggedKernel, Span, launched_within
from ..quarantine.contract import Quarantined
from .evidence import ORIGIN_MAX, KernelEvidence
from .specification import Finding

NEVER: Span = (0, 0)
Found = tuple[tuple[KernelEvidence, ...], Finding | None]


def logged_kernels(quarantined: Quarantined, calls: Sequence[int]) -> list[Found]:
    """The kernels of the timed calls of each case, and a reason against them, if any.

    `calls` has the number of calls of each case, by the sealed results. The submission's process wrote the trace, so
    the kernels are its word, as all evidence of inline timing is. The log has no code, so a kernel's source is its
    loader. Raises LogError.
    """
    spans = [quarantined.timed_ns.get(case, NEVER) for case in range(len(calls))]
    logged = launched_within(Path(quarantined.audit.path), spans)
    return [_evidence(each, count) for each, count in zip(logged, calls, strict=True)]


def _evidence(logged: Sequence[LoggedKernel], calls: int) -> Found:
    if len(logged) >= SHAPES_MAX:
        return (), Finding(
            "failed", f"the calls launch at least {SHAPES_MAX} different kernels or shapes; launch fewer"
        )
    total = sum(each.launches for each in logged)
    kernels = tuple(
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
    return kernels, None
