"""Check what a submission's call returned, which the submission's process reports, and derive the case to replay.

A submission may return results in any memory, shape, dtype and strides that the problem's own check accepts. Two
properties are fixed: the number of tensors, and the number of elements of each. Without the second, an empty tensor
would pass a check that broadcasts. Without a check of the problem's own (`exact`), dtype and shape are fixed too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec

from .spec import ELEMENT_BYTES, Argument, Buffer, CaseSpec, Form, Returned, overlaps_itself
from .tree import VIEWS, leaves, oversize

SPARE = 64
"""A result's memory may be larger than its elements by this factor, for strides with gaps."""

SPARE_BYTES = 1 << 20


class ReturnedError(ValueError):
    """A result that cannot be checked. The message is for the submission's author."""


def result_name(number: int) -> str:
    return f"result{number}"


def replayed_case(spec: CaseSpec, returned: Returned) -> CaseSpec:
    """The case with the buffers that the results are in. Raises ReturnedError."""
    wanted = results_of(spec)
    _check_structure(returned, wanted)
    if spec.exact and any(leaf.view for leaf in leaves(returned.tree)):
        raise ReturnedError("a result has a dtype that the problem does not want")
    held = {each.name: each.bytes for each in spec.read}
    for name, size in returned.memory.items():
        if name not in {each.name for each in wanted}:
            raise ReturnedError(f"the call returned memory {name!r}, which the case does not have")
        if size > SPARE_BYTES + SPARE * sum(each.bytes for each in wanted):
            raise ReturnedError(
                f"the call returned strides that span {size} bytes; return a contiguous tensor"
            )
        held[name] = size
    for form, buffer in zip(returned.results, wanted, strict=True):
        _check_form(form, buffer, held)
        if spec.exact:
            _check_exact(form, buffer)
    written = {form.buffer for form in returned.results}
    arguments: list[Argument] = [
        msgspec.structs.replace(each, role="inout") if each.name in written else each for each in spec.read
    ]
    arguments += [Buffer(name, "uint8", (size,), "output") for name, size in returned.memory.items()]
    return msgspec.structs.replace(spec, arguments=tuple(arguments))


def replayed_cases(specs: Sequence[CaseSpec], returned: Mapping[int, Returned]) -> tuple[CaseSpec, ...]:
    """The cases with the results' memory, in place of each case with `returns`. Raises ReturnedError."""
    cases = []
    for number, spec in enumerate(specs):
        if spec.returns is None:
            cases.append(spec)
            continue
        if number not in returned:
            raise ReturnedError(f"case {spec.name}: the submission's process did not report its results")
        try:
            cases.append(replayed_case(spec, returned[number]))
        except ReturnedError as error:
            raise ReturnedError(f"case {spec.name}: {error}") from error
    return tuple(cases)


def results_of(spec: CaseSpec) -> tuple[Buffer, ...]:
    """A buffer for each tensor that the reference returns, with the reference's dtype and shape."""
    return tuple(each for each in spec.buffers if each.role == "output")


def _check_structure(returned: Returned, wanted: Sequence[Buffer]) -> None:
    fault = oversize(returned.tree)
    if fault:
        raise ReturnedError(f"the returned value {fault}")
    found = list(leaves(returned.tree))
    if len(returned.results) != len(wanted) or len(found) != len(wanted):
        raise ReturnedError(
            f"the call returned {len(returned.results)} tensors; the reference returns {len(wanted)}"
        )
    names = [each.name for each in wanted]
    if [each.name for each in found] != names or any(each.kind != "tensor" for each in found):
        raise ReturnedError("the returned tensors are not named in order")
    for leaf, form in zip(found, returned.results, strict=True):
        if leaf.view not in VIEWS or (leaf.view and form.dtype != "uint8"):
            raise ReturnedError(f"{leaf.name} has the dtype {leaf.view}, which is not supported")


def _check_exact(form: Form, buffer: Buffer) -> None:
    """Raises ReturnedError for another dtype or shape than the reference's."""
    if form.dtype != buffer.dtype:
        raise ReturnedError(f"{buffer.name} was returned as {form.dtype}; the problem wants {buffer.dtype}")
    if form.shape != buffer.shape:
        raise ReturnedError(
            f"{buffer.name} was returned with shape {form.shape}; the problem wants {buffer.shape}"
        )


def _check_form(form: Form, buffer: Buffer, held: dict[str, int]) -> None:
    count = math.prod(form.shape)
    if count != math.prod(buffer.shape):
        raise ReturnedError(
            f"{buffer.name} was returned with shape {list(form.shape)}; the reference's has {list(buffer.shape)}"
        )
    size = ELEMENT_BYTES[form.dtype]
    if form.strides is not None:
        if len(form.strides) != len(form.shape):
            raise ReturnedError(
                f"{buffer.name} has {len(form.strides)} strides for {len(form.shape)} extents"
            )
        if count and overlaps_itself(form.shape, form.strides):
            raise ReturnedError(
                f"two elements of {buffer.name} share memory (strides {form.strides}); return a contiguous tensor"
            )
    if count and (form.buffer not in held or form.offset % size):
        raise ReturnedError(
            f"{buffer.name} is in memory {form.buffer!r} at byte {form.offset}, which is invalid"
        )
    if count and form.offset + form.view.bytes > held[form.buffer]:
        raise ReturnedError(f"{buffer.name} ends beyond its memory {form.buffer!r}")
