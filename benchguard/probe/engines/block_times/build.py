"""Record the first and the last time, and the SM, of each block.

The first thread of a block to enter and the last one to leave decide. A map starts as zeros, so the begin is kept as
the largest complement of a time: `red.max` then needs no other start. One lane of each group of threads that run
together reports for the group, because the group reads one clock.
"""

from __future__ import annotations

from benchguard.probe.engine import Map, Probed, Request, Unit, finish
from benchguard.probe.ptx import Function, Rewrite

RECORD = 24
"""Bytes of a block: u64 complement of the begin, u64 end, both in nanoseconds; u32 SM plus 1; u32 zero."""


def build(request: Request) -> Probed:
    """Instrument a kernel.

    Args:
        request: The kernel. The engine has no options.

    Raises:
        PtxError: The PTX cannot be rewritten.
        UsageError: An option was given.
    """
    request.allow_options()
    rewrite = request.rewrite()
    pointer = rewrite.add_pointer()
    kernel = rewrite.kernel
    rewrite.at_entry(kernel, _report(rewrite, kernel, pointer.register(kernel), is_begin=True))
    for function in rewrite.functions:
        ends = function.is_entry or any(one.opcode == "exit" for one in function.instructions)
        if ends:
            rewrite.at_thread_end(
                function, _report(rewrite, function, pointer.register(function), is_begin=False)
            )
    return finish(rewrite, [Map(Unit.BLOCK, RECORD)])


def _report(rewrite: Rewrite, function: Function, pointer: str, is_begin: bool) -> str:
    """A snippet that the leader of each converged group executes."""
    time, place, wide = (rewrite.new_register(function, ".u64") for _ in range(3))
    word, other, sm = (rewrite.new_register(function, ".u32") for _ in range(3))
    follows = rewrite.new_register(function, ".pred")
    done = rewrite.new_label()
    lines = [
        f"mov.u64 {time}, %globaltimer;",
        f"activemask.b32 {word};",
        f"mov.u32 {other}, %lanemask_lt;",
        f"and.b32 {word}, {word}, {other};",
        f"setp.ne.u32 {follows}, {word}, 0;",
        f"@{follows} bra {done};",
        # The linear index of the block: (z * gridDim.y + y) * gridDim.x + x
        f"mov.u32 {word}, %ctaid.z;",
        f"cvt.u64.u32 {place}, {word};",
        f"mov.u32 {word}, %nctaid.y;",
        f"mov.u32 {other}, %ctaid.y;",
        f"cvt.u64.u32 {wide}, {word};",
        f"mul.lo.u64 {place}, {place}, {wide};",
        f"cvt.u64.u32 {wide}, {other};",
        f"add.u64 {place}, {place}, {wide};",
        f"mov.u32 {word}, %nctaid.x;",
        f"mov.u32 {other}, %ctaid.x;",
        f"cvt.u64.u32 {wide}, {word};",
        f"mul.lo.u64 {place}, {place}, {wide};",
        f"cvt.u64.u32 {wide}, {other};",
        f"add.u64 {place}, {place}, {wide};",
        f"mul.lo.u64 {place}, {place}, {RECORD};",
        f"add.u64 {place}, {place}, {pointer};",
    ]
    if is_begin:
        lines += [
            f"not.b64 {time}, {time};",
            f"red.global.max.u64 [{place}], {time};",
            f"mov.u32 {sm}, %smid;",
            f"add.u32 {sm}, {sm}, 1;",
            f"st.global.u32 [{place}+16], {sm};",
        ]
    else:
        lines.append(f"red.global.max.u64 [{place}+8], {time};")
    return "\n".join([*lines, f"{done}:"])
