"""Run a command under the shim and write captures of its regions."""

from __future__ import annotations

import glob
import os
import re
import shutil
import stat
import struct
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .. import exit_status
from ..audit.log import LogWriter
from ..audit.selection import Selection, parse_selection
from ..audit.session import Session
from ..audit.supervise import ChildOptions, Recorded, supervise
from ..capture import CaptureError, PackSummary, pack
from ..capture.layout import Kind
from ..errors import BenchguardError, UsageError
from ..policy import cordon_for
from ..shim.interposer import Interposer, interposer_for
from ..version import __version__
from .missed import why_missed, why_unended
from .options import RecordOptions

_RAW_CAPTURE = re.compile(r"[0-9]+-[0-9]+\.nrec", re.ASCII)
_ELEMENT = struct.Struct("<IIQ")
_END_BYTES = _ELEMENT.size + 8

OnCapture = Callable[[PackSummary], None]


@dataclass(frozen=True)
class RecordResult:
    """The outcome of a command whose region was captured.

    Attributes:
        status: exit status of the command; 128 + n if signal n ended it.
        captures: one summary per capture file (sizes in bytes), in the order in which the regions ended.
        log: path of the audit log.
        timed_out: whether `timeout` killed the command; `status` is then 124.
    """

    status: int
    captures: tuple[PackSummary, ...]
    log: Path
    timed_out: bool = False


def record(
    command: Sequence[str],
    output: str | os.PathLike[str],
    options: RecordOptions = RecordOptions(),  # noqa: B008 - frozen
    **changes: Any,
) -> RecordResult:
    """Run a command and capture a region of its GPU work, to be replayed without the command.

        benchguard.record(["python", "program.py"], "x.ncap", launches="100:110")

    Args:
        command: program and arguments. Its output goes to this process's standard output and error.
        output: path of the capture file. The second region goes to x.2.ncap beside x.ncap, and so on.
        options: how to record.
        changes: fields of RecordOptions by name, in place of those in `options`.

    Returns:
        The command's exit status and a summary of each capture.

    Raises:
        UsageError: an option is invalid, or a file exists and `force` is not set.
        ShimError: the driver is missing, or its shim cannot be built.
        CaptureError: a region began and did not end, or its raw capture is damaged.
        BenchguardError: the command did not start, or no region was captured. `status` is the command's own, or 70.
        TypeError: `changes` names no field of RecordOptions.
    """
    options = replace(options, **changes)
    interposer, _, _ = interposer_for(options.driver)
    return record_with(interposer, command, Path(output), options)


def record_with(
    interposer: Interposer,
    command: Sequence[str],
    output: Path,
    options: RecordOptions,
    on_capture: OnCapture = lambda _: None,
    on_kept: Callable[[Path], None] = lambda _: None,
    child: ChildOptions | None = None,
) -> RecordResult:
    """Like record(), with a known driver. `on_kept` is called with the folder of raw captures that are kept."""
    selection = parse_selection(options.launches, options.kernel, options.window)
    check_absent(output, options.force)
    cordon = cordon_for(options.policy, interposer.surface)
    folder = _make_folder(output)
    keep = options.keep_raw
    try:
        # The log of a run that failed has no capture beside it: the next run may replace it.
        is_orphan = options.log is None and not output.exists()
        log = LogWriter(
            options.log or output.with_suffix(".audit.jsonl"),
            replace=options.force or is_orphan,
            part_bytes=options.log_size,
        )
        run = supervise(
            command,
            interposer,
            log,
            version=__version__,
            timeout=options.timeout,
            session=Session(cordon=cordon),
            recorded=Recorded(folder, selection),
            options=child,
        )
        if run.log_error is not None:
            raise BenchguardError(run.log_error)
        if run.images_error is not None:
            raise run.images_error
        try:
            captures = _pack_all(folder, output, interposer, log.path, selection, options.force, on_capture)
        except BenchguardError as error:
            if run.timed_out:
                error.args = (f"{timeout_text(options.timeout)}; {error}",)
            keep |= isinstance(error, CaptureError)
            error.status = run.status or exit_status.INTERNAL
            raise
    finally:
        if keep and any(folder.iterdir()):
            on_kept(folder)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return RecordResult(run.status, captures, log.path, run.timed_out)


def timeout_text(seconds: float | None) -> str:
    return f"the command was killed after {seconds:g} s; raise --timeout"


def check_absent(path: Path, force: bool) -> None:
    """Raises UsageError if the capture, or one that a further region would go to, exists and may not be replaced."""
    further = path.parent.glob(f"{glob.escape(path.stem)}.*{glob.escape(path.suffix)}")
    numbered = (each for each in further if each.stem.rpartition(".")[2].isdigit())
    for each in (path, *sorted(numbered)):
        if each.exists() and not force:
            raise UsageError(f"{each} exists; name another file, or replace it with --force")


def _make_folder(output: Path) -> Path:
    """Beside the capture: a raw capture holds all device memory, and other file systems may be too small for it."""
    try:
        return Path(tempfile.mkdtemp(prefix=f".{output.name}.", dir=output.parent.resolve()))
    except OSError as error:
        raise UsageError(f"cannot write to {output.parent}: {error.strerror}; name another folder") from error


def _raw_captures(folder: Path) -> list[Path]:
    """In the order in which they were finished. The recorded processes can put any file into this folder."""
    paths = []
    for path in folder.iterdir():
        status = path.lstat()
        if _RAW_CAPTURE.fullmatch(path.name) and stat.S_ISREG(status.st_mode):
            paths.append((status.st_mtime_ns, path))
    return [path for _, path in sorted(paths)]


def _pack_all(
    folder: Path,
    output: Path,
    interposer: Interposer,
    log: Path,
    selection: Selection,
    force: bool,
    on_capture: OnCapture,
) -> tuple[PackSummary, ...]:
    raw_captures = _raw_captures(folder)
    if not raw_captures:
        raise BenchguardError(
            f"no region was captured: {why_missed(log, selection)}; {output} is not written"
        )
    calls = [export.name for export in interposer.surface.exports]
    captures: list[PackSummary] = []
    failures: list[BenchguardError] = []
    for number, raw_capture in enumerate(raw_captures, 1):
        target = output if number == 1 else output.with_suffix(f".{number}{output.suffix}")
        try:
            check_absent(target, force)
            if not _has_end(raw_capture):
                why = why_unended(log, selection)
                raise CaptureError(f"the region began and never ended: {why}; {target} is not written")
            captures.append(pack(raw_capture, target, calls))
        except BenchguardError as error:
            failures.append(error)
            continue
        on_capture(captures[-1])
    if failures:
        first = failures[0]
        others = (
            f" ({len(failures) - 1} more of {len(raw_captures)} regions failed)" if len(failures) > 1 else ""
        )
        raise type(first)(f"{first}{others}")
    return tuple(captures)


def _has_end(raw_capture: Path) -> bool:
    """Whether its last element is NB_CAPTURE_END; pack() checks the other elements."""
    with raw_capture.open("rb") as stream:
        stream.seek(max(0, raw_capture.stat().st_size - _END_BYTES))
        return stream.read(_ELEMENT.size) == _ELEMENT.pack(Kind.END, 0, _END_BYTES - _ELEMENT.size)
