"""neutrino-bench batch: grade many submissions."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from .. import exit_status
from ..errors import UsageError
from ..grade.options import GradeOptions
from ..version import __version__
from .fleet_flags import fleet_options
from .grade_flags import grade_options
from .options import (
    Flag,
    OutputFolder,
    OutputPath,
    check_output,
    driver_option,
    options_of,
    quiet_option,
)
from .output import notify

if TYPE_CHECKING:
    from ..fleet.batch import Batch

_OF_ONE_GRADE = ("keep", "policy")
"""Options of `grade` for its captures and its audit log, which a batch does not keep."""


@click.command(
    epilog="\b\nExit status: 0 every submission has a verdict, whichever it is; 2 usage; 70 some submissions have\n"
    "none, because this machine failed or the results cannot be written. Start the same command again to go on.\n"
    "Where an option of a grade says `exit with`, the verdict is stored instead. docs/fleet.md has the format.",
)
@click.argument(
    "submissions",
    metavar="SUBMISSIONS...",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, path_type=Path),
)
@click.option(
    "--problem",
    "problems",
    multiple=True,
    required=True,
    metavar="[NAME=]PROBLEM",
    help="Grade answers to this problem (PATH or PATH:NAME). May be repeated if all submissions are lines of JSONL, "
    "which name their problem.",
)
@click.option(
    "--results",
    "results_path",
    type=OutputPath(),
    required=True,
    metavar="FILE",
    help="Append a line of JSON for each submission to this file. Submissions that it has results of are not graded "
    "again.",
)
@click.option(
    "--parquet", type=OutputPath(), metavar="FILE", help="At the end, write all results as a Parquet table."
)
@click.option(
    "--bundles",
    "archive",
    type=OutputFolder(),
    metavar="FOLDER",
    help="Store result, captures and submission of each grade in this archive, for `neutrino-bench regrade`.",
)
@fleet_options
@click.option(
    "--attempts",
    type=click.IntRange(1, 10),
    default=3,
    show_default=True,
    metavar="N",
    help="Try a submission N times if the machine fails.",
)
@click.option(
    "--parallel",
    type=int,
    default=1,
    show_default=True,
    metavar="N",
    help="Grade N submissions at once on each GPU of this machine. They take turns on it: while one is timed, no "
    "other grade uses the GPU.",
)
@grade_options(without=_OF_ONE_GRADE)
@driver_option
@options_of(
    GradeOptions, {"device": Flag("Grade on the device with this ordinal only; default: on all GPUs.", "N")}
)
@quiet_option
def batch(
    submissions: tuple[Path, ...],
    problems: tuple[str, ...],
    results_path: Path,
    parquet: Path | None,
    archive: Path | None,
    engine: Any,
    address: str | None,
    cascade: bool,
    attempts: int,
    parallel: int,
    quiet: bool,
    **values: Any,
) -> int:
    """Grade SUBMISSIONS, and store each result at once.

    A submission is a .py, .cu, .ptx or .hip file, a folder, or a line {id, problem, source, language} of a .jsonl file.
    Each is graded as by `neutrino-bench grade`. A batch that was killed goes on where it stopped: a finished job is
    known by the content of problem, submission and options, not by its name.
    """
    from ..fleet.batch import Batch, Settings
    from ..fleet.batch_entry import Keys, entries_of
    from ..fleet.batch_results import BatchResults
    from ..fleet.batch_table import import_pyarrow, write_parquet
    from ..fleet.cascade import first_options
    from ..fleet.grading import check_engine
    from ..fleet.vendors import apis_of
    from ..grade.grade import check_inputs

    options = GradeOptions(**values)
    check_engine(engine, address, attempts, parallel)
    check_archive(archive, engine, cascade, submissions)
    for output in (results_path, parquet):
        check_output(output, *submissions)
    if cascade:
        first_options(options)
    if parquet is not None:
        import_pyarrow()
        if os.path.realpath(parquet) == os.path.realpath(results_path):
            raise UsageError("--parquet and --results name the same file; name two")
    named = problems_of(problems, engine == "ray")
    for each in named.values():
        check_inputs(options, each)
    apis = apis_of(options, engine)
    keys = Keys.of(list(named.values()), options, cascade, __version__)
    entries = list(entries_of(submissions, named, options, keys, apis))
    with BatchResults(results_path) as results:
        if results.repaired:
            notify(
                f"{results_path}: removed a torn line of {results.repaired} bytes; its submission is graded again"
            )
        named_device = (
            click.get_current_context().get_parameter_source("device") is ParameterSource.COMMANDLINE
        )
        folder = os.path.realpath(archive) if archive is not None else ""
        settings = Settings(
            options, engine, address, cascade, attempts, parallel, named_device, folder, notify
        )
        work = Batch(entries, results, keys, settings)
        if archive is not None and work.unbundled:
            notify(
                f"{work.unbundled} submissions have a result without a bundle, and are not graded again; name a new "
                "file of results to store a bundle of each"
            )
        began = time.monotonic()
        graded = asyncio.run(_run(work, quiet)) if entries else 0
        if parquet is not None:
            write_parquet(results, parquet)
        verdicts = work.verdicts()
        if not quiet:
            _render(verdicts, work.finished, graded, time.monotonic() - began, results_path)
    if verdicts["none"]:
        notify(
            f"{verdicts['none']} of {len(entries)} submissions have no verdict, because the machine failed; start the "
            "batch again"
        )
        return exit_status.INTERNAL
    return exit_status.PASS


def check_archive(archive: Path | None, engine: str, cascade: bool, submissions: tuple[Path, ...]) -> None:
    """Raises UsageError for --bundles where no bundle can be stored, and BenchguardError for a full disk."""
    if archive is None:
        return
    from ..archive import Store
    from ..quarantine.start import check_unreadable
    from ..quarantine.submission import check_outside

    if engine != "local" or cascade:
        raise UsageError(
            "--bundles stores the captures of this machine's grades; leave out --engine ray and --cascade"
        )
    check_unreadable(archive)
    check_outside(archive, submissions)
    Store(archive)


def problems_of(words: tuple[str, ...], resolve: bool) -> dict[str, str]:
    """PATH or PATH:NAME by name. Without `NAME=`, the word is its own name. Raises UsageError for a repeated name.

    `resolve`: make paths absolute, for machines with other working directories.
    """
    problems: dict[str, str] = {}
    for word in words:
        name, equals, path = word.partition("=")
        is_named = bool(equals) and name.replace("-", "_").replace(".", "_").isidentifier()
        name, path = (name, path) if is_named else (word, word)
        if name in problems:
            raise UsageError(f"--problem {word}: the name {name} is there twice")
        problems[name] = os.path.realpath(path) if resolve else path
    return problems


async def _run(work: Batch, quiet: bool) -> int:
    """Grade the unfinished jobs; return the number of jobs that were graded."""
    from contextlib import aclosing

    from .batch_progress import progress_on

    jobs = set()
    with progress_on(sys.stderr, quiet, len(work.entries), work.finished) as report:
        async with aclosing(work.run()) as lines:
            async for line in lines:
                report(line.id, line.verdict or f"no verdict: {line.trouble}")
                if line.verdict is not None:
                    jobs.add(line.job)
    return len(jobs)


def _render(verdicts: dict[str, int], finished: int, graded: int, seconds: float, path: Path) -> None:
    from .output import say

    counts = ", ".join(
        f"{count} {verdict}" for verdict, count in sorted(verdicts.items()) if verdict != "none"
    )
    earlier = f" ({finished} had a result before)" if finished else ""
    say(f"{path}: {counts or 'no results'}{earlier}")
    if graded:
        say(f"{graded} grades in {seconds:.1f} s: {60 * graded / seconds:.1f} grades a minute")
