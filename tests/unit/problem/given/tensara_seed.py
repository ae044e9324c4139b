# ruff: noqa
"""A problem as Tensara's were in March 2025: a dtype is passed in, nothing has a name, seeds are fixed."""

import ctypes
from typing import Any

import torch
from problem import Problem


class vector_addition(Problem):
    def __init__(self):
        super().__init__(name="vector-addition")

    def reference_solution(self, A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            return (A + B).cuda()

    def generate_test_cases(self, dtype: torch.dtype) -> list[dict[str, Any]]:
        return [
            {
                "name": f"n = {n}",
                "dims": (n,),
                "create_inputs": lambda n=n: (
                    torch.rand(n, device="cuda", dtype=dtype) * 2 - 1,
                    torch.rand(n, device="cuda", dtype=dtype) * 2 - 1,
                ),
            }
            for n in (16, 100)
        ]

    def verify_result(
        self, expected_output: torch.Tensor, actual_output: torch.Tensor, dtype: torch.dtype
    ) -> tuple[bool, dict[str, Any]]:
        assert expected_output.dtype == actual_output.dtype == dtype
        difference = (expected_output - actual_output).abs().max().item()
        return difference < 1e-3, {"max_difference": difference}

    def get_function_signature(self) -> dict[str, Any]:
        return {
            "argtypes": [
                ctypes.POINTER(ctypes.c_float),
                ctypes.POINTER(ctypes.c_float),
                ctypes.POINTER(ctypes.c_float),
                ctypes.c_size_t,
            ],
            "restype": None,
        }

    def get_flops(self, test_case: dict[str, Any]) -> int:
        return test_case["dims"][0]

    def get_extra_params(self, test_case: dict[str, Any]) -> list[Any]:
        return [test_case["dims"][0]]
