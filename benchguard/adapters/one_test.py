"""Draw one of the tests that a challenge makes all at once, without the numbers of the others.

A function that makes a list of tests makes their tensors by calls such as torch.rand. origins() numbers these calls,
and finds those that each test needs. In one_test(), the other calls give tensors of torch's device "meta", which have
a shape and no memory; computing with these costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..problem.arrays import is_torch
from ..problem.dispatch import function_mode

FACTORIES = frozenset(
    {
        "arange",
        "empty",
        "eye",
        "full",
        "linspace",
        "ones",
        "rand",
        "randint",
        "randn",
        "randperm",
        "tensor",
        "zeros",
    }
)
"""Functions of torch that make a tensor on a device. Tensors of others are made in any case."""

Generate = Callable[[], Sequence[Mapping[str, Any]]]


def origins(generate: Generate) -> list[frozenset[int]]:
    """The numbers of the calls that each test needs."""
    sources: dict[int, frozenset[int]] = {}
    kept: list[Any] = []  # so that no two tensors have the same id
    count = 0

    def call(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        nonlocal count
        given = [*_tensors(args), *_tensors(kwargs)]
        found = frozenset[int]().union(*(sources.get(id(each), ()) for each in given))
        if _is_factory(function, given):
            found, count = found | {count}, count + 1
        made = function(*args, **kwargs)
        changed = given if _changes(function, kwargs) else []
        for each in (*changed, *_tensors(made)):
            sources[id(each)] = sources.get(id(each), frozenset()) | found
            kept.append(each)
        return made

    with function_mode(call):
        tests = generate()
    return [frozenset[int]().union(*(sources.get(id(each), ()) for each in _tensors(test))) for test in tests]


def one_test(generate: Generate, number: int, needed: frozenset[int]) -> Mapping[str, Any]:
    """The test of this number. All are drawn if its own calls do not suffice: if numbers of others decide something."""
    count = 0

    def call(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        nonlocal count
        if _is_factory(function, [*_tensors(args), *_tensors(kwargs)]):
            if count not in needed:
                kwargs = {**kwargs, "device": "meta"}
            count += 1
        return function(*args, **kwargs)

    try:
        with function_mode(call):
            test = generate()[number]
    except Exception:  # whatever torch and the challenge raise where a tensor has no numbers
        return generate()[number]
    return generate()[number] if any(each.is_meta for each in _tensors(test)) else test


def _is_factory(function: Any, given: Sequence[Any]) -> bool:
    return not given and getattr(function, "__name__", "") in FACTORIES


def _changes(function: Any, kwargs: Mapping[str, Any]) -> bool:
    """Whether a call writes to a tensor that it is given."""
    name = str(getattr(function, "__name__", ""))
    return "out" in kwargs or name == "__setitem__" or (name.endswith("_") and not name.endswith("__"))


def _tensors(value: Any) -> Iterator[Any]:
    if is_torch(value):
        yield value
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _tensors(each)
    elif isinstance(value, Mapping):
        yield from _tensors(list(value.values()))
