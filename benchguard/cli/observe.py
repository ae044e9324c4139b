"""neutrino-bench observe: run a command under the shim."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .. import exit_status
from ..errors import BenchguardError, UsageError
from ..version import __version__
from .options import (
    HIP_DRIVERS,
    OutputPath,
    check_distinct,
    check_gpu_time,
    driver_option,
    fail_on_option,
    gpu_time_option,
    is_stdout,
    log_size_option,
    policy_option,
    quiet_option,
    timeout_option,
    write_text,
)
from .output import notify, print_document

if TYPE_CHECKING:
    from ..audit.log import LogWriter
    from ..audit.supervise import Run
    from ..findings import Analysis
    from ..shim.interposer import Interposer

NO_HIP = "--fail-on examines timing windows of CUDA programs; leave it out for a HIP driver"


def default_log() -> Path:
    """In the current folder, with time and pid, so that two runs have different logs."""
    return Path(f"neutrino-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.audit.jsonl")


@click.command(
    context_settings={"ignore_unknown_options": False, "allow_interspersed_args": False},
    epilog="\b\nThe exit status is the command's; 128 + n if signal n ended it; 3 with --fail-on.\n"
    "A launch that could not be logged does not stop the command: lost launches are counted and reported.",
)
@click.option(
    "--log",
    "log_path",
    type=OutputPath(allow_dash=True),
    metavar="PATH",
    help="Write the audit log to this file; compact if its name ends in .zst. - is standard output, and COMMAND's "
    "standard output becomes standard error.  [default: ./neutrino-TIME-PID.audit.jsonl]",
)
@log_size_option
@click.option("--force", is_flag=True, help="Replace the log if it exists.")
@driver_option
@click.option(
    "--filter",
    "callers",
    metavar="WORDS",
    help="Do not log calls from libraries whose names contain one of these comma-separated words: cublas,cudnn.",
)
@click.option(
    "--calls",
    "patterns",
    multiple=True,
    metavar="PATTERN",
    help="Log only driver calls with such a name, failed calls, and launches: 'cuMem*'.",
)
@click.option("--no-lookups", is_flag=True, help="Do not log successful lookups of driver functions.")
@policy_option
@gpu_time_option
@timeout_option
@click.option(
    "--keep-images",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Keep every code image in this folder, named by its SHA-256.",
)
@click.option(
    "--summary",
    "summary_path",
    type=OutputPath(allow_dash=True),
    metavar="PATH",
    help="Also write the summary as JSON; - is standard output.",
)
@fail_on_option
@quiet_option
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def observe(
    log_path: Path | None,
    part_bytes: int | None,
    force: bool,
    driver: str,
    callers: str | None,
    patterns: tuple[str, ...],
    no_lookups: bool,
    policy: str | None,
    gpu_time: bool,
    timeout: float | None,
    keep_images: Path | None,
    summary_path: Path | None,
    fail_on: tuple[str, ...],
    quiet: bool,
    command: tuple[str, ...],
) -> int:
    """Run COMMAND and write an audit log of every kernel that it launches.

    `neutrino-bench [OPTIONS] -- COMMAND`, without a subcommand, does the same.
    """
    from ..audit.choice import CallChoice
    from ..audit.log import LogWriter
    from ..audit.session import Session
    from ..audit.supervise import ChildOptions, supervise
    from ..policy import cordon_for
    from .interpose import announced_interposer, gpu_overhead_of

    if gpu_time and policy is not None:
        raise UsageError("--gpu-time and --policy do not go together; leave out one of them")
    check_gpu_time(gpu_time, driver)
    check_distinct(summary_path, log_path)
    if fail_on:
        _check_fail_on(patterns, driver)
    if is_stdout(log_path):
        _check_stream(part_bytes, summary_path, fail_on)
    if keep_images is not None:
        _make_folder(keep_images)
    interposer = announced_interposer(driver, quiet)
    if fail_on and interposer.surface.api != "cuda":
        raise UsageError(NO_HIP)
    check_gpu_time(gpu_time, interposer.surface.api)
    choice = CallChoice(patterns, not no_lookups)
    choice.check(interposer.surface.exports)
    cordon = cordon_for(policy, interposer.surface)
    log = LogWriter(log_path or default_log(), replace=force, part_bytes=part_bytes)
    overhead = gpu_overhead_of(interposer) if gpu_time else None
    session = Session(
        cordon=cordon,
        gpu_time=gpu_time,
        gpu_overhead_ns=overhead,
        omitted=choice.omitted(interposer.surface.exports),
    )
    run = supervise(
        command,
        interposer,
        log,
        version=__version__,
        callers=callers,
        timeout=timeout,
        keep_images=keep_images,
        session=session,
        choice=choice,
        options=ChildOptions(output=2) if is_stdout(log_path) else None,
    )
    if run.timed_out:
        notify(f"the command was killed after {timeout:g} s; raise --timeout")
    analysis = None
    if is_stdout(log_path):
        if not quiet and run.log_error is None:
            notify(_outcome(run, log))
    else:
        analysis = _analysis(interposer) if run.log_error is None and (fail_on or not quiet) else None
        _report(run, log, quiet, summary_path, analysis)
    if run.log_error is not None:
        raise BenchguardError(run.log_error)
    if run.images_error is not None:
        raise run.images_error
    status = _findings(analysis, log.path, fail_on, quiet) if analysis is not None else exit_status.PASS
    return status or run.status


def _check_fail_on(patterns: tuple[str, ...], driver: str) -> None:
    if patterns:
        raise UsageError("--fail-on examines all calls of timing windows; leave out --calls")
    if driver in HIP_DRIVERS:
        raise UsageError(NO_HIP)


def _check_stream(part_bytes: int | None, summary_path: Path | None, fail_on: tuple[str, ...]) -> None:
    """Raises UsageError for options that need a log that can be read again."""
    for given, option in ((part_bytes, "--log-size"), (summary_path, "--summary"), (fail_on, "--fail-on")):
        if given:
            raise UsageError(f"{option} needs a log in a file; give another --log than -")


def _outcome(run: Run, log: LogWriter) -> str:
    """The line that replaces the summary of a log on standard output."""
    totals = run.totals
    launches = totals.launches + totals.graph_launches
    lost = "" if run.complete else "; INCOMPLETE: the log's last line tells what is missing"
    return f"{launches:,} launches, {totals.calls:,} other calls{lost}; head of the log: {log.head.decode()}"


def _analysis(interposer: Interposer) -> Analysis | None:
    """An analysis of the timing windows, which HIP logs do not have."""
    from ..findings import Analysis

    return Analysis() if interposer.surface.api == "cuda" else None


def _findings(analysis: Analysis, log: Path, fail_on: tuple[str, ...], quiet: bool) -> int:
    """Show the findings above info. Returns the status that --fail-on asks for.

    Raises FindingsError if the log cannot be examined and --fail-on asks for findings.
    """
    from ..findings import FindingsError
    from .findings_text import failed, render

    try:
        report = analysis.report()
    except FindingsError as error:
        if fail_on:
            raise
        notify(f"the timing windows are not examined: {error}")
        return exit_status.PASS
    if not quiet and (report.windows or report.findings):
        render(report, report.above_info(), log, sys.stderr)
    return failed(report, fail_on, sys.stderr)


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot keep images in {path}: {error.strerror}; name another folder") from error


def _report(
    run: Run, log: LogWriter, quiet: bool, summary_path: Path | None, analysis: Analysis | None
) -> None:
    """Summarise and examine the log, in one reading."""
    if run.log_error is not None or (quiet and summary_path is None and analysis is None):
        return
    from ..audit.summary import summarise_lines
    from .reading import lines_of

    lines = lines_of(log.path)
    summary = summarise_lines(lines if analysis is None else analysis.through(lines), log.path)
    if summary_path is not None:
        text = summary.to_json()
        if is_stdout(summary_path):
            print_document(text)
        else:
            try:
                write_text(summary_path, text + "\n")
            except BenchguardError as error:
                raise BenchguardError(f"{error}; the log {log.path} is whole") from error
    if not quiet:
        from .observe_text import render

        render(summary, log.path, sys.stderr)
