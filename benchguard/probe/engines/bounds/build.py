"""Adds a check before each access of a kernel. The access itself happens in any case: the program is not changed.

The kernel gets two more parameters: the map of violations, and the table of allocations (probe/bounds/check.py).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from benchguard.probe import source
from benchguard.probe.access import Access, UnknownAccessError, accesses, hidden_memory
from benchguard.probe.bounds.check import (
    ALIGNMENT_SHIFT,
    GENERIC,
    GLOBAL,
    SHARED,
    WRITES,
    declaration,
    definition,
    map_bytes,
)
from benchguard.probe.bounds.rewrite import SITES_MAX, Site
from benchguard.probe.engine import Map, Probed, Request, Unit, finish
from benchguard.probe.ptx import Function, Instruction, PtxError, Rewrite, Variable
from benchguard.probe.source import SIZES

TABLE_BYTES = 1 << 20
"""Capacity of the table of allocations."""

_SPACES = {"generic": GENERIC, "global": GLOBAL, "shared": SHARED}


@dataclass(frozen=True)
class Checks:
    """`unchecked` has instructions whose accesses are not understood, and functions that no pointer reaches.

    `unlisted`: why the kernel may have memory that no table lists; empty if it has none.
    """

    sites: tuple[Site, ...]
    unchecked: dict[str, str]
    unlisted: str


def build(request: Request) -> Probed:
    """Instrument a kernel.

    Args:
        request: The kernel. The engine has no options.

    Raises:
        PtxError: The PTX cannot be rewritten, or has too many accesses.
        UsageError: An option was given.
    """
    request.allow_options()
    rewrite = request.rewrite()
    checks = instrument(rewrite)
    maps = [Map(Unit.LAUNCH, map_bytes(len(checks.sites))), Map(Unit.ALLOCATIONS, TABLE_BYTES)]
    return replace(finish(rewrite, maps), unprobed=checks.unchecked)


def instrument(rewrite: Rewrite) -> Checks:
    """Check the accesses of a kernel and of the functions that it calls. Raises PtxError."""
    module = rewrite.module
    prefix = rewrite.new_name("b")
    found, table = rewrite.add_pointer(), rewrite.add_pointer()
    sites: list[Site] = []
    unchecked, unlisted = dict(rewrite.unprobed), ""
    defined = {each.name for each in module.functions if each.body is not None}
    for function in rewrite.functions:
        registers: _Registers | None = None
        for instruction in function.instructions:
            plain = _plain(instruction)
            unlisted = unlisted or hidden_memory(plain, defined)
            try:
                for number, access in enumerate(accesses(plain)):
                    if len(sites) == SITES_MAX:
                        raise PtxError(f"more than {SITES_MAX} accesses to check")
                    registers = registers or _Registers.of(rewrite, function)
                    lines = [
                        *_address(rewrite, function, instruction, access, number, registers),
                        *_call(prefix, access, len(sites), registers),
                        f"st.param.b64 [{prefix}_p4], {found.register(function)};",
                        f"st.param.b64 [{prefix}_p5], {table.register(function)};",
                        f"call ({prefix}_p6), {prefix}_check, ({', '.join(f'{prefix}_p{n}' for n in range(6))});",
                        "}",
                    ]
                    rewrite.before(function, instruction, "\n".join(lines))
                    sites.append(_site(module.files, function, instruction, access))
            except UnknownAccessError as error:
                unchecked[f"line {instruction.line}"] = str(error)
    clusters, cooperative = _has_clusters(module.target), "%envreg" in module.text
    private = rewrite.private_variables()
    own = [source.Variable("global", each.name, _bytes_of(each)) for each in private]
    check = definition(prefix, None, own, slack=False, clusters=clusters, cooperative=cooperative)
    rewrite.edits.insert(module.preamble, f"\n{declaration(prefix, None)}\n")
    rewrite.edits.insert(max([module.preamble, *(each.statement[1] for each in private)]), f"\n{check}\n")
    return Checks(tuple(sites), unchecked, unlisted)


@dataclass(frozen=True)
class _Registers:
    address: str
    word: str
    what: str
    site: str

    @classmethod
    def of(cls, rewrite: Rewrite, function: Function) -> _Registers:
        kinds = ".u64", ".u32", ".u32", ".u32"
        return cls(*(rewrite.new_register(function, kind) for kind in kinds))


def _has_clusters(target: Sequence[str]) -> bool:
    """Whether the PTX is for sm_90 or later."""
    numbers = [re.match(r"sm_(\d+)", each) for each in target]
    return any(int(each[1]) >= 90 for each in numbers if each)


def _bytes_of(variable: Variable) -> int:
    """The size of a variable; 0 if its declaration does not have it."""
    words = [token.text.removeprefix(".") for token in variable.declaration]
    size = next((SIZES[word] for word in words if word in SIZES), 0)
    size *= 4 if "v4" in words else 2 if "v2" in words else 1
    extents = [token.text for token in variable.dimensions if token.text not in "[]"]
    return size * math.prod(int(each, 0) for each in extents) if "[]" not in _spelled(variable) else 0


def _spelled(variable: Variable) -> str:
    return "".join(token.text for token in variable.dimensions)


def _plain(instruction: Instruction) -> source.Instruction:
    """The instruction as access.py reads it."""
    operands = ", ".join(each.text for each in instruction.operands)
    widths = {}
    for operand in instruction.operands:
        for token in operand.tokens:
            width = SIZES.get(instruction.scope.type_of(token.text).removeprefix("."))
            if token.kind == "name" and width in (4, 8):
                widths[token.text] = 8 * width
    return source.Instruction(instruction.line, "", instruction.name, operands, "", 0, widths)


def _address(
    rewrite: Rewrite,
    function: Function,
    instruction: Instruction,
    access: Access,
    number: int,
    registers: _Registers,
) -> Iterator[str]:
    if number == 0:
        snippet, register = rewrite.effective_address(function, instruction)
        yield snippet
        yield f"mov.u64 {registers.address}, {register};"
    else:  # the source of cp.async, a register
        yield f"add.s64 {registers.address}, {access.base}, {access.offset};"


def _call(prefix: str, access: Access, site: int, registers: _Registers) -> Iterator[str]:
    writes = WRITES if access.kind in ("write", "atomic") else 0
    what = _SPACES[access.space] | writes | access.bytes << ALIGNMENT_SHIFT
    if access.size:
        yield f"min.u32 {registers.word}, {access.size}, {access.bytes};"
    else:
        yield f"mov.u32 {registers.word}, {access.bytes};"
    yield f"mov.u32 {registers.what}, {what};"
    yield f"mov.u32 {registers.site}, {site};"
    yield "{"
    kinds = "b64", "b32", "b32", "b32", "b64", "b64", "b32"
    yield "\n".join(f".param .{kind} {prefix}_p{n};" for n, kind in enumerate(kinds))
    values = registers.address, registers.word, registers.what, registers.site
    for n, value in enumerate(values):
        yield f"st.param.{kinds[n]} [{prefix}_p{n}], {value};"


def _site(files: Mapping[int, str], function: Function, instruction: Instruction, access: Access) -> Site:
    number, line = instruction.source or (0, 0)
    file = files.get(number, "")
    return Site(function.name, instruction.line, file, line, instruction.name, access.kind, access.space)
