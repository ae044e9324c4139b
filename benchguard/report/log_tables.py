"""The sections of a log's page that are tables of its summary."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..audit.durations import HostTime, overhead_text
from ..audit.entries import KernelEntry
from ..audit.graph_times import GraphRow
from ..audit.kernel_name import display_name
from ..audit.rows import CallRow, KernelRow, Summary
from ..units import duration_text, rate_text, size_text
from .log_report import LogReport, Texts
from .page import Cell, Column, Row, Section, Table, first_rows, number, text

SHORT = 12
"""Digits of a SHA-256 in a table."""

HOST = ("Host total", "Host median", "Host p99")
GPU = ("GPU total", "GPU median", "GPU p99")
HOST_NOTE = "Host times are those of the calls on the CPU, not times on the GPU."


def columns(*words: str) -> list[Column]:
    """Columns by heading; a heading that begins with # has numbers."""
    return [Column(word.lstrip("#"), word.startswith("#")) for word in words]


def sized(size: int | None) -> Cell:
    return Cell("not recorded") if size is None else number(size, size_text(size))


def host_times(host: HostTime, count: int) -> list[Cell]:
    times = (host.total_ns, host.median_ns, host.p99_ns)
    return [number(each, duration_text(each)) if count else Cell("", -1) for each in times]


def kernels(report: LogReport) -> Section:
    rows = [
        _kernel(row, report.facts.kernels.get((row.name, row.image)), report.summary)
        for row in report.summary.kernels
    ]
    by_graphs = ["#By graphs"] if report.summary.graph_launches else []
    gpu = GPU if report.summary.gpu_time else ()
    headings = columns(
        "Kernel", "#Launches", *by_graphs, "#Failed", "#Grid", "#Block", "#Shapes", "#Registers", "#Static shared",
        "#Local", *(f"#{each}" for each in HOST), *(f"#{each}" for each in gpu), "Image",
    )  # fmt: skip
    table = first_rows("Kernels", headings, rows, "most launched first")
    notes = [HOST_NOTE]
    if gpu:
        notes.append(
            f"GPU times are between two events around a launch; {overhead_text(report.summary.gpu_overhead_ns)}. "
            f"Launches that have none: {report.summary.gpu_unmeasured:,}."
        )
    return Section("kernels", "Kernels", notes, tables=[*_filled(table), *_filled(_graphs(report.summary))])


def _graphs(summary: Summary) -> Table:
    gpu = GPU if summary.gpu_time else ()
    headings = columns(
        "#Graph", "Process", "#Kernels", "#Launches", "#Failed", *(f"#{each}" for each in (*HOST, *gpu))
    )
    rows = [
        [
            number(row.graph), text(str(row.process)), Cell("", -1) if row.kernels is None else number(row.kernels),
            number(row.launches), number(row.failed), *host_times(row.host, row.launches),
            *(_gpu_times(row) if summary.gpu_time else []),
        ]
        for row in summary.graphs
    ]  # fmt: skip
    return first_rows("Graphs", headings, rows, "longest total first")


def _gpu_times(row: KernelRow | GraphRow) -> list[Cell]:
    if row.gpu is None:
        return [Cell("", -1)] * 3
    return [
        number(each, duration_text(each)) for each in (row.gpu.total_ns, row.gpu.median_ns, row.gpu.p99_ns)
    ]


def _kernel(row: KernelRow, code: KernelEntry | None, summary: Summary) -> list[Cell]:
    return [
        text(display_name(row.name)),
        number(row.launches),
        *([number(row.graph_launches)] if summary.graph_launches else []),
        number(row.failed),
        number(math.prod(row.grid), "x".join(map(str, row.grid))),
        number(math.prod(row.block), "x".join(map(str, row.block))),
        number(row.shapes),
        number(code.registers) if code else Cell("", -1),
        sized(code.static_shared_bytes) if code else Cell("", -1),
        sized(code.local_bytes) if code else Cell("", -1),
        *host_times(row.host, row.launches),
        *(_gpu_times(row) if summary.gpu_time else []),
        Cell((row.image or "")[:SHORT], code=True),
    ]


def calls(report: LogReport) -> Section:
    summary = report.summary
    headings = columns(
        "Call", "#Calls", *(f"#{each}" for each in HOST), "#Failed", "Results other than success"
    )
    table = first_rows("Driver calls", headings, [_call(row) for row in summary.calls], "longest total first")
    failures = [
        [
            text(row.call), Cell(row.error, code=True), number(row.count),
            number(row.time_ns, duration_text(row.time_ns)), text(f"{row.process}, thread {row.thread}"),
            number(row.line), text(row.details),
        ]
        for row in summary.failures
    ]  # fmt: skip
    failed = first_rows(
        "Failed calls, described by the first of each kind",
        columns("Call", "Error", "#Count", "#First at", "Process", "#Log line", "Arguments"),
        failures,
        "first in the log first",
    )
    decided = first_rows(
        "Decisions of the policy",
        columns("Rule", "Action", "Call", "#Count", "Phase", "Called by", "#Log line", "Arguments of the first"),
        [
            [
                text(row.rule), text(row.action), text(row.call), number(row.count), text(row.phase), text(row.origin),
                number(row.line), text(row.details),
            ]
            for row in summary.decisions
        ],
        "first in the log first",
    )  # fmt: skip
    tables = [*_filled(failed), *_filled(decided), *_filled(table), *_filled(_copies(summary))]
    return Section("calls", "Calls", [HOST_NOTE], tables=tables)


def _call(row: CallRow) -> list[Cell]:
    errors = ", ".join(f"{name} ({count:,})" for name, count in list(row.errors.items())[:8])
    return [
        text(row.call),
        number(row.count),
        *host_times(row.host, row.count),
        number(row.failed),
        text(errors + (", …" if len(row.errors) > 8 else "")),
    ]


def _copies(summary: Summary) -> Table:
    rows = [
        [
            text(row.direction + (", async" if row.asynchronous else "")), number(row.copies), number(row.failed),
            sized(row.bytes), number(row.unsized), *host_times(row.host, row.copies),
            Cell("-", -1) if row.host_rate is None else number(row.host_rate, rate_text(row.host_rate)),
        ]
        for row in summary.copies
    ]  # fmt: skip
    headings = columns(
        "Copies",
        "#Count",
        "#Failed",
        "#Bytes",
        "#Of unknown size",
        *(f"#{each}" for each in HOST),
        "#Host rate",
    )
    return first_rows("Copies by direction", headings, rows, "most bytes first")


def memory_tables(summary: Summary) -> list[Table]:
    kinds = first_rows(
        "Memory by process and kind",
        columns("Process", "Kind", "#Allocations", "#Failed", "#Frees", "#Peak", "#Peak at", "#Never freed", "#Bytes"),
        [
            [
                text(f"{row.process} {row.executable}"), text(row.kind), number(row.allocations),
                number(row.failed_allocations), number(row.frees), sized(row.peak_bytes),
                number(row.peak_ns, duration_text(row.peak_ns)), number(row.alive), sized(row.alive_bytes),
            ]
            for row in summary.memory
        ],
        "in the order of the log",
    )  # fmt: skip
    alive = first_rows(
        "Allocations that were never freed",
        columns("Allocated by", "Process", "Kind", "#Count", "#Bytes each", "Until", "Log lines"),
        [
            [
                text(row.call), text(str(row.process)), text(row.kind), number(row.count), sized(row.bytes),
                text(row.released_by or "exit"), text(", ".join(map(str, row.lines))),
            ]
            for row in summary.alive
        ],
        "most bytes first",
    )  # fmt: skip
    frees = first_rows(
        "Refused frees",
        columns("Fault", "Call", "Error", "Address", "Allocated by", "Process", "#Log line"),
        [
            [
                text(row.fault), text(row.call), text(row.error), Cell(hex(row.address), code=True),
                text(row.allocated_by or "no logged call"), text(str(row.process)), number(row.line),
            ]
            for row in summary.bad_frees
        ],
        "first in the log first",
    )  # fmt: skip
    return [*_filled(kinds), *_filled(alive), *_filled(frees)]


def images(report: LogReport) -> Section:
    rows = [
        [
            Cell(row.sha256[:SHORT] if row.sha256 else "not stored", code=True), text(row.format.replace("_", " ")),
            sized(row.bytes), number(row.loads), number(row.launches), text(row.origin), text(row.note or ""),
        ]
        for row in report.summary.images
    ]  # fmt: skip
    headings = columns("Image", "Format", "#Size", "#Loads", "#Launches", "From", "Note")
    table = first_rows("Code images", headings, rows, "most launched first")
    return Section("images", "Images", [] if rows else ["The log has no code image."], tables=_filled(table))


def losses(report: LogReport) -> Section:
    facts, summary = report.facts, report.summary
    notes = list(_loss_lines(report))
    if not notes:
        notes = ["The log is complete: it has every launch and recorded call of the observed processes."]
    kinds = {
        "unobserved process": Texts(summary.unobserved, len(summary.unobserved)),
        "in flight at the end": facts.in_flight,
        "unmapped entry point": Texts(summary.unmapped, len(summary.unmapped)),
        "ring unreadable": facts.corrupt,
        "left out of this page": Texts(summary.limits, len(summary.limits)),
        "phase": facts.phases,
        "note": Texts(summary.notes, len(summary.notes)),
    }
    rows: list[Row] = [[text(kind), text(each)] for kind, texts in kinds.items() for each in _shown(texts)]
    rows += [
        [text("records dropped"), text(f"{count:,} of process {process}, thread {thread}")]
        for (process, thread), count in facts.lost.most_common()
        if count
    ]
    table = first_rows("Losses and notes", columns("Kind", "Text"), rows, "losses first")
    return Section("losses", "Losses", notes, tables=_filled(table))


def _filled(table: Table) -> list[Table]:
    """The table, unless it has no row."""
    return [table] if table.rows else []


def _shown(texts: Texts) -> list[str]:
    more = texts.count - len(texts.shown)
    return [*texts.shown, f"{more:,} more"] if more else texts.shown


def _loss_lines(report: LogReport) -> Iterator[str]:
    summary = report.summary
    if report.facts.end is None:
        yield "The log has no end line, so it does not say how much was lost."
    for count, sentence in (
        (summary.dropped, "records were dropped: a ring was full."),
        (summary.images_dropped, "code images were not stored."),
        (summary.rings_exhausted, "threads had no ring, so their calls are missing."),
        (summary.corrupt_rings, "rings could not be read to their end."),
        (len(summary.outlived), "processes were still running at the end."),
        (len(summary.unobserved), "child processes ran without the shim's environment."),
        (report.unknown_lines, "lines are of kinds that this version does not know."),
    ):
        if count:
            yield f"{count:,} {sentence}"
