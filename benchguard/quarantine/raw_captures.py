"""Pack the raw captures that a quarantine left. They are untrusted: the submission could write to their folder."""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..capture import Capture, CaptureError, pack

PACK_SECONDS = 10.0
PACK_SECONDS_MAX = 300.0
PACK_BYTES_PER_SECOND = 20e6
"""Packing time depends on the bytes allocated on disk, so that a sparse file gets no extra time."""

_NAME = re.compile(r"[0-9]{1,10}-[0-9]{1,10}\.nrec", re.ASCII)
_REGION = re.compile(r"(0|[1-9][0-9]{0,5})/([01])", re.ASCII)
_ENTRIES_MAX = 4096


@dataclass(frozen=True)
class Packed:
    """`captures` are of the leading cases that have both captures; `trouble` says why the others lack one."""

    captures: tuple[tuple[Path, Path], ...]
    trouble: str


def pack_all(source: Path, target: Path, cases: int, calls: Sequence[str]) -> Packed:
    """Pack the raw captures in `source`: exactly "CASE/0" and "CASE/1" of each case.

    All processes that wrote to `source` must have ended. Invalid contents are reported, not raised.
    """
    try:
        paths = _raw_captures(source, 2 * cases)
        captures = _pack(paths, target, calls)
    except CaptureError as error:
        return Packed((), str(error))
    pairs: list[tuple[Path, Path]] = []
    for case in range(cases):
        keys = [(case, number) for number in (0, 1)]
        missing = [f"{case}/{number}" for case, number in keys if (case, number) not in captures]
        if missing:
            return Packed(tuple(pairs), f"region {missing[0]} was not recorded")
        pairs.append((captures[keys[0]], captures[keys[1]]))
    return Packed(tuple(pairs), "")


def _raw_captures(folder: Path, most: int) -> list[Path]:
    paths = []
    try:
        if not stat.S_ISDIR(folder.lstat().st_mode):
            raise CaptureError("the folder for raw captures was replaced by something else")
        with os.scandir(folder) as entries:
            for count, entry in enumerate(entries):
                if count >= _ENTRIES_MAX:
                    raise CaptureError(f"the folder for raw captures has more than {_ENTRIES_MAX} files")
                if _NAME.fullmatch(entry.name):
                    paths.append(Path(entry.path))
        for path in paths:
            status = path.lstat()
            if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
                raise CaptureError(f"the raw capture {path.name} is a link, or no file")
    except OSError as error:
        raise CaptureError(f"the raw captures cannot be read: {error.strerror}") from error
    if len(paths) > most:
        raise CaptureError(f"{len(paths)} regions were recorded, {most} were asked for")
    return sorted(paths)


def _pack(raw_captures: Sequence[Path], target: Path, calls: Sequence[str]) -> dict[tuple[int, int], Path]:
    """By case and number of the region."""
    captures: dict[tuple[int, int], Path] = {}
    deadline = time.monotonic() + _allowance(raw_captures)
    for number, raw_capture in enumerate(raw_captures):
        path = target / f"capture-{number}.ncap"
        try:
            pack(raw_capture, path, calls, deadline=deadline)
        except CaptureError as error:
            raise CaptureError(f"a raw capture is broken: {error}") from None
        with Capture.open(path) as capture:
            name = capture.meta.get("region", "")
        place = _REGION.fullmatch(name)
        if place is None:
            raise CaptureError("an unrequested region was recorded")
        key = int(place[1]), int(place[2])
        if key in captures:
            raise CaptureError(f"region {name} was recorded twice")
        captures[key] = path.rename(target / f"case-{key[0]}-{key[1]}.ncap")
    return captures


def _allowance(raw_captures: Sequence[Path]) -> float:
    """Seconds."""
    allocated = sum(512 * path.lstat().st_blocks for path in raw_captures)
    return min(PACK_SECONDS_MAX, PACK_SECONDS + allocated / PACK_BYTES_PER_SECOND)
