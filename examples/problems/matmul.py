"""C (m x n) = A (m x k) times B (k x n), row-major, in bfloat16, summed in float32 or better."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from declare import array, cases, number, result

from benchguard import Problem


class Matmul(Problem):
    parameters = (
        array("a", "bfloat16"),
        array("b", "bfloat16"),
        result("c", "bfloat16"),
        number("m"),
        number("n"),
        number("k"),
    )

    def __init__(self) -> None:
        super().__init__("matmul")

    def generate_test_cases(self) -> list[dict[str, Any]]:
        return cases(self.inputs, small={"m": 70, "n": 50, "k": 90}, large={"m": 2048, "n": 2048, "k": 2048})

    @staticmethod
    def inputs(random: np.random.Generator, m: int, n: int, k: int) -> tuple[Any, ...]:
        return (
            random.standard_normal((m, k), np.float32).astype(ml_dtypes.bfloat16),
            random.standard_normal((k, n), np.float32).astype(ml_dtypes.bfloat16),
        )

    def reference_solution(self, a: Any, b: Any) -> Any:
        return a @ b

    def get_outputs(self, test_case: dict[str, Any]) -> Any:
        return [((test_case["m"], test_case["n"]), "bfloat16")]

    def get_extra_params(self, test_case: dict[str, Any]) -> list[Any]:
        return [test_case["m"], test_case["n"], test_case["k"]]

    def get_flops(self, test_case: dict[str, Any]) -> int:
        return 2 * int(test_case["m"] * test_case["n"] * test_case["k"])

    def get_bytes(self, test_case: dict[str, Any]) -> int:
        m, n, k = test_case["m"], test_case["n"], test_case["k"]
        return 2 * int(m * k + k * n + m * n)
