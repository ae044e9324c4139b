"""The module core.challenge_base, from which LeetGPU's challenges import a base class and tensors' descriptions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


class ChallengeBase:
    """A challenge defines name, atol, rtol, reference_impl, get_solve_signature and the generate_*_test methods.

    Challenges of the older form pass their name, tolerances and numbers here.
    """

    def __init__(self, device: str = "cuda", **attributes: Any) -> None:
        self.device = device
        for name, value in attributes.items():
            setattr(self, name, value)


@dataclass(frozen=True)
class RandTensor:
    """Uniform numbers from [low, high)."""

    shape: Any
    low: float = 0.0
    high: float = 1.0
    dtype: str = "float32"


@dataclass(frozen=True)
class RandnTensor:
    """Normal numbers."""

    shape: Any
    mean: float = 0.0
    std: float = 1.0
    dtype: str = "float32"


@dataclass(frozen=True)
class RandIntTensor:
    """Uniform integers from [low, high)."""

    shape: Any
    low: int
    high: int
    dtype: str = "int32"


@dataclass(frozen=True)
class FullTensor:
    """Equal numbers."""

    shape: Any
    value: float = 0.0
    dtype: str = "float32"


@dataclass(frozen=True)
class OutTensor:
    """An output, uninitialised."""

    shape: Any
    dtype: str = "float32"


def made(value: Any, torch: Any, device: str) -> Any:
    """The tensor that a description describes; other values as they are."""
    if not isinstance(value, (RandTensor, RandnTensor, RandIntTensor, FullTensor, OutTensor)):
        return value
    shape, dtype = tuple(value.shape), getattr(torch, value.dtype)
    if isinstance(value, RandTensor):
        return torch.empty(shape, device=device).uniform_(value.low, value.high).to(dtype)
    if isinstance(value, RandnTensor):
        return torch.empty(shape, device=device).normal_(value.mean, value.std).to(dtype)
    if isinstance(value, RandIntTensor):
        return torch.randint(value.low, value.high, shape, device=device, dtype=dtype)
    if isinstance(value, OutTensor):
        return torch.empty(shape, device=device, dtype=dtype)
    return torch.full(shape, value.value, device=device, dtype=dtype)
