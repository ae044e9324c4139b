"""One module for each file that is generated."""

from __future__ import annotations

from ..surface import Surface
from . import (
    hip_driver,
    hooks_c,
    operations_c,
    real_h,
    shim_map,
    special_h,
    surface_c,
    surface_h,
    surface_json,
    surface_s,
)

_SHIM = {
    "surface.S": surface_s.emit,
    "surface.h": surface_h.emit,
    "surface.c": surface_c.emit,
    "real.h": real_h.emit,
    "special.h": special_h.emit,
    "hooks.c": hooks_c.emit,
    "operations.c": operations_c.emit,
    "shim.map": shim_map.emit,
    "surface.json": surface_json.emit,
}


def emit_shim(surface: Surface) -> dict[str, str]:
    """Text by file name: everything docs/architecture.md lists under "The generated shim"."""
    extra = surface.api.vendor.extra
    copied = {extra.name: extra.read_text(encoding="utf-8")} if extra else {}
    cuda = surface.translation
    driver = hip_driver.emit_hip_driver(surface.api, cuda.api, cuda.pairs) if cuda else {}
    return {**{name: emit(surface) for name, emit in _SHIM.items()}, **copied, **driver}
