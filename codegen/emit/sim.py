"""names.h, stubs.c, procaddr.c and sim.map: the parts of the CPU driver that follow from the header alone."""

from __future__ import annotations

from collections.abc import Iterable

from ..model import Api, EntryPoint, Function
from .text import SIM_COMMAND, banner, by_section, heading, wrapped

_NAMES = """\
/* After cuda.h: what sim/ then defines as cuInit is sim_cuInit, which has the header's prototype. The export of
 * the header's name is in stubs.c. (Some headers define names as themselves.) */
"""

_NAME = """
{prototype}
#undef {name}
#define {name} sim_{name}
"""

_STUBS = """\
#define SIM_EXPORTS
#include "driver/core/inject.h"
#include "driver/core/stub.h"

/* For each function, a weak implementation that one in sim/ replaces, and the export that calls it. The
 * compiler compares each export with the header's declaration. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC optimize("no-ipa-icf")
#define WEAK   __attribute__((weak, visibility("hidden")))
#define EXPORT __attribute__((visibility("default")))
"""

_STUB = """
{weak}
{{
    return sim_not_supported("{name}");
}}

{export}
{{
    if (SIM_WATCHED) {{
        const int injected = sim_inject({number});
        if (injected >= 0)
            return (CUresult)injected;
    }}
    return sim_{name}({arguments});
}}
"""

_FUNCTIONS = """
/* By the number that each hands to sim_inject. */
const char *const sim_functions[] = {{
{rows}
}};

const unsigned sim_function_count = sizeof sim_functions / sizeof *sim_functions;
"""

_TABLE = """\
#include <cuda.h>

#include "driver/core/procaddr.h"

/* Sorted by name, version and per-thread form, names as strcmp orders them. */
const struct sim_entry sim_entries[] = {{
{rows}
}};

const size_t sim_entry_count = sizeof sim_entries / sizeof *sim_entries;
"""

_MAP = """\
{
global:
    cu*;
    simInject;
local:
    *;
};
"""


def emit_sim(api: Api, also: Iterable[str] = ()) -> dict[str, str]:
    """Text by file name; the C files include headers of sim/driver/.

    `also` are exports that are another's, which rules name, too: numbered behind the header's.
    """
    return {
        "names.h": _names(api),
        "stubs.c": _stubs(api, also),
        "procaddr.c": _table(api),
        "sim.map": banner("sim", api, SIM_COMMAND) + _MAP,
    }


def _names(api: Api) -> str:
    text = banner("sim", api, SIM_COMMAND) + _NAMES
    for title, names in by_section((function, _name(function)) for function in api.functions):
        text += "\n" + heading(title) + "".join(names)
    return text


def _name(function: Function) -> str:
    return _NAME.format(prototype=_prototype(function, "", "sim_") + ";", name=function.name)


def _prototype(function: Function, attribute: str, prefix: str) -> str:
    opening = f"{attribute}{function.result} CUDAAPI {prefix}{function.name}("
    items = [parameter.declaration for parameter in function.parameters] or ["void"]
    return wrapped(opening, items, ")")


def _stubs(api: Api, also: Iterable[str]) -> str:
    text = banner("sim", api, SIM_COMMAND) + _STUBS
    numbered = ((function, _stub(function, number)) for number, function in enumerate(api.functions))
    for title, stubs in by_section(numbered):
        text += "\n" + heading(title) + "".join(stubs)
    names = [*(function.name for function in api.functions), *also]
    return text + _FUNCTIONS.format(rows="\n".join(f'    "{name}",' for name in names))


def _stub(function: Function, number: int) -> str:
    return _STUB.format(
        weak=_prototype(function, "WEAK ", "sim_"),
        export=_prototype(function, "EXPORT ", ""),
        name=function.name,
        number=number,
        arguments=", ".join(parameter.name for parameter in function.parameters),
    )


def _table(api: Api) -> str:
    entries = sorted(api.entry_points, key=lambda entry: (entry.base, entry.version, entry.per_thread))
    rows = "\n".join(_row(entry) for entry in entries)
    return banner("sim", api, SIM_COMMAND) + _TABLE.format(rows=rows)


def _row(entry: EntryPoint) -> str:
    symbol = entry.symbol
    return f'    {{"{entry.base}", {entry.version}, {int(entry.per_thread)}, "{symbol}", (void *){symbol}}},'
