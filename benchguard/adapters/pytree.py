"""Take a task's values apart into a tree and named tensors, and put them together again.

Tensors of a dtype that a buffer cannot have are stored as uint8 if their elements have one byte (float4_e2m1fn_x2).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..problem.arrays import Array, dtype_of, is_torch, shape_of, to_torch
from ..problem.spec import Buffer
from ..problem.tree import VIEWS, Leaf, Node, Splitter, TreeError, build
from .host import torch_module

NAME_MAX = 64


@dataclass(frozen=True)
class Parts:
    """`tensors` by name, in order, as buffers store them."""

    tree: Node
    tensors: dict[str, Array]

    @property
    def described(self) -> str:
        """The properties that must not depend on the seed, besides the tree."""
        return ", ".join(f"{dtype_of(each)}{list(shape_of(each))}" for each in self.tensors.values())


def take_apart(
    value: Any, name_of: Callable[[int, str], str], device: str = "cpu", *, sort: bool = False
) -> Parts:
    """`name_of` gets a tensor's number and path, and returns a name. Raises TreeError."""
    tensors: dict[str, Array] = {}
    known: dict[int, Leaf] = {}  # a tensor that occurs twice is one leaf

    def leaf(path: str, each: Any) -> Leaf | None:
        if not is_torch(each):
            return None
        if id(each) not in known:
            name = name_of(len(tensors), path)
            name = f"{name[: NAME_MAX - 4]}_{len(tensors)}" if name in tensors else name
            tensors[name], view = _stored(each, path)
            known[id(each)] = Leaf(name, view, _kind(each, device))
        return known[id(each)]

    return Parts(Splitter(leaf, sort).split(value), tensors)


def put_together(tree: Node, tensors: Mapping[str, Array]) -> Any:
    """The value of a tree with the named tensors."""
    torch = torch_module()

    def leaf(each: Leaf) -> Any:
        tensor = tensors[each.name]
        tensor = tensor.view(getattr(torch, each.view)) if each.view else tensor
        if each.kind == "host":
            return tensor.cpu()
        return torch.nn.Parameter(tensor, requires_grad=False) if each.kind == "parameter" else tensor

    return build(tree, leaf)


def laid_out(array: Array, buffer: Buffer, device: str) -> Array:
    """A copy of an array as a tensor with the buffer's strides."""
    tensor = to_torch(array, device)
    if buffer.strides is None or tensor.stride() == buffer.strides:
        return tensor
    made = torch_module().empty_strided(buffer.shape, buffer.strides, dtype=tensor.dtype, device=device)
    return made.copy_(tensor)


def name_of_path(number: int, path: str) -> str:
    """A buffer's name: "input0" for data[0], and for data that is one tensor; "input2_bias" for data[2]['bias']."""
    del number
    words = "_".join(re.findall(r"\w+", path)) or "0"
    return f"input{words}"[:NAME_MAX] if words[0].isdigit() else f"input_{words}"[:NAME_MAX]


def _kind(tensor: Array, device: str) -> Literal["tensor", "parameter", "host"]:
    if tensor.device.type != device:
        return "host"
    return "parameter" if isinstance(tensor, torch_module().nn.Parameter) else "tensor"


def _stored(tensor: Array, where: str) -> tuple[Array, str]:
    """The tensor as a buffer stores it, and the view that restores it."""
    if str(tensor.layout) != "torch.strided":
        raise TreeError(f"{where} is a sparse tensor")
    plain = tensor.detach()
    try:
        dtype_of(plain)
    except TypeError as error:
        name = str(plain.dtype).removeprefix("torch.")
        if name not in VIEWS:
            raise TreeError(f"{where} is {error}") from error
        return plain.view(torch_module().uint8), name
    return plain, ""
