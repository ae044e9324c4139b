"""Find how many elements each output has, as an expression over the scalar arguments, by trying all test cases."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from .spec import Buffer, CaseSpec

SCALARS_MAX = 10
FACTORS_MAX = 5


def output_sizes(cases: Sequence[CaseSpec]) -> dict[str, str]:
    """The number of elements of each checked buffer, by name; "1" where no product of scalars fits all cases."""
    return {each.name: _size(each.name, cases) for each in cases[0].checked} if cases else {}


def _size(name: str, cases: Sequence[CaseSpec]) -> str:
    elements = [_elements(name, each) for each in cases]
    scalars = [
        each.name
        for each in cases[0].arguments
        if not isinstance(each, Buffer) and isinstance(each.value, int) and not isinstance(each.value, bool)
    ][:SCALARS_MAX]
    if len(set(elements)) == 1:
        return str(elements[0])
    for count in range(1, FACTORS_MAX + 1):
        for names in _factors(scalars, count):
            products = [math.prod(_value(one, each) for one in names) for each in cases]
            if all(products) and all(
                size % product == 0 for size, product in zip(elements, products, strict=True)
            ):
                factors = {size // product for size, product in zip(elements, products, strict=True)}
                if len(factors) == 1:
                    factor = factors.pop()
                    constant = [f"(size_t){factor}"] if factor != 1 else []
                    return " * ".join([*constant, *(f"(size_t){each}" for each in names)])
    return "1"


def _factors(scalars: Sequence[str], count: int) -> list[tuple[str, ...]]:
    """The names of `count` factors. A matrix of n * n elements has one twice; different names come first."""
    every = itertools.combinations_with_replacement(scalars, count)
    return sorted(every, key=lambda names: count - len(set(names)))


def _elements(name: str, case: CaseSpec) -> int:
    return next(math.prod(each.shape) for each in case.buffers if each.name == name)


def _value(name: str, case: CaseSpec) -> int:
    return next(
        int(each.value) for each in case.arguments if not isinstance(each, Buffer) and each.name == name
    )
