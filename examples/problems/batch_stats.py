"""Mean and population variance of each feature: two outputs, float32."""

from __future__ import annotations

from typing import Any

import numpy as np
from declare import array, cases, number, result

from benchguard import Problem


class BatchStats(Problem):
    parameters = (
        array("x", "float"),
        result("mean", "float"),
        result("variance", "float"),
        number("batch"),
        number("features"),
    )
    outputs = ("mean", "variance")
    tolerances = {"mean": (1e-5, 1e-5), "variance": (1e-5, 1e-4)}  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__("batch-stats")

    def generate_test_cases(self) -> list[dict[str, Any]]:
        return cases(
            self.inputs, small={"batch": 50, "features": 45}, large={"batch": 4096, "features": 2048}
        )

    @staticmethod
    def inputs(random: np.random.Generator, batch: int, features: int) -> tuple[Any, ...]:
        return (4 * random.random((batch, features), np.float32) - 1,)

    def reference_solution(self, x: Any) -> Any:
        return x.mean(axis=0), x.var(axis=0)

    def get_outputs(self, test_case: dict[str, Any]) -> Any:
        return [((test_case["features"],), "float")] * 2

    def get_extra_params(self, test_case: dict[str, Any]) -> list[Any]:
        return [test_case["batch"], test_case["features"]]

    def get_flops(self, test_case: dict[str, Any]) -> int:
        return 4 * int(test_case["batch"] * test_case["features"])

    def get_bytes(self, test_case: dict[str, Any]) -> int:
        return 4 * int(test_case["features"] * (test_case["batch"] + 2))
