"""The folders of one quarantine: a copy of the submission, the problem's files, the shim, and the writable scratch."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import BenchguardError
from ..ipc.deadline import Deadline
from ..ipc.folders import unused_name
from ..shim.interposer import Interposer
from .submission import Submission, copy_to

REMOVE_SECONDS, REMOVE_SECONDS_MIN = 60.0, 1.0
_REMOVE = 'rm -rf -- "$1" || { chmod -R u+rwx -- "$1"; rm -rf -- "$1"; }'


@dataclass(frozen=True)
class Private:
    base: Path

    @property
    def submission(self) -> Path:
        return self.base / "submission"

    @property
    def beside(self) -> Path:
        return self.base / "beside"

    @property
    def libraries(self) -> Path:
        return self.base / "lib"

    @property
    def scratch(self) -> Path:
        return self.base / "scratch"


@contextmanager
def private(
    submission: Submission, folder: Path, other_user: bool, deadline: Deadline, files: Mapping[str, Path] = {}
) -> Iterator[Private]:
    """Make the folders in `folder`, and remove them at the end. Raises BenchguardError, UsageError.

    The removal is waited for until `deadline`. `files` of the problem, by name, are copied to a
    folder that the submission may read.
    If the quarantine runs as another user who cannot enter `folder`, they are made in the system's temporary folder.
    """
    parent = folder if not other_user or _is_open(folder) else Path(tempfile.gettempdir())
    folders = Private(unused_name("neutrino-quarantine-", parent))
    base = folders.base
    try:
        make_private(base)
        base.chmod(0o711 if other_user else 0o700)
        # The other half is for the sandbox: otherwise a large submission could pass for a machine that is slow.
        copy_to(submission, folders.submission, Deadline(time.monotonic() + deadline.left() / 2))
        _copy_files(files, folders.beside)
        folders.libraries.mkdir(mode=0o755)
        folders.libraries.chmod(0o755)
        folders.scratch.mkdir(mode=0o700)
        yield folders
    finally:
        remove(base, max(REMOVE_SECONDS_MIN, deadline.left()))


def readable_interposer(interposer: Interposer, folders: Private) -> Interposer:
    """Copy the shim and the preloaded library to where another user can read them. Raises BenchguardError."""
    copies = {}
    for what in ("shim", "preload"):
        original: Path = getattr(interposer, what)
        copies[what] = folders.libraries / original.name
        try:
            shutil.copyfile(original, copies[what])
            copies[what].chmod(0o755)
        except OSError as error:
            raise BenchguardError(
                f"cannot copy {original} to {folders.libraries}: {error.strerror}"
            ) from error
    return replace(interposer, shim=copies["shim"], preload=copies["preload"])


def _copy_files(files: Mapping[str, Path], target: Path) -> None:
    try:
        target.mkdir(mode=0o755)
        target.chmod(0o755)
        for name, source in files.items():
            place = target / name
            place.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
            shutil.copyfile(source, place)
            place.chmod(0o444)
    except OSError as error:
        raise BenchguardError(
            f"cannot copy the problem's file {error.filename} to {target}: {error.strerror}"
        ) from error


def make_private(base: Path) -> None:
    """Make a folder that only this user can enter. Raises BenchguardError."""
    try:
        base.mkdir(mode=0o700)
    except OSError as error:
        raise BenchguardError(
            f"cannot make a folder in {base.parent}: {error.strerror}; name another in TMPDIR"
        ) from error


def remove(base: Path, seconds: float = REMOVE_SECONDS) -> None:
    """Remove a tree with rm, because a hostile tree may be too deep for shutil.rmtree, which recurses.

    A removal that takes longer than `seconds` goes on in the background: a submission can make a million files.
    """
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        subprocess.Popen(
            ["/bin/sh", "-c", _REMOVE, "sh", str(base)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ).wait(seconds)


def _is_open(folder: Path) -> bool:
    """Whether all users can enter the folder."""
    place = folder.resolve()
    return all(each.stat().st_mode & 0o001 for each in (place, *place.parents))
