"""A submission that is a class: built once, called for every case (KernelBench's ModelNew)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .failure import SubmissionError

SEED = 42
"""KernelBench's, before each of the two models is built: so that both draw the same weights."""


def build(kind: Callable[..., Any], init: Sequence[Any], torch: Any | None) -> Callable[..., object]:
    """ENTRY(*init), on the GPU where it is torch's."""
    if torch is None:
        return _callable(kind(*init))
    torch.manual_seed(SEED)
    torch.cuda.manual_seed_all(SEED)
    built = kind(*init)
    return _callable(built.cuda() if isinstance(built, torch.nn.Module) else built)


def load_state(built: Any, state: Mapping[str, Any]) -> None:
    """Constants of the problem are the module's parameters and buffers of the same names, with _ for dots."""
    if not state:
        return
    if not hasattr(built, "state_dict"):
        raise SubmissionError(
            f"the problem gives {', '.join(state)}, and {type(built).__name__} has no state_dict"
        )
    own = {re.sub(r"\W", "_", name): tensor for name, tensor in built.state_dict().items()}
    for name, value in state.items():
        if name not in own or tuple(own[name].shape) != tuple(value.shape):
            raise SubmissionError(
                f"{type(built).__name__} has no state {name} of shape {tuple(value.shape)}; give it one"
            )
        own[name].copy_(value)


def _callable(built: Any) -> Callable[..., object]:
    if not callable(built):
        raise SubmissionError(f"{type(built).__name__} cannot be called; give it a forward() or a __call__()")
    return built  # type: ignore[no-any-return]
