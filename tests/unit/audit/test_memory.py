"""Memory of a process by the calls of its log: leaks, bad frees, and honest programs that must not be accused."""

from __future__ import annotations

from typing import Any

import pytest

from benchguard.audit import memory, order, tally
from benchguard.audit.summary import Summary
from tests.support.log_lines import Line, call, process, summary_of

REFUSED, STICKY, OUT_OF_MEMORY = 1, 700, 2


def alloc(address: int, size: int, time_ns: int, result: int = 0, **more: int) -> Line:
    return call("cuMemAlloc_v2", time_ns, result, dptr=address, bytesize=size, **more)


def free(address: int, time_ns: int, result: int = 0, **more: int) -> Line:
    return call("cuMemFree_v2", time_ns, result, dptr=address, **more)


def faults(summary: Summary) -> list[tuple[str, int]]:
    return [(bad.fault, bad.address) for bad in summary.bad_frees]


def test_allocation_that_is_never_freed_is_listed_with_its_line() -> None:
    summary = summary_of(
        process(), alloc(0x1000, 64, 10), alloc(0x2000, 64, 20), alloc(0x3000, 8, 30), free(0x3000, 40)
    )
    (row,) = summary.alive
    assert (row.call, row.bytes, row.count, row.lines, row.released_by) == (
        "cuMemAlloc_v2",
        64,
        2,
        [3, 4],
        None,
    )
    (memory_row,) = summary.memory
    assert (memory_row.peak_bytes, memory_row.alive_bytes, memory_row.frees) == (136, 128, 1)
    assert memory_row.executable == "/bin/a.out"


def test_second_free_is_a_double_free_of_the_first_allocation() -> None:
    summary = summary_of(alloc(0x1000, 64, 10), free(0x1000, 20), free(0x1000, 30, REFUSED))
    (bad,) = summary.bad_frees
    assert (bad.fault, bad.bytes, bad.allocated_by) == ("double free", 64, "cuMemAlloc_v2")
    assert (bad.allocated_line, bad.freed_line, bad.line) == (2, 3, 4)


def test_free_of_an_address_that_no_call_gave_is_invalid() -> None:
    assert faults(summary_of(free(0x7000, 10, REFUSED))) == [("invalid free", 0x7000)]


def test_free_by_the_call_of_another_kind_is_named() -> None:
    pinned = call("cuMemHostAlloc", 10, pp=0x5000, bytesize=32, Flags=0)
    summary = summary_of(pinned, free(0x5000, 20, REFUSED))
    assert (
        faults(summary) == [("wrong call", 0x5000)] and summary.bad_frees[0].allocated_by == "cuMemHostAlloc"
    )


def test_honest_programs_are_not_accused() -> None:
    """Each list is a program whose log could look like an error at first sight."""
    honest: dict[str, list[Line]] = {
        "address given again": [alloc(1, 8, 0), free(1, 10), alloc(1, 8, 20), free(1, 30)],
        "free of NULL": [free(0, 10), free(0, 20)],
        "free after a sticky error": [alloc(1, 8, 0), free(1, 10, STICKY)],
        "unknown memory, accepted": [free(0x9000, 10)],
        "unknown memory after a sticky error": [free(0x9000, 10, STICKY)],
    }
    assert [name for name, lines in honest.items() if faults(summary_of(*lines))] == []


def test_free_that_the_log_lists_before_its_allocation_is_no_leak() -> None:
    """Threads are merged by time in one pass only: the free of another thread may come first."""
    late = alloc(0x1000, 64, 10, duration_ns=5, thread_=1)
    summary = summary_of(free(0x1000, 20, thread_=2), late, free(0x1000, 30, REFUSED, thread_=2))
    assert summary.alive == [] and faults(summary) == [("double free", 0x1000)]


def test_free_far_before_its_allocation_in_the_log_is_no_leak(monkeypatch: pytest.MonkeyPatch) -> None:
    """The window of reordering is shorter than the distance between the two lines."""
    monkeypatch.setattr(order.InOrder.__init__, "__defaults__", (2,))
    between = [alloc(0x10_000 + n, 1, 100 + n, thread_=2) for n in range(20)]
    summary = summary_of(free(0x1000, 20, thread_=2), *between, alloc(0x1000, 64, 10, thread_=1))
    assert [row.bytes for row in summary.alive] == [1]


def test_allocation_that_overlaps_the_free_of_the_same_address_lives() -> None:
    """The driver gave the address again inside a call that began before the free did."""
    first, again = alloc(1, 8, 0, thread_=1), alloc(1, 16, 100, duration_ns=50, thread_=2)
    summary = summary_of(first, again, free(1, 110, duration_ns=5, thread_=1))
    assert [(row.bytes, row.count) for row in summary.alive] == [(16, 1)]


def test_failed_allocations_are_counted_and_not_alive() -> None:
    summary = summary_of(alloc(0, 1 << 50, 10, OUT_OF_MEMORY), alloc(0, 1 << 50, 20, OUT_OF_MEMORY))
    (row,) = summary.memory
    assert (row.failed_allocations, row.allocations, row.peak_bytes, summary.alive) == (2, 0, 0, [])
    (failure,) = summary.failures
    assert (failure.error, failure.count, failure.line) == ("CUDA_ERROR_OUT_OF_MEMORY", 2, 2)
    assert failure.details == f"bytesize={1 << 50}"


def test_memory_that_a_context_takes_with_it_is_told_from_a_leak_at_exit() -> None:
    made = call("cuCtxCreate_v2", 0, pctx=0xC, flags=0, dev=0)
    kept = alloc(1, 8, 10)
    other = call("cuMemAlloc_v2", 11, dptr=2, bytesize=16, thread_=2)
    current = call("cuCtxSetCurrent", 5, ctx=0xD, thread_=2)
    summary = summary_of(made, current, kept, other, call("cuCtxDestroy_v2", 20, ctx=0xC))
    assert [(row.bytes, row.released_by) for row in summary.alive] == [(16, None), (8, "cuCtxDestroy_v2")]


def test_primary_context_takes_memory_with_its_last_release() -> None:
    def retain(at: int) -> Line:
        return call("cuDevicePrimaryCtxRetain", at, pctx=0xC, dev=0)

    def release(at: int) -> Line:
        return call("cuDevicePrimaryCtxRelease_v2", at, dev=0)

    current = call("cuCtxSetCurrent", 2, ctx=0xC)
    one = summary_of(retain(0), retain(1), current, alloc(1, 8, 3), release(4))
    both = summary_of(retain(0), retain(1), current, alloc(1, 8, 3), release(4), release(5))
    assert [row.released_by for row in (*one.alive, *both.alive)] == [None, "cuDevicePrimaryCtxRelease_v2"]


def test_pools_managed_pinned_and_pitched_memory_have_their_sizes() -> None:
    summary = summary_of(
        call("cuMemAllocAsync_ptsz", 0, dptr=1, bytesize=10, hStream=5),
        call("cuMemAllocManaged", 1, dptr=100, bytesize=20, flags=1),
        call("cuMemAllocHost_v2", 2, pp=200, bytesize=30),
        call("cuMemAllocPitch_v2", 3, dptr=300, pPitch=512, WidthInBytes=100, Height=4, ElementSizeBytes=4),
        call("cuArrayCreate_v2", 4, pHandle=1, pAllocateArray=77),
        call("cuMemFreeAsync_ptsz", 5, dptr=1, hStream=5),
    )
    assert {row.kind: (row.peak_bytes, row.alive) for row in summary.memory} == {
        "device": (10 + 4 * 512, 1),
        "managed": (20, 1),
        "pinned host": (30, 1),
        "array": (0, 1),
    }


def test_physical_memory_lives_until_released_and_unmapped() -> None:
    made = [
        call("cuMemCreate", 0, handle=7, size=4096, prop=1, flags=0),
        call("cuMemMap", 1, ptr=0x10000, size=4096, offset=0, handle=7, flags=0),
        call("cuMemRelease", 2, handle=7),
    ]
    unmapped = call("cuMemUnmap", 3, ptr=0x10000, size=4096)
    assert [row.kind for row in summary_of(*made).alive] == ["physical"]
    assert summary_of(*made, unmapped).alive == []
    assert [row.kind for row in summary_of(*made[:2], unmapped).alive] == ["physical"]


def test_hip_calls_are_followed_under_their_names() -> None:
    summary = summary_of(
        call("hipMalloc", 0, ptr=1, size=64),
        call("hipHostMalloc", 1, ptr=100, size=32, flags=0),
        call("hipFree", 2, ptr=1),
        call("hipFree", 3, REFUSED, ptr=1),
        api="hip",
    )
    assert faults(summary) == [("double free", 1)] and summary.bad_frees[0].error == "hipErrorInvalidValue"
    assert [(row.call, row.bytes) for row in summary.alive] == [("hipHostMalloc", 32)]


def test_program_that_execs_leaves_its_memory_behind() -> None:
    summary = summary_of(process(0), alloc(1, 8, 1), process(10, "/bin/b.out"), alloc(1, 16, 11), free(1, 12))
    assert [(row.executable, row.alive) for row in summary.memory] == [("/bin/a.out", 1), ("/bin/b.out", 0)]


def test_lost_records_withdraw_invalid_frees() -> None:
    """The allocation may be among the lost records; the double free is seen whole."""
    lines = [alloc(1, 8, 0), free(1, 1), free(1, 2, REFUSED), free(0x7000, 3, REFUSED)]
    assert [fault for fault, _ in faults(summary_of(*lines))] == ["double free", "invalid free"]
    assert [fault for fault, _ in faults(summary_of(*lines, complete=False))] == ["double free"]


def test_limits_hold_and_are_told(monkeypatch: Any) -> None:
    monkeypatch.setattr(memory, "LIVE_MAX", 3)
    monkeypatch.setattr(tally, "ALIVE_MAX", 2)
    summary = summary_of(*(alloc(0x1000 * n, n, n) for n in range(1, 9)))
    assert len(summary.alive) == 2 and len(summary.limits) == 2


def test_window_of_order_is_bounded() -> None:
    held: order.InOrder[int] = order.InOrder(window=4)
    given = [event for n in (3, 1, 2, 9, 5, 8, 7) for event in held.push(n, n)]
    assert given == [1, 2, 3] and list(held.rest()) == [5, 7, 8, 9]
