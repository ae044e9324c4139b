"""One replay of each of two captures, before they are timed in turn: the memory that both name, side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np

from ..capture.layout import Role
from ..capture.model import Range
from ..judge.formats import FLOATS, decoded, stored_dtype
from ..replay.buffers import Data, Source
from ..replay.options import ReplayOptions
from ..replay.replay import replay
from ..replay.result import ReplayResult
from ..replay.subject import Subject

LOOK_BYTES_MAX = 1 << 29
"""Named memory of a capture that is looked at. Ranges beyond it are left out."""

RangeRole = Literal["input", "output", "state"]
_ROLES: dict[Role, RangeRole] = {Role.INPUT: "input", Role.OUTPUT: "output", Role.STATE: "state"}


class SharedRange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Memory that both captures name, as one replay of each left it.

    `differing` is the number of bytes that differ. `largest_difference` is that of the elements, where both captures
    say that these are floating-point numbers; None where one is not finite.
    """

    name: str
    role: RangeRole
    bytes: int
    differing: int
    largest_difference: float | None


def shared_names(a: Subject, b: Subject) -> tuple[str, ...]:
    """The names of ranges that both have once, with the same size, up to LOOK_BYTES_MAX in all."""
    others = _named(b)
    names, left = [], LOOK_BYTES_MAX
    for name, each in _named(a).items():
        if name in others and 0 < each.bytes == others[name].bytes <= left:
            names.append(name)
            left -= each.bytes
    return tuple(names)


def look_at(
    path: Path,
    names: Sequence[str],
    options: ReplayOptions,
    inputs: Mapping[str | int, Source] | None,
) -> ReplayResult:
    """Replay a capture once, on its own inputs or on the first set of `inputs`. Its time is not used.

    Raises the exceptions of benchguard.replay().
    """
    once = replace(
        options,
        samples=1,
        until=None,
        require_converged=False,
        require_evidence=None,
        keep_outputs="last" if names else "none",
    )
    first = {key: _first(source) for key, source in inputs.items()} if inputs else None
    return replay(path, once, inputs=first, outputs=list(names))


def shared_ranges(
    names: Sequence[str], subjects: tuple[Subject, Subject], looks: tuple[ReplayResult, ReplayResult]
) -> tuple[SharedRange, ...]:
    """Compare the memory that two looks returned."""
    named = _named(subjects[0]), _named(subjects[1])
    found = []
    for name in names:
        left, right = (look.outputs.get(name) for look in looks)
        if isinstance(left, bytes) and isinstance(right, bytes):
            found.append(_shared(named[0][name], named[1][name], left, right))
    return tuple(found)


def _named(subject: Subject) -> dict[str, Range]:
    """The ranges whose name no other range has."""
    counts = Counter(each.name for each in subject.ranges)
    return {each.name: each for each in subject.ranges if counts[each.name] == 1}


def _first(source: Source) -> Data:
    return source(0) if callable(source) else source[0] if isinstance(source, list | tuple) else source


def _shared(a: Range, b: Range, left: bytes, right: bytes) -> SharedRange:
    differing = int(np.count_nonzero(np.frombuffer(left, np.uint8) != np.frombuffer(right, np.uint8)))
    role = a.role if a.role is b.role else Role.STATE
    return SharedRange(a.name, _ROLES[role], a.bytes, differing, _largest_difference(a, b, left, right))


def _largest_difference(a: Range, b: Range, left: bytes, right: bytes) -> float | None:
    dtype = next((each for each in FLOATS if each == a.type == b.type), None)
    if dtype is None or len(left) % stored_dtype(dtype).itemsize:
        return None
    values = [decoded(dtype, np.frombuffer(each, stored_dtype(dtype))) for each in (left, right)]
    with np.errstate(invalid="ignore", over="ignore"):
        largest = float(np.max(np.abs(values[0] - values[1])))
    return largest if np.isfinite(largest) else None
