"""neutrino-bench grade: judge and time a submission."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from ..grade.options import GradeOptions
from .options import (
    Flag,
    Size,
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
from .timing import timing_options


@click.command(
    epilog="\b\nExit status: 0 pass; 1 wrong; 2 usage; 3 violation; 4 cannot be replayed; 5 did not converge;\n"
    "8 unproven; "
    "65 the submission failed to import, compile or run; 70 internal error; 124 timeout."
)
@click.argument("problem", metavar="PROBLEM")
@click.argument("submission", metavar="SUBMISSION", type=click.Path(exists=True, path_type=Path))
@options_of(
    GradeOptions,
    {
        "adapter": "Problem format (auto: detect).",
        "adapter_options": Flag(
            "Set an option of the problem format; may be repeated.", "NAME=VALUE", name="adapter-option"
        ),
        "language": "Language of the submission.  [default: by suffix: .py, .cu, .ptx]",
        "entry": Flag("Function or class to call.  [default: the problem's, or solution]", "NAME"),
        "convention": "Calling convention (docs/grading.md).  [default: the problem's]",
        "warm_up": Flag("Untimed calls per case before two calls are captured.", "N"),
        "cases": Flag(
            "Grade only this test case; may be repeated.  [default: all; the smallest on the CPU driver]",
            "NAME",
            name="case",
        ),
    },
)
@timing_options(GradeOptions)
@options_of(
    GradeOptions,
    {
        "samples": Flag(
            "Take exactly N samples per case, even if the median has not converged.  [default: by --until; 20 on the "
            "CPU driver]",
            "N",
        ),
        "until": Flag("Stop rule (see `neutrino-bench replay --help`).  [default: ci=0.005]", "ci=W|cv=W"),
        "require_converged": "Exit with 5 if the median is not known as well as --until says.",
        "sets": Flag("Secret input sets per case.", "K"),
        "one_use": Flag("Further input sets that serve one sample each, to detect cached results.", "N"),
        "timeout": Flag(
            "Stop after this time, and exit with 124.  [default: the suite's time for a ranked submission, or 300]",
            "SECONDS",
        ),
        "memory_bytes": Flag(
            "Memory limit of the submission, as 16G.  [default: half of this machine's]",
            "SIZE",
            "memory",
            Size(),
        ),
        "network": "Let the submission use the network.",
        "require_sandbox": "Refuse to run the submission or a replay in a partial sandbox.",
        "require_evidence": "Exit with 8 if a check of the time could not tell.",
        "cordon_device": "Replay once more with a check before each memory access of the kernels, off the clock.",
        "forbid_library": Flag(
            "Reject a submission that runs a kernel of this name, or from this library (libcublas*); may be repeated.",
            "PATTERN",
        ),
        "allow_images": Flag(
            "Reject kernels but those of this library, of an image with this SHA-256, or of the `submission` itself; "
            "may be repeated.",
            "PATTERN",
        ),
        "inline": "Time in the submission's own process: for work that cannot be replayed, with less trust.",
        "policy": Flag(
            "Deny or log the submission's driver calls by this policy.  [default: quarantine; grading with --inline]",
            "FILE|NAME",
        ),
        "reference_device": "Device that computes the reference results.",
        "keep": Flag("Keep the captures and the audit log in this folder.", "FOLDER"),
    },
)
@json_option
@click.option(
    "--popcorn",
    is_flag=True,
    help="Also write GPU MODE's `key: value` lines to descriptor POPCORN_FD, and exit with GPU MODE's status: 0 or "
    "110 to 114.",
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
    quiet: bool,
    **values: Any,
) -> int:
    """Grade SUBMISSION (a .py, .cu or .ptx file, or a folder) as an answer to PROBLEM (PATH or PATH:NAME).

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
    from ..grade.grade import grade as grade_submission
    from .grade_progress import progress_on
    from .grade_text import render

    with progress_on(sys.stderr, quiet) as progress:
        result = grade_submission(problem, submission, options, progress=progress)
    if not quiet:
        render(result, sys.stderr if is_stdout(json_path) else sys.stdout)
    write_json(json_path, result.to_json())
    if result.verdict != "pass":
        notify(f"{result.verdict}: {result.reason}")
    if popcorn:
        return write_popcorn(result)
    return result.status
