"""Draw one-use input sets one at a time, where memory has no room for all of them.

The sets follow each other in one place of the pool. The judge draws the next set when it has checked the sample of the
one before, and then writes a byte to a pipe. The replay waits for this byte before its next sample, whatever set that
sample uses: so it times no sample while the judge computes, and a pause does not announce a one-use set.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Mapping, Sequence

from ..ipc.shared_memory import Bytes, SharedMemory
from ..ipc.slots import SlotError
from .inputs import digest_of
from .making import Made, Maker, Order, Source
from .troubles import FaultError

READY = b"."
"""The byte that announces a set."""


class Supply:
    """Makes the streamed sets of a case; in later rounds the same ones again.

    `digests` are those of the repeated sets, whose numbers come first.
    """

    def __init__(
        self,
        source: Source,
        maker: Maker,
        orders: Sequence[Order],
        digests: Sequence[Mapping[str, bytes]],
        pool: SharedMemory,
    ) -> None:
        self._source, self._maker, self._pool = source, maker, pool
        self.first, self.end = len(digests), len(digests) + len(orders)
        self._orders = dict(enumerate(orders, self.first))
        self._digests = dict(enumerate(digests))

    def make(self, number: int) -> Made:
        """Write a set to the pool. Raises FaultError, and the exceptions of the problem's code."""
        order = self._orders[number]
        [result] = self._maker.make([order], self._pool)
        if number not in self._digests:
            self._orders[number], made = self._source.settled(order, result)
            self._digests[number] = made.digests
            return made
        if not isinstance(result, Made):
            raise result.error
        if result.digests != self._digests[number]:
            raise FaultError(
                "inputs() gives other arrays for the same seed; compute them from the seed alone"
            )
        return result

    def check(self, number: int, name: str, data: Bytes) -> None:
        """Raises FaultError if a buffer in the pool is not as it was drawn: its memory cannot be sealed."""
        if digest_of(data) != self._digests[number][name]:
            raise FaultError(
                f"the replay changed {name} of input set {number}; its results cannot be trusted"
            )


class Stream:
    """The streamed sets of one round. Owns the pipe's end `ready`.

    The constructor makes the first set. A thread makes each further set, and passes it to `take`.
    """

    def __init__(self, supply: Supply, ready: int) -> None:
        self._supply, self._ready = supply, ready
        self._take: Callable[[int, Made], None] | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._number = supply.first
        self.trouble: BaseException | None = None
        self._made: Made | None = supply.make(supply.first)

    def begin(self, take: Callable[[int, Made], None]) -> None:
        """Pass the first set to `take`, and announce it."""
        assert self._made is not None
        self._take = take
        self._announce(self._made)
        self._made = None

    def has(self, number: int) -> bool:
        """Whether the set is one of the streamed ones."""
        return self._supply.first <= number < self._supply.end

    def next(self, number: int) -> None:
        """The sample of set `number` has been checked. Raises SlotError if it is not that set's turn."""
        if number != self._number:
            raise SlotError(f"input set {number} before it was drawn")
        self._number += 1
        if self._number < self._supply.end:
            self._thread = threading.Thread(target=self._draw, name="stream", daemon=True)
            self._thread.start()

    def finish(self) -> None:
        """Wait for a set that is being made, and close the pipe."""
        if self._thread is not None:
            self._thread.join()
        self.close()

    def close(self) -> None:
        """Close the pipe, so that a replay that waits for a set fails instead of hanging."""
        with self._lock, contextlib.suppress(OSError):
            if self._ready >= 0:
                os.close(self._ready)
            self._ready = -1

    def _draw(self) -> None:
        try:
            self._announce(self._supply.make(self._number))
        except BaseException as error:
            self.trouble = error
            self.close()

    def _announce(self, made: Made) -> None:
        assert self._take is not None
        self._take(self._number, made)
        with self._lock, contextlib.suppress(BrokenPipeError):  # the replay has ended
            if self._ready >= 0:
                os.write(self._ready, READY)
