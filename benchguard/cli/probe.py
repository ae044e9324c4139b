"""neutrino-bench probe: run a command whose kernels an engine instruments."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import BenchguardError, UsageError
from ..version import __version__
from .options import (
    FiniteRange,
    OutputFolder,
    Size,
    check_gpu_time,
    driver_option,
    pairs,
    quiet_option,
    timeout_option,
)
from .output import notify, say
from .trailing import TrailingCommand, trailing_words

if TYPE_CHECKING:
    from ..probe.pipeline.service import Counts

REASONS_SHOWN = 10
COMPARISONS_SHOWN = 40


@click.command(
    cls=TrailingCommand,
    forms=("ENGINE [OPTIONS] -- COMMAND...",),
    epilog="\b\nThe exit status is the command's; 70 if a trace could not be written.\n"
    "A kernel that cannot be probed runs as it is, and the log says why.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Write kernels, traces and the audit log to this folder, which must not exist or be empty.  "
    "[default: ./probe-TIME]",
)
@click.option(
    "--option",
    "options",
    multiple=True,
    metavar="KEY=VALUE",
    help="Give the engine an option; may be repeated.",
)
@click.option(
    "--kernel",
    "kernels",
    default="*",
    metavar="PATTERN",
    help="Probe only kernels whose name matches, as *matmul*.  [default: all]",
)
@click.option(
    "--engine-timeout",
    type=FiniteRange(min=0, min_open=True),
    default=60.0,
    metavar="SECONDS",
    help="Limit the engine's time for a kernel.  [default: 60]",
)
@click.option(
    "--max-map-bytes",
    type=Size(),
    default="1G",
    metavar="SIZE",
    help="Limit the device memory of the maps of one process.  [default: 1G]",
)
@click.option(
    "--benchmark",
    is_flag=True,
    help="Launch each kernel in turn as the program has it, as the engine writes it without probes, and probed; "
    "time each launch on the GPU. Not for HIP programs.",
)
@click.option(
    "--callback",
    metavar="COMMAND",
    help="Run this command for each trace, with the trace's path as its last word.",
)
@click.option(
    "--cache",
    "cache_folder",
    type=OutputFolder(),
    metavar="FOLDER",
    help="Keep what engines made of kernels in this folder.  [default: ~/.cache/neutrino-bench/probes]",
)
@click.option("--no-cache", is_flag=True, help="Run the engine for kernels that earlier runs probed, too.")
@driver_option
@timeout_option
@quiet_option
@click.argument("engine")
@click.pass_context
def probe(
    context: click.Context,
    out: Path | None,
    options: tuple[str, ...],
    kernels: str,
    engine_timeout: float,
    max_map_bytes: int,
    benchmark: bool,
    callback: str | None,
    cache_folder: Path | None,
    no_cache: bool,
    driver: str,
    timeout: float | None,
    quiet: bool,
    engine: str,
) -> int:
    """Run COMMAND, and launch kernels that ENGINE has instrumented in place of its own.

    ENGINE is a command, called as `ENGINE FOLDER KERNEL` in a sandbox for each kernel at its first launch.
    """
    from ..audit.log import LogWriter
    from ..audit.probe_area import ProbeOptions
    from ..audit.session import Session
    from ..audit.supervise import supervise
    from ..probe.pipeline.cache import Cache
    from ..probe.pipeline.engine import START_SECONDS, find_engine
    from ..probe.pipeline.service import ProbeService
    from ..toolchain.cache_folder import cache_folder as default_cache
    from .interpose import announced_interposer, gpu_overhead_of

    command = trailing_words(context)
    if not command:
        raise UsageError("write the command after --, as in `neutrino-bench probe ENGINE -- ./program`")
    if no_cache and cache_folder is not None:
        raise UsageError("--cache and --no-cache exclude each other")
    check_gpu_time(benchmark, driver, "--benchmark")
    found = find_engine(engine, pairs("--option", options))
    folder = _folder(out)
    interposer = announced_interposer(driver, quiet)
    check_gpu_time(benchmark, interposer.surface.api, "--benchmark")
    # A launch waits for the engine that runs for another thread's kernel, too.
    session = Session(
        probe=ProbeOptions(2 * (engine_timeout + START_SECONDS), max_map_bytes, benchmark),
        gpu_time=benchmark,
        gpu_overhead_ns=gpu_overhead_of(interposer) if benchmark else None,
    )
    service = ProbeService(
        session,
        found,
        folder,
        vendor=interposer.surface.api,
        seconds=engine_timeout,
        cache=None if no_cache else Cache(cache_folder or default_cache("probes")),
        kernels=kernels,
        benchmark=benchmark,
        callback=callback,
    )
    log = LogWriter(folder / "audit.jsonl", replace=False)
    try:
        run = supervise(
            command, interposer, log, version=__version__, timeout=timeout, session=session, probes=service
        )
    finally:
        service.close()
    if run.timed_out:
        notify(f"the command was killed after {timeout:g} s; raise --timeout")
    if not quiet:
        _report(service.counts, folder)
        _show_traces(engine, folder)
    if benchmark and not run.log_error:
        _show_times(folder, quiet)
    problem = run.log_error or service.problem
    if problem:
        raise BenchguardError(problem)
    return run.status


def _folder(out: Path | None) -> Path:
    folder = out or Path(f"probe-{time.strftime('%Y%m%d-%H%M%S')}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise UsageError(f"the folder {folder} is not empty; name another --out")
    except OSError as error:
        raise UsageError(f"cannot write to {folder}: {error.strerror}; name another --out") from error
    return folder


def _report(counts: Counts, folder: Path) -> None:
    lost = f", {counts.lost_traces} traces lost" if counts.lost_traces else ""
    say(f"{counts.probed} kernels probed, {counts.traces} traces in {folder}{lost}", err=True)
    for why, count in counts.reasons.most_common(REASONS_SHOWN):
        say(f"  {_kernels(count)} not probed: {why}", err=True)
    for why, count in counts.skipped.most_common(REASONS_SHOWN):
        say(f"  {_kernels(count)} with launches that left no trace: {why}", err=True)


def _show_traces(engine: str, folder: Path) -> None:
    from .probe_text import report_of

    report = report_of(engine)
    for line in report(folder) if report is not None else ():
        say(line, err=True)


def _show_times(folder: Path, quiet: bool) -> None:
    from ..probe.benchmark import BENCHMARK, compare, lines, write_comparisons

    comparisons = compare(folder / "audit.jsonl")
    write_comparisons(folder, comparisons)
    if quiet:
        return
    for line in lines(comparisons[:COMPARISONS_SHOWN]):
        say(line, err=True)
    if len(comparisons) > COMPARISONS_SHOWN:
        say(f"{len(comparisons) - COMPARISONS_SHOWN} further shapes are in {folder / BENCHMARK}", err=True)


def _kernels(count: int) -> str:
    return "1 kernel" if count == 1 else f"{count} kernels"
