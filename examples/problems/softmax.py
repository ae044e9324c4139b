"""Softmax of each row, in float32."""

from __future__ import annotations

from typing import Any

import numpy as np
from declare import array, cases, number, result

from benchguard import Problem


class Softmax(Problem):
    parameters = (array("x", "float"), result("y", "float"), number("rows"), number("columns"))
    tolerances = (1e-8, 1e-4)  # a row of 4096 sums to 1, so its elements are small

    def __init__(self) -> None:
        super().__init__("softmax")

    def generate_test_cases(self) -> list[dict[str, Any]]:
        return cases(self.inputs, small={"rows": 5, "columns": 300}, large={"rows": 2048, "columns": 4096})

    @staticmethod
    def inputs(random: np.random.Generator, rows: int, columns: int) -> tuple[Any, ...]:
        return (2 * random.standard_normal((rows, columns), np.float32),)

    def reference_solution(self, x: Any) -> Any:
        x -= x.max(axis=1, keepdims=True)
        np.exp(x, out=x)
        x /= x.sum(axis=1, keepdims=True)
        return x

    def get_outputs(self, test_case: dict[str, Any]) -> Any:
        return [((test_case["rows"], test_case["columns"]), "float")]

    def get_extra_params(self, test_case: dict[str, Any]) -> list[Any]:
        return [test_case["rows"], test_case["columns"]]

    def get_flops(self, test_case: dict[str, Any]) -> int:
        return 5 * int(test_case["rows"] * test_case["columns"])

    def get_bytes(self, test_case: dict[str, Any]) -> int:
        return 8 * int(test_case["rows"] * test_case["columns"])
