"""Seeds: Tensara's own without a secret, derived seeds with one."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest

from benchguard import Problem
from benchguard.problem.seeding import generator, seeded


def test_public_seeds_match_tensara() -> None:
    """The seed is 31 bits of the first four bytes of `printf vector-addition | md5sum`, little-endian."""
    assert Problem.get_seed("vector-addition") == 0x79507E1E
    assert Problem.get_seed("") == 0xD98C1DD4 & 0x7FFFFFFF


def test_secret_changes_all_seeds() -> None:
    def seeds(secret: int | None) -> list[int]:
        with seeded(secret):
            return [Problem.get_seed(text) for text in ("a", "b")]

    items = [seeds(secret) for secret in (None, 1, 2, 1 << 200)]
    assert len({seed for pair in items for seed in pair}) == 8
    assert seeds(1) == items[1]
    assert all(0 <= seed < 1 << 31 for pair in items for seed in pair)


def test_global_generators_seeded_and_restored() -> None:
    def draws(secret: int | None) -> tuple[float, float]:
        with seeded(secret):
            return random.random(), float(np.random.random())

    random.seed(5)
    np.random.seed(5)
    before = random.getstate(), np.random.get_state()[1].tolist()
    assert draws(1) == draws(1) != draws(2)
    assert draws(None) == draws(None)
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before


def test_torch_generator_seeded_and_restored() -> None:
    torch = pytest.importorskip("torch")

    def draw(secret: int) -> float:
        with seeded(secret):
            return float(torch.rand(()))

    state = torch.get_rng_state().tolist()
    assert draw(1) == draw(1) != draw(2)
    assert torch.get_rng_state().tolist() == state


def test_generators_restored_after_error() -> None:
    own = Problem.get_seed("a")
    with pytest.raises(RuntimeError), seeded(1):
        raise RuntimeError
    assert Problem.get_seed("a") == own


def test_generators_differ_by_seed_and_words() -> None:
    items = {
        int(generator(*key).integers(1 << 62)) for key in [(1,), (2,), (1, "a"), (1, "b"), (1 << 100, "a")]
    }
    assert len(items) == 5


@pytest.mark.parametrize(
    "draw",
    [
        pytest.param(lambda: (random.seed(7), random.random())[1], id="random"),
        pytest.param(lambda: (np.random.seed(7), float(np.random.rand()))[1], id="numpy's generator"),
        pytest.param(lambda: float(np.random.default_rng(7).random()), id="numpy's new generator"),
    ],
)
def test_seed_of_the_problem_is_mixed_with_the_secret(draw: Callable[[], float]) -> None:
    """A problem that seeds itself would otherwise draw public inputs. Its own seeds hold again afterwards."""
    plain = draw()
    with seeded(1):
        one, again = draw(), draw()
    with seeded(2):
        two = draw()
    with seeded(None):
        public = draw()
    assert one == again
    assert len({plain, one, two}) == 3
    assert (public, draw()) == (plain, plain)


def test_seed_of_torch_is_mixed_with_the_secret() -> None:
    torch = pytest.importorskip("torch")

    def draw() -> float:
        torch.manual_seed(123)
        return float(torch.rand(1))

    plain = draw()
    with seeded(1):
        one, again = draw(), draw()
    assert one == again != plain
    assert draw() == plain


def test_generator_as_seed_stays_the_problems_own() -> None:
    with seeded(1):
        generator = np.random.default_rng(5)
        assert np.random.default_rng(generator) is generator
