"""neutrino-bench record: run a command under the shim and capture a region of its GPU work."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..record.options import RecordOptions
from .options import (
    Flag,
    OutputPath,
    driver_option,
    log_size,
    options_of,
    policy_option,
    quiet_option,
    timeout_option,
)
from .output import notify
from .selection import SELECTION

if TYPE_CHECKING:
    from ..capture import PackSummary

_REFUSALS_SHOWN = 5


@click.command(
    context_settings={"ignore_unknown_options": False, "allow_interspersed_args": False},
    epilog="\b\nThe exit status is the command's; 70 if the command succeeded and no region was captured.\n"
    "PATTERN is a shell pattern. It matches a kernel's mangled name, the plain name inside it, or the\n"
    "demangled name that tables show.",
)
@click.option(
    "-o",
    "--output",
    type=OutputPath(),
    metavar="PATH",
    required=True,
    help="Write the capture to this file; a second region goes to x.2.ncap beside x.ncap, and so on.",
)
@options_of(
    RecordOptions,
    {
        **SELECTION,
        "log": Flag(
            "Write the audit log to this file.  [default: x.audit.jsonl beside x.ncap]",
            "PATH",
            type=OutputPath(),
        ),
        "log_size": log_size,
        "force": "Replace the capture and the log if they exist.",
    },
)
@driver_option
@policy_option
@timeout_option
@options_of(RecordOptions, {"keep_raw": "Keep the raw captures, and print their folder."})
@quiet_option
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def record(command: tuple[str, ...], output: Path, quiet: bool, **values: Any) -> int:
    """Run COMMAND and capture a region of its GPU work, to be replayed.

    The region is a block `with benchguard.region():` of the program, or is selected by an option. The capture holds
    the region's memory, code, launches, copies and graphs; `neutrino-bench replay` repeats them without the program.
    """
    options = RecordOptions(**values)
    from ..record.record import check_absent, record_with, timeout_text
    from .interpose import announced_interposer

    check_absent(output, options.force)
    interposer = announced_interposer(options.driver, quiet)
    result = record_with(
        interposer,
        command,
        output,
        options,
        on_capture=lambda summary: None if quiet else report_capture(summary),
        on_kept=lambda folder: notify(f"raw captures are in {folder}"),
    )
    if result.timed_out:
        notify(timeout_text(options.timeout))
    return result.status


def report_capture(summary: PackSummary) -> None:
    """Print one line for a capture, and the reasons why it cannot be replayed."""
    from ..capture import Capture

    with Capture.open(summary.path) as capture:
        kernels = len(capture.kernels)
    counts = f"{_count(summary.operations, 'operation')}, {_count(kernels, 'kernel')}"
    sizes = f"{_size(summary.memory_bytes)} of memory, {_size(summary.file_bytes)} file"
    notify(f"{summary.path}: {counts}, {sizes}, packed in {summary.seconds:.1f} s")
    for refusal in summary.refusals[:_REFUSALS_SHOWN]:
        reason = f"{refusal.call}: {refusal.reason}" if refusal.call else refusal.reason
        notify(f"{'may fail in a replay' if refusal.is_doubt else 'cannot be replayed'}: {reason}")
    more = len(summary.refusals) - _REFUSALS_SHOWN
    if more > 0:
        notify(f"cannot be replayed, or may fail: {more} more reasons")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _size(size: int) -> str:
    for unit, scale in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= scale:
            return f"{size / scale:.1f} {unit}"
    return f"{size} B"
