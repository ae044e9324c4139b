"""Triton: a kernel it compiles to machine code itself and loads as a cubin."""

from __future__ import annotations

import hashlib

import torch
import triton
import triton.language as tl

COUNT = (1 << 20) + 17


@triton.jit
def triton_add(left, right, out, count, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]  # noqa: N803
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = index < count
    tl.store(out + index, tl.load(left + index, inside) + tl.load(right + index, inside), inside)


torch.manual_seed(0)
first = torch.rand(COUNT, device="cuda")
second = torch.rand(COUNT, device="cuda")
total = torch.empty_like(first)
triton_add[(triton.cdiv(COUNT, 1024),)](first, second, total, COUNT, BLOCK=1024)
assert torch.equal(total, first + second)
print("sum", hashlib.sha256(total.cpu().numpy().tobytes()).hexdigest())
