"""y = A x for a sparse matrix in compressed rows: row r has elements offsets[r] to offsets[r + 1]. float32."""

from __future__ import annotations

from typing import Any

import numpy as np
from declare import array, cases, number, result

from benchguard import Problem


class Spmv(Problem):
    parameters = (
        array("offsets", "int"),
        array("columns", "int"),
        array("values", "float"),
        array("x", "float"),
        result("y", "float"),
        number("rows"),
    )

    def __init__(self) -> None:
        super().__init__("spmv")

    def generate_test_cases(self) -> list[dict[str, Any]]:
        return cases(
            self.inputs,
            small={"rows": 60, "width": 50, "elements": 700},
            large={"rows": 1 << 17, "width": 1 << 17, "elements": 1 << 22},
        )

    @staticmethod
    def inputs(random: np.random.Generator, rows: int, width: int, elements: int) -> tuple[Any, ...]:
        """Rows differ in length, and some are empty. Other distributions keep the offsets, which must ascend."""
        ends = np.sort(random.integers(0, elements + 1, rows - 1, np.int32))
        offsets = np.concatenate(([0], ends, [elements])).astype(np.int32)
        values = 2 * random.random(elements, np.float32) - 1
        return (
            offsets,
            random.integers(0, width, elements, np.int32),
            values,
            random.random(width, np.float32),
        )

    def reference_solution(self, offsets: Any, columns: Any, values: Any, x: Any) -> Any:
        rows = len(offsets) - 1
        return np.bincount(np.repeat(np.arange(rows), np.diff(offsets)), values * x[columns], rows)

    def get_outputs(self, test_case: dict[str, Any]) -> Any:
        return [((test_case["rows"],), "float")]

    def get_extra_params(self, test_case: dict[str, Any]) -> list[Any]:
        return [test_case["rows"]]

    def get_flops(self, test_case: dict[str, Any]) -> int:
        return 2 * int(test_case["elements"])

    def get_bytes(self, test_case: dict[str, Any]) -> int:
        return 8 * int(test_case["elements"] + test_case["rows"])
