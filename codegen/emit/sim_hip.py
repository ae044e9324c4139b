"""hip_names.h, hip_stubs.c, hip_calls.c and hip.map: the generated part of the CPU driver's HIP functions.

Made from the header, from semantics/hip_and_cuda.toml and from the exports of Debian's library.
"""

from __future__ import annotations

from ..errors import CodegenError
from ..exports import DriverExports
from ..model import Api, CType, Function
from ..pairs import PAIRS, Pairs
from .shim_map import version_script
from .text import SIM_COMMAND, banner, by_section, heading, wrapped

_STATUS = "hipError_t"
_OWN = ("simInject",)
_REMEMBERED = ("hipGetLastError",)
"""Functions whose result is not the next last error."""

_NAMES = """\
/* After HIP's headers: what sim/hip then defines as hipMalloc is sim_hipMalloc, which has the header's prototype. The
 * export of the header's name is in hip_stubs.c. Functions without a hipError_t are exported as they are. */
"""

_NAME = """
{prototype};
#undef {name}
#define {name} sim_{name}
"""

_STUBS = """\
#define SIM_HIP_EXPORTS
#include "hip/hip.h"
#include "driver/core/watch.h"

/* For each function, a weak implementation that one in sim/hip replaces, and the export that calls it. The
 * compiler compares each export with the header's declaration. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#pragma GCC optimize("no-ipa-icf")
#define WEAK   __attribute__((weak, visibility("hidden")))
#define EXPORT __attribute__((visibility("default")))
"""

_STUB = """
{weak}
{{
    return hip_not_supported("{name}");
}}

{export}
{{
    if (SIM_WATCHED) {{
        const int injected = sim_inject({number});
        if (injected >= 0)
            return hip_last((hipError_t)injected);
    }}
    return {result};
}}
"""

_CALLS = """\
/* HIP functions that are one CUDA function with other types (codegen/semantics/hip_and_cuda.toml). */
#include "hip/hip.h"
"""

_CALL = """
{prototype}
{{
{ready}{call}
}}
"""


def emit_sim_hip(api: Api, pairs: Pairs, exports: DriverExports, first_number: int) -> dict[str, str]:
    """Text by file name. `first_number` is how many functions of CUDA's stand before HIP's in sim_functions[].

    Raises CodegenError where the table names what HIP's header does not declare.
    """
    unknown = [name for name in pairs.sim if name not in api.by_name]
    if unknown:
        raise CodegenError(
            f"{PAIRS.name}: sim: {unknown[0]}: {api.vendor.header} {api.release} declares no such function"
        )
    return {
        "hip_names.h": _names(api),
        "hip_stubs.c": _stubs(api, first_number),
        "hip_calls.c": _calls(api, pairs),
        "hip.map": banner("sim_hip", api, SIM_COMMAND) + version_script(exports, _OWN),
    }


def exported_by_stub(api: Api) -> tuple[Function, ...]:
    """The functions that can fail: each has a stub, and a number behind CUDA's in sim_functions[]."""
    return tuple(function for function in api.functions if function.result == _STATUS)


def _names(api: Api) -> str:
    text = banner("sim_hip", api, SIM_COMMAND) + _NAMES
    items = (
        (function, _NAME.format(prototype=_prototype(function, "", "sim_"), name=function.name))
        for function in exported_by_stub(api)
    )
    for title, names in by_section(items):
        text += "\n" + heading(title) + "".join(names)
    return text


def _prototype(function: Function, attribute: str, prefix: str) -> str:
    items = [parameter.declaration for parameter in function.parameters] or ["void"]
    return wrapped(f"{attribute}{function.result} {prefix}{function.name}(", items, ")")


def _stubs(api: Api, first_number: int) -> str:
    text = banner("sim_hip", api, SIM_COMMAND) + _STUBS
    numbered = enumerate(exported_by_stub(api), first_number)
    for title, stubs in by_section((function, _stub(function, number)) for number, function in numbered):
        text += "\n" + heading(title) + "".join(stubs)
    return text


def _stub(function: Function, number: int) -> str:
    arguments = ", ".join(parameter.name for parameter in function.parameters)
    call = f"sim_{function.name}({arguments})"
    return _STUB.format(
        weak=_prototype(function, "WEAK ", "sim_"),
        export=_prototype(function, "EXPORT ", ""),
        name=function.name,
        number=number,
        result=call if function.name in _REMEMBERED else f"hip_last({call})",
    )


def _calls(api: Api, pairs: Pairs) -> str:
    text = banner("sim_hip", api, SIM_COMMAND) + _CALLS
    targets = [pair.to for pair in pairs.sim.values()]
    forms = dict.fromkeys(target for target in targets if target.endswith(("_ptds", "_ptsz")))
    if forms:
        text += "\n/* The forms for a default stream a thread, which the header names by macros alone. */\n"
        text += "".join(f"__typeof__({form[:-5]}) {form};\n" for form in forms)
    rows = ((api.by_name[name], _call(api.by_name[name], pairs)) for name in pairs.sim)
    ordered = sorted(rows, key=lambda row: api.functions.index(row[0]))
    for title, texts in by_section(ordered):
        text += "\n" + heading(title) + "".join(texts)
    return text


def _call(function: Function, pairs: Pairs) -> str:
    pair = pairs.sim[function.name]
    types = {parameter.name: parameter.type for parameter in function.parameters}
    expressions = list(types) if pair.arguments is None else pair.arguments
    arguments = [
        _argument(name, _cast(types[name], pairs, function)) if name in types else name
        for name in expressions
    ]
    return _CALL.format(
        prototype=_prototype(function, "", ""),
        ready="" if pair.to.startswith("cuda") else "    HIP_READY();\n",
        call=wrapped(f"    return hip_result({pair.to}(", arguments, "));"),
    )


def _argument(name: str, cast: str | None) -> str:
    return f"({cast}){name}" if cast else name


def _cast(kind: CType, pairs: Pairs, function: Function) -> str | None:
    spelling = kind.spellings[0]
    if spelling in pairs.types:
        return pairs.types[spelling]
    if kind.pointee is None:
        return None
    if kind.pointee.spellings[0] == pairs.address:
        raise CodegenError(
            f"{PAIRS.name}: sim: {function.name}: it stores an address, and CUDA's driver a number; "
            "write the function in C"
        )
    pointee = _cast(kind.pointee, pairs, function)
    if pointee is None:
        return None
    const = "const " if kind.pointee_const else ""
    return f"{const}{pointee}*" if pointee.endswith("*") else f"{const}{pointee} *"
