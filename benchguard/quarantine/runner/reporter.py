"""What the runner tells the supervisor while it runs."""

from __future__ import annotations

import os
import time

import msgspec

from ..contract import LINE_MAX, Began, Broke, Event, Finished


class Reporter:
    """Writes events to a pipe, a JSON line each, and keeps the time of each phase."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._seconds: dict[str, float] = {}
        self._since = time.monotonic()
        self.phase = ""

    def begin(self, phase: str, case: int = -1) -> None:
        self._add()
        self.phase = phase
        self.send(Began(phase, case))

    def called(self, case: int, seconds: float) -> None:
        """What a call of a case took, seen from here: to be held against what its replay takes."""
        self._seconds[f"call {case}"] = seconds

    def finish(self) -> None:
        self._add()
        self.send(Finished(self._seconds))

    def send(self, event: Event) -> None:
        """Nothing if nobody reads any more: what is said is no part of a verdict."""
        line = msgspec.json.encode(event) + b"\n"
        if len(line) > LINE_MAX and isinstance(event, Broke):
            line = msgspec.json.encode(msgspec.structs.replace(event, detail="")) + b"\n"
        try:
            while line:
                line = line[os.write(self._descriptor, line) :]
        except OSError:
            pass

    def _add(self) -> None:
        now = time.monotonic()
        if self.phase:
            self._seconds[self.phase] = self._seconds.get(self.phase, 0.0) + now - self._since
        self._since = now
