"""The replay's side of the output slots, with an honest and a misbehaving judge."""

from __future__ import annotations

import mmap
import os
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from benchguard.ipc.slots import (
    ANNOUNCEMENT,
    MADV_POPULATE_WRITE,
    SLOTS_MAPPED,
    SlotError,
    SlotWriter,
    map_first_slots,
)
from benchguard.replay import loop
from benchguard.replay.convergence import Count
from benchguard.replay.protocol import OURS, Done, Failed, SlotPart, SlotRequest
from tests.unit.replay.fake_engine import FakeEngine, events_of, request

SLOTS, STRIDE = 3, 64
PARTS = (SlotPart(100, 8, 0, True), SlotPart(200, 4, 32, False))


class Judge:
    """The other side's ends."""

    def __init__(self) -> None:
        self.announced, self.announce = os.pipe()
        self.release, self.releasing = os.pipe()
        os.set_blocking(self.announced, False)
        self.memory = bytearray(SLOTS * STRIDE)
        self.asked = SlotRequest(-1, SLOTS, STRIDE, PARTS, self.announce, self.release)

    def heard(self) -> list[tuple[int, int, int]]:
        with suppress(BlockingIOError):
            return list(ANNOUNCEMENT.iter_unpack(os.read(self.announced, 1 << 16)))
        return []

    def give(self, *slots: int) -> None:
        os.write(self.releasing, bytes(slots))

    def writer(self, seconds: float = 20.0) -> SlotWriter:
        return SlotWriter(self.asked, memoryview(self.memory), time.monotonic() + seconds)

    def close(self) -> None:
        for descriptor in (self.announced, self.announce, self.release, self.releasing):
            with suppress(OSError):
                os.close(descriptor)


@pytest.fixture
def other() -> Iterator[Judge]:
    judge = Judge()
    yield judge
    judge.close()


def write(address: int, into: memoryview) -> None:
    into[:] = bytes([address % 251]) * len(into)


def test_sample_copied_and_announced(other: Judge) -> None:
    writer = other.writer()
    writer.put(7, write)
    ((number, input_set, slot),) = other.heard()
    assert (number, input_set) == (0, 7)
    assert other.memory[slot * STRIDE :][:STRIDE] == bytes([100] * 8 + [0] * 24 + [200] * 4 + [0] * 28)
    assert writer.copy_seconds > 0


def test_first_slots_mapped_without_change() -> None:
    """A memfd has no pages at first. The writer takes the last slots first, and their pages are there then."""
    slots, stride = SLOTS_MAPPED + 3, 3 * mmap.PAGESIZE
    descriptor = os.memfd_create("slots")
    os.ftruncate(descriptor, slots * stride)
    memory = mmap.mmap(descriptor, slots * stride)
    try:
        memory.madvise(MADV_POPULATE_WRITE, 0, mmap.PAGESIZE)
    except OSError:
        pytest.skip("this kernel has no MADV_POPULATE_WRITE")
    memory[-1] = 5
    map_first_slots(SlotRequest(-1, slots, stride, (), -1, -1), memoryview(memory))
    assert os.fstat(descriptor).st_blocks * 512 == mmap.PAGESIZE + SLOTS_MAPPED * stride
    assert memory[-1] == 5 and not any(memory[:-1])
    os.close(descriptor)


def test_mapping_of_slots_ends_before_the_first_sample() -> None:
    """The thread that maps them would disturb the samples."""
    calls: list[list[str]] = []
    engine = FakeEngine()
    loop.run(
        engine,
        request(Count(20)),
        loop.Buffers(memoryview(b""), memoryview(b""), wait=lambda: calls.append(list(engine.calls))),
        lambda _: None,
        time.monotonic,
    )
    (before,) = calls
    assert before == ["prepare"]


def test_slot_reused_only_after_return(other: Judge) -> None:
    writer = other.writer()
    for number in range(SLOTS):
        writer.put(number, write)
    messages = other.heard()
    assert sorted(slot for _, _, slot in messages) == [0, 1, 2]
    other.give(messages[1][2])
    writer.put(9, write)
    assert other.heard() == [(3, 9, messages[1][2])]


def test_waiting_for_slot_times_out(other: Judge) -> None:
    writer = other.writer(seconds=0.2)
    for number in range(SLOTS):
        writer.put(number, write)
    with pytest.raises(SlotError, match="sample 3: the judge returned none of 3 output slots") as excinfo:
        writer.put(3, write)
    assert excinfo.value.timed_out


@pytest.mark.parametrize(
    ("slots", "said"),
    [([3], "slot 3"), ([255], "slot 255"), ([1, 1], "slot 1"), ([0, 1, 2, 0], "slot 0")],
)
def test_return_of_unheld_slot_refused(other: Judge, slots: list[int], said: str) -> None:
    writer = other.writer()
    for number in range(SLOTS):
        writer.put(number, write)
    other.give(*slots)
    with pytest.raises(SlotError, match=f"returned {said}, which it did not hold") as excinfo:
        writer.put(3, write)
    assert not excinfo.value.timed_out


def test_return_of_free_slot_refused(other: Judge) -> None:
    other.give(0)
    with pytest.raises(SlotError, match="sample 0: the judge returned slot 0"):
        other.writer().put(0, write)


def test_closed_release_pipe_reported(other: Judge) -> None:
    os.close(other.releasing)
    with pytest.raises(SlotError, match="closed its pipe; see the judge's own message"):
        other.writer().put(0, write)


def test_closed_announce_pipe_reported(other: Judge) -> None:
    os.close(other.announced)
    with pytest.raises(SlotError, match="does not read announcements"):
        other.writer().put(0, write)


def test_full_announce_pipe_does_not_block(other: Judge) -> None:
    """Somebody made it not wait, and filled it."""
    os.set_blocking(other.announce, False)
    with suppress(BlockingIOError):
        while os.write(other.announce, bytes(4096)):
            pass
    with pytest.raises(SlotError, match="does not read announcements"):
        other.writer().put(0, write)


def test_only_timed_samples_use_slots(other: Judge) -> None:
    engine = FakeEngine(memory=lambda _, count: count % 256)
    requests = SlotRequest(-1, 64, STRIDE, PARTS, other.announce, other.release)
    memory = bytearray(64 * STRIDE)
    events = events_of(
        engine, request(Count(20), slots=requests, deadline=time.monotonic() + 1e6), memory=memory
    )
    result = events[-1]
    assert isinstance(result, Done) and result.slots is not None
    messages = other.heard()
    assert [number for number, _, _ in messages] == list(range(20))
    for number, _, slot in messages:
        assert memory[slot * STRIDE] == (result.warm_up + number + 1) % 256
    assert "output 100 8" in engine.calls and "output 200 4" not in engine.calls


def test_closed_judge_ends_replay_with_failed(other: Judge) -> None:
    os.close(other.releasing)
    failed = events_of(
        FakeEngine(), request(Count(20), slots=other.asked, deadline=1e9), memory=other.memory
    )[-1]
    assert isinstance(failed, Failed) and failed.status == OURS and failed.phase == "sample"
