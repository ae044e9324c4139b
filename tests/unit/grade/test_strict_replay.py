"""From the samples of a strict replay to its verdict and time, where there is no judge."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import msgspec

from benchguard.grade.strict_replay import judged
from benchguard.replay.evidence import Evidence
from benchguard.replay.options import ReplayOptions
from benchguard.replay.protocol import OutputCheck, Overhead
from benchguard.replay.result import ReplayResult, SampleRow, Settings
from tests.unit.grade.test_outcome import EMPTY
from tests.unit.grade.test_timing import honest, remembers, table
from tests.unit.replay.fake_engine import DEVICE, PREPARED

RIGHT = OutputCheck(200, 0, "")
OPTIONS = ReplayOptions(strict=True)
SETTINGS = Settings("flush", "warm", True, "samples=200", 0, "libcuda.so.1", 1, 20, False, 12, strict=True)
UNSTEADY = OutputCheck(200, 0, "", "two untimed runs differ")


def result(rows: Sequence[SampleRow], checked: OutputCheck = RIGHT) -> ReplayResult:
    """A replay on a GPU that passed so far."""
    return ReplayResult(
        verdict="pass",
        reason="",
        capture="00" * 32,
        path="x.ncap",
        region="1",
        settings=SETTINGS,
        kernels=(),
        wall_s=1.0,
        table=tuple(rows),
        empty=EMPTY,
        overhead=Overhead(0.03, 1.2, 2.0, empty_beside_us=99.0),
        device=msgspec.structs.replace(DEVICE, pci_bus="0000:19:00.0"),
        prepared=PREPARED,
        checked=checked,
    )


def test_honest_samples_pass_with_all_checks_held() -> None:
    found = judged(result(table(200, honest)), OPTIONS)
    assert (found.verdict, found.reason, found.notes) == ("pass", "", ())
    assert {each.state for each in found.evidence} == {"held"}
    assert found.evidence[0] == Evidence("outputs", "held")
    assert found.time_us is not None and found.time_us.n == 200


def test_carried_results_are_a_violation() -> None:
    found = judged(result(table(200, remembers)), OPTIONS)
    assert (found.verdict, found.status) == ("violation", 3)
    assert "the kernel keeps results" in found.reason


def test_memory_that_is_not_restored_is_no_proof() -> None:
    found = judged(dataclasses.replace(result(table(200, honest)), unrestored="the heap"), OPTIONS)
    assert Evidence("restored memory", "could not tell", "the heap") in found.evidence
    assert found.time_us is not None and found.time_us.n == 12


def test_few_one_use_samples_are_the_time() -> None:
    rows = table(16, remembers)
    found = judged(result(rows), OPTIONS)
    once = [row.device_us for row in rows if row.one_use]
    assert found.verdict == "pass" and found.time_us is not None
    assert (found.time_us.n, found.time_us.min) == (len(once), min(once))
    assert found.notes == (
        "timed on the 12 one-use inputs only: 4 samples on repeated inputs, and 20 are needed",
    )


def test_work_after_the_end_event_is_a_violation() -> None:
    late = [dataclasses.replace(row, tail_us=5000.0) for row in table(200, honest)]
    found = judged(result(late), OPTIONS)
    assert found.verdict == "violation" and "outlives the call" in found.reason


def test_check_that_could_not_tell_is_listed_or_refused() -> None:
    rows = table(200, honest)
    found = judged(result(rows, UNSTEADY), OPTIONS)
    assert (found.verdict, found.evidence[0]) == (
        "pass",
        Evidence("outputs", "could not tell", "two untimed runs differ"),
    )
    refused = judged(result(rows, UNSTEADY), ReplayOptions(strict=True, require_evidence="full"))
    assert (refused.verdict, refused.reason) == ("unproven", "outputs: two untimed runs differ")


def test_wrong_outputs_keep_their_verdict() -> None:
    whole = result(
        table(200, remembers), OutputCheck(200, 3, "output 'y' of sample 5 is not the recorded one")
    )
    found = judged(dataclasses.replace(whole, verdict="wrong", reason="why"), OPTIONS)
    assert (found.verdict, found.reason, found.evidence[0].state) == ("wrong", "why", "failed")
