"""Record commands whose captures are replayed at once."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .. import exit_status
from ..errors import BenchguardError, UsageError
from ..record.options import RecordOptions
from ..replay.options import ReplayOptions
from .output import notify
from .record import report_capture

_OWN = {exit_status.INTERNAL, exit_status.TIMEOUT, exit_status.NOT_EXECUTABLE, exit_status.NOT_FOUND}


@dataclass
class CaptureFolder:
    """`is_spare` becomes true when nothing went wrong: then a temporary folder is removed."""

    path: Path
    is_spare: bool = False


def check_replay(options: ReplayOptions) -> None:
    """Raises UsageError for options that the replay would refuse after the command has run."""
    from ..replay.caches import caches_of
    from ..replay.convergence import rule_of

    rule_of(options.until, options.samples)
    caches_of("cuda", options)


@contextmanager
def capture_folder(keep: Path | None, names: Sequence[str], quiet: bool) -> Iterator[CaptureFolder]:
    """The folder `keep`, or a temporary folder. If the work fails, it is kept and a message names it.

    Raises UsageError if `keep` has captures of these names, or cannot be made.
    """
    if keep is not None:
        if existing := next(
            (path for name in names for path in [keep / f"{name}.ncap"] if path.exists()), None
        ):
            raise UsageError(f"{existing} exists; name another folder with --keep")
        try:
            keep.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(
                f"cannot create the folder {keep}: {error.strerror}; name another folder"
            ) from error
        yield CaptureFolder(keep)
        return
    folder = CaptureFolder(Path(tempfile.mkdtemp(prefix="neutrino-captures-")))
    try:
        yield folder
    finally:
        if folder.is_spare or not any(folder.path.glob("*.ncap")):
            shutil.rmtree(folder.path, ignore_errors=True)
            if folder.is_spare and not quiet:
                notify("the recorded captures are deleted; keep them with --keep FOLDER")
        else:
            notify(f"the captures are kept in {folder.path}")


def record_into(
    folder: CaptureFolder,
    name: str,
    command: Sequence[str],
    options: RecordOptions,
    *,
    quiet: bool,
    to_stderr: bool,
) -> list[Path]:
    """Run a command and capture its regions; return the captures. The command must succeed.

    `to_stderr` sends its standard output there, so that a document on standard output stays readable.

    Raises UsageError, ShimError, CaptureError; BenchguardError, with status 65 if the command failed.
    """
    from ..audit.supervise import ChildOptions
    from ..record.record import record_with, timeout_text
    from .interpose import announced_interposer

    interposer = announced_interposer(options.driver, quiet)
    try:
        result = record_with(
            interposer,
            command,
            folder.path / f"{name}.ncap",
            options,
            on_capture=lambda summary: None if quiet else report_capture(summary),
            child=ChildOptions(output=2) if to_stderr else None,
        )
    except UsageError:
        raise
    except BenchguardError as error:
        if error.status not in _OWN:
            error.status = exit_status.FAILED
        raise
    if result.timed_out:
        raise _failure(timeout_text(options.timeout), exit_status.TIMEOUT)
    if result.status:
        text = f"{command[0]} ended with status {result.status}, so its capture is not replayed"
        raise _failure(text, exit_status.FAILED)
    return [each.path for each in result.captures]


def only_region(captures: Sequence[Path]) -> Path:
    """The capture of a command that recorded one region. Raises UsageError."""
    if len(captures) > 1:
        raise UsageError(
            f"the command recorded {len(captures)} regions; choose one with --launches, --kernel or --window, or "
            "replay their captures one by one"
        )
    return captures[0]


def _failure(text: str, status: int) -> BenchguardError:
    error = BenchguardError(text)
    error.status = status
    return error
