"""Calls that stream capture takes are neither copies nor allocations of the summary."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from benchguard.audit.entries import Line, LostEntry
from benchguard.audit.rows import Summary
from benchguard.audit.tally import Tally
from tests.support import logs

ONE, TWO, EVENT, ADDRESS = 0x100, 0x200, 0x300, 0x1000


def copy(stream: int, name: str = "cuMemcpyHtoDAsync_v2") -> tuple[str, dict[str, int], int]:
    return name, {"dstDevice": ADDRESS, "srcHost": 1, "ByteCount": 64, "hStream": stream}, 0


def begin(stream: int) -> tuple[str, dict[str, int], int]:
    return "cuStreamBeginCapture_v2", {"hStream": stream, "mode": 0}, 0


def end(stream: int, result: int = 0) -> tuple[str, dict[str, int], int]:
    return "cuStreamEndCapture", {"hStream": stream, "phGraph": 1}, result


def summary_of(calls: Sequence[tuple[str, dict[str, int], int]], *more: Line) -> Summary:
    tally = Tally()
    lines: list[Line] = [logs.call(at * 1000, *each) for at, each in enumerate(calls, 1)]
    for line in (*lines[:1], *more, *lines[1:]):
        tally.add_entry(line)
    return tally.summary("")


def counts(calls: Sequence[tuple[str, dict[str, int], int]]) -> tuple[int, int]:
    """Copies of the table, and those of stream capture."""
    summary = summary_of(calls)
    return sum(row.copies for row in summary.copies), summary.captured_copies


def test_captured_copy_is_no_copy_and_others_are() -> None:
    assert counts([begin(ONE), copy(ONE), copy(TWO), end(ONE), copy(ONE)]) == (2, 1)


def test_stream_that_joined_a_capture_is_captured_until_its_end() -> None:
    calls = [
        begin(ONE),
        ("cuEventRecord", {"hEvent": EVENT, "hStream": ONE}, 0),
        ("cuStreamWaitEvent", {"hStream": TWO, "hEvent": EVENT, "Flags": 0}, 0),
        copy(TWO),
        end(ONE),
        copy(TWO),
    ]
    assert counts(calls) == (1, 1)


@pytest.mark.parametrize(("result", "expected"), [(901, (1, 0)), (904, (1, 0)), (903, (0, 1)), (908, (0, 1))])
def test_failed_end_ends_only_an_invalid_capture(result: int, expected: tuple[int, int]) -> None:
    assert counts([begin(ONE), end(ONE, result), copy(ONE)]) == expected


def test_destroyed_stream_is_not_captured_any_more() -> None:
    destroy = "cuStreamDestroy_v2", {"hStream": ONE}, 0
    assert counts([begin(ONE), destroy, copy(ONE)]) == (1, 0)


def test_default_stream_of_the_thread_has_two_handles() -> None:
    copies = [copy(2), copy(0, "cuMemcpyHtoDAsync_v2_ptsz"), copy(0)]
    assert counts([begin(2), *copies, end(2), *copies]) == (4, 2)


def test_hip_names_its_streams_otherwise() -> None:
    taken = "hipMemcpyAsync", {"dst": 1, "src": 2, "sizeBytes": 4, "kind": 1, "stream": ONE}, 0
    calls = [("hipStreamBeginCapture", {"stream": ONE, "mode": 0}, 0), taken]
    assert counts([*calls, ("hipStreamEndCapture", {"stream": ONE, "pGraph": 1}, 0), taken]) == (1, 1)


def test_captured_allocation_is_memory_of_the_graph() -> None:
    allocate = "cuMemAllocAsync", {"dptr": ADDRESS, "bytesize": 64, "hStream": ONE}, 0
    release = "cuMemFreeAsync", {"dptr": ADDRESS, "hStream": ONE}, 0
    assert not summary_of([begin(ONE), allocate, release, end(ONE)]).memory
    [row] = summary_of([allocate, release]).memory
    assert (row.allocations, row.frees) == (1, 1)


def test_lost_records_may_have_the_end_of_a_capture() -> None:
    lost = LostEntry(1600, logs.PROCESS, logs.PROCESS, 3, None)
    assert summary_of([begin(ONE), copy(ONE)], lost).captured_copies == 0
    assert summary_of([begin(ONE), copy(ONE)]).captured_copies == 1
