"""The sum of n float32."""

from __future__ import annotations

from typing import Any

import numpy as np
from declare import array, cases, number, result

from benchguard import Problem


class Reduction(Problem):
    parameters = (array("x", "float"), result("sum", "float"), number("n"))

    def __init__(self) -> None:
        super().__init__("reduction")

    def generate_test_cases(self) -> list[dict[str, Any]]:
        return cases(self.inputs, small={"n": 5000}, large={"n": 1 << 23})

    @staticmethod
    def inputs(random: np.random.Generator, n: int) -> tuple[Any, ...]:
        return (2 * random.random(n, np.float32) - 1,)

    def reference_solution(self, x: Any) -> Any:
        return x.sum(keepdims=True)

    def get_tolerances(self, test_case: dict[str, Any]) -> Any:
        """Terms have both signs, so the error grows with n and the sum only with its square root."""
        return (1e-5 * test_case["n"] ** 0.5, 1e-5)

    def get_outputs(self, test_case: dict[str, Any]) -> Any:
        del test_case
        return [((1,), "float")]

    def get_extra_params(self, test_case: dict[str, Any]) -> list[Any]:
        return [test_case["n"]]

    def get_flops(self, test_case: dict[str, Any]) -> int:
        return int(test_case["n"])

    def get_bytes(self, test_case: dict[str, Any]) -> int:
        return 4 * int(test_case["n"])
