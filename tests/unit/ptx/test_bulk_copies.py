"""cp.async.bulk: copies of many bytes between global and shared memory that an mbarrier or a bulk group counts."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.ptx.engine import Engine, Outcome, PtxError

COUNTED = "shared::cluster.global.mbarrier::complete_tx::bytes"
KERNEL = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry reverse(.param .u64 from, .param .u64 to, .param .u32 bytes, .param .u32 expected)
{
    .reg .pred %p<3>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    .shared .align 16 .b8 stage[1024];
    .shared .align 8 .b64 bar;
    ld.param.u64 %rd1, [from];
    ld.param.u64 %rd2, [to];
    ld.param.u32 %r1, [bytes];
    ld.param.u32 %r2, [expected];
    mov.u32 %r3, %tid.x;
    setp.ne.u32 %p1, %r3, 0;
    @%p1 bra wait;
    mbarrier.init.shared::cta.b64 [bar], 1;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [stage+16], [%rd1+16], %r1, [bar];
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], %r2;
wait:
    bar.sync 0;
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
    @!%p2 bra wait_end;
    shl.b32 %r4, %r3, 2;
    mov.u32 %r5, stage;
    add.u32 %r5, %r5, %r4;
    ld.shared.u32 %r6, [%r5+16];
    add.u32 %r6, %r6, 1;
    st.shared.u32 [%r5+16], %r6;
wait_end:
    bar.sync 0;
    @%p1 bra done;
    cp.async.bulk.prefetch.L2.global [%rd1], %r1;
    cp.async.bulk.global.shared::cta.bulk_group [%rd2], [stage+16], %r1;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group.read 0;
done:
    ret;
}
"""


def run(
    engine: Engine, values: np.ndarray, size: int, expected: int | None = None
) -> tuple[Outcome, np.ndarray]:
    """64 threads add one to what a copy from the fifth value on brings, and copy it to the result."""
    result = np.zeros(64, np.uint32)
    counted = size if expected is None else expected
    outcome = engine.load(KERNEL).run(
        "reverse", [1], [64], values, result, np.uint32(size), np.uint32(counted)
    )
    return outcome, result


def test_bulk_copy_brings_its_bytes_and_takes_them_back(engine: Engine) -> None:
    values = np.arange(68, dtype=np.uint32)
    outcome, result = run(engine, values, 256)
    assert outcome.status == "ok", outcome
    assert result.tolist() == list(range(5, 69))


def test_barrier_waits_for_more_bytes_than_the_copy_brought(engine: Engine) -> None:
    """The phase does not complete, so no thread adds one."""
    outcome, result = run(engine, np.arange(68, dtype=np.uint32), 256, expected=272)
    assert outcome.status == "ok", outcome
    assert result.tolist() == list(range(4, 68))


@pytest.mark.parametrize(
    ("values", "size", "why"),
    [(68, 250, "misaligned"), (60, 256, "illegal address"), (400, 1040, "illegal address")],
    ids=["size is not a multiple of 16", "source is too short", "beyond shared memory"],
)
def test_bulk_copy_outside_its_rules_is_a_fault(engine: Engine, values: int, size: int, why: str) -> None:
    outcome, _ = run(engine, np.zeros(values, np.uint32), size)
    assert (outcome.status, "line 20 of" in outcome.why) == (why, True), outcome


@pytest.mark.parametrize(
    "instruction",
    [
        f"cp.async.bulk.{COUNTED}.multicast::cluster [stage], [%rd1], %r1, [bar], %r2;",
        f"cp.async.bulk.tensor.1d.{COUNTED} [stage], [%rd1, {{%r1}}], [bar];",
        "cp.async.bulk.global.shared::cta.mbarrier::complete_tx::bytes [%rd1], [stage], %r1;",
        "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [stage];",
    ],
    ids=["multicast", "tensor", "barrier that is missing", "no size"],
)
def test_unsupported_form_is_refused(engine: Engine, instruction: str) -> None:
    text = KERNEL.replace("cp.async.bulk.prefetch.L2.global [%rd1], %r1;", instruction)
    with pytest.raises(PtxError, match=r"cp\.async\.bulk"):
        engine.load(text)
