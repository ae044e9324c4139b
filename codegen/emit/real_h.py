"""real.h: a function pointer type for every function of the header."""

from __future__ import annotations

from ..model import Function
from ..preprocess import INTERNAL
from ..surface import Surface
from .text import banner, by_section, heading, wrapped

_HEAD = f"""\
#ifndef NEUTRINO_REAL_H
#define NEUTRINO_REAL_H

#ifndef {INTERNAL}
#error "compile with -D{INTERNAL}: without it cuda.h renames what it declares"
#endif

/* What the header declares is what the shim exports: its functions keep default visibility. */
#pragma GCC visibility push(default)
#include <cuda.h>
#pragma GCC visibility pop
"""


def emit(surface: Surface) -> str:
    functions = [(function, _typedef(function)) for function in surface.api.functions]
    sections = ("\n" + heading(title) + "".join(texts) for title, texts in by_section(functions))
    return banner("real_h", surface.api.version) + _HEAD + "".join(sections) + "\n#endif\n"


def _typedef(function: Function) -> str:
    opening = f"typedef {function.returns.spellings[0]} (CUDAAPI *nb_{function.name}_t)("
    items = [parameter.declaration for parameter in function.parameters] or ["void"]
    return wrapped(opening, items + (["..."] if function.variadic else []), ");", 4) + "\n"
