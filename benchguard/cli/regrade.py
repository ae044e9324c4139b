"""neutrino-bench regrade: verify a stored grade."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from ..grade.options import GradeOptions
from .grade_flags import grade_options
from .options import (
    FiniteRange,
    Flag,
    cuda_driver_option,
    is_stdout,
    json_option,
    options_of,
    quiet_option,
    write_json,
)
from .output import notify

_OF_A_RUN = ("language", "entry", "convention", "warm_up", "network", "inline", "policy", "keep")
"""Options of `grade` that act on the run of a submission, which a regrade does not repeat."""


@click.command(
    epilog="\b\nExit status: 0 the stored result is confirmed, whichever verdict it has; 1 it is not, or the bundle\n"
    "was changed; 2 usage; 70 internal error.",
)
@click.argument(
    "bundle", metavar="BUNDLE|RESULT", type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option(
    "--problem", required=True, metavar="PROBLEM", help="The problem (PATH or PATH:NAME) of the grade."
)
@click.option(
    "--bundles",
    "archive",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Find the bundle of a RESULT of `grade --json` in this archive.",
)
@click.option(
    "--within",
    type=FiniteRange(min=1),
    metavar="RATIO",
    help="Confirm no stored time that differs by more.  [default: 1.1 on the same GPU model and driver]",
)
@grade_options(without=_OF_A_RUN)
@json_option
@cuda_driver_option
@options_of(GradeOptions, {"device": Flag("Ordinal of the device to time on.", "N")})
@quiet_option
def regrade(
    bundle: Path,
    problem: str,
    archive: Path | None,
    within: float | None,
    json_path: Path | None,
    quiet: bool,
    **values: Any,
) -> int:
    """Verify a stored grade: replay its captures on new secret inputs, and compare verdict and times.

    BUNDLE is ARCHIVE/bundles/SHA256.json, which `grade --bundle` or `batch --bundles` wrote. The submission's source
    does not run. A bundle is treated as hostile.
    """
    options = GradeOptions(**values)
    from ..grade.regrade import regrade as verify
    from .grade_progress import progress_on
    from .regrade_text import render

    with progress_on(sys.stderr, quiet) as progress:
        result = verify(bundle, problem, options, archive=archive, within=within, progress=progress)
    if not quiet:
        render(result, sys.stderr if is_stdout(json_path) else sys.stdout)
    write_json(json_path, result.to_json())
    if not result.confirmed:
        notify(f"not confirmed: {result.reason}")
    return result.status
