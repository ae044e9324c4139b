"""Progress of a replay: one changing line on a terminal, one line per phase in a pipe."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.text import Text

from ..replay.collect import Progress
from .output import notify_on

_PHASES = {
    "prepare": "rebuilding the captured state",
    "verify": "comparing memory with the capture",
    "overhead": "measuring the overhead of events",
    "warm-up": "warming up",
    "sample": "sampling",
    "outputs": "storing outputs",
}


@contextmanager
def progress_on(output: TextIO, quiet: bool) -> Iterator[Callable[[Progress], None] | None]:
    """The progress callback for replay(); None if quiet."""
    if quiet:
        yield None
    elif output.isatty():
        with Console(file=output).status("reading the capture") as status:
            yield lambda progress: status.update(Text(text_of(progress)))
    else:
        yield _Lines(output)


def text_of(progress: Progress) -> str:
    phase = _PHASES.get(progress.phase, "replaying")
    if progress.median_us is None:
        return phase
    return f"{phase}: {progress.samples} samples, median {progress.median_us:.3f} us"


class _Lines:
    def __init__(self, output: TextIO) -> None:
        self._output = output
        self._phase = ""

    def __call__(self, progress: Progress) -> None:
        if progress.phase != self._phase:
            self._phase = progress.phase
            notify_on(self._output, text_of(progress))
