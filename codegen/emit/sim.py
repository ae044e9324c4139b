"""stubs.c, procaddr.c and sim.map: the parts of the CPU driver that follow from the header alone."""

from __future__ import annotations

from ..model import Api, EntryPoint, Function
from .text import SIM_COMMAND, banner, by_section, heading, wrapped

_STUBS = """\
#include <cuda.h>

#include "stub.h"

/* Weak: a function that sim/ implements takes its stub's place. The parameters are there for the compiler,
 * which compares each stub with the header's own declaration. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define STUB __attribute__((weak, visibility("default")))
"""

_STUB = """
{signature}
{{
    return sim_not_supported("{name}");
}}
"""

_TABLE = """\
#include <cuda.h>

#include "procaddr.h"

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
local:
    *;
};
"""


def emit_sim(api: Api) -> dict[str, str]:
    """Text by file name; the C files include headers of sim/driver/."""
    return {
        "stubs.c": _stubs(api),
        "procaddr.c": _table(api),
        "sim.map": banner("sim", api.version, SIM_COMMAND) + _MAP,
    }


def _stubs(api: Api) -> str:
    text = banner("sim", api.version, SIM_COMMAND) + _STUBS
    for title, stubs in by_section((function, _stub(function)) for function in api.functions):
        text += "\n" + heading(title) + "".join(stubs)
    return text


def _stub(function: Function) -> str:
    opening = f"STUB {function.returns.spellings[0]} CUDAAPI {function.name}("
    items = [parameter.declaration for parameter in function.parameters] or ["void"]
    return _STUB.format(signature=wrapped(opening, items, ")"), name=function.name)


def _table(api: Api) -> str:
    entries = sorted(api.entry_points, key=lambda entry: (entry.base, entry.version, entry.per_thread))
    rows = "\n".join(_row(entry) for entry in entries)
    return banner("sim", api.version, SIM_COMMAND) + _TABLE.format(rows=rows)


def _row(entry: EntryPoint) -> str:
    symbol = entry.symbol
    return f'    {{"{entry.base}", {entry.version}, {int(entry.per_thread)}, "{symbol}", (void *){symbol}}},'
