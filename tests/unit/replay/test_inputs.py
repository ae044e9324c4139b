"""The input set of each sample: all sets on the device, one at a time, or streamed by the judge."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from benchguard.replay.contract import EngineError
from benchguard.replay.convergence import Count
from benchguard.replay.inputs import Inputs
from benchguard.replay.protocol import OURS, TIMEOUT, Batch, InputPart, Request
from benchguard.replay.schedule import ONE_USE_LEAST
from tests.unit.replay.fake_engine import PREPARED, START, FakeEngine, events_of, request

ADDRESS, BYTES = 0x3000, 8


def memory(stored: int) -> memoryview:
    """Set n consists of bytes n."""
    return memoryview(b"".join(bytes([number]) * BYTES for number in range(stored)))


def of_sets(sets: int, stored: int, **changes: object) -> Request:
    parts = tuple(InputPart(number, ADDRESS, BYTES, number * BYTES) for number in range(stored))
    return request(inputs=parts, input_sets=sets, **changes)


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for each in ends:
        try:
            os.close(each)
        except OSError:
            continue


def test_each_sample_writes_its_set_whatever_set_it_is() -> None:
    engine = FakeEngine()
    inputs = Inputs(engine, of_sets(3, 3, one_use_sets=1), memory(3), lambda: engine.now)
    inputs.give(one_set=True)
    for number in (1, 1, 2, 0):
        assert inputs.measure(number).input_set == number
    assert engine.calls == ["input", *["input", "measure"] * 4]
    assert [data[0] for _, _, data in engine.inputs] == [0, 1, 1, 2, 0]
    assert {(number, address) for number, address, _ in engine.inputs} == {(0, ADDRESS)}
    assert set(engine.sets) == {0}


def test_all_sets_are_given_once_if_the_device_has_room() -> None:
    engine = FakeEngine()
    inputs = Inputs(engine, of_sets(3, 3, one_use_sets=1), memory(3), lambda: engine.now)
    inputs.give(one_set=False)
    for number in (1, 1, 2, 0):
        inputs.measure(number)
    assert engine.calls == [*["input"] * 3, *["measure"] * 4]
    assert engine.sets == [1, 1, 2, 0]


def test_zeros_are_not_read_from_memory() -> None:
    engine = FakeEngine()
    parts = tuple(InputPart(number, ADDRESS, BYTES, number * BYTES, zeros=number == 1) for number in range(2))
    Inputs(engine, request(inputs=parts, input_sets=2), memory(2), lambda: engine.now).give(one_set=False)
    assert engine.calls == ["input", "zeros"]
    assert [data for _, _, data in engine.inputs] == [bytes(BYTES)] * 2


def test_streamed_sets_share_the_last_place(pipe: tuple[int, int]) -> None:
    engine = FakeEngine()
    asked = of_sets(10, 3, one_use_sets=8, inputs_ready=pipe[0])
    inputs = Inputs(engine, asked, memory(3), lambda: engine.now)
    inputs.give(one_set=True)
    for number in (0, 1, 2, 3, 9):
        assert inputs.measure(number).input_set == number
    assert [data[0] for _, _, data in engine.inputs] == [0, 0, 1, 2, 2, 2]


def test_streamed_sets_are_written_once_each_if_the_device_has_room(pipe: tuple[int, int]) -> None:
    engine = FakeEngine()
    asked = of_sets(10, 3, one_use_sets=8, inputs_ready=pipe[0])
    inputs = Inputs(engine, asked, memory(3), lambda: engine.now)
    inputs.give(one_set=False)
    for number in (0, 2, 1, 3):
        os.write(pipe[1], b".")
        inputs.wait()
        inputs.measure(number)
    assert [(place, data[0]) for place, _, data in engine.inputs] == [(0, 0), (1, 1), (2, 2), (2, 2)]
    assert engine.sets == [0, 2, 1, 2]


def test_sample_after_a_streamed_one_waits_for_the_next_set(pipe: tuple[int, int]) -> None:
    """The pause comes before a sample of any set, so it does not announce a one-use set."""
    engine = FakeEngine()
    asked = of_sets(10, 3, one_use_sets=8, inputs_ready=pipe[0], deadline=START)
    inputs = Inputs(engine, asked, memory(3), lambda: engine.now)

    def waits() -> bool:
        try:
            inputs.wait()
        except EngineError as error:
            assert error.status == TIMEOUT
            return True
        return False

    assert waits()  # no set has been drawn
    os.write(pipe[1], b".")
    assert not waits()
    inputs.measure(0)
    assert not waits()
    inputs.measure(2)
    assert waits()
    os.write(pipe[1], b".")
    assert not waits()


def test_judge_that_closed_the_pipe_ends_the_replay(pipe: tuple[int, int]) -> None:
    engine = FakeEngine()
    asked = of_sets(10, 3, one_use_sets=8, inputs_ready=pipe[0])
    inputs = Inputs(engine, asked, memory(3), lambda: engine.now)
    os.close(pipe[1])
    with pytest.raises(EngineError, match="the judge closed the pipe") as raised:
        inputs.wait()
    assert raised.value.status == OURS


@pytest.mark.parametrize(("cost", "seconds"), [(0.001, 1000.0), (8.0, 1000.0), (8.0, 20.0)])
def test_one_use_sets_are_used_however_long_a_sample_takes(cost: float, seconds: float) -> None:
    """At 8 s a sample, the 30 s for samples end after the fourth, and 80 % of what 20 s leave before the first."""
    engine = FakeEngine(cost=cost, prepared=replace(PREPARED, one_set=1))
    asked = of_sets(20, 20, one_use_sets=12, deadline=START + seconds, rule=Count(40))
    asked = asked if cost < 1 else of_sets(20, 20, one_use_sets=12, deadline=START + seconds)
    events = events_of(engine, asked, bytes(memory(20)))
    rows = [each.sample.input_set for event in events if isinstance(event, Batch) for each in event.samples]
    once = [each for each in rows if each >= 8]
    assert len(once) == len(set(once)) >= ONE_USE_LEAST
    assert len(rows) == 40 if cost < 1 else len(rows) <= 4 + ONE_USE_LEAST
