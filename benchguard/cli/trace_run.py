"""Show the lines of a log as rows, while it is written or afterwards."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ..audit.events import Teller
from ..audit.follow import follow_lines
from .trace_text import TraceTable

FLUSH_LINES = 512


def show(lines: Iterable[dict[str, Any] | None], table: TraceTable, log: Path | None = None) -> None:
    """Write the rows of all lines; None means that no line is there yet.

    Raises LogError after the rows before it. Its message names the file `log`.
    """
    teller = Teller(log)
    try:
        for number, line in enumerate(lines):
            for event in teller.tell(line) if line is not None else teller.rest():
                table.add(event)
            if teller.session is not None:
                table.begin(teller.session)
            if line is None or number % FLUSH_LINES == 0:
                table.flush()
    finally:
        for event in teller.rest():
            table.add(event)
        table.flush()


class LiveTable(threading.Thread):
    """Follows the log that the main thread writes.

    It reads the file and holds no queue: however slow the output is, the log is written, and the traced program is not
    kept waiting. The rest of the table then follows after the program's end.
    """

    def __init__(self, log: Path, table: TraceTable, discard_output: Callable[[], None]) -> None:
        super().__init__(name="trace", daemon=True)
        self._log, self._table = log, table
        self._discard_output = discard_output
        self._is_over = threading.Event()
        self.failure: Exception | None = None

    def run(self) -> None:
        try:
            show(follow_lines(self._log, self._is_over.is_set), self._table, self._log)
        except BrokenPipeError:
            self._discard_output()
        except Exception as failure:  # the main thread raises it when the command has ended
            self.failure = failure

    def finish(self) -> None:
        """Show the rest of the log, whose writer has ended."""
        self._is_over.set()
        self.join()
