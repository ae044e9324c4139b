"""The memory that an instruction accesses, and instructions whose accesses a probe cannot follow."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from .source import SIZES, Function, Instruction, Source

Space = Literal["generic", "global", "shared"]
Kind = Literal["read", "write", "atomic", "prefetch"]

_KINDS: dict[str, Kind] = {"ld": "read", "ldu": "read", "st": "write", "atom": "atomic", "red": "atomic"}
_HINTS = {"prefetch", "prefetchu", "applypriority"}
_VECTORS = {"v2": 2, "v4": 4, "v8": 8}
_OWN = {"local", "param", "const"}
"""Spaces that hold no memory of others: a thread's own, a launch's parameters, constants."""

_NO_GLOBAL = {"wgmma", "tcgen05", "ldmatrix", "stmatrix", "mapa", "fence", "movmatrix", "txq", "suq"}
"""Instructions with brackets that reach shared or tensor memory only."""

_NUMBER = r"0[xX][0-9a-fA-F]{1,16}|0[0-7]{0,22}|[1-9][0-9]{0,19}"
"""Hexadecimal, octal and decimal numbers, of about 64 bits at most."""
NUMBER = re.compile(_NUMBER)
_PLACE = re.compile(rf"\s*([\w$%.]+)\s*(?:\+\s*(-?)\s*({_NUMBER})\s*)?")
_OFFSETS = range(-(2**31), 2**31)
"""PTX's offsets are signed numbers of 32 bits. A driver may read others as it likes."""
_BRACKETS = re.compile(r"\[([^\[\]]*)\]")

DISCARDED = 128
"""Bytes of the only form of `discard`."""

KNOWN_CALLS = {"vprintf", "__assertfail"}
"""Functions of the driver that write to memory of the driver alone."""

HEAP_CALLS = {"malloc", "free"}


@dataclass(frozen=True)
class Access:
    """`bytes` at an address, which is `base` (a register, a variable or a number) and an offset.

    `at` and `end` are the place of the brackets in the instruction's operands. `size` names a register or a number
    that has the bytes instead, if it is not empty.
    """

    space: Space
    kind: Kind
    bytes: int
    base: str
    offset: int
    at: int
    end: int
    size: str = ""


class UnknownAccessError(Exception):
    """An instruction may access global memory, and where it does is not understood. The message names it."""


def accesses(instruction: Instruction) -> list[Access]:
    """The accesses to global and shared memory. Raises UnknownAccessError."""
    parts, operands = instruction.parts, instruction.operands
    if parts[0] == "call" or "[" not in operands:
        return []
    found = [*_BRACKETS.finditer(operands)]
    spaces = [each.partition("::")[0] for each in parts[1:]]
    if instruction.opcode.startswith("cp.async.") and not {"bulk", "mbarrier", "reduce"} & set(parts):
        return _copy(instruction, found)
    kind, size = _plain(instruction)
    if kind is not None:
        if _OWN & set(spaces) or "shared::cluster" in parts:
            return []  # the latter is of another block, not global
        if len(found) != 1 or operands.count("[") != 1:
            raise UnknownAccessError(instruction.opcode)
        return [_one(instruction, found[0], _space(spaces), kind, size)]
    is_barrier = parts[0] == "mbarrier" or instruction.opcode.startswith("cp.async.mbarrier.")
    if (is_barrier and "shared" in spaces) or parts[0] in _NO_GLOBAL:
        return []
    raise UnknownAccessError(instruction.opcode)


def _plain(instruction: Instruction) -> tuple[Kind | None, int]:
    """Kind and bytes of an instruction that accesses one place; None for others."""
    parts = instruction.parts
    if parts[0] in _KINDS and not {"async", "bulk"} & set(parts):
        return _KINDS[parts[0]], _bytes(instruction)
    if parts[0] in _HINTS and "tensormap" not in parts:
        return "prefetch", 1
    return ("write", DISCARDED) if parts[0] == "discard" else (None, 0)


def _space(spaces: list[str]) -> Space:
    return "global" if "global" in spaces else "shared" if "shared" in spaces else "generic"


def _bytes(instruction: Instruction) -> int:
    parts = instruction.parts[1:]
    sizes = [SIZES[each] for each in parts if each in SIZES]
    if not sizes:
        raise UnknownAccessError(instruction.opcode)
    count = next((_VECTORS[each] for each in parts if each in _VECTORS), 1)
    return sizes[-1] * count


def _one(
    instruction: Instruction, found: re.Match[str], space: Space, kind: Kind, size: int, register: str = ""
) -> Access:
    place = _PLACE.fullmatch(found[1])
    if place is None:
        raise UnknownAccessError(f"{instruction.opcode} [{found[1].strip()[:80]}]")
    if not _is_place(space, place[1], instruction.widths.get(place[1])):
        raise UnknownAccessError(f"{instruction.opcode} [{place[1][:80]}]")
    offset = number_of(place[3]) * (-1 if place[2] else 1) if place[3] else 0
    if offset not in _OFFSETS:
        raise UnknownAccessError(f"{instruction.opcode} [{found[1].strip()[:80]}]")
    return Access(space, kind, size, place[1], offset, found.start(), found.end(), register)


def number_of(text: str) -> int:
    """The value of a NUMBER."""
    return int(text, 8 if text[0] == "0" and text.isdecimal() else 0)


def _is_place(space: Space, base: str, width: int | None) -> bool:
    """Whether a register, or else a number or a variable, may be an address in the space."""
    if width is not None:
        return width == 64 or (width == 32 and space == "shared")
    return NUMBER.fullmatch(base) is not None or (base[0] not in "%." and space != "generic")


def _copy(instruction: Instruction, found: list[re.Match[str]]) -> list[Access]:
    """cp.async [shared], [global], bytes{, source bytes}{, policy}: bytes that are not read become zero."""
    if len(found) != 2:
        raise UnknownAccessError(instruction.opcode)
    rest = [each.strip() for each in instruction.operands[found[1].end() :].split(",")[1:]]
    ignores = "ignore-src" in instruction.opcode
    hint = "cache_hint" in instruction.opcode
    if not rest or not rest[0].isdigit() or ignores or (len(rest) > 2 and not hint):
        raise UnknownAccessError(instruction.opcode)
    size = int(rest[0])
    register = rest[1] if len(rest) - hint > 1 else ""
    return [
        _one(instruction, found[0], "shared", "write", size),
        _one(instruction, found[1], "global", "read", size, register),
    ]


def callees(instruction: Instruction, names: set[str]) -> tuple[list[str], bool]:
    """The functions that a call names, and whether it may call others by a pointer."""
    if instruction.parts[0] != "call":
        return [], False
    words = re.findall(r"[\w$%]+", re.sub(r"^\s*\([^)]*\)\s*,", "", instruction.operands, count=1))
    target = words[0] if words else ""
    return [target], target not in names


def reachable(source: Source, entry: str) -> Iterator[Function]:
    """An entry and all functions that it may call by name."""
    functions = {each.name: each for each in source.functions if each.items is not None}
    names, queue, seen = {each.name for each in source.functions}, [entry], {entry}
    while queue:
        function = functions.get(queue.pop())
        if function is None:
            continue
        yield function
        for instruction in function.instructions:
            for name in callees(instruction, names)[0]:
                if name not in seen:
                    seen.add(name)
                    queue.append(name)


def hidden_memory(instruction: Instruction, defined: set[str]) -> str:
    """Why a kernel with this instruction may have memory that no table lists; empty: it gives no reason.

    `defined` are the functions of the module that have a body.
    """
    called, _ = callees(instruction, defined)
    unknown = set(called) - defined - KNOWN_CALLS - HEAP_CALLS
    doubts = _doubts(instruction, {*defined, *called}, {each for each in unknown if each[0] not in "%"})
    return next((each.reason for each in doubts if each.has_memory), "")


_CLOCKS = re.compile(r"%(?:clock(?:64|_hi)?|globaltimer(?:_lo|_hi)?)\b")


@dataclass(frozen=True)
class Doubt:
    """A reason why the accesses of a kernel cannot all be checked.

    `has_memory`: the kernel may have memory that no table lists, so that an honest access may look like a violation.
    """

    reason: str
    has_memory: bool = False


def doubts(source: Source, entry: str) -> list[Doubt]:
    """Why the accesses of a kernel cannot all be checked; empty if they can."""
    names = {each.name for each in source.functions}
    unknown = names - {each.name for each in source.functions if each.items is not None} - KNOWN_CALLS
    found: dict[Doubt, None] = {}
    for function in reachable(source, entry):
        for item in function.items or ():
            if isinstance(item, Instruction):
                found.update(dict.fromkeys(_doubts(item, names, unknown)))
            elif re.match(r"\.(global|const)\b", item):
                found[Doubt("declares a global inside a function", True)] = None
    return list(found)


def _doubts(instruction: Instruction, names: set[str], unknown: set[str]) -> Iterator[Doubt]:
    where = f"line {instruction.line}"
    try:
        accesses(instruction)
    except UnknownAccessError as error:
        yield Doubt(f"{where}: {error}")
    called, is_indirect = callees(instruction, names)
    if is_indirect:
        yield Doubt(f"{where}: calls a function by its address", True)
    for name in called:
        if name in HEAP_CALLS:
            yield Doubt("uses the heap of the device", True)
        elif name in unknown:
            yield Doubt(f"calls {name}, whose code is not in the image", True)
    if instruction.parts[0] == "brx":
        yield Doubt(f"{where}: branches to a computed place")
    if instruction.opcode.startswith("cvta.param"):
        yield Doubt(f"{where}: takes the address of a parameter", True)
    if _CLOCKS.search(instruction.operands):
        yield Doubt("reads a clock, so it may act differently when it is probed")
