"""The interposer for a command, announced."""

from __future__ import annotations

import click

from ..shim.interposer import Interposer, gap_text, interposer_for

MARK = "neutrino-bench: "


def announced_interposer(spec: str, quiet: bool) -> Interposer:
    """The same; says on standard error what the user should know of the shim."""
    interposer, found, shim = interposer_for(spec)
    gap = gap_text(shim)
    if gap is not None and not quiet:
        click.echo(f"{MARK}{gap}", err=True)
    if shim.built and not quiet:
        click.echo(f"{MARK}built the shim for {found.path} from {interposer.surface.header.origin}", err=True)
    return interposer
