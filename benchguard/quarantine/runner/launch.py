"""Launch shape of a kernel without host code, which a comment in its first lines gives.

// launch: grid=(ceil(n/256), 1, 1) block=256 shared=0

Values are exact arithmetic over a case's sizes, parsed with ast and never passed to Python's eval.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ...problem.spec import Buffer, CaseSpec
from .reporting import SubmissionError

THREADS = 256
_KEY = re.compile(r"\b(grid|block|shared)\s*=(?!=)")
_EXTENT_MAX = (1 << 31) - 1

Extents = tuple[int, int, int]


@dataclass(frozen=True)
class LaunchShape:
    grid: Extents
    block: Extents
    shared: int
    """Dynamic shared memory in bytes."""


def shape_of(directive: str | None, case: CaseSpec) -> LaunchShape:
    """The launch shape for a case. Default: 256 threads per block, one thread per element of the first output.

    Raises SubmissionError.
    """
    settings = _settings_of(directive or "")
    names: dict[str, Buffer | int | float] = {
        each.name: each if isinstance(each, Buffer) else each.value for each in case.arguments
    }
    block = _extents("block", settings.get("block", str(THREADS)), names)
    if "grid" in settings:
        grid = _extents("grid", settings["grid"], names)
    else:
        elements = next((math.prod(each.shape) for each in case.checked), 1)
        grid = (max(1, -(-elements // math.prod(block))), 1, 1)
    shared = _extents("shared", settings.get("shared", "0"), names, least=0)
    if shared[1:] != (1, 1):
        raise SubmissionError(
            f"`// launch: shared={settings['shared']}` has three values; give one, in bytes"
        )
    return LaunchShape(grid, block, shared[0])


def _settings_of(directive: str) -> dict[str, str]:
    before, *pieces = _KEY.split(directive)
    settings = dict(
        zip(pieces[::2], (each.strip().rstrip(",;").strip() for each in pieces[1::2]), strict=True)
    )
    if before.strip() or (directive.strip() and len(settings) != len(pieces) // 2):
        raise SubmissionError(
            f"`// launch:{directive}` cannot be read; write grid=(ceil(n/256), 1, 1) block=256 shared=0"
        )
    return settings


def _extents(key: str, text: str, names: Mapping[str, Buffer | int | float], least: int = 1) -> Extents:
    try:
        value = evaluate(text, names)
    except ExpressionError as error:
        raise SubmissionError(f"`// launch: {key}={text}`: {error}") from error
    extents = value if isinstance(value, tuple) else (value,)
    if not 1 <= len(extents) <= 3 or not all(least <= each <= _EXTENT_MAX for each in extents):
        raise SubmissionError(f"`// launch: {key}={text}` is {value}, which is not a valid launch shape")
    x, y, z = (*extents, 1, 1)[:3]
    return x, y, z


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
    """An invalid expression. The caller adds where it is."""


def evaluate(text: str, names: Names) -> tuple[int, ...] | int:
    """The value of an expression: an integer, or a tuple of integers.

    Supported are + - * / // %, ceil, floor, min, max, cdiv(a, b), the scalars of `names`, and .size (in elements),
    .bytes, .ndim and .shape[i] of its buffers. Division is exact. Raises ExpressionError.
    """
    if len(text) > LENGTH_MAX:
        raise ExpressionError(f"longer than {LENGTH_MAX} characters")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        if isinstance(tree, ast.Tuple):
            return tuple(_whole(_number(each, names)) for each in tree.elts)
        return _whole(_number(tree, names))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ExpressionError("not a valid expression") from error
    except OverflowError as error:
        raise ExpressionError("a number in it is too large") from error
    except ZeroDivisionError as error:
        raise ExpressionError("division by 0") from error
    except TypeError as error:
        raise ExpressionError(f"a value has the wrong type: {error}") from error


def _number(node: ast.expr, names: Names) -> Fraction:
    value = _value(node, names)
    if isinstance(value, (tuple, Buffer)):
        raise ExpressionError("a buffer or a shape is not a number; write x.size or x.shape[0]")
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
            raise ExpressionError(f"unknown name {node.id}; known are {', '.join(names)}")
        return names[node.id]
    if isinstance(node, ast.Attribute) and node.attr in _OF_BUFFERS:
        buffer = _value(node.value, names)
        if not isinstance(buffer, Buffer):
            raise ExpressionError(f"only buffers have .{node.attr}")
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
    raise ExpressionError(f"{ast.unparse(node)[:80]!r} is not supported; write {known}")


def _element(node: ast.Subscript, names: Names) -> Any:
    shape, index = _value(node.value, names), _whole(_number(node.slice, names))
    if not isinstance(shape, tuple) or not -len(shape) <= index < len(shape):
        raise ExpressionError(f"{ast.unparse(node)[:80]!r} is not an extent of the shape")
    return shape[index]


def _whole(number: Fraction) -> int:
    if number.denominator != 1:
        raise ExpressionError(f"{float(number)} is not an integer; write ceil(...)")
    return number.numerator
