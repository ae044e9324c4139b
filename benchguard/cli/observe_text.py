"""The summary of a run as tables and lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import TextIO

from ..audit.durations import HostTime, overhead_text
from ..audit.graph_times import GraphRow
from ..audit.kernel_name import display_name
from ..audit.rows import KernelRow
from ..audit.summary import Summary
from ..units import duration_text, rate_text, size_text
from .table import ERROR, WARNING, WEAK, Cell, Column, Row, console_for, print_lines, table

ROWS_MAX = 20


def render(summary: Summary, log: Path, output: TextIO) -> None:
    """Print the tables to `output`."""
    terminal = output.isatty()
    console = console_for(output)
    for title, columns, rows in _tables(summary):
        if rows:
            console.print(table(title, columns, rows, console.width, terminal))
    print_lines(console, closing_lines(summary, log))


def _tables(summary: Summary) -> list[tuple[str, Sequence[Column], list[Row]]]:
    return [
        ("images", _IMAGE_COLUMNS, _image_rows(summary)),
        ("kernels", _kernel_columns(summary), _kernel_rows(summary)),
        ("graphs", _graph_columns(summary), _graph_rows(summary)),
        ("calls", _CALL_COLUMNS, _call_rows(summary)),
        ("decisions of the policy", _DECISION_COLUMNS, _decision_rows(summary)),
        ("copies", _COPY_COLUMNS, _copy_rows(summary)),
        ("memory", _MEMORY_COLUMNS, _memory_rows(summary)),
        ("allocations that were never freed", _ALIVE_COLUMNS, _alive_rows(summary)),
        ("refused frees", _FREE_COLUMNS, _free_rows(summary)),
        ("failed calls", _FAILURE_COLUMNS, _failure_rows(summary)),
    ]


def closing_lines(summary: Summary, log: Path) -> list[str | Cell]:
    """The lines below the tables."""
    by_graphs = f" and {summary.graph_launches} by graphs" if summary.graph_launches else ""
    listed = sum(row.launches + row.graph_launches for row in summary.kernels)
    more = "more than " if listed < summary.launches + summary.graph_launches else ""
    first = (
        f"{_count(summary.launches, 'launch', 'launches')}{by_graphs} of {more}"
        f"{_count(len(summary.kernels), 'kernel')} "
        f"from {_count(len(summary.images), 'image')}; {_count(summary.other_calls, 'other call')}; "
        f"{_count(summary.processes, 'process', 'processes')}; driver {summary.driver}"
    )
    if not summary.processes:
        first = f"no process called the driver; driver {summary.driver}"
    return [first, *_problems(summary), *_losses(summary), _log_line(summary, log)]


def _problems(summary: Summary) -> list[str | Cell]:
    lines: list[str | Cell] = []
    if summary.failed_calls:
        launches = f", {summary.failed_launches} of them launches" if summary.failed_launches else ""
        lines.append(Cell(f"failed calls: {summary.failed_calls}{launches}", ERROR))
    if summary.denied_calls:
        lines.append(Cell(f"calls that the policy denied: {summary.denied_calls}", ERROR))
    for fault, count in Counter(bad.fault for bad in summary.bad_frees).items():
        lines.append(Cell(f"{_PLURALS[fault]}: {count}", ERROR))
    if alive := sum(row.alive for row in summary.memory):
        size = size_text(sum(row.alive_bytes for row in summary.memory))
        lines.append(Cell(f"never freed: {_count(alive, 'allocation')}, {size}", WARNING))
    if summary.captured_launches:
        lines.append(f"launches recorded into graphs by stream capture: {summary.captured_launches}")
    if summary.captured_copies:
        lines.append(f"copies recorded into graphs by stream capture: {summary.captured_copies}")
    if summary.gpu_time:
        graphs = f", {summary.gpu_graph_launches} of them graphs" if summary.gpu_graph_launches else ""
        lines.append(
            f"launches timed on the GPU: {summary.gpu_launches}{graphs}; unmeasured: {summary.gpu_unmeasured}"
            f"; {overhead_text(summary.gpu_overhead_ns)}"
        )
    unmapped = f"unmapped entry points: {', '.join(summary.unmapped) or 'none'}"
    tables = f"; export tables asked for: {summary.export_tables}" if summary.api == "cuda" else ""
    lines.append(unmapped + tables)
    if summary.in_flight:
        lines.append(
            Cell(f"inside the driver when its process ended: {', '.join(summary.in_flight)}", WARNING)
        )
    if summary.unobserved:
        commands = "; ".join(summary.unobserved)
        lines.append(
            Cell(
                f"child processes not observed, started without LD_PRELOAD or NEUTRINO_*: {commands}", WARNING
            )
        )
    return lines + [f"note: {note}" for note in summary.notes]


def _losses(summary: Summary) -> list[str | Cell]:
    lines: list[str | Cell] = [Cell(f"left out: {limit}", WARNING) for limit in summary.limits]
    if summary.outlived:
        lines.append(Cell(f"still running at the end: {', '.join(map(str, summary.outlived))}", WARNING))
    if summary.rings_exhausted:
        lines.append(Cell(f"threads without a trace ring: {summary.rings_exhausted}", ERROR))
    if summary.corrupt_rings:
        lines.append(Cell(f"trace rings with invalid records: {summary.corrupt_rings}", ERROR))
    lost = f"records dropped: {summary.dropped}; images not kept: {summary.images_dropped}"
    if summary.complete:
        return [*lines, lost]
    if summary.dropped or summary.corrupt_rings:
        lost += (
            "; counts are too low, and a free of what is listed as never freed may be among the lost calls"
        )
    return [*lines, Cell(f"{lost}; INCOMPLETE: this run can be looked at, not judged", ERROR)]


def _log_line(summary: Summary, log: Path) -> str:
    return f"audit log {log}: {summary.lines} lines, head {summary.head}"


_PLURALS = {
    "double free": "double frees",
    "invalid free": "frees of addresses that no call gave",
    "wrong call": "frees by the call for another kind of memory",
}

_TIMES = (
    Column("host total", right=True),
    Column("host median", right=True),
    Column("host p99", right=True),
)


def _times(host: HostTime) -> list[str]:
    return [duration_text(each) for each in (host.total_ns, host.median_ns, host.p99_ns)]


_GPU_TIMES = (
    Column("GPU total", right=True),
    Column("GPU median", right=True),
    Column("GPU p99", right=True),
)


def _gpu_times(summary: Summary, row: KernelRow | GraphRow) -> list[str]:
    if not summary.gpu_time:
        return []
    gpu = row.gpu
    return (
        [""] * 3
        if gpu is None
        else [duration_text(each) for each in (gpu.total_ns, gpu.median_ns, gpu.p99_ns)]
    )


def _kernel_columns(summary: Summary) -> list[Column]:
    by_graphs = [Column("by graphs", right=True)] if summary.graph_launches else []
    gpu_times = _GPU_TIMES if summary.gpu_time else ()
    return [
        Column("kernel", rest=True),
        Column("launches", right=True),
        *by_graphs,
        *_TIMES,
        *gpu_times,
        Column("failed", right=True),
        Column("grid"),
        Column("block"),
        Column("image"),
        Column("library", rest=True),
    ]


def _kernel_rows(summary: Summary) -> list[Row]:
    rows: list[Row] = []
    shown = summary.kernels[:ROWS_MAX] + [row for row in summary.kernels[ROWS_MAX:] if row.failed][:ROWS_MAX]
    for row in shown:
        more = f" +{row.shapes - 1}" if row.shapes > 1 else ""
        rows.append([
            display_name(row.name),
            str(row.launches),
            *([str(row.graph_launches)] if summary.graph_launches else []),
            *(_times(row.host) if row.launches else [""] * 3),
            *_gpu_times(summary, row),
            _failed(row.failed),
            "x".join(map(str, row.grid)) + more,
            "x".join(map(str, row.block)),
            _short(row.image),
            PurePath(row.library or "").name,
        ])  # fmt: skip
    rest = [row for row in summary.kernels if row not in shown]
    if rest:
        launches, by_graphs = sum(row.launches for row in rest), sum(row.graph_launches for row in rest)
        counts = [str(launches), *([str(by_graphs)] if summary.graph_launches else [])]
        rows.append([f"... {len(rest)} more kernels", *counts, *[""] * (11 if summary.gpu_time else 8)])
    return rows


def _graph_columns(summary: Summary) -> list[Column]:
    return [
        Column("graph", right=True),
        Column("process"),
        Column("kernels", right=True),
        Column("launches", right=True),
        *_TIMES,
        *(_GPU_TIMES if summary.gpu_time else ()),
        Column("failed", right=True),
    ]


def _graph_rows(summary: Summary) -> list[Row]:
    rows: list[Row] = [
        [
            str(row.graph),
            str(row.process),
            "" if row.kernels is None else str(row.kernels),
            str(row.launches),
            *(_times(row.host) if row.launches else [""] * 3),
            *_gpu_times(summary, row),
            _failed(row.failed),
        ]
        for row in summary.graphs[:ROWS_MAX]
    ]
    if rest := summary.graphs[ROWS_MAX:]:
        launches, failed = sum(row.launches for row in rest), sum(row.failed for row in rest)
        times = [""] * (6 if summary.gpu_time else 3)
        rows.append([f"... {len(rest)} more", "", "", str(launches), *times, _failed(failed)])
    return rows


_IMAGE_COLUMNS = (
    Column("image"),
    Column("format"),
    Column("bytes", right=True),
    Column("loads", right=True),
    Column("launches", right=True),
    Column("from", rest=True),
)


def _image_rows(summary: Summary) -> list[Row]:
    rows: list[Row] = []
    for row in summary.images[:ROWS_MAX]:
        origin = PurePath(row.origin).name + (f" ({row.note})" if row.note else "")
        sizes = [str(row.bytes), str(row.loads), str(row.launches)]
        rows.append([_short(row.sha256), row.format.replace("_", " "), *sizes, origin])
    if len(summary.images) > ROWS_MAX:
        rows.append([f"... {len(summary.images) - ROWS_MAX} more", "", "", "", "", ""])
    return rows


_CALL_COLUMNS = (
    Column("call", rest=True),
    Column("count", right=True),
    *_TIMES,
    Column("failed", right=True),
    Column("results", rest=True),
)


def _call_rows(summary: Summary) -> list[Row]:
    """The calls that took most time, and every call that failed."""
    shown = [row for at, row in enumerate(summary.calls) if at < ROWS_MAX or row.failed]
    rows: list[Row] = []
    for row in shown:
        results = ", ".join(f"{name} {count}" for name, count in row.errors.items())
        style = ERROR if row.failed else WEAK
        rows.append([row.call, str(row.count), *_times(row.host), _failed(row.failed), Cell(results, style)])
    if rest := len(summary.calls) - len(shown):
        count = sum(row.count for row in summary.calls) - sum(row.count for row in shown)
        rows.append([f"... {rest} more", str(count), "", "", "", "0", ""])
    return rows


_DECISION_COLUMNS = (
    Column("rule", rest=True),
    Column("action"),
    Column("call"),
    Column("count", right=True),
    Column("phase"),
    Column("called by", rest=True),
    Column("log line", right=True),
    Column("arguments of the first", rest=True),
)


def _decision_rows(summary: Summary) -> list[Row]:
    """Every decision: there is one row for each rule, call, phase and caller."""
    rows: list[Row] = []
    for row in summary.decisions:
        action = Cell(row.action, ERROR if row.action == "deny" else "")
        origin = PurePath(row.origin).name
        rows.append(
            [row.rule, action, row.call, str(row.count), row.phase, origin, str(row.line), row.details]
        )
    return rows


_COPY_COLUMNS = (
    Column("copies", rest=True),
    Column("count", right=True),
    Column("failed", right=True),
    Column("bytes", right=True),
    *_TIMES,
    Column("host rate", right=True),
)


def _copy_rows(summary: Summary) -> list[Row]:
    rows: list[Row] = []
    for row in summary.copies:
        name = row.direction + (", async" if row.asynchronous else "")
        unsized = f" + {row.unsized} of unknown size" if row.unsized else ""
        rate = rate_text(row.host_rate) if row.host_rate is not None and row.bytes else "-"
        rows.append([
            name,
            str(row.copies),
            _failed(row.failed),
            size_text(row.bytes) + unsized,
            *(_times(row.host) if row.copies else [""] * 3),
            rate,
        ])  # fmt: skip
    return rows


_MEMORY_COLUMNS = (
    Column("process", rest=True),
    Column("kind"),
    Column("allocations", right=True),
    Column("failed", right=True),
    Column("frees", right=True),
    Column("peak", right=True),
    Column("never freed", right=True),
)


def _memory_rows(summary: Summary) -> list[Row]:
    rows: list[Row] = []
    for row in summary.memory[:ROWS_MAX]:
        alive = f"{row.alive} ({size_text(row.alive_bytes)})" if row.alive else "0"
        rows.append([
            f"{row.process} {PurePath(row.executable).name}",
            row.kind,
            str(row.allocations),
            _failed(row.failed_allocations),
            str(row.frees),
            size_text(row.peak_bytes),
            Cell(alive, WARNING if row.alive else ""),
        ])  # fmt: skip
    if (rest := len(summary.memory) - ROWS_MAX) > 0:
        rows.append([f"... {rest} more", "", "", "", "", "", ""])
    return rows


_ALIVE_COLUMNS = (
    Column("allocated by", rest=True),
    Column("process"),
    Column("kind"),
    Column("count", right=True),
    Column("bytes each", right=True),
    Column("until"),
    Column("log lines"),
)


def _alive_rows(summary: Summary) -> list[Row]:
    rows: list[Row] = []
    for row in summary.alive[:ROWS_MAX]:
        lines = ", ".join(map(str, row.lines)) + (", ..." if row.count > len(row.lines) else "")
        size = str(row.bytes) if row.bytes is not None else "not recorded"
        until = row.released_by or "exit"
        rows.append([Cell(row.call, WARNING), str(row.process), row.kind, str(row.count), size, until, lines])
    if rest := summary.alive[ROWS_MAX:]:
        rows.append([f"... {len(rest)} more sizes", "", "", str(sum(row.count for row in rest)), "", "", ""])
    return rows


_FREE_COLUMNS = (
    Column("fault"),
    Column("call", rest=True),
    Column("address"),
    Column("allocated by", rest=True),
    Column("process"),
    Column("log line", right=True),
)


def _free_rows(summary: Summary) -> list[Row]:
    rows: list[Row] = []
    for row in summary.bad_frees[:ROWS_MAX]:
        allocated = "no logged call"
        if row.allocated_by:
            size = "" if row.bytes is None else f" of {row.bytes} bytes"
            freed = f"; freed in line {row.freed_line}" if row.freed_line else ""
            allocated = f"{row.allocated_by}{size}, line {row.allocated_line}{freed}"
        rows.append(
            [Cell(row.fault, ERROR), row.call, hex(row.address), allocated, str(row.process), str(row.line)]
        )
    if (rest := len(summary.bad_frees) - ROWS_MAX) > 0:
        rows.append([f"... {rest} more", "", "", "", "", ""])
    return rows


_FAILURE_COLUMNS = (
    Column("call", rest=True),
    Column("result"),
    Column("count", right=True),
    Column("log line", right=True),
    Column("arguments of the first", rest=True),
)


def _failure_rows(summary: Summary) -> list[Row]:
    """Every failure: there is one row for each call and error."""
    return [
        [row.call, Cell(row.error, ERROR), str(row.count), str(row.line), row.details]
        for row in summary.failures
    ]


def _failed(count: int) -> Cell:
    return Cell(str(count), ERROR if count else "")


def _short(sha256: str | None) -> str:
    return sha256[:12] if sha256 is not None else "unknown"


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
