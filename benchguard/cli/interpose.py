"""The interposer of a command, with messages for the user."""

from __future__ import annotations

import click

from ..shim.interposer import Interposer, gap_text, interposer_for
from ..shim.vendors import HIP

MARK = "neutrino-bench: "


def announced_interposer(spec: str, quiet: bool) -> Interposer:
    """Like interposer_for, and print what the user should know of the driver and its shim to standard error."""
    interposer, found, shim = interposer_for(spec)
    if spec == "auto" and found.is_sim and HIP.has_device() and not quiet:
        click.echo(f"{MARK}using the {found.origin}", err=True)
    gap = gap_text(shim)
    if gap is not None and not quiet:
        click.echo(f"{MARK}{gap}", err=True)
    if shim.built and not quiet:
        click.echo(f"{MARK}built the shim for {found.path} from {interposer.surface.header.origin}", err=True)
    return interposer
