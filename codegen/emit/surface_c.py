"""surface.c: the driver's name, the export names and the addresses that this shim exports for them."""

from __future__ import annotations

from ..surface import Surface
from .text import banner

_TEMPLATE = """\
#include "surface.h"

#include <stddef.h>

#include "core/driver/slots.h"

#define NB_EXPORTS(EXPORT) \\
{exports}

#define NB_DECLARE(name) void name(void); /* not its type: only its address is wanted */
#define NB_NAME(name)    #name,
#define NB_ADDRESS(name) (void *)name,

NB_EXPORTS(NB_DECLARE)

const char nb_driver_soname[] = "{soname}";
const unsigned nb_export_count = NB_EXPORT_COUNT;
const char *const nb_export_names[NB_EXPORT_COUNT + 1] = {{NB_EXPORTS(NB_NAME) NULL}};
void *const nb_exports[NB_EXPORT_COUNT + 1] = {{NB_EXPORTS(NB_ADDRESS) NULL}};
"""


def emit(surface: Surface) -> str:
    exports = " \\\n".join(f"    EXPORT({export.name})" for export in surface.exports)
    return banner("surface_c", surface.api) + _TEMPLATE.format(exports=exports, soname=surface.driver.soname)
