"""Temporary folders that no interrupt leaves behind.

tempfile makes a folder before its caller can remove it: a signal that comes during mkdir(2) leaves the folder. Here
the caller knows the name, and will remove it, before the folder exists. Others cannot guess the name.
"""

from __future__ import annotations

import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def unused_name(prefix: str, parent: Path | None = None) -> Path:
    """The path of a folder that does not exist yet, in `parent` or else in the folder for temporary files.

    Raises FileNotFoundError if there is no such folder.
    """
    return Path(parent or tempfile.gettempdir()).resolve() / f"{prefix}{secrets.token_hex(8)}"


@contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """A folder that only this user can enter, and that is removed at the end. Raises OSError."""
    place = unused_name(prefix)
    try:
        place.mkdir(mode=0o700)
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)
