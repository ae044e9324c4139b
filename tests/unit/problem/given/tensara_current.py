# ruff: noqa
"""A problem as Tensara's are now: parameters, seeds taken when the cases are made, several outputs, a shape passed."""

from typing import Any

import torch
from problem import Problem


class argmax(Problem):
    parameters = [
        {"name": "input", "type": "float16", "pointer": True, "const": True},
        {"name": "dim", "type": "int", "pointer": False, "const": False},
        {"name": "values", "type": "float16", "pointer": True, "const": False},
        {"name": "places", "type": "int", "pointer": True, "const": False},
        {"name": "shape", "type": "int", "pointer": True, "const": True},
        {"name": "ndim", "type": "int", "pointer": False, "const": False},
    ]

    def __init__(self):
        super().__init__(name="argmax")

    def reference_solution(self, input_tensor: torch.Tensor, dim: int):
        values, places = torch.max(input_tensor, dim=dim)
        return values, places.to(torch.int32)

    def generate_test_cases(self) -> list[dict[str, Any]]:
        dtype = self.param_dtype("input")
        cases = []
        for shape, dim in (((4, 8), 1), ((4, 8), 0)):
            seed = Problem.get_seed(f"{self.name}_{shape}_{dim}")
            cases.append(
                {
                    "name": f"shape={shape}, dim={dim}",
                    "shape": shape,
                    "dim": dim,
                    "create_inputs": lambda shape=shape, dim=dim, seed=seed: (
                        *(lambda g: (torch.rand(shape, device="cuda", dtype=dtype, generator=g) * 10 - 5,))(
                            torch.Generator(device="cuda").manual_seed(seed)
                        ),
                        dim,
                    ),
                }
            )
        return cases

    def generate_sample(self) -> dict[str, Any]:
        return {
            "name": "sample",
            "shape": (2, 2),
            "dim": 1,
            "create_inputs": lambda: (torch.tensor([[1, 2], [4, 3]], dtype=torch.float16), 1),
        }

    def verify_result(self, expected_output, actual_output):
        right = all(bool((e == a).all()) for e, a in zip(expected_output, actual_output))
        return right, {} if right else {"message": "another maximum"}

    def get_extra_params(self, test_case: dict[str, Any]) -> list[Any]:
        return [torch.tensor(test_case["shape"], dtype=torch.int32), len(test_case["shape"])]
