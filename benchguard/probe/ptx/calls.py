"""The calls between the functions of a module, from one kernel on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from benchguard.probe.ptx.lexer import Token
from benchguard.probe.ptx.module import Function, Instruction, Module, Variable


@dataclass
class CallGraph:
    """Functions and variables that a kernel needs, and the calls among the functions."""

    kernel: Function
    functions: dict[str, Function] = field(default_factory=dict)
    """Needed functions by name: the kernel first, then in the order in which they are met."""
    variables: dict[str, Variable] = field(default_factory=dict)
    calls: dict[str, list[tuple[str, Instruction]]] = field(default_factory=dict)
    """Direct calls of a function, by the caller's name: the called function and the instruction."""
    unprobed: dict[str, str] = field(default_factory=dict)
    """Functions whose parameters cannot be changed, with the reason."""

    def callers(self, name: str) -> Iterator[str]:
        """The functions that call this one directly."""
        return (caller for caller, calls in self.calls.items() if any(name == called for called, _ in calls))


def trace_calls(module: Module, kernel: Function) -> CallGraph:
    """Follow every name from a kernel on.

    Args:
        module: The module.
        kernel: One of its entries.

    Returns:
        The kernel's needs. A call through a register leads nowhere; the functions that such a call can reach
        have their address taken, so they are needed and unprobed.
    """
    graph = CallGraph(kernel)
    aliases = {alias: aliased for alias, aliased, _ in module.aliases}
    waiting: list[Function | Variable] = [kernel]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Variable):
            names = _names(module, graph, one)
        else:
            graph.functions[one.name] = one
            graph.calls[one.name] = []
            names = _names_in_body(module, graph, one)
        for name in names:
            met = module.function(name) or module.variable(name)
            target = aliases.get(name)
            if target is not None:
                for alias in (name, target):
                    graph.unprobed.setdefault(alias, "it has an alias")
                aliased = module.function(target)
                if aliased is not None and aliased.name not in graph.functions:
                    waiting.append(aliased)
            if isinstance(met, Function) and met.name not in graph.functions:
                graph.functions[met.name] = met
                waiting.append(met)
            elif isinstance(met, Variable) and met.name not in graph.variables:
                graph.variables[met.name] = met
                waiting.append(met)
    _spread(graph)
    return graph


def _names(module: Module, graph: CallGraph, variable: Variable) -> list[str]:
    names = [token.text for token in variable.initial if token.kind == "name"]
    for name in names:
        if module.function(name) is not None:
            graph.unprobed.setdefault(name, f"its address is in the variable {variable.name}")
    return names


def _names_in_body(module: Module, graph: CallGraph, function: Function) -> list[str]:
    if function.body is None and function is not graph.kernel:
        graph.unprobed.setdefault(function.name, "it has no body in this module")
    names: list[str] = []
    for instruction in function.instructions:
        called = instruction.called
        direct = called.tokens[0] if called is not None else None
        for token in symbols(instruction):
            if direct is token and (target := module.function(token.text)) is not None:
                graph.calls[function.name].append((target.name, instruction))
            elif module.function(token.text) is not None:
                graph.unprobed.setdefault(token.text, f"its address is taken at line {token.line}")
            names.append(token.text)
        if direct is not None and module.function(direct.text) is None:
            graph.unprobed.setdefault(
                f"{direct.text} at line {direct.line}", "the call goes through a register"
            )
    for token in function.lists:
        if token.kind == "name" and module.function(token.text) is not None:
            graph.unprobed.setdefault(token.text, f"an indirect call can reach it, line {token.line}")
            names.append(token.text)
    return names


def symbols(instruction: Instruction) -> Iterator[Token]:
    """The tokens of an instruction that can name something of the module."""
    return (
        token
        for operand in instruction.operands
        for token in operand.tokens
        if token.kind == "name" and token.text[0] != "%" and not instruction.scope.declares(token.text)
    )


def _spread(graph: CallGraph) -> None:
    """A function that an unprobed function calls keeps its parameters, since that call has no pointer to pass."""
    waiting = list(graph.unprobed)
    while waiting:
        caller = waiting.pop()
        for called, _ in graph.calls.get(caller, ()):
            if called not in graph.unprobed:
                graph.unprobed[called] = f"{caller}, which cannot be probed, calls it"
                waiting.append(called)
