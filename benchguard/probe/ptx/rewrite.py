"""Edit a kernel: parameters, registers, snippets at its entry, exits and instructions."""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchguard.probe.ptx.calls import trace_calls
from benchguard.probe.ptx.edits import Edits
from benchguard.probe.ptx.lexer import PtxError
from benchguard.probe.ptx.module import Function, Instruction, Module, Variable
from benchguard.probe.ptx.prune import prune
from benchguard.probe.ptx.share import SharedGlobals

_LABEL = re.compile(r"^[ \t]*([A-Za-z_$][\w$]*)[ \t]*:(?!:)", re.ASCII | re.MULTILINE)
_LEAVES = frozenset({"bra", "brx", "ret", "exit", "trap"})


class Pointer:
    """A kernel parameter that a probe adds. Functions that use it get it as a parameter too, through their calls."""

    def __init__(self, rewrite: Rewrite, name: str) -> None:
        self.name = name
        self.registers: dict[str, str] = {}
        self._rewrite = rewrite

    def register(self, function: Function) -> str:
        """The .u64 register that holds the parameter in a function.

        Args:
            function: One of `Rewrite.functions`.

        Raises:
            PtxError: The function cannot be given another parameter.
        """
        if function.name not in self.registers:
            if function not in self._rewrite.functions:
                raise PtxError(f"{function.name[:200]} cannot be given a parameter")
            if function.uses_registers:  # the parameter itself is the register
                self.registers[function.name] = "%" + self._rewrite.new_name("r")
            else:
                self.registers[function.name] = self._rewrite.new_register(function, ".u64")
        return self.registers[function.name]


class Rewrite:
    """A kernel of a module with edits. Other kernels, and functions that this one does not need, are left out.

    Attributes:
        kernel: The kernel.
        functions: The kernel, then the functions that it reaches by direct calls and that a pointer can be passed to.
        unprobed: Names of other functions and calls that can run, with the reason why no pointer reaches them.
    """

    def __init__(self, module: Module, kernel: str) -> None:
        """Begin with the kernel as it is.

        Args:
            module: A parsed module.
            kernel: The exact name of an entry.

        Raises:
            PtxError: The module has no such kernel.
        """
        self.module = module
        self.kernel = module.entry(kernel)
        self.graph = trace_calls(module, self.kernel)
        self.unprobed = self.graph.unprobed
        if kernel in self.unprobed:
            raise PtxError(f"the kernel {kernel[:200]} cannot be given a parameter: {self.unprobed[kernel]}")
        self.functions: Sequence[Function] = [
            one for one in self.graph.functions.values() if one.name not in self.unprobed
        ]
        self.edits = Edits()
        self._prefix = _free_prefix(module)
        self._count = 0
        self._registers: dict[str, list[str]] = {}
        self._entries: dict[str, list[str]] = {}
        self._pointers: list[Pointer] = []
        self._shared = SharedGlobals(self)
        prune(module, self.graph, self.edits)

    def private_variables(self) -> list[Variable]:
        """Variables that stay in the rewritten module, because no host code and no other kernel can use them."""
        return self._shared.private()

    def new_name(self, kind: str) -> str:
        """A name that the module does not have."""
        self._count += 1
        return f"{self._prefix}{kind}{self._count}"

    def symbol_name(self, number: int) -> str:
        """The name of the symbol for the address of variable `number`: the same in all rewrites of the kernel."""
        return f"{self._prefix}address_{number}"

    def new_register(self, function: Function, kind: str) -> str:
        """Declare a register.

        Args:
            function: The function that uses it.
            kind: Its type: .u64, .f32, .pred.

        Returns:
            Its name, with the percent sign.
        """
        name = "%" + self.new_name("r")
        self._registers.setdefault(function.name, []).append(f".reg {kind} {name};")
        return name

    def new_label(self) -> str:
        """A label for a branch inside a snippet, which the snippet defines."""
        return "$" + self.new_name("L")

    def add_pointer(self) -> Pointer:
        """Add a .u64 parameter behind the kernel's parameters; pointers come in the order of these calls."""
        pointer = Pointer(self, self.new_name("p"))
        self._pointers.append(pointer)
        return pointer

    def at_entry(self, function: Function, snippet: str) -> None:
        """Run instructions at a function's begin, after the registers of pointers are loaded."""
        self._entries.setdefault(function.name, []).append(snippet)

    def before(self, function: Function, instruction: Instruction, snippet: str) -> None:
        """Run instructions before an instruction, for the threads whose guard lets them execute it."""
        del function
        self.edits.insert(instruction.start, self._guarded(snippet, instruction.guard, instruction.negated))

    def after(self, function: Function, instruction: Instruction, snippet: str) -> None:
        """Run instructions after an instruction, for the threads that have executed it.

        Raises:
            PtxError: Control does not reach the place behind the instruction.
        """
        guard = instruction.guard
        if instruction.opcode in _LEAVES:
            raise PtxError(f"line {instruction.line}: nothing can run after {instruction.name}")
        if (
            guard
            and instruction.operands
            and any(one.text == guard for one in instruction.operands[0].tokens)
        ):
            saved = self.new_register(function, ".pred")
            self.edits.insert(instruction.start, f"mov.pred {saved}, {guard};\n")
            guard = saved
        self.edits.insert(instruction.end, "\n" + self._guarded(snippet, guard, instruction.negated))

    def at_thread_end(self, function: Function, snippet: str) -> None:
        """Run instructions before a thread ends: at `exit`, and in a kernel at `ret` and the last brace too."""
        self._before_all(function, {"exit", "ret"} if function.is_entry else {"exit"}, snippet)
        if function.is_entry:
            self._at_last_brace(function, snippet)

    def at_function_end(self, function: Function, snippet: str) -> None:
        """Run instructions before control leaves this function: at each `ret` and `exit`, and at the last brace."""
        self._before_all(function, {"exit", "ret"}, snippet)
        self._at_last_brace(function, snippet)

    def share_globals(self) -> list[tuple[str, str]]:
        """Make the kernel use the module-scope variables of the original module. To be called once, at any time.

        Returns:
            For each variable, the symbol of the rewritten module that is to be given the variable's address, and the
            variable's name in the original module.

        Raises:
            PtxError: A variable cannot be shared; the message has the reason.
        """
        return self._shared.share()

    def effective_address(self, function: Function, instruction: Instruction) -> tuple[str, str]:
        """Compute the address that an instruction accesses.

        Args:
            function: The function of the instruction.
            instruction: An instruction with an operand in brackets.

        Returns:
            A snippet, and the .u64 register that holds the address behind it. The address is in the instruction's own
            state space. A variable's address is that of the original module, so `share_globals` must be called, too.

        Raises:
            PtxError: The instruction has no address, or its address is not a base and a constant.
        """
        operand = instruction.address
        if operand is None:
            raise PtxError(f"line {instruction.line}: {instruction.name} has no address")
        result = self.new_register(function, ".u64")
        snippet = self._shared.snippet(instruction, operand, result)
        return snippet, result

    def text(self) -> str:
        """The rewritten module."""
        edits = Edits(list(self.edits.changes), list(self.edits.removed))
        carried = {pointer: self._carriers(pointer) for pointer in self._pointers}
        for function in self.graph.functions.values():
            pointers = [pointer for pointer in self._pointers if function.name in carried[pointer]]
            if pointers:
                self._add_parameters(edits, function, pointers)
                for called, instruction in self.graph.calls[function.name]:
                    passed = [pointer for pointer in self._pointers if called in carried[pointer]]
                    if passed:
                        self._pass(edits, function, called, instruction, passed)
        for function in self.graph.functions.values():
            loads = [
                f"ld.param.u64 {pointer.registers[function.name]}, [{self._parameter(pointer, function)}];"
                for pointer in self._pointers
                if function.name in pointer.registers and not function.uses_registers
            ]
            lines = [*self._registers.get(function.name, ()), *loads, *self._entries.get(function.name, ())]
            if lines and function.body is not None:
                edits.insert(function.body[0] + 1, "\n" + "\n".join(lines) + "\n")
        for declaration in self._shared.declarations:
            edits.insert(self.module.preamble, f"\n{declaration}")
        if self._shared.declarations:
            edits.insert(self.module.preamble, "\n")
        return edits.apply(self.module.text)

    def _guarded(self, snippet: str, guard: str, negated: bool) -> str:
        snippet = snippet.strip()
        if not guard:
            return snippet + "\n"
        if snippet.count(";") == 1 and snippet.endswith(";") and snippet[0] not in "@{$":
            return f"@{'!' if negated else ''}{guard} {snippet}\n"
        label = self.new_label()
        return f"@{'' if negated else '!'}{guard} bra {label};\n{snippet}\n{label}:\n"

    def _before_all(self, function: Function, opcodes: set[str], snippet: str) -> None:
        for instruction in function.instructions:
            if instruction.opcode in opcodes:
                self.before(function, instruction, self._own_labels(snippet))

    def _at_last_brace(self, function: Function, snippet: str) -> None:
        if function.body is None:
            return
        last = function.instructions[-1] if function.instructions else None
        ends = last is not None and last.opcode in _LEAVES and not last.guard
        if not ends or any(offset > (last.end if last else 0) for offset in function.labels):
            self.edits.insert(function.body[1] - 1, self._own_labels(snippet) + "\n")

    def _own_labels(self, snippet: str) -> str:
        """A snippet that is used in several places needs new labels in each."""
        for label in set(_LABEL.findall(snippet)):
            word = rf"(?<![\w$%]){re.escape(label)}(?![\w$%])"
            snippet = re.sub(word, self.new_label(), snippet)
        return snippet

    def _carriers(self, pointer: Pointer) -> set[str]:
        """The functions that use a pointer or pass it on. Only the kernel's parameters do not depend on use."""
        found = {self.kernel.name}
        waiting = list(pointer.registers)
        while waiting:
            name = waiting.pop()
            if name not in found or name == self.kernel.name:
                found.add(name)
                for caller in self.graph.callers(name):
                    if caller not in found:
                        waiting.append(caller)
        for name in found - {self.kernel.name}:
            pointer.register(self.graph.functions[name])
        if len(found) > 1:
            pointer.register(self.kernel)
        return found

    def _parameter(self, pointer: Pointer, function: Function) -> str:
        return pointer.name if function is self.kernel else f"{pointer.name}_in"

    def _add_parameters(self, edits: Edits, function: Function, pointers: Sequence[Pointer]) -> None:
        kind = ".reg" if function.uses_registers else ".param"
        added = ", ".join(
            f"{kind} .u64 {pointer.registers[function.name] if kind == '.reg' else self._parameter(pointer, function)}"
            for pointer in pointers
        )
        for one in self.module.functions:
            if one.name != function.name:
                continue
            if one.list_end is None:
                edits.insert(one.header, f"({added})")
            else:
                edits.insert(one.list_end, f", {added}" if one.parameters else added)

    def _pass(
        self, edits: Edits, caller: Function, called: str, call: Instruction, pointers: Sequence[Pointer]
    ) -> None:
        registers = [pointer.registers[caller.name] for pointer in pointers]
        if self.graph.functions[called].uses_registers:
            values = registers
        else:
            values = [f"{pointer.name}_out" for pointer in pointers]
            stores = [
                f".param .b64 {value}; st.param.b64 [{value}], {register};"
                for value, register in zip(values, registers, strict=True)
            ]
            edits.insert(call.start, "{ " + " ".join(stores) + "\n")
            edits.insert(call.end, " }")
        position = next(i for i, operand in enumerate(call.operands) if operand.tokens[0].text != "(")
        added = ", ".join(values)
        rest = call.operands[position + 1 :]
        if rest and rest[0].tokens[0].text == "(":
            edits.insert(rest[0].end - 1, f", {added}" if len(rest[0].tokens) > 2 else added)
        else:
            edits.insert(call.operands[position].end, f", ({added})")


def _free_prefix(module: Module) -> str:
    """A prefix that no name of the module has, with or without the characters % and $ before it."""
    names = [name.lstrip("%$") for name in module.names if "nb" in name]
    for number in range(len(names) + 1):
        prefix = f"nb{number or ''}_"
        if not any(name.startswith(prefix) for name in names):
            return prefix
    raise PtxError("the PTX uses every name that begins with nb")
