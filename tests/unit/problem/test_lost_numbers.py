"""A problem's own check, run with finite numbers in place of those that it loses."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchguard.problem.lost_numbers import SIGNS, finite_calculations, watched

if TYPE_CHECKING:
    import torch
else:
    torch = pytest.importorskip("torch")

RIGHT = (3.0, 4.0)


def residual(output: torch.Tensor) -> bool:
    return not (output.square().sum() - 25.0).abs() > 1e-3


def similarity(output: torch.Tensor) -> bool:
    wanted = torch.tensor(RIGHT)
    return not output @ wanted / (output.norm() * wanted.norm()) < 0.99


def relative_error(output: torch.Tensor) -> bool:
    return bool((output - torch.tensor(RIGHT)).abs().max() / output.square().sum() < 0.1)


def protected_inverse(output: torch.Tensor) -> bool:
    inverse = torch.where(output == 0, 0, 1 / output)
    return bool((inverse * output + (output == 0) == 1).all())


def masked_scores(output: torch.Tensor) -> bool:
    scores = torch.full((3,), float("-inf"))
    scores[:2] = output
    return bool((scores.softmax(0).sum() - 1).abs() < 1e-3)


def in_new_memory(output: torch.Tensor) -> bool:
    sums = torch.empty(2)
    torch.add(output, 1, out=sums)
    return bool((sums == output + 1).all())


def in_place(output: torch.Tensor) -> bool:
    scaled = output.clone()
    scaled.mul_(1e30)
    return not (scaled.exp() - scaled.exp()).abs().max() > 1


def residual_of_numpy(output: Any) -> bool:
    return not np.abs(np.square(output).sum() - 25.0) > 1e-3


def similarity_of_numpy(output: Any) -> bool:
    wanted = np.array(RIGHT)
    return not output @ wanted / (np.linalg.norm(output) * np.linalg.norm(wanted)) < 0.99


def shares_of_numpy(output: Any) -> bool:
    shares, wanted = np.exp(output), np.exp(np.array(RIGHT))
    error = np.abs(shares / shares.sum() - wanted / wanted.sum()).max()
    return bool(np.isfinite(output).all()) and not float(error) > 1e-6


def protected_inverse_of_numpy(output: Any) -> bool:
    with np.errstate(all="ignore"):
        inverse = np.where(output == 0, 0, 1 / output)
    means = np.concatenate([inverse.reshape(1, -1), np.stack([output, output])]).mean(axis=0)
    return bool(
        (inverse * output + (output == 0) == 1).all() and f"{means.max():.1f}" and means.astype(int).size
    )


def accepted(check: Callable[[torch.Tensor], bool], numbers: tuple[float, ...]) -> list[Any]:
    """The plain answer, and those with replaced numbers."""

    def given() -> Any:
        in_numpy = check.__name__.endswith("numpy")
        return watched(np.array(numbers, np.float32)) if in_numpy else torch.tensor(numbers)

    with np.errstate(all="ignore"):
        answers: list[Any] = [check(given())]
        for sign in SIGNS:
            with finite_calculations(sign):
                answers.append(check(given()))
    return answers


@pytest.mark.parametrize(
    ("check", "numbers"),
    [
        pytest.param(residual, (float("nan"), 4.0), id="residual-of-nan"),
        pytest.param(similarity, (0.0, 0.0), id="angle-to-zeros"),
        pytest.param(relative_error, (3e38, 3e38), id="division-by-inf"),
        pytest.param(residual_of_numpy, (float("nan"), 4.0), id="residual-of-nan-numpy"),
        pytest.param(similarity_of_numpy, (0.0, 0.0), id="angle-to-zeros-numpy"),
        pytest.param(shares_of_numpy, (90.0, 90.0), id="overflow-numpy"),
    ],
)
def test_check_that_loses_numbers_rejects_them_once_they_are_finite(
    check: Callable[[torch.Tensor], bool], numbers: tuple[float, ...]
) -> None:
    plain, *finite = accepted(check, numbers)
    assert plain
    assert not all(finite)
    assert accepted(check, RIGHT) == [True, True, True]


@pytest.mark.parametrize(
    ("check", "numbers"),
    [
        pytest.param(protected_inverse, (0.0, 4.0), id="inf-that-is-left-out"),
        pytest.param(protected_inverse_of_numpy, (0.0, 4.0), id="inf-that-is-left-out-numpy"),
        pytest.param(masked_scores, RIGHT, id="scores-of-minus-inf"),
        pytest.param(in_new_memory, RIGHT, id="new-memory"),
        pytest.param(in_place, RIGHT, id="in-place"),
    ],
)
def test_check_that_leaves_infinite_numbers_out_accepts_as_before(
    check: Callable[[torch.Tensor], bool], numbers: tuple[float, ...]
) -> None:
    assert accepted(check, numbers) == [True, True, True]


def test_check_without_lost_numbers_is_not_asked_again() -> None:
    with finite_calculations(1) as watch:
        assert residual(torch.tensor(RIGHT))
    assert watch.count == 0
