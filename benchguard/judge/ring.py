"""Takes samples out of the ring as a replay announces them, and gives its slots back.

The replay process, in which kernels of strangers ran, writes the announcements: each is checked, and the first that
cannot be ends it all. A slot may be written to while it is looked at; that is why samples.py reads it once.
"""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future

from .contract import ANNOUNCED, RING_SLOTS_MAX
from .plan import Plan
from .samples import Samples

SAMPLES_MAX = 1 << 20
SMALL = 1 << 18
"""Bytes of outputs up to which it is quicker to look at once than to hand over to another thread."""

_BATCH = RING_SLOTS_MAX * ANNOUNCED.size


class AnnouncedError(Exception):
    """An announcement that cannot be. The text is for people."""


class Announcements:
    """What has been announced so far. Pure."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self.samples = 0
        self.by_set = [0] * plan.sets

    def check(self, sample: int, of_set: int, slot: int, held: frozenset[int] | set[int]) -> bool:
        """Whether it is its set's first. `held` are slots that have not been given back."""
        plan = self._plan
        if sample >= SAMPLES_MAX:
            raise AnnouncedError(f"more than {SAMPLES_MAX} samples")
        if sample != self.samples:
            raise AnnouncedError(f"sample {sample} where sample {self.samples} is due")
        if of_set >= plan.sets:
            raise AnnouncedError(f"input set {of_set}, there are {plan.sets}")
        if slot >= plan.slots:
            raise AnnouncedError(f"slot {slot}, there are {plan.slots}")
        if slot in held:
            raise AnnouncedError(f"slot {slot}, which has not been given back")
        if self.by_set[of_set] and of_set >= plan.sets - plan.fresh:
            raise AnnouncedError(f"input set {of_set} again, which is for one sample")
        self.samples += 1
        self.by_set[of_set] += 1
        return self.by_set[of_set] == 1


class RingChecker:
    """Of one case, in a thread of its own that hands large outputs to `workers`.

    `announced` and `release` are pipes' ends and belong to it; `slot_bytes` is what looking at one means.
    """

    def __init__(
        self,
        plan: Plan,
        slot_bytes: int,
        announced: int,
        release: int,
        samples: Samples,
        workers: Executor,
    ) -> None:
        self._slot_bytes = slot_bytes
        self._announced = announced
        self._release = release
        self._samples = samples
        self._workers = workers
        self.announcements = Announcements(plan)
        self.trouble: BaseException | None = None
        self._held: set[int] = set()
        self._lock = threading.Lock()
        self._pending: set[Future[None]] = set()
        self._wake_read, self._wake = os.pipe()
        os.set_blocking(announced, False)
        os.set_blocking(release, False)
        self._thread = threading.Thread(target=self._run, name="ring", daemon=True)
        self._thread.start()

    def finish(self) -> None:
        """When nothing more is announced: look at all that was. Then `trouble` is None, or why it is no good."""
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
                if data is None and not last:  # its writers are gone
                    poll.unregister(self._announced)
                if last:
                    if rest:
                        raise AnnouncedError("a part of an announcement")
                    return
        except BaseException as error:
            self._fail(error)
        finally:
            os.close(self._announced)

    def _read(self) -> bytes | None:
        """Empty where there is nothing yet, None at the end."""
        try:
            return os.read(self._announced, _BATCH) or None
        except BlockingIOError:
            return b""

    def _take(self, data: bytes) -> bytes:
        whole = len(data) - len(data) % ANNOUNCED.size
        for sample, of_set, slot in ANNOUNCED.iter_unpack(data[:whole]):
            if self.trouble is not None:
                return b""
            with self._lock:
                first = self.announcements.check(sample, of_set, slot, self._held)
                self._held.add(slot)
            self._look(self._samples.first if first else self._samples.later, sample, of_set, slot)
        return data[whole:]

    def _look(self, how: Callable[..., None], sample: int, of_set: int, slot: int) -> None:
        def release() -> None:
            with self._lock:
                self._held.discard(slot)
                if self.trouble is not None:
                    return
                try:
                    os.write(self._release, bytes([slot]))
                except BrokenPipeError:
                    pass  # the replay has ended
                except BlockingIOError as error:
                    raise AnnouncedError("samples, but takes none of its slots back") from error

        def work() -> None:
            try:
                how(sample, of_set, slot, release)
            except BaseException as error:
                self._fail(error)

        if self._slot_bytes <= SMALL:
            work()
            return
        future = self._workers.submit(work)
        with self._lock:
            self._pending.add(future)
        future.add_done_callback(self._done)

    def _done(self, future: Future[None]) -> None:
        with self._lock:
            self._pending.discard(future)

    def _fail(self, error: BaseException) -> None:
        """A replay that waits for a slot, or to be heard, finds that there is nobody."""
        with self._lock:
            if self.trouble is None:
                self.trouble = error
                os.close(self._release)
                os.write(self._wake, b"!")
