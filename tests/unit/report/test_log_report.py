"""Reading a log into a report: counts, curves and boxes, whole logs and damaged ones."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from benchguard.audit.entries import GraphEntry, GraphKernel, GraphLaunchEntry
from benchguard.audit.log import LogError
from benchguard.report.log_report import read_log_report
from benchguard.report.memory import Memory, thinned
from benchguard.report.tables import OTHERS, Tables
from benchguard.report.timeline import LANES_MAX, Lane, Timeline
from tests.support import logs

LANE, REST = Lane(1, 1, 7), Lane(0, 0, 0)


def test_log_gives_counts_of_kernels_calls_and_images(tmp_path: Path) -> None:
    lines = [
        logs.session(), logs.image(), logs.kernel(), logs.launch(10), logs.launch(20, grid=(4, 1, 1)),
        logs.launch(30, result=1), logs.launch(40, captured=True), logs.call(50, "cuInit", result=3), logs.end(),
    ]  # fmt: skip
    report = read_log_report(logs.write_log(tmp_path / "log", lines))
    [row] = report.tables.kernels.values()
    assert (row.launches, row.failed, row.captured, len(row.shapes)) == (2, 1, 1, 2)
    assert row.resources is not None and row.resources.registers == 12
    assert report.tables.calls["cuLaunchKernel"].errors == {1: 1}
    assert report.tables.calls["cuInit"].errors == {3: 1}
    assert [each.loads for each in report.tables.images.values()] == [1]
    assert (report.problem, report.lines) == ("", 9)


def test_cut_log_gives_the_lines_before_and_the_reason(tmp_path: Path) -> None:
    path = logs.write_log(tmp_path / "log", [logs.session(), logs.launch(10), logs.launch(20), logs.end()])
    path.write_bytes(path.read_bytes()[:-100])
    report = read_log_report(path)
    assert sum(row.launches for row in report.tables.kernels.values()) == 2
    assert "cut short" in report.problem and report.end is None


def test_altered_line_ends_the_reading(tmp_path: Path) -> None:
    path = logs.write_log(tmp_path / "log", [logs.session(), logs.launch(10), logs.launch(20), logs.end()])
    path.write_bytes(path.read_bytes().replace(b'"time_ns":10,', b'"time_ns":11,'))
    report = read_log_report(path)
    assert "line 3: does not match the hash" in report.problem


def test_line_of_a_wrong_type_ends_the_reading_with_its_number(tmp_path: Path) -> None:
    line = logs.launch(10, grid=("x", 1, 1))
    report = read_log_report(logs.write_log(tmp_path / "log", [logs.session(), line, logs.end()]))
    assert "line 2: not a valid line of kind launch" in report.problem and "grid" in report.problem


def test_file_that_is_not_a_log_is_refused(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("{}\n")
    with pytest.raises(LogError, match="not a line of an audit log"):
        read_log_report(tmp_path / "log")


def test_log_of_an_older_version_is_read(tmp_path: Path) -> None:
    """Its session line has no `api`; a later version's line of an unknown kind is counted."""
    from benchguard.audit.log import LogWriter
    from benchguard.ipc.json_text import json_line

    first = json.loads(json_line(logs.session()))
    del first["api"]
    writer = LogWriter(tmp_path / "log")
    for line in (first, {"kind": "weather", "sun": True}, {"kind": []}, json.loads(json_line(logs.end()))):
        writer.write(json_line(line))
    writer.close()
    report = read_log_report(tmp_path / "log")
    assert report.session is not None and report.session.api == "cuda"
    assert (report.unknown_lines, report.problem) == (2, "")


def node(name: str) -> GraphKernel:
    return GraphKernel(name, None, logs.IMAGE, (2, 1, 1), (32, 1, 1), 0, [], 0)


def test_graph_launches_count_the_nodes_of_their_time() -> None:
    tables = Tables()
    for name, launches in (("one", 3), ("two", 2)):
        tables.graph(GraphEntry(1, 1, 1, 5, 1, 0, [node(name)], 0))
        for _ in range(launches):
            tables.graph_launch(GraphLaunchEntry(2, 1, 1, 1, "cuGraphLaunch", 5, 0, 1, 0))
    tables.finish()
    assert {row.name: row.graph_launches for row in tables.kernels.values()} == {"one": 3, "two": 2}


def test_timeline_below_its_limit_keeps_every_event() -> None:
    timeline = Timeline(100)
    for at in range(100):
        timeline.add(LANE, REST, at * 10, 5, at % 3, False)
    timeline.finish()
    assert [box.begin for box in timeline.lanes[LANE]] == [at * 10 for at in range(100)]


def test_timeline_above_its_limit_merges_and_loses_no_event() -> None:
    timeline = Timeline(50)
    for at in range(10_007):
        timeline.add(Lane(1, 1, at % 3), REST, at * 10, 5, at % 4, at == 5000)
    timeline.finish()
    boxes = [box for lane in timeline.lanes.values() for box in lane]
    assert timeline.boxes == len(boxes) <= 50
    assert sum(box.count for box in boxes) == sum(sum(box.names.values()) for box in boxes) == 10_007
    assert sum(box.failed for box in boxes) == 1
    assert all(one.begin <= two.begin for lane in timeline.lanes.values() for one, two in pairwise(lane))


def test_timeline_with_too_many_streams_joins_the_rest() -> None:
    timeline = Timeline(1000)
    for stream in range(LANES_MAX + 10):
        timeline.add(Lane(1, 1, stream), REST, stream, 1, 0, False)
    assert timeline.joined == {Lane(1, 1, stream) for stream in range(LANES_MAX, LANES_MAX + 10)}
    assert len(timeline.lanes[REST]) == 10


def test_forged_time_does_not_squeeze_the_timeline(tmp_path: Path) -> None:
    """A traced process can forge a time stamp. The event after the log's end is counted, not drawn."""
    lines = [logs.session(), logs.launch(10), logs.launch(1 << 52), logs.launch(-5), logs.end(1000)]
    report = read_log_report(logs.write_log(tmp_path / "log", lines))
    assert (report.launches.events, report.launches.misplaced) == (1, 2)
    assert sum(row.launches for row in report.tables.kernels.values()) == 3


def memory_of(*lines: object, limit: int = 100) -> Memory:
    memory = Memory(limit)
    for line in lines:
        memory.add(line)  # type: ignore[arg-type]
    return memory


def test_memory_follows_allocations_and_frees() -> None:
    memory = memory_of(
        logs.call(1, "cuMemAlloc_v2", {"dptr": 16, "bytesize": 100}),
        logs.call(2, "cuMemAllocAsync", {"dptr": 32, "bytesize": 50, "hStream": 0}),
        logs.call(3, "cuMemAlloc_v2", {"dptr": 64, "bytesize": 7}, result=2),
        logs.call(4, "cuMemFree_v2", {"dptr": 16}),
        logs.call(
            5, "cuMemAllocPitch_v2", {"dptr": 99, "pPitch": 64, "WidthInBytes": 60, "Height": 10, "s": 4}
        ),
        logs.call(6, "cuMemFree_v2", {"dptr": 12345}),
        logs.call(7, "cuMemAllocHost_v2", {"pp": 8, "bytesize": 9}),
    )
    device = memory.curves[logs.PROCESS, "device"]
    assert device.points == [(1, 100), (2, 150), (4, 50), (5, 690)]
    assert (device.peak, memory.curves[logs.PROCESS, "pinned host"].bytes, memory.unmatched) == (690, 9, 1)


def test_memory_of_equal_addresses_in_two_processes_is_apart() -> None:
    alloc = {"dptr": 16, "bytesize": 100}
    memory = memory_of(
        logs.call(1, "cuMemAlloc_v2", alloc, process=1),
        logs.call(2, "cuMemAlloc_v2", alloc, process=2),
        logs.call(3, "cuMemFree_v2", {"dptr": 16}, process=1),
    )
    assert {key: curve.bytes for key, curve in memory.curves.items()} == {
        (1, "device"): 0,
        (2, "device"): 100,
    }


def test_long_memory_curve_keeps_its_peak() -> None:
    lines = []
    for at in range(5000):
        size = 10**6 if at == 2345 else 10
        lines.append(logs.call(2 * at, "cuMemAlloc_v2", {"dptr": 16, "bytesize": size}))
        lines.append(logs.call(2 * at + 1, "cuMemFree_v2", {"dptr": 16}))
    curve = memory_of(*lines).curves[logs.PROCESS, "device"]
    assert len(curve.points) <= 200 and (2 * 2345, 10**6) in curve.points
    assert curve.points[-1] == (9999, 0)


def test_thinned_points_stay_in_order() -> None:
    points = [(at, at * 7 % 13) for at in range(103)]
    assert sorted(thinned(points)) == thinned(points) and len(thinned(points)) <= 54


def test_too_many_kernel_names_share_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchguard.report.tables.ROWS_MAX", 10)
    tables = Tables()
    for at in range(30):
        tables.launch(logs.launch(at, f"kernel{at}"))
    assert len(tables.kernels) == 11 and tables.kernels[OTHERS, None].launches == 20
