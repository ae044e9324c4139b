"""y = x if x is positive, else alpha * x; in float16. alpha is passed by value."""

from __future__ import annotations

from typing import Any

import numpy as np
from declare import array, cases, number, result

from benchguard import Problem


class LeakyRelu(Problem):
    parameters = (array("x", "half"), number("alpha", "float"), result("y", "half"), number("n"))

    def __init__(self) -> None:
        super().__init__("leaky-relu")

    def generate_test_cases(self) -> list[dict[str, Any]]:
        return cases(self.inputs, small={"n": 1001}, large={"n": 1 << 23})

    @staticmethod
    def inputs(random: np.random.Generator, n: int) -> tuple[Any, ...]:
        return (4 * random.random(n, np.float32) - 2).astype(np.float16), 0.01

    def reference_solution(self, x: Any, alpha: float) -> Any:
        return np.where(x > 0, x, alpha * x)

    def get_tolerances(self, test_case: dict[str, Any]) -> Any:
        del test_case
        return (1e-4, 1e-3)  # one rounding: negative results are small

    def get_outputs(self, test_case: dict[str, Any]) -> Any:
        return [((test_case["n"],), "half")]

    def get_extra_params(self, test_case: dict[str, Any]) -> list[Any]:
        return [test_case["n"]]

    def get_flops(self, test_case: dict[str, Any]) -> int:
        return int(test_case["n"])

    def get_bytes(self, test_case: dict[str, Any]) -> int:
        return 4 * int(test_case["n"])
