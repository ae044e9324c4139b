"""Tables: drawn on a terminal, plain where the output is piped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TextIO

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

PIPED_WIDTH = 120
REST_WIDTH_MIN = 16


def console_for(output: TextIO) -> Console:
    """As wide as its terminal, or as PIPED_WIDTH."""
    width = None if output.isatty() else PIPED_WIDTH
    return Console(file=output, width=width, soft_wrap=False, highlight=False)


@dataclass(frozen=True)
class Column:
    """`rest` takes what width the others leave, and is cut off there."""

    heading: str
    right: bool = False
    rest: bool = False


def printable(text: str) -> str:
    """Names come from the measured program: nothing in them may act on the terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def table(title: str, columns: Sequence[Column], rows: list[list[str]], width: int, terminal: bool) -> Table:
    drawn = Table(
        title=title,
        title_justify="left",
        title_style="bold" if terminal else "",
        header_style="",
        box=box.SIMPLE_HEAD if terminal else box.ASCII2,
        show_edge=False,
        pad_edge=False,
    )
    widths = [
        max(map(len, [column.heading, *cells]))
        for column, cells in zip(columns, zip(*rows, strict=True), strict=True)
    ]
    taken = sum(width + 3 for column, width in zip(columns, widths, strict=True) if not column.rest)
    for column, widest in zip(columns, widths, strict=True):
        most = max(width - taken, REST_WIDTH_MIN) if column.rest else widest
        drawn.add_column(
            column.heading,
            justify="right" if column.right else "left",
            no_wrap=True,
            overflow="ellipsis",
            min_width=min(widest, most),
            max_width=most,
        )
    for row in rows:
        drawn.add_row(*map(Text, row))
    return drawn
