"""Results that are in an input's memory, and were right there before the call.

A problem's answer may be its input: max(x, 0) of numbers between 0 and 1. So may what a problem's own check accepts, or
a tolerance that is wide for a set. A call that returns this input, or a view of it, is right without any work. Results
that the reference itself puts into the input do not count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..ipc.shared_memory import Bytes
from ..problem.spec import Buffer, CaseSpec, Form, Returned
from .arrays import elements_of, flat_copy
from .formats import Array

MemoryOf = Callable[[int, str], Bytes]
"""The bytes of an input of a set, by the number of the set and the name of the input."""

IsRight = Callable[[int, Buffer, Form, Array], bool]
"""Whether elements, flat and in the form of a result, are right for a buffer of a set."""


def unchanged_reason(
    spec: CaseSpec, returned: Returned | None, known: Sequence[int], memory_of: MemoryOf, is_right: IsRight
) -> str:
    """Why nothing shows that the call computed a result; empty if its outputs show it.

    `returned`: None for a case without `returns`. `known` are the sets whose inputs and answers are in memory.
    """
    if returned is None or spec.returns is None or not known:
        return ""
    read = {each.name for each in spec.read}
    for form, own, buffer in zip(returned.results, spec.returns.results, spec.checked, strict=True):
        if form.buffer not in read or form.buffer == own.buffer:
            continue
        if all(is_right(each, buffer, form, _before(form, memory_of(each, form.buffer))) for each in known):
            return (
                f"{buffer.name} is in the memory of {form.buffer}, and the right answer is there before the call "
                "in all input sets, so nothing shows that the call computes it; return other memory"
            )
    return ""


def _before(form: Form, memory: Bytes) -> Array:
    """The elements of a result in an input's memory."""
    return flat_copy(elements_of(form.view, memory[form.offset : form.offset + form.view.bytes]))
