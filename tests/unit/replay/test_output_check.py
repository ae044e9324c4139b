"""The check of outputs without a judge: on an engine whose runs give the bytes that a test says."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from benchguard.replay.contract import EngineError
from benchguard.replay.output_check import NO_OUTPUTS, RUNS, OutputChecker
from benchguard.replay.protocol import CANNOT, NO_SET, OutputCheck, OutputPart
from tests.unit.replay.fake_engine import FakeEngine

RIGHT, WRONG = 7, 8
PARTS = (OutputPart(100, 4, 0, True, "x"), OutputPart(200, 8, 0, True, "y"))
UNTIMED_RUNS = RUNS + 1


class Engine(FakeEngine):
    """Output y has the next of `runs` after each run, and RIGHT after the last of them; x is always right."""

    def __init__(self, runs: Sequence[int] = (), recorded: int | None = RIGHT) -> None:
        super().__init__()
        self.runs, self.recorded_byte = list(runs), recorded
        self.now_there = RIGHT
        self.untimed: list[int] = []

    def once(self, number: int) -> None:
        self.untimed.append(number)
        self.run()

    def run(self) -> None:
        self.now_there = self.runs.pop(0) if self.runs else RIGHT

    def read(self, address: int, into: memoryview) -> None:
        into[:] = bytes([self.now_there if address == 200 else RIGHT]) * len(into)

    def recorded(self, address: int, into: memoryview) -> bool:  # noqa: ARG002
        into[:] = bytes([self.recorded_byte or 0]) * len(into)
        return self.recorded_byte is not None


def check(engine: Engine, sets: Sequence[int]) -> OutputCheck:
    """Samples on these input sets, after the untimed runs."""
    checker = OutputChecker(engine, PARTS, math.inf)
    checker.run_recorded()
    checker.run_filled()
    for number in sets:
        engine.run()
        checker.put(number, engine.read)
    return checker.end()


def runs(*samples: int, after: Sequence[int] = ()) -> list[int]:
    return [RIGHT] * UNTIMED_RUNS + [*samples, *after]


def test_outputs_equal_to_the_recorded_outcome_hold() -> None:
    assert check(Engine(), [NO_SET] * 5) == OutputCheck(5, 0, "")


def test_wrong_sample_on_recorded_inputs_is_found() -> None:
    found = check(Engine(runs(RIGHT, WRONG, WRONG, RIGHT)), [NO_SET] * 4)
    assert found == OutputCheck(4, 2, "output 'y' of sample 1 is not the recorded one")


def test_wrong_sample_on_given_inputs_is_found_by_an_untimed_run_after_the_samples() -> None:
    engine = Engine(runs(RIGHT, RIGHT, WRONG))
    found = check(engine, [0, 1, 0])
    text = "output 'y' of sample 2 is not that of an untimed run on the same inputs"
    assert found == OutputCheck(3, 1, text)
    assert engine.untimed == [NO_SET] * UNTIMED_RUNS + [0, 0, 1]


def test_given_inputs_are_not_run_before_their_samples() -> None:
    engine = Engine()
    checker = OutputChecker(engine, PARTS, math.inf)
    checker.run_recorded()
    checker.run_filled()
    assert set(engine.untimed) == {NO_SET}


def test_recorded_outcome_that_no_run_gives_is_wrong() -> None:
    found = check(Engine(recorded=WRONG), [NO_SET])
    assert (found.wrong, found.unknown) == (0, "")
    assert "output 'x' of an untimed run on the recorded inputs is not the recorded one" in found.first


def test_region_that_needs_its_recorded_output_is_refused() -> None:
    """A kernel that returns at once if its output holds a pattern, or one that reads its output."""
    engine = Engine([RIGHT] * RUNS + [WRONG])
    with pytest.raises(
        EngineError, match="output 'y' is not the recorded one if it begins with a pattern"
    ) as refused:
        check(engine, [NO_SET])
    assert refused.value.status == CANNOT


def test_unsteady_region_could_not_be_checked() -> None:
    found = check(Engine([RIGHT, WRONG]), [NO_SET])
    assert (found.wrong, found.first) == (0, "")
    assert "two untimed runs on the same inputs differ in output 'y'" in found.unknown


def test_region_that_is_seldom_unsteady_could_not_be_checked() -> None:
    """A sum by atomics on two cores: one of 12 samples differed. With two runs it was wrong."""
    found = check(
        Engine([RIGHT] * 11 + [WRONG] + [RIGHT] * (UNTIMED_RUNS - 12) + [RIGHT, WRONG]), [NO_SET] * 2
    )
    assert found.first == "" and "differ in output 'y'" in found.unknown


@pytest.mark.parametrize("seconds", [-1.0, 1e9])
def test_slow_region_is_run_twice_before_its_samples(seconds: float) -> None:
    engine = Engine()
    OutputChecker(engine, PARTS, seconds).run_recorded()
    assert len(engine.untimed) == (2 if seconds < 0 else RUNS)


def test_region_unsteady_after_the_samples_could_not_be_checked() -> None:
    """An honest race that two runs before the samples did not show."""
    found = check(Engine(runs(RIGHT, WRONG, after=[WRONG])), [NO_SET, NO_SET])
    assert found.first == "" and "differ in output 'y'" in found.unknown


def test_memory_that_the_capture_does_not_hold_could_not_be_checked() -> None:
    found = check(Engine(recorded=None), [NO_SET])
    assert found.unknown == "the capture has no content of output 'x' after the region"


def test_capture_without_outputs_could_not_be_checked() -> None:
    checker = OutputChecker(Engine(), ())
    checker.run_recorded()
    checker.run_filled()
    assert checker.end() == OutputCheck(0, 0, "", NO_OUTPUTS)
