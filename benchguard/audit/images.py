"""Hash code images, and keep their bytes in a folder if --keep-images asks for it."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from ..errors import BenchguardError

CHUNK_BYTES = 1 << 20


class ImageFolder:
    """Keeps images in files named by SHA-256. After a failed write no more images are kept."""

    def __init__(self, path: Path | None) -> None:
        self.error: BenchguardError | None = None
        self._path = path

    def digest(self, content: memoryview) -> str:
        """SHA-256 of an image, in hexadecimal. Keeps the image, if asked to.

        The measured process can change the bytes meanwhile. They are copied once, so the kept bytes match the hash.
        """
        if self._path is None or self.error is not None:
            return hashlib.sha256(content).hexdigest()
        partial = self._path / f".{os.getpid()}.partial"
        try:
            hashed = hashlib.sha256()
            with partial.open("wb") as file:
                for chunk in _chunks(content):
                    hashed.update(chunk)
                    file.write(chunk)
            partial.replace(self._path / hashed.hexdigest())
            return hashed.hexdigest()
        except OSError as error:
            with contextlib.suppress(OSError):
                partial.unlink()
            self.error = BenchguardError(
                f"images could not all be kept in {self._path}: {error.strerror}; "
                "the log is whole, free some space or give another --keep-images and run again"
            )
            return hashlib.sha256(content).hexdigest()


def _chunks(content: memoryview) -> Iterator[bytes]:
    for at in range(0, len(content), CHUNK_BYTES):
        yield bytes(content[at : at + CHUNK_BYTES])
