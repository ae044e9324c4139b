"""Count the occurrences of each byte value among n bytes. Exact."""

from __future__ import annotations

from typing import Any

import numpy as np
from declare import array, cases, number, result

from benchguard import Problem

BINS = 256


class Histogram(Problem):
    parameters = (array("values", "uint8_t"), result("counts", "int"), number("n"))

    def __init__(self) -> None:
        super().__init__("histogram")

    def generate_test_cases(self) -> list[dict[str, Any]]:
        return cases(self.inputs, small={"n": 5001}, large={"n": 1 << 23})

    @staticmethod
    def inputs(random: np.random.Generator, n: int) -> tuple[Any, ...]:
        return (random.integers(0, BINS, n, np.uint8),)

    def reference_solution(self, values: Any) -> Any:
        return np.bincount(values, minlength=BINS)

    def get_outputs(self, test_case: dict[str, Any]) -> Any:
        del test_case
        return [((BINS,), "int")]

    def get_extra_params(self, test_case: dict[str, Any]) -> list[Any]:
        return [test_case["n"]]

    def get_bytes(self, test_case: dict[str, Any]) -> int:
        return int(test_case["n"])
