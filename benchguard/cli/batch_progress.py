"""Progress of a batch: a bar with an estimate on a terminal, a line for each outcome in a pipe."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ..ipc.text import joined
from .output import notify_on

Report = Callable[[str, str], None]
"""Called with the id and the outcome of each submission."""


@contextmanager
def progress_on(output: TextIO, quiet: bool, total: int, finished: int) -> Iterator[Report]:
    """The progress of a batch of `total` submissions, of which `finished` have a result already."""
    if quiet:
        yield lambda _, __: None
    elif output.isatty():
        with _bar(output) as bar:
            task = bar.add_task("grading", total=total, completed=finished)
            yield lambda name, outcome: bar.update(task, advance=1, description=joined(f"{name}: {outcome}"))
    else:
        yield _Lines(output, total, finished)


def _bar(output: TextIO) -> Progress:
    columns = (
        MofNCompleteColumn(),
        BarColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}", markup=False),
    )
    return Progress(*columns, console=Console(file=output), speed_estimate_period=600.0)


class _Lines:
    """Prints each outcome with the time that the others will take at this speed."""

    def __init__(self, output: TextIO, total: int, finished: int) -> None:
        self._output, self._total, self._finished = output, total, finished
        self._done, self._began = 0, time.monotonic()

    def __call__(self, name: str, outcome: str) -> None:
        self._done += 1
        left = self._total - self._finished - self._done
        seconds = left * (time.monotonic() - self._began) / self._done
        estimate = f"; about {seconds:.0f} s left" if left else ""
        notify_on(
            self._output, f"{self._finished + self._done} of {self._total}: {name}: {outcome}{estimate}"
        )
