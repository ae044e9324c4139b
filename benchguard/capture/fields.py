"""How a struct of the format is declared: its fields, their types, and what a span or a number in it means.

A field's name is its path in the C struct; what it is called in benchguard.capture.model is its last word,
unless said otherwise. Reserved fields are named too, but no model has them.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from functools import cached_property
from struct import Struct


class Holds(enum.Enum):
    """Contents of a span other than structs."""

    TEXT = 1
    BYTES = 2
    WORDS = 3  # uint64_t[]


@dataclass(frozen=True, eq=False)
class Field:
    """`code` is what module struct calls the type; a span and a content are two 64-bit words."""

    name: str
    code: str
    choice: type[enum.IntEnum] | type[enum.IntFlag] | None = None
    span: Holds | Layout | None = None
    content: bool = False
    called: str = ""
    reserved: bool = False

    @cached_property
    def attribute(self) -> str:
        return self.called or self.name.rpartition(".")[2]

    @cached_property
    def bytes(self) -> int:
        return Struct("<" + self.code).size

    @cached_property
    def values(self) -> int:
        """How many values struct makes of it."""
        return len(Struct("<" + self.code).unpack(bytearray(self.bytes)))


@dataclass(frozen=True, eq=False)
class Layout:
    """One C struct, `struct nb_<name>`, without padding that is not declared."""

    name: str
    fields: tuple[Field, ...]

    @cached_property
    def struct(self) -> Struct:
        return Struct("<" + "".join(field.code for field in self.fields))

    @property
    def size(self) -> int:
        return self.struct.size

    @cached_property
    def offsets(self) -> dict[str, int]:
        """Offset of every field, by its path in C."""
        offsets, at = {}, 0
        for field in self.fields:
            offsets[field.name] = at
            at += field.bytes
        return offsets


def u32(name: str, choice: type[enum.IntEnum] | type[enum.IntFlag] | None = None, called: str = "") -> Field:
    return Field(name, "I", choice, called=called)


def i32(name: str) -> Field:
    return Field(name, "i")


def u64(name: str) -> Field:
    return Field(name, "Q")


def u8(name: str) -> Field:
    return Field(name, "B")


def reserved(name: str = "reserved", code: str = "I") -> Field:
    return Field(name, code, reserved=True)


def sha256(name: str) -> Field:
    return Field(name, "32s")


def text(name: str) -> Field:
    return Field(name, "QQ", span=Holds.TEXT)


def array(name: str, of: Holds | Layout) -> Field:
    return Field(name, "QQ", span=of)


def content(name: str) -> Field:
    return Field(name, "QQ", content=True)
