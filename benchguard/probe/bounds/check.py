"""The PTX of the function that checks one access, and where it finds and leaves its data.

Table of allocations: {u64 count, u64 dropped, count x {u64 base, u64 bytes, u64 number, u64 flags}}, sorted by base.
Map of violations: 64 bytes, then for each site {u64 count, KEPT x entry}. An entry has the address, base and bytes of
the nearest allocation (u64 each), then fault, bytes, thread x y z and block x y z (u32 each).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..source import Variable

KEPT = 4
"""Violations of a site that are kept whole. The others are counted."""

ENTRY_BYTES = 56
HEADER_BYTES = 64
SITE_BYTES = 8 + KEPT * ENTRY_BYTES

OUTSIDE, MISALIGNED = 1, 2
"""Faults of an access."""

GENERIC, GLOBAL, SHARED, WRITES, ALIGNMENT_SHIFT = 0, 1, 2, 4, 8
"""Parts of the word that describes an access: its space, whether it writes, its alignment."""

SLACK = 256
"""CUDA aligns allocations to this many bytes, so that no other allocation begins before the next multiple."""


WORKSPACE_BYTES = 8


@dataclass(frozen=True)
class Place:
    """Device addresses of the map and of the table, where both are known when the code is rewritten."""

    map: int
    table: int


def map_bytes(sites: int) -> int:
    """Bytes of the map of violations."""
    return HEADER_BYTES + sites * SITE_BYTES


def declaration(prefix: str, place: Place | None) -> str:
    """The declarations before the kernels: the function, and the start of dynamic shared memory."""
    return f".extern .shared .align 16 .b8 {prefix}_dynamic[];\n{_signature(prefix, place)};"


def _signature(p: str, place: Place | None) -> str:
    more = "" if place is not None else f", .param .b64 {p}_m, .param .b64 {p}_t"
    return (
        f".func (.param .b32 {p}_ok) {p}_check (.param .b64 {p}_a, .param .b32 {p}_b, .param .b32 {p}_w, "
        f".param .b32 {p}_s{more})"
    )


def definition(
    prefix: str,
    place: Place | None,
    variables: Sequence[Variable],
    *,
    slack: bool,
    clusters: bool,
    cooperative: bool,
) -> str:
    """The function. Without a place it has two more parameters: the addresses of the map and of the table.

    `slack`: reads may go to the next multiple of SLACK behind an allocation. `clusters`: generic addresses may be of
    shared memory of other blocks. `cooperative`: the kernels use the driver's memory for barriers
    of a grid.
    """
    p = prefix
    others = f"isspacep.shared::cluster %p1, %d1;\n@%p1 bra {p}_held;\n" if clusters else ""
    globals_ = _in_workspace(p) if cooperative else ""
    globals_ += "".join(_in_variable(p, each) for each in variables if each.space != "shared" and each.bytes)
    return _BODY.format(
        p=p,
        signature=_signature(p, place),
        others=others,
        globals=globals_,
        slack=_SLACK if slack else "",
        map=f"mov.u64 %d7, {place.map};" if place is not None else f"ld.param.u64 %d7, [{p}_m];",
        table=f"mov.u64 %d7, {place.table};" if place is not None else f"ld.param.u64 %d7, [{p}_t];",
        kept=KEPT,
        entry=ENTRY_BYTES,
        site=SITE_BYTES,
        header=HEADER_BYTES,
    )


def _in_variable(prefix: str, variable: Variable) -> str:
    """Holds for an access within a global, or for a read within a constant.

    isspacep.const is of no use here: a GPU may have constants in global memory.
    """
    is_constant = variable.space == "const"
    return (
        f"mov.u64 %d15, {variable.name};\n{'cvta.const.u64 %d15, %d15;' if is_constant else ''}\n"
        f"sub.u64 %d15, %d1, %d15;\nadd.u64 %d16, %d15, %d2;\n"
        f"setp.lt.u64 %p1, %d15, {variable.bytes};\nsetp.le.and.u64 %p1, %d16, {variable.bytes}, %p1;\n"
        f"{'setp.eq.and.u32 %p1, %r8, 0, %p1;' if is_constant else ''}\n@%p1 bra {prefix}_held;\n"
    )


def _in_workspace(prefix: str) -> str:
    """Holds for an access to the size and the barrier of cooperative_groups' grid_workspace.

    Its address is in %envreg1 (high) and %envreg2 (low), as nvcc 12 and 13 compile this_grid().
    """
    return (
        "mov.u32 %r9, %envreg1;\nmov.u32 %r10, %envreg2;\nmov.b64 %d15, {%r10, %r9};\nsub.u64 %d15, %d1, %d15;\n"
        f"add.u64 %d16, %d15, %d2;\nsetp.lt.u64 %p1, %d15, {WORKSPACE_BYTES};\n"
        f"setp.le.and.u64 %p1, %d16, {WORKSPACE_BYTES}, %p1;\n@%p1 bra {prefix}_held;\n"
    )


_SLACK = f"""add.u64 %d13, %d11, {SLACK - 1};
and.b64 %d13, %d13, -{SLACK};
setp.eq.u32 %p1, %r8, 0;
selp.b64 %d11, %d13, %d11, %p1;
"""

_BODY = """{signature}
{{
.reg .pred %p<4>;
.reg .b32 %r<16>;
.reg .b64 %d<24>;
ld.param.u64 %d1, [{p}_a];
ld.param.u32 %r1, [{p}_b];
ld.param.u32 %r2, [{p}_w];
ld.param.u32 %r3, [{p}_s];
mov.u64 %d20, 0;
mov.u64 %d21, 0;
cvt.u64.u32 %d2, %r1;
setp.eq.u32 %p1, %r1, 0;
@%p1 bra {p}_held;
shr.u32 %r4, %r2, 8;
sub.u32 %r4, %r4, 1;
cvt.u64.u32 %d3, %r4;
and.b64 %d3, %d3, %d1;
mov.u32 %r5, 2;
setp.ne.u64 %p1, %d3, 0;
@%p1 bra {p}_record;
mov.u32 %r5, 1;
mov.u64 %d4, %d1;
and.b32 %r4, %r2, 3;
setp.eq.u32 %p1, %r4, 2;
@%p1 bra {p}_shared;
setp.eq.u32 %p1, %r4, 1;
@%p1 bra {p}_global;
isspacep.shared %p1, %d1;
@%p1 bra {p}_generic;
isspacep.local %p1, %d1;
@%p1 bra {p}_held;
{others}bra {p}_global;
{p}_generic:
cvta.to.shared.u64 %d4, %d1;
{p}_shared:
mov.u64 %d5, {p}_dynamic;
mov.u32 %r4, %dynamic_smem_size;
cvt.u64.u32 %d6, %r4;
add.u64 %d5, %d5, %d6;
mov.u64 %d21, %d5;
add.u64 %d6, %d4, %d2;
setp.le.u64 %p1, %d6, %d5;
setp.lt.and.u64 %p1, %d4, %d5, %p1;
@%p1 bra {p}_held;
bra {p}_record;
{p}_global:
and.b32 %r8, %r2, 4;
{globals}{table}
ld.global.u64 %d8, [%d7];
mov.u64 %d9, 0;
mov.u64 %d22, %d8;
{p}_search:
setp.ge.u64 %p1, %d9, %d8;
@%p1 bra {p}_found;
add.u64 %d10, %d9, %d8;
shr.u64 %d10, %d10, 1;
shl.b64 %d11, %d10, 5;
add.u64 %d11, %d7, %d11;
ld.global.u64 %d12, [%d11+16];
setp.le.u64 %p1, %d12, %d1;
@%p1 add.u64 %d9, %d10, 1;
@!%p1 mov.u64 %d8, %d10;
bra {p}_search;
{p}_found:
shl.b64 %d10, %d9, 5;
add.u64 %d10, %d7, %d10;
setp.eq.u64 %p2, %d9, 0;
@%p2 bra {p}_first;
ld.global.u64 %d20, [%d10+-16];
ld.global.u64 %d21, [%d10+-8];
add.u64 %d11, %d20, %d21;
{slack}add.u64 %d12, %d1, %d2;
setp.ge.u64 %p1, %d12, %d1;
setp.le.and.u64 %p1, %d12, %d11, %p1;
@%p1 bra {p}_held;
{p}_first:
setp.ge.u64 %p1, %d9, %d22;
@%p1 bra {p}_record;
ld.global.u64 %d14, [%d10+16];
sub.u64 %d15, %d14, %d1;
add.u64 %d16, %d20, %d21;
sub.u64 %d16, %d1, %d16;
setp.ge.u64 %p1, %d15, %d16;
not.pred %p3, %p2;
and.pred %p1, %p1, %p3;
@%p1 bra {p}_record;
mov.u64 %d20, %d14;
ld.global.u64 %d21, [%d10+24];
{p}_record:
{map}
mul.wide.u32 %d8, %r3, {site};
add.u64 %d7, %d7, %d8;
add.u64 %d7, %d7, {header};
atom.global.add.u64 %d8, [%d7], 1;
setp.ge.u64 %p1, %d8, {kept};
@%p1 bra {p}_out;
mul.lo.u64 %d8, %d8, {entry};
add.u64 %d7, %d7, %d8;
st.global.u64 [%d7+8], %d1;
st.global.u64 [%d7+16], %d20;
st.global.u64 [%d7+24], %d21;
st.global.u32 [%d7+32], %r5;
st.global.u32 [%d7+36], %r1;
mov.u32 %r6, %tid.x;
st.global.u32 [%d7+40], %r6;
mov.u32 %r6, %tid.y;
st.global.u32 [%d7+44], %r6;
mov.u32 %r6, %tid.z;
st.global.u32 [%d7+48], %r6;
mov.u32 %r6, %ctaid.x;
st.global.u32 [%d7+52], %r6;
mov.u32 %r6, %ctaid.y;
st.global.u32 [%d7+56], %r6;
mov.u32 %r6, %ctaid.z;
st.global.u32 [%d7+60], %r6;
{p}_out:
mov.u32 %r7, 0;
st.param.b32 [{p}_ok], %r7;
ret;
{p}_held:
mov.u32 %r7, 1;
st.param.b32 [{p}_ok], %r7;
ret;
}}"""
