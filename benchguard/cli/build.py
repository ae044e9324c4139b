"""neutrino-bench build: build the shim for a driver."""

from __future__ import annotations

import click

from .options import DRIVERS, complete_driver
from .output import say


@click.command()
@click.option(
    "--driver",
    default="auto",
    metavar="auto|sim|hip|hip-sim|PATH",
    show_default=True,
    shell_complete=complete_driver(DRIVERS),
    help="Driver to build for.",
)
@click.option("--force", is_flag=True, help="Build even if the cache has the shim.")
def build(driver: str, force: bool) -> int:
    """Build the shim for this machine's driver, and keep it in the cache.

    The other commands build a shim when they meet a new driver. A shim exports the same functions as its driver, so
    the cache has one shim per driver build.
    """
    import shutil

    from ..shim.build import shim_for
    from ..shim.driver import discover
    from ..shim.interposer import gap_text
    from ..shim.surface import read_surface

    library = discover(driver)
    shim = shim_for(library)
    if force and shim.gap is None and not shim.built:
        shutil.rmtree(shim.path.parent)
        shim = shim_for(library)
    surface = read_surface(shim.surface_path)
    say(f"driver   {library.path} ({library.origin}, build-id {library.build_id or 'none'})")
    say(f"shim     {shim.path} ({'built' if shim.built else 'cached' if shim.gap is None else 'packaged'})")
    release = library.vendor.headers.release(surface.header.version)
    say(f"header   {surface.header.origin}, {library.vendor.name} {release}")
    counts = ", ".join(f"{surface.count(kind)} {kind}" for kind in ("recorded", "pass", "untyped"))
    say(f"exports  {len(surface.exports)}: {counts}")
    gap = gap_text(shim)
    if gap is not None:
        say(f"gap      {gap}")
    return 0
