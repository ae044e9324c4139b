"""Find how many elements each output has, as an expression over the arguments, by trying all test cases."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from .spec import Buffer, CaseSpec, Outline
from .starter import PRODUCT, Size

SCALARS_MAX = 10
FACTORS_MAX = 5


class Term(NamedTuple):
    """A factor of a size: an expression over the scalars `names`, with its values in each case."""

    text: str
    names: frozenset[str]
    values: tuple[int, ...]


def output_sizes(cases: Sequence[CaseSpec]) -> dict[str, Size]:
    """The number of elements of each checked buffer, by name; "1" where no product of scalars, sums and counts of
    windows, no part of a product of scalars, and no product of the lengths in an array fits all cases."""
    sizes = {}
    for each in cases[0].checked if cases else ():
        elements = [_elements(each.name, case) for case in cases]
        sizes[each.name] = _from_lengths(elements, cases) or Size(_size(elements, cases))
    return sizes


def _from_lengths(elements: Sequence[int], cases: Sequence[CaseSpec]) -> Size | None:
    """The product of the lengths in an array, without that of the dimension that a scalar names. None if there is no
    such array."""
    outlines = [each for each in cases if isinstance(each, Outline)]
    if len(set(elements)) == 1 or len(outlines) < len(cases):
        return None
    scalars = {name: [_value(name, each) for each in cases] for name in _integers(cases[0])}
    for array in outlines[0].lengths:
        lengths = [each.lengths[array] for each in outlines]
        counts = [len(each) for each in lengths]
        count = next((name for name, values in scalars.items() if values == counts), "")
        if not count and len(set(counts)) == 1:
            count = str(counts[0])
        products = {count: [math.prod(each) for each in lengths]}
        for name, places in scalars.items():
            if all(0 <= place < length for place, length in zip(places, counts, strict=True)):
                others = [
                    each[:place] + each[place + 1 :] for each, place in zip(lengths, places, strict=True)
                ]
                products[name] = [math.prod(each) for each in others]
        for without, values in products.items() if count else ():
            if values == list(elements):
                on_host = next(each.on_host for each in outlines[0].buffers if each.name == array)
                return Size(f"{PRODUCT}({array}, {count}, {without})", max(elements), on_host)
    return None


def _integers(case: CaseSpec) -> list[str]:
    """The names of integers that are passed by value."""
    return [
        each.name
        for each in case.arguments
        if not isinstance(each, Buffer) and isinstance(each.value, int) and not isinstance(each.value, bool)
    ][:SCALARS_MAX]


def _size(elements: Sequence[int], cases: Sequence[CaseSpec]) -> str:
    scalars = _integers(cases[0])
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
    if part != "1":
        return part
    values = {each: tuple(_value(each, case) for case in cases) for each in scalars}
    scalar_terms = [Term(f"(size_t){name}", frozenset((name,)), numbers) for name, numbers in values.items()]
    terms = [
        each
        for each in (*scalar_terms, *_sums_and_windows(values))
        if max(each.values) > 1 and _quotients(elements, each.values)
    ]
    for apart in (True, False):
        for count in range(1, FACTORS_MAX + 1):
            if found := _factors(tuple(elements), terms, count, apart):
                return " * ".join(found)
    return part


def _sums_and_windows(values: Mapping[str, tuple[int, ...]]) -> Iterator[Term]:
    """Sums, which a merge and a product of polynomials have, and numbers of windows: a convolution's, a pooling's."""

    def term(text: str, *names: str, padding: str = "", stride: str = "", dilation: str = "") -> Term:
        extent, window = names
        none, one = ((number,) * len(values[extent]) for number in (0, 1))
        numbers = zip(
            values[extent], values[window], values.get(padding, none), values.get(stride, one),
            values.get(dilation, one), strict=True,
        )  # fmt: skip
        places = tuple((e + 2 * p - d * (w - 1) - 1) // s + 1 if s > 0 else 0 for e, w, p, s, d in numbers)
        return Term(text, frozenset((*names, padding, stride, dilation)) - {""}, places)

    for e, w in itertools.permutations(values, 2):
        yield term(f"((size_t){e} - {w} + 1)", e, w)
    for e, w in itertools.combinations_with_replacement(values, 2):
        sums = tuple(map(sum, zip(values[e], values[w], strict=True)))
        yield Term(f"((size_t){e} + {w})", frozenset((e, w)), sums)
        yield Term(f"((size_t){e} + {w} - 1)", frozenset((e, w)), tuple(each - 1 for each in sums))
    for e, numbers in values.items():
        yield Term(f"((size_t){e} + 1)", frozenset((e,)), tuple(each + 1 for each in numbers))
    for e, p, w, s in itertools.permutations(values, 4):
        yield term(f"(((size_t){e} + 2 * {p} - {w}) / {s} + 1)", e, w, padding=p, stride=s)
    for e, p, d, w, s in itertools.permutations(values, 5):
        text = f"(((size_t){e} + 2 * {p} - {d} * ({w} - 1) - 1) / {s} + 1)"
        yield term(text, e, w, padding=p, stride=s, dilation=d)


def _factors(elements: Sequence[int], terms: Sequence[Term], count: int, apart: bool) -> list[str]:
    """`count` terms whose products are the elements of all cases, or nothing. `apart`: no scalar is in two of them."""
    for place, term in enumerate(terms):
        rest = _quotients(elements, term.values)
        if not rest:
            continue
        if count == 1 and max(rest) == 1:
            return [term.text]
        others = [each for each in terms[place:] if not apart or not each.names & term.names]
        if count > 1 and (found := _factors(rest, others, count - 1, apart)):
            return [term.text, *found]
    return []


def _quotients(numbers: Sequence[int], divisors: Sequence[int]) -> tuple[int, ...]:
    """Empty if one is not whole."""
    pairs = list(zip(numbers, divisors, strict=True))
    if any(divisor < 1 or number % divisor for number, divisor in pairs):
        return ()
    return tuple(number // divisor for number, divisor in pairs)


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
