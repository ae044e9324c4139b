"""System functions: printf, assert, clocks, sleep, traps, the heap."""

from __future__ import annotations

import numpy as np

from tests.corpus.case import Case, In, Out, random

CUDA_ERROR_ASSERT, CUDA_ERROR_LAUNCH_FAILED = 710, 719


def cases() -> list[Case]:
    values = random("system").integers(0, 100, 32).astype(np.int32)
    bad = values.copy()
    bad[5] = -1
    numbers = np.array([-5, -1, 255, 42], np.int32)
    reals = np.array([1.5, -123456.789, 0.1])
    printed = [
        "int -5 4294967295 ff    42|42   |00042 k %",
        "no arguments",
        "real 1.500000 -1.235e+05 0.1 text",
        "wide 1234567890123 fedcba9876543210 -7",
    ]
    many = sorted(f"thread {t} of block {b}" for b in range(3) for t in range(40))
    lanes = np.arange(32, dtype=np.int32)
    return [
        Case("print_values", [In(numbers), In(reals)], prints=printed),
        Case("print_many", [], grid=(3,), block=(40,), prints=many),
        Case("assert_holds", [In(values), Out(values + 1)]),
        Case("assert_holds", [In(bad), Out(values)], variant="fails", fails=CUDA_ERROR_ASSERT),
        Case("trap_if_asked", [In(values), Out(values + 1)]),
        Case("trap_if_asked", [In(bad), Out(values)], variant="fails", fails=CUDA_ERROR_LAUNCH_FAILED),
        Case("clocks", [Out(np.ones(96, np.int32))]),
        Case("heap", [Out(lanes * (63 * 64 // 2))]),
    ]
