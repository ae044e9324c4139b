"""Decode the events of the quarantined process. After the first, the submission may have forged them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import get_args

import msgspec

from ..ipc.json_text import UNREADABLE
from ..ipc.lines import LineError
from ..ipc.text import one_line, printable
from ..problem.spec import Returned
from .contract import CONFINE, FIRST_PHASES, Began, Broke, Confined, Event, Finished, Gave, RunnerPhase

Progress = Callable[[str, int], None]
TEXT_MAX = 4096
CASES_MAX = 1024
_TIMED = re.compile(rf"{'|'.join(get_args(RunnerPhase))}|call [0-9]{{1,4}}", re.ASCII)
"""Words of durations: phases, and one call of each case."""


class Events:
    """Pass each line to `handle`. The first event of each kind is kept."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._decoder = msgspec.json.Decoder(Event)
        self.confined: Confined | None = None
        self.broke: Broke | None = None
        self.finished: Finished | None = None
        self.has_begun = False
        """Whether code of the submission may have run."""
        self.returned: dict[int, Returned] = {}
        self._phase = CONFINE
        self._pauses: dict[str, float] = {}

    def handle(self, line: bytes) -> bool:
        """Return True, to continue. Raises LineError."""
        try:
            event = self._decoder.decode(line)
        except UNREADABLE as error:
            raise LineError(f"malformed event: {one_line(str(error), 200)}") from None
        if isinstance(event, Confined) != (self.confined is None):
            raise LineError(f"event {type(event).__name__.lower()!r} is out of turn")
        if isinstance(event, Confined):
            self.confined = event
        elif isinstance(event, Began):
            self.has_begun = self.has_begun or event.phase not in FIRST_PHASES
            self._phase = event.phase
            if self._progress is not None:
                self._progress(event.phase, event.case)
        elif isinstance(event, Broke):
            if event.phase in FIRST_PHASES and self.has_begun:
                raise LineError(f"the phase {printable(event.phase)!r} ended before the submission began")
            self.broke = self.broke or msgspec.structs.replace(
                event,
                phase=printable(event.phase),
                text=one_line(event.text, TEXT_MAX),
                detail=printable(event.detail, "\n\t"),
            )
        elif isinstance(event, Gave):
            if len(self.returned) < CASES_MAX:
                self.returned.setdefault(event.case, event.returned)
        else:
            self.finished = self.finished or event
        return True

    def paused(self, seconds: float) -> None:
        """The process was stopped for so long, in the phase that began last."""
        self._pauses[self._phase] = self._pauses.get(self._phase, 0.0) + seconds

    def seconds(self, wall: float) -> dict[str, float]:
        """The claimed durations, without pauses, that are possible within `wall` seconds without pauses.

        The driver is set up during another phase, whose claimed time lacks the wait for the driver. A pause that is
        longer than the claimed time of its phase fell into such a wait, and is taken from a time that is impossible.
        """
        claimed = self.finished.seconds if self.finished is not None else {}
        ran, others = {}, 0.0
        for word, value in claimed.items():
            paused = self._pauses.get(word, 0.0)
            others += paused if value < paused else 0.0
            ran[word] = value if value < paused else value - paused
        ran = {word: value if value <= wall else value - others for word, value in ran.items()}
        return {word: value for word, value in ran.items() if _TIMED.fullmatch(word) and 0 <= value <= wall}
