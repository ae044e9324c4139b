"""Tables: with lines on a terminal, plain text in a pipe. No cell is ever cropped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TextIO

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..ipc.text import printable

REST_WIDTH_MIN = 16
_INDENT, _GAP = 2, "  "


class _UncroppedConsole(Console):
    """Leaves a line that is wider than the terminal to the terminal, which wraps it."""

    def print(self, *objects: Any, **options: Any) -> None:
        super().print(*objects, **{"crop": False, **options})


def console_for(output: TextIO) -> Console:
    """A console that prints every character of every table."""
    return _UncroppedConsole(file=output, soft_wrap=False, highlight=False)


@dataclass(frozen=True)
class Column:
    """On a terminal, the `rest` columns take the width that the others leave, and their cells wrap.

    A heading wraps at its spaces.
    """

    heading: str
    right: bool = False
    rest: bool = False


@dataclass(frozen=True)
class Cell:
    """A text with a rich style, which says what it means: "red" is an error, "yellow" deserves a look."""

    text: str
    style: str = ""


ERROR, WARNING, WEAK = "red", "yellow", "dim"
Row = Sequence[str | Cell]


def print_lines(console: Console, lines: Iterable[str | Cell]) -> None:
    """Print each text as one escaped line, which the terminal wraps."""
    for line in lines:
        cell = _escaped(line)
        console.print(Text(cell.text, cell.style), soft_wrap=True)


def table(
    title: str, columns: Sequence[Column], rows: Sequence[Row], width: int, terminal: bool
) -> RenderableType:
    """Lay out a table, as wide as its escaped cells.

    On a terminal of `width` columns the `rest` columns wrap; if that is not enough, each row becomes a paragraph.
    """
    cells = [[_escaped(cell) for cell in row] for row in rows]
    widths = [
        max([_heading_width(column, terminal), *(len(cell.text) for cell in below)])
        for column, below in zip(columns, zip(*cells, strict=True), strict=True)
    ]
    gap = 2 if terminal else 3
    gaps = gap * (len(widths) - 1)
    if terminal:
        widths = _fit(columns, widths, width - gaps)
        if sum(widths) + gaps > width:
            return _paragraphs(title, columns, cells, width)
    grid = Table(
        title=Text(printable(title)),
        title_justify="left",
        title_style="bold" if terminal else "",
        header_style="",
        box=box.SIMPLE_HEAD if terminal else box.ASCII2,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0) if terminal else (0, 1),
        width=sum(widths) + gaps,
    )
    for column, widest in zip(columns, widths, strict=True):
        justify: Literal["left", "right"] = "right" if column.right else "left"
        grid.add_column(column.heading, justify=justify, overflow="fold", width=widest)
    for row in cells:
        grid.add_row(*(Text(cell.text, cell.style) for cell in row))
    return grid


def _escaped(cell: str | Cell) -> Cell:
    return Cell(printable(cell)) if isinstance(cell, str) else Cell(printable(cell.text), cell.style)


def _heading_width(column: Column, wraps: bool) -> int:
    return max(map(len, column.heading.split())) if wraps else len(column.heading)


def _fit(columns: Sequence[Column], widths: list[int], width: int) -> list[int]:
    """Narrow the widest `rest` columns until the table fits, or all of them have their least width."""
    widths = list(widths)
    least = [
        min(widest, REST_WIDTH_MIN) if column.rest else widest
        for column, widest in zip(columns, widths, strict=True)
    ]
    for _ in range(sum(widths) - width):
        position = max(range(len(widths)), key=lambda at: (widths[at] > least[at], widths[at]))
        widths[position] = max(least[position], widths[position] - 1)
    return widths


def _paragraphs(
    title: str, columns: Sequence[Column], rows: Sequence[Sequence[Cell]], width: int
) -> RenderableType:
    """One paragraph for each row, for a terminal that is too narrow for the table.

    A line breaks between facts, so that a heading stays with its cell.
    """
    lines: list[RenderableType] = [Text(printable(title), "bold")]
    for first, *others in rows:
        lines.append(Text(first.text, first.style))
        line = Text()
        for column, cell in zip(columns[1:], others, strict=True):
            if not cell.text:
                continue
            fact = Text.assemble((f"{column.heading} ", WEAK), (cell.text, cell.style))
            if line and _INDENT + len(line) + len(_GAP) + len(fact) > width:
                lines.append(Padding(line, (0, 0, 0, _INDENT)))
                line = Text()
            line = Text.assemble(line, _GAP, fact) if line else fact
        lines.append(Padding(line, (0, 0, 0, _INDENT)))
    return Group(*lines)
