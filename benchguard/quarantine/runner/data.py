"""Bind a submission's functions to data of any structure: tensors in tuples, lists and dictionaries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...problem.spec import CaseSpec
from ...problem.tree import Leaf, build
from .arrays import host_array, host_tensor, tensor_of, torch_in_use
from .entry import Call
from .memory import CaseMemory
from .reporting import SubmissionError

Function = Callable[..., object]


def bind_data(case: CaseSpec, memory: CaseMemory, find: Callable[[str], Function], entry: Function) -> Call:
    """A call of all functions of the case, with new containers each time. Several results are returned as a tuple.

    Tensors are torch's if torch finds a GPU, else DeviceArrays. Raises SubmissionError.
    """
    if not case.calls:
        raise SubmissionError(f"the problem's case {case.name} has no data; choose another convention")
    calls = [(find(each.function) if each.function else entry, each.arguments) for each in case.calls]
    torch = torch_in_use(memory.tensors)
    if torch is None:
        leaf = _array_maker(case, memory)
    else:
        torch.cuda.empty_cache()  # or memory of earlier cases would be in this case's capture
        leaf = _tensor_maker(torch, case, memory)

    def call() -> object:
        results = [function(*(build(each, leaf) for each in arguments)) for function, arguments in calls]
        return results[0] if len(results) == 1 else tuple(results)

    return call


def _array_maker(case: CaseSpec, memory: CaseMemory) -> Callable[[Leaf], Any]:
    buffers = {each.name: each for each in case.buffers}

    def leaf(each: Leaf) -> Any:
        if each.kind != "host":
            return memory.arrays[each.name]
        return host_array(memory.on_host(each.name), buffers[each.name])

    return leaf


def _tensor_maker(torch: Any, case: CaseSpec, memory: CaseMemory) -> Callable[[Leaf], Any]:
    buffers = {each.name: each for each in case.buffers}
    tensors = {name: tensor_of(torch, memory.arrays[name], each) for name, each in buffers.items()}

    def leaf(each: Leaf) -> Any:
        tensor = tensors[each.name]
        if each.kind == "host":  # read from the throw-away inputs, so nothing is copied from the device
            tensor = host_tensor(torch, memory.on_host(each.name), buffers[each.name])
        if each.view:
            tensor = tensor.view(getattr(torch, each.view))
        return torch.nn.Parameter(tensor, requires_grad=False) if each.kind == "parameter" else tensor

    return leaf
