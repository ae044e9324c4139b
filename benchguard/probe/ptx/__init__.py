"""Read PTX as structure, and rewrite it without touching the rest of the text.

    from benchguard.probe import ptx

    rewrite = ptx.Rewrite(ptx.parse(text), "saxpy")      # this kernel, and the functions that it needs
    counter = rewrite.add_pointer()                      # one more kernel parameter, .u64
    for function in rewrite.functions:                   # the kernel first
        pointer = counter.register(function)             # holds the parameter in this function
        for instruction in function.instructions:
            if instruction.opcode == "ld" and instruction.space in {"global", ""}:
                rewrite.before(function, instruction, f"red.global.add.u64 [{pointer}], 1;")
    rewrite.unprobed                                     # functions that cannot be given the pointer: reasons
    shared = rewrite.share_globals()                     # variables stay those of the original module
    rewrite.text()                                       # PTX again

`Rewrite` collects edits, and `text` applies them. Text that no edit touches stays byte for byte. New registers and
labels come from `Rewrite.new_register` and `Rewrite.new_label`. A snippet of `before` and `after` runs under the guard
of its instruction.
"""

from benchguard.probe.ptx.lexer import PtxError
from benchguard.probe.ptx.module import Function, Instruction, Module, Operand, Parameter, Variable
from benchguard.probe.ptx.parser import parse
from benchguard.probe.ptx.rewrite import Pointer, Rewrite

__all__ = [
    "Function", "Instruction", "Module", "Operand", "Parameter", "Pointer", "PtxError", "Rewrite", "Variable",
    "parse",
]  # fmt: skip
