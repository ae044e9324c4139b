"""operations.c: the hooks of [operations], which record an operation from the parameters alone."""

from __future__ import annotations

from ..model import Shape
from ..semantics import Interception, shared_first
from ..surface import Surface
from ..vendor import CUDA
from .text import banner, of_type, wrapped

_HEAD = """\
#include "cuda/capture/copy.h"
#include "cuda/capture/memset.h"
#include "cuda/capture/operation.h"
#include "real.h"
#include "special.h"
#include "surface.h"
"""

_HOOK = """
{signature}
{{
    const bool nb_announced = nb_capture_begin_operation(nb_call, {stream});
{real}
    if (nb_capture_is_accepted(nb_announced, {status}))
        {record};
    return nb_result;
}}
"""


def emit(surface: Surface) -> str:
    translated = surface.translation.interceptions.values() if surface.translation else ()
    hooks = shared_first([*surface.interceptions.values(), *translated])
    text = banner("operations_c", surface.api) + _HEAD
    return text + "".join(
        _hook(hook, first)
        for hook, first in hooks.items()
        if first.operation is not None and hook == first.wrap_when_recording
    )


def _hook(hook: str, first: Interception) -> str:
    function = first.function
    is_cuda = CUDA.function.fullmatch(function.name) is not None
    stream = first.stream.parameter.name if first.stream else "NULL"
    if first.stream and not is_cuda:
        stream = f"(CUstream){stream}"
    record = first.operation or ""
    for placeholder, value in (("$stream", stream), ("$waits", "false" if first.stream else "true")):
        record = record.replace(placeholder, value)
    items = ["const struct nb_call *nb_call", f"nb_{function.name}_t nb_real"]
    items += [parameter.declaration for parameter in function.parameters]
    assert function.returns.shape is not Shape.VOID
    return _HOOK.format(
        signature=wrapped(of_type(function.result, f"{hook}("), items, ")"),
        stream=stream,
        real=wrapped(
            f"    const {function.result} nb_result = nb_real(", [p.name for p in function.parameters], ");"
        ),
        status="nb_result" if is_cuda else "(CUresult)nb_result",
        record=record,
    )
