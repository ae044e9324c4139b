"""The C headers of the wire formats -> plain values: constants, enums and structures."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from struct import calcsize
from typing import Any

from pycparser import c_ast
from pycparser.c_parser import CParser, ParseError

from .errors import CodegenError
from .preprocess import preprocess

_DEFINE = re.compile(r"^#define (NB_\w+)\s+(\(?[0-9a-fx<u ]+\)?(?:ull|u)?)\s*(?:/\*|$)", re.MULTILINE)
_CODES = {"uint8_t": "B", "uint16_t": "H", "uint32_t": "I", "uint64_t": "Q", "int32_t": "i"}


@dataclass(frozen=True)
class Member:
    """A member of a structure. `code` is the type as module struct spells it."""

    name: str
    code: str
    structure: str = ""
    """The structure's name, without "nb_", where the member is one."""

    @property
    def size(self) -> int:
        return calcsize("<" + self.code)


@dataclass(frozen=True)
class Wire:
    constants: Mapping[str, str]
    """As the header writes them, without suffixes."""
    enums: Mapping[str, Mapping[str, int]]
    structures: Mapping[str, tuple[Member, ...]]
    """By name without "nb_". A union has its longest alternative's members as one."""
    alternatives: Mapping[str, Mapping[str, tuple[Member, ...]]]
    """For a structure that ends in a union: the union's structures by their names."""

    @cached_property
    def sizes(self) -> Mapping[str, int]:
        return {name: sum(member.size for member in members) for name, members in self.structures.items()}


def read_wire(folder: Path, names: tuple[str, ...]) -> Wire:
    """The headers `names` of a folder. Raises CodegenError."""
    text = "".join((folder / name).read_text(encoding="utf-8") for name in names)
    constants = {name: re.sub(r"(?<=[0-9a-f])u(ll)?\b", "", value) for name, value in _DEFINE.findall(text)}
    source = "".join(f'#include "{folder / name}"\n' for name in names)
    try:
        unit = CParser().parse(preprocess(folder, source, []), names[0])
    except ParseError as error:
        raise CodegenError(f"{folder}: {error}") from error
    reader = _Reader(constants)
    for node in unit.ext:
        reader.read(node)
    return Wire(constants, reader.enums, reader.structures, reader.alternatives)


class _Reader:
    def __init__(self, constants: Mapping[str, str]) -> None:
        self._constants = constants
        self.enums: dict[str, dict[str, int]] = {}
        self.structures: dict[str, tuple[Member, ...]] = {}
        self.alternatives: dict[str, dict[str, tuple[Member, ...]]] = {}

    def read(self, node: Any) -> None:
        kind = node.type if isinstance(node, c_ast.Decl) else None
        if isinstance(kind, c_ast.Enum) and kind.values is not None:
            self.enums[kind.name] = {each.name: _number(each.value) for each in kind.values.enumerators}
        elif isinstance(kind, c_ast.Struct) and kind.decls is not None and kind.name.startswith("nb_"):
            self.structures[_short(kind.name)] = tuple(self._members(_short(kind.name), kind))

    def _members(self, owner: str, struct: Any) -> Iterator[Member]:
        for declared in struct.decls:
            kind, length = declared.type, None
            if isinstance(kind, c_ast.ArrayDecl):
                kind, length = kind.type, _number(kind.dim)
            inner = kind.type
            if isinstance(inner, c_ast.Union):
                yield self._union(owner, declared.name, inner)
            elif isinstance(inner, c_ast.Struct):
                name = _short(inner.name)
                code = "".join(member.code for member in self.structures[name])
                yield Member(declared.name, code, name)
            else:
                code = _CODES[" ".join(inner.names)]
                if length is not None:
                    code = f"{length}s" if code == "B" else f"{length}{code}"
                yield Member(declared.name, code)

    def _union(self, owner: str, name: str, union: Any) -> Member:
        alternatives: dict[str, tuple[Member, ...]] = {}
        longest = 0
        for declared in union.decls:
            if isinstance(declared.type, c_ast.ArrayDecl):  # the union's bytes as words
                code = _CODES[declared.type.type.type.names[0]]
                longest = max(longest, calcsize(f"<{_number(declared.type.dim)}{code}"))
                continue
            members = tuple(self._members(owner, declared.type.type))
            alternatives[declared.name] = members
            longest = max(longest, sum(member.size for member in members))
        self.alternatives[owner] = alternatives
        return Member(name, f"{longest}s")


def _short(name: str) -> str:
    return name.removeprefix("nb_")


def _number(node: Any) -> int:
    """A constant expression of literals."""
    if isinstance(node, c_ast.Constant):
        return int(node.value.rstrip("uUlL"), 0)
    if isinstance(node, c_ast.BinaryOp) and node.op == "-":
        return _number(node.left) - _number(node.right)
    raise CodegenError(f"{node.coord}: not a number")
