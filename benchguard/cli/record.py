"""neutrino-bench record: run a command under the shim and capture what a region of it does on the device."""

from __future__ import annotations

import re
import shutil
import stat
import struct
import tempfile
from pathlib import Path

import click

from .. import __version__
from ..audit.log import LogWriter
from ..audit.selection import Selection, parse_selection
from ..audit.supervise import STATUS_OURS, Interposer, Recorded, supervise
from ..capture import Capture, CaptureError, PackSummary, pack
from ..capture.layout import Kind
from ..errors import BenchguardError, UsageError
from .interpose import MARK, announced_interposer
from .options import driver_option, timeout_option
from .record_missed import why_missed, why_unended

_RECORDING = re.compile(r"[0-9]+-[0-9]+\.nrec", re.ASCII)
_REFUSALS_SHOWN = 5
_ELEMENT = struct.Struct("<IIQ")
_END_BYTES = _ELEMENT.size + 8


@click.command(
    context_settings={"ignore_unknown_options": False, "allow_interspersed_args": False},
    epilog="\b\nThe exit status is the command's own; 70 if it was 0 and no region could be captured.\n"
    "Kernel names match by PATTERN as in a shell; of a mangled name the plain one inside matches too.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="PATH",
    required=True,
    help="Where to write the capture; a second region goes to x.2.ncap beside x.ncap, and so on.",
)
@click.option(
    "--launches",
    metavar="A:B",
    help="Capture launches A to B - 1 of the process, counted from 0, and what is between them.",
)
@click.option(
    "--kernel",
    metavar="PATTERN[:N]",
    help="Capture the Nth launch, from 1, of a kernel whose name matches.",
)
@click.option(
    "--window",
    type=click.IntRange(min=1),
    metavar="N",
    help="Capture what lies between the Nth pair, from 1, of timing events on a stream.",
)
@click.option(
    "--log",
    "log_path",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Where to write the audit log.  [default: beside the capture, x.audit.jsonl]",
)
@click.option("--force", is_flag=True, help="Replace the capture and the log if they exist.")
@driver_option
@timeout_option
@click.option("--keep-recording", is_flag=True, help="Keep the raw recordings, and say where they are.")
@click.option("--quiet", "-q", is_flag=True, help="Print nothing but errors.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def record(
    output: Path,
    launches: str | None,
    kernel: str | None,
    window: int | None,
    log_path: Path | None,
    force: bool,
    driver: str,
    timeout: float | None,
    keep_recording: bool,
    quiet: bool,
    command: tuple[str, ...],
) -> int:
    """Run COMMAND and capture what a region of it does on the device, to be replayed.

    The region is what the program puts in `with benchguard.region():`, unless an option chooses another. Its memory,
    code, launches, copies and graphs go to one file, which `neutrino-bench replay` repeats without the program.
    """
    selection = parse_selection(launches, kernel, window)
    _check_free(output, force)
    interposer = announced_interposer(driver, quiet)
    folder = _make_folder(output)
    keep = keep_recording
    try:
        log = LogWriter(log_path or output.with_suffix(".audit.jsonl"), replace=force)
        run = supervise(
            command,
            interposer,
            log,
            version=__version__,
            timeout=timeout,
            recorded=Recorded(folder, selection),
        )
        if run.log_error is not None:
            raise BenchguardError(run.log_error)
        if run.images_error is not None:
            raise run.images_error
        try:
            _pack_all(folder, output, interposer, log.path, selection, force, quiet)
        except BenchguardError as error:
            keep |= isinstance(error, CaptureError)
            error.status = run.status or STATUS_OURS
            raise
    finally:
        _leave(folder, keep)
    return run.status


def _check_free(path: Path, force: bool) -> None:
    if path.exists() and not force:
        raise UsageError(f"{path} exists; name another file, or replace it with --force")


def _make_folder(output: Path) -> Path:
    """Beside the capture: a recording holds all device memory, and may find no room elsewhere."""
    try:
        return Path(tempfile.mkdtemp(prefix=f".{output.name}.", dir=output.parent.resolve()))
    except OSError as error:
        raise UsageError(f"cannot write to {output.parent}: {error.strerror}; name another folder") from error


def _leave(folder: Path, keep: bool) -> None:
    if keep and any(folder.iterdir()):
        click.echo(f"{MARK}the recordings are kept in {folder}", err=True)
    else:
        shutil.rmtree(folder, ignore_errors=True)


def _recordings(folder: Path) -> list[Path]:
    """In the order in which they were finished. The measured processes can put anything here."""
    found = []
    for path in folder.iterdir():
        status = path.lstat()
        if _RECORDING.fullmatch(path.name) and stat.S_ISREG(status.st_mode):
            found.append((status.st_mtime_ns, path))
    return [path for _, path in sorted(found)]


def _pack_all(
    folder: Path,
    output: Path,
    interposer: Interposer,
    log: Path,
    selection: Selection,
    force: bool,
    quiet: bool,
) -> None:
    recordings = _recordings(folder)
    if not recordings:
        raise BenchguardError(
            f"no region was recorded: {why_missed(log, selection)}; {output} is not written"
        )
    calls = [export.name for export in interposer.surface.exports]
    failures = []
    for number, recording in enumerate(recordings, 1):
        target = output if number == 1 else output.with_suffix(f".{number}{output.suffix}")
        try:
            _check_free(target, force)
            if not _has_end(recording):
                why = why_unended(log, selection)
                raise CaptureError(f"the region began and never ended: {why}; {target} is not written")
            summary = pack(recording, target, calls)
        except BenchguardError as error:
            failures.append(error)
            continue
        if not quiet:
            _report(summary)
    if failures:
        first = failures[0]
        others = (
            f" ({len(failures) - 1} more of {len(recordings)} regions failed)" if len(failures) > 1 else ""
        )
        raise type(first)(f"{first}{others}")


def _has_end(recording: Path) -> bool:
    """Whether its last element is NB_CAPTURE_END; the rest is for `pack` to check."""
    with recording.open("rb") as stream:
        stream.seek(max(0, recording.stat().st_size - _END_BYTES))
        return stream.read(_ELEMENT.size) == _ELEMENT.pack(Kind.END, 0, _END_BYTES - _ELEMENT.size)


def _report(summary: PackSummary) -> None:
    with Capture.open(summary.path) as capture:
        kernels = len(capture.kernels)
    counts = f"{_count(summary.operations, 'operation')}, {_count(kernels, 'kernel')}"
    sizes = f"{_size(summary.memory_bytes)} of memory, {_size(summary.file_bytes)} file"
    click.echo(f"{MARK}{summary.path}: {counts}, {sizes}, packed in {summary.seconds:.1f} s", err=True)
    for refusal in summary.refusals[:_REFUSALS_SHOWN]:
        what = f"{refusal.call}: {refusal.reason}" if refusal.call else refusal.reason
        click.echo(f"{MARK}cannot be replayed: {what}", err=True)
    more = len(summary.refusals) - _REFUSALS_SHOWN
    if more > 0:
        click.echo(f"{MARK}cannot be replayed: and for {more} more reasons", err=True)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _size(size: int) -> str:
    for unit, scale in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= scale:
            return f"{size / scale:.1f} {unit}"
    return f"{size} B"
