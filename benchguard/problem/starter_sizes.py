"""Find how many elements each output has, as an expression over the scalar arguments, by trying all test cases."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from .spec import Buffer, CaseSpec

SCALARS_MAX = 10
FACTORS_MAX = 5


def output_sizes(cases: Sequence[CaseSpec]) -> dict[str, str]:
    """The number of elements of each checked buffer, by name; "1" where no product of scalars, and no
    part of one, fits all cases."""
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
    part = "1"
    for names in _products(scalars):
        products = [math.prod(_value(one, each) for one in names) for each in cases]
        ratios = {Fraction(size, each) for size, each in zip(elements, products, strict=True) if each}
        if len(ratios) != 1 or not all(products):
            continue
        factor, divisor = ratios.pop().as_integer_ratio()
        product = " * ".join(f"(size_t){each}" for each in names)
        if divisor == 1:
            return product if factor == 1 else f"(size_t){factor} * {product}"
        if factor == 1 and part == "1":
            part = f"{product} / {divisor}"
    return part


def _products(scalars: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The names of factors. A matrix of n * n elements has one twice; different names come first."""
    for count in range(1, FACTORS_MAX + 1):
        every = itertools.combinations_with_replacement(scalars, count)
        yield from sorted(every, key=lambda names: -len(set(names)))


def _elements(name: str, case: CaseSpec) -> int:
    return next(math.prod(each.shape) for each in case.buffers if each.name == name)


def _value(name: str, case: CaseSpec) -> int:
    return next(
        int(each.value) for each in case.arguments if not isinstance(each, Buffer) and each.name == name
    )
