"""Adds a check before each access of the kernels of a PTX text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..access import NUMBER, Access, Doubt, UnknownAccessError, accesses, doubts, number_of, reachable
from ..source import Function, Instruction, Source, SourceError, read_source, written
from .check import ALIGNMENT_SHIFT, GENERIC, GLOBAL, SHARED, WRITES, Place, declaration, definition

SITES_MAX = 1 << 16
_SPACES = {"generic": GENERIC, "global": GLOBAL, "shared": SHARED}
_CLUSTERS = (7, 8), 90
"""The version of PTX and the target from which blocks form clusters."""


@dataclass(frozen=True)
class Site:
    """An access of an instruction. `line` is that of the PTX text; `file` is empty without line information."""

    function: str
    line: int
    file: str
    source_line: int
    opcode: str
    kind: str
    space: str


@dataclass(frozen=True)
class Rewritten:
    """`doubts` has the reasons why some accesses of a kernel are not checked, by kernel."""

    text: str
    sites: tuple[Site, ...]
    doubts: dict[str, tuple[Doubt, ...]]


def rewrite(raw: bytes, kernels: Sequence[str], place: Place, first_site: int = 0) -> Rewritten:
    """Check each access of `kernels` and of the functions that they call; an access that fails is left out.

    Kernels that are not in `kernels` are dropped, unless other code names them. Reads may go up to the next multiple
    of 256 bytes behind an allocation. Sites are numbered from `first_site`. Raises SourceError.
    """
    source = read_source(raw)
    entries = {each.name for each in source.functions if each.is_entry and each.items is not None}
    missing = [each for each in kernels if each not in entries]
    if missing:
        raise SourceError(f"the PTX has no kernel {missing[0][:200]}")
    prefix = _unused_prefix(raw)
    doubted = {each: tuple(doubts(source, each)) for each in kernels}
    wanted = {function.name for each in kernels for function in reachable(source, each)}
    _drop_entries(source, wanted)
    sites: list[Site] = []
    for function in source.functions:
        if function.name in wanted and function.items is not None:
            function.items = [*_Checked(function, prefix, first_site, sites).items()]
    clusters = source.version >= _CLUSTERS[0] and source.target >= _CLUSTERS[1]
    source.items.insert(0, declaration(prefix, place))
    source.items.append(
        definition(
            prefix,
            place,
            source.variables,
            slack=True,
            clusters=clusters,
            cooperative=b"%envreg" in raw,
        )
    )
    return Rewritten(written(source), tuple(sites), doubted)


def _unused_prefix(raw: bytes) -> str:
    """A prefix for names that no name of the text begins with."""
    number = 0
    while b"nb%d_" % number in raw:
        number += 1
    return f"nb{number}"


def _drop_entries(source: Source, wanted: set[str]) -> None:
    named = set()
    for function in source.functions:
        for instruction in function.instructions:
            named.update(re.findall(r"[\w$%]+", instruction.operands))
    for item in source.items:
        if isinstance(item, str):
            named.update(re.findall(r"[\w$%]+", item))
    source.items = [
        each
        for each in source.items
        if not isinstance(each, Function) or not each.is_entry or each.name in wanted | named
    ]


class _Checked:
    def __init__(self, function: Function, prefix: str, first: int, sites: list[Site]) -> None:
        self._function, self._p, self._first, self._sites = function, prefix, first, sites

    def items(self) -> Iterator[str | Instruction]:
        for item in self._function.items or ():
            if isinstance(item, str):
                yield item
                continue
            try:
                found = accesses(item)
                code = self._code(item, found) if found else None
            except UnknownAccessError:
                code = None  # one of the kernel's doubts
            yield from code or (item,)

    def _code(self, instruction: Instruction, found: Sequence[Access]) -> list[str]:
        p, lines, predicate = self._p, ["{"], re.sub(r"\s", "", instruction.guard)
        operands = instruction.operands
        for number, access in reversed([*enumerate(found)]):
            address = f"%{p}_x{number}"
            lines += self._checked(instruction, access, number, predicate)
            if access.space != "shared":
                operands = f"{operands[: access.at]}[{address}]{operands[access.end :]}"
            guard = f", {predicate}" if predicate else ""
            combined = ".and" if predicate else ""
            lines += [
                f".reg .pred %{p}_p{number};",
                f"setp.ne{combined}.u32 %{p}_p{number}, %{p}_r{number}, 0{guard};",
            ]
            predicate = f"%{p}_p{number}"
        return [*lines, f"@{predicate} {instruction.opcode} {operands};", "}"]

    def _checked(self, instruction: Instruction, access: Access, n: int, predicate: str) -> Iterator[str]:
        """Call the check; register r of this number is 0 for an access to leave out."""
        p = self._p
        site = self._add(instruction, access)
        yield f".reg .b32 %{p}_r{n};"
        yield f".reg .b64 %{p}_x{n};"
        yield from _address(instruction, access, f"%{p}_x{n}", f"%{p}_r{n}")
        size = access.size or str(access.bytes)
        if size == access.size:
            yield f"min.u32 %{p}_r{n}, {size}, {access.bytes};"
        else:
            yield f"mov.u32 %{p}_r{n}, {size};"
        if predicate:
            yes, no = (f"%{p}_r{n}", "0") if predicate[0] != "!" else ("0", f"%{p}_r{n}")
            yield f"selp.b32 %{p}_r{n}, {yes}, {no}, {predicate.lstrip('!')};"
        what = (
            _SPACES[access.space]
            | (WRITES if access.kind in ("write", "atomic") else 0)
            | access.bytes << ALIGNMENT_SHIFT
        )
        yield f".reg .b32 %{p}_w{n}, %{p}_s{n};"
        yield f"mov.u32 %{p}_w{n}, {what};"
        yield f"mov.u32 %{p}_s{n}, {site};"
        yield "{"
        yield f".param .b64 {p}_p0;\n.param .b32 {p}_p1;\n.param .b32 {p}_p2;\n.param .b32 {p}_p3;\n.param .b32 {p}_p4;"
        yield f"st.param.b64 [{p}_p0], %{p}_x{n};"
        yield f"st.param.b32 [{p}_p1], %{p}_r{n};"
        yield f"st.param.b32 [{p}_p2], %{p}_w{n};"
        yield f"st.param.b32 [{p}_p3], %{p}_s{n};"
        yield f"call ({p}_p4), {p}_check, ({p}_p0, {p}_p1, {p}_p2, {p}_p3);"
        yield f"ld.param.b32 %{p}_r{n}, [{p}_p4];"
        yield "}"

    def _add(self, instruction: Instruction, access: Access) -> int:
        if self._first + len(self._sites) >= SITES_MAX:
            raise SourceError(f"more than {SITES_MAX} accesses to check")
        self._sites.append(
            Site(
                self._function.name,
                instruction.line,
                instruction.file,
                instruction.source_line,
                instruction.opcode,
                access.kind,
                access.space,
            )
        )
        return self._first + len(self._sites) - 1


def _address(instruction: Instruction, access: Access, into: str, word: str) -> Iterator[str]:
    """Compute the address of an access."""
    width = instruction.widths.get(access.base)
    if width == 64:
        yield f"add.s64 {into}, {access.base}, {access.offset};"
    elif width is not None:
        yield f"add.s32 {word}, {access.base}, {access.offset};"
        yield f"cvt.u64.u32 {into}, {word};"
    elif NUMBER.fullmatch(access.base):
        yield f"mov.u64 {into}, {number_of(access.base) + access.offset};"
    else:
        yield f"mov.u64 {into}, {access.base};"
        yield f"add.s64 {into}, {into}, {access.offset};"
