"""Triton: tiles on tensor cores, programs in groups of rows that share columns of b in the cache."""

import triton
import triton.language as tl


@triton.jit
def matmul(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, GROUP: tl.constexpr):
    across, down = tl.cdiv(n, N), tl.cdiv(m, M)
    program = tl.program_id(0)
    first = program // (GROUP * across) * GROUP
    height = min(down - first, GROUP)
    within = program % (GROUP * across)
    row = (first + within % height) * M + tl.arange(0, M)
    column = within // height * N + tl.arange(0, N)
    sums = tl.zeros((M, N), tl.float32)
    for begin in range(0, k, K):
        step = begin + tl.arange(0, K)
        left = tl.load(
            a + row[:, None] * k + step[None, :], (row[:, None] < m) & (step[None, :] < k), other=0.0
        )
        right = tl.load(
            b + step[:, None] * n + column[None, :], (step[:, None] < k) & (column[None, :] < n), other=0.0
        )
        sums = tl.dot(left, right, sums)
    inside = (row[:, None] < m) & (column[None, :] < n)
    tl.store(c + row[:, None] * n + column[None, :], sums.to(tl.bfloat16), inside)


def solution(a, b, c, m: int, n: int, k: int):
    tile = 128
    grid = (triton.cdiv(m, tile) * triton.cdiv(n, tile),)
    matmul[grid](a, b, c, m, n, k, M=tile, N=tile, K=64, GROUP=8, num_warps=8, num_stages=3)
