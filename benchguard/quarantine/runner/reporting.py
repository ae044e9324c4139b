"""Report the runner's progress and the submission's failures to the supervisor."""

from __future__ import annotations

import os
import re
import sys
import time
import traceback
from pathlib import Path

import msgspec

from ...ipc.text import one_line, place_of, printable
from ...phase import Phase
from ...phase import phase as mark_phase
from ..contract import LINE_MAX, Began, Broke, Event, Finished, RunnerPhase
from .arrays import WHEN_TENSORS, DeviceArray

TEXT_MAX = 1000
DETAIL_MAX = 1 << 14
_HERE = str(Path(__file__).parent)
_FRAMES_MAX = 30
_ERRORS_MAX = 3
_FIRST_MAX = 200
"""Characters of the first line of such a message: torch's has the compiler's command in it."""

_COMPILER_ERROR = re.compile(r"\b(error|fatal)\s*(:|#\d)")  # "fatal error:", "nvcc fatal   :"
_WITHHELD = ("reference", "eval")
"""Modules of GPU MODE's harness that lie beside a submission there, and that a submission cannot read here."""


class SubmissionError(Exception):
    """A failure of the submission. The message is for its author; `detail` is the compiler's output.

    `unreplayable`: the submission may be right but cannot be recorded. `lacks`: a compiler that this machine lacks.
    """

    def __init__(self, text: str, detail: str = "", *, unreplayable: bool = False, lacks: str = "") -> None:
        super().__init__(text)
        self.lacks = lacks
        self.text, self.detail, self.unreplayable = text, detail, unreplayable


def broke(error: BaseException, phase: str, folder: Path) -> Broke:
    """The event for an exception. Exceptions besides SubmissionError come from the submission's files in `folder`."""
    if isinstance(error, SubmissionError):
        return Broke(
            phase, one_line(error.text, TEXT_MAX), last_of(error.detail), error.unreplayable, error.lacks
        )
    if isinstance(error, SystemExit):
        return Broke(
            phase, one_line(f"the submission called exit({error.code!r}); let it return instead", TEXT_MAX)
        )
    exception = traceback.TracebackException.from_exception(error, limit=-_FRAMES_MAX, capture_locals=False)
    frames = [frame for frame in exception.stack if not frame.filename.startswith(_HERE)]
    exception.stack = traceback.StackSummary.from_list(frames)
    *_, lines = [line for line in exception.format_exception_only() if line.strip()] or [type(error).__name__]
    text = one_line(_place(error, folder) + _told(lines) + _remedy(error), TEXT_MAX)
    return Broke(phase, text, last_of("".join(exception.format())))


def _told(message: str) -> str:
    """An exception's message. If a compiler's output is in it, its first line and the first lines that name errors."""
    first, *others = message.strip().splitlines()
    errors = [line for line in others if _COMPILER_ERROR.search(line)]
    return "; ".join([one_line(first, _FIRST_MAX), *errors[:_ERRORS_MAX]]) if errors else message.strip()


def _remedy(error: BaseException) -> str:
    if isinstance(error, TypeError) and DeviceArray.__name__ in str(error):
        return f"; {WHEN_TENSORS}"
    torch = sys.modules.get("torch")
    if isinstance(error, OSError) and "CUDA_HOME" in str(error) and torch and torch.version.cuda is None:
        return (
            "; torch is built for the CPU on this machine, so it compiles no CUDA: install a build for CUDA"
        )
    name = error.name if isinstance(error, ModuleNotFoundError) else None
    if name not in _WITHHELD:
        return ""
    return f"; a submission cannot read the problem's {name}.py, so copy what it needs into the submission"


def last_of(text: str) -> str:
    """The end of a compiler's or Python's output, which names the error."""
    text = printable(text, "\n\t")
    return text if len(text) <= DETAIL_MAX else "...\n" + text[-DETAIL_MAX:]


def _place(error: BaseException, folder: Path) -> str:
    """NAME:LINE of the submission's innermost frame, or of its syntax error."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{Path(error.filename).name}:{error.lineno}: "
    place = place_of(error, lambda file: Path(file).is_relative_to(folder))
    return f"{Path(place).name}: " if place else ""


_PHASES: dict[RunnerPhase, Phase] = {"warm-up": "warm-up", "record": "timing", "time": "timing"}
"""Phases of the benchmark, for the policy. A submission can enter another: no verdict depends on them."""


class Reporter:
    """Writes events to a pipe, one JSON line each, and measures the duration of each phase."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._seconds: dict[str, float] = {}
        self._since = time.monotonic()
        self._rests = False
        self.phase = ""

    def begin(self, phase: RunnerPhase, case: int = -1) -> None:
        self._add()
        mark_phase(_PHASES.get(phase, "setup"), f"case {case}" if case >= 0 else "")
        self.phase, self._rests = phase, False
        self.send(Began(phase, case))

    def rest(self) -> None:
        """Count the time from now to the next phase for none."""
        self._add()
        self._rests = True

    def overlapped(self, phase: RunnerPhase, seconds: float, alone: float) -> None:
        """Count `seconds` of work for another phase, which was done during the current one.

        During `alone` seconds of it the current phase had nothing to do: they do not count for the current phase.
        """
        self._seconds[phase] = self._seconds.get(phase, 0.0) + seconds
        self._since += alone

    def called(self, case: int, seconds: float) -> None:
        """Note the duration of a call on the host, which the grade compares with the replay's time."""
        self._seconds[f"call {case}"] = seconds

    def finish(self) -> None:
        self._add()
        mark_phase("after")
        self.send(Finished(self._seconds))

    def send(self, event: Event) -> None:
        """Write an event; ignore a closed pipe, because no verdict of pass needs events."""
        line = msgspec.json.encode(event) + b"\n"
        if len(line) > LINE_MAX and isinstance(event, Broke):
            line = msgspec.json.encode(msgspec.structs.replace(event, detail="")) + b"\n"
        try:
            while line:
                line = line[os.write(self._descriptor, line) :]
        except OSError:
            pass

    def _add(self) -> None:
        now = time.monotonic()
        if self.phase and not self._rests:
            self._seconds[self.phase] = self._seconds.get(self.phase, 0.0) + now - self._since
        self._since = now
