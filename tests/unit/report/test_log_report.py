"""Reading a log into a report: counts, curves and boxes, whole logs and damaged ones."""

from __future__ import annotations

import json
import os
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec.structs import replace

from benchguard.audit.log import LogError
from benchguard.report.curves import Curve, thinned
from benchguard.report.log_report import OTHERS, read_log_report
from benchguard.report.timeline import LANES_MAX, Lane, Timeline
from tests.support import logs

LANE, REST = Lane(1, 1, 7), Lane(0, 0, 0)


def test_log_gives_summary_and_resources(tmp_path: Path) -> None:
    lines = [
        logs.session(), logs.image(), logs.kernel(), logs.launch(10), logs.launch(20, grid=(4, 1, 1)),
        logs.launch(30, result=1), logs.launch(40, captured=True), logs.call(50, "cuInit", result=3), logs.end(),
    ]  # fmt: skip
    report = read_log_report(logs.write_log(tmp_path / "log", lines))
    [row] = report.summary.kernels
    assert (row.launches, row.failed, row.shapes) == (2, 1, 2)
    assert report.facts.kernels["saxpy", logs.IMAGE].registers == 12
    assert (report.problem, report.summary.lines) == ("", 9)


def test_cut_log_gives_the_lines_before_and_the_reason(tmp_path: Path) -> None:
    path = logs.write_log(tmp_path / "log", [logs.session(), logs.launch(10), logs.launch(20), logs.end()])
    path.write_bytes(path.read_bytes()[:-100])
    report = read_log_report(path)
    assert report.summary.launches == 2
    assert "cut short" in report.problem and report.facts.end is None


def test_altered_line_ends_the_reading(tmp_path: Path) -> None:
    path = logs.write_log(tmp_path / "log", [logs.session(), logs.launch(10), logs.launch(20), logs.end()])
    path.write_bytes(path.read_bytes().replace(b'"time_ns":10,', b'"time_ns":11,'))
    report = read_log_report(path)
    assert "line 3: does not match the hash" in report.problem


def test_line_of_a_wrong_type_ends_the_reading_with_its_number(tmp_path: Path) -> None:
    line = logs.launch(10, grid=("x", 1, 1))
    report = read_log_report(logs.write_log(tmp_path / "log", [logs.session(), line, logs.end()]))
    assert "line 2: not a valid line of kind launch" in report.problem and "grid" in report.problem


def test_names_that_are_too_long_together_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compact log of 30 KB made the page use 3 GB."""
    monkeypatch.setattr("benchguard.audit.tally.CHARACTERS_MAX", 1000)
    monkeypatch.setattr("benchguard.report.log_report.CHARACTERS_MAX", 1000)
    lines = [logs.session(), logs.launch(10, name="k" * 2000), logs.launch(20, name="short"), logs.end()]
    report = read_log_report(logs.write_log(tmp_path / "log", lines))
    assert [row.name for row in report.summary.kernels] == ["short"]
    assert report.summary.limits == ["some kernels are not listed, because their names are too long"]
    assert set(report.facts.names) == {OTHERS, "short"}


def test_call_of_a_name_or_arguments_that_no_run_writes_ends_the_reading(tmp_path: Path) -> None:
    long = logs.call(10, "c" * 257)
    many = replace(logs.call(10, "cuInit"), arguments={f"a{number}": 0 for number in range(65)})
    for line in (long, many):
        report = read_log_report(logs.write_log(tmp_path / "log", [logs.session(), line, logs.end()]))
        assert "line 2: not a valid line of kind call" in report.problem


def test_file_that_is_not_a_log_is_refused(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("{}\n")
    with pytest.raises(LogError, match="line 1: not an audit log; give the path"):
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
    assert report.facts.session is not None and report.facts.session.api == "cuda"
    assert (report.unknown_lines, report.problem) == (2, "")


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
    assert (report.facts.launches.events, report.facts.launches.misplaced) == (1, 2)
    assert report.summary.launches == 3


def curves_of(tmp_path: Path, *lines: object) -> dict[tuple[int, str], Curve]:
    path = logs.write_log(tmp_path / "log", [logs.session(), *lines, logs.end()])  # type: ignore[list-item]
    return read_log_report(path).facts.curves.curves


def test_memory_curve_follows_allocations_and_frees(tmp_path: Path) -> None:
    curves = curves_of(
        tmp_path,
        logs.call(1000, "cuMemAlloc_v2", {"dptr": 16, "bytesize": 100}),
        logs.call(2000, "cuMemAllocAsync", {"dptr": 32, "bytesize": 50, "hStream": 0}),
        logs.call(3000, "cuMemAlloc_v2", {"dptr": 64, "bytesize": 7}, result=2),
        logs.call(4000, "cuMemFree_v2", {"dptr": 16}),
        logs.call(5000, "cuMemAllocHost_v2", {"pp": 8, "bytesize": 9}),
    )
    assert curves[logs.PROCESS, "device"].points == [(1000, 100), (2000, 150), (4000, 50)]
    assert curves[logs.PROCESS, "pinned host"].points == [(5000, 9)]


def test_memory_of_equal_addresses_in_two_processes_is_apart(tmp_path: Path) -> None:
    alloc = {"dptr": 16, "bytesize": 100}
    curves = curves_of(
        tmp_path,
        logs.call(1000, "cuMemAlloc_v2", alloc, process=1),
        logs.call(2000, "cuMemAlloc_v2", alloc, process=2),
        logs.call(3000, "cuMemFree_v2", {"dptr": 16}, process=1),
    )
    assert {key: curve.bytes for key, curve in curves.items()} == {(1, "device"): 0, (2, "device"): 100}


def test_long_memory_curve_keeps_its_peak(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchguard.report.log_report.POINTS", 100)
    lines = []
    for at in range(2000):
        size = 10**6 if at == 1234 else 10
        lines.append(logs.call(2000 * at, "cuMemAlloc_v2", {"dptr": 16, "bytesize": size}))
        lines.append(logs.call(2000 * at + 1000, "cuMemFree_v2", {"dptr": 16}))
    curve = curves_of(tmp_path, *lines)[logs.PROCESS, "device"]
    assert len(curve.points) <= 200 and (2000 * 1234, 10**6) in curve.points
    assert curve.points[-1] == (3999 * 1000, 0)


def test_thinned_points_stay_in_order() -> None:
    points = [(at, at * 7 % 13) for at in range(103)]
    assert sorted(thinned(points)) == thinned(points) and len(thinned(points)) <= 54


def test_pipe_is_read_once_and_whole(tmp_path: Path) -> None:
    """The log is smaller than a pipe's buffer."""
    log = logs.write_log(tmp_path / "log", [logs.session(), logs.launch(5), logs.end()])
    reading, writing = os.pipe()
    os.write(writing, log.read_bytes())
    os.close(writing)
    report = read_log_report(Path(f"/dev/fd/{reading}"))
    os.close(reading)
    assert not report.problem and report.summary.launches == read_log_report(log).summary.launches
