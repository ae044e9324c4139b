"""Where code images come from: a capture, an audit log with its kept images, an image file, or a library."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..audit.compact import is_compact
from ..audit.entries import ImageEntry, KernelEntry, LaunchEntry
from ..audit.typed_log import LogEntries
from ..capture import Capture
from ..capture.bundle import codes_of as amd_codes_of
from ..capture.library import device_sections, fat_binaries
from ..capture.unpack import CodeError
from ..errors import BenchguardError, UsageError
from .image import IMAGE_MAX, CodeImage, codes_of, format_of, read_image
from .kernels import Kernel

SCHEMA = "neutrino-bench/images/1"
IMAGES_MAX = 1 << 16
KERNELS_MAX = 1 << 18
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)


@dataclass(frozen=True)
class LoggedKernel:
    """A kernel that a log names. `launches` counts accepted launches; those by graphs are not among them."""

    kernel: Kernel
    launches: int


@dataclass(frozen=True)
class FoundImage:
    """An image, and what is known of it. `code` is None if the image's bytes are not at hand."""

    sha256: str | None
    format: str
    bytes: int
    loads: int = 1
    note: str = ""
    code: CodeImage | None = None
    kernels: tuple[LoggedKernel, ...] = ()


@dataclass(frozen=True)
class Library:
    """The images of one library. `path` is empty for an image that is a file."""

    path: str
    images: tuple[FoundImage, ...]


@dataclass(frozen=True)
class Images:
    """All images of a source. `problem` says why a log was read in part; it is empty otherwise."""

    path: str
    libraries: tuple[Library, ...]
    problem: str = ""
    schema: str = field(default=SCHEMA)


def is_log(head: bytes) -> bool:
    return is_compact(head) or head.startswith((b'{"kind":"session"', b'{"kind":"part"'))


def images_of_file(path: Path) -> Iterator[bytes]:
    """The image that a file is, or the fat binaries of a library. Raises UsageError for other files."""
    try:
        if path.stat().st_size > IMAGE_MAX and not device_sections(path):
            raise UsageError(f"{path} has more than {IMAGE_MAX} bytes; name an image or a library")
        if device_sections(path):
            yield from fat_binaries(path)
            return
        image = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}; check the path") from error
    if format_of(image) in ("unknown", "elf"):
        raise UsageError(
            f"{path} is neither a capture, an audit log, a code image nor a library with device code; name one of them"
        )
    yield image


def inspect_file(path: Path) -> Images:
    """Read an image or a library. Raises UsageError."""
    found = [_found(image) for image in images_of_file(path)]
    return Images(str(path), (Library(str(path) if len(found) > 1 else "", tuple(found)),))


def inspect_log(path: Path, kept: Path | None) -> Images:
    """The images of a log by library, with the code of those that are in the folder `kept`. Raises LogError."""
    source, tally = LogEntries(path), _Tally()
    for line in source:
        tally.add(line)
    libraries = tuple(
        Library(origin, tuple(_of_log(image, loads, tally, kept) for image, loads in images.values()))
        for origin, images in tally.images.items()
    )
    return Images(str(path), libraries, source.problem)


def images_of_log(path: Path, kept: Path) -> Iterator[bytes]:
    """The kept images of a log. Raises LogError, BenchguardError."""
    for image in dict.fromkeys(
        image.sha256 for each in inspect_log(path, None).libraries for image in each.images
    ):
        if image is not None and (data := _kept(kept, image)) is not None:
            yield data


def images_of_capture(path: Path) -> Iterator[bytes]:
    """The images of a capture. Raises CaptureError."""
    with Capture.open(path) as capture:
        for index in range(len(capture.images)):
            yield capture.image(index)


def codes_in(image: bytes) -> Iterator[tuple[str, str, bytes]]:
    """Format, target and unpacked bytes of each entry that can be read."""
    try:
        if format_of(image) in ("code_object", "offload_bundle", "compressed_bundle"):
            yield from (("code_object", target, code) for target, code in amd_codes_of(image))
            return
        for code, raw in codes_of(image):
            if raw:
                yield code.format, code.target, raw
    except CodeError as error:
        raise BenchguardError(f"the image {error}") from error


def _found(image: bytes) -> FoundImage:
    code = read_image(image)
    return FoundImage(code.sha256, code.format, code.bytes, code=code)


class _Tally:
    """The images and kernels of a log, both bounded."""

    def __init__(self) -> None:
        self.images: dict[str, dict[str | None, tuple[ImageEntry, int]]] = {}
        self.kernels: dict[str | None, dict[str, Kernel]] = {}
        self.launches: Counter[tuple[str | None, str]] = Counter()
        self._count = self._kernels = 0

    def add(self, line: object) -> None:
        if isinstance(line, ImageEntry):
            images = self.images.setdefault(line.origin, {})
            if line.sha256 in images or self._count < IMAGES_MAX:
                self._count += line.sha256 not in images
                images[line.sha256] = line, images[line.sha256][1] + 1 if line.sha256 in images else 1
        elif isinstance(line, KernelEntry):
            kernels = self.kernels.setdefault(line.image, {})
            if self._kernels < KERNELS_MAX:
                self._kernels += line.name not in kernels
                kernels[line.name] = _of_line(line)
        elif isinstance(line, LaunchEntry) and line.result == 0 and not line.captured:
            self.launches[line.image, line.name or ""] += 1


def _of_line(line: KernelEntry) -> Kernel:
    return Kernel(
        line.name,
        tuple(line.layout) if line.layout_source != "unknown" else None,
        line.registers,
        line.static_shared_bytes,
        line.local_bytes,
        line.max_threads,
    )


def _of_log(line: ImageEntry, loads: int, tally: _Tally, kept: Path | None) -> FoundImage:
    data = _kept(kept, line.sha256) if kept is not None and line.sha256 is not None else None
    kernels = tuple(
        LoggedKernel(kernel, tally.launches[line.sha256, name])
        for name, kernel in tally.kernels.get(line.sha256, {}).items()
        if line.sha256 is not None
    )
    code = read_image(data) if data is not None else None
    return FoundImage(line.sha256, line.format, line.bytes, loads, line.note or "", code, kernels)


def _kept(folder: Path, sha256: str) -> bytes | None:
    """A kept image; None if the folder does not have it. Its content must have the SHA-256 of its name."""
    if not _DIGEST.fullmatch(sha256):
        return None
    for path in sorted(folder.glob(f"{sha256}*")):
        if path.is_file() and path.stat().st_size <= IMAGE_MAX:
            data = path.read_bytes()
            if hashlib.sha256(data).hexdigest() != sha256:
                raise BenchguardError(f"{path} does not have the SHA-256 of its name; it was altered")
            return data
    return None
