"""The summary as tables: drawn on a terminal, plain where the output is piped."""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import TextIO

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from .summary import Summary

ROWS_MAX = 20
PIPED_WIDTH = 120
NAME_WIDTH = 56


def render(summary: Summary, log: Path, output: TextIO) -> None:
    """Print the tables to `output`."""
    terminal = output.isatty()
    console = Console(file=output, width=None if terminal else PIPED_WIDTH, soft_wrap=False, highlight=False)
    if summary.kernels:
        console.print(_kernels(summary, terminal))
    if summary.images:
        console.print(_images(summary, terminal))
    for line in closing_lines(summary, log):
        console.print(Text(line), soft_wrap=True)


def closing_lines(summary: Summary, log: Path) -> list[str]:
    """What is said below the tables."""
    by_graphs = f" and {summary.graph_launches} by graphs" if summary.graph_launches else ""
    lines = [
        f"{summary.launches} launches{by_graphs} of {len(summary.kernels)} kernels from {len(summary.images)} images; "
        f"{summary.calls} other calls; {_count(summary.processes, 'process', 'processes')}; driver {summary.driver}"
    ]
    if not summary.processes:
        lines[0] = f"no process called the driver; driver {summary.driver}"
    if summary.failed_launches:
        lines.append(f"launches that the driver refused: {summary.failed_launches}")
    if summary.captured_launches:
        lines.append(f"launches recorded into graphs by stream capture: {summary.captured_launches}")
    names = ", ".join(summary.unmapped) or "none"
    lines.append(f"unmapped entry points: {names}; export tables asked for: {summary.export_tables}")
    if summary.in_flight:
        lines.append(f"inside the driver when its process ended: {', '.join(summary.in_flight)}")
    lines += [f"note: {note}" for note in summary.notes]
    lost = f"records dropped: {summary.dropped}; images not kept: {summary.images_dropped}"
    lines.append(lost if summary.complete else f"{lost}; INCOMPLETE: this run can be looked at, not judged")
    lines.append(f"audit log {log}: {summary.lines} lines, head {summary.head}")
    return lines


def _table(title: str, terminal: bool) -> Table:
    return Table(
        title=title, title_justify="left", title_style="bold" if terminal else "", header_style="",
        box=box.SIMPLE_HEAD if terminal else box.ASCII2, show_edge=False, pad_edge=False,
    )  # fmt: skip


def _kernels(summary: Summary, terminal: bool) -> Table:
    table = _table("kernels", terminal)
    table.add_column("kernel", overflow="ellipsis", no_wrap=True, max_width=NAME_WIDTH)
    for heading in ("launches", "by graphs", "share"):
        table.add_column(heading, justify="right", no_wrap=True)
    for heading in ("grid", "block", "image"):
        table.add_column(heading, no_wrap=True)
    total = sum(row.total for row in summary.kernels) or 1
    for row in summary.kernels[:ROWS_MAX]:
        more = f" +{row.shapes - 1}" if row.shapes > 1 else ""
        table.add_row(
            Text(row.name), str(row.launches), str(row.graph_launches), f"{row.total / total:.0%}",
            "x".join(map(str, row.grid)) + more, "x".join(map(str, row.block)), _short(row.image),
        )  # fmt: skip
    if len(summary.kernels) > ROWS_MAX:
        rest = summary.kernels[ROWS_MAX:]
        table.add_row(
            Text(f"... {len(rest)} more kernels"),
            str(sum(row.launches for row in rest)),
            str(sum(row.graph_launches for row in rest)),
        )
    return table


def _images(summary: Summary, terminal: bool) -> Table:
    table = _table("images", terminal)
    table.add_column("image", no_wrap=True)
    table.add_column("format", no_wrap=True)
    for heading in ("bytes", "loads", "launches"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("from", overflow="ellipsis", no_wrap=True, max_width=NAME_WIDTH)
    for row in summary.images[:ROWS_MAX]:
        origin = PurePath(row.origin).name + (f" ({row.note})" if row.note else "")
        table.add_row(
            _short(row.sha256), row.format, str(row.bytes), str(row.loads), str(row.launches), Text(origin)
        )
    if len(summary.images) > ROWS_MAX:
        table.add_row(f"... {len(summary.images) - ROWS_MAX} more")
    return table


def _short(sha256: str | None) -> str:
    return sha256[:12] if sha256 is not None else "unknown"


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
