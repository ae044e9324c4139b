"""The kernels of inline timing: from the audit log, because no capture has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..audit.sample_marks import PROBE
from ..audit.sampled_kernels import SHAPES_MAX, SampledKernels, sampled_kernels
from ..quarantine.contract import Quarantined
from .evidence import ORIGIN_MAX, KernelEvidence
from .specification import Finding


@dataclass(frozen=True)
class Logged:
    """The kernels of a case, the number of launches in each sample, and a reason against the kernels, if any."""

    kernels: tuple[KernelEvidence, ...]
    by_sample: tuple[int, ...]
    finding: Finding | None = None


def logged_kernels(quarantined: Quarantined, calls: Sequence[int]) -> list[Logged]:
    """The kernels of the timed calls of each case.

    `calls` has the number of calls of each case, by the sealed results. The submission's process wrote the trace, so
    the kernels are its word, as all evidence of inline timing is. The log has no code, so a kernel's source is its
    loader. Raises LogError.
    """
    cases = sampled_kernels(Path(quarantined.audit.path), calls)
    return [_evidence(each, count) for each, count in zip(cases, calls, strict=True)]


def _evidence(logged: SampledKernels, calls: int) -> Logged:
    timed = logged.by_sample[PROBE + 1 :]
    if len(logged.kernels) >= SHAPES_MAX:
        text = f"the calls launch at least {SHAPES_MAX} different kernels or shapes; launch fewer"
        return Logged((), timed, Finding("failed", text))
    total = sum(each.launches for each in logged.kernels)
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
        for each in logged.kernels
    )
    return Logged(kernels, timed)
