"""Write an archive: parts by their SHA-256, then the manifest that names them. Each appears whole, or not at all.

An archive is the folders `parts` and `bundles`. Several processes may write one archive at the same time. A killed
writer leaves whole parts without a manifest, and a file `.new-*`, which a later writer removes.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import time
from pathlib import Path

from ..errors import BenchguardError
from ..ipc.json_text import json_line
from .errors import BundleError
from .manifest import MANIFEST_MAX, PART_MAX, Manifest, Part, refusal_of

PARTS, BUNDLES = "parts", "bundles"
_NEW = ".new-"
_STALE_SECONDS = 24 * 3600.0


class Store:
    """An archive that is written to. Raises BenchguardError if that fails."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._unsynced: set[Path] = set()
        try:
            for name in (PARTS, BUNDLES):
                place = folder / name
                place.mkdir(parents=True, exist_ok=True)
                _remove_stale(place)
        except OSError as error:
            raise self._failed(error) from error

    def put(self, data: bytes | memoryview) -> Part:
        """Store a part, unless it is there."""
        if len(data) > PART_MAX:
            raise BenchguardError(f"a file has {len(data)} bytes; a part of a bundle has at most {PART_MAX}")
        part = Part(hashlib.sha256(data).hexdigest(), len(data))
        place = part_path(self.folder, part.sha256)
        try:
            if not _is_same(place, data):
                if not place.parent.exists():
                    place.parent.mkdir(exist_ok=True)
                    self._unsynced.add(place.parent.parent)
                self._write(place, data)
        except OSError as error:
            raise self._failed(error) from error
        return part

    def seal(self, manifest: Manifest) -> str:
        """Write the manifest of stored parts; return the bundle's id once all of it is on the disk."""
        data = json_line(manifest)
        refusal = refusal_of(manifest) if len(data) <= MANIFEST_MAX else f"its manifest has {len(data)} bytes"
        if refusal:
            raise BundleError(f"no bundle was written: {refusal}")
        name = hashlib.sha256(data).hexdigest()
        try:
            self._sync()
            self._write(self.folder / BUNDLES / f"{name}.json", data)
            self._sync()
        except OSError as error:
            raise self._failed(error) from error
        return name

    def _write(self, place: Path, data: bytes | memoryview) -> None:
        descriptor, name = tempfile.mkstemp(prefix=_NEW, dir=place.parent)
        temporary = Path(name)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(place)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
        self._unsynced.add(place.parent)

    def _sync(self) -> None:
        """New names survive a loss of power only if their folders are on the disk, too (fsync(2))."""
        for folder in self._unsynced:
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        self._unsynced.clear()

    def _failed(self, error: OSError) -> BenchguardError:
        return BenchguardError(
            f"cannot write the archive {self.folder}: {error.strerror}; make room, or name another folder"
        )


def part_path(folder: Path, sha256: str) -> Path:
    return folder / PARTS / sha256[:2] / sha256


def _is_same(place: Path, data: bytes | memoryview) -> bool:
    """Whether the part is stored and undamaged."""
    try:
        return place.lstat().st_size == len(data) and not place.is_symlink() and place.read_bytes() == data
    except FileNotFoundError:
        return False


def _remove_stale(folder: Path) -> None:
    """Remove what a killed writer left: in `folder`, and in folders there."""
    for path in (*folder.glob(f"{_NEW}*"), *folder.glob(f"*/{_NEW}*")):
        with contextlib.suppress(OSError):
            if time.time() - path.lstat().st_mtime > _STALE_SECONDS:
                path.unlink()
