"""Launch directives: expressions, invalid ones, and the default shape."""

from __future__ import annotations

import pytest

from benchguard.problem.spec import Buffer, CaseSpec, Scalar
from benchguard.quarantine.runner.launch import ExpressionError, LaunchShape, evaluate, shape_of
from benchguard.quarantine.runner.reporting import SubmissionError

CASE = CaseSpec(
    "case",
    (
        Buffer("a", "float16", (3, 1000)),
        Buffer("y", "float32", (3, 100), "output"),
        Scalar("n", "int", 1000),
        Scalar("eps", "float", 0.5),
    ),
)
NAMES = {each.name: each if isinstance(each, Buffer) else each.value for each in CASE.arguments}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        ("ceil(n/256)", 4),
        ("floor(n / 256) * 2 - 1", 5),
        ("cdiv(a.size, 32)", 94),
        ("a.shape[1] // 3 % 10", 3),
        ("a.shape[-2]", 3),
        ("(a.bytes, a.ndim)", (6000, 2)),
        ("min(n, 2048, a.size)", 1000),
        ("max(-1, n*eps)", 500),
        ("ceil(9007199254740993 / 1)", 9007199254740993),  # exact beyond a double
        ("((n + 31) // 32, 1, 1)", (32, 1, 1)),
    ],
)
def test_expression_values(text: str, value: object) -> None:
    assert evaluate(text, NAMES) == value


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("m", "unknown name m; known are a, y, n, eps"),
        ("n / 256", "3.90625 is not an integer; write ceil"),
        ("n / 0", "division by 0"),
        ("n ** 9", "'n ** 9' is not supported"),
        ("1 << 70", "is not supported"),
        ("9999999999 * 9999999999", "a number in it is too large"),
        ("1e400", "a number in it is too large"),
        ("9" * 2000, "longer than 1000 characters"),
        ("9" * 900, "a number in it is too large"),
        ("(" * 400, "not a valid expression"),
        ("-" * 900 + "1", "not a valid expression"),
        ("a", "a buffer or a shape is not a number"),
        ("a.shape", "a buffer or a shape is not a number"),
        ("a.shape[2]", "'a.shape[2]' is not an extent"),
        ("a.size.bytes", "only buffers have .bytes"),
        ("a.__class__", "'a.__class__' is not supported"),
        ("a.shape.__class__", "is not supported"),
        ("__import__('os').system('id')", "is not supported"),
        ("open('/etc/passwd')", "is not supported"),
        ("ceil(x=1)", "is not supported"),
        ("ceil(1, 2)", "a value has the wrong type"),
        ("min()", "a value has the wrong type"),
        ("[n for n in a]", "is not supported"),
        ("lambda: 1", "is not supported"),
        ("True", "is not supported"),
        ("n if n else 1", "is not supported"),
        ("'9'", "is not supported"),
        ("", "not a valid expression"),
        ("n; n", "not a valid expression"),
    ],
)
def test_invalid_expressions_refused(text: str, why: str) -> None:
    with pytest.raises(ExpressionError) as excinfo:
        evaluate(text, NAMES)
    assert why in str(excinfo.value)


@pytest.mark.parametrize(
    ("directive", "shape"),
    [
        (None, LaunchShape((2, 1, 1), (256, 1, 1), 0)),
        ("", LaunchShape((2, 1, 1), (256, 1, 1), 0)),
        (" block=(32, 4)", LaunchShape((3, 1, 1), (32, 4, 1), 0)),
        (" grid=(ceil(n/256), 1, 1) block=256 shared=0", LaunchShape((4, 1, 1), (256, 1, 1), 0)),
        ("shared = 4*n, grid = 3 , block = (8,8,8);", LaunchShape((3, 1, 1), (8, 8, 8), 4000)),
    ],
)
def test_launch_directive_parsed(directive: str | None, shape: LaunchShape) -> None:
    assert shape_of(directive, CASE) == shape


@pytest.mark.parametrize(
    ("directive", "why"),
    [
        (" 256", "cannot be read; write grid="),
        (" threads=256", "cannot be read; write grid="),
        ("grid=1 grid=2", "cannot be read"),
        ("grid=0", "`// launch: grid=0` is 0, which is not a valid launch shape"),
        ("grid=(1,1,1,1)", "which is not a valid launch shape"),
        ("block=-1", "which is not a valid launch shape"),
        ("shared=(1, 2)", "has three values; give one, in bytes"),
        ("grid=m", "`// launch: grid=m`: unknown name m"),
    ],
)
def test_invalid_launch_directives_refused(directive: str, why: str) -> None:
    with pytest.raises(SubmissionError) as excinfo:
        shape_of(directive, CASE)
    assert why in excinfo.value.text
