"""surface.h: the slot number of every function."""

from __future__ import annotations

from ..surface import Surface
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
    lacking = "".join(f",\n    NB_SLOT_{function.name} = NB_SLOT_ABSENT" for function in surface.lacking)
    if lacking:
        lacking = f",\n\n    /* Functions of the header that this driver does not have. */{lacking[1:]}"
    text = _TEMPLATE.format(slots=slots, count=len(surface.exports), lacking=lacking)
    return banner("surface_h", surface.api.version) + text
