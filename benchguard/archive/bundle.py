"""Read a bundle. Every byte of an archive may be hostile: sizes are checked before reading, and no link is followed."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..errors import UsageError
from .errors import BundleError
from .manifest import DIGEST, MANIFEST_MAX, Manifest, Part, parse_manifest
from .store import BUNDLES, PARTS

_NAME = re.compile(DIGEST)
_SUFFIX = ".json"

KEPT_FREE_BYTES = 1 << 30
"""A capture leaves so many bytes to others, or a quarter of what is free: a small bundle may name one part often."""


@dataclass(frozen=True)
class Bundle:
    """A bundle whose manifest was checked. Its parts are checked when they are read.

    Attributes:
        path: the manifest's path.
        id: SHA-256 of the manifest.
        manifest: its content.
    """

    path: Path
    id: str
    manifest: Manifest

    def read(self, part: Part) -> bytes:
        """The bytes of a part. Raises BundleError if they are not as the manifest says."""
        data = self._bytes(part)
        if hashlib.sha256(data).hexdigest() != part.sha256:
            raise self._refused(f"the part {part.sha256} has other bytes than its SHA-256 says")
        return data

    def write(self, parts: Sequence[Part], target: Path, check: Callable[[], None] = lambda: None) -> None:
        """Write the parts, one after the other, to a new file. Raises BundleError, OSError.

        `check` is called before each part, and may raise an exception to end the writing.
        """
        free = shutil.disk_usage(target.parent).free
        room = free - min(KEPT_FREE_BYTES, free // 4)
        size = sum(part.bytes for part in parts)
        if size > room:
            raise self._refused(f"a capture has {size} bytes, and {target.parent} has room for {room}")
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            for part in parts:
                check()
                file.write(self.read(part))

    def _bytes(self, part: Part) -> bytes:
        try:
            with _opened(self.path.parent.parent, PARTS, part.sha256[:2], part.sha256) as descriptor:
                return _content(descriptor, part.bytes)
        except OSError as error:
            raise self._refused(f"the part {part.sha256} cannot be read: {error.strerror}") from error
        except BundleError as error:
            raise self._refused(f"the part {part.sha256} {error}") from error

    def _refused(self, why: str) -> BundleError:
        return BundleError(f"{self.path}: {why}; get the bundle again from where it was graded")


def open_bundle(path: Path) -> Bundle:
    """Open a bundle by the path of its manifest, FOLDER/bundles/SHA256.json.

    Raises UsageError for a path that is not a bundle's, and BundleError for a bundle that was changed.
    """
    path = path.absolute()
    name = path.name.removesuffix(_SUFFIX)
    if not _NAME.match(name) or path.parent.name != BUNDLES:
        raise UsageError(f"{path} is not the path of a bundle; give FOLDER/{BUNDLES}/SHA256{_SUFFIX}")
    try:
        with _opened(path.parent.parent, BUNDLES, path.name) as descriptor:
            size = os.fstat(descriptor).st_size
            if size > MANIFEST_MAX:
                raise BundleError(f"has {size} bytes; at most {MANIFEST_MAX} are read")
            data = _content(descriptor, size)
        if hashlib.sha256(data).hexdigest() != name:
            raise BundleError("the manifest has other bytes than the SHA-256 in its name says")
        return Bundle(path, name, parse_manifest(data))
    except OSError as error:
        raise UsageError(f"the bundle {path} cannot be read: {error.strerror}; check the path") from error
    except BundleError as error:
        raise BundleError(f"{path}: {error}; get the bundle again from where it was graded") from error


def find_bundles(folder: Path, result: bytes) -> list[Bundle]:
    """The bundles of an archive that name this result, as its bytes. Some may be about other captures, and others of
    the archive may be damaged.

    Raises UsageError. Raises BundleError if a damaged bundle may hold the result, and no other does.
    """
    digest = hashlib.sha256(result).hexdigest()
    damaged: BundleError | UsageError | None = None
    found: list[Bundle] = []
    try:
        names = sorted(each.name for each in os.scandir(folder / BUNDLES))
    except OSError as error:
        raise UsageError(f"the archive {folder} cannot be read: {error.strerror}; check the path") from error
    for name in names:
        if name.endswith(_SUFFIX) and _NAME.match(name.removesuffix(_SUFFIX)):
            try:
                bundle = open_bundle(folder / BUNDLES / name)
            except (BundleError, UsageError) as error:
                damaged = damaged or error
                continue
            if bundle.manifest.result.sha256 == digest:
                found.append(bundle)
    if found:
        return found
    if damaged is not None:
        raise damaged
    raise UsageError(f"no bundle in {folder} holds this result; give the archive that its grade wrote")


@contextmanager
def _opened(root: Path, *names: str) -> Iterator[int]:
    """Open a regular file below `root`, through folders, but through no link. Raises OSError, BundleError."""
    here = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in names:
            last = name is names[-1]
            kind = os.O_NONBLOCK if last else os.O_DIRECTORY
            inner = os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | kind, dir_fd=here)
            os.close(here)
            here = inner
        if not stat.S_ISREG(os.fstat(here).st_mode):
            raise BundleError("is not a regular file")
        yield here
    finally:
        os.close(here)


def _content(descriptor: int, size: int) -> bytes:
    """Exactly `size` bytes, which are the whole file. Raises BundleError, OSError."""
    found = os.fstat(descriptor).st_size
    if found != size:
        raise BundleError(f"has {found} bytes instead of {size}")
    with os.fdopen(os.dup(descriptor), "rb") as file:
        data = file.read(size)
    if len(data) != size:
        raise BundleError("became shorter while it was read")
    return data
