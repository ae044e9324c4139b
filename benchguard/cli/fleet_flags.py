"""The options of `batch` and `rewards` that say where to grade."""

from __future__ import annotations

import click

from .options import Command

_OPTIONS = (
    click.option(
        "--engine",
        type=click.Choice(["local", "ray"]),
        default="local",
        show_default=True,
        help="Grade on this machine, or on a Ray cluster.",
    ),
    click.option(
        "--address",
        metavar="ADDRESS",
        help="Address of the Ray cluster.  [default: a new one on this machine]",
    ),
    click.option(
        "--cascade",
        is_flag=True,
        help="Grade on the CPU driver first, and on a GPU unless it is wrong there.",
    ),
)


def fleet_options(command: Command) -> Command:
    """Add --engine, --address and --cascade."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
