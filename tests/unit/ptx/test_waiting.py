"""Threads that wait for others let them run: the rounds that they wait are counted in the kernel itself."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.ptx.engine import Engine, Outcome

# A turn of a warp has 4096 instructions: a loop that keeps its turn makes hundreds of rounds.
FEW = 40

LOOPS = {
    "volatile load": "ld.volatile.global.u32 %r5, [%rd1];\nsetp.eq.u32 %p1, %r5, 0;",
    "acquiring load": "ld.acquire.gpu.global.u32 %r5, [%rd1];\nsetp.eq.u32 %p1, %r5, 0;",
    "value of a load": "ld.relaxed.gpu.global.u32 %r5, [%rd1];\nxor.b32 %r6, %r5, 0;\nsetp.eq.u32 %p1, %r6, 0;",
    "compare and swap": "atom.global.cas.b32 %r5, [%rd1], 1, 1;\nsetp.ne.u32 %p1, %r5, 1;",
    "sleep": "nanosleep.u32 20;\nld.global.u32 %r5, [%rd1];\nsetp.eq.u32 %p1, %r5, 0;",
    "mbarrier": "mbarrier.test_wait.shared.b64 %p2, [bar], %rd4;\nnot.pred %p1, %p2;",
    "exit inside": "ld.volatile.global.u32 %r5, [%rd1];\nsetp.ne.u32 %p2, %r5, 0;\n@%p2 bra done;\n"
    "setp.eq.u32 %p1, 0, 0;",
}

KERNEL = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry wait(.param .u64 flag, .param .u64 rounds)
{
    .reg .pred %p<5>;
    .reg .b32 %r<10>;
    .reg .b64 %rd<6>;
    .shared .align 8 .b64 bar;
    ld.param.u64 %rd1, [flag];
    ld.param.u64 %rd2, [rounds];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, 0;
    setp.ne.u32 %p3, %r1, 0;
    @%p3 bra started;
    mbarrier.init.shared.b64 [bar], 2;
started:
    SYNC
    setp.eq.u32 %p3, %r1, WAITER;
    setp.eq.and.u32 %p3, %r2, 0, %p3;
    @!%p3 bra release;
    mbarrier.arrive.shared.b64 %rd4, [bar];
loop:
    add.u32 %r3, %r3, 1;
    LOOP
    @%p1 bra loop;
done:
    st.global.u32 [%rd2], %r3;
    ret;
release:
    setp.eq.u32 %p3, %r1, RELEASER;
    setp.eq.and.u32 %p3, %r2, BLOCK, %p3;
    @!%p3 bra end;
    st.volatile.global.u32 [%rd1], 1;
    mbarrier.arrive.shared.b64 %rd5, [bar];
end:
    ret;
}
"""


def run(
    engine: Engine, loop: str, releaser: int, block: int = 0, timeout: float = 0, workers: int = 1
) -> tuple[Outcome, int]:
    """The first thread waits for thread `releaser` of block `block`. Returns how many rounds it waited."""
    text = KERNEL.replace("LOOP", loop).replace("WAITER", "0").replace("RELEASER", str(releaser))
    text = text.replace("BLOCK", str(block)).replace("SYNC", "bar.sync 0;")
    flag, rounds = np.zeros(1, np.uint32), np.zeros(1, np.uint32)
    outcome = engine.load(text).run("wait", [8], [256], flag, rounds, timeout=timeout, workers=workers)
    return outcome, int(rounds[0])


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS.keys())
def test_warp_that_waits_for_last_warp_gives_its_turn_away(engine: Engine, loop: str) -> None:
    outcome, rounds = run(engine, loop, releaser=255)
    assert (outcome.status, 1 <= rounds < FEW) == ("ok", True), (outcome, rounds)


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS.keys())
def test_lane_that_waits_for_lane_of_its_warp_gives_its_turn_away(engine: Engine, loop: str) -> None:
    outcome, rounds = run(engine, loop, releaser=31)
    assert (outcome.status, 1 <= rounds < FEW) == ("ok", True), (outcome, rounds)


@pytest.mark.parametrize("kind", ["volatile load", "sleep"])
def test_block_that_waits_for_a_block_not_yet_started_ends(engine: Engine, kind: str) -> None:
    outcome, rounds = run(engine, LOOPS[kind], releaser=3, block=7)
    assert (outcome.status, 1 <= rounds < FEW) == ("ok", True), (outcome, rounds)


def test_loop_that_works_keeps_its_turn(engine: Engine) -> None:
    """The control: this loop ends by itself, after a count; it must not be taken for one that waits."""
    loop = "ld.global.u32 %r5, [%rd1];\nsetp.lt.u32 %p1, %r3, 1000;"
    outcome, rounds = run(engine, loop, releaser=255)
    assert (outcome.status, rounds) == ("ok", 1000)


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS.keys())
def test_wait_that_never_ends_is_ended_by_the_time_out(engine: Engine, loop: str, workers: int) -> None:
    """No thread releases the first one."""
    outcome, _ = run(engine, loop, releaser=999, timeout=0.05, workers=workers)
    assert outcome.status == "timeout"
