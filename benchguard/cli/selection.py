"""Options that choose the region of a recorded command."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from ..errors import UsageError
from .options import Command, Flag

SELECTION = {
    "launches": Flag("Capture launches A to B - 1 of the process, counted from 0.", "A:B"),
    "kernel": Flag("Capture the Nth launch, from 1, of a matching kernel.", "PATTERN[:N]"),
    "window": Flag("Capture the work between the Nth pair, from 1, of timing events.", "N"),
}
"""Fields of RecordOptions."""


def selection_of_each(command: Command) -> Command:
    """The same options for several commands: given once for all of them, or once for each."""
    for name, flag in reversed(SELECTION.items()):
        text = f"In each command, {flag.help[0].lower()}{flag.help[1:]} Give it twice for different regions of A and B."
        kind = int if name == "window" else str
        command = click.option(f"--{name}", multiple=True, type=kind, metavar=flag.metavar, help=text)(
            command
        )
    return command


def selections(given: dict[str, Sequence[Any]], commands: int) -> list[dict[str, Any]]:
    """The fields of RecordOptions for each command. Raises UsageError for an option that is given too often."""
    for name, values in given.items():
        if len(values) not in {0, 1, commands}:
            raise UsageError(
                f"--{name} is given {len(values)} times for {commands} command{'s' if commands > 1 else ''}; give it "
                f"once{', or once for each' if commands > 1 else ''}"
            )
    return [
        {name: values[number if len(values) > 1 else 0] for name, values in given.items() if values}
        for number in range(commands)
    ]
