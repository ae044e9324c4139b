"""Contradictions in a stored result, and between it and its captures. Whoever changed it wrote fitting hashes.

Numbers that follow from others must do so, on every machine: the statistics from the samples and from the medians of
the processes that took them, the rates from the median, the score from the cases. The kernels are those of the
captures.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from msgspec.structs import replace

from ..ipc.text import one_line
from ..judge.ceilings import ceilings_of
from ..problem.ranking import RANKINGS
from ..replay.protocol import Device
from ..replay.result import TimeBlock
from ..replay.statistics import summarise
from .evidence import KernelEvidence
from .placements import SAMPLES_MIN, placed
from .result import GradedCase, GradeResult, Placements
from .score import score_of

RELATIVE = 1e-9
"""Accepted difference of numbers that were computed in the same way; another version of Python may round otherwise."""


def contradictions_in(stored: GradeResult, result: GradeResult) -> Iterator[str]:
    """Contradictions in `stored` itself, and to facts of the new `result` that depend on no machine."""
    if stored.problem != result.problem:
        yield f"the stored result is about the problem {one_line(stored.problem, 100)}"
    verdict = next((case.verdict for case in stored.cases if case.verdict != "pass"), "pass")
    if stored.cases and verdict != stored.verdict:
        yield f"the stored verdict is {stored.verdict}, and its cases make it {verdict}"
    if stored.kernels != tuple(dict.fromkeys(kernel for case in stored.cases for kernel in case.kernels)):
        yield "the stored kernels are not those of the cases"
    if stored.score_s is not None and not _is_score(stored.score_s, stored.cases):
        yield "the stored score does not follow from the samples"
    again = {case.name: case for case in result.cases}
    for case in stored.cases:
        place = f"case {one_line(case.name, 100)}: the stored"
        if case.time_us is not None and not _follows(case.time_us, case.scored, case.placements):
            yield f"{place} times do not follow from the samples"
        # Another version may know other ceilings.
        if stored.version == result.version and not _have_shares(case, stored.device):
            yield f"{place} shares of the device's ceilings do not follow from the rates"
        if case.name in again:
            yield from (f"{place} {each}" for each in _contradicted(case, again[case.name]))


def _contradicted(stored: GradedCase, case: GradedCase) -> Iterator[str]:
    if stored.verdict != case.verdict:
        yield f"verdict is {stored.verdict}, and the regrade's is {case.verdict}"
    if stored.params != case.params:
        yield "parameters are not the problem's"
    if not stored.verdict == case.verdict == "pass":
        return  # the two captures may differ then, and one of them is drawn
    if _facts(stored.kernels) != _facts(case.kernels):
        yield "kernels are not those of the captures"
    if stored.uploaded_bytes != case.uploaded_bytes:
        yield "uploaded bytes are not those of the captures"
    for name in ("gflops", "gbytes_per_s"):
        if not _is_equal(_work(stored, name), _work(case, name)):
            yield f"{name} does not follow from the median"


def _have_shares(case: GradedCase, device: Device | None) -> bool:
    """Whether the shares are those of the rates of a case on a device."""
    ceilings = ceilings_of(device.name) if device is not None else None
    rates = (case.gflops, case.share_of_compute), (case.gbytes_per_s, case.share_of_memory)
    if ceilings is None:
        return all(share is None for _, share in rates)
    return all(
        _is_equal(share, None if rate is None else rate * 1e9 / ceiling)
        for (rate, share), ceiling in zip(rates, (ceilings.tensor, ceilings.copy), strict=True)
    )


def _follows(block: TimeBlock, samples: tuple[float, ...], placements: Placements | None) -> bool:
    if not samples or block.n != len(samples):
        return False
    if placements is not None and not _are_possible(placements, samples):
        return False
    try:
        summary = placed(summarise(samples), placements)
    except OverflowError:
        return False
    names = ("median", "mean", "trimmed_mean", "min", "p5", "p95", "mad")
    pairs = [(getattr(block, name), getattr(summary, name)) for name in names]
    pairs += zip(block.ci95 or (None, None), summary.ci95 or (None, None), strict=True)
    return all(_is_equal(stored, computed) for stored, computed in pairs)


def _are_possible(placements: Placements, samples: tuple[float, ...]) -> bool:
    """Whether processes may have these medians. A result does not tell which process took which sample."""
    medians = placements.medians_us
    if not 2 <= len(medians) <= len(samples) // SAMPLES_MIN:
        return False
    least, most = min(medians), max(medians)
    is_among = 0 < min(samples) <= least and most <= max(samples)
    return is_among and _is_equal(1 + placements.spread, most / least)


def _is_score(score_s: float, cases: tuple[GradedCase, ...]) -> bool:
    """Whether a score is that of the cases by one of the rules."""
    try:
        return any(_is_equal(score_s, score_of(cases, ranking)) for ranking in RANKINGS)
    except (OverflowError, ValueError):  # sums of huge samples, the logarithm of a mean that is not above 0
        return False


def _is_equal(stored: float | None, computed: float | None) -> bool:
    if stored is None or computed is None:
        return stored is computed
    return math.isclose(stored, computed, rel_tol=RELATIVE)


def _facts(kernels: tuple[KernelEvidence, ...]) -> tuple[KernelEvidence, ...]:
    """The kernels without what another machine's libraries, or the other capture, may change."""
    return tuple(replace(each, origin="", source="", source_by="") for each in kernels)


def _work(case: GradedCase, rate: str) -> float | None:
    """The operations or bytes of a rate."""
    value = getattr(case, rate)
    return None if value is None or case.time_us is None else value * case.time_us.median
