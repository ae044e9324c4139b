"""Tables: with lines on a terminal, plain text in a pipe. No cell is ever cropped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TextIO

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..ipc.text import printable

REST_WIDTH_MIN = 16


class _UncroppedConsole(Console):
    """Leaves a line that is wider than the terminal to the terminal, which wraps it."""

    def print(self, *objects: Any, **options: Any) -> None:
        super().print(*objects, **{"crop": False, **options})


def console_for(output: TextIO) -> Console:
    """A console that prints every character of every table."""
    return _UncroppedConsole(file=output, soft_wrap=False, highlight=False)


def print_lines(console: Console, lines: Iterable[str]) -> None:
    """Print each text as one escaped line, which the terminal wraps."""
    for line in lines:
        console.print(Text(printable(line)), soft_wrap=True)


@dataclass(frozen=True)
class Column:
    """On a terminal, the `rest` column takes the width that the others leave, and its cells wrap."""

    heading: str
    right: bool = False
    rest: bool = False


def table(title: str, columns: Sequence[Column], rows: list[list[str]], width: int, terminal: bool) -> Table:
    """Lay out a table, as wide as its escaped cells; on a terminal of `width` columns the `rest` column wraps."""
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [
        max(map(len, [column.heading, *cells]))
        for column, cells in zip(columns, zip(*rows, strict=True), strict=True)
    ]
    if terminal:
        excess = sum(widths) + 3 * (len(widths) - 1) - width
        widths = [
            max(widest - max(excess, 0), min(widest, REST_WIDTH_MIN)) if column.rest else widest
            for column, widest in zip(columns, widths, strict=True)
        ]
    grid = Table(
        title=Text(printable(title)),
        title_justify="left",
        title_style="bold" if terminal else "",
        header_style="",
        box=box.SIMPLE_HEAD if terminal else box.ASCII2,
        show_edge=False,
        pad_edge=False,
        width=sum(widths) + 3 * (len(widths) - 1),
    )
    for column, widest in zip(columns, widths, strict=True):
        justify: Literal["left", "right"] = "right" if column.right else "left"
        grid.add_column(column.heading, justify=justify, overflow="fold", width=widest)
    for row in rows:
        grid.add_row(*map(Text, row))
    return grid
