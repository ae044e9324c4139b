"""Cases and their throw-away inputs reach the runner in batches, one of which is made ahead."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

import pytest

from benchguard.errors import BenchguardError
from benchguard.problem.spec import Buffer, CaseSpec, layout_of
from benchguard.quarantine.cases import CaseSender, Receiver
from benchguard.quarantine.contract import Batch, Cases
from tests.support.waiting import wait_until

SPECS = tuple(CaseSpec(f"n={n}", (Buffer("x", "uint8", (n,)),)) for n in (1, 2, 3, 4))


@dataclass
class Source:
    """Batches of two cases, with the number of the case in each byte. That of the case `fails` cannot be made."""

    fails: int = -1
    made: list[int] = field(default_factory=list)

    def find(self) -> Cases:
        return Cases(SPECS, tensors=True)

    def throwaway(self, first: int) -> tuple[Batch, int]:
        self.made.append(first)
        if first == self.fails:
            raise BenchguardError("no memory")
        descriptor, offsets, at = os.memfd_create("inputs"), [], 0
        for number in (first, first + 1):
            offsets.append(at)
            at += os.write(descriptor, bytes([number]) * 128)
        layouts = tuple(layout_of(each.read) for each in SPECS[first : first + 2])
        return Batch(first, layouts, tuple(offsets)), descriptor


def test_next_batch_is_made_while_the_runner_has_one() -> None:
    source = Source()
    with CaseSender(source) as sender:
        receiver = Receiver(os.dup(sender.theirs))
        sender.start()
        assert receiver.cases() == source.find()
        for case, made in ((0, [0, 2]), (1, [0, 2]), (2, [0, 2]), (3, [0, 2])):
            found = receiver.throwaway(case)
            assert found is not None
            memory, layout, offset = found
            assert memory is not None and layout == layout_of(SPECS[case].read)
            assert memory[offset : offset + 128] == bytes([case]) * 128
            wait_until(lambda wanted=made: source.made == wanted)
        assert sender.result().cases == SPECS


def test_batch_is_not_made_before_the_one_ahead_is_taken() -> None:
    source = Source()
    with CaseSender(source) as sender:
        receiver = Receiver(os.dup(sender.theirs))
        sender.start()
        assert receiver.cases() is not None
        wait_until(lambda: source.made == [0])
        assert source.made == [0]
        del receiver
        assert sender.result().cases == SPECS
    assert source.made == [0]


def test_inputs_that_cannot_be_made_end_the_runner_and_raise() -> None:
    source = Source(fails=2)
    with CaseSender(source) as sender:
        receiver = Receiver(os.dup(sender.theirs))
        sender.start()
        assert receiver.cases() is not None
        assert receiver.throwaway(1) is not None
        assert receiver.throwaway(2) is None
        with pytest.raises(BenchguardError, match="no memory"):
            sender.result()
