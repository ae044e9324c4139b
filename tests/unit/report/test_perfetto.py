"""The trace for Perfetto: a golden file, the rules of the format, and hostile logs."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchguard.audit import entries
from benchguard.audit.log import LogError
from benchguard.report.perfetto import STREAMS, write_trace
from tests.support import logs

GOLDEN = Path(__file__).parent / "golden" / "trace.json"


def golden_lines() -> list[Any]:
    return [
        logs.session(),
        entries.ProcessEntry(500, 100, 100, 1, "/usr/bin/program", "/lib/libcuda.so.1"),
        logs.call(1000, "cuMemAlloc_v2", {"dptr": 1 << 40, "bytesize": 4096}),
        entries.PhaseEntry(1500, 100, 100, "timing", "program", "case 3", ""),
        logs.launch(2000, "_Z5saxpyPf", demangled="saxpy(float*)"),
        logs.launch(4000, stream=0, thread=101, result=1),
        entries.GraphLaunchEntry(6000, 1500, 100, 100, "cuGraphLaunch", 5, 7, 2, 0),
        logs.call(8000, "cuMemFree_v2", {"dptr": 1 << 40}),
        logs.end(10_000),
    ]


def trace_of(tmp_path: Path, lines: Iterable[Any]) -> dict[str, Any]:
    trace, problem = write_trace(logs.write_log(tmp_path / "log", lines), tmp_path / "trace.json")
    assert (trace.misplaced, problem) == (0, "")
    document: dict[str, Any] = json.loads((tmp_path / "trace.json").read_bytes())
    return document


def test_trace_equals_golden_file(tmp_path: Path) -> None:
    document = trace_of(tmp_path, golden_lines())
    del document["otherData"]["log"], document["otherData"]["head"]
    assert document == json.loads(GOLDEN.read_text())


def test_name_with_gz_gives_the_same_trace_compressed(tmp_path: Path) -> None:
    log = logs.write_log(tmp_path / "log", golden_lines())
    for name in ("x.json", "x.json.gz", "y.json.gz"):
        write_trace(log, tmp_path / name)
    packed = (tmp_path / "x.json.gz").read_bytes()
    assert gzip.decompress(packed) == (tmp_path / "x.json").read_bytes()
    assert packed == (tmp_path / "y.json.gz").read_bytes()


def test_slices_of_a_track_never_overlap_and_flows_end_on_a_stream(tmp_path: Path) -> None:
    lines = [logs.session()]
    lines += [
        logs.launch(at * 700, stream=at % 3, thread=100 + at % 2) for at in range(200)
    ]  # overlap by thread
    document = trace_of(tmp_path, [*lines, logs.end()])
    tracks: dict[tuple[int, int], list[tuple[float, float]]] = defaultdict(list)
    flows: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for event in document["traceEvents"]:
        if event["ph"] == "X":
            tracks[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
        elif event["ph"] in "sf":
            flows[event["id"]].append(event)
    assert len(tracks) == 2 + 6 and len(flows) == 200
    for slices in tracks.values():
        assert all(one[1] <= two[0] for one, two in pairwise(slices))
    for begin, end in flows.values():
        assert (begin["ph"], end["ph"]) == ("s", "f") and begin["tid"] < STREAMS <= end["tid"]


def test_call_that_overlaps_the_call_before_on_its_thread_begins_at_its_end(tmp_path: Path) -> None:
    """Seen in a log: clocks of two processors differed by 0.5 ms. Perfetto leaves out a slice that overlaps another."""
    timed = msgspec.structs.replace
    lines = [
        timed(logs.call(1000, "cuCtxSynchronize"), duration_ns=900),
        timed(logs.launch(1500), duration_ns=700),
        timed(logs.call(2600, "cuInner"), duration_ns=100), timed(logs.call(2500, "cuOuter"), duration_ns=400),
        timed(logs.call(2500, "cuOther", process=7), duration_ns=800),
    ]  # fmt: skip
    path = logs.write_log(tmp_path / "log", [logs.session(), *lines, logs.end()])
    trace, _ = write_trace(path, tmp_path / "x.json")
    assert trace.moved == 1
    events = json.loads((tmp_path / "x.json").read_bytes())["traceEvents"]
    slices = [(each["ts"], each["dur"]) for each in events if each["ph"] == "X"]
    assert slices == [(1.0, 0.9), (1.9, 0.3), (1.9, 0.3), (2.6, 0.1), (2.5, 0.4), (2.5, 0.8)]
    assert [each["ts"] for each in events if each["ph"] in "sf"] == [1.9, 1.9]


def test_repeated_call_says_how_many_calls_it_is(tmp_path: Path) -> None:
    line = msgspec.structs.replace(logs.call(10, "cuEventQuery"), repeats=40)
    document = trace_of(tmp_path, [logs.session(), line, logs.end()])
    assert [event["args"] for event in document["traceEvents"] if event["ph"] == "X"] == [{"equal calls": 40}]


def test_memory_is_a_counter(tmp_path: Path) -> None:
    document = trace_of(tmp_path, golden_lines())
    counters = [event["args"] for event in document["traceEvents"] if event["ph"] == "C"]
    assert counters == [{"device": 4096}, {"device": 0}]


def test_trace_says_that_times_are_the_host_s(tmp_path: Path) -> None:
    assert "no times of the GPU" in trace_of(tmp_path, golden_lines())["otherData"]["times"]


def test_gpu_time_is_a_mark_with_the_launch_s_number_and_no_slice(tmp_path: Path) -> None:
    lines = [logs.session(), logs.launch(0, number=3), logs.launch_time(9000, number=3), logs.end()]
    document = trace_of(tmp_path, lines)
    [mark] = [event for event in document["traceEvents"] if event["ph"] == "i"]
    slices = [event for event in document["traceEvents"] if event["ph"] == "X"]
    assert mark["args"] == {"microseconds between its events": 2.5, "number": 3, "early": False}
    assert [event["dur"] for event in slices] == [1.0, 1.0] and slices[0]["args"]["number"] == 3
    assert mark["tid"] == slices[1]["tid"] and "not when they began" in document["otherData"][
        "times"
    ].replace("but ", "")


def test_cut_log_gives_a_whole_document_with_the_reason(tmp_path: Path) -> None:
    path = logs.write_log(tmp_path / "log", golden_lines())
    path.write_bytes(path.read_bytes()[:-40])
    _, problem = write_trace(path, tmp_path / "trace.json")
    document = json.loads((tmp_path / "trace.json").read_bytes())
    assert "cut short" in problem and "cut short" in document["otherData"]["problem"]
    assert any(event["name"] == "saxpy(float*)" for event in document["traceEvents"])


def test_hostile_text_and_times_leave_a_valid_document(tmp_path: Path) -> None:
    text = '"},]\x00\u202e</script>'
    lines = [logs.session(), logs.launch(10, text), logs.launch(1 << 60), logs.launch(-1), logs.end()]
    trace, _ = write_trace(logs.write_log(tmp_path / "log", lines), tmp_path / "trace.json")
    raw = (tmp_path / "trace.json").read_text()
    assert trace.misplaced == 2 and text in [event["name"] for event in json.loads(raw)["traceEvents"]]
    assert all(each.isprintable() or each == "\n" for each in raw)


def test_file_that_is_not_a_log_replaces_nothing(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("text\n")
    (tmp_path / "trace.json").write_text("earlier")
    with pytest.raises(LogError):
        write_trace(tmp_path / "log", tmp_path / "trace.json")
    assert (tmp_path / "trace.json").read_text() == "earlier"
