"""The identity of a problem: the SHA-256 of its file or folder."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ..errors import UsageError
from ..ipc.bounded_file import read_bounded
from ..quarantine.submission import FILE_BYTES_MAX, files_of, hash_of


def sha256_of(problem: str) -> str:
    """SHA-256 of a problem's file, or of the files of its folder. Modules that it imports do not count.

    Raises UsageError if it cannot be read.
    """
    path = Path(problem)
    if not path.exists():
        path = Path(problem.rpartition(":")[0] or problem)
    path = path.resolve()  # files_of and hash_of look a path up from the root of the file system
    if path.is_dir():
        return hash_of(path, files_of(path))
    try:
        return hashlib.sha256(read_bounded(path, FILE_BYTES_MAX)).hexdigest()
    except OSError as error:
        raise UsageError(f"the problem {path} cannot be read: {error.strerror}") from error
