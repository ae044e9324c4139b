"""surface.json: the surface for the supervisor and for people, one export a line."""

from __future__ import annotations

import json
from typing import Any

from ..model import split_variant
from ..surface import Export, Surface

FORMAT = "neutrino-bench/surface/1"


def emit(surface: Surface) -> str:
    driver = surface.driver
    head = {
        "format": FORMAT,
        "api": surface.api.vendor.name,
        "driver": {"soname": driver.soname, "build_id": driver.build_id, "exports": len(driver.names)},
        "header": {"version": surface.api.version, "origin": surface.origin},
    }
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    exports = ",\n  ".join(json.dumps(_export(export)) for export in surface.exports)
    return "{" + ",\n ".join([*lines, f'"exports": [\n  {exports}\n ]']) + "}\n"


def _export(export: Export) -> dict[str, Any]:
    interception = export.interception
    return {
        "name": export.name,
        "base": split_variant(export.name)[0],
        "kind": export.kind,
        "status": export.function.has_status if export.function else None,
        "group": interception.group if interception else None,
        "parameters": [
            {"name": word.parameter.name, "role": word.role}
            for word in (interception.words if interception else ())
        ],
    }
