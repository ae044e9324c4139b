"""Every type that a parameter may have, by pointer and by value."""

from __future__ import annotations

from typing import Any

from benchguard import Problem

POINTED = (
    "double", "float", "half", "bfloat16", "float8_e4m3", "float8_e5m2", "float4", "int64_t", "int", "int16_t",
    "int8_t",     "uint64_t", "uint32_t", "uint16_t", "uint8_t", "size_t", "bool", "[VAR]",
)  # fmt: skip
PASSED = ("double", "float", "int64_t", "int", "uint64_t", "uint32_t", "uint8_t", "size_t", "bool")


class EveryType(Problem):
    parameters = (
        *(
            {"name": f"p{n}", "type": name, "pointer": "true", "const": "true" if n % 2 else "false"}
            for n, name in enumerate(POINTED)
        ),
        *({"name": f"v{n}", "type": name, "pointer": False} for n, name in enumerate(PASSED)),
    )

    def __init__(self) -> None:
        super().__init__("every-type")

    def reference_solution(self, *_: Any) -> Any:
        raise NotImplementedError

    def generate_test_cases(self) -> list[dict[str, Any]]:
        raise NotImplementedError
