"""Progress of a grade: one changing line on a terminal, one line per phase in a pipe."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.text import Text

from ..grade.progress import GradeProgress
from ..ipc.text import printable
from .output import notify_on


@contextmanager
def progress_on(output: TextIO, quiet: bool) -> Iterator[Callable[[GradeProgress], None] | None]:
    """The progress callback for grade(); None if quiet."""
    if quiet:
        yield None
    elif output.isatty():
        with Console(file=output).status("opening the problem") as status:
            yield lambda progress: status.update(Text(printable(text_of(progress))))
    else:
        yield _Lines(output)


def text_of(progress: GradeProgress) -> str:
    where = f"{progress.case}: " if progress.case else ""
    if progress.median_us is None:
        return f"{where}{progress.phase}"
    return f"{where}{progress.phase}: {progress.samples} samples, median {progress.median_us:.3f} us"


class _Lines:
    """Prints each phase of each case once."""

    def __init__(self, output: TextIO) -> None:
        self._output = output
        self._last = ("", "")

    def __call__(self, progress: GradeProgress) -> None:
        if (progress.case, progress.phase) != self._last:
            self._last = progress.case, progress.phase
            notify_on(self._output, text_of(progress))
