"""Secret seeds for the random numbers of a problem's own check."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchguard.problem.seeding import CheckSeeds

if TYPE_CHECKING:
    import torch
else:
    torch = pytest.importorskip("torch")

SIZE, DRAWN = 4096, 16
SOURCES: dict[str, Callable[[], Any]] = {
    "numpy": lambda: np.random.default_rng(7).integers(SIZE, size=DRAWN),
    "torch": lambda: torch.randint(SIZE, (DRAWN,), generator=torch.manual_seed(7)).numpy(),
    "generator": lambda: torch.randint(SIZE, (DRAWN,), generator=torch.Generator().manual_seed(7)).numpy(),
}


@pytest.mark.parametrize("source", SOURCES)
def test_places_that_a_check_draws_are_secret(source: str) -> None:
    draw = SOURCES[source]
    only_drawn = np.zeros(SIZE)
    only_drawn[draw()] = 1

    def check(output: Any) -> str | None:
        return None if (output[draw()] == 1).all() else "wrong"

    assert check(only_drawn) is None
    seeds = CheckSeeds()
    for _ in range(2):
        assert seeds.ask(check, lambda: only_drawn, lambda: np.ones(SIZE)) == "wrong"
        assert seeds.ask(check, lambda: np.ones(SIZE), lambda: np.ones(SIZE)) is None
    assert check(only_drawn) is None, "the seeds are as before"


@pytest.mark.parametrize("source", SOURCES)
def test_check_that_makes_right_numbers_from_its_seed_keeps_it(source: str) -> None:
    draw = SOURCES[source]

    def check(output: Any) -> str | None:
        return None if (output == draw()).all() else "wrong"

    seeds = CheckSeeds()
    for _ in range(2):
        assert seeds.ask(check, draw, draw) is None
        assert seeds.ask(check, lambda: draw() + 1, draw) == "wrong"
