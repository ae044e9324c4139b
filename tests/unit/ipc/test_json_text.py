"""Where bytes of others are decoded, everything that msgspec raises for them is caught."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from benchguard.ipc.json_text import UNREADABLE, decode_untyped, unique
from tests.conftest import ROOT

PACKAGE = ROOT / "benchguard"
OWN = {
    "audit/names.py",
    "fleet/node.py",
    "fleet/order.py",
    "grade/beside.py",
    "grade/cordon_capture.py",
    "images/disassembler.py",
    "probe/pipeline/worker.py",
    "quarantine/cases.py",
    "quarantine/reader.py",
    "quarantine/sandbox/stage.py",
    "quarantine/use_devices.py",
    "quarantine/work.py",
    "replay/worker.py",
    "serve/client.py",
    "shim/build.py",
    "shim/surface.py",
    "toolchain/freshness.py",
}
"""Files that decode bytes of this program: orders to its own processes, and files that it installs."""
OTHERS = {"audit/demangle.py": 2, "grade/result.py": 1, "grade/stored_captures.py": 1, "ipc/json_text.py": 1}
"""Calls without a guard of their own: two of the demangler, whose caller has the guard and whose worker may die of its
request, two documented exceptions, and an order of the supervisor."""


def decodes(tree: ast.AST) -> Iterator[ast.Call]:
    """Calls of msgspec's decoders, and of decode_untyped()."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in (
            "msgspec.json.decode",
            "msgspec.msgpack.decode",
            "decode_untyped",
        ):
            yield node


def unguarded(path: Path) -> list[int]:
    """Lines with such a call outside of a `try` that catches UNREADABLE."""
    text = path.read_text()
    if "msgspec" not in text and "decode_untyped(" not in text:
        return []
    tree = ast.parse(text)
    guarded = {
        id(call)
        for node in ast.walk(tree)
        if isinstance(node, ast.Try)
        and any("UNREADABLE" in ast.unparse(each.type) for each in node.handlers if each.type is not None)
        for statement in node.body
        for call in decodes(statement)
    }
    return [call.lineno for call in decodes(tree) if id(call) not in guarded]


def test_bytes_of_others_are_decoded_with_a_guard() -> None:
    found = {
        name: lines
        for path in sorted(PACKAGE.rglob("*.py"))
        if (name := str(path.relative_to(PACKAGE))) not in OWN and (lines := unguarded(path))
    }
    assert {name: len(lines) for name, lines in found.items()} == OTHERS, found


@pytest.mark.parametrize(
    "data", [b"", b"x", b"[1]", b'{"\xff":1}', b'{"a":"\xed\xa0\x80"}', b'{"a":' * 100_000]
)
def test_unreadable_names_what_msgspec_raises(data: bytes) -> None:
    with pytest.raises(UNREADABLE):
        msgspec.json.decode(data, type=dict)


@pytest.mark.parametrize(
    "data", [b'{"a":1,"a":2}', rb'[{"b":[{"a":1,"\u0061":1}]}]', b"[" * 100_000, b"", b"\xff", b'{"a":1']
)
def test_json_with_a_name_twice_or_without_an_end_is_unreadable(data: bytes) -> None:
    """msgspec takes the last value of a name, and other readers take the first."""
    with pytest.raises(UNREADABLE):
        unique(data)


@pytest.mark.parametrize("data", [b'{"a":{"a":1},"b":[{"a":1},{"a":1}]}', b"1" * 5000, b'[1e999,"\xc3\xa9"]'])
def test_json_with_unique_names_is_returned(data: bytes) -> None:
    assert unique(data) == data


@pytest.mark.parametrize(("data", "refused"), [
    (b"1" + b"0" * 400, True),
    (b'{"a":[{"b":-%d}]}' % (1 << 128), True),
    (b'{"a":%d,"b":-1.5e300,"c":"%s"}' % ((1 << 128) - 1, b"1" * 400), False),
])  # fmt: skip
def test_numbers_that_python_cannot_divide_are_unreadable(data: bytes, refused: bool) -> None:
    if refused:
        with pytest.raises(UNREADABLE, match="more than 128 bits"):
            decode_untyped(data)
    else:
        assert decode_untyped(data) == json.loads(data)
