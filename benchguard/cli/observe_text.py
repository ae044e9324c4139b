"""The summary of a run as tables and lines."""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import TextIO

from ..audit.kernel_name import display_name
from ..audit.summary import Summary
from .table import Column, console_for, print_lines, table

ROWS_MAX = 20


def render(summary: Summary, log: Path, output: TextIO) -> None:
    """Print the tables to `output`."""
    terminal = output.isatty()
    console = console_for(output)
    if summary.kernels:
        console.print(table("kernels", _KERNEL_COLUMNS, _kernel_rows(summary), console.width, terminal))
    if summary.images:
        console.print(table("images", _IMAGE_COLUMNS, _image_rows(summary), console.width, terminal))
    print_lines(console, closing_lines(summary, log))


def closing_lines(summary: Summary, log: Path) -> list[str]:
    """The lines below the tables."""
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
    unmapped = f"unmapped entry points: {', '.join(summary.unmapped) or 'none'}"
    tables = f"; export tables asked for: {summary.export_tables}" if summary.api == "cuda" else ""
    lines.append(unmapped + tables)
    for what, counts in (("denied", summary.denied), ("logged", summary.logged)):
        if counts:
            rules = ", ".join(f"{rule} ({count})" for rule, count in counts.items())
            calls = _count(sum(counts.values()), "call", "calls")
            lines.append(f"policy {summary.policy} {what} {calls}: {rules}")
    if summary.in_flight:
        lines.append(f"inside the driver when its process ended: {', '.join(summary.in_flight)}")
    if summary.unobserved:
        commands = "; ".join(summary.unobserved)
        lines.append(f"child processes not observed, started without LD_PRELOAD or NEUTRINO_*: {commands}")
    lines += [f"note: {note}" for note in summary.notes]
    lost = f"records dropped: {summary.dropped}; images not kept: {summary.images_dropped}"
    lines.append(lost if summary.complete else f"{lost}; INCOMPLETE: this run can be looked at, not judged")
    lines.append(f"audit log {log}: {summary.lines} lines, head {summary.head}")
    return lines


_KERNEL_COLUMNS = (
    Column("kernel", rest=True),
    Column("launches", right=True),
    Column("by graphs", right=True),
    Column("share", right=True),
    Column("grid"),
    Column("block"),
    Column("image"),
)


def _kernel_rows(summary: Summary) -> list[list[str]]:
    total = sum(row.total for row in summary.kernels) or 1
    rows = []
    for row in summary.kernels[:ROWS_MAX]:
        more = f" +{row.shapes - 1}" if row.shapes > 1 else ""
        rows.append([
            display_name(row.name),
            str(row.launches),
            str(row.graph_launches),
            f"{row.total / total:.0%}",
            "x".join(map(str, row.grid)) + more,
            "x".join(map(str, row.block)),
            _short(row.image),
        ])  # fmt: skip
    rest = summary.kernels[ROWS_MAX:]
    if rest:
        launches, by_graphs = sum(row.launches for row in rest), sum(row.graph_launches for row in rest)
        share = f"{(launches + by_graphs) / total:.0%}"
        rows.append([f"... {len(rest)} more kernels", str(launches), str(by_graphs), share, "", "", ""])
    return rows


_IMAGE_COLUMNS = (
    Column("image"),
    Column("format"),
    Column("bytes", right=True),
    Column("loads", right=True),
    Column("launches", right=True),
    Column("from", rest=True),
)


def _image_rows(summary: Summary) -> list[list[str]]:
    rows = []
    for row in summary.images[:ROWS_MAX]:
        origin = PurePath(row.origin).name + (f" ({row.note})" if row.note else "")
        sizes = [str(row.bytes), str(row.loads), str(row.launches)]
        rows.append([_short(row.sha256), row.format.replace("_", " "), *sizes, origin])
    if len(summary.images) > ROWS_MAX:
        rows.append([f"... {len(summary.images) - ROWS_MAX} more", "", "", "", "", ""])
    return rows


def _short(sha256: str | None) -> str:
    return sha256[:12] if sha256 is not None else "unknown"


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
