"""A signal filtered by 31 taps: y[i] = sum of x[i + j - 15] taps[j], zeros beyond its ends; float32.

The taps are constant: a submission may keep what it makes of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from declare import array, cases, number, result

from benchguard import Problem

TAPS = 31


class Conv1d(Problem):
    parameters = (array("x", "float"), array("taps", "float"), result("y", "float"), number("n"))
    constants = ("taps",)

    def __init__(self) -> None:
        super().__init__("conv1d")

    def generate_test_cases(self) -> list[dict[str, Any]]:
        return cases(self.inputs, small={"n": 1001}, large={"n": 1 << 22})

    @staticmethod
    def inputs(random: np.random.Generator, n: int) -> tuple[Any, ...]:
        taps = random.standard_normal(TAPS, np.float32)
        return 2 * random.random(n, np.float32) - 1, taps

    def reference_solution(self, x: Any, taps: Any) -> Any:
        return np.correlate(np.pad(x, TAPS // 2), taps, "valid")

    def get_outputs(self, test_case: dict[str, Any]) -> Any:
        return [((test_case["n"],), "float")]

    def get_extra_params(self, test_case: dict[str, Any]) -> list[Any]:
        return [test_case["n"]]

    def get_flops(self, test_case: dict[str, Any]) -> int:
        return 2 * TAPS * int(test_case["n"])

    def get_bytes(self, test_case: dict[str, Any]) -> int:
        return 8 * int(test_case["n"])
