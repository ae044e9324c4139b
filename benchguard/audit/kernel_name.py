"""Spellings of a kernel's name (hook/core/region/kernel_name.c has the same)."""

from __future__ import annotations

import re

_PLAIN = re.compile(r"_Z[NKVrL]*(?:St)?(?P<parts>\d.*)", re.DOTALL)
_ABI_TAG = re.compile(r"\[abi:\w+\]", re.ASCII)


def display_name(demangled: str) -> str:
    """A demangled name without its ABI tags, as tables show it.

    numba-cuda puts a hash of a kernel's options, 60 to 90 characters, into an ABI tag of each name.
    """
    return _ABI_TAG.sub("", demangled)


def plain_name(name: str) -> str:
    """`scale` of _Z5scalePf; "" for a name that is not mangled so (hook/core/region/kernel_name.c)."""
    mangled = _PLAIN.match(name)
    rest, plain = mangled["parts"] if mangled else "", ""
    while (digits := re.match(r"\d+", rest, re.ASCII)) is not None:
        start = digits.end()
        length = int(digits[0][:6])
        if not 0 < length < 512 or start + length > len(rest):
            break
        plain = rest[start : start + length]
        rest = rest[start + length :].removeprefix("L")
    return plain
