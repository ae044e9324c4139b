"""Keep a test's count of non-zero elements when its inputs are drawn anew.

A sparse challenge has a parameter that counts the non-zero elements of an input (`nnz`), and draws the places of these
elements. The count then depends on the seed. A captured call has the numbers of one draw, so other draws must agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..problem.arrays import is_torch
from .host import torch_module

CHANCE_BITS = 20
"""A tensor may have one zero more in 2^20 elements than its number says. Tests multiply uniform numbers by a mask and
count the mask, and one in 2^24 of torch's uniform float32 numbers is 0."""


def with_counts_of(first: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """`values` with the counts of `first`: a tensor whose count differs loses or gains non-zero elements.

    Lost elements become 0. Gained elements are copies of others. Both are chosen by torch's global generator.
    """
    adjusted = dict(values)
    for name, count in first.items():
        if type(count) is not int or type(values[name]) is not int or values[name] == count:
            continue
        for each in _counted(name, first, values):
            adjusted[each] = _with_count(values[each], count)
            adjusted[name] = count
    return adjusted


def _counted(name: str, first: Mapping[str, Any], values: Mapping[str, Any]) -> list[str]:
    """The tensors whose non-zero elements the number `name` counts, in both draws."""
    return [
        each
        for each, value in first.items()
        if is_torch(value)
        and is_torch(values[each])
        and all(_counts(draw[name], draw[each]) for draw in (first, values))
    ]


def _counts(number: int, tensor: Any) -> bool:
    found = int(torch_module().count_nonzero(tensor))
    return found > 0 and 0 <= number - found <= tensor.numel() >> CHANCE_BITS


def _with_count(tensor: Any, count: int) -> Any:
    torch = torch_module()
    flat = tensor.clone().reshape(-1)
    full, empty = flat.nonzero().reshape(-1), (flat == 0).nonzero().reshape(-1)
    extra = count - full.numel()
    if extra < 0:
        flat[_some(torch, full, -extra)] = 0
    else:
        sources = full[torch.randint(full.numel(), (extra,), device=flat.device)]
        flat[_some(torch, empty, extra)] = flat[sources]
    return flat.reshape(tensor.shape)


def _some(torch: Any, places: Any, count: int) -> Any:
    return places[torch.randperm(places.numel(), device=places.device)[:count]]
