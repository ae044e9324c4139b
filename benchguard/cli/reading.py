"""Read a log in a command, and show it: on a terminal, with a bar if it takes long."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from ..audit.log import checked_lines
from ..audit.parts import size_of

SHOWN_AFTER_SECONDS = 2.0


def lines_of(path: Path, output: TextIO | None = None) -> Iterator[tuple[dict[str, Any], str]]:
    """Like checked_lines. The bar is on `output`: standard error."""
    output = output or sys.stderr
    if not (output.isatty() and path.is_file()):
        yield from checked_lines(path)
        return
    bar = _Bar(output, path)
    try:
        yield from checked_lines(path, bar.report)
    finally:
        bar.close()


@contextmanager
def busy(text: str, output: TextIO | None = None) -> Iterator[None]:
    """Show a moving bar during work that has no measure, if it takes long."""
    output = output or sys.stderr
    if not output.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from ..ipc.text import joined

    columns = TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn()
    progress = Progress(*columns, console=Console(file=output), transient=True)
    progress.add_task(joined(text), total=None)
    timer = threading.Timer(SHOWN_AFTER_SECONDS, progress.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        progress.stop()


class _Bar:
    """Appears when reading has taken SHOWN_AFTER_SECONDS, and disappears at its end."""

    def __init__(self, output: TextIO, path: Path) -> None:
        self._output, self._name = output, path.name
        self._began = time.monotonic()
        self._progress: Any = None
        self._size = size_of(path)

    def report(self, position: int) -> None:
        """`position`: bytes of the log that were read."""
        if self._progress is None:
            if time.monotonic() < self._began + SHOWN_AFTER_SECONDS:
                return
            self._start()
        self._progress.update(self._task, completed=position)

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

        from ..ipc.text import joined

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            DownloadColumn(),
            TimeRemainingColumn(),
        )
        self._progress = Progress(*columns, console=Console(file=self._output), transient=True)
        self._task = self._progress.add_task(joined(f"reading {self._name}"), total=self._size)
        self._progress.start()

    def close(self) -> None:
        if self._progress is not None:
            self._progress.stop()
