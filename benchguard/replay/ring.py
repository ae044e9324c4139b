"""The outputs of every timed sample, in shared memory, for who checks them in another process.

The worker writes ANNOUNCED for each; who checks writes one byte, the slot's number, when the slot may be used again.
"""

from __future__ import annotations

import os
import select
import struct
import time
from collections.abc import Callable

from .contract import EngineError
from .protocol import OURS, TIMEOUT, RingRequest, RingTimes

ANNOUNCED = struct.Struct("<QII")
"""The sample's number from 0, its input set (NO_SET without any), the slot. judge.contract has the same."""

RELEASES = 64
"""Bytes that are read at once: as many as a ring may have slots."""

Read = Callable[[int, memoryview], None]
"""Copy device memory from an address on."""


class RingWriter:
    """Raises EngineError where the other side is gone, or says what cannot be."""

    def __init__(self, request: RingRequest, memory: memoryview, deadline: float) -> None:
        """`deadline` by time.monotonic."""
        self._request, self._memory, self._deadline = request, memory, deadline
        self._free = list(range(request.slots))
        self._samples = 0
        self._copy_s = self._wait_s = 0.0

    @property
    def times(self) -> RingTimes:
        return RingTimes(self._copy_s, self._wait_s)

    def put(self, input_set: int, read: Read) -> None:
        """Copy the outputs of the run that ended last, and say so."""
        slot = self._take_slot()
        began = time.monotonic()
        for part in self._request.parts:
            at = slot * self._request.stride + part.offset
            read(part.address, self._memory[at : at + part.bytes])
        self._copy_s += time.monotonic() - began
        self._announce(input_set, slot)
        self._samples += 1

    def _announce(self, input_set: int, slot: int) -> None:
        record = ANNOUNCED.pack(self._samples, input_set, slot)
        try:
            written = os.write(
                self._request.announce, record
            )  # at most a slot's each is there: it does not wait
        except OSError as error:
            raise self._gone(f"cannot be told of it ({error.strerror})") from None
        if written != len(record):
            raise self._gone("cannot be told of it (its pipe is full)")

    def _take_slot(self) -> int:
        """A free one; waits only if there is none."""
        self._take_back(0.0)
        began = time.monotonic()
        while not self._free:
            left = self._deadline - time.monotonic()
            if left <= 0:
                raise EngineError(
                    TIMEOUT,
                    f"sample {self._samples}: none of {self._request.slots} slots was given back in time: who checks "
                    "the outputs is too slow; raise the time-out",
                )
            self._take_back(left)
        self._wait_s += time.monotonic() - began
        return self._free.pop()

    def _take_back(self, seconds: float) -> None:
        """What was given back until now; waits for the first of it."""
        poll = select.poll()
        poll.register(self._request.release, select.POLLIN)
        if not poll.poll(1000 * seconds):
            return
        try:
            slots = os.read(self._request.release, RELEASES)
        except BlockingIOError:
            return
        except OSError as error:
            raise self._gone(f"cannot be heard ({error.strerror})") from None
        if not slots:
            raise self._gone("closed its pipe")
        for slot in slots:
            if slot >= self._request.slots or slot in self._free:
                raise self._gone(f"gave back slot {slot}, which it was not given")
            self._free.append(slot)

    def _gone(self, what: str) -> EngineError:
        return EngineError(OURS, f"sample {self._samples}: who checks the outputs {what}; see what it said")
