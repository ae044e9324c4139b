"""Give the engine the input set of each sample.

All sets are in the engine's memory, if the device has room. Otherwise each sample's set is written there just before
the sample, whatever set it is, so that a kernel cannot tell the two kinds of sets apart. One-use sets may also follow
each other in one place of the shared memory, and of the engine's (judge/streaming.py). Then a byte of the judge
announces each set, and every sample waits until the next one-use set has been announced and written.
"""

from __future__ import annotations

import os
import select
from collections.abc import Callable

from msgspec.structs import replace

from .contract import EngineError, Sampler
from .protocol import NO_SET, OURS, TIMEOUT, InputPart, Request, Sample

THE_SET = 0
"""The engine's number of the only set that it holds."""


class Inputs:
    """The input sets of a replay, in `memory`. Seconds are of `clock`, which is monotonic."""

    def __init__(
        self, engine: Sampler, request: Request, memory: memoryview, clock: Callable[[], float]
    ) -> None:
        self._engine, self._memory, self._clock = engine, memory, clock
        self._ready = request.inputs_ready
        self._is_single = False
        self._deadline = request.deadline
        self._first_one_use = request.input_sets - request.one_use_sets
        self._to_come = request.one_use_sets if self._ready >= 0 else 0
        self._is_used = True
        self._parts: dict[int, list[InputPart]] = {}
        for part in request.inputs:
            self._parts.setdefault(part.number, []).append(part)
        self.write_seconds = self.wait_seconds = 0.0

    def give(self, one_set: bool) -> None:
        """Write the sets to the engine's memory, or the first one, so that the engine knows their places.

        `one_set`: the engine has room for one set at a time. A streamed set is written when it has been announced.
        """
        self._is_single = one_set
        for number, parts in self._parts.items():
            if number == 0 or (not one_set and self.is_there(number)):
                self._write(number, parts)

    def measure(self, number: int) -> Sample:
        """One sample on an input set."""
        sample = self._named(self._engine.measure(self.hold(number)), number)
        self._is_used = self._is_used or not self.is_there(number)
        return sample

    def measure_empty(self, number: int) -> Sample:
        """One sample of an empty kernel on a repeated input set."""
        return self._named(self._engine.measure_empty(self.hold(number)), number)

    def _named(self, sample: Sample, number: int) -> Sample:
        """The sample with our number of its set."""
        return replace(sample, input_set=number) if self._is_single or not self.is_there(number) else sample

    def hold(self, number: int) -> int:
        """Have the engine hold an input set; return the engine's number of the set."""
        if self._is_single and number != NO_SET:
            self._write_timed(number)
        return self.held_as(number)

    def held_as(self, number: int) -> int:
        """The engine's number of a set that it holds."""
        if number == NO_SET:
            return number
        return THE_SET if self._is_single else self._place_of(number)

    def is_there(self, number: int) -> bool:
        """Whether a set is still in the shared memory after its sample: a streamed one is not."""
        return self._ready < 0 or number == NO_SET or number < self._first_one_use

    def is_repeated(self, number: int) -> bool:
        """Whether a set may be used for any number of runs."""
        return number < self._first_one_use

    def wait(self) -> None:
        """Before a timed sample: wait until the next one-use set is there, if the last one has been used."""
        if self._to_come == 0 or not self._is_used:
            return
        began = self._clock()
        poll = select.poll()
        poll.register(self._ready, select.POLLIN)
        if not poll.poll(max(0.0, 1000 * (self._deadline - began))):
            raise EngineError(
                TIMEOUT, "the judge drew no further input set before the time-out; raise --timeout"
            )
        if not os.read(self._ready, 1):
            raise EngineError(OURS, "the judge closed the pipe of input sets; see the judge's own message")
        self._to_come -= 1
        self._is_used = False
        self.wait_seconds += self._clock() - began
        if not self._is_single:
            self._write_timed(self._first_one_use)

    def _place_of(self, number: int) -> int:
        """The place of a set in the shared memory: streamed sets have one place."""
        return min(number, self._first_one_use) if self._ready >= 0 else number

    def _write_timed(self, number: int) -> None:
        began = self._clock()
        self._write(self.held_as(number), self._parts[self._place_of(number)])
        self.write_seconds += self._clock() - began

    def _write(self, number: int, parts: list[InputPart]) -> None:
        for part in parts:
            if part.zeros:
                self._engine.zeros(number, part.address, part.bytes)
                continue
            data = self._memory[part.offset : part.offset + part.bytes]
            self._engine.input(number, part.address, data)
