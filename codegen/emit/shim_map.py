"""shim.map: the version script. The shim exports the driver's names, under the driver's versions, and its own."""

from __future__ import annotations

from collections.abc import Sequence

from ..surface import Surface
from .text import banner

OWN = ("neutrino_region_begin", "neutrino_region_end", "neutrino_region_error", "neutrino_region_range")
"""For the program that is recorded (hook/core/region.h). No part of the driver's surface: they have no slot."""


def emit(surface: Surface) -> str:
    driver = surface.driver
    if not driver.versions:
        return banner("shim_map", surface.api) + _node("", [*driver.names, *OWN], "", local=True)
    version_of = dict(driver.version_of)
    first = driver.versions[0].name
    nodes = []
    for version in driver.versions:
        # A name without a version still answers a client that asks for none, whichever node it is in.
        names = [name for name in driver.names if version_of.get(name, first) == version.name]
        names += OWN if version.name == first else ()
        parent = f" {version.parent}" if version.parent else ""
        nodes.append(_node(f"{version.name} ", names, parent, local=version.name == first))
    return banner("shim_map", surface.api) + "\n".join(nodes)


def _node(name: str, names: Sequence[str], parent: str, *, local: bool) -> str:
    exported = "".join(f"    {export};\n" for export in names)
    text = f"{name}{{\n"
    text += f"global:\n{exported}" if exported else ""
    text += "local:\n    *;\n" if local else ""
    return f"{text}}}{parent};\n"
