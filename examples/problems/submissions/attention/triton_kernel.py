"""Triton: a program keeps a block of rows of q, and goes over k and v once."""

import triton
import triton.language as tl


@triton.jit
def attention(q, k, v, o, length, WIDTH: tl.constexpr, ROWS: tl.constexpr, KEYS: tl.constexpr):
    head = tl.program_id(1).to(tl.int64) * length * WIDTH
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, WIDTH)
    place = head + row[:, None] * WIDTH + column[None, :]
    query = tl.load(q + place, row[:, None] < length, other=0.0)
    greatest = tl.full((ROWS,), -float("inf"), tl.float32)
    total = tl.zeros((ROWS,), tl.float32)
    sums = tl.zeros((ROWS, WIDTH), tl.float32)
    for begin in range(0, length, KEYS):
        key = begin + tl.arange(0, KEYS)
        there = key < length
        keys = tl.load(k + head + key[None, :] * WIDTH + column[:, None], there[None, :], other=0.0)
        values = tl.load(v + head + key[:, None] * WIDTH + column[None, :], there[:, None], other=0.0)
        scores = tl.where(there[None, :], tl.dot(query, keys) * 0.125, -float("inf"))
        most = tl.maximum(greatest, tl.max(scores, 1))
        shrink = tl.exp(greatest - most)
        weights = tl.exp(scores - most[:, None])
        total = total * shrink + tl.sum(weights, 1)
        sums = tl.dot(weights.to(tl.float16), values, sums * shrink[:, None])
        greatest = most
    tl.store(o + place, (sums / total[:, None]).to(tl.float16), row[:, None] < length)


def solution(q, k, v, o, heads: int, length: int):
    rows = 64
    attention[(triton.cdiv(length, rows), heads)](
        q, k, v, o, length, WIDTH=64, ROWS=rows, KEYS=64, num_warps=4
    )
