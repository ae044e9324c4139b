"""Find native libraries that were built from other C sources than those beside them.

The replay engine and the CPU driver are built once. After `git pull` without `python build.py build` an old engine
reads what the new Python writes, and a grade then ends with a message about the submission's capture.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from .errors import ShimError
from .paths import NATIVE, PACKAGE, SOURCE
from .sources import folders_fingerprint

USED = ("replay", "preload", "inline", "sim")
"""Parts that a grade may use. The shim of a driver is built when it is first used, and again after a change."""

_STAMP = ".sources"


class Sources(msgspec.Struct, frozen=True):
    """The C sources of a part: folders below SOURCE, and a fingerprint of their files."""

    folders: tuple[str, ...]
    fingerprint: str

    @classmethod
    def below(cls, folders: Iterable[Path]) -> Sources:
        names = tuple(str(folder.relative_to(SOURCE)) for folder in folders)
        return cls(names, folders_fingerprint(SOURCE / name for name in names))


def write_sources(part: Path, sources: Sources) -> None:
    """Note in the folder of a part from which sources it was built."""
    (part / _STAMP).write_bytes(msgspec.json.encode(sources))


def check_is_current(
    native: Path = NATIVE, parts: Iterable[str] = USED, checkout: Path = PACKAGE.parent
) -> None:
    """Raises ShimError if a part was built from other sources. An installed package has none to be compared with."""
    if not (checkout / "build.py").is_file():
        return
    outdated = [name for name in parts if _is_outdated(native / name / _STAMP)]
    if outdated:
        raise ShimError(
            f"the native libraries in {native} are older than their sources ({', '.join(outdated)}); "
            "run `python build.py build`"
        )


def _is_outdated(stamp: Path) -> bool:
    """Hashing takes 20 ms, so the times of files come first. Git gives new times to files with former contents, too."""
    try:
        built = stamp.stat().st_mtime_ns
        sources = msgspec.json.decode(stamp.read_bytes(), type=Sources)
    except (OSError, msgspec.MsgspecError):
        return False  # built by a release that did not write it
    folders = [SOURCE / name for name in sources.folders]
    if not any(changed >= built for folder in folders for changed in _times(folder)):
        return False
    return folders_fingerprint(folders) != sources.fingerprint


def _times(folder: Path) -> Iterator[int]:
    """When the files and folders at or below a folder were changed. A folder changes when a file is removed."""
    for place, _, files in os.walk(folder):
        yield Path(place).stat().st_mtime_ns
        for name in files:
            yield Path(place, name).lstat().st_mtime_ns
