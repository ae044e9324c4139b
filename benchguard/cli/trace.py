"""neutrino-bench trace: a live table of driver calls."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from ..errors import BenchguardError, UsageError
from .options import (
    OutputPath,
    check_distinct,
    check_gpu_time,
    driver_option,
    given_options,
    gpu_time_option,
    log_size_option,
    timeout_option,
)
from .output import RowWriter, notify
from .streams import discard, quiet_pipe
from .trailing import TrailingCommand, trailing_words

if TYPE_CHECKING:
    from .trace_text import TraceTable

_COMMAND_ONLY = {
    "log_path": "--log",
    "part_bytes": "--log-size",
    "driver": "--driver",
    "gpu_time": "--gpu-time",
    "timeout": "--timeout",
}
_FILTERS = {
    "calls": "--call",
    "kernels": "--kernel",
    "streams": "--stream",
    "threads": "--thread",
    "errors": "--errors",
    "path": "--path",
    "pid": "--pid",
}
_STREAMS = {"default": 0, "legacy": 1, "per-thread": 2}
LAST_LINES_SECONDS = 2.0
"""Longest time from the end of a process to its last lines in the log, which other processes may still write to."""
_DRIVERS, _RUNTIMES = ("libcuda.so", "libamdhip64.so"), ("libcudart",)


def _handles(context: click.Context, option: click.Parameter, words: tuple[str, ...]) -> tuple[int, ...]:
    """The handles of streams that --stream names."""
    try:
        return tuple(_STREAMS[word] if word in _STREAMS else int(word, 0) for word in words)
    except ValueError:
        message = "a stream is a handle (0x7f...), default, legacy or per-thread"
        raise click.BadParameter(message, context, option) from None


@click.command(
    cls=TrailingCommand,
    forms=("[OPTIONS] -- COMMAND...", "[OPTIONS] LOG", "[OPTIONS] --pid PID"),
    epilog="\b\nExamples:\n"
    "  neutrino-bench trace -- ./program\n"
    "  neutrino-bench trace --errors -- python submission.py\n"
    "  neutrino-bench trace --call 'cuMem*' run.audit.jsonl | head\n"
    "  neutrino-bench trace -d 4711\n"
    "\nA row appears when its call has returned. If the reader of the table ends, the command runs on to its end.",
)
@click.option("--verbose", "-v", is_flag=True, help="Also show code, kernels, graphs, threads and log lines.")
@click.option("--no-time", "-t", is_flag=True, help="Leave out the column TIME.")
@click.option("--no-returns", "-r", is_flag=True, help="Leave out the rows [EXIT].")
@click.option(
    "--path",
    "-p",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Show only programs that run this executable; a driver library is the driver to run on.",
)
@click.option(
    "--pid", "-d", type=click.IntRange(min=1), help="Follow a running process that is observed already."
)
@click.option(
    "--call",
    "calls",
    multiple=True,
    metavar="PATTERN",
    help="Show only calls with such a name: 'cuMem*', cudaMalloc.",
)
@click.option(
    "--kernel",
    "kernels",
    multiple=True,
    metavar="PATTERN",
    help="Show only launches of kernels with such a name.",
)
@click.option(
    "--stream",
    "streams",
    multiple=True,
    callback=_handles,
    metavar="HANDLE",
    help="Show only calls on this stream: a handle, default, legacy or per-thread.",
)
@click.option(
    "--thread", "threads", multiple=True, type=int, metavar="TID", help="Show only calls of this thread."
)
@click.option("--errors", is_flag=True, help="Show only failed calls.")
@click.option(
    "--runtime",
    is_flag=True,
    help="Name the CUDA runtime's call beside the driver's. For programs that use it.",
)
@click.option("--follow", "-f", is_flag=True, help="Wait for more lines of a LOG that is still written.")
@click.option("--summary", "summary_only", is_flag=True, help="Show the tables of the summary instead.")
@click.option(
    "--output", "-o", "output_path", type=OutputPath(), metavar="FILE", help="Write the table to this file."
)
@click.option(
    "--log",
    "log_path",
    type=OutputPath(),
    metavar="PATH",
    help="Keep the audit log of the command in this file.",
)
@log_size_option
@driver_option
@gpu_time_option
@timeout_option
@click.argument("log", metavar="LOG", required=False, type=click.Path(path_type=Path))
@click.pass_context
def trace(
    context: click.Context,
    verbose: bool,
    no_time: bool,
    no_returns: bool,
    path: Path | None,
    pid: int | None,
    calls: tuple[str, ...],
    kernels: tuple[str, ...],
    streams: tuple[int, ...],
    threads: tuple[int, ...],
    errors: bool,
    runtime: bool,
    follow: bool,
    summary_only: bool,
    output_path: Path | None,
    log_path: Path | None,
    part_bytes: int | None,
    driver: str,
    gpu_time: bool,
    timeout: float | None,
    log: Path | None,
) -> int:
    """Show every driver call of COMMAND as it happens, or those of the audit log LOG.

    Each call has a row [ENTER] with its arguments and a row [EXIT] with its result.
    """
    from .trace_text import Filters, Layout, TraceTable

    command = trailing_words(context)
    _check(context, command, log, pid)
    executable = None
    if path is not None:
        driver, executable = _meaning_of(path, driver, command is not None, context)
    filters = Filters(calls, kernels, streams, threads, pid, executable, errors)
    existing = log or (_log_of(pid) if pid is not None else None)
    if existing is not None:
        _check_log(existing)
    check_distinct(output_path, existing, log_path)
    with _named_if_unwritable(output_path), ExitStack() as stack:
        output: TextIO = sys.stdout if output_path is None else stack.enter_context(output_path.open("w"))
        layout = Layout(not no_time, not no_returns, verbose, runtime)
        table = None if summary_only else TraceTable(RowWriter(output), layout, filters)
        if existing is not None:
            status = _trace_log(existing, pid, follow or pid is not None, table, output)
        else:
            assert command is not None
            status = _trace_command(command, driver, gpu_time, timeout, log_path, part_bytes, table, output)
        if table is not None and table.hides_all_calls:
            given = [_FILTERS[name] for name in _FILTERS if name in given_options(context) - {"pid"}]
            words = " and ".join(given or ["--pid"])
            notify("no call failed" if given == ["--errors"] else f"no call fits {words}")
        return status


@contextmanager
def _named_if_unwritable(output_path: Path | None) -> Iterator[None]:
    """Name the file of --output in the message of a failed write, which names no file itself."""
    try:
        yield
    except OSError as error:
        if output_path is None or error.filename is not None:
            raise
        raise BenchguardError(f"cannot write {output_path}: {error.strerror}; name another file") from error


def _check(
    context: click.Context, command: tuple[str, ...] | None, log: Path | None, pid: int | None
) -> None:
    """Raises UsageError for words and options that do not go together."""
    if sum(each is not None for each in (command, log, pid)) != 1 or command == ():
        raise UsageError("give one LOG, or -- and a COMMAND, or --pid")
    follow, summary_only = context.params["follow"], context.params["summary_only"]
    if command is not None and follow:
        raise UsageError("--follow is for a LOG; a COMMAND is always followed")
    if summary_only and (pid is not None or follow):
        raise UsageError("--summary needs the end of the log; leave out --pid and --follow")
    given = given_options(context)
    if summary_only and (other := given & {"verbose", "no_time", "no_returns", "runtime"}):
        raise UsageError(f"--summary shows no rows; leave out --{sorted(other)[0].replace('_', '-')}")
    if summary_only and (other := given & set(_FILTERS)):
        raise UsageError(f"--summary covers the whole log; leave out {_FILTERS[sorted(other)[0]]}")
    if command is None and (other := given & set(_COMMAND_ONLY)):
        raise UsageError(f"{_COMMAND_ONLY[sorted(other)[0]]} is for a COMMAND after --")
    if "part_bytes" in given and "log_path" not in given:
        raise UsageError("--log-size is for a log that is kept; give --log, too")


def _meaning_of(path: Path, driver: str, is_command: bool, context: click.Context) -> tuple[str, str | None]:
    """The driver and the executable that --path names. Raises UsageError."""
    if path.name.startswith(_RUNTIMES):
        raise UsageError(
            f"--path {path} is the CUDA runtime, but calls are traced at the driver; name the program instead"
        )
    if not path.name.startswith(_DRIVERS):
        return driver, str(path.resolve())
    if not is_command or "driver" in given_options(context):
        raise UsageError(f"--path {path} is a driver, which only a COMMAND without --driver needs")
    return str(path), None


def _log_of(pid: int) -> Path:
    from ..audit.find_log import log_of

    return log_of(pid)


def _trace_log(path: Path, pid: int | None, follow: bool, table: TraceTable | None, output: TextIO) -> int:
    from ..audit.follow import follow_lines, has_writer
    from ..audit.log import checked_lines
    from .trace_run import show

    with quiet_pipe(output):
        if table is None:
            _show_summary(path, output)
        elif follow:
            ended = _Ended(pid)
            show(follow_lines(path, lambda: not has_writer(path) or ended()), table, path)
        else:
            show((line for line, _ in checked_lines(path)), table, path)
    return 0


def _check_log(path: Path) -> None:
    """Raises UsageError for a file that is not a log: perhaps the user meant a command."""
    from ..audit.compact import is_compact

    if path.exists() and not path.is_file() and not path.is_dir():
        return  # a pipe's bytes can be read once
    try:
        with path.open("rb") as file:
            head = file.read(4)
            is_log = head[:1] in (b"{", b"") or is_compact(head)
    except OSError as error:
        raise UsageError(f"cannot read the log {path}: {error.strerror}; check the path") from error
    if not is_log:
        raise UsageError(f"{path} is not an audit log; to run it, write: neutrino-bench trace -- {path}")


class _Ended:
    """Whether a process ended so long ago that the log has its last lines. No process: never."""

    def __init__(self, pid: int | None) -> None:
        self._pid, self._ended_at = pid, 0.0

    def __call__(self) -> bool:
        if self._pid is None or Path(f"/proc/{self._pid}").exists():
            return False
        self._ended_at = self._ended_at or time.monotonic()
        return time.monotonic() > self._ended_at + LAST_LINES_SECONDS


def _show_summary(path: Path, output: TextIO) -> None:
    from ..audit.summary import summarise_lines
    from .observe_text import render
    from .reading import lines_of

    render(summarise_lines(lines_of(path), path), path, output)
    output.flush()


def _trace_command(
    command: tuple[str, ...],
    driver: str,
    gpu_time: bool,
    timeout: float | None,
    log_path: Path | None,
    part_bytes: int | None,
    table: TraceTable | None,
    output: TextIO,
) -> int:
    from ..audit.log import LogWriter
    from ..audit.session import Session
    from ..audit.supervise import supervise
    from ..version import __version__
    from .interpose import announced_interposer, gpu_overhead_of
    from .trace_run import LiveTable

    check_gpu_time(gpu_time, driver)
    interposer = announced_interposer(driver, quiet=False)
    check_gpu_time(gpu_time, interposer.surface.api)
    with tempfile.TemporaryDirectory(prefix="neutrino-trace-") as folder:
        path = log_path or Path(folder) / "trace.audit.jsonl"
        log = LogWriter(path, replace=True, part_bytes=part_bytes)
        live = LiveTable(log.path, table, lambda: discard(output)) if table is not None else None
        try:
            if live is not None:
                live.start()
            overhead = gpu_overhead_of(interposer) if gpu_time else None
            session = Session(gpu_time=gpu_time, gpu_overhead_ns=overhead)
            run = supervise(command, interposer, log, version=__version__, timeout=timeout, session=session)
        finally:
            if live is not None:
                live.finish()
        if run.timed_out:
            notify(f"the command was killed after {timeout:g} s; raise --timeout")
        if run.log_error is not None:
            raise BenchguardError(run.log_error)
        if live is not None and live.failure is not None:
            raise live.failure
        if table is None:
            with quiet_pipe(output):
                _show_summary(log.path, output)
    return run.status
