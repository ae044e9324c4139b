"""For each head, softmax(q k^T / 8) v, in float16; 64 numbers per row, without a mask. Scores and sums must be
kept in float32 or better."""

from __future__ import annotations

from typing import Any

import numpy as np
from declare import array, cases, number, result

from benchguard import Problem

WIDTH = 64


class Attention(Problem):
    parameters = (
        array("q", "half"),
        array("k", "half"),
        array("v", "half"),
        result("o", "half"),
        number("heads"),
        number("length"),
    )
    tolerances = (2.5e-3, 2e-3)
    """Allows weights rounded to float16, which tensor cores need: each has a relative error of up to 2^-11, so the
    output has an error of up to 2^-11 of the largest |v|, which is near 5."""

    def __init__(self) -> None:
        super().__init__("attention")

    def generate_test_cases(self) -> list[dict[str, Any]]:
        return cases(self.inputs, small={"heads": 2, "length": 100}, large={"heads": 32, "length": 512})

    @staticmethod
    def inputs(random: np.random.Generator, heads: int, length: int) -> tuple[Any, ...]:
        shape = (heads, length, WIDTH)
        return tuple(random.standard_normal(shape, np.float32).astype(np.float16) for _ in range(3))

    def reference_solution(self, q: Any, k: Any, v: Any) -> Any:
        q *= WIDTH**-0.5
        return np.stack([self.head(*each) for each in zip(q, k, v, strict=True)])

    @staticmethod
    def head(q: Any, k: Any, v: Any) -> Any:
        scores = q @ k.T
        scores -= scores.max(axis=1, keepdims=True)
        np.exp(scores, out=scores)
        return (scores @ v) / scores.sum(axis=1, keepdims=True)

    def get_outputs(self, test_case: dict[str, Any]) -> Any:
        return [((test_case["heads"], test_case["length"], WIDTH), "half")]

    def get_extra_params(self, test_case: dict[str, Any]) -> list[Any]:
        return [test_case["heads"], test_case["length"]]

    def get_flops(self, test_case: dict[str, Any]) -> int:
        return 4 * int(test_case["heads"] * test_case["length"] ** 2) * WIDTH

    def get_bytes(self, test_case: dict[str, Any]) -> int:
        return 8 * int(test_case["heads"] * test_case["length"]) * WIDTH
