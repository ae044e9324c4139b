"""Invalid texts are refused with a reason; tests/fuzz generates millions of them."""

from __future__ import annotations

import pytest

from tests.unit.ptx.engine import Engine, PtxError


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        ("wgmma.fence.sync.aligned;", "wgmma.fence.sync.aligned"),
        ("frobnicate.u32 %r1, %r2;", "frobnicate"),
        ("add.u32.loudly %r1, %r1, %r2;", "add.u32.loudly"),
        ("add.u32 %r1, %r9, %r2;", "%r9"),
        ("bra $nowhere;", "$nowhere"),
        ("selp.b32 %r1, %r1, %r2, %r1;", "%r1"),
    ],
)
def test_unsupported_text_is_refused_with_line(engine: Engine, instruction: str, expected: str) -> None:
    head = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<4>;\n"
    with pytest.raises(PtxError, match="line 7") as excinfo:
        engine.load(f"{head}{instruction}\nret;\n}}\n")
    assert expected in str(excinfo.value)
