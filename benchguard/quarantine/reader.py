"""Pack the raw captures that a submission left, and examine the captures: hostile bytes, so in a sandbox of its own."""

from __future__ import annotations

import os
import re
import secrets
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, NoReturn

import msgspec

from ..capture import Capture, CaptureError
from ..capture.pack import pack_descriptor
from ..capture.validate import Limits
from ..ipc.text import one_line
from ..problem.spec import CaseSpec
from .contract import READER_LINE_MAX, ReadCase, ReaderEvent, Reading, ReadingStart, Unreadable
from .named import function_named
from .work import receive_work

ELEMENTS_MAX = 1 << 17
"""Elements of one raw capture besides its memory: far more operations than a graded call has."""

LIMITS = Limits(table_bytes=64 << 20, elements=ELEMENTS_MAX)
"""Limits of the captures in a grade."""

AT_ONCE = 2
"""Raw captures that are packed at once."""

TEXT_MAX = 1000
Examine = Callable[[Capture, Capture, CaseSpec], Any]
_REGION = re.compile(r"(0|[1-9][0-9]{0,5})/([01])", re.ASCII)


def main(argument: bytes, events: int) -> NoReturn:
    """Wait for a Reading, carry it out in the working directory, send events to the descriptor, end the process."""
    try:
        start = msgspec.json.decode(argument, type=ReadingStart)
        examine = function_named(start.examiner) if start.examiner else None
        with socket.socket(fileno=start.channel) as channel:
            work = receive_work(channel)
        order = msgspec.json.decode(work.argument, type=Reading)
        numbers = tuple(work.descriptors[each] for each in order.raw_captures)
        for event in read(msgspec.structs.replace(order, raw_captures=numbers), Path.cwd(), examine):
            _send(events, event)
    except CaptureError as error:
        _send(events, Unreadable(one_line(str(error), TEXT_MAX)))
    except (MemoryError, OSError) as error:
        _send(events, Unreadable(one_line(f"the raw captures cannot be read: {error}", TEXT_MAX)))
    finally:
        os._exit(0)


def read(order: Reading, target: Path, examine: Examine | None) -> Iterator[ReadCase]:
    """Pack exactly regions "CASE/0" and "CASE/1" of each case into `target`. Raises CaptureError, OSError."""
    captures = _pack(order, target)
    for case, spec in enumerate(order.cases):
        pair = [captures.get((case, number)) for number in (0, 1)]
        for number, path in enumerate(pair):
            if path is None:
                raise CaptureError(f"region {case}/{number} was not recorded")
        with Capture.open(str(pair[0]), LIMITS) as one, Capture.open(str(pair[1]), LIMITS) as two:
            found = examine(one, two, spec) if examine is not None else None
        yield ReadCase(msgspec.json.encode(found).decode())


def replayed_regions(cases: int) -> tuple[int, ...]:
    """By case, which of both captures is replayed: a random one, so that a submission cannot prepare for it."""
    return tuple(secrets.randbelow(2) for _ in range(cases))


def name_of(case: int, number: int) -> str:
    """The file name of a capture."""
    return f"case-{case}-{number}.ncap"


def _pack(order: Reading, target: Path) -> dict[tuple[int, int], Path]:
    """By case and number of the region. Hashing and compressing take most of the time, without Python's lock."""
    captures: dict[tuple[int, int], Path] = {}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for place, made in pool.map(partial(_pack_one, order, target), count(), order.raw_captures):
            if place in captures:
                raise CaptureError(f"region {place[0]}/{place[1]} was recorded twice")
            captures[place] = made.rename(target / name_of(*place))
    return captures


def _pack_one(order: Reading, target: Path, number: int, descriptor: int) -> tuple[tuple[int, int], Path]:
    made = target / f"packed-{number}.ncap"
    try:
        pack_descriptor(
            descriptor,
            made,
            order.calls,
            deadline=order.deadline,
            elements_max=ELEMENTS_MAX,
            limits=LIMITS,
            has_memory=partial(_is_replayed, order),
        )
    except CaptureError as error:
        raise CaptureError(f"a raw capture is broken: {error}") from None
    with Capture.open(made, LIMITS) as capture:
        place = _place_of(capture.meta.get("region", ""))
    if place is None:
        raise CaptureError("an unrequested region was recorded")
    return place, made


def _place_of(region: str) -> tuple[int, int] | None:
    """Case and number of a region, by its name."""
    found = _REGION.fullmatch(region)
    return (int(found[1]), int(found[2])) if found is not None else None


def _is_replayed(order: Reading, region: str) -> bool:
    """Whether the capture of this region may be replayed, and so needs memory."""
    places = set(enumerate(order.replayed))
    return not places or _place_of(region) in places


def _send(events: int, event: ReaderEvent) -> None:
    line = msgspec.json.encode(event) + b"\n"
    if len(line) > READER_LINE_MAX:
        line = msgspec.json.encode(Unreadable("the facts about the captures are too many")) + b"\n"
    while line:
        line = line[os.write(events, line) :]
