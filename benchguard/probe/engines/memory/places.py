"""The instructions of a kernel whose accesses are counted, in the order of their counters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchguard.probe.ptx import Function, Instruction, Module, Rewrite

PLACES_MAX = 1 << 16
KINDS = {"ld": "load", "ldu": "load", "st": "store", "atom": "atomic", "red": "atomic"}
_OWN = {"local", "param", "const"}


@dataclass(frozen=True)
class Place:
    """An access: line of the PTX, file and line of the source if it has line information, space and bytes a thread."""

    function: str
    line: int
    source: str
    opcode: str
    kind: str
    space: str
    bytes: int


def places(rewrite: Rewrite) -> Iterator[tuple[Function, Instruction]]:
    """Loads, stores and atomics of global, shared and generic memory. At most PLACES_MAX."""
    left = PLACES_MAX
    for function in rewrite.functions:
        for instruction in function.instructions:
            if is_counted(instruction) and left > 0:
                left -= 1
                yield function, instruction


def is_counted(instruction: Instruction) -> bool:
    """Whether the accesses of an instruction are counted: not those of local memory, parameters and constants."""
    return (
        instruction.opcode in KINDS
        and instruction.space not in _OWN
        and instruction.access_bytes > 0
        and ".bulk" not in instruction.modifiers
        and ".async" not in instruction.modifiers
        and ".shared::cluster" not in instruction.modifiers
    )


def place_of(module: Module, function: Function, instruction: Instruction) -> Place:
    """The description of an instruction, for a report."""
    source = ""
    if instruction.source is not None:
        file, line = instruction.source
        source = f"{module.files.get(file, '')}:{line}"
    return Place(
        function.name,
        instruction.line,
        source,
        instruction.name,
        KINDS[instruction.opcode],
        instruction.space or "generic",
        instruction.access_bytes,
    )
