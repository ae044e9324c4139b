"""A check that takes long keeps no slot, and other samples are read meanwhile."""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from benchguard.ipc.slots import ANNOUNCEMENT, RESTS_MAX, SMALL, SlotError, SlotPlan, SlotReader

SECONDS = 30


class Slow:
    """An inspector whose checks wait until `may_end` is set, and then raise `error` if it has one."""

    def __init__(self, error: Exception | None = None) -> None:
        self.may_end, self.error = threading.Event(), error
        self.read: list[int] = []
        self.checked: list[int] = []

    def first(self, sample: int, _: int, __: int, release: Callable[[], None]) -> Callable[[], None]:
        self.read.append(sample)
        release()

        def check() -> None:
            assert self.may_end.wait(SECONDS)
            if self.error is not None:
                raise self.error
            self.checked.append(sample)

        return check

    later = first


class Replaying:
    def __init__(self, slot_bytes: int, inspector: Slow, pool: ThreadPoolExecutor) -> None:
        announced, self.announce = os.pipe()
        self.released, release = os.pipe()
        plan = SlotPlan(sets=2, one_use=0, slots=1)
        self.reader = SlotReader(plan, slot_bytes, announced, release, inspector, pool)

    def sample(self, number: int) -> None:
        """Announce a sample, and wait for its slot."""
        os.write(self.announce, ANNOUNCEMENT.pack(number, number % 2, 0))
        assert os.read(self.released, 1) == b"\0"

    def end(self) -> None:
        os.close(self.announce)
        self.reader.finish()
        os.close(self.released)


@pytest.mark.parametrize("slot_bytes", [64, SMALL + 1])
def test_samples_read_while_a_check_waits(slot_bytes: int) -> None:
    inspector = Slow()
    with ThreadPoolExecutor(8) as pool:
        replaying = Replaying(slot_bytes, inspector, pool)
        for number in range(6):
            replaying.sample(number)
        assert inspector.read == list(range(6))
        assert not inspector.checked
        inspector.may_end.set()
        replaying.end()
    assert sorted(inspector.checked) == list(range(6))
    assert replaying.reader.trouble is None


def test_error_of_a_check_that_ends_late_is_the_readers() -> None:
    inspector = Slow(SlotError("of the check"))
    with ThreadPoolExecutor(1) as pool:
        replaying = Replaying(64, inspector, pool)
        replaying.sample(0)
        inspector.may_end.set()
        replaying.end()
    assert str(replaying.reader.trouble) == "of the check"


def test_replay_waits_where_too_many_checks_of_small_outputs_do() -> None:
    inspector = Slow()
    with ThreadPoolExecutor(1) as pool:
        replaying = Replaying(64, inspector, pool)
        for number in range(RESTS_MAX + 1):
            replaying.sample(number)
        os.write(replaying.announce, ANNOUNCEMENT.pack(RESTS_MAX + 1, 0, 0))
        assert not select.select([replaying.released], [], [], 0.3)[0]
        inspector.may_end.set()
        replaying.end()
    assert len(inspector.checked) == RESTS_MAX + 2
