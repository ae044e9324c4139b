"""Times of a comparison of captures."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from benchguard.grade import capture_turns
from benchguard.grade.capture_turns import CaptureTurns
from benchguard.grade.outcome import Outcome
from benchguard.replay.options import ReplayOptions
from benchguard.replay.result import SampleRow
from tests.unit.grade.test_strict_replay import result
from tests.unit.grade.test_timing import honest, table
from tests.unit.replay.fake_engine import DEVICE

WORK_US = 3000.0


def tampered() -> list[SampleRow]:
    """Two of three samples have the event time of a kernel that wrote it. Load of the CPU driver could explain that."""
    rows = [dataclasses.replace(row, device_us=WORK_US, span_us=WORK_US + 100) for row in table(60, honest)]
    return [dataclasses.replace(row, device_us=3.0) if n % 3 else row for n, row in enumerate(rows)]


def replayed(rows: list[SampleRow], strict: bool, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The times that count in a replay of the comparison, on the CPU driver."""
    whole = dataclasses.replace(result(rows), device=msgspec.structs.replace(DEVICE, pci_bus=""))
    monkeypatch.setattr(capture_turns, "replay", lambda *_, **__: whole)
    subject: Any = SimpleNamespace(name=whole.capture)
    turns = CaptureTurns((Path("a"), Path("b")), (subject, subject), ReplayOptions(strict=strict), None, 6)
    found = turns(1)
    assert not isinstance(found, Outcome)
    return [row.device_us for row in found.table]


def test_honest_times_of_a_strict_comparison_are_those_of_the_events(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = table(60, honest)
    assert replayed(rows, True, monkeypatch) == [row.device_us for row in rows]


@pytest.mark.parametrize("strict", [True, False])
def test_strict_comparison_has_no_time_below_the_devices_clock(
    strict: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The events of a capture of an adversary are claims. Without --strict captures are trusted, and not checked."""
    least = min(replayed(tampered(), strict, monkeypatch))
    assert least > 0.9 * WORK_US if strict else least == 3.0
