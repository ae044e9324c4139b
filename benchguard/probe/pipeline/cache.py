"""Outcomes of engines, kept on disk by content: a failure costs nothing twice."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec

from ...ipc.json_text import UNREADABLE

BYTES_MAX = 1 << 30
"""Bytes of all outcomes; the oldest go first."""

FILE_BYTES_MAX = 256 << 20
OUTCOME_BYTES = 1 << 10
"""Bytes of an outcome beside its files, about."""

_OUTCOME = "outcome.json"
_ENTRIES = "entries.json"


_Count = Annotated[int, msgspec.Meta(ge=0, lt=1 << 32)]


class _Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    problem: str
    said: str
    files: list[str]


@dataclass(frozen=True)
class Stored:
    problem: str
    said: str
    files: Mapping[str, bytes]


class Cache:
    """A folder of outcomes. A folder that cannot be used is a cache that has nothing."""

    def __init__(self, folder: Path, bytes_max: int = BYTES_MAX) -> None:
        self.folder, self._bytes_max = folder, bytes_max
        self._bytes: int | None = None
        """The size of all outcomes at the last look at the folder, and of those that were added since."""

    def get(self, key: str) -> Stored | None:
        """Read an outcome. None: it is missing or damaged."""
        place = self.folder / key
        try:
            data = (place / _OUTCOME).read_bytes()
            document = msgspec.json.decode(data, type=_Document)
            files = {name: _read(place, name) for name in document.files}
            os.utime(place)
        except (OSError, ValueError, *UNREADABLE):
            return None
        return Stored(document.problem, document.said, files)

    def put(self, key: str, problem: str, files: Mapping[str, bytes], said: str) -> None:
        """Keep an outcome: whole, or not at all."""
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            new = Path(tempfile.mkdtemp(prefix=".new-", dir=self.folder))
            try:
                for name, data in files.items():
                    (new / name).write_bytes(data)
                (new / _OUTCOME).write_bytes(msgspec.json.encode(_Document(problem, said, list(files))))
                if self.get(key) is None:  # a damaged one: rename() replaces no folder that has files
                    shutil.rmtree(self.folder / key, ignore_errors=True)
                new.rename(self.folder / key)
            except OSError:
                shutil.rmtree(new, ignore_errors=True)  # the disk is full, or another run was first
            self._bytes = self._bytes and self._bytes + sum(map(len, files.values())) + OUTCOME_BYTES
            if self._bytes is None or self._bytes > self._bytes_max:
                self._shrink()

    def entries(self, key: str) -> list[int]:
        """The entries that launches needed in each map of counted size; empty if they are not known."""
        try:
            return msgspec.json.decode(_read(self.folder / key, _ENTRIES), type=list[_Count])
        except (OSError, ValueError, *UNREADABLE):
            return []

    def put_entries(self, key: str, entries: Sequence[int]) -> None:
        """Keep them beside the outcome of the kernel."""
        place = self.folder / key
        with contextlib.suppress(OSError):
            new = place / f".{os.getpid()}"
            new.write_bytes(msgspec.json.encode(list(entries)))
            new.rename(place / _ENTRIES)

    def _shrink(self) -> None:
        places = [(each.stat().st_mtime, each) for each in self.folder.iterdir() if each.is_dir()]
        sizes = {place: sum(file.stat().st_size for file in place.iterdir()) for _, place in places}
        total = sum(sizes.values())
        for _, place in sorted(places):
            if total <= self._bytes_max:
                break
            shutil.rmtree(place, ignore_errors=True)
            total -= sizes[place]
        self._bytes = total


def _read(place: Path, name: str) -> bytes:
    if "/" in name or name.startswith("."):
        raise ValueError(name)
    path = place / name
    if path.stat().st_size > FILE_BYTES_MAX:
        raise ValueError(name)
    return path.read_bytes()
