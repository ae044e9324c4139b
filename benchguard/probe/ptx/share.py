"""Use the module-scope variables of the original module through their addresses.

A rewritten kernel lives in a module of its own. Its variables would be fresh copies: data that the host has written,
and results of earlier kernels, would be missing. So each variable is replaced by an 8-byte symbol that holds the
address of the variable in the original module. The driver gives that address for `.global` and `.const` variables
alike, and global loads read both, so loads from constant memory become global loads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchguard.probe.ptx.calls import symbols
from benchguard.probe.ptx.lexer import PtxError
from benchguard.probe.ptx.module import WIDTHS, Function, Instruction, Operand, Variable

if TYPE_CHECKING:
    from benchguard.probe.ptx.rewrite import Rewrite

_PRIVATE = ("$str", "__unnamed_", ".str")
"""Beginnings of names that compilers give to string literals, which no host code can name."""


_SPACES = ("global", "const", "tex")


class SharedGlobals:
    """The shared variables of one rewrite."""

    def __init__(self, rewrite: Rewrite) -> None:
        self._rewrite = rewrite
        self._symbols: dict[str, str] = {}
        self._numbers = {name: number for number, name in enumerate(rewrite.graph.variables, 1)}
        self._registers: dict[tuple[str, str], str] = {}
        self.declarations: list[str] = []

    def share(self) -> list[tuple[str, str]]:
        """Replace every use; see `Rewrite.share_globals`."""
        rewrite = self._rewrite
        module, graph = rewrite.module, rewrite.graph
        used = [one for one in graph.variables.values() if one.space in _SPACES]
        for variable in used:
            self._check(variable)
        shared = [one for one in used if not self._is_private(one)]
        if (shared or any(one.space == "const" for one in used)) and module.address_size != 64:
            raise PtxError("the PTX has 32-bit addresses, so its variables cannot be shared")
        for variable in shared:
            self._symbol_of(variable.name)
        has_constants = any(one.space == "const" for one in used)
        for function in graph.functions.values():
            for instruction in function.instructions:
                self._rewrite_uses(function, instruction)
                if has_constants:
                    self._leave_constant_space(instruction)
        self._remove_definitions(used)
        return [(symbol, name) for name, symbol in self._symbols.items()]

    def private(self) -> list[Variable]:
        """The used variables that are not shared."""
        used = self._rewrite.graph.variables.values()
        return [one for one in used if one.space in _SPACES and self._is_private(one)]

    def snippet(self, instruction: Instruction, operand: Operand, result: str) -> str:
        """Instructions that put the address of an operand in brackets into a register."""
        base, offset = operand.base, operand.offset
        symbol = None if instruction.scope.declares(base) else self._symbol_of(base)
        if symbol is not None:
            lines = [f"ld.global.u64 {result}, [{symbol}];"]
        elif WIDTHS.get(instruction.scope.type_of(base)) == 4:
            lines = [f"cvt.u64.u32 {result}, {base};"]
        else:
            lines = [f"mov.u64 {result}, {base};"]
        if offset:
            lines.append(f"add.s64 {result}, {result}, {offset};")
        return "\n".join(lines)

    def _symbol_of(self, name: str) -> str | None:
        """The symbol for a variable that is, or will be, shared; None for other names."""
        variable = self._rewrite.graph.variables.get(name)
        if variable is None or variable.space not in _SPACES or self._is_private(variable):
            return None
        if name not in self._symbols:
            self._symbols[name] = self._rewrite.symbol_name(self._numbers[name])
            self.declarations.append(f".visible .global .align 8 .u64 {self._symbols[name]};")
        return self._symbols[name]

    def _check(self, variable: Variable) -> None:
        if variable.is_reference:
            raise PtxError(
                f"line {variable.line}: {variable.name[:200]} is a texture, sampler or surface reference, which "
                "cannot be shared with the original module; probes support texture objects"
            )
        if variable.is_external:
            raise PtxError(
                f"line {variable.line}: the variable {variable.name[:200]} is defined in another module, "
                "which is linked later"
            )

    def _is_private(self, variable: Variable) -> bool:
        """Strings, and tables of functions: the rewritten kernel calls its own functions."""
        module = self._rewrite.module
        return variable.name.startswith(_PRIVATE) or any(
            token.kind == "name" and module.function(token.text) is not None for token in variable.initial
        )

    def _rewrite_uses(self, function: Function, instruction: Instruction) -> None:
        edits = self._rewrite.edits
        done: set[str] = set()
        for token in symbols(instruction):
            symbol = self._symbols.get(token.text)
            if symbol is None:
                continue
            operand = next(one for one in instruction.operands if token in one.tokens)
            spelling = operand.tokens
            at = next(i for i, one in enumerate(spelling) if one is token)
            behind = spelling[at + 1].text if at + 1 < len(spelling) else ""
            if behind == "[":
                raise PtxError(f"line {token.line}: the index of {token.text[:200]} cannot be rewritten")
            register = self._register(function, token.text)
            if token.text not in done:
                edits.insert(instruction.start, f"ld.global.u64 {register}, [{symbol}];\n")
                done.add(token.text)
            if behind in {"+", "-"} and not operand.is_address:
                self._add_outside(function, instruction, operand, at, register)
            else:
                edits.replace(token.start, token.end, register)

    def _add_outside(
        self, function: Function, instruction: Instruction, operand: Operand, at: int, register: str
    ) -> None:
        """`mov.u64 %rd1, table+16;`: a register cannot be written with an offset outside brackets."""
        if at != 0 or len(operand.tokens) != 3:
            raise PtxError(f"line {instruction.line}: {operand.text[:200]} cannot be rewritten")
        total = self._rewrite.new_register(function, ".u64")
        constant = operand.tokens[1].text.replace("+", "") + operand.tokens[2].text
        self._rewrite.edits.insert(instruction.start, f"add.s64 {total}, {register}, {constant};\n")
        self._rewrite.edits.replace(operand.start, operand.end, total)

    def _register(self, function: Function, variable: str) -> str:
        key = (function.name, variable)
        if key not in self._registers:
            self._registers[key] = self._rewrite.new_register(function, ".u64")
        return self._registers[key]

    def _leave_constant_space(self, instruction: Instruction) -> None:
        if ".const" not in instruction.modifiers:
            return
        edits = self._rewrite.edits
        modifier = next(token for token in instruction.tokens if token.text == ".const")
        if instruction.opcode == "isspacep":
            raise PtxError(
                f"line {instruction.line}: the kernel asks whether an address is in constant memory, so its "
                "constants cannot be shared"
            )
        if instruction.opcode == "cvta" and len(instruction.operands) == 2:
            opcode = next(token for token in instruction.tokens if token.text == "cvta")
            edits.replace(opcode.start, instruction.operands[0].start, "mov.u64 ")
        elif instruction.opcode in {"ld", "ldu", "prefetch"}:
            edits.replace(modifier.start, modifier.end, ".global")
        else:
            raise PtxError(f"line {instruction.line}: {instruction.name} uses constant memory")

    def _remove_definitions(self, used: list[Variable]) -> None:
        """Shared variables need no copy, and what stays of constant memory becomes global, as its loads do."""
        rewrite = self._rewrite
        module = rewrite.module
        named = frozenset[str]().union(*(section.names for section in module.sections))
        kept = {
            one.statement
            for one in module.variables
            if one.name in named or (one.name in rewrite.graph.variables and one.name not in self._symbols)
        }
        changed: set[int] = set()
        for variable in used:
            if variable.statement not in kept:
                rewrite.edits.remove(variable.statement)
                continue
            space = next((token for token in variable.declaration if token.text == ".const"), None)
            if space is not None and space.start not in changed:
                changed.add(space.start)
                rewrite.edits.replace(space.start, space.end, ".global")
