"""block-times: equal to a kernel that records its own times, and a page that tells hostile values apart."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from benchguard.probe.engines.block_times.build import RECORD, build
from benchguard.probe.engines.block_times.read import BlockTime, Schedule, read_schedule
from benchguard.report.block_times_page import block_times_page, place_blocks
from tests.corpus.case import Case, Out
from tests.corpus.driver import Driver
from tests.support.probed import run_probed

OWN_TIMES = """.version 7.8
.target sm_75
.address_size 64
.visible .entry own_times(.param .u64 out)
{
    .reg .b64 %rd<8>; .reg .b32 %r<8>; .reg .pred %p;
    mov.u64 %rd1, %globaltimer;
    ld.param.u64 %rd2, [out];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.y; mov.u32 %r3, %nctaid.x; mov.u32 %r4, %ctaid.x;
    mad.lo.u32 %r2, %r2, %r3, %r4;
    mul.wide.u32 %rd3, %r2, 24;
    add.u64 %rd2, %rd2, %rd3;
    bar.sync 0;
    setp.ne.u32 %p, %r1, 0;
    @%p exit;
    mov.u32 %r5, %smid;
    add.u32 %r5, %r5, 1;
    st.global.u64 [%rd2], %rd1;
    st.global.u32 [%rd2+16], %r5;
    mov.u64 %rd4, %globaltimer;
    st.global.u64 [%rd2+8], %rd4;
}
"""
"""A kernel that writes the begin, end and SM of each block. Threads but the first leave early, by a guarded exit."""


def test_probed_times_enclose_the_times_that_the_kernel_writes_itself() -> None:
    own: list[bytes] = []

    def keep(data: Any) -> bool:
        own.append(data.tobytes())
        return True

    class Kept:
        def worst(self, got: Any, expected: Any) -> float:
            del expected
            return 0.0 if keep(got) else 1.0

    bound: Any = Kept()
    case = Case("own_times", [Out(np.zeros(3 * 6, np.uint64), bound)], grid=(3, 2), block=(64,))
    maps, problem = run_probed(Driver(), OWN_TIMES, case, build)
    schedule = read_schedule(maps[0])
    assert not problem and (schedule.missing, schedule.impossible, len(schedule.blocks)) == (0, 0, 6)
    for one in schedule.blocks:
        begin, end, sm, _ = struct.unpack_from("<QQII", own[0], RECORD * one.block)
        assert sm == one.sm + 1
        assert one.begin <= begin <= end <= one.end


def schedule_of(*rows: tuple[int, int, int]) -> Schedule:
    return Schedule([BlockTime(at, *row) for at, row in enumerate(rows)], 0, 0)


def test_tail_idle_share_and_occupancy_of_a_known_schedule() -> None:
    schedule = schedule_of((100, 200, 0), (100, 150, 1), (150, 160, 1), (160, 200, 0))
    assert schedule.tail == 40
    assert abs(schedule.idle_share - 40 / 200) < 1e-9
    assert schedule.occupancy() == [(100, 2), (150, 2), (160, 2), (200, 0)]
    assert place_blocks(schedule.blocks) == [(0, 0), (1, 0), (1, 0), (0, 1)]


def test_impossible_records_are_counted_and_not_drawn() -> None:
    complement = (1 << 64) - 1
    good = struct.pack("<QQII", complement - 10, 20, 5, 0)
    late = struct.pack("<QQII", complement - 30, 20, 5, 0)
    schedule = read_schedule(good + late + bytes(RECORD))
    assert (len(schedule.blocks), schedule.impossible, schedule.missing) == (1, 1, 1)
    page = block_times_page("<script>alert(1)</script>", schedule)
    assert "<script>alert" not in page
    assert "1 blocks have impossible times" in page and "1 blocks have no time" in page


def test_page_of_a_launch_without_times_has_no_chart() -> None:
    page = block_times_page("k", read_schedule(bytes(2 * RECORD)))
    assert "2 blocks have no time" in page and 'id="schedule"' not in page
