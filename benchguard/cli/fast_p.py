"""neutrino-bench fast-p: KernelBench's score over a folder of comparisons."""

from __future__ import annotations

from pathlib import Path

import click

from .options import FiniteRange
from .output import say


@click.command("fast-p")
@click.argument("folder", metavar="FOLDER", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--threshold",
    "thresholds",
    type=FiniteRange(min=0),
    multiple=True,
    default=(0.0, 1.0, 2.0),
    show_default="0, 1, 2",
    metavar="P",
    help="Count results more than P times as fast as the reference; may be repeated.",
)
def fast_p(folder: Path, thresholds: tuple[float, ...]) -> int:
    """Print KernelBench's fast_p: the share of the results in FOLDER that are right and faster than the reference.

    FOLDER holds one document of `neutrino-bench compare --json` for each problem, with the reference as A.
    """
    from ..compat.kernelbench import fast_p as share_of
    from ..compat.kernelbench import speedups

    found = speedups(folder)
    for each in found:
        speedup = "did not pass: " + each.reason if each.speedup is None else f"{each.speedup:.3f}"
        say(f"{each.path.name}: {speedup}")
    for threshold in thresholds:
        say(f"fast_{threshold:g} = {share_of(found, threshold):.3f} of {len(found)}")
    return 0
