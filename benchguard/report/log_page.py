"""The page of an audit log."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

from ..audit.kernel_name import display_name
from ..units import duration_text, size_text
from .log_report import LogReport, Texts
from .memory import Curve
from .page import (
    FAILED_COLOR,
    OTHER_COLOR,
    PALETTE,
    Badge,
    Cell,
    Chart,
    Column,
    Page,
    Section,
    first_rows,
    number,
    text,
)
from .tables import CallRow, ImageRow, KernelRow
from .timeline import LANES_MAX, Box, Lane, Timeline

SHORT = 12
"""Digits of a SHA-256 in a table."""

HINT = (
    "Point at the chart, or give it the focus and press n or p to go from box to box, "
    "+ and - to zoom, the arrows to move, 0 to show all."
)


def log_page(report: LogReport, more: tuple[Section, ...] = ()) -> Page:
    """The page of a log, with further sections behind the timeline's."""
    command = " ".join(report.session.command) if report.session else str(report.path)
    sections = [_run(report), _timeline(report), _memory(report), *more]
    sections += [_kernels(report), _calls(report), _images(report), _losses(report)]
    return Page(f"Run of {command}", list(_badges(report)), list(_warnings(report)), sections)


def _badges(report: LogReport) -> Iterator[Badge]:
    if report.end is not None:
        status = report.end.status
        if status is not None:  # `serve` is not the program's parent
            yield Badge(f"exit status {status}", "good" if status == 0 else "bad")
        yield Badge("complete", "good") if report.end.complete else Badge("incomplete", "bad")
    else:
        yield Badge("no end line", "bad")
    kernels = report.tables.kernels.values()
    launches = sum(row.launches for row in kernels)
    yield Badge(f"launches: {launches:,}")
    yield Badge(f"kernels: {sum(1 for row in kernels if row.total):,}")
    failed = sum(row.failed for row in kernels)
    if failed:
        yield Badge(f"failed launches: {failed:,}", "bad")
    errors = sum(row.errors.total() for row in report.tables.calls.values())
    if errors:
        yield Badge(f"calls with an error: {errors:,}")


def _warnings(report: LogReport) -> Iterator[str]:
    if report.problem:
        yield f"{report.problem}. The page shows the lines before."
    end = report.end
    if end is not None and not end.complete:
        yield "The log is incomplete, so counts are too low and calls are missing. The section Losses has the reasons."
    if end is not None and end.unobserved:
        yield f"{len(end.unobserved)} child processes ran unobserved; the section Losses lists them."


def _run(report: LogReport) -> Section:
    facts = [("Log", str(report.path)), ("Lines", f"{report.lines:,}")]
    if report.session is not None:
        session = report.session
        facts += [
            ("Command", " ".join(session.command)),
            ("Started", session.started),
            ("API", session.api),
            ("Driver", str(session.driver.get("path", ""))),
            ("Recorded by", f"neutrino-bench {session.version}"),
        ]
    if report.end is not None:
        facts.append(("Duration", duration_text(report.end.time_ns)))
    for process in list(report.processes.values())[:8]:
        facts.append((f"Process {process.process}", process.executable))
    facts.append(("Head", report.head))
    if len(report.processes) > 8:
        facts.append(("Processes", f"{len(report.processes):,}"))
    return Section("run", "Run", facts=facts)


def _timeline(report: LogReport) -> Section:
    notes = [
        "All times are the host's: a box is as long as the driver call, not as long as the kernel ran. "
        "The log has no times of the GPU."
    ]
    notes += _merged("launches", report.launches) + _merged("other calls", report.calls)
    warnings = [
        f"{each.misplaced:,} {name} have an impossible time and are not in the timeline."
        for name, each in (("launches", report.launches), ("other calls", report.calls))
        if each.misplaced
    ]
    lanes = report.lanes()
    if not lanes:
        return Section("timeline", "Timeline", ["The log has no calls."])
    labels = _lane_labels(lanes)
    boxes = [
        (position, box, kind)
        for position, lane in enumerate(lanes)
        for kind, timeline in enumerate((report.launches, report.calls))
        for box in timeline.lanes.get(lane, ())
    ]
    leading = [_leading(box) for _, box, _ in boxes]
    counts: Counter[int] = Counter()
    for (_, box, kind), name in zip(boxes, leading, strict=True):
        counts[name] += box.count if kind == 0 else 0
    coloured = {name: place for place, (name, count) in enumerate(counts.most_common(len(PALETTE))) if count}
    names = [display_name(name) for name in report.names]
    groups = [{"name": names[name], "color": PALETTE[place]} for name, place in coloured.items()]
    groups += [
        {"name": "other kernels", "color": OTHER_COLOR},
        {"name": "other driver calls", "color": OTHER_COLOR},
        {"name": "failed launches and calls", "color": FAILED_COLOR},
    ]
    others = len(coloured)
    of_box = [
        others + 2 if box.failed else others + 1 if kind else coloured.get(name, others)
        for (_, box, kind), name in zip(boxes, leading, strict=True)
    ]
    used = sorted(set(of_box))
    chart = {
        "kind": "timeline",
        "axis": "time",
        "hint": HINT,
        "lanes": labels,
        "names": [names[name] for name in sorted(_names(boxes))],
        "range": _range(report),
        "groups": [groups[place] for place in used],
        "boxes": _columns(boxes, [used.index(place) for place in of_box]),
    }
    label = (
        f"Timeline of {report.launches.events:,} launches and {report.calls.events:,} other calls by stream"
    )
    return Section("timeline", "Timeline", notes, warnings, charts=[Chart("timeline", label, chart)])


def _merged(name: str, timeline: Timeline) -> list[str]:
    notes = []
    if timeline.boxes < timeline.events:
        notes.append(
            f"Showing {timeline.boxes:,} boxes for {timeline.events:,} {name}: neighbours in time are merged into one "
            "box, in the colour of its most frequent name. The tables count every one."
        )
    if timeline.joined:
        notes.append(
            f"Only {LANES_MAX} rows are shown; the {name} of {len(timeline.joined):,} more share one row."
        )
    return notes


def _leading(box: Box) -> int:
    return max(box.names, key=lambda name: box.names[name])


def _names(boxes: list[tuple[int, Box, int]]) -> set[int]:
    return {name for _, box, _ in boxes for name in box.names}


def _columns(boxes: list[tuple[int, Box, int]], groups: list[int]) -> dict[str, list[object]]:
    positions = {name: at for at, name in enumerate(sorted(_names(boxes)))}
    return {
        "lane": [lane for lane, _, _ in boxes],
        "group": list(groups),
        "begin": [box.begin for _, box, _ in boxes],
        "end": [box.end for _, box, _ in boxes],
        "count": [box.count for _, box, _ in boxes],
        "failed": [box.failed for _, box, _ in boxes],
        "names": [
            [[positions[name], count] for name, count in sorted(box.names.items(), key=lambda item: -item[1])]
            for _, box, _ in boxes
        ],
    }


def _range(report: LogReport) -> list[int]:
    """The time from the first event to the last, with a margin."""
    boxes = [
        box
        for timeline in (report.launches, report.calls)
        for each in timeline.lanes.values()
        for box in each
    ]
    begin = min((box.begin for box in boxes), default=0)
    end = max((box.end for box in boxes), default=1)
    margin = max((end - begin) // 50, 1)
    return [begin - margin, end + margin]


def _lane_labels(lanes: list[Lane]) -> list[str]:
    """Short names of the lanes. Parts that all lanes share are left out."""
    processes = {lane.process for lane in lanes if lane.process}
    threads = {(lane.process, lane.thread) for lane in lanes if lane.process}
    labels = []
    for lane in lanes:
        words = []
        if not lane.process:
            words.append("further threads and streams")
        if lane.process and len(processes) > 1:
            words.append(f"process {lane.process}")
        if lane.process and len(threads) > len(processes):
            words.append(f"thread {lane.thread}")
        words.append(_stream(lane.stream) if lane.process or lane.stream is None else "launches")
        labels.append(", ".join(words))
    return labels


def _stream(stream: int | None) -> str:
    if stream is None:
        return "other calls"
    return {0: "default stream", 1: "legacy stream", 2: "per-thread stream"}.get(
        stream, f"stream {stream:#x}"
    )


def _memory(report: LogReport) -> Section:
    memory = report.memory
    if not memory.curves:
        return Section("memory", "Memory", ["The log has no call that allocates memory."])
    notes = [
        "Allocated and not yet freed, by the sizes that the program asked for. Memory that ends with its context, its "
        "process or its graph is not seen to be freed."
    ]
    curves = list(memory.curves.values())
    points = sum(len(curve.points) for curve in curves)
    if points < memory.changes:
        notes.append(f"Showing {points:,} of {memory.changes:,} changes; peaks and lows are kept.")
    if memory.unmatched:
        notes.append(f"{memory.unmatched:,} frees are of memory whose allocation is not in the log.")
    if memory.left_out:
        notes.append(
            f"{memory.left_out:,} allocations are left out: too many at a time, or an impossible size."
        )
    several = len({curve.process for curve in curves}) > 1
    names = [f"{curve.kind}, process {curve.process}" if several else curve.kind for curve in curves]
    window = _range(report)
    data = {
        "kind": "lines",
        "axis": "time",
        "hint": "Point at the chart to read it.",
        "range": window,
        "ticks": _ticks(max(curve.peak for curve in curves)),
        "curves": [
            {"name": name, "color": PALETTE[place % len(PALETTE)], **_points(curve, window[1])}
            for place, (name, curve) in enumerate(zip(names, curves, strict=True))
        ],
    }
    columns = [Column("Memory"), *(Column(name, True) for name in ("Peak", "At the end", "Allocations"))]
    rows = [
        [
            text(name),
            number(curve.peak, size_text(curve.peak)),
            number(curve.bytes, size_text(curve.bytes)),
            number(curve.allocations),
        ]
        for name, curve in zip(names, curves, strict=True)
    ]
    table = first_rows("Memory by kind", columns, rows, "")
    chart = Chart("memory", "Allocated memory over time", data)
    return Section("memory", "Memory", notes, charts=[chart], tables=[table])


def _points(curve: Curve, end: int) -> dict[str, list[int]]:
    points = [(curve.points[0][0], 0), *curve.points, (max(end, curve.points[-1][0]), curve.points[-1][1])]
    return {"time": [time for time, _ in points], "bytes": [size for _, size in points]}


def _ticks(peak: int) -> list[int]:
    """About five round sizes up to a peak: 1, 2 or 5 of a power of 1024, times 1, 10 or 100."""
    scale = 1 << 10 * max(0, (peak.bit_length() - 1) // 10)
    step = next(
        factor * tens * scale // 1000
        for tens in (1, 10, 100, 1000, 10000, 100000, 1000000)
        for factor in (1, 2, 5)
        if factor * tens * scale * 5 >= peak * 1000
    )
    step = max(step, 1)
    return list(range(0, peak + step, step))[:12]


def _kernels(report: LogReport) -> Section:
    rows = sorted(report.tables.kernels.values(), key=lambda row: -row.total)
    columns = [
        Column("Kernel"),
        *(Column(name, True) for name in ("Launches", "By graphs", "Failed")),
        *(
            Column(name, True)
            for name in ("Grid", "Block", "Shapes", "Registers", "Shared", "Local", "Launch calls")
        ),
        Column("Image"),
    ]
    table = first_rows("Kernels", columns, [_kernel(row) for row in rows], "most launched first")
    notes = ["Launch calls: time that the host spent in the launch calls, not time on the GPU."]
    if report.tables.uncounted_nodes:
        notes.append(
            f"Launches of {report.tables.uncounted_nodes:,} kernel nodes are not counted: the graphs are too many."
        )
    return Section("kernels", "Kernels", notes, tables=[table] if rows else [])


def _kernel(row: KernelRow) -> list[Cell]:
    (grid, block), _ = row.shapes.most_common(1)[0] if row.shapes else (((0, 0, 0), (0, 0, 0)), 0)
    code = row.resources
    shared = row.shared_bytes + (code.static_shared_bytes if code else 0)
    return [
        text(display_name(row.name)),
        number(row.launches),
        number(row.graph_launches),
        number(row.failed),
        Cell("x".join(map(str, grid)), math.prod(grid)) if row.shapes else Cell("", 0),
        Cell("x".join(map(str, block)), math.prod(block)) if row.shapes else Cell("", 0),
        number(len(row.shapes)),
        number(code.registers) if code else Cell("", -1),
        number(shared, size_text(shared)),
        number(code.local_bytes, size_text(code.local_bytes)) if code else Cell("", -1),
        number(row.host_ns, duration_text(row.host_ns)),
        Cell((row.image or "")[:SHORT], code=True),
    ]


def _calls(report: LogReport) -> Section:
    rows = sorted(report.tables.calls.values(), key=lambda row: -row.total_ns)
    columns = [
        Column("Call"),
        Column("Group"),
        *(Column(name, True) for name in ("Calls", "Total", "Mean", "Longest", "Errors")),
        Column("Results other than 0"),
    ]
    table = first_rows("Driver calls", columns, [_call(row) for row in rows], "longest total first")
    return Section("calls", "Calls", tables=[table] if rows else [])


def _call(row: CallRow) -> list[Cell]:
    errors = ", ".join(f"{result} ({count:,} times)" for result, count in row.errors.most_common(4))
    mean = row.total_ns / max(row.count, 1)
    return [
        text(row.name),
        text(row.group.replace("_", " ")),
        number(row.count),
        number(row.total_ns, duration_text(row.total_ns)),
        number(mean, duration_text(mean)),
        number(row.longest_ns, duration_text(row.longest_ns)),
        number(row.errors.total()),
        text(errors + (", …" if len(row.errors) > 4 else "")),
    ]


def _images(report: LogReport) -> Section:
    launches: Counter[str | None] = Counter()
    for row in report.tables.kernels.values():
        launches[row.image] += row.total
    rows = sorted(report.tables.images.values(), key=lambda row: -launches[row.sha256])
    columns = [
        Column("Image"),
        Column("Format"),
        *(Column(name, True) for name in ("Size", "Loads", "Launches")),
        Column("From"),
        Column("Note"),
    ]
    cells = [_image(row, launches[row.sha256] if row.sha256 else 0) for row in rows]
    table = first_rows("Code images", columns, cells, "most launched first")
    notes = [] if rows else ["The log has no code image."]
    return Section("images", "Images", notes, tables=[table] if rows else [])


def _image(row: ImageRow, launches: int) -> list[Cell]:
    return [
        Cell(row.sha256[:SHORT] if row.sha256 else "not stored", code=True),
        text(row.format.replace("_", " ")),
        number(row.bytes, size_text(row.bytes)),
        number(row.loads),
        number(launches),
        text(row.origin),
        text(row.note or ""),
    ]


def _losses(report: LogReport) -> Section:
    notes = list(_loss_lines(report))
    if not notes:
        notes = ["The log is complete: it has every launch and recorded call of the observed processes."]
    columns = [Column("Kind"), Column("Text")]
    kinds = {
        "in flight at the end": report.in_flight,
        "unmapped entry point": report.unmapped,
        "ring unreadable": report.corrupt,
        "note": report.notes,
    }
    rows = [[text(kind), text(each)] for kind, texts in kinds.items() for each in _shown(texts)]
    if report.end is not None:
        rows += [[text("unobserved process"), text(each)] for each in report.end.unobserved]
    rows += [
        [text("records dropped"), text(f"{count:,} of process {process}, thread {thread}")]
        for (process, thread), count in report.lost.most_common()
        if count
    ]
    table = first_rows("Losses and notes", columns, rows, "")
    return Section("losses", "Losses", notes, tables=[table] if rows else [])


def _shown(texts: Texts) -> list[str]:
    more = texts.count - len(texts.shown)
    return [*texts.shown, f"{more:,} more"] if more else texts.shown


def _loss_lines(report: LogReport) -> Iterator[str]:
    end = report.end
    if end is None:
        yield "The log has no end line, so it does not say what was lost."
    elif not end.complete or end.unobserved or end.images_dropped:
        if end.dropped:
            yield f"{end.dropped:,} records were dropped: a ring was full."
        if end.images_dropped:
            yield f"{end.images_dropped:,} code images were not stored."
        if end.rings_exhausted:
            yield f"{end.rings_exhausted:,} threads had no ring, so their calls are missing."
        if end.corrupt_rings:
            yield f"{end.corrupt_rings:,} rings could not be read to their end."
        if end.outlived:
            yield f"{len(end.outlived):,} processes were still running at the end: {end.outlived[:8]}."
        if end.unobserved:
            yield f"{len(end.unobserved):,} child processes ran without the shim's environment."
    if report.unknown_lines:
        yield f"{report.unknown_lines:,} lines are of kinds that this version does not know."
