"""Packed bytes and halves: dot products and SIMD within a register."""

from __future__ import annotations


def parts(word: int, count: int, is_signed: bool) -> list[int]:
    bits = 32 // count
    items = [word % 2**32 >> bits * k & (2**bits - 1) for k in range(count)]
    return [p - 2**bits if is_signed and p >> (bits - 1) else p for p in items]


def joined(values: list[int]) -> int:
    bits = 32 // len(values)
    return sum(v % 2**bits << bits * k for k, v in enumerate(values))


def dots(a: int, b: int, c: int) -> list[int]:
    def dot(x: list[int], y: list[int]) -> int:
        return sum(p * q for p, q in zip(x, y, strict=True))

    unsigned = c % 2**32
    return [
        dot(parts(a, 4, True), parts(b, 4, True)) + c,
        dot(parts(a, 4, False), parts(b, 4, False)) + unsigned,
        dot(parts(a, 2, True), parts(b, 4, True)[:2]) + c,
        dot(parts(a, 2, False), parts(b, 4, False)[2:]) + unsigned,
    ]


def lanes(a: int, b: int) -> list[int]:
    bytes_, halves = (4, False), (2, True)

    def each(operation: object, shape: tuple[int, bool]) -> int:
        assert callable(operation)
        return joined([operation(x, y) for x, y in zip(parts(a, *shape), parts(b, *shape), strict=True)])

    apart = sum(abs(x - y) for x, y in zip(parts(a, *bytes_), parts(b, *bytes_), strict=True))
    return [
        each(lambda x, y: x + y, bytes_),
        each(lambda x, y: x - y, halves),
        each(lambda x, y: min(x + y, 255), bytes_),
        each(lambda x, y: max(-32768, min(x - y, 32767)), halves),
        each(lambda x, y: abs(x - y), bytes_),
        apart,
        each(max, halves),
        each(min, bytes_),
        each(lambda x, y: 255 * (x > y), (4, True)),
        each(lambda x, y: x + y + 1 >> 1, bytes_),
    ]
