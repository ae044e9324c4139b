"""c = a + b, element by element, in float32."""

from __future__ import annotations

from typing import Any

import numpy as np
from declare import array, cases, number, result

from benchguard import Problem


class VectorAdd(Problem):
    parameters = (array("a", "float"), array("b", "float"), result("c", "float"), number("n"))

    def __init__(self) -> None:
        super().__init__("vector-add")

    def generate_test_cases(self) -> list[dict[str, Any]]:
        return cases(self.inputs, small={"n": 1000}, large={"n": 1 << 22})

    @staticmethod
    def inputs(random: np.random.Generator, n: int) -> tuple[Any, ...]:
        return random.random(n, np.float32) - np.float32(0.5), random.random(n, np.float32)

    def reference_solution(self, a: Any, b: Any) -> Any:
        return a + b

    def get_outputs(self, test_case: dict[str, Any]) -> Any:
        return [((test_case["n"],), "float")]

    def get_extra_params(self, test_case: dict[str, Any]) -> list[Any]:
        return [test_case["n"]]

    def get_flops(self, test_case: dict[str, Any]) -> int:
        return int(test_case["n"])

    def get_bytes(self, test_case: dict[str, Any]) -> int:
        return 12 * int(test_case["n"])
