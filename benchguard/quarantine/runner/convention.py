"""Which values an entry is called with, in which order (quarantine/contract.py, Convention)."""

from __future__ import annotations

from ...problem.spec import Argument, Buffer, CaseSpec
from ..contract import Convention


def ordered(case: CaseSpec, convention: Convention) -> tuple[Argument, ...]:
    """A case's arguments as the entry takes them; those of `tuple` are in one tuple, and those of `tuple_of_inputs`
    and `input` are without the outputs for a Python function, which returns them."""
    outputs = tuple(each for each in case.arguments if _is_output(each))
    others = tuple(each for each in case.arguments if not _is_output(each))
    if convention == "output_first":
        return outputs + others
    if convention in ("tuple", "tuple_of_inputs", "input"):
        return others + outputs
    if convention == "module":
        return tuple(each for each in others if not _is_constant(each))
    return case.arguments


def constants(case: CaseSpec) -> tuple[Buffer, ...]:
    return tuple(each for each in case.buffers if each.role == "constant")


def _is_output(argument: Argument) -> bool:
    return isinstance(argument, Buffer) and argument.role == "output"


def _is_constant(argument: Argument) -> bool:
    return isinstance(argument, Buffer) and argument.role == "constant"
