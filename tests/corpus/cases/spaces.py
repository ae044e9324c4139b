"""State spaces: constant tables, shared memory, local arrays, globals."""

from __future__ import annotations

import numpy as np

from tests.corpus.case import Case, In, Out, blocks, random

PRIMES = np.array([2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53])


def cases() -> list[Case]:
    r = random("spaces")
    values = r.integers(0, 1000, 64).astype(np.int32)
    shape = blocks(64)
    fraction = np.array([0.25, 0.5, -1.5])
    weights = r.normal(size=4)
    lanes = np.arange(64)
    other = (values[::-1].astype(np.int64) << 10).astype(np.int32)
    narrow = (np.roll(values, -1) + 7).astype(np.int16)
    mixed = values[lanes ^ 21] * values[::-1].astype(np.uint8) + 5
    rows = r.integers(-1000, 1000, (64, 20)).astype(np.int32)
    turned = np.stack([np.roll(np.sort(row), -i) for i, row in enumerate(rows)])
    return [
        Case(
            "constant_tables",
            [In(values), Out(PRIMES[values & 15] + ord("x") * 1000 - 300 * fraction[values % 3])],
            **shape,
        ),
        Case(
            "constant_from_the_host",
            [In(values), Out(weights[values & 3])],
            globals={"weights": weights},
            **shape,
        ),
        Case(
            "dynamic_shared",
            [In(values), Out((other + narrow).astype(np.int32)), np.int32(64)],
            block=(64,),
            shared=640,
        ),
        Case("static_shared", [In(values), Out(mixed.astype(np.int32))], block=(64,)),
        Case("local_array", [In(rows), Out(turned)], **shape),
        generic_pointers(),
        module_variables(),
    ]


def generic_pointers() -> Case:
    lanes = np.arange(64)
    start = np.concatenate([1000 * np.arange(64), np.zeros(64)]).astype(np.int32)
    ways = [start[:64] + 5, np.full(64, 105), np.where(lanes % 2, 7, lanes) + 5]
    chosen = np.choose(lanes % 3, ways)
    out = start.copy()
    out[:64] = np.where(lanes % 3 == 0, chosen, start[:64])
    out[64:] = chosen + 1000 * 2 ** (lanes % 3) + 10000
    return Case("generic_pointers", [Out(out, initial=start)], block=(64,))


def module_variables() -> Case:
    ring = [20, 10, 30]
    lanes = np.arange(32)
    out = np.zeros(35, np.int32)
    out[:32] = np.array(ring)[lanes % 3] + 11 + np.frombuffer(b"rnel", np.uint8)[lanes % 4]
    out[32:] = [42, 77, 7]
    return Case("module_variables", [Out(out)])
