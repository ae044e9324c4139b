"""surface.h: the slot number of every function."""

from __future__ import annotations

from collections.abc import Iterable

from ..model import Function
from ..surface import Surface, Translation
from .text import banner

_TEMPLATE = """\
#ifndef NEUTRINO_SURFACE_H
#define NEUTRINO_SURFACE_H

enum {{
{slots}
    NB_EXPORT_COUNT = {count},
    NB_SLOT_ABSENT = NB_EXPORT_COUNT{lacking}
}};

#endif
"""


def emit(surface: Surface) -> str:
    slots = "\n".join(f"    NB_SLOT_{export.name} = {export.slot}," for export in surface.exports)
    lacking = _absent("Functions of the header that this driver does not have.", surface.lacking)
    if surface.translation:
        lacking += _translated(surface.translation)
    text = _TEMPLATE.format(slots=slots, count=len(surface.exports), lacking=lacking)
    return banner("surface_h", surface.api) + text


def _absent(why: str, functions: Iterable[Function]) -> str:
    slots = "".join(f",\n    NB_SLOT_{function.name} = NB_SLOT_ABSENT" for function in functions)
    return f",\n\n    /* {why} */{slots[1:]}" if slots else ""


def _translated(translation: Translation) -> str:
    """CUDA's functions, which CUDA's hooks call. The shim does not export them."""
    slots = ",\n".join(
        f"    NB_SLOT_{function.name} = NB_SLOT_ABSENT + {place}"
        for place, function in enumerate(translation.functions, 1)
    )
    implemented = {function.name for function in translation.functions}
    others = [function for function in translation.api.functions if function.name not in implemented]
    return f",\n\n    /* CUDA's functions, implemented over this driver's. */\n{slots}" + _absent(
        "CUDA's other functions.", others
    )
