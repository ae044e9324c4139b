"""The maximum of each row and its index (the first index of equal maxima). Two outputs, exact."""

from __future__ import annotations

from typing import Any

import numpy as np
from declare import array, cases, number, result

from benchguard import Problem


class Argmax(Problem):
    parameters = (
        array("x", "float"),
        result("value", "float"),
        result("place", "int"),
        number("rows"),
        number("columns"),
    )
    outputs = ("value", "place")
    tolerances = (0, 0)

    def __init__(self) -> None:
        super().__init__("argmax")

    def generate_test_cases(self) -> list[dict[str, Any]]:
        return cases(self.inputs, small={"rows": 7, "columns": 333}, large={"rows": 4096, "columns": 2048})

    @staticmethod
    def inputs(random: np.random.Generator, rows: int, columns: int) -> tuple[Any, ...]:
        return (random.random((rows, columns), np.float32) - np.float32(0.5),)

    def reference_solution(self, x: Any) -> Any:
        place = x.argmax(axis=1)
        return x[np.arange(len(x)), place], place

    def get_outputs(self, test_case: dict[str, Any]) -> Any:
        return [((test_case["rows"],), "float"), ((test_case["rows"],), "int")]

    def get_extra_params(self, test_case: dict[str, Any]) -> list[Any]:
        return [test_case["rows"], test_case["columns"]]

    def get_bytes(self, test_case: dict[str, Any]) -> int:
        return 4 * int(test_case["rows"] * (test_case["columns"] + 2))
