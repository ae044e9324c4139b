"""Examine captures of a bundle in a sandbox, as the reader of raw captures examines those of a submission."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

import msgspec

from ..capture import Capture, CaptureError
from ..capture.codec import MalformedError
from ..ipc.json_text import UNREADABLE
from ..ipc.lines import LineError
from ..ipc.text import one_line
from ..problem.spec import CaseSpec
from ..quarantine.confined import Program, run_confined, scratch_folder
from ..quarantine.contract import (
    EVENTS_MAX,
    READER_LINE_MAX,
    Confine,
    ReadCase,
    ReaderEvent,
    Task,
    Unreadable,
)
from ..quarantine.quarantine import PACKAGE
from ..quarantine.reader import LIMITS
from ..quarantine.sandbox import identity
from ..quarantine.sandbox.environment import quarantine_environment
from .examine import examine
from .options import GradeOptions

WORKER = f"{__name__}:run"
PROCESSES = 64


class Stored(msgspec.Struct, frozen=True):
    """A request to the sandbox: two descriptors of captures for each case."""

    descriptors: tuple[int, ...]
    cases: tuple[CaseSpec, ...]


@dataclass
class Found:
    """`examined` is by case; `trouble` says why something is missing; `features` has the sandbox's protections."""

    examined: list[str] = field(default_factory=list)
    trouble: str = ""
    timed_out: bool = False
    features: dict[str, str] = field(default_factory=dict)


def examine_stored(
    captures: Sequence[tuple[Path, Path]], cases: Sequence[CaseSpec], options: GradeOptions, seconds: float
) -> Found:
    """Examine both captures of each case for at most `seconds`. Raises BenchguardError if no sandbox starts."""
    found = Found()

    def handle(line: bytes) -> bool:
        try:
            event = msgspec.json.decode(line, type=ReaderEvent)
        except UNREADABLE as error:
            raise LineError(f"a malformed event: {one_line(str(error), 200)}") from None
        if isinstance(event, Unreadable):
            found.trouble = one_line(event.text)
        else:
            found.examined.append(event.examined)
        return len(found.examined) <= len(cases)

    with ExitStack() as stack:
        files = [stack.enter_context(path.open("rb")) for pair in captures for path in pair]
        descriptors = tuple(each.fileno() for each in files)
        user = stack.enter_context(identity.claimed_user())
        scratch = stack.enter_context(scratch_folder(user))
        readable = (os.path.realpath(PACKAGE / "codegen"),)  # a link, in a source tree
        confine = Confine(
            str(scratch), readable, user=user, memory_bytes=options.memory_limit, processes=PROCESSES
        )
        order = msgspec.Raw(msgspec.json.encode(Stored(descriptors, tuple(cases))))
        program = Program(
            name="examining the captures",
            order=Task(WORKER, order, descriptors, confine),
            environment=quarantine_environment(os.environ, scratch, Path()),
            deadline=time.monotonic() + seconds,
            line_max=READER_LINE_MAX,
            lines_max=EVENTS_MAX,
        )
        ended = run_confined(program, options.require_sandbox or "any", handle)
    found.features, found.timed_out = ended.features, ended.timed_out
    found.trouble = ended.excess or ended.trouble or ended.refusal or found.trouble
    if not found.trouble and len(found.examined) != len(cases):
        found.trouble = f"the captures were not examined: {one_line(ended.describe())}"
    return found


def run(text: bytes, events: int) -> NoReturn:
    """In the sandbox: carry out the request in `text`, send events to the descriptor `events`, and end the process."""
    for event in _events(msgspec.json.decode(text, type=Stored)):
        line = msgspec.json.encode(event) + b"\n"
        if len(line) > READER_LINE_MAX:
            line = msgspec.json.encode(Unreadable("the facts about the captures are too many")) + b"\n"
        while line:
            line = line[os.write(events, line) :]
    os._exit(0)


def _events(order: Stored) -> Iterator[ReadCase | Unreadable]:
    pairs = zip(order.descriptors[::2], order.descriptors[1::2], order.cases, strict=True)
    try:
        for one, two, spec in pairs:
            path = Path(f"the capture of case {spec.name}")
            found = examine(Capture(path, one, LIMITS), Capture(path, two, LIMITS), spec)
            yield ReadCase(msgspec.json.encode(found).decode())
    except (CaptureError, MalformedError, MemoryError, OSError) as error:
        yield Unreadable(one_line(f"the captures cannot be used: {error}"))
