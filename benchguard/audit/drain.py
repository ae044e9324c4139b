"""Copy bytes out of the trace rings: one copy per ring and pass. Decoding happens later, in another thread."""

from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path

from ..ipc.processes import process_start
from . import layout
from .layout import RingState
from .session import Session

PASS_SECONDS = 0.001
IDLE_SECONDS = 0.004
REAP_SECONDS = 0.25
BACKLOG_BYTES = 256 << 20


@dataclass(frozen=True)
class Identity:
    """The thread that claims a ring. `tsc` and `nanoseconds` are the clock pair from when it attached."""

    process: int
    thread: int
    started: int
    pid_namespace: int
    tsc: int
    nanoseconds: int


@dataclass(frozen=True)
class Chunk:
    """Complete records of one ring, in order."""

    identity: Identity
    data: bytes


@dataclass(frozen=True)
class Ended:
    """The end of a ring: its thread closed it, or its process died."""

    identity: Identity
    dropped: int
    omitted: int  # successful calls without a record, by the user's choice
    in_flight: int  # slot of the call that was inside the driver, or -1
    in_flight_since: int  # counter ticks
    corrupt: str | None


@dataclass(frozen=True)
class Waiting:
    """A call that has been inside the driver for REAP_SECONDS at least."""

    identity: Identity
    slot: int
    since: int  # counter ticks


Item = Chunk | Ended | Waiting


class Drain:
    """Runs in a thread between start() and stop()."""

    def __init__(self, session: Session, idle_seconds: float = IDLE_SECONDS) -> None:
        """`idle_seconds`: longest pause between two looks at rings that have nothing new."""
        self.backlog: deque[Item] = deque()
        self.news = threading.Event()
        """Set when the backlog gets an item."""
        self._idle_seconds = idle_seconds
        self._in_use = 0  # rings from this one on were free when last seen
        self._session = session
        self._words = memoryview(session.memory).cast("Q")
        self._halves = memoryview(session.memory).cast("I")
        self._backlog_bytes = 0
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._corrupt: dict[int, str] = {}
        self._inside: dict[int, tuple[int, int]] = {}
        """By ring, the call at the last look: its slot + 1 and the time of its entry."""
        self._told: dict[int, tuple[int, int]] = {}
        self._namespace = Path("/proc/self/ns/pid").stat().st_ino
        self._thread = threading.Thread(target=self._run, name="drain", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Take the remaining bytes, report the end of each ring, and release the memory."""
        self._stop.set()
        self._thread.join()
        # Ending a ring empties it, so all of its bytes are taken first, even beyond the limit of the backlog.
        self._find_used()
        self.take_all(beyond_backlog=True)
        for index in range(self._session.ring_count):
            if self._state(index) in (RingState.LIVE, RingState.CLOSED):
                self._end(index)
        self._words.release()
        self._halves.release()

    def next(self) -> Item | None:
        """The oldest item of the backlog; None if it is empty."""
        if not self.backlog:
            return None
        item = self.backlog.popleft()
        if isinstance(item, Chunk):
            with self._lock:
                self._backlog_bytes -= len(item.data)
        return item

    def _run(self) -> None:
        reaped, pause = time.monotonic(), IDLE_SECONDS
        while not self._stop.is_set():
            moved = self.take_all()
            now = time.monotonic()
            if now - reaped > REAP_SECONDS:
                reaped = now
                self._reap()
            pause = IDLE_SECONDS if moved else min(2 * pause, self._idle_seconds)
            self._stop.wait(PASS_SECONDS if moved else pause)

    def _find_used(self) -> None:
        """Look at all rings. Threads take the first free ring, but a hostile process may write to any."""
        count = self._session.ring_count
        used = [index for index in range(self._in_use, count) if self._state(index) != RingState.FREE]
        self._in_use = used[-1] + 1 if used else self._in_use

    def take_all(self, beyond_backlog: bool = False) -> bool:
        """Make one pass over all rings; return whether any had new bytes."""
        moved = False
        while self._in_use < self._session.ring_count and self._state(self._in_use) != RingState.FREE:
            self._in_use += 1
        for index in range(self._in_use):
            base = self._session.ring_at(index) // 8
            if self._words[base] == self._words[base + layout.RING_TAIL_AT // 8]:
                if self._state(index) == RingState.CLOSED:
                    self._end(index)
            elif self._state(index) in (RingState.LIVE, RingState.CLOSED) and index not in self._corrupt:
                moved = self._take(index, beyond_backlog) or moved
        return moved

    def _state(self, index: int) -> int:
        return self._halves[(self._session.ring_at(index) + layout.RING_IDENTITY_AT) // 4]

    def _identity(self, index: int) -> Identity:
        at = self._session.ring_at(index) + layout.RING_IDENTITY_AT
        _, process, thread, started, namespace, tsc, ns = layout.RING_IDENTITY.unpack_from(
            self._session.memory, at
        )
        return Identity(process, thread, started, namespace, tsc, ns)

    def _take(self, index: int, beyond_backlog: bool = False, ahead: int | None = None) -> bool:
        """Copy the records up to head, or up to `ahead`."""
        at, capacity = self._session.ring_at(index), self._session.ring_bytes
        head, tail = self._words[at // 8], self._words[(at + layout.RING_TAIL_AT) // 8]
        head = head if ahead is None else ahead
        size = (head - tail) % (1 << 64)
        if size > capacity or size % 8 or tail % 8:
            self._corrupt[index] = f"its head is {head} and its tail {tail}"
            return False
        if size == 0:
            return False
        if self._backlog_bytes + size > BACKLOG_BYTES and not beyond_backlog:
            return False  # the writer waits, then drops and counts: memory here stays bounded
        start, data = tail % capacity, at + layout.PAGE
        first = min(size, capacity - start)
        memory = self._session.memory
        records = memory[data + start : data + start + first] + memory[data : data + size - first]
        self._words[(at + layout.RING_TAIL_AT) // 8] = head
        with self._lock:
            self._backlog_bytes += size
        self.backlog.append(Chunk(self._identity(index), records))
        self.news.set()
        return True

    def _reap(self) -> None:
        """End the rings of dead processes. Only processes of this pid namespace can be checked."""
        self._find_used()
        for index in range(self._in_use):
            if self._state(index) != RingState.LIVE:
                continue
            self._find_waiting(index)
            identity = self._identity(index)
            if identity.pid_namespace != self._namespace:
                continue
            if process_start(identity.process) == identity.started:
                continue
            if index not in self._corrupt:
                self._take(index)
            base = self._session.ring_at(index) // 8
            drained = self._words[base] == self._words[base + layout.RING_TAIL_AT // 8]
            if drained or index in self._corrupt:
                self._end(index)

    def _find_waiting(self, index: int) -> None:
        """Tell once of a call that is inside the driver at two looks."""
        at = self._session.ring_at(index)
        _, _, in_flight, since, _, _ = layout.RING_PRODUCER.unpack_from(self._session.memory, at)
        inside = in_flight, since
        if in_flight and self._inside.get(index) == inside and self._told.get(index) != inside:
            self._told[index] = inside
            self.backlog.append(Waiting(self._identity(index), in_flight - 1, since))
            self.news.set()
        self._inside[index] = inside

    def _end(self, index: int) -> None:
        at = self._session.ring_at(index)
        head, dropped, in_flight, since, ahead, omitted = layout.RING_PRODUCER.unpack_from(
            self._session.memory, at
        )
        if head < ahead and index not in self._corrupt:
            self._take(index, beyond_backlog=True, ahead=ahead)  # the thread ended while a record counted
        corrupt = self._corrupt.pop(index, None)
        self.backlog.append(Ended(self._identity(index), dropped, omitted, in_flight - 1, since, corrupt))
        self.news.set()
        # Write the state last, because another thread may claim the ring after that.
        self._session.memory[at : at + layout.RING_IDENTITY_AT] = bytes(layout.RING_IDENTITY_AT)
        self._halves[(at + layout.RING_IDENTITY_AT) // 4] = RingState.FREE
