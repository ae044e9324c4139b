"""Pack the raw captures that a submission left, and examine the captures: hostile bytes, so in a sandbox of its own."""

from __future__ import annotations

import os
import re
import secrets
import socket
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

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

REGIONS = 2
"""Raw captures of a case, which are packed at once."""

PROCESSES_MAX = 8
"""Cases at once. Each operation of a capture is decoded by Python: 30 us, and a call may have 100,000."""

SMALL_BYTES = 1 << 25
"""Memory of a call that is packed also where the other call is replayed: a grade may replay both to compare them."""

ENDED = "a process that reads the raw captures ended early"

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


def read(order: Reading, target: Path, examine: Examine | None) -> Iterator[ReaderEvent]:
    """Pack exactly regions "CASE/0" and "CASE/1" of each case into `target`, with several cases at once.

    Raises OSError. Call it before this process has other threads.
    """
    count = min(len(order.cases), PROCESSES_MAX, len(os.sched_getaffinity(0)))
    ends = [
        _forked(partial(_events, order, target, examine, range(k, len(order.cases), count)))
        for k in range(count)
    ]
    for case in range(len(order.cases)):
        line = ends[case % count].readline(READER_LINE_MAX)
        event = msgspec.json.decode(line, type=ReaderEvent) if line else Unreadable(ENDED)
        yield event
        if isinstance(event, Unreadable):
            return
    for _ in ends:
        os.wait()


def _forked(events: Callable[[], Iterator[ReaderEvent]]) -> BinaryIO:
    """The events of a child of this process, a line each."""
    ours, theirs = os.pipe()
    if os.fork() == 0:
        try:
            for event in events():
                _send(theirs, event)
        finally:
            os._exit(0)
    os.close(theirs)
    return os.fdopen(ours, "rb")


def _events(
    order: Reading, target: Path, examine: Examine | None, cases: Sequence[int]
) -> Iterator[ReaderEvent]:
    try:
        for case in cases:
            yield read_case(order, target, examine, case)
    except CaptureError as error:
        yield Unreadable(one_line(str(error), TEXT_MAX))
    except (MemoryError, OSError) as error:
        yield Unreadable(one_line(f"the raw captures cannot be read: {error}", TEXT_MAX))


def read_case(order: Reading, target: Path, examine: Examine | None, case: int) -> ReadCase:
    """Pack and examine the captures of one case. Raises CaptureError, OSError."""
    one, two = _pack(order, target, case)
    with Capture.open(one, LIMITS) as first, Capture.open(two, LIMITS) as second:
        found = examine(first, second, order.cases[case]) if examine is not None else None
    return ReadCase(msgspec.json.encode(found).decode())


def replayed_regions(cases: int) -> tuple[int, ...]:
    """By case, which of both captures is replayed: a random one, so that a submission cannot prepare for it."""
    return tuple(secrets.randbelow(2) for _ in range(cases))


def name_of(case: int, number: int) -> str:
    """The file name of a capture."""
    return f"case-{case}-{number}.ncap"


def _pack(order: Reading, target: Path, case: int) -> tuple[Path, Path]:
    """Pack both captures of a case, which the submission recorded in the order of the cases.

    Hashing and compressing, without Python's lock, take most of the time where the captures have much memory.
    """
    raw = order.raw_captures[REGIONS * case : REGIONS * (case + 1)]
    made: list[Path] = []
    with ThreadPoolExecutor(REGIONS) as pool:
        for place, path in pool.map(partial(_pack_one, order, target), raw):
            if place != (case, len(made)):
                raise CaptureError(
                    f"region {place[0]}/{place[1]} was recorded in the place of {case}/{len(made)}"
                )
            made.append(path.rename(target / name_of(*place)))
    if len(made) < REGIONS:
        raise CaptureError(f"region {case}/{len(made)} was not recorded")
    return made[0], made[1]


def _pack_one(order: Reading, target: Path, descriptor: int) -> tuple[tuple[int, int], Path]:
    made = target / f"packed-{descriptor}.ncap"
    try:
        pack_descriptor(
            descriptor,
            made,
            order.calls,
            deadline=order.deadline,
            elements_max=ELEMENTS_MAX,
            limits=LIMITS,
            has_memory=partial(_has_memory, order),
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


def _has_memory(order: Reading, region: str, size: int) -> bool:
    """Whether the capture of this region may be replayed, and so needs its memory. If that is small, it may."""
    places = set(enumerate(order.replayed))
    return not places or _place_of(region) in places or size <= SMALL_BYTES


def _send(events: int, event: ReaderEvent) -> None:
    line = msgspec.json.encode(event) + b"\n"
    if len(line) > READER_LINE_MAX:
        line = msgspec.json.encode(Unreadable("the facts about the captures are too many")) + b"\n"
    while line:
        line = line[os.write(events, line) :]
