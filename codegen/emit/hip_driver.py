"""hip_driver.c: CUDA's driver functions that are one HIP function with other types."""

from __future__ import annotations

from ..errors import CodegenError
from ..model import Api, CType, Function, Parameter, Shape
from ..pairs import PAIRS, Pair, Pairs, arguments_of, type_text
from .text import banner, by_section, heading, of_type, wrapped

_HEAD = """\
#include "hip/driver/hip.h"
"""

_SIZES = """
/* Structures that are passed by their address. */
{checks}"""

_CALL = """
{signature}
{{
{call}
}}
"""

# The function stores a pointer, and CUDA's caller expects a number.
_STORING = """
{signature}
{{
    {type}stored = NULL;
{call}
    if (result == CUDA_SUCCESS && {name} != NULL)
        *{name} = ({number})(uintptr_t)stored;
    return result;
}}
"""


def emit_hip_driver(hip: Api, cuda: Api, pairs: Pairs) -> dict[str, str]:
    """Text by file name. Raises CodegenError where the table contradicts a header."""
    rows = {name: pair for name, pair in pairs.driver.items() if cuda.version >= pair.since}
    for known, names in ((cuda, rows), (hip, [pair.to for pair in rows.values()])):
        for name in names:
            if name not in known.by_name:
                raise CodegenError(
                    f"{PAIRS.name}: driver: {name}: {known.vendor.header} {known.release} declares no such function"
                )
    functions = [
        (function, _function(function, hip.by_name[rows[function.name].to], rows[function.name], pairs))
        for function in cuda.functions
        if function.name in rows
    ]
    text = banner("hip_driver", hip) + _HEAD + _sizes(hip, cuda, rows)
    for title, texts in by_section(functions):
        text += "\n" + heading(title) + "".join(texts)
    return {"hip_driver.c": text}


def _sizes(hip: Api, cuda: Api, rows: dict[str, Pair]) -> str:
    checks: dict[str, None] = {}
    for name, pair in rows.items():
        if pair.arguments is None:
            parameters = zip(cuda.by_name[name].parameters, hip.by_name[pair.to].parameters, strict=False)
            for ours, theirs in parameters:
                a, b = ours.type.pointee, theirs.type.pointee
                is_structure = a is not None and b is not None and Shape.AGGREGATE in (a.shape, b.shape)
                if a is None or b is None or not is_structure or a.canonical == b.canonical:
                    continue
                if ours.type.spellings[0].endswith("*"):
                    one, other = b.spellings[0], a.spellings[0]
                    check = f'_Static_assert(sizeof({one}) == sizeof({other}), "{one} is {other}");\n'
                    checks[check] = None
    return _SIZES.format(checks="".join(checks)) if checks else ""


def _function(function: Function, callee: Function, pair: Pair, pairs: Pairs) -> str:
    signature = wrapped(
        of_type(function.result, f"{function.name}("),
        [parameter.declaration for parameter in function.parameters] or ["void"],
        ")",
    )
    arguments = arguments_of(pair, function, callee, pairs)
    stored = _stored(function, callee)
    if stored is None:
        call = wrapped(f"    return nb_hip_result(HIP({callee.name})(", arguments, "));")
        return _CALL.format(signature=signature, call=call)
    position, own, theirs = stored
    arguments[position] = f"{own.name} != NULL ? &stored : NULL"
    number = own.type.pointee
    return _STORING.format(
        signature=signature,
        type=of_type(type_text(theirs), ""),
        call=wrapped(f"    const CUresult result = nb_hip_result(HIP({callee.name})(", arguments, "));"),
        name=own.name,
        number=type_text(number) if number else "",
    )


def _stored(function: Function, callee: Function) -> tuple[int, Parameter, CType] | None:
    """The parameter through which HIP stores a pointer and CUDA a number."""
    for position, (own, parameter) in enumerate(zip(function.parameters, callee.parameters, strict=False)):
        ours, theirs = own.type.pointee, parameter.type.pointee
        if ours is None or theirs is None:
            continue
        if ours.shape is Shape.INTEGER and theirs.shape is Shape.POINTER:
            return position, own, theirs
    return None
