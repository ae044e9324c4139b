"""The first reason wins, and a pass is what has none."""

from __future__ import annotations

import dataclasses
from collections import Counter
from types import SimpleNamespace
from typing import Any, cast

import pytest

from benchguard.grade.outcome import Findings, outcome_of
from benchguard.judge.ceilings import rates_of
from benchguard.judge.contract import Checked, Mismatch
from benchguard.replay.protocol import Overhead
from benchguard.replay.result import ReplayResult, SampleRow
from tests.unit.grade.test_timing import honest, remembers, table

ROWS = table(200, honest)
WRONG = Mismatch(3, 1, "sparse", "y", 7, 100, "y[4] should be 1, is 2")


def replayed(
    rows: list[SampleRow], verdict: str = "pass", reason: str = "", pci_bus: str = "0000:19:00.0"
) -> ReplayResult:
    """What an outcome looks at of it."""
    overhead = Overhead(0.03, 1.2, 2.0, empty_host_us=10.0, empty_tail_us=4.0)
    device = SimpleNamespace(pci_bus=pci_bus)
    found = SimpleNamespace(
        verdict=verdict, reason=reason, table=tuple(rows), overhead=overhead, device=device
    )
    return cast(ReplayResult, found)


def checked(rows: list[SampleRow], **changes: Any) -> Checked:
    counts = tuple(Counter(row.input_set or 0 for row in rows).items())
    plain = Checked(len(rows), 0, None, 1e-7, 1e-6, 0, "", counts)
    return Checked(**{**{f: getattr(plain, f) for f in plain.__struct_fields__}, **changes})


def outcome(rows: list[SampleRow] = ROWS, found: Checked | None = None, **replay: str) -> tuple[str, str]:
    rates = rates_of(100.0, None, None, "")
    from benchguard.grade.timing import first_use_of

    findings = Findings(replayed(rows, **replay), found or checked(rows), rates, first_use_of(rows))
    seen = outcome_of(findings)
    return seen.verdict, seen.reason


def each(**changes: Any) -> list[SampleRow]:
    return [dataclasses.replace(row, **changes) for row in ROWS]


def test_nothing_against_it_is_a_pass() -> None:
    assert outcome() == ("pass", "")


def test_a_wrong_output_names_sample_buffer_and_element() -> None:
    verdict, reason = outcome(found=checked(ROWS, wrong=1, first=WRONG))
    assert verdict == "wrong"
    assert all(part in reason for part in ("1 of 200", "'y' of sample 3", "sparse", "7 of 100", "y[4]"))


@pytest.mark.parametrize("verdict", ["unreplayable", "timeout", "failed", "error"])
def test_a_replay_that_came_to_nothing_is_what_it_says(verdict: str) -> None:
    assert outcome(verdict=verdict, reason="why") == (verdict, "why")


def test_a_sample_that_was_not_checked_is_no_pass() -> None:
    counts = tuple(Counter(row.input_set or 0 for row in ROWS[1:]).items())
    assert outcome(found=checked(ROWS, samples=199, counts=counts))[0] == "error"


def test_samples_checked_on_other_inputs_are_no_pass() -> None:
    counts = ((0, 200),)
    assert outcome(found=checked(ROWS, counts=counts))[0] == "error"


def test_work_behind_the_end_event_is_a_violation() -> None:
    verdict, reason = outcome(each(tail_us=5000.0))
    assert (verdict, "outlives the call" in reason) == ("violation", True)


def test_one_late_wake_up_of_the_host_is_none() -> None:
    rows = [dataclasses.replace(ROWS[0], tail_us=5000.0), *ROWS[1:]]
    assert outcome(rows) == ("pass", "")


def test_work_before_the_start_event_is_a_violation() -> None:
    rows = [dataclasses.replace(row, host_us=row.device_us + 400.0) for row in ROWS]
    verdict, reason = outcome(rows)
    assert (verdict, "outside the events" in reason) == ("violation", True)


def test_what_a_host_sees_of_the_cpu_driver_says_nothing() -> None:
    rows = [dataclasses.replace(row, host_us=row.device_us + 4000.0, tail_us=5000.0) for row in ROWS]
    assert outcome(rows, pci_bus="") == ("pass", "")


def test_events_that_say_more_than_the_hosts_clock_are_a_violation() -> None:
    verdict, reason = outcome(each(host_us=20.0))
    assert (verdict, "tampered" in reason) == ("violation", True)


def test_what_remembers_is_a_violation() -> None:
    assert outcome(table(200, remembers))[0] == "violation"


def test_wrong_comes_before_all_that_is_only_doubtful() -> None:
    rows = table(200, remembers)
    assert outcome(rows, checked(rows, wrong=1, first=WRONG))[0] == "wrong"


def test_a_time_that_cannot_be_is_a_violation() -> None:
    rates = rates_of(1.0, 10**12, None, "NVIDIA H200")
    findings = Findings(replayed(ROWS), checked(ROWS), rates, None)
    assert outcome_of(findings).verdict == "violation"


def test_a_median_that_is_not_known_is_unconverged() -> None:
    assert outcome(verdict="unconverged", reason="too noisy") == ("unconverged", "too noisy")
