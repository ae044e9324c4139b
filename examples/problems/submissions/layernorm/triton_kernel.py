"""Triton: a program holds a whole row."""

import triton
import triton.language as tl


@triton.jit
def layernorm(x, gamma, beta, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * columns
    column = tl.arange(0, BLOCK)
    inside = column < columns
    values = tl.load(x + row + column, inside, other=0.0)
    centred = tl.where(inside, values - tl.sum(values, 0) / columns, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, 0) / columns + 1e-5)
    weight = tl.load(gamma + column, inside, other=0.0)
    tl.store(y + row + column, centred * scale * weight + tl.load(beta + column, inside, other=0.0), inside)


def solution(x, gamma, beta, y, rows: int, columns: int):
    layernorm[(rows,)](x, gamma, beta, y, columns, BLOCK=triton.next_power_of_2(columns), num_warps=4)
