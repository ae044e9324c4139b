"""The page of an audit log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..audit.kernel_name import display_name
from ..units import duration_text
from .curves import Curve
from .log_report import LogReport
from .log_tables import calls, images, kernels, losses, memory_tables
from .page import FAILED_COLOR, OTHER_COLOR, PALETTE, Badge, Chart, Page, Section
from .timeline import LANES_MAX, Box, Lane, Timeline

PROCESSES_MAX = 8
"""Processes that the first section names."""

HINT = (
    "Point at the chart, or give it the focus and press n or p to go from box to box, "
    "+ and - to zoom, the arrows to move, 0 to show all."
)


def log_page(report: LogReport, more: tuple[Section, ...] = ()) -> Page:
    """The page of a log, with further sections behind the timeline's."""
    command = " ".join(report.summary.command) or str(report.path)
    sections = [_run(report), _timeline(report), _memory(report), *more]
    sections += [kernels(report), calls(report), images(report), losses(report)]
    return Page(f"Run of {command}", list(_badges(report)), list(_warnings(report)), sections)


def _badges(report: LogReport) -> Iterator[Badge]:
    summary, end = report.summary, report.facts.end
    if end is None:
        yield Badge("no end line", "bad")
    else:
        if end.status is not None:
            yield Badge(f"exit status {end.status}", "good" if end.status == 0 else "bad")
        yield Badge("complete", "good") if end.complete else Badge("incomplete", "bad")
    yield Badge(f"launches: {summary.launches + summary.graph_launches:,}")
    yield Badge(f"kernels: {sum(1 for row in summary.kernels if row.total):,}")
    if summary.failed_calls:
        yield Badge(f"failed calls: {summary.failed_calls:,}", "bad")
    if summary.denied_calls:
        yield Badge(f"denied calls: {summary.denied_calls:,}", "bad")
    if summary.bad_frees:
        yield Badge(f"refused frees: {len(summary.bad_frees):,}", "bad")
    alive = sum(row.alive for row in summary.memory)
    if alive:
        yield Badge(f"allocations never freed: {alive:,}")


def _warnings(report: LogReport) -> Iterator[str]:
    if report.problem:
        yield f"{report.problem}. The page shows the lines before."
    end = report.facts.end
    if end is not None and not end.complete:
        yield "The log is incomplete, so counts are too low and calls are missing. The section Losses has the reasons."
    if report.summary.unobserved:
        yield f"{len(report.summary.unobserved)} child processes ran unobserved; the section Losses lists them."
    for limit in report.summary.limits:
        yield f"Left out: {limit}."


def _run(report: LogReport) -> Section:
    summary, session, processes = report.summary, report.facts.session, report.facts.processes
    facts = [("Log", str(report.path)), ("Lines", f"{summary.lines:,}")]
    if session is not None:
        facts += [
            ("Command", " ".join(session.command)),
            ("Started", session.started),
            ("API", session.api),
            ("Driver", summary.driver),
            ("Recorded by", f"neutrino-bench {session.version}"),
        ]
    if report.facts.end is not None:
        facts.append(("Duration", duration_text(report.facts.end.time_ns)))
    facts += [
        (f"Process {each.process}", each.executable) for each in list(processes.values())[:PROCESSES_MAX]
    ]
    if len(processes) > PROCESSES_MAX:
        facts.append(("Processes", f"{summary.processes:,}"))
    facts.append(("Head", summary.head))
    return Section("run", "Run", facts=facts)


def _timeline(report: LogReport) -> Section:
    gpu = "The log has no times of the GPU."
    if report.summary.gpu_time:
        gpu = "The table of kernels has times of the GPU, but the log does not have when the kernels began there."
    notes = [
        f"All times are the host's: a box is as long as the driver call, not as long as the kernel ran. {gpu}"
    ]
    notes += _merged("launches", report.facts.launches) + _merged("other calls", report.facts.calls)
    warnings = [
        f"{each.misplaced:,} {name} have an impossible time and are not in the timeline."
        for name, each in (("launches", report.facts.launches), ("other calls", report.facts.calls))
        if each.misplaced
    ]
    lanes = report.facts.lanes()
    if not lanes:
        return Section("timeline", "Timeline", ["The log has no calls."])
    labels = _lane_labels(lanes)
    boxes = [
        (position, box, kind)
        for position, lane in enumerate(lanes)
        for kind, timeline in enumerate((report.facts.launches, report.facts.calls))
        for box in timeline.lanes.get(lane, ())
    ]
    leading = [_leading(box) for _, box, _ in boxes]
    counts: Counter[int] = Counter()
    for (_, box, kind), name in zip(boxes, leading, strict=True):
        counts[name] += box.count if kind == 0 else 0
    coloured = {name: place for place, (name, count) in enumerate(counts.most_common(len(PALETTE))) if count}
    names = [display_name(name) for name in report.facts.names]
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
    counts_text = f"{report.facts.launches.events:,} launches and {report.facts.calls.events:,} other calls"
    label = f"Timeline of {counts_text} by stream"
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
        for timeline in (report.facts.launches, report.facts.calls)
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
    followed, tables = report.facts.curves, memory_tables(report.summary)
    if not followed.curves:
        return Section(
            "memory", "Memory", ["No call of the log has allocated memory of a known size."], tables=tables
        )
    notes = [
        "Allocated and not yet freed, by the sizes that the program asked for. The end of a context frees its memory. "
        "Memory of a graph, and memory that ends with its process, is not seen to be freed."
    ]
    curves = list(followed.curves.values())
    points = sum(len(curve.points) for curve in curves)
    if points < followed.changes:
        notes.append(f"Showing {points:,} of {followed.changes:,} changes; peaks and lows are kept.")
    if followed.left_out:
        notes.append(f"{len(curves)} curves are shown; the table has the other processes and kinds.")
    several = len({curve.process for curve in curves}) > 1
    names = [f"{curve.kind}, process {curve.process}" if several else curve.kind for curve in curves]
    window = _range(report)
    data = {
        "kind": "lines",
        "axis": "time",
        "hint": "Point at the chart to read it.",
        "range": window,
        "ticks": _ticks(max(size for curve in curves for _, size in curve.points)),
        "curves": [
            {"name": name, "color": PALETTE[place % len(PALETTE)], **_points(curve, window[1])}
            for place, (name, curve) in enumerate(zip(names, curves, strict=True))
        ],
    }
    return Section(
        "memory", "Memory", notes, charts=[Chart("memory", "Allocated memory over time", data)], tables=tables
    )


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
