"""JSON that can be shown on a terminal, and the faults of JSON that others wrote."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from .text import is_visible

UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""The exceptions of msgspec for bytes that it cannot read: the last two are for text that is not UTF-8, and for deep
nesting. Catch all three wherever another program wrote the bytes."""

_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
"""An escape sequence of JSON. The group is half of a surrogate pair without the other half."""

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


_LONG_NUMBER = re.compile(rb"[0-9]{39}")
"""2^128 has 39 digits."""


def decode_untyped(data: bytes) -> Any:
    """The value of JSON whose types are checked later. Raises UNREADABLE.

    Whole numbers of more than 128 bits are refused: Python reads them, and raises OverflowError when it divides them.
    """
    value = msgspec.json.decode(data)
    if _LONG_NUMBER.search(data) and _has_long_number(value):
        raise msgspec.DecodeError("a number has more than 128 bits")
    return value


def _has_long_number(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_long_number, value.values()))
    if isinstance(value, list):
        return any(map(_has_long_number, value))
    return isinstance(value, int) and value.bit_length() > 128


def without_halves(data: bytes) -> bytes:
    """JSON with U+FFFD for each escape sequence of half of a surrogate pair.

    Models emit such halves. Python's json.dumps writes them as \\ud800, which msgspec refuses, and no file in UTF-8 can
    hold them.
    """
    if not _SURROGATE.search(data):
        return data
    return _ESCAPE.sub(lambda found: rb"\ufffd" if found[1] else found[0], data)


def unique(data: bytes) -> bytes:
    """The JSON, if no object has a name twice: readers would differ in which of both they take.

    Raises msgspec.DecodeError.
    """
    try:
        json.loads(data, object_pairs_hook=_check_names, parse_float=str, parse_int=str)
    except (ValueError, RecursionError) as error:
        raise msgspec.DecodeError(str(error)) from error
    return data


def _check_names(pairs: list[tuple[str, Any]]) -> None:
    names: set[str] = set()
    for name, _ in pairs:
        if name in names:
            raise ValueError(f"an object has the name {name!r} twice")
        names.add(name)


def json_line(value: Any) -> bytes:
    """JSON on one line, with every character that is not drawn as itself as \\uXXXX.

    Parsing gives the same content as without the escapes. Surrogates, which stand for bytes of a path that are not
    UTF-8, have no form that every parser accepts: the content has their escape sequence instead.
    """
    try:
        data = msgspec.json.encode(value)
    except UnicodeEncodeError:
        data = msgspec.json.encode(_without_surrogates(msgspec.to_builtins(value)))
    if data.isascii() and b"\x7f" not in data:
        return data  # msgspec escapes the other control characters
    return "".join(each if is_visible(each) else _json_escape(each) for each in data.decode()).encode()


def json_document(value: Any, indent: int = 1) -> str:
    """The JSON of json_line on several lines."""
    return msgspec.json.format(json_line(value), indent=indent).decode()


def _json_escape(character: str) -> str:
    units = character.encode("utf-16-be")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(each) for key, each in value.items()}
    return [_without_surrogates(each) for each in value] if isinstance(value, list | tuple) else value
