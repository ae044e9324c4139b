"""What the quarantined process says, taken for what it is: its word."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from ..ipc.lines import LineError
from .contract import Began, Broke, Confined, Event, Finished

Progress = Callable[[str, int], None]
SECONDS_MAX = 4096
WORD_MAX = 32


class Events:
    """`handle` takes a line; what came is kept, the first of each."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._decoder = msgspec.json.Decoder(Event)
        self.confined: Confined | None = None
        self.broke: Broke | None = None
        self.finished: Finished | None = None

    def handle(self, line: bytes) -> bool:
        """True: go on. Raises LineError."""
        try:
            event = self._decoder.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise LineError(f"a line is no event: {printable(str(error))[:200]}") from None
        if isinstance(event, Confined) != (self.confined is None):
            raise LineError(f"event {type(event).__name__.lower()!r} is out of turn")
        if isinstance(event, Confined):
            self.confined = event
        elif isinstance(event, Began):
            if self._progress is not None:
                self._progress(printable(event.phase), event.case)
        elif isinstance(event, Broke):
            self.broke = self.broke or msgspec.structs.replace(
                event,
                phase=printable(event.phase),
                text=printable(event.text).replace("\n", " "),
                detail=printable(event.detail),
            )
        else:
            self.finished = self.finished or event
        return True

    @property
    def seconds(self) -> dict[str, float]:
        """As it said; bounded."""
        said = self.finished.seconds if self.finished is not None else {}
        kept = list(said.items())[:SECONDS_MAX]
        return {printable(word): value for word, value in kept if len(word) <= WORD_MAX}


def printable(text: str) -> str:
    """Without what could move a terminal's cursor or hide text."""
    return "".join(
        each if each.isprintable() or each in "\n\t" else each.encode("unicode_escape").decode()
        for each in text
    )
