"""shim.map: the version script. The shim exports the driver's names, under the driver's versions, and its own."""

from __future__ import annotations

from collections.abc import Sequence

from ..exports import DriverExports
from ..surface import Surface
from .text import banner

OWN = (
    "neutrino_phase",
    "neutrino_region_begin",
    "neutrino_region_end",
    "neutrino_region_error",
    "neutrino_region_given",
    "neutrino_region_memory_after",
    "neutrino_region_range",
)
"""For the program that is recorded (phase.h, region.h). No part of the driver's surface: they have no slot."""


def emit(surface: Surface) -> str:
    return banner("shim_map", surface.api) + version_script(surface.driver, OWN)


def version_script(driver: DriverExports, own: Sequence[str]) -> str:
    """Exports the driver's names under their versions, `own` under the first, and nothing else."""
    if not driver.versions:
        return _node("", [*driver.names, *own], "", local=True)
    version_of = dict(driver.version_of)
    first = driver.versions[0].name
    nodes = []
    for version in driver.versions:
        # A name without a version still answers a client that asks for none, whichever node it is in.
        names = [name for name in driver.names if version_of.get(name, first) == version.name]
        names += own if version.name == first else ()
        parent = f" {version.parent}" if version.parent else ""
        nodes.append(_node(f"{version.name} ", names, parent, local=version.name == first))
    return "\n".join(nodes)


def _node(name: str, names: Sequence[str], parent: str, *, local: bool) -> str:
    exported = "".join(f"    {export};\n" for export in names)
    text = f"{name}{{\n"
    text += f"global:\n{exported}" if exported else ""
    text += "local:\n    *;\n" if local else ""
    return f"{text}}}{parent};\n"
