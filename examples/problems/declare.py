"""Helpers to declare a problem in few lines."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchguard import Problem

Declared = dict[str, Any]
Inputs = Callable[..., tuple[Any, ...]]


def array(name: str, c_type: str) -> Declared:
    """An input buffer."""
    return {"name": name, "type": c_type, "pointer": True, "const": True}


def result(name: str, c_type: str) -> Declared:
    """An output buffer."""
    return {"name": name, "type": c_type, "pointer": True, "const": False}


def number(name: str, c_type: str = "size_t") -> Declared:
    """An argument passed by value."""
    return {"name": name, "type": c_type, "pointer": False, "const": False}


def cases(inputs: Inputs, **sizes: dict[str, int]) -> list[dict[str, Any]]:
    """One test case per name. `inputs(random, **sizes)` draws inputs from a generator seeded by the case's seed."""
    return [
        {"name": name, **each, "create_inputs": partial(_draw, inputs, name, each)}
        for name, each in sizes.items()
    ]


def _draw(inputs: Inputs, name: str, sizes: dict[str, int]) -> tuple[Any, ...]:
    return inputs(np.random.default_rng(Problem.get_seed(f"{inputs.__qualname__} {name}")), **sizes)
