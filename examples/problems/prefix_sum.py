"""Inclusive prefix sum in int32. Exact."""

from __future__ import annotations

from typing import Any

import numpy as np
from declare import array, cases, number, result

from benchguard import Problem


class PrefixSum(Problem):
    parameters = (array("x", "int"), result("y", "int"), number("n"))

    def __init__(self) -> None:
        super().__init__("prefix-sum")

    def generate_test_cases(self) -> list[dict[str, Any]]:
        return cases(self.inputs, small={"n": 5001}, large={"n": 1 << 23})

    @staticmethod
    def inputs(random: np.random.Generator, n: int) -> tuple[Any, ...]:
        return (random.integers(-100, 101, n, np.int32),)

    def reference_solution(self, x: Any) -> Any:
        return np.cumsum(x, dtype=np.int32)

    def get_outputs(self, test_case: dict[str, Any]) -> Any:
        return [((test_case["n"],), "int")]

    def get_extra_params(self, test_case: dict[str, Any]) -> list[Any]:
        return [test_case["n"]]

    def get_bytes(self, test_case: dict[str, Any]) -> int:
        return 8 * int(test_case["n"])
