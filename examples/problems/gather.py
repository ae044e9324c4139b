"""Gather rows of a table by index, as an embedding does. Indices are int32; exact."""

from __future__ import annotations

from typing import Any

import numpy as np
from declare import array, cases, number, result

from benchguard import Problem


class Gather(Problem):
    parameters = (
        array("table", "float"),
        array("index", "int"),
        result("rows", "float"),
        number("n"),
        number("width"),
    )
    tolerances = (0, 0)

    def __init__(self) -> None:
        super().__init__("gather")

    def generate_test_cases(self) -> list[dict[str, Any]]:
        return cases(
            self.inputs,
            small={"height": 40, "width": 33, "n": 70},
            large={"height": 1 << 15, "width": 128, "n": 1 << 16},
        )

    @staticmethod
    def inputs(random: np.random.Generator, height: int, width: int, n: int) -> tuple[Any, ...]:
        table = random.random((height, width), np.float32) - np.float32(0.5)
        return table, random.integers(0, height, n, np.int32)

    def reference_solution(self, table: Any, index: Any) -> Any:
        return table[index]

    def get_outputs(self, test_case: dict[str, Any]) -> Any:
        return [((test_case["n"], test_case["width"]), "float")]

    def get_extra_params(self, test_case: dict[str, Any]) -> list[Any]:
        return [test_case["n"], test_case["width"]]

    def get_bytes(self, test_case: dict[str, Any]) -> int:
        """Bytes of the output and the indices. Rows of the table are not counted, because they may repeat."""
        return 4 * int(test_case["n"] * (test_case["width"] + 1))
