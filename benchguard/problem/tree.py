"""The structure of values that a call takes or returns: containers, numbers and text, with tensors by name.

A tree is data, so it travels between processes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta

NODES_MAX = 4096
DEPTH_MAX = 16

VIEWS = ("", "float4_e2m1fn_x2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu")
"""torch's dtypes of one byte that a buffer stores as uint8; empty: the buffer's own dtype."""

Text: TypeAlias = Annotated[str, Meta(max_length=4096)]
Key: TypeAlias = bool | int | float | Text | None


class Leaf(msgspec.Struct, frozen=True, tag_field="node", tag="leaf"):
    """A tensor. `view` is one of VIEWS."""

    name: Text
    view: Text = ""
    kind: Literal["tensor", "parameter", "host"] = "tensor"
    """A tensor on the device, a torch.nn.Parameter, or a tensor in the host's memory."""


class Value(msgspec.Struct, frozen=True, tag_field="node", tag="value"):
    value: Key


class Items(msgspec.Struct, frozen=True, tag_field="node", tag="items"):
    kind: Literal["tuple", "list"]
    items: tuple[Node, ...]


class Entries(msgspec.Struct, frozen=True, tag_field="node", tag="entries"):
    """A dictionary."""

    keys: tuple[Key, ...]
    items: tuple[Node, ...]


Node: TypeAlias = Leaf | Value | Items | Entries


class TreeError(ValueError):
    """A value that has no tree. The message is a part of a sentence: "data[2] is a generator"."""


@dataclass(frozen=True)
class Splitter:
    """Makes trees. `leaf` returns the leaf of a tensor at a path such as "[2]['bias']", and None for other values.

    `sort`: visit the entries of dictionaries by key, so that dictionaries with equal keys have tensors in equal order.
    """

    leaf: Callable[[str, Any], Leaf | None]
    sort: bool = False

    def split(self, value: Any, path: str = "", depth: int = 0) -> Node:
        """The tree of a value. Raises TreeError."""
        if depth > DEPTH_MAX:
            raise TreeError(f"{path} is nested more than {DEPTH_MAX} deep")
        found = self.leaf(path, value)
        if found is not None:
            return found
        if isinstance(value, (tuple, list)):
            items = [self.split(each, f"{path}[{number}]", depth + 1) for number, each in enumerate(value)]
            return Items("tuple" if isinstance(value, tuple) else "list", tuple(items))
        if isinstance(value, dict):
            keys = list(value)
            for key in keys:
                _check_plain(key, f"a key of {path or 'the value'}")
            if self.sort:
                keys.sort(key=lambda key: (type(key).__name__, str(key)))
            items = [self.split(value[key], f"{path}[{key!r}]", depth + 1) for key in keys]
            return Entries(tuple(keys), tuple(items))
        _check_plain(value, path or "it")
        return Value(value)


def build(node: Node, leaf: Callable[[Leaf], Any]) -> Any:
    """The value of a tree, with new containers."""
    if isinstance(node, Leaf):
        return leaf(node)
    if isinstance(node, Value):
        return node.value
    values = [build(each, leaf) for each in node.items]
    if isinstance(node, Entries):
        return dict(zip(node.keys, values, strict=True))
    return tuple(values) if node.kind == "tuple" else values


def leaves(node: Node) -> Iterator[Leaf]:
    """The leaves in order."""
    if isinstance(node, Leaf):
        yield node
    elif isinstance(node, (Items, Entries)):
        for each in node.items:
            yield from leaves(each)


def oversize(node: Node) -> str:
    """Why a tree that a submission sent cannot be built; empty if it can."""
    pending = [(node, 0)]
    count = 0
    while pending:
        each, depth = pending.pop()
        count += 1
        if count > NODES_MAX or depth > DEPTH_MAX:
            return f"has more than {NODES_MAX} values, or is nested more than {DEPTH_MAX} deep"
        if isinstance(each, Entries) and len(each.keys) != len(each.items):
            return "has a dictionary with different numbers of keys and values"
        if isinstance(each, Entries) and len(set(each.keys)) != len(each.keys):
            return "has a dictionary with a key twice"  # build() would drop the first value, and no check would see it
        if isinstance(each, (Items, Entries)):
            pending += [(item, depth + 1) for item in each.items]
    return ""


def _check_plain(value: object, where: str) -> None:
    if value is not None and type(value) not in (bool, int, float, str):
        raise TreeError(f"{where} is a {type(value).__name__}")
    if isinstance(value, float) and not math.isfinite(value):
        raise TreeError(f"{where} is {value}, which JSON cannot hold")
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise TreeError(f"{where} is {value}, which does not fit in 64 bits")
