"""Results that are in an input's memory, and were right there before the call.

A problem's answer may be its input: max(x, 0) of numbers between 0 and 1. A call that returns this input, or a view of
it, is right without any work. Results that the reference itself puts into the input do not count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..ipc.shared_memory import Bytes
from ..problem.spec import Buffer, CaseSpec, Form, Returned, Tolerance
from .arrays import elements_of
from .compare import compare
from .formats import Array
from .reference import Expected

MemoryOf = Callable[[int, str], Bytes]
"""The bytes of an input of a set, by the number of the set and the name of the input."""


def unchanged_reason(
    spec: CaseSpec,
    tolerances: Mapping[str, Tolerance],
    returned: Returned | None,
    expected: Sequence[Expected],
    memory_of: MemoryOf,
) -> str:
    """Why nothing shows that the call computed a result; empty if its outputs show it.

    `returned`: None for a case without `returns`. `expected` has the expected outputs of each set, which are empty for
    sets that are not in memory.
    """
    if returned is None or spec.returns is None:
        return ""
    known = [number for number, each in enumerate(expected) if each]
    read = {each.name for each in spec.read}
    for form, own, buffer in zip(returned.results, spec.returns.results, spec.checked, strict=True):
        if form.buffer not in read or form.buffer == own.buffer:
            continue
        if known and all(
            _is_right_before(
                form,
                buffer,
                memory_of(number, form.buffer),
                expected[number][buffer.name],
                tolerances[buffer.name],
            )
            for number in known
        ):
            return (
                f"{buffer.name} is in the memory of {form.buffer}, and the right answer is there before the call "
                "in all input sets, so nothing shows that the call computes it; return other memory"
            )
    return ""


def _is_right_before(
    form: Form, buffer: Buffer, memory: Bytes, expected: Array, tolerance: Tolerance
) -> bool:
    """Whether an input's memory has the right answer, in the form of the result, before the call."""
    view = form.view
    stored = elements_of(view, memory[form.offset : form.offset + view.bytes]).reshape(-1)
    if form.dtype != buffer.dtype or stored.shape != expected.shape:
        return False
    return not compare(stored, expected, buffer.dtype, tolerance).wrong
