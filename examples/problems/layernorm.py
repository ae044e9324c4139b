"""Layer normalisation: (x - mean) / sqrt(variance + 1e-5) * gamma + beta for each row, in float32. The variance is the
population variance of the row."""

from __future__ import annotations

from typing import Any

import numpy as np
from declare import array, cases, number, result

from benchguard import Problem

EPSILON = 1e-5


class Layernorm(Problem):
    parameters = (
        array("x", "float"),
        array("gamma", "float"),
        array("beta", "float"),
        result("y", "float"),
        number("rows"),
        number("columns"),
    )

    def __init__(self) -> None:
        super().__init__("layernorm")

    def generate_test_cases(self) -> list[dict[str, Any]]:
        return cases(self.inputs, small={"rows": 5, "columns": 300}, large={"rows": 4096, "columns": 1024})

    @staticmethod
    def inputs(random: np.random.Generator, rows: int, columns: int) -> tuple[Any, ...]:
        return (
            random.standard_normal((rows, columns), np.float32),
            random.random(columns, np.float32) + np.float32(0.5),
            random.standard_normal(columns, np.float32),
        )

    def reference_solution(self, x: Any, gamma: Any, beta: Any) -> Any:
        x -= x.mean(axis=1, keepdims=True)
        x /= np.sqrt(np.mean(x * x, axis=1, keepdims=True) + EPSILON)
        return x * gamma + beta

    def get_outputs(self, test_case: dict[str, Any]) -> Any:
        return [((test_case["rows"], test_case["columns"]), "float")]

    def get_extra_params(self, test_case: dict[str, Any]) -> list[Any]:
        return [test_case["rows"], test_case["columns"]]

    def get_flops(self, test_case: dict[str, Any]) -> int:
        return 8 * int(test_case["rows"] * test_case["columns"])

    def get_bytes(self, test_case: dict[str, Any]) -> int:
        return 8 * int(test_case["columns"] * (test_case["rows"] + 1))
