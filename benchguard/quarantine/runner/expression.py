"""The small language of launch directives: arithmetic over a case's sizes, exact, and never Python's eval."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from ...problem.spec import Buffer

LENGTH_MAX = 1000
_LIMIT = 1 << 64
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "ceil": math.ceil,
    "floor": math.floor,
    "min": min,
    "max": max,
    "cdiv": lambda number, by: -(-number // by),
}
_OF_BUFFERS: dict[str, Callable[[Buffer], Any]] = {
    "size": lambda buffer: math.prod(buffer.shape),
    "bytes": lambda buffer: buffer.bytes,
    "ndim": lambda buffer: len(buffer.shape),
    "shape": lambda buffer: buffer.shape,
}

Names = Mapping[str, "Buffer | int | float"]


class ExpressionError(Exception):
    """What is wrong with it, for a line of text that says where."""


def evaluate(text: str, names: Names) -> tuple[int, ...] | int:
    """The value of an expression: a whole number, or a tuple of them.

    Known are + - * / // %, ceil, floor, min, max, cdiv(a, b), the scalars of `names`, and of its buffers .size (in
    elements), .bytes, .ndim and .shape[i]. Division is exact. Raises ExpressionError.
    """
    if len(text) > LENGTH_MAX:
        raise ExpressionError(f"it is longer than {LENGTH_MAX} characters")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        if isinstance(tree, ast.Tuple):
            return tuple(_whole(_number(each, names)) for each in tree.elts)
        return _whole(_number(tree, names))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ExpressionError("it is no expression") from error
    except OverflowError as error:
        raise ExpressionError("a number in it is too large") from error
    except ZeroDivisionError as error:
        raise ExpressionError("it divides by 0") from error
    except TypeError as error:
        raise ExpressionError(f"it has a value of the wrong kind: {error}") from error


def _number(node: ast.expr, names: Names) -> Fraction:
    value = _value(node, names)
    if isinstance(value, (tuple, Buffer)):
        raise ExpressionError("a buffer or a shape is no number; write x.size or x.shape[0]")
    number = Fraction(value)
    if abs(number) >= _LIMIT or number.denominator >= _LIMIT:
        raise ExpressionError("a number in it is too large")
    return number


def _value(node: ast.expr, names: Names) -> Any:
    """A number, a buffer or its shape."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value
    if isinstance(node, ast.Name):
        if node.id not in names:
            raise ExpressionError(f"there is no {node.id}; there are {', '.join(names)}")
        return names[node.id]
    if isinstance(node, ast.Attribute) and node.attr in _OF_BUFFERS:
        buffer = _value(node.value, names)
        if not isinstance(buffer, Buffer):
            raise ExpressionError(f".{node.attr} is of buffers alone")
        return _OF_BUFFERS[node.attr](buffer)
    if isinstance(node, ast.Subscript):
        return _element(node, names)
    return _computed(node, names)


def _computed(node: ast.expr, names: Names) -> Any:
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        return _BINARY[type(node.op)](_number(node.left, names), _number(node.right, names))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_number(node.operand, names)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        function = _FUNCTIONS.get(node.func.id)
        if function is not None:
            return function(*(_number(each, names) for each in node.args))
    known = "arithmetic, ceil, floor, min, max, cdiv"
    raise ExpressionError(f"{ast.unparse(node)[:80]!r} is not known here; write {known}")


def _element(node: ast.Subscript, names: Names) -> Any:
    shape, index = _value(node.value, names), _whole(_number(node.slice, names))
    if not isinstance(shape, tuple) or not -len(shape) <= index < len(shape):
        raise ExpressionError(f"{ast.unparse(node)[:80]!r} is no extent")
    return shape[index]


def _whole(number: Fraction) -> int:
    if number.denominator != 1:
        raise ExpressionError(f"{float(number)} is no whole number; write ceil(...)")
    return number.numerator
