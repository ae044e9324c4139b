"""Options that several commands have."""

from __future__ import annotations

import click

driver_option = click.option(
    "--driver",
    default="auto",
    metavar="auto|sim|PATH",
    show_default=True,
    help="The real driver: this machine's (the CPU driver if it has none), the CPU driver, or a library.",
)

timeout_option = click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Kill the command and what it started after so long; exit with 124.",
)
