"""Triton: a program holds a whole row."""

import triton
import triton.language as tl


@triton.jit
def softmax(x, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * columns
    column = tl.arange(0, BLOCK)
    inside = column < columns
    values = tl.load(x + row + column, inside, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, 0))
    tl.store(y + row + column, powers / tl.sum(powers, 0), inside)


def solution(x, y, rows: int, columns: int):
    softmax[(rows,)](x, y, columns, BLOCK=triton.next_power_of_2(columns), num_warps=8)
