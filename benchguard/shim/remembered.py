"""Facts that are costly to find out about a file, kept in the user's cache as long as the file is the same."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from ..ipc.bounded_file import read_bounded
from ..ipc.json_text import UNREADABLE
from ..toolchain.cache_folder import cache_folder
from ..toolchain.errors import ShimError

ENTRY_MAX = 8 << 20
SETTLED_SECONDS = 2.0
"""A file that changed later than this long ago is not remembered: file systems count time in steps of some
milliseconds, so that a second change at once would leave the same times."""

Facts = tuple[int, ...]
_T = TypeVar("_T")


class _Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    files: tuple[str, ...]
    facts: tuple[Facts, ...]
    value: msgspec.Raw


def facts_of(path: Path) -> Facts:
    """Facts that change when a file is replaced or written; empty for a missing file."""
    try:
        status = path.stat()
    except OSError:
        return ()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def remembered(
    kind: str,
    key: Sequence[str],
    files: Sequence[Path],
    form: type[_T],
    find: Callable[[], _T],
    environment: Mapping[str, str] = os.environ,
) -> _T:
    """The result of find(), which depends on `key` and on the content of `files` alone.

    It is taken from the cache if none of the files has changed since. A cache that cannot be read or written costs
    time only. Raises what find() raises, which is not remembered.
    """
    names, facts = tuple(map(str, files)), tuple(map(facts_of, files))
    place = _place(kind, (*names, *key), environment) if all(facts) else None
    if place is None:
        return find()
    entry = _read(place)
    if entry is not None and (entry.files, entry.facts) == (names, facts):
        try:
            return msgspec.json.decode(entry.value, type=form)
        except UNREADABLE:
            pass  # written by another version
    value = find()
    if _is_settled(facts) and facts == tuple(map(facts_of, files)):
        _write(place, _Entry(names, facts, msgspec.Raw(msgspec.json.encode(value))))
    return value


def _place(kind: str, words: Sequence[str], environment: Mapping[str, str]) -> Path | None:
    digest = hashlib.sha256("\0".join(words).encode("utf-8", "surrogateescape")).hexdigest()
    try:
        return cache_folder("remembered", environment) / f"{kind}-{digest}.json"
    except ShimError:  # this user has no home folder
        return None


def _read(place: Path) -> _Entry | None:
    try:
        return msgspec.json.decode(read_bounded(place, ENTRY_MAX), type=_Entry)
    except (OSError, *UNREADABLE):
        return None


def _write(place: Path, entry: _Entry) -> None:
    """Write an entry whole or not at all."""
    try:
        data = msgspec.json.encode(entry)
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=".writing-", dir=place.parent)
    except (OSError, UnicodeError):
        return
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
        Path(name).replace(place)
    except OSError:
        with contextlib.suppress(OSError):
            Path(name).unlink()


def _is_settled(facts: Sequence[Facts]) -> bool:
    latest = max(max(each[3:]) for each in facts)
    return time.time_ns() - latest > SETTLED_SECONDS * 1e9
