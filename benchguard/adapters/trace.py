"""Watch a call of a torch module: its result, its random operators and its state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ..problem.dispatch import dispatch_mode
from .host import torch_module

_NORMALISES = "batch_norm"
"""Operators that read running averages, although their result in training does not depend on them."""

_COPIES = ("aten._to_copy.", "aten.clone.", "aten.detach.")
"""A model may move a tensor of its own to its inputs' device in each call: the next call has the same result."""


@dataclass(frozen=True)
class Trace:
    """`random`: operators whose results differ from call to call. `kept`: state that the call read and then changed,
    so that the next call has other results. `updated`: state that the call changed and did not read."""

    result: Any
    random: tuple[str, ...]
    kept: tuple[str, ...]
    updated: tuple[str, ...]


def traced(model: Any, call: Callable[[], Any]) -> Trace:
    """Call `call`, which calls `model`."""
    owned, before = _tensors(model), _attributes(model)
    watch = _watch(owned)
    with watch:
        result = call()
    replaced = {
        name
        for name, value in _attributes(model).items()
        if _is_other(before.get(name), value) and watch.copies.get(id(value)) != name
    }
    changed = watch.written | replaced
    return Trace(
        result,
        tuple(dict.fromkeys(watch.random)),
        tuple(sorted(changed & watch.read)),
        tuple(sorted(changed - watch.read)),
    )


def _watch(owned: Mapping[int, str]) -> Any:
    """A torch dispatch mode that notes random operators, and the tensors in `owned` that operators read and write.

    `copies` are copies of these tensors that no operator has written to, with the names of the originals.
    """
    leaves = import_module("torch.utils._pytree").tree_leaves

    class Watch(dispatch_mode()):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.random: list[str] = []
            self.read: set[str] = set()
            self.written: set[str] = set()
            self.copies: dict[int, str] = {}
            self._alive: list[Any] = []  # so that no other tensor gets the id of a copy

        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            del types
            given = {each.name: value for each, value in zip(function._schema.arguments, args, strict=False)}
            given.update(kwargs or {})
            if _is_random(function, given):
                self.random.append(str(function).removesuffix(".default"))
            for each in function._schema.arguments:
                places = [id(leaf) for leaf in leaves(given.get(each.name))]
                names = {owned[place] for place in places if place in owned}
                if each.alias_info is not None and each.alias_info.is_write:
                    self.written |= names
                    for place in places:
                        self.copies.pop(place, None)
                elif _NORMALISES not in str(function):
                    self.read |= names
            result = function(*args, **(kwargs or {}))
            if str(function).startswith(_COPIES):
                original = owned.get(id(args[0]), self.copies.get(id(args[0])))
                if original is not None:
                    self.copies[id(result)] = original
                    self._alive.append(result)
            return result

    return Watch()


def _is_random(function: Any, given: Mapping[str, Any]) -> bool:
    """Whether an operator draws numbers. Dropout with the probability 0 and outside of training does not."""
    if torch_module().Tag.nondeterministic_seeded not in function.tags:
        return False
    names = {each.name: given.get(each.name, each.default_value) for each in function._schema.arguments}
    if names.get("train", True) is False or names.get("training", True) is False:
        return False
    certain = (0, 1) if "bernoulli" in str(function) else (0,)
    chance = next((names[name] for name in ("dropout_p", "dropout", "p") if name in names), None)
    return chance not in certain


def _tensors(model: Any) -> dict[int, str]:
    return {
        id(value): name
        for name, value in _attributes(model).items()
        if isinstance(value, torch_module().Tensor)
    }


def _attributes(model: Any) -> dict[str, Any]:
    """Parameters, buffers and all other attributes that are tensors or numbers, by their dotted names."""
    found: dict[str, Any] = {}
    for prefix, module in model.named_modules():
        own = {**vars(module), **module._parameters, **module._buffers}
        for name, value in own.items():
            if isinstance(value, (torch_module().Tensor, int, float)):
                found[f"{prefix}.{name}" if prefix else name] = value
    return found


def _is_other(before: Any, after: Any) -> bool:
    if isinstance(after, torch_module().Tensor):
        return after is not before
    return bool(after != before)
