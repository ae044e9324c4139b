"""The folders of one quarantine: a copy of the submission, the shim, and the writable scratch folder."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import BenchguardError
from ..shim.interposer import Interposer
from .submission import Submission, copy_to

REMOVE_SECONDS = 60.0


@dataclass(frozen=True)
class Private:
    base: Path

    @property
    def submission(self) -> Path:
        return self.base / "submission"

    @property
    def libraries(self) -> Path:
        return self.base / "lib"

    @property
    def scratch(self) -> Path:
        return self.base / "scratch"


@contextmanager
def private(submission: Submission, folder: Path, other_user: bool) -> Iterator[Private]:
    """Make the folders in `folder`, and remove them at the end. Raises BenchguardError, UsageError.

    If the quarantine runs as another user who cannot enter `folder`, they are made in the system's temporary folder.
    """
    parent = folder if not other_user or _is_open(folder) else Path(tempfile.gettempdir())
    try:
        base = Path(tempfile.mkdtemp(prefix="neutrino-quarantine-", dir=parent)).resolve()
    except OSError as error:
        raise BenchguardError(
            f"cannot make a folder in {parent}: {error.strerror}; name another in TMPDIR"
        ) from error
    try:
        folders = Private(base)
        base.chmod(0o711 if other_user else 0o700)
        copy_to(submission, folders.submission)
        folders.libraries.mkdir(mode=0o755)
        folders.libraries.chmod(0o755)
        folders.scratch.mkdir(mode=0o700)
        yield folders
    finally:
        remove(base)


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


def remove(base: Path) -> None:
    """Remove a tree with rm, because a hostile tree may be too deep for shutil.rmtree, which recurses."""
    for command in (["rm", "-rf"], ["chmod", "-R", "u+rwx"], ["rm", "-rf"]):
        try:
            subprocess.run(
                [*command, "--", str(base)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=REMOVE_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return
        if not base.exists():
            return


def _is_open(folder: Path) -> bool:
    """Whether all users can enter the folder."""
    place = folder.resolve()
    return all(each.stat().st_mode & 0o001 for each in (place, *place.parents))
