"""neutrino-bench grade: judge and time a submission."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from .. import exit_status
from ..grade.options import GradeOptions
from .grade_flags import grade_options
from .options import (
    Flag,
    OutputFolder,
    check_output,
    cuda_driver_option,
    given_options,
    is_stdout,
    json_option,
    options_of,
    quiet_option,
    write_json,
)
from .output import notify


@click.command(
    epilog="\b\nExit status: 0 pass; 1 wrong; 2 usage; 3 violation; 4 cannot be replayed; 5 did not converge;\n"
    "8 unproven; "
    "65 the submission failed to import, compile or run; 70 internal error; 124 timeout."
)
@click.argument("problem", metavar="PROBLEM")
@click.argument("submission", metavar="SUBMISSION", type=click.Path(exists=True, path_type=Path))
@grade_options()
@json_option
@click.option(
    "--popcorn",
    is_flag=True,
    help="Also write GPU MODE's `key: value` lines to descriptor POPCORN_FD, and exit with GPU MODE's status: 0, "
    "110, 111, 112 or 114.",
)
@click.option(
    "--bundle",
    "archive",
    type=OutputFolder(),
    metavar="FOLDER",
    help="Store result, captures and submission in this archive, for `neutrino-bench regrade`.",
)
@cuda_driver_option
@options_of(GradeOptions, {"device": Flag("Ordinal of the device to time on.", "N")})
@quiet_option
@click.pass_context
def grade(
    context: click.Context,
    /,
    problem: str,
    submission: Path,
    json_path: Path | None,
    popcorn: bool,
    archive: Path | None,
    quiet: bool,
    **values: Any,
) -> int:
    """Grade SUBMISSION (a .py, .cu, .ptx or .hip file, or a folder) as an answer to PROBLEM (PATH or PATH:NAME).

    The submission runs in a sandbox, where two calls are captured. The captures are replayed on secret inputs in a
    process that runs none of the submission's host code. Every timed output is compared with the problem's reference.
    """
    options = GradeOptions(**values)
    options.check_inline(given_options(context))
    check_output(json_path, submission)
    from ..compat.popcorn import NO_PIPE, has_popcorn_pipe, write_popcorn

    if popcorn and not has_popcorn_pipe():
        notify(
            "error: --popcorn: POPCORN_FD is not a writable descriptor; set it to one, as in POPCORN_FD=3 ... 3>FILE"
        )
        return NO_PIPE
    from ..grade.grade import graded
    from .grade_progress import progress_on
    from .grade_text import print_bundle, render

    with progress_on(sys.stderr, quiet) as progress:
        done = graded(problem, submission, options, progress, archive=archive, began=context.obj)
    result = done.result
    if not quiet:
        render(result, sys.stderr if is_stdout(json_path) else sys.stdout)
    write_json(json_path, result.to_json())
    if result.verdict != "pass":
        notify(f"{result.verdict}: {result.reason}")
    if done.bundle and not quiet:
        print_bundle(done.bundle, archive, sys.stderr if is_stdout(json_path) else sys.stdout)
    if done.trouble:
        notify(f"error: no bundle was stored: {done.trouble}")
    if popcorn:
        return write_popcorn(result)
    return exit_status.INTERNAL if done.trouble else result.status
