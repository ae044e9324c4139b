"""Print lines and documents. Like table.py, escape every character that a terminal does not draw as itself."""

from __future__ import annotations

import os
import shutil
from typing import TextIO

import click

from ..ipc.text import joined, printable


def say(text: str, *, err: bool = False) -> None:
    """Print one line. The text may quote a submission, a capture or a file name."""
    click.echo(joined(text), err=err)


def notify(text: str) -> None:
    """Print one line to standard error, marked as ours."""
    say(f"neutrino-bench: {text}", err=True)


def notify_on(output: TextIO, text: str) -> None:
    """Print one line to a stream at once, marked as ours."""
    print(f"neutrino-bench: {joined(text)}", file=output, flush=True)


def print_document(text: str) -> None:
    """Print a text of several lines: JSON, a template, a script."""
    click.echo(printable(text, "\n\t"), nl=not text.endswith("\n"))


class RowWriter:
    """Writes many lines to a stream, and escapes each. Colours appear on a terminal only, and not with NO_COLOR."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        terminal = stream.isatty()
        self._has_colour = terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        self.width = shutil.get_terminal_size().columns if terminal else None
        """The terminal's width; None if the stream is not a terminal."""

    def put(self, text: str, colour: str | None = None) -> None:
        """Write one line."""
        line = joined(text)
        self._stream.write((click.style(line, fg=colour) if colour and self._has_colour else line) + "\n")

    def flush(self) -> None:
        self._stream.flush()
