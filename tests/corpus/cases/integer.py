"""Integers of 8 to 128 bits and bit operations: exact, compared with Python's integers."""

from __future__ import annotations

import numpy as np

from tests.corpus.case import Array, Case, In, Out, blocks, random, table
from tests.corpus.cases import packed

W, D, Q = 2**32, 2**64, 2**128


def cases() -> list[Case]:
    r = random("integer")
    n = 256
    a, b, c = (_words(r, n) for _ in range(3))
    x, y = (_longs(r, n) for _ in range(2))
    divisor = np.where(b == 0, 7, b).astype(np.int32)
    long_divisor = np.where(y == 0, 7, y)
    a[:2], divisor[:2] = [-(2**31), 5], [1, 31]
    u, v, w = (each.view(np.uint32) for each in (a, b, c))
    shape = blocks(n)
    return [
        Case("divide_32", [In(a), In(divisor), Out(table(_divided_32, np.int32, a, divisor))], **shape),
        Case(
            "divide_64",
            [In(x), In(long_divisor), Out(table(_divided_64, np.int64, x, long_divisor))],
            **shape,
        ),
        Case("arithmetic_64", [In(x), In(y), Out(table(_arithmetic_64, np.int64, x, y))], **shape),
        Case(
            "arithmetic_128",
            [In(x), In(y), Out(table(_arithmetic_128, np.uint64, x.view(np.uint64), y.view(np.uint64)))],
            **shape,
        ),
        Case("carries", [In(u), In(v), Out(table(_carries, np.uint32, u, v))], **shape),
        Case("mixed_carries", [In(u), In(v), Out(table(_mixed_carries, np.uint32, u, v))], **shape),
        Case(
            "remainder_128",
            [
                In(x),
                In(long_divisor),
                Out(table(_remainder_128, np.uint64, x.view(np.uint64), long_divisor.view(np.uint64))),
            ],
            **shape,
        ),
        Case("bits_32", [In(u), In(v), Out(table(_bits_32, np.uint32, u, v))], **shape),
        Case("bits_64", [In(x), Out(table(_bits_64, np.uint64, x.view(np.uint64)))], **shape),
        Case("bit_fields", [In(u), In(v), Out(table(_bit_fields, np.int32, u, v))], **shape),
        Case("multiply_add", [In(a), In(b), In(c), Out(table(_multiply_add, np.int32, a, b, c))], **shape),
        Case("dot_products", [In(a), In(b), In(c), Out(table(packed.dots, np.int32, a, b, c))], **shape),
        Case("packed_bytes", [In(u), In(v), Out(table(packed.lanes, np.uint32, u, v))], **shape),
        Case("three_inputs", [In(u), In(v), In(w), Out(table(_three_inputs, np.uint32, u, v, w))], **shape),
    ]


def _words(r: np.random.Generator, n: int) -> Array:
    """Integers of all magnitudes, with both ends of the range."""
    values = r.integers(-(2**31), 2**31, n) >> r.integers(0, 32, n)
    values[-8:] = [0, 1, -1, 2**31 - 1, -(2**31), 255, 65536, -2]
    r.shuffle(values)
    return values.astype(np.int32)


def _longs(r: np.random.Generator, n: int) -> Array:
    values = r.integers(-(2**63), 2**63 - 1, n) >> r.integers(0, 64, n)
    values[-6:] = [0, 1, -1, 2**63 - 1, -(2**63) + 1, 2**32]
    r.shuffle(values)
    return values


def _quotient(x: int, y: int) -> int:
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def signed(value: int, bits: int = 32) -> int:
    half: int = 2 ** (bits - 1)
    return (value + half) % (2 * half) - half


def _divided_32(x: int, y: int) -> list[int]:
    u, v = x % W, y % W
    by_constants = _quotient(x, 7) + x - 10 * _quotient(x, 10)
    q = _quotient(x, y)
    return [q, x - q * y, u // v, u % v, by_constants, u // 10 - u % 641]


def _divided_64(x: int, y: int) -> list[int]:
    u, v, q = x % D, y % D, _quotient(x, y)
    return [q, x - q * y, u // v, u % v, _quotient(x, 1000003), u % 1000000007]


def _arithmetic_64(x: int, y: int) -> list[int]:
    u, v = x % D, y % D
    shift = y & 63
    compared = (x < y) + 2 * (u < v) + 4 * (x == y) + 8 * (x >= 0)
    return [
        u * v + 3, x * y >> 64, u * v >> 64, x >> shift, u >> shift, u << shift, min(x, y) ^ max(x, y),
        min(u, v) - max(u, v), compared, abs(x) - signed(y) * signed(x),
    ]  # fmt: skip


def _arithmetic_128(a: int, b: int) -> list[int]:
    x, y = a << 64 | b, (b << 40 | a) % Q
    parts = [half for value in (x + y, x - y, x * y) for half in (value % D, value % Q >> 64)]
    return [*parts, x >> (a & 127), x < y]


def _carries(a: int, b: int) -> list[int]:
    total = a + b + (b << 32) + (b << 32)
    difference = (a - b) % D
    low, borrow = difference % W, a < b
    high = (b - a - borrow) % W
    below = a * b % W + a
    above = (a * b >> 32) + b + (below >> 32)
    mixed = below % W ^ above % W ^ (a + (above >> 32)) % W
    return [total % W, total >> 32, (2 * b + (a + b >= W)) >> 32, low, high, mixed]


def _mixed_carries(a: int, b: int) -> list[int]:
    """A subtraction leaves a carry where it does not borrow; a subtraction without one takes 1 away."""
    return [(a - b) % W, (a + (a >= b)) % W, (a + b) % W, (a - 1 + (a + b >= W)) % W]


def _remainder_128(a: int, b: int) -> list[int]:
    x, y = a << 64 | b, b % 2**24 << 64 | a
    return [half for value in divmod(x, y) for half in (value % D, value >> 64)]


def _bits_32(x: int, y: int) -> list[int]:
    wide, clamped = y << 32 | x, min(y & 63, 32)
    turn = y & 31
    third = [bit for bit in range(32) if x >> bit & 1][2:3]
    return [
        x.bit_count(), 32 - x.bit_length(), int(f"{x:032b}"[::-1], 2), (x & -x).bit_length(),
        byte_permutation(x, y, y >> 7), (wide << (x & 31)) >> 32, wide >> (x & 31), (wide << clamped) >> 32,
        wide >> clamped, (x & y) | (~x & (y ^ 0xFF00FF00)), x << turn | x >> (-y & 31),
        third[0] if third else W - 1,
    ]  # fmt: skip


def byte_permutation(x: int, y: int, selector: int) -> int:
    """__byte_perm uses three bits of each selector; it never sets prmt's fourth bit, which replicates the sign."""
    source = (y << 32 | x).to_bytes(8, "little")
    return sum(source[selector >> 4 * place & 7] << 8 * place for place in range(4))


def _bits_64(x: int) -> list[int]:
    return [x.bit_count(), 64 - x.bit_length(), int(f"{x:064b}"[::-1], 2), (x & -x).bit_length(), x & -x]


def _extract(value: int, start: int, length: int, bits: int) -> int:
    return value >> start & ((1 << min(length, bits)) - 1) if start < bits else 0


def _extract_signed(value: int, start: int, length: int) -> int:
    """The sign bit is the top bit of the field, clamped to bit 31 (PTX ISA, bfe)."""
    if length == 0:
        return 0
    sign = value >> min(start + length - 1, 31) & 1
    field = _extract(value, start, length, 32)
    extracted = max(0, min(length, 32 - start))
    return field - (sign << extracted)


def _insert(into: int, field: int, start: int, length: int) -> int:
    mask = (((1 << length) - 1) << start) % W
    return into & ~mask | (field << start) & mask


def _bit_fields(a: int, b: int) -> list[int]:
    start, length = b & 63, b >> 8 & 63
    wide = _extract(a << 32 | b, start, length, 64)
    top = a.bit_length() - 1
    positive = a if a < 2**31 else ~a % W
    significant = positive.bit_length() - 1
    mask = (((1 << min(length, 32)) - 1) << min(start, 32)) % W
    return [
        _extract(a, b & 255, b >> 8 & 255, 32), _extract_signed(a, start, length), _insert(b, a, start, length),
        top, 31 - significant if significant >= 0 else -1, wide, wide >> 32, mask,
    ]  # fmt: skip


def _multiply_add(a: int, b: int, c: int) -> list[int]:
    u, v, w = a % W, b % W, c % W
    averages = (a + b >> 1) % W ^ (a + b + 1 >> 1) % W ^ (u + v >> 1) ^ (abs(c) % W)
    return [
        a * b + c, a * b >> 32, u * v >> 32, signed(a, 24) * signed(b, 24), u % 2**24 * (v % 2**24),
        abs(a - b) + c, abs(u - v) + w, averages,
    ]  # fmt: skip


def _three_inputs(a: int, b: int, c: int) -> list[int]:
    both = (b << 32 | a).to_bytes(8, "little")
    forward = int.from_bytes(bytes(both[(c & 3) + k] for k in range(4)), "little")
    replicated = both[c & 3] * 0x01010101
    picked = a if c < 2**31 else b
    return [
        (a & b) | (a & c) | (b & c), _lookup(a, b, c, 0x1D), forward, replicated, picked,
        (a & 1 == 0) + min(max(a, b), c),
    ]  # fmt: skip


def _lookup(a: int, b: int, c: int, function: int) -> int:
    """lop3: the operands' bits select a bit of the table."""
    return sum(
        (function >> ((a >> bit & 1) << 2 | (b >> bit & 1) << 1 | (c >> bit & 1)) & 1) << bit
        for bit in range(32)
    )
