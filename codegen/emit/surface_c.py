"""surface.c: the driver's name, the export names and the addresses that this shim exports for them."""

from __future__ import annotations

import hashlib

from ..surface import Surface
from . import surface_json
from .text import banner

_TEMPLATE = """\
#include "surface.h"

#include <stddef.h>
#include <stdint.h>

#include "core/driver/slots.h"

#define NB_EXPORTS(EXPORT) \\
{exports}

#define NB_DECLARE(name, fails) void name(void); /* not its type: only its address is wanted */
#define NB_NAME(name, fails)    #name,
#define NB_ADDRESS(name, fails) (void *)name,
#define NB_FAILS(name, fails)   fails,

NB_EXPORTS(NB_DECLARE)

const char nb_driver_soname[] = "{soname}";
const unsigned nb_export_count = NB_EXPORT_COUNT;
const char *const nb_export_names[NB_EXPORT_COUNT + 1] = {{NB_EXPORTS(NB_NAME) NULL}};
void *const nb_exports[NB_EXPORT_COUNT + 1] = {{NB_EXPORTS(NB_ADDRESS) NULL}};
const unsigned char nb_export_fails[NB_EXPORT_COUNT + 1] = {{NB_EXPORTS(NB_FAILS) 0}};
const uint8_t nb_surface_sha256[32] = {{{digest}}};
"""


def emit(surface: Surface) -> str:
    exports = " \\\n".join(
        f"    EXPORT({export.name}, {int(surface.can_fail(export))})" for export in surface.exports
    )
    digest = ", ".join(
        f"0x{byte:02x}" for byte in hashlib.sha256(surface_json.emit(surface).encode()).digest()
    )
    return banner("surface_c", surface.api) + _TEMPLATE.format(
        exports=exports, soname=surface.driver.soname, digest=digest
    )
