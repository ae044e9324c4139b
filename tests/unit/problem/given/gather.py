"""A problem in the current form, in numpy: an index, a float, a number, every optional part told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchguard import Problem


class Gather(Problem):
    parameters = (
        {"name": "table", "type": "float", "pointer": True, "const": True},
        {"name": "index", "type": "int", "pointer": True, "const": True},
        {"name": "scale", "type": "float", "pointer": False, "const": False},
        {"name": "result", "type": "float", "pointer": True, "const": False},
        {"name": "n", "type": "size_t", "pointer": False, "const": False},
    )

    def __init__(self) -> None:
        super().__init__("gather")

    def reference_solution(self, table: Any, index: Any, scale: float) -> Any:
        return table[index] * scale

    def generate_test_cases(self) -> list[dict[str, Any]]:
        return [{"name": f"n={n}", "n": n, "create_inputs": self.maker(n)} for n in (64, 1000)]

    def maker(self, n: int) -> Callable[[], tuple[Any, ...]]:
        seed = self.get_seed(f"gather-{n}")

        def create() -> tuple[Any, ...]:
            random = np.random.default_rng(seed)
            table = random.uniform(-1, 3, n).astype(np.float32)
            return table, random.integers(0, n, n, np.int32), 0.1

        return create

    def get_extra_params(self, test_case: dict[str, Any]) -> list[Any]:
        return [test_case["n"]]

    def get_flops(self, test_case: dict[str, Any]) -> int:
        return int(test_case["n"])

    def get_bytes(self, test_case: dict[str, Any]) -> int:
        return 8 * int(test_case["n"])
