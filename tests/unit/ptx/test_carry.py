"""The carry flag: chains of additions and subtractions, and chains that mix them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.ptx.engine import Engine

TEXT = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p0, .param .u64 p1)
{{
.reg .b32 %r<2>;
.reg .b{bits} %v<8>;
.reg .b64 %rd<4>;
mov.u32 %r0, %tid.x;
ld.param.u64 %rd0, [p0];
ld.param.u64 %rd1, [p1];
mad.wide.u32 %rd2, %r0, {pair}, %rd0;
mad.wide.u32 %rd3, %r0, {row}, %rd1;
ld.global.v2.u{bits} {{%v0, %v1}}, [%rd2];
{first}.cc.u{bits} %v2, %v0, %v1;
addc.u{bits} %v3, 0, 0;
{first}.cc.u{bits} %v2, %v0, %v1;
subc.cc.u{bits} %v4, 0, 0;
addc.u{bits} %v5, 0, 0;
st.global.u{bits} [%rd3], %v2;
st.global.u{bits} [%rd3+{bytes}], %v3;
st.global.u{bits} [%rd3+{pair}], %v4;
st.global.u{bits} [%rd3+{last}], %v5;
ret;
}}
"""


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("first", ["add", "sub"])
def test_carry_after_subtraction_means_no_borrow(engine: Engine, first: str, bits: int) -> None:
    """The remainder of 128 bits that nvcc 13 makes for sm_90 continues sub.cc and subc.cc by addc."""
    size = 2**bits
    values = [0, 1, 5, size // 2, size - 1]
    pairs = [(a, b) for a in values for b in values] + [(3, 3)] * 7
    operands = np.array(pairs, f"u{bits // 8}")
    results = np.zeros((32, 4), f"u{bits // 8}")
    width = bits // 8
    text = TEXT.format(first=first, bits=bits, bytes=width, pair=2 * width, last=3 * width, row=4 * width)
    assert engine.load(text).run("k", [1], [32], operands, results).status == "ok"
    for (a, b), row in zip(pairs, results.tolist(), strict=True):
        total = a + b if first == "add" else a - b
        carry = int(total >= size) if first == "add" else int(total >= 0)
        # 0 - 0 - (1 - carry) borrows if the carry is 0.
        assert row == [total % size, carry, (carry - 1) % size, carry]
