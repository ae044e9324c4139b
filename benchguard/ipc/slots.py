"""A pool of output slots in shared memory: the replay copies the outputs of every timed sample to a slot for the judge.

The replay writes one announcement per sample to a pipe. The judge writes one byte, the slot's number, to another pipe
when the slot is free again. The replay process runs kernels of the submission, so the judge checks each announcement,
and stops at the first invalid one.
"""

from __future__ import annotations

import mmap
import os
import select
import struct
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

ANNOUNCEMENT = struct.Struct("<QII")
"""The sample's number from 0, its input set, its slot."""

SLOTS_MAX = 64
SAMPLES_MAX = 1 << 20
SMALL = 1 << 18
"""Outputs of up to this many bytes are read at once: handing them to another thread takes longer."""

RESTS_MAX = 256
"""More checks of small outputs do not wait, each with a copy of its outputs: the replay waits for the judge instead."""

SLOTS_MAPPED = 4
"""A judge with enough cores seldom holds more slots at once."""

MAPPED_AT_ONCE = 2 << 20
"""Between two calls the driver can map memory for the state, which is rebuilt meanwhile."""

MADV_POPULATE_WRITE = 23  # linux/mman.h

_BATCH = SLOTS_MAX * ANNOUNCEMENT.size

CopyFromDevice = Callable[[int, memoryview], None]


class SlotError(Exception):
    """The other process broke the protocol, ended, or did not return a slot in time. The text is shown to the user."""

    def __init__(self, text: str, *, timed_out: bool = False) -> None:
        super().__init__(text)
        self.timed_out = timed_out


class Part(Protocol):
    """`bytes` bytes at the device address `address` go to `offset` of a slot."""

    @property
    def address(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def offset(self) -> int: ...


class Pool(Protocol):
    """`slots` slots, `stride` bytes from one to the next, and the replay's ends of the two pipes."""

    @property
    def slots(self) -> int: ...
    @property
    def stride(self) -> int: ...
    @property
    def parts(self) -> Sequence[Part]: ...
    @property
    def announce(self) -> int: ...
    @property
    def release(self) -> int: ...


def map_first_slots(pool: Pool, memory: memoryview) -> None:
    """Map the pages of the slots that SlotWriter takes first. `memory` is of an mmap. Changes no byte.

    Otherwise the first write to each page faults, which takes most of the time of a copy to a new slot.
    """
    if not memory:
        return
    mapping = memory.obj
    assert isinstance(mapping, mmap.mmap)
    begin = max(0, pool.slots - SLOTS_MAPPED) * pool.stride // mmap.PAGESIZE * mmap.PAGESIZE
    with suppress(OSError):  # Linux before 5.14, or too little memory
        for at in range(begin, len(memory), MAPPED_AT_ONCE):
            mapping.madvise(MADV_POPULATE_WRITE, at, min(MAPPED_AT_ONCE, len(memory) - at))


class SlotWriter:
    """The replay's side. `deadline` is of time.monotonic(). Methods raise SlotError."""

    def __init__(self, pool: Pool, memory: memoryview, deadline: float) -> None:
        self._pool, self._memory, self._deadline = pool, memory, deadline
        self._free = list(range(pool.slots))
        self._samples = 0
        self.copy_seconds = self.wait_seconds = 0.0

    def put(self, input_set: int, copy: CopyFromDevice) -> None:
        """Copy the outputs of the last run to a free slot, and announce them."""
        slot = self._take_slot()
        began = time.monotonic()
        for part in self._pool.parts:
            at = slot * self._pool.stride + part.offset
            copy(part.address, self._memory[at : at + part.bytes])
        self.copy_seconds += time.monotonic() - began
        self._announce(input_set, slot)
        self._samples += 1

    def _announce(self, input_set: int, slot: int) -> None:
        record = ANNOUNCEMENT.pack(self._samples, input_set, slot)
        try:
            # Does not block: the pipe holds at most one announcement per slot.
            size = os.write(self._pool.announce, record)
        except OSError as error:
            raise self._broken(f"does not read announcements ({error.strerror})") from None
        if size != len(record):
            raise self._broken("does not read announcements (the pipe is full)")

    def _take_slot(self) -> int:
        """Take a free slot, and wait if all are in use."""
        self._take_back(0.0)
        began = time.monotonic()
        while not self._free:
            seconds_left = self._deadline - time.monotonic()
            if seconds_left <= 0:
                raise SlotError(
                    f"sample {self._samples}: the judge returned none of {self._pool.slots} output slots before the "
                    "time-out; raise --timeout",
                    timed_out=True,
                )
            self._take_back(seconds_left)
        self.wait_seconds += time.monotonic() - began
        return self._free.pop()

    def _take_back(self, seconds: float) -> None:
        """Take back all returned slots; wait up to `seconds` for the first."""
        poll = select.poll()
        poll.register(self._pool.release, select.POLLIN)
        if not poll.poll(1000 * seconds):
            return
        try:
            slots = os.read(self._pool.release, SLOTS_MAX)
        except BlockingIOError:
            return
        except OSError as error:
            raise self._broken(f"cannot be read from ({error.strerror})") from None
        if not slots:
            raise self._broken("closed its pipe")
        for slot in slots:
            if slot >= self._pool.slots or slot in self._free:
                raise self._broken(f"returned slot {slot}, which it did not hold")
            self._free.append(slot)

    def _broken(self, what: str) -> SlotError:
        return SlotError(f"sample {self._samples}: the judge {what}; see the judge's own message")


@dataclass(frozen=True)
class SlotPlan:
    """`sets` input sets, the last `one_use` of them for one sample each, and `slots` output slots.

    `streamed`: memory has room for the repeated sets and for one more, in which one-use sets follow each other.
    """

    sets: int
    one_use: int
    slots: int
    streamed: bool = False

    @property
    def stored(self) -> int:
        """The number of sets that are in memory at once."""
        return self.sets - self.one_use + 1 if self.streamed else self.sets

    @property
    def counts(self) -> tuple[int, int]:
        """The numbers of repeated and of one-use sets."""
        return self.sets - self.one_use, self.one_use

    def place_of(self, number: int) -> int:
        """Where input set `number` is in memory, in sets."""
        return min(number, self.stored - 1)

    def is_streamed(self, number: int) -> bool:
        return self.streamed and number >= self.sets - self.one_use


class Announcements:
    """Checks announcements against a plan, and counts samples. Does no I/O."""

    def __init__(self, plan: SlotPlan) -> None:
        self._plan = plan
        self.samples = 0
        self.by_set = [0] * plan.sets

    def check(self, sample: int, input_set: int, slot: int, busy_slots: frozenset[int] | set[int]) -> bool:
        """Return whether this is the first sample of its input set. Raises SlotError.

        `busy_slots` are the slots that the judge has not returned yet.
        """
        plan = self._plan
        if sample >= SAMPLES_MAX:
            raise SlotError(f"more than {SAMPLES_MAX} samples")
        if sample != self.samples:
            raise SlotError(f"sample {sample} where sample {self.samples} is due")
        if input_set >= plan.sets:
            raise SlotError(f"input set {input_set} of {plan.sets}")
        if slot >= plan.slots:
            raise SlotError(f"slot {slot} of {plan.slots}")
        if slot in busy_slots:
            raise SlotError(f"slot {slot}, which the judge still holds")
        if self.by_set[input_set] and input_set >= plan.sets - plan.one_use:
            raise SlotError(f"one-use input set {input_set} for a second sample")
        self.samples += 1
        self.by_set[input_set] += 1
        return self.by_set[input_set] == 1


Rest = Callable[[], None]
"""The part of an inspection that needs no slot. It may take seconds: a reference can run for it."""


class Inspector(Protocol):
    """Reads the outputs in a slot, and calls `release` as soon as it has read them."""

    def first(self, sample: int, input_set: int, slot: int, release: Callable[[], None]) -> Rest: ...
    def later(self, sample: int, input_set: int, slot: int, release: Callable[[], None]) -> Rest | None: ...


class SlotReader:
    """The judge's side, for one case: a thread that hands large outputs, and the rest of small ones, to `workers`.

    The object owns the pipe ends `announced` and `release`. `slot_bytes` are the bytes of one slot.
    """

    def __init__(
        self,
        plan: SlotPlan,
        slot_bytes: int,
        announced: int,
        release: int,
        inspector: Inspector,
        workers: Executor,
    ) -> None:
        self._slot_bytes = slot_bytes
        self._announced = announced
        self._release = release
        self._inspector = inspector
        self._workers = workers
        self.announcements = Announcements(plan)
        self.trouble: BaseException | None = None
        """Why the samples cannot be used; None if they can."""
        self._busy: set[int] = set()
        self._lock = threading.Lock()
        self._pending: set[Future[None]] = set()
        self._wake_read, self._wake = os.pipe()
        os.set_blocking(announced, False)
        os.set_blocking(release, False)
        self._thread = threading.Thread(target=self._run, name="slots", daemon=True)
        self._thread.start()

    def finish(self) -> None:
        """Check all samples announced so far, and stop. Call it when the replay has ended."""
        os.write(self._wake, b".")
        self._thread.join()
        for future in list(self._pending):
            future.exception()
        if self.trouble is None:
            os.close(self._release)
        for each in (self._wake_read, self._wake):
            os.close(each)

    def _run(self) -> None:
        poll = select.poll()
        poll.register(self._announced, select.POLLIN)
        poll.register(self._wake_read, select.POLLIN)
        rest = b""
        try:
            while self.trouble is None:
                last = any(ready == self._wake_read for ready, _ in poll.poll())
                while data := self._read():
                    rest = self._take(rest + data)
                if data is None and not last:  # all writers have closed their ends
                    poll.unregister(self._announced)
                if last:
                    if rest:
                        raise SlotError("an incomplete announcement")
                    return
        except BaseException as error:
            self._fail(error)
        finally:
            os.close(self._announced)

    def _read(self) -> bytes | None:
        """The next bytes; empty if no data is available yet, None at the end of the pipe."""
        try:
            return os.read(self._announced, _BATCH) or None
        except BlockingIOError:
            return b""

    def _take(self, data: bytes) -> bytes:
        """Check all complete announcements; return the incomplete rest."""
        whole = len(data) - len(data) % ANNOUNCEMENT.size
        for sample, input_set, slot in ANNOUNCEMENT.iter_unpack(data[:whole]):
            if self.trouble is not None:
                return b""
            with self._lock:
                first = self.announcements.check(sample, input_set, slot, self._busy)
                self._busy.add(slot)
            self._inspect(self._inspector.first if first else self._inspector.later, sample, input_set, slot)
        return data[whole:]

    def _inspect(self, inspect: Callable[..., Rest | None], sample: int, input_set: int, slot: int) -> None:
        def release() -> None:
            with self._lock:
                self._busy.discard(slot)
                if self.trouble is not None:
                    return
                try:
                    os.write(self._release, bytes([slot]))
                except BrokenPipeError:
                    pass  # the replay has ended
                except BlockingIOError as error:
                    raise SlotError("samples without taking back their slots") from error

        def whole() -> None:
            rest = inspect(sample, input_set, slot, release)
            if rest is not None:
                rest()

        if self._slot_bytes > SMALL:
            self._submit(whole)
            return
        rest = inspect(sample, input_set, slot, release)
        if rest is not None and len(self._pending) < RESTS_MAX:
            self._submit(rest)
        elif rest is not None:
            rest()

    def _submit(self, work: Rest) -> None:
        def guarded() -> None:
            try:
                work()
            except BaseException as error:
                self._fail(error)

        future = self._workers.submit(guarded)
        with self._lock:
            self._pending.add(future)
        future.add_done_callback(self._done)

    def _done(self, future: Future[None]) -> None:
        with self._lock:
            self._pending.discard(future)

    def _fail(self, error: BaseException) -> None:
        """Close the pipe, so that a replay that waits for a slot fails instead of hanging."""
        with self._lock:
            if self.trouble is None:
                self.trouble = error
                os.close(self._release)
                os.write(self._wake, b"!")
