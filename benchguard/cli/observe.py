"""neutrino-bench observe: run a command under the shim."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import click

from .. import __version__
from ..audit.log import LogWriter
from ..audit.summary import summarise
from ..audit.supervise import Run, supervise
from ..errors import BenchguardError, UsageError
from .interpose import announced_interposer
from .observe_text import render
from .options import driver_option, timeout_option


def default_log() -> Path:
    """In the current folder; the time and our pid keep two runs apart."""
    return Path(f"neutrino-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.audit.jsonl")


@click.command(
    context_settings={"ignore_unknown_options": False, "allow_interspersed_args": False},
    epilog="\b\nThe exit status is the command's own; 128 + n if signal n ended it.\n"
    "Observation never stops a command: what could not be recorded is counted and said.",
)
@click.option(
    "--log",
    "log_path",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Where to write the audit log.  [default: ./neutrino-TIME-PID.audit.jsonl]",
)
@click.option("--force", is_flag=True, help="Replace the log if it exists.")
@driver_option
@click.option(
    "--filter",
    "callers",
    metavar="WORDS",
    help="Send callers whose library name holds one of these comma-separated words to the real driver, "
    "unrecorded: cublas,cudnn.",
)
@timeout_option
@click.option(
    "--keep-images",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Keep every code image there, named by its SHA-256.",
)
@click.option(
    "--summary",
    "summary_path",
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="PATH",
    help="Write the summary there as JSON too; - is standard output.",
)
@click.option("--quiet", "-q", is_flag=True, help="Print nothing but errors.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def observe(
    log_path: Path | None,
    force: bool,
    driver: str,
    callers: str | None,
    timeout: float | None,
    keep_images: Path | None,
    summary_path: Path | None,
    quiet: bool,
    command: tuple[str, ...],
) -> int:
    """Run COMMAND under the shim and write an audit log of every kernel it launches.

    This is what `neutrino-bench [OPTIONS] -- COMMAND` does without a subcommand's name.
    """
    if keep_images is not None:
        _make_folder(keep_images)
    interposer = announced_interposer(driver, quiet)
    log = LogWriter(log_path or default_log(), replace=force)
    run = supervise(
        command,
        interposer,
        log,
        version=__version__,
        callers=callers,
        timeout=timeout,
        keep_images=keep_images,
    )
    _report(run, log, quiet, summary_path)
    if run.log_error is not None:
        raise BenchguardError(run.log_error)
    if run.images_error is not None:
        raise run.images_error
    return run.status


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot keep images in {path}: {error.strerror}; name another folder") from error


def _report(run: Run, log: LogWriter, quiet: bool, summary_path: Path | None) -> None:
    if run.log_error is not None or (quiet and summary_path is None):
        return
    summary = summarise(log.path)
    if summary_path is not None:
        text = summary.to_json()
        if str(summary_path) == "-":
            click.echo(text)
        else:
            try:
                summary_path.write_text(text + "\n")
            except OSError as error:
                raise BenchguardError(
                    f"cannot write the summary {summary_path}: {error.strerror}; the log {log.path} is whole"
                ) from error
    if not quiet:
        render(summary, log.path, sys.stderr)
