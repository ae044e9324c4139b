"""The arguments that a function of Python is called with, by its parameters, and the weights of a class."""

# ruff: noqa: ARG005 - only the parameters of these functions matter

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from benchguard.problem.spec import Buffer, Scalar
from benchguard.quarantine.runner.python_entry import SEED, build_module, places_taken

A, B = (Buffer(name, "float32", (4,)) for name in "ab")
ARGUMENTS = (A, B, Buffer("c", "float32", (4,), "output"), Scalar("n", "int", 4))


@pytest.mark.parametrize(
    ("function", "places"),
    [
        (lambda a, b, c, n: None, [0, 1, 2, 3]),
        (lambda *values: None, [0, 1, 2, 3]),
        (lambda a, b, c, n=4: None, [0, 1, 2, 3]),
        (lambda a, b, n: None, [0, 1, 3]),
        (lambda a, b: None, [0, 1]),
        (lambda a, b, block=64: None, [0, 1]),
        (lambda a, b, *, block=64: None, [0, 1]),
        (partial(lambda block, a, b: None, 64), [0, 1]),
        (lambda a: None, [0, 1, 2, 3]),
        (lambda: None, [0, 1, 2, 3]),
    ],
)
def test_function_gets_the_arguments_that_its_parameters_are_for(
    function: Callable[..., object], places: list[int]
) -> None:
    assert list(places_taken(function, ARGUMENTS)) == places


def test_hostile_signature_gets_all_arguments() -> None:
    def function() -> None: ...

    function.__signature__ = 1  # type: ignore[attr-defined]
    assert list(places_taken(function, ARGUMENTS)) == [0, 1, 2, 3]


def test_weights_drawn_under_the_seed_where_torch_finds_no_gpu() -> None:
    torch = pytest.importorskip("torch")
    built = build_module(partial(torch.nn.Linear, 4, 4), (), None)
    torch.manual_seed(SEED)
    assert torch.equal(built.weight, torch.nn.Linear(4, 4).weight)  # type: ignore[attr-defined]
