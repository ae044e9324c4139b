"""Launch attributes: those that mean the same in another process are kept, all others are refused by name."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent
HOOK = HERE.parents[2] / "hook"
KEPT = [1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 14, 16]

Attributes = Callable[..., list[str]]


@pytest.fixture
def attributes(compile_c: Callable[..., Path]) -> Attributes:
    sources = HERE / "programs" / "launch_attributes.c", HOOK / "cuda" / "capture" / "attribute.c"
    program = compile_c(
        "launch_attributes",
        *sources,
        flags=(f"-I{HOOK}", "-fsanitize=address"),
    )

    def run(*numbers: int) -> list[str]:
        command = [str(program), *map(str, numbers)]
        result = subprocess.run(command, capture_output=True, text=True, timeout=240, check=True)
        return result.stdout.splitlines()

    return run


def test_attribute_values_are_copied_in_order(attributes: Attributes) -> None:
    """Attribute 0 means: ignore this entry."""
    expected = [f"kept {number} {place} {place}" for place, number in enumerate(KEPT, 1)]
    assert attributes(*KEPT) == expected
    assert attributes(0, 4) == ["kept 4 2 2"]
    assert attributes() == []


@pytest.mark.parametrize(
    ("number", "why"),
    [
        (7, "programmatic event"),
        (12, "launch completion event"),
        (13, "changed from the device"),
        (99, "unknown attribute 99"),
    ],
)
def test_handle_and_unknown_attributes_are_refused(attributes: Attributes, number: int, why: str) -> None:
    refused, values = attributes(number, 8)
    assert refused.startswith("refused ") and why in refused
    assert values == "kept 8 2 2"
