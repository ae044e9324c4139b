"""real.h: a function pointer type for every function of the header."""

from __future__ import annotations

from ..model import Function
from ..surface import Surface
from ..vendor import INTERNAL, Vendor
from .text import banner, by_section, heading, of_type, wrapped

_HEAD = f"""\
#ifndef NEUTRINO_REAL_H
#define NEUTRINO_REAL_H

#ifndef {INTERNAL}
#error "compile with -D{INTERNAL}: without it cuda.h renames what it declares"
#endif
"""

_OWN = """
/* The shim exports the header's functions: they keep default visibility. */
#pragma GCC visibility push(default)
{includes}
#pragma GCC visibility pop
"""

_TRANSLATED = """
/* This shim does not export CUDA's functions: hook/{name}/driver implements some for the hooks. */
#include <stdint.h>
#include <stdlib.h>
#pragma GCC visibility push(hidden)
#include <cuda.h>
#pragma GCC visibility pop
"""


def emit(surface: Surface) -> str:
    api, translation = surface.api, surface.translation
    text = banner("real_h", api) + _HEAD
    text += _TRANSLATED.format(name=api.vendor.name) if translation else ""
    text += _OWN.format(includes="\n".join(_includes(api.vendor)))
    for functions in (api, *([translation.api] if translation else [])):
        typedefs = ((function, _typedef(function, functions.vendor)) for function in functions.functions)
        for title, texts in by_section(typedefs):
            text += "\n" + heading(title) + "".join(texts)
    return text + "\n#endif\n"


def _includes(vendor: Vendor) -> list[str]:
    return vendor.include_lines() + ([f'#include "{vendor.extra.name}"'] if vendor.extra else [])


def _typedef(function: Function, vendor: Vendor) -> str:
    opening = f"typedef {of_type(function.result, '')}({vendor.convention}*nb_{function.name}_t)("
    items = [parameter.declaration for parameter in function.parameters] or ["void"]
    return wrapped(opening, items + (["..."] if function.variadic else []), ");", 4) + "\n"
