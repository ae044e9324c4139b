"""Change a raw capture's elements: their fields, their order, their number, and the bytes around them."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Sequence

from tests.attacks.kit.forge import GLOBAL, KERNEL, Elements, elements_of, joined, with_span

HEADER_BYTES = 24
WORDS = (
    0,
    1,
    2,
    3,
    7,
    0x7F,
    0xFF,
    0xFFF,
    0x1000,
    0xFFFF,
    1 << 20,
    1 << 31,
    (1 << 32) - 1,
    1 << 40,
    (1 << 64) - 1,
)
NAME_AT = 24
"""Offset of a kernel's and a global's name."""

FIELDS_MAX = 128
"""Bytes at an element's beginning that hold its fields. Small data and memory follow."""


def mutated(generator: random.Random, raw: bytes, others: Sequence[bytes]) -> bytes:
    """`raw` with a few changes, and unchanged sometimes, so that only the other capture of a case is changed."""
    if generator.random() < 0.3:
        return raw
    elements = elements_of(raw)
    for _ in range(generator.randint(1, 3)):
        change = generator.choices(_CHANGES, _WEIGHTS)[0]
        change(generator, elements, elements_of(generator.choice(others)))
        if not elements:
            break
    changed = bytearray(raw[:HEADER_BYTES] + joined(elements))
    if generator.random() < 0.05:
        at = generator.randrange(len(changed))
        changed[at] = generator.randrange(256)
    if generator.random() < 0.03:
        del changed[generator.randrange(len(changed)) :]
    return bytes(changed)


def _set_word(generator: random.Random, elements: Elements, _: Elements) -> None:
    payload = generator.choice(elements)[1]
    size = generator.choice((4, 8))
    if len(payload) >= size:
        at = generator.randrange(min(len(payload), FIELDS_MAX) // size) * size
        value = generator.choice(WORDS) % (1 << 8 * size)
        payload[at : at + size] = value.to_bytes(size, "little")


def _add_to_word(generator: random.Random, elements: Elements, _: Elements) -> None:
    payload = generator.choice(elements)[1]
    if len(payload) >= 8:
        at = generator.randrange(min(len(payload), FIELDS_MAX) // 8) * 8
        (value,) = struct.unpack_from("<Q", payload, at)
        step = generator.choice((-4096, -8, -1, 1, 8, 512, 4096, 1 << 21))
        struct.pack_into("<Q", payload, at, (value + step) % (1 << 64))


def _set_byte(generator: random.Random, elements: Elements, _: Elements) -> None:
    payload = generator.choice(elements)[1]
    if payload:
        payload[generator.randrange(len(payload))] = generator.randrange(256)


def _copy_word(generator: random.Random, elements: Elements, _: Elements) -> None:
    """A word of one element in another: an address, a size or an index that exists."""
    source, target = (generator.choice(elements)[1] for _ in range(2))
    if len(source) >= 8 and len(target) >= 8:
        begin = generator.randrange(min(len(source), FIELDS_MAX) // 8) * 8
        at = generator.randrange(min(len(target), FIELDS_MAX) // 8) * 8
        target[at : at + 8] = source[begin : begin + 8]


def _remove(generator: random.Random, elements: Elements, _: Elements) -> None:
    del elements[generator.randrange(len(elements))]


def _duplicate(generator: random.Random, elements: Elements, _: Elements) -> None:
    kind, payload = generator.choice(elements)
    copies = generator.choice((1, 1, 2, 1000))
    at = generator.randrange(len(elements))
    elements[at:at] = [(kind, bytearray(payload)) for _ in range(copies if len(payload) < 512 else 1)]


def _swap(generator: random.Random, elements: Elements, _: Elements) -> None:
    one, two = (generator.randrange(len(elements)) for _ in range(2))
    elements[one], elements[two] = elements[two], elements[one]


def _take(generator: random.Random, elements: Elements, other: Elements) -> None:
    elements.insert(generator.randrange(len(elements)), generator.choice(other))


def _rename(generator: random.Random, elements: Elements, _: Elements) -> None:
    """Another kind, known or not, for an element."""
    at = generator.randrange(len(elements))
    elements[at] = generator.randrange(24), elements[at][1]


def _name_symbol(generator: random.Random, elements: Elements, _: Elements) -> None:
    """Another name for a kernel or a global: its image may lack that symbol."""
    symbols = [at for at, (kind, _) in enumerate(elements) if kind in (KERNEL, GLOBAL)]
    if symbols:
        at = generator.choice(symbols)
        kind, payload = elements[at]
        if len(payload) >= NAME_AT + 16:
            elements[at] = (
                kind,
                with_span(payload, NAME_AT, generator.choice((b"", b"absent", b"table", b"x" * 5000))),
            )


_CHANGES: tuple[Callable[[random.Random, Elements, Elements], None], ...] = (
    _set_word, _add_to_word, _set_byte, _copy_word, _remove, _duplicate, _swap, _take, _rename,
    _name_symbol,
)  # fmt: skip
_WEIGHTS = (6, 6, 8, 4, 2, 2, 1, 2, 1, 1)
