"""Memory for the input sets of a case, beside the graders that run on the machine at the same time."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import BenchguardError
from ..ipc.claims import Claims
from ..ipc.memory import machine_memory

WAIT_SECONDS = 60.0
"""How long a judge waits for memory that other graders use. The submission is imported or compiled meanwhile."""

_POLL_SECONDS = 0.2
_GRADER_SHARE = 32
"""Beside other graders, 1/32 of the machine's memory is left for each: for submissions, and for judges besides their
input sets. Six graders used 32 of 128 GiB so (H200)."""


class CrowdedError(BenchguardError):
    """The memory is used by other graders. Neither the problem nor the submission is at fault."""


class Room:
    """The memory of the machine for one judge. Other graders count from join() on."""

    def __init__(self) -> None:
        self._claims: Claims | None = None
        self._claimed = self._reserved = self._set = 0
        self._lock = threading.Lock()

    def join(self, folder: str) -> None:
        """Share the machine's memory with the graders whose locks are in the folder. Empty: with none."""
        if folder and self._claims is None:
            self._claims = Claims(Path(folder))

    def available(self) -> int:
        """Available bytes; beside other graders, without their claims and what all need besides input sets."""
        total, available = machine_memory()
        others = self.others()
        if self._claims is None or not others:
            return available
        left = min(total // 2, (1 + others) * total // _GRADER_SHARE)
        return max(0, available - self._claims.of_others() - left)

    def others(self) -> int:
        """The number of other graders."""
        return 0 if self._claims is None else self._claims.others()

    def unplanned(self) -> int:
        """The number of other graders that have not planned their input sets yet."""
        return 0 if self._claims is None else self._claims.unplanned()

    @contextmanager
    def planning(self, need: int) -> Iterator[None]:
        """No other grader plans in the context. Waits for `need` bytes while other graders use the memory.

        Raises CrowdedError.
        """
        if self._claims is None:
            yield
            return
        until = time.monotonic() + WAIT_SECONDS
        while True:
            with self._claims.planning():
                available = self.available()
                if available >= need or not self.others():
                    yield
                    return
            if time.monotonic() > until:
                raise CrowdedError(
                    f"the input sets need {need / 2**30:.1f} GiB, and {self.others()} other graders left "
                    f"{available / 2**30:.1f} GiB; grade fewer at once, or use a machine with more memory"
                )
            time.sleep(_POLL_SECONDS)

    def claim(self, size: int, count: int = 1) -> None:
        """Claim memory for `count` sets instead of the claim before. Only within `planning`, if it is more."""
        with self._lock:
            self._set = size // count
            self._change(max(self._reserved, size))

    def filled(self) -> None:
        """A set is made, so the memory that is available does not include it any longer."""
        with self._lock:
            self._change(max(self._reserved, self._claimed - self._set))

    def reserve(self, size: int) -> None:
        """Claim memory for sets that are made later, and keep it until then. Only within `planning`, if it is more.

        Otherwise graders that have made the sets of some cases could wait for one another's memory for ever.
        """
        with self._lock:
            self._reserved = size
            self._change(size)

    def _change(self, size: int) -> None:
        self._claimed = size
        if self._claims is not None:
            self._claims.claim(size)


ROOM = Room()
"""A judge's process judges one problem."""


def available_bytes() -> int:
    """As Room.available()."""
    return ROOM.available()
