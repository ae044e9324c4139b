"""Find the installed library that contains a kernel, by digests of its device code, which the user's cache keeps.

A digest is found again wherever a submission loads the code from. The loader of an image is the recorder's word: for an
image in allocated memory it is the library that called the driver, for example libffi.so.8 for Python's ctypes.
"""

from __future__ import annotations

import contextlib
import fnmatch
import hashlib
import os
import site
import sys
import tempfile
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from ..capture.device_code import kernel_codes
from ..capture.library import device_sections, fat_binaries
from ..errors import BenchguardError
from ..toolchain.cache_folder import cache_folder

VERSION = b"neutrino-device-code-1\n"
CODE_BYTES_MIN = 1024
"""Shorter kernels are left out: empty kernels, copies and fills are the same in many programs."""

KEPT_BYTES = 8
"""Bytes of a digest in an index. A library of 100,000 kernels is then 800 kB."""

_SYSTEM = ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/local/lib")


def installed(patterns: Sequence[str] = ("*",)) -> tuple[Path, ...]:
    """Installed shared libraries whose name or path matches one of the patterns."""
    return tuple(
        path
        for path in _shared_libraries()
        if any(fnmatch.fnmatchcase(name, each) for each in patterns for name in (path.name, str(path)))
    )


def is_installed(origin: str) -> bool:
    """Whether a loader is an installed library with device code of its own. The path is hostile: it is only opened if
    it names a file in the folders of libraries.
    """
    path = Path(origin)
    deep, flat = _folders()
    inside = path.parent in flat or any(path.is_relative_to(folder) for folder in deep)
    return inside and ".." not in path.parts and path.is_file() and bool(device_sections(path))


def holder_of(codes: Iterable[str], indices: Mapping[Path, bytes], loader: str = "") -> Path | None:
    """A library whose index has one of the digests: the loader if it is one of several, for cuBLAS and cuBLASLt share
    kernels.
    """
    wanted = [bytes.fromhex(code)[:KEPT_BYTES] for code in codes]
    holders = [path for path, index in indices.items() if wanted and _holds(index, wanted)]
    return next((path for path in holders if str(path) == loader), holders[0] if holders else None)


def index_of(library: Path) -> bytes:
    """The sorted digests of a library, from the cache, else computed. Raises BenchguardError."""
    status = library.stat()
    facts = f"{library}\0{status.st_size}\0{status.st_mtime_ns}\0{status.st_ino}".encode()
    path = _cache_folder() / hashlib.sha256(VERSION + facts).hexdigest()
    with contextlib.suppress(OSError):
        kept = path.read_bytes()
        if kept.startswith(VERSION):
            return kept[len(VERSION) :]
    found = b"".join(sorted(set(_digests(library))))
    with contextlib.suppress(OSError):  # without the cache the next grade computes them again
        _keep(path, VERSION + found)
    return found


def _keep(path: Path, data: bytes) -> None:
    """Write a file whole or not at all. Raises OSError."""
    descriptor, name = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


def _holds(index: bytes, wanted: Sequence[bytes]) -> bool:
    def at(place: int) -> bytes:
        return index[place * KEPT_BYTES : (place + 1) * KEPT_BYTES]

    places = range(len(index) // KEPT_BYTES)
    return any(at(bisect_left(places, each, key=at)) == each for each in wanted)


def _digests(library: Path) -> Iterator[bytes]:
    for image in fat_binaries(library):
        for code in kernel_codes(image):
            if code.bytes >= CODE_BYTES_MIN:
                yield bytes.fromhex(code.sha256)[:KEPT_BYTES]


@cache
def _shared_libraries() -> tuple[Path, ...]:
    deep, flat = _folders()
    found: dict[Path, None] = {}
    for folder in deep:
        for place, _, names in os.walk(folder):
            found.update((Path(place, name), None) for name in names if ".so" in name)
    for folder in flat:
        found.update((path, None) for path in folder.glob("*.so*"))
    return tuple(sorted({path.resolve() for path in found if path.is_file()}))


def _folders() -> tuple[list[Path], list[Path]]:
    """Folders of libraries: of Python packages and CUDA toolkits, with the folders in them; and of the system."""
    packages = [*site.getsitepackages(), *(each for each in sys.path if each.endswith("-packages"))]
    toolkits = [os.environ[name] for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    toolkits += map(str, Path("/usr/local").glob("cuda*"))
    deep = [*packages, *(f"{each}/{folder}" for each in toolkits for folder in ("lib64", "targets"))]
    flat = [*filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)), *_SYSTEM]
    return [Path(each) for each in dict.fromkeys(deep)], [Path(each) for each in dict.fromkeys(flat)]


def _cache_folder() -> Path:
    folder = cache_folder("device-code")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise BenchguardError(
            f"{folder}: {error.strerror}; set XDG_CACHE_HOME to a folder that can be written"
        ) from error
    return folder
