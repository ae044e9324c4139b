"""Floating-point arguments of driver calls, which trace records hold as bit patterns."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..shim.surface import Export

_FORMS = {"float": ("<I", "<f", (1 << 32) - 1), "double": ("<Q", "<d", (1 << 64) - 1)}


@dataclass(frozen=True)
class FloatWord:
    """`position` is that of the argument; `form` is "float" or "double"."""

    position: int
    name: str
    form: str


def float_words(exports: Sequence[Export]) -> Mapping[int, tuple[FloatWord, ...]]:
    """The floating-point words of each call that has any, by slot."""
    words = {
        slot: tuple(
            FloatWord(position, parameter.name, form)
            for position, parameter in enumerate(export.parameters)
            for form in (parameter.role.removeprefix("out:"),)
            if form in _FORMS
        )
        for slot, export in enumerate(exports)
    }
    return {slot: each for slot, each in words.items() if each}


def floats_of(words: Sequence[FloatWord], arguments: Sequence[int]) -> dict[str, float | None]:
    """The floating-point arguments of one call, by name."""
    return {
        word.name: float_from_bits(arguments[word.position], word.form)
        for word in words
        if word.position < len(arguments)
    }


def float_from_bits(bits: int, form: str = "float") -> float:
    """The number with this bit pattern. Bits that the form does not have are ignored."""
    integer, number, mask = _FORMS[form]
    result: float = struct.unpack(number, struct.pack(integer, bits & mask))[0]
    return result
