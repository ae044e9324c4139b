"""neutrino-bench compare: find out which of two submissions is faster."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .. import exit_status
from ..grade.options import BLOCKS, BLOCKS_MIN, COMPARE_SAMPLES, GradeOptions
from .options import Flag, cuda_driver_option, is_stdout, json_option, options_of, quiet_option, write_json
from .output import notify

if TYPE_CHECKING:
    from ..grade.compare import CompareResult


@click.command(
    epilog="\b\nExit status: 0 compared; 6 slower, with --fail-on slower; 7 unsure, with --fail-on unsure; that of\n"
    "`neutrino-bench grade` if A or B does not pass."
)
@click.argument("problem", metavar="PROBLEM")
@click.argument("first", metavar="A", type=click.Path(exists=True, path_type=Path))
@click.argument("second", metavar="B", type=click.Path(exists=True, path_type=Path))
@options_of(
    GradeOptions,
    {
        "adapter": "Problem format (auto: detect).",
        "cases": Flag(
            "Compare only this test case; may be repeated.  [default: all; the smallest on the CPU driver]",
            "NAME",
            name="case",
        ),
    },
)
@click.option(
    "--blocks",
    type=click.IntRange(min=BLOCKS_MIN),
    default=BLOCKS,
    show_default=True,
    metavar="N",
    help="Number of ABBA blocks.",
)
@options_of(
    GradeOptions,
    {
        "samples": Flag(f"Samples per replay.  [default: {COMPARE_SAMPLES}]", "N"),
        "cold": "How to make the data caches cold before each sample (see `neutrino-bench grade --help`).  "
        "[default: flush; none on the CPU driver]",
        "flush_cache": "Make the instruction caches cold before each sample: run copies of the code in turn.",
        "timeout": Flag(
            "Stop a grade or a replay after this time.  [default: the suite's time for a ranked submission, or 300]",
            "SECONDS",
        ),
        "require_sandbox": "Refuse to run a submission or a replay in a partial sandbox.",
    },
)
@click.option(
    "--fail-on",
    type=click.Choice(["slower", "unsure"]),
    help="Exit with 6 if B is slower; with `unsure`, also exit with 7 if the result is UNSURE.",
)
@json_option
@cuda_driver_option
@quiet_option
def compare(
    problem: str,
    first: Path,
    second: Path,
    blocks: int,
    fail_on: str | None,
    json_path: Path | None,
    quiet: bool,
    **values: Any,
) -> int:
    """Grade submissions A and B to PROBLEM, then time them in turn: is B FASTER, SLOWER, the SAME, or UNSURE?

    Replays run in blocks A B B A, so that drift cancels. Each replay is a new process, and all use the same secret
    inputs.
    """
    options = GradeOptions(**values)
    from ..grade.compare import compare as compare_submissions
    from .compare_text import render
    from .grade_progress import progress_on

    with progress_on(sys.stderr, quiet) as progress:
        result = compare_submissions(problem, first, second, options, blocks=blocks, progress=progress)
    if not quiet:
        render(result, sys.stderr if is_stdout(json_path) else sys.stdout)
    write_json(json_path, result.to_json())
    if result.call is None:
        notify(result.reason)
        return result.status
    return _status(fail_on, result)


def _status(fail_on: str | None, result: CompareResult) -> int:
    if fail_on is not None and result.call == "SLOWER":
        return exit_status.SLOWER
    return exit_status.UNSURE if fail_on == "unsure" and result.call == "UNSURE" else exit_status.PASS
