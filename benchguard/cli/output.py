"""Print lines and documents. Like table.py, escape every character that a terminal does not draw as itself."""

from __future__ import annotations

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
