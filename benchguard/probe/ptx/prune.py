"""Leave out what a kernel does not need."""

from __future__ import annotations

from benchguard.probe.ptx.calls import CallGraph
from benchguard.probe.ptx.edits import Edits
from benchguard.probe.ptx.module import Module

_STRINGS = ".debug_str"
"""The section that `.loc … function_name` refers to."""


def prune(module: Module, graph: CallGraph, edits: Edits) -> None:
    """Remove functions, kernels and variables that a kernel does not need.

    Debug sections stay if every symbol that they name stays. Otherwise all but the one with strings are removed, since
    they refer to each other, and so is the word `debug` of `.target`.

    Args:
        module: The module.
        graph: The needs of the kernel.
        edits: Receives the removals.
    """
    removed: set[str] = set()
    for function in module.functions:
        if function.name not in graph.functions:
            edits.remove(function.span)
            removed.add(function.name)
            removed.update(function.labels.values())
    for alias, aliased, span in module.aliases:
        if alias not in graph.functions and aliased not in graph.functions:
            edits.remove(span)
    by_statement: dict[tuple[int, int], bool] = {}
    for variable in module.variables:
        needed = variable.name in graph.variables or variable.space in {"shared", "tex"}
        by_statement[variable.statement] = by_statement.get(variable.statement, False) or needed
    for variable in module.variables:
        if not by_statement[variable.statement]:
            edits.remove(variable.statement)
            removed.add(variable.name)
    remove_stale_sections(module, removed, edits)


def remove_stale_sections(module: Module, removed: set[str], edits: Edits) -> None:
    """Remove debug information that names removed symbols."""
    if not any(section.names & removed for section in module.sections):
        return
    for section in module.sections:
        if section.name != _STRINGS:
            edits.remove(section.span)
    if "debug" in module.target:
        kept = ", ".join(word for word in module.target if word != "debug")
        edits.replace(*module.target_span, f".target {kept}")
