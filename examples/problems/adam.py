"""One step of Adam, in place: parameters, first and second moments are read and written; float32.

https://arxiv.org/abs/1412.6980, algorithm 1, at a step that is passed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from declare import array, cases, number, result

from benchguard import Problem

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


class Adam(Problem):
    parameters = (
        result("parameter", "float"),
        array("gradient", "float"),
        result("first", "float"),
        result("second", "float"),
        number("rate", "float"),
        number("step", "int"),
        number("n"),
    )
    inplace = ("parameter", "first", "second")
    distributions = ("own", "scaled", "ties", "shifted")  # others have second = 0 where first is not
    tolerances = {"parameter": (1e-6, 1e-5), "first": (1e-8, 1e-5), "second": (1e-11, 1e-5)}  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__("adam")

    def generate_test_cases(self) -> list[dict[str, Any]]:
        return cases(self.inputs, small={"n": 1003}, large={"n": 1 << 21})

    @staticmethod
    def inputs(random: np.random.Generator, n: int) -> tuple[Any, ...]:
        parameter, gradient, first = (random.random(n, np.float32) - np.float32(0.5) for _ in range(3))
        second = np.float32(1e-4) * (random.random(n, np.float32) + np.float32(0.1))
        return parameter, gradient * np.float32(0.02), first * np.float32(0.02), second, 1e-3, 10

    def reference_solution(
        self, parameter: Any, gradient: Any, first: Any, second: Any, rate: float, step: int
    ) -> None:
        first[:] = BETA1 * first + (1 - BETA1) * gradient
        second[:] = BETA2 * second + (1 - BETA2) * gradient**2
        deviation = np.sqrt(second / (1 - BETA2**step)) + EPSILON
        parameter -= rate / (1 - BETA1**step) * first / deviation

    def get_outputs(self, test_case: dict[str, Any]) -> Any:
        del test_case
        return []

    def get_extra_params(self, test_case: dict[str, Any]) -> list[Any]:
        return [test_case["n"]]

    def get_flops(self, test_case: dict[str, Any]) -> int:
        return 14 * int(test_case["n"])

    def get_bytes(self, test_case: dict[str, Any]) -> int:
        return 28 * int(test_case["n"])
