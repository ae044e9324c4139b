"""neutrino-bench build: make the shim for a driver."""

from __future__ import annotations

import shutil

import click

from ..shim.build import shim_for
from ..shim.driver import discover
from ..shim.interposer import gap_text
from ..shim.surface import read_surface
from .options import DRIVERS, complete_driver


@click.command()
@click.option(
    "--driver",
    default="auto",
    metavar="auto|sim|hip|hip-sim|PATH",
    show_default=True,
    shell_complete=complete_driver(DRIVERS),
    help="The driver to build for.",
)
@click.option("--force", is_flag=True, help="Build it even if the cache has it.")
def build(driver: str, force: bool) -> int:
    """Build the shim for this machine's driver and keep it in the cache.

    Every run does this by itself when the driver is new to it. The shim exports exactly what the driver does, so
    one is kept for each build of a driver.
    """
    found = discover(driver)
    shim = shim_for(found)
    if force and shim.gap is None and not shim.built:
        shutil.rmtree(shim.path.parent)
        shim = shim_for(found)
    surface = read_surface(shim.surface_path)
    click.echo(f"driver   {found.path} ({found.origin}, build-id {found.build_id or 'none'})")
    click.echo(
        f"shim     {shim.path} ({'built' if shim.built else 'cached' if shim.gap is None else 'packaged'})"
    )
    click.echo(
        f"header   {surface.header.origin}, {found.vendor.name} {found.vendor.headers.release(surface.header.version)}"
    )
    counts = ", ".join(f"{surface.count(kind)} {kind}" for kind in ("recorded", "pass", "untyped"))
    click.echo(f"exports  {len(surface.exports)}: {counts}")
    gap = gap_text(shim)
    if gap is not None:
        click.echo(f"gap      {gap}")
    return 0
