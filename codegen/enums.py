"""The enums of a header: the number of each enumerator."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

from pycparser import c_ast

from .errors import CodegenError

_BINARY: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "|": operator.or_,
    "&": operator.and_,
    "<<": operator.lshift,
    ">>": operator.rshift,
}
_UNARY: dict[str, Callable[[int], int]] = {"-": operator.neg, "~": operator.invert, "+": operator.pos}


class Enums:
    """The enums of one translation unit, by the name that a typedef or a tag gives them."""

    def __init__(self) -> None:
        self.by_name: dict[str, dict[str, int]] = {}
        self._known: dict[str, int] = {}

    def read(self, node: Any) -> None:
        """Read a declaration of the translation unit, which may define an enum."""
        kind = node.type
        while isinstance(kind, c_ast.TypeDecl):
            kind = kind.type
        if not isinstance(kind, c_ast.Enum):
            return
        tag = f"enum {kind.name}"
        if kind.values is not None:
            self.by_name[tag] = self._members(kind.values.enumerators)
        if isinstance(node, c_ast.Typedef) and tag in self.by_name:
            self.by_name[node.name] = self.by_name[tag]

    def _members(self, enumerators: Any) -> dict[str, int]:
        members: dict[str, int] = {}
        following = 0
        for each in enumerators:
            number = following if each.value is None else _number(each.value, self._known)
            members[each.name] = self._known[each.name] = number
            following = number + 1
        return members


def _number(node: Any, known: Mapping[str, int]) -> int:
    """The value of a constant expression. Raises CodegenError."""
    if isinstance(node, c_ast.Constant):
        return int(node.value.rstrip("uUlL"), 0)
    if isinstance(node, c_ast.ID) and node.name in known:
        return known[node.name]
    if isinstance(node, c_ast.Cast):
        return _number(node.expr, known)
    if isinstance(node, c_ast.UnaryOp) and node.op in _UNARY:
        return _UNARY[node.op](_number(node.expr, known))
    if isinstance(node, c_ast.BinaryOp) and node.op in _BINARY:
        return _BINARY[node.op](_number(node.left, known), _number(node.right, known))
    raise CodegenError(f"{node.coord}: not a constant expression")
