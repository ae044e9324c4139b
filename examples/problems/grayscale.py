"""Convert a picture to grey: (77 red + 150 green + 29 blue + 128) / 256 per pixel, after ITU-R BT.601. Exact."""

from __future__ import annotations

from typing import Any

import numpy as np
from declare import array, cases, number, result

from benchguard import Problem


class Grayscale(Problem):
    parameters = (
        array("rgb", "uint8_t"),
        result("grey", "uint8_t"),
        number("height"),
        number("width"),
    )

    def __init__(self) -> None:
        super().__init__("grayscale")

    def generate_test_cases(self) -> list[dict[str, Any]]:
        return cases(self.inputs, small={"height": 37, "width": 53}, large={"height": 2048, "width": 2048})

    @staticmethod
    def inputs(random: np.random.Generator, height: int, width: int) -> tuple[Any, ...]:
        return (random.integers(0, 256, (height, width, 3), np.uint8),)

    def reference_solution(self, rgb: Any) -> Any:
        red, green, blue = (rgb[..., colour].astype(np.uint16) for colour in range(3))
        return ((77 * red + 150 * green + 29 * blue + 128) >> 8).astype(np.uint8)

    def get_outputs(self, test_case: dict[str, Any]) -> Any:
        return [((test_case["height"], test_case["width"]), "uint8_t")]

    def get_extra_params(self, test_case: dict[str, Any]) -> list[Any]:
        return [test_case["height"], test_case["width"]]

    def get_bytes(self, test_case: dict[str, Any]) -> int:
        return 4 * int(test_case["height"] * test_case["width"])
