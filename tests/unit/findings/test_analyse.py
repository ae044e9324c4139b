"""Reading a log: order of lines, processes, hostile lines, programs without CUDA."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchguard.audit.log import LogError, checked_lines
from benchguard.findings import Analysis, FindingsError, analyse_log
from benchguard.findings.fields import Line
from benchguard.findings.order import Ordered
from benchguard.findings.process import Process
from benchguard.findings.streams import LEGACY, Point, Seen, merged
from benchguard.findings.window import Moment
from tests.support import log_lines
from tests.support.window_logs import PROCESS, WindowLog


def hostile(path: Path, *lines: dict[str, Any], **session: Any) -> Path:
    whole = [log_lines.session(**session), *lines, log_lines.end(unobserved=[])]
    return log_lines.write_log(path, whole)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (log_lines.call("cuEventRecord", hEvent="1", hStream=0), "line 2: `arguments.hEvent`"),  # type: ignore[arg-type]
        (log_lines.call("cuEventRecord", hEvent=1 << 70, hStream=0), "line 2: `arguments.hEvent`"),
        (log_lines.launch("k", None, None, grid=[1, 1]), "line 2: `grid`"),
        (log_lines.launch("k", None, None, time_ns="now"), "line 2: `time_ns`"),
        ({**log_lines.call("cuInit"), "result": None}, "line 2: `result`"),
        ({**log_lines.call("cuCtxSynchronize"), "duration_ns": 1 << 80}, "line 2: `duration_ns`"),
        (log_lines.graph_launch(1, kernels="many"), "line 2: `kernels`"),
    ],
    ids=str,
)
def test_hostile_line_is_named_in_one_line(line: dict[str, Any], message: str, tmp_path: Path) -> None:
    if "cuInit" in str(line):
        line = {**line, "call": "cuCtxSynchronize"}
    path = hostile(tmp_path / "log", line)
    with pytest.raises(FindingsError) as raised:
        analyse_log(path)
    assert message in str(raised.value) and "\n" not in str(raised.value)


def test_hostile_line_does_not_stop_other_readers(tmp_path: Path) -> None:
    path = hostile(tmp_path / "log", log_lines.launch("k", None, None, grid=[1, 1]))
    analysis = Analysis()
    assert len(list(analysis.through(checked_lines(path)))) == 3
    with pytest.raises(FindingsError):
        analysis.report()


@pytest.mark.parametrize("element", [[], "ab"], ids=["lists", "texts"])
def test_lines_that_are_held_back_have_a_bounded_size(
    element: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compact log of 28 KB made the analysis use 1 GB: 40 lines of 4 MiB with 800,000 texts each."""
    monkeypatch.setattr("benchguard.audit.order.HELD_BYTES", 70_000 if element else 140_000)
    ordered = Ordered()
    many = {"a": [element] * 1000}
    lines = [Line(number, log_lines.call("cuInit", number, extra=many)) for number in range(10)]  # type: ignore[arg-type]
    given = [line.number for each in lines for line in ordered.push(each)]
    assert given == list(range(9))
    assert [line.number for line in ordered.rest()] == [9]


def test_record_of_an_event_keeps_a_bounded_number_of_unjoined_launches() -> None:
    """A compact log of 20 KB made the analysis use 1.2 GB: 6000 events beside 1000 streams. The newest work is kept."""
    process = Process(1)
    for stream in range(10, 60):
        process.create_stream(Moment(stream, 0, 0, 1), stream, is_blocking=False)
    for line, stream in enumerate(reversed(range(10, 60))):
        process.kernel(Moment(line, 0, 0, 1), stream, 1, 1)
    process.record(Moment(100, 0, 0, 1), 7, 9)
    mark = process._mark(7)
    assert mark is not None
    assert [last.line for last in mark.unjoined_kernels] == [49, 48, 47, 46]  # in the order of the streams


def test_streams_without_new_work_cost_the_legacy_stream_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A log of 12 KB took 30 s: each of 1000 events on the legacy stream looked at all pairs of 1000 streams."""
    merges = 0

    def counted(seen: Seen, point: Point) -> Seen:
        nonlocal merges
        merges += 1
        return merged(seen, point)

    monkeypatch.setattr("benchguard.findings.streams.merged", counted)
    process = Process(1)
    for stream in range(10, 60):
        process.kernel(Moment(stream, 0, 0, 1), stream, 1, 1)
    for event in range(100):
        process.record(Moment(100 + event, 0, 0, 1), event, LEGACY)
    assert merges == 50


def test_too_many_processes_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchguard.findings.analyse.PROCESSES_MAX", 3)
    lines = [log_lines.launch("k", None, None, process=number) for number in range(4)]
    with pytest.raises(FindingsError, match="more than 3 processes"):
        analyse_log(hostile(tmp_path / "log", *lines))


def test_too_many_unfinished_streams_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchguard.findings.streams.STREAMS_MAX", 8)
    log = WindowLog(tmp_path / "log")
    for stream in range(64, 96):
        log.launch(stream)
        log.call("cuStreamSynchronize", hStream=stream)
    analyse_log(log.close())  # finished streams are forgotten
    log = WindowLog(tmp_path / "other")
    for stream in range(64, 96):
        log.launch(stream)
    with pytest.raises(FindingsError, match="more than 8 streams"):
        analyse_log(log.close())


def test_altered_log_is_refused(tmp_path: Path) -> None:
    path = WindowLog(tmp_path / "log").close()
    path.write_bytes(path.read_bytes().replace(b"./program", b"./another"))
    with pytest.raises(LogError, match="line 2"):
        analyse_log(path)


def test_log_of_hip_program_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FindingsError, match="HIP"):
        analyse_log(hostile(tmp_path / "log", api="hip"))


def test_older_log_without_floats_gives_the_same_time(tmp_path: Path) -> None:
    arguments = {"pMilliseconds": 0xBF800000, "hStart": 1, "hEnd": 2}  # -1.0
    lines = [
        log_lines.call("cuEventRecord", 1, hEvent=1, hStream=0),
        log_lines.call("cuEventRecord", 2, hEvent=2, hStream=0),
        log_lines.call("cuEventElapsedTime", 3, **arguments),
    ]
    report = analyse_log(hostile(tmp_path / "log", *lines))
    assert "impossible-time" in {finding.id for finding in report.findings}


def test_lines_of_threads_are_ordered_by_time(tmp_path: Path) -> None:
    """The other thread's launch is behind the end event in the log, and inside the window by time."""
    lines = [
        log_lines.call("cuEventRecord", 1000, hEvent=1, hStream=0),
        log_lines.call("cuEventRecord", 3000, hEvent=2, hStream=0),
        log_lines.launch("k", None, None, thread=2, time_ns=2000),
        log_lines.call("cuEventElapsedTime", 4000, pMilliseconds=0, hStart=1, hEnd=2),
    ]
    report = analyse_log(hostile(tmp_path / "log", *lines))
    assert {finding.id for finding in report.findings} == {"other-thread-launches"}


def test_events_of_another_process_are_not_mixed(tmp_path: Path) -> None:
    log = WindowLog(tmp_path / "log")
    with log.window():
        log.launch()
    log.write(log_lines.process(log.now, process=PROCESS))  # exec: the same number, another program
    log.elapsed(1, 2, 1.0)
    assert "unseen-record" in {finding.id for finding in analyse_log(log.close()).findings}
