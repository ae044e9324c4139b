"""semantics/hip_and_cuda.toml: pairs of HIP and CUDA functions that differ in names and types only."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

import msgspec

from .errors import CodegenError
from .model import CType, Function, Shape
from .semantics_file import decode

PAIRS = Path(__file__).resolve().parent / "semantics" / "hip_and_cuda.toml"


class Pair(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    to: str
    arguments: list[str] | None = None
    """Names of parameters, and C expressions. None: the parameters in their order."""
    since: int = 0
    """The first release whose header declares the function of this row (a CUDA_VERSION or HIP_VERSION)."""

    @property
    def is_plain(self) -> bool:
        return self.arguments is None and not self.since


class Pairs(msgspec.Struct, forbid_unknown_fields=True, frozen=True, dict=True):
    release: str
    address: str
    answers: list[str]
    types: dict[str, str]
    driver_types: dict[str, str]
    conversions: dict[str, str]
    sim_rows: dict[str, Pair | str] = msgspec.field(name="sim")
    hook_rows: dict[str, Pair | str] = msgspec.field(name="hooks")
    driver_rows: dict[str, Pair | str] = msgspec.field(name="driver")

    @cached_property
    def sim(self) -> Mapping[str, Pair]:
        return _decoded(self.sim_rows)

    @cached_property
    def hooks(self) -> Mapping[str, Pair]:
        return _decoded(self.hook_rows)

    @cached_property
    def driver(self) -> Mapping[str, Pair]:
        return _decoded(self.driver_rows)

    def is_pair(self, hip: CType, cuda: CType) -> bool:
        """Whether a value of one type, or what it points to, can be read as the other type."""
        known = {**self.types, **self.driver_types}
        if hip.canonical == cuda.canonical:
            return True
        if any(known.get(spelling) in cuda.spellings for spelling in hip.spellings):
            return True
        if hip.pointee is not None and cuda.pointee is not None:
            return self.is_pair(hip.pointee, cuda.pointee)
        return False


def load_pairs(path: Path = PAIRS) -> Pairs:
    """Raises CodegenError with the first mistake in the file."""
    return decode(path, Pairs)


def _decoded(rows: Mapping[str, Pair | str]) -> dict[str, Pair]:
    return {name: Pair(row) if isinstance(row, str) else row for name, row in rows.items()}


def arguments_of(pair: Pair, caller: Function, callee: Function, pairs: Pairs) -> list[str]:
    """The arguments of `caller`'s call of `callee`, as C text. Raises CodegenError where a type has no pair."""
    if pair.arguments is None:
        names = [parameter.name for parameter in caller.parameters]
        if len(names) != len(callee.parameters):
            raise _error(caller, f"{callee.name} has {len(callee.parameters)} parameters; give its arguments")
    else:
        names = pair.arguments
    if len(names) > len(callee.parameters):
        raise _error(caller, f"{callee.name} has {len(callee.parameters)} parameters, not {len(names)}")
    own = {parameter.name: parameter.type for parameter in caller.parameters}
    items = [
        _converted(name, own[name], parameter.type, caller, pairs) if name in own else name
        for name, parameter in zip(names, callee.parameters, strict=False)
    ]
    return items + [_zero(parameter.type) for parameter in callee.parameters[len(names) :]]


def _converted(name: str, source: CType, target: CType, caller: Function, pairs: Pairs) -> str:
    conversion = next((pairs.conversions[s] for s in source.spellings if s in pairs.conversions), None)
    if conversion is not None and source.canonical != target.canonical:
        return f"{conversion}({name})"
    loses_const = source.pointee_const and target.pointee is not None and not target.pointee_const
    if source.canonical == target.canonical and not loses_const:
        return name
    shapes = {source.shape, target.shape}
    is_pair = pairs.is_pair(source, target) or pairs.is_pair(target, source)
    if not is_pair and shapes != {Shape.INTEGER}:
        raise _error(caller, f"{name}: no pair of {source.spellings[0]} and {target.spellings[0]}")
    if Shape.AGGREGATE in shapes:
        raise _error(caller, f"{name}: a structure that is passed by value has no cast; write the call in C")
    spelling = type_text(target)
    if shapes == {Shape.FUNCTION_POINTER}:
        return f"({spelling})(void (*)(void)){name}"
    if shapes == {Shape.POINTER, Shape.INTEGER} or loses_const:
        return f"({spelling})(uintptr_t){name}"
    return f"({spelling}){name}"


def type_text(kind: CType) -> str:
    """A parameter's type as C text."""
    return f"{'const ' if kind.pointee_const else ''}{kind.spellings[0]}"


def _zero(kind: CType) -> str:
    match kind.shape:
        case Shape.POINTER | Shape.FUNCTION_POINTER:
            return "NULL"
        case Shape.AGGREGATE:
            return f"({kind.spellings[0]}){{0}}"
        case _:
            return "0"


def _error(caller: Function, message: str) -> CodegenError:
    return CodegenError(f"{PAIRS.name}: {caller.name}: {message}")
