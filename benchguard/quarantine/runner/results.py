"""Find the memory and the form of results of any structure that a call returned (problem/returned.py)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...problem.returned import result_name, results_of
from ...problem.spec import ELEMENT_BYTES, Buffer, CaseSpec, DType, Form, Returned
from ...problem.tree import VIEWS, Leaf, Node, Splitter, TreeError, Value
from ...region import Memory, interface_of
from .arrays import DeviceArray, packed
from .reporting import SubmissionError
from .returned import GpuArray, array_of, check_kind, is_same_bits, on_host


@dataclass(frozen=True)
class Results:
    """`memory` has the ranges of results outside of the inputs."""

    returned: Returned
    memory: dict[str, Memory]


def find_results(case: CaseSpec, given: Mapping[str, Memory], value: object) -> Results:
    """The results of a call; if it returned None, they are in the memory that it was given. Raises SubmissionError."""
    assert case.returns is not None
    wanted = results_of(case)
    if value is None:
        tree = case.returns.tree
        arrays = [_given_array(form, given) for form in case.returns.results]
    else:
        tree, arrays = _taken_apart(value, wanted)
        if case.exact:
            for buffer, array in zip(wanted, arrays, strict=True):
                check_kind(buffer, array)
    return _located(case, given, tree, arrays)


def _given_array(form: Form, given: Mapping[str, Memory]) -> GpuArray:
    strides = packed(form.shape) if form.strides is None else form.strides
    return GpuArray(given[form.buffer].address, form.dtype, ELEMENT_BYTES[form.dtype], form.shape, strides)


def _taken_apart(value: object, wanted: Sequence[Buffer]) -> tuple[Node, list[GpuArray]]:
    arrays: list[GpuArray] = []

    def leaf(path: str, each: Any) -> Leaf | None:
        if not _is_array(each):
            return None
        name = result_name(len(arrays))
        array = array_of(f"the result{path}", each)
        kind, view = _dtype(array, wanted[len(arrays)] if len(arrays) < len(wanted) else None, path)
        arrays.append(GpuArray(array.address, kind, array.item_bytes, array.shape, array.strides))
        return Leaf(name, view)

    try:
        tree = Splitter(leaf, sort=True).split(value)
    except TreeError as error:
        raise SubmissionError(f"in the returned value, {error}; return tensors") from error
    if len(arrays) < len(wanted) and (number := _number_in(tree)) is not None:
        raise on_host("the result", number)
    if len(arrays) != len(wanted):
        raise SubmissionError(f"the call returned {len(arrays)} tensors; the reference returns {len(wanted)}")
    return tree, arrays


def _is_array(value: object) -> bool:
    if isinstance(value, DeviceArray) or any(
        hasattr(value, name) for name in ("data_ptr", "__array_interface__")
    ):
        return True
    return interface_of(value) is not None


def _dtype(array: GpuArray, wanted: Buffer | None, path: str) -> tuple[DType, str]:
    """A buffer's dtype for an array, and the view that restores the array's own dtype."""
    if wanted is not None and is_same_bits(wanted, array):
        return wanted.dtype, ""
    for name in ELEMENT_BYTES:
        if array.kind == name:
            return name, ""
    if array.kind in VIEWS:
        return "uint8", array.kind
    raise SubmissionError(f"the result{path} has dtype {array.kind}, which no buffer can have")


def _number_in(node: Node) -> object | None:
    if isinstance(node, Value):
        return node.value if isinstance(node.value, (int, float)) else None
    found = (_number_in(each) for each in getattr(node, "items", ()))
    return next((each for each in found if each is not None), None)


def _located(case: CaseSpec, given: Mapping[str, Memory], tree: Node, arrays: Sequence[GpuArray]) -> Results:
    """Name the memory of each array: an input's, or a range of its own, which overlapping arrays share."""
    places: dict[int, tuple[str, int]] = {}
    memory: dict[str, Memory] = {}
    free = []
    for number, array in enumerate(arrays):
        source = _input_of(case, given, array, number)
        if source is not None:
            places[number] = (source, given[source].address)
        elif array.bytes:
            free.append(number)
        else:
            places[number] = (result_name(number), array.address)
            memory[result_name(number)] = Memory(array.address, 0, "uint8", (0,))
    end, name = 0, ""
    for number in sorted(free, key=lambda each: arrays[each].address):
        array = arrays[number]
        if array.address >= end:
            name = result_name(number)
            memory[name] = Memory(array.address, array.bytes, "uint8", (array.bytes,))
        start = memory[name].address
        end = max(end, array.address + array.bytes)
        memory[name] = Memory(start, end - start, "uint8", (end - start,))
        places[number] = (name, start)
    forms = tuple(_form(array, *places[number]) for number, array in enumerate(arrays))
    return Results(Returned(tree, forms, {name: each.bytes for name, each in memory.items()}), memory)


def _input_of(case: CaseSpec, given: Mapping[str, Memory], array: GpuArray, number: int) -> str | None:
    """The input whose memory holds the array. Raises SubmissionError if only a part of the array is in it."""
    for buffer in case.read:
        place = given[buffer.name]
        end = place.address + place.bytes
        if array.bytes and array.address < end and place.address < array.address + array.bytes:
            if place.address <= array.address and array.address + array.bytes <= end:
                return buffer.name
            raise SubmissionError(f"{result_name(number)} is only partly in the memory of {buffer.name}")
    return None


def _form(array: GpuArray, buffer: str, start: int) -> Form:
    contiguous = all(
        step == dense or extent == 1
        for step, dense, extent in zip(array.strides, packed(array.shape), array.shape, strict=True)
    )
    strides = None if contiguous or 0 in array.shape else array.strides
    return Form(buffer, array.kind, array.shape, strides, array.address - start)  # type: ignore[arg-type]
