"""The cordon's findings: its state by the map of violations, the unchecked kernels, and the end of the replay."""

from __future__ import annotations

import struct
from types import SimpleNamespace
from typing import cast

import pytest

from benchguard.capture.fatbin import MAGIC
from benchguard.capture.layout import ImageFormat
from benchguard.grade.cordon import cordon_of
from benchguard.grade.cordon_capture import Extent, Plan, Spot, ptx_of
from benchguard.grade.cordon_result import Cordon, Unchecked
from benchguard.grade.outcome import Findings, evidence_of, outcome_of
from benchguard.judge.ceilings import rates_of
from benchguard.probe.bounds.check import HEADER_BYTES, OUTSIDE, SITE_BYTES, map_bytes
from benchguard.probe.source import SourceError
from benchguard.replay.result import ReplayResult
from tests.unit.grade.test_outcome import ROWS, checked, replayed

SITES = (
    Spot("k", 12, "k.cu", 4, "st.global.u32", "write", "global"),
    Spot("k", 15, "", 0, "prefetch.global.L2", "prefetch", "global"),
)
PLAN = Plan(0x9000, SITES, (Extent(0x1000, 64, "y"),), checked=1)
DOUBT = Unchecked("gemm", "its image has machine code only, no PTX")


def map_of(*counts: int) -> bytes:
    raw = bytearray(map_bytes(len(SITES)))
    for site, count in enumerate(counts):
        at = HEADER_BYTES + site * SITE_BYTES
        entry = struct.pack("<QQQII3I3I", 0x1044, 0x1000, 64, OUTSIDE, 4, 1, 2, 3, 4, 5, 6)
        struct.pack_into("<Q", raw, at, count)
        raw[at + 8 : at + 8 + len(entry)] = entry
    return bytes(raw)


def result_of(*maps: bytes, verdict: str = "pass") -> ReplayResult:
    namespace = SimpleNamespace(verdict=verdict, reason="it hung", outputs={"0x9000": list(maps)})
    return cast(ReplayResult, namespace)


def test_no_violation_holds() -> None:
    assert cordon_of(PLAN, result_of(map_of(0), map_of(0))) == Cordon("held", "", checked=1, sets=2)


def test_violation_fails_and_is_described() -> None:
    cordon = cordon_of(PLAN, result_of(map_of(3), map_of(4)))
    assert cordon.status == "failed"
    assert cordon.reason == (
        "kernel code k, k.cu:4 (PTX line 12): write of 4 bytes at 0x1044, outside of the memory that it was given, "
        "4 bytes from y; thread (1, 2, 3), block (4, 5, 6)"
    )
    (found,) = cordon.violations
    assert (found.count, found.nearest, found.distance, found.source) == (7, "y", 4, "k.cu:4")


def test_prefetch_outside_is_listed_and_no_violation() -> None:
    cordon = cordon_of(PLAN, result_of(map_of(0, 5)))
    assert (cordon.status, len(cordon.violations)) == ("held", 1)


def test_unchecked_kernel_could_not_tell_and_a_violation_counts_more() -> None:
    plan = Plan(PLAN.map, SITES, PLAN.extents, (DOUBT,), 0, 1)
    assert cordon_of(plan, result_of(map_of(0))).status == "could not tell"
    assert (
        "gemm is not checked (its image has machine code only" in cordon_of(plan, result_of(map_of(0))).reason
    )
    assert cordon_of(plan, result_of(map_of(1))).status == "failed"


def test_violation_beside_memory_that_no_table_lists_could_not_tell() -> None:
    """An honest kernel that uses the device heap must not be accused."""
    plan = Plan(PLAN.map, SITES, PLAN.extents, (Unchecked("k", "uses the heap of the device"),), hidden="k")
    cordon = cordon_of(plan, result_of(map_of(1)))
    assert (cordon.status, len(cordon.violations)) == ("could not tell", 1)
    assert cordon.reason.endswith(
        "kernel k may have other memory, such as the device heap or another module's global"
    )


@pytest.mark.parametrize("verdict", ["timeout", "failed", "error", "unreplayable"])
def test_replay_without_an_end_could_not_tell(verdict: str) -> None:
    cordon = cordon_of(PLAN, result_of(map_of(0), verdict=verdict))
    assert (cordon.status, cordon.reason) == (
        "could not tell",
        "the replay with checked kernels did not end: it hung",
    )


@pytest.mark.parametrize("maps", [(), (b"",), (map_of(0)[:-1],)])
def test_missing_or_short_map_could_not_tell(maps: tuple[bytes, ...]) -> None:
    assert cordon_of(PLAN, result_of(*maps)).status == "could not tell"


def findings_of(cordon: Cordon | None) -> Findings:
    return Findings(replayed(ROWS), checked(ROWS), rates_of(None, None, None, ""), "", cordon=cordon)


def test_failed_cordon_is_a_violation_and_an_unknown_one_is_unproven() -> None:
    assert [each.check for each in evidence_of(findings_of(None))].count("device cordon") == 0
    failed = outcome_of(findings_of(Cordon("failed", "it wrote outside")))
    assert (failed.verdict, failed.reason) == ("violation", "it wrote outside")
    unknown = findings_of(Cordon("could not tell", "no PTX"))
    assert outcome_of(unknown).verdict == "pass"
    assert "device cordon: no PTX" in outcome_of(unknown, require_evidence=True).reason


def fat_binary(*kinds: int) -> bytes:
    text = b".version 8.0\n"
    entries = b"".join(
        struct.pack("<HHIQI", kind, 0, 64, len(text), 0).ljust(64, b"\0") + text for kind in kinds
    )
    return struct.pack("<IHHQ", MAGIC, 1, 16, len(entries)) + entries


@pytest.mark.parametrize(
    ("image", "image_format", "is_sim", "reason"),
    [
        (b"\x7fELF", ImageFormat.ELF, False, "machine code only"),
        (fat_binary(2), ImageFormat.FATBIN, True, "machine code only"),
        (fat_binary(1, 2), ImageFormat.FATBIN, False, "machine code, too"),
        (fat_binary(1, 1), ImageFormat.FATBIN, True, "several codes"),
        (fat_binary(1, 8), ImageFormat.FATBIN, True, "several codes"),
    ],
)
def test_image_whose_ptx_may_not_run_is_unchecked(
    image: bytes, image_format: ImageFormat, is_sim: bool, reason: str
) -> None:
    with pytest.raises(SourceError, match=reason):
        ptx_of(image, image_format, is_sim)


def test_only_ptx_of_a_fat_binary_is_checked() -> None:
    assert ptx_of(fat_binary(1), ImageFormat.FATBIN, False) == b".version 8.0\n"
    assert ptx_of(fat_binary(1, 2), ImageFormat.FATBIN, True) == b".version 8.0\n"
