"""A grade in a process of its own, beside another one of the same program. They take turns on the GPU."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec

from ..errors import BenchguardError, UsageError
from ..ipc.json_text import UNREADABLE
from ..ipc.memory_file import memory_file
from ..ipc.one_answer import END_SECONDS, answer_once
from ..ipc.own_python import own_python
from ..ipc.processes import kill_group, wait_for_end
from ..ipc.text import describe_exit, last_line, one_line
from ..problem.errors import ProblemError
from ..toolchain.errors import ShimError
from .options import GradeOptions
from .result import GradeResult

GRACE_SECONDS = 120.0
"""Time of a grade in another process beyond its own time-out: start, clean-up, a shim that is built."""

_PROGRAM = "from benchguard.grade.beside import main; main()"
_KINDS = {kind.__name__: kind for kind in (UsageError, ProblemError, ShimError, BenchguardError)}


class _Order(msgspec.Struct, frozen=True):
    problem: str
    submission: str
    others: tuple[str, ...]
    options: dict[str, Any]
    keep: str


class _Answer(msgspec.Struct, frozen=True):
    """A result, or the kind and the text of an exception."""

    result: GradeResult | None = None
    kind: str = ""
    text: str = ""


class GradeBeside:
    """Begins a grade when it is entered, and ends it at the end of the context. `options.keep` is not None."""

    def __init__(self, problem: str, submission: str, others: Sequence[str], options: GradeOptions) -> None:
        self._seconds = options.limited(problem).seconds + options.wait_for_gpu + GRACE_SECONDS
        self._order = msgspec.json.encode(
            _Order(problem, submission, tuple(others), options.changed(), str(options.keep))
        )

    def __enter__(self) -> GradeBeside:
        with memory_file("neutrino-order", self._order) as stdin:
            try:
                self._child = subprocess.Popen(
                    [*own_python(_PROGRAM), str(os.getpid())],
                    stdin=stdin,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    start_new_session=True,
                )
            except OSError as error:
                raise BenchguardError(
                    f"cannot start the process of the second grade: {error.strerror}"
                ) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._child.terminate()
        wait_for_end(self._child, END_SECONDS)
        kill_group(self._child)
        for each in (self._child.stdout, self._child.stderr):
            assert each is not None
            each.close()

    def result(self) -> GradeResult:
        """Wait for the grade. Raises its exception."""
        try:
            line, words = self._child.communicate(timeout=self._seconds)
        except subprocess.TimeoutExpired:
            raise BenchguardError("the process of the second grade did not answer in time") from None
        try:
            answer = msgspec.json.decode(line, type=_Answer)
        except UNREADABLE:
            ended = describe_exit(self._child.returncode, last_line(words.decode("utf-8", "replace")))
            raise BenchguardError(
                f"the process of the second grade ended without an answer: {ended}"
            ) from None
        if answer.result is None:
            raise _KINDS.get(answer.kind, BenchguardError)(answer.text)
        return answer.result


def _graded(data: bytes) -> _Answer:
    from .grade import grade_beside  # noqa: PLC0415 - takes a while, in which the parent may end

    order = msgspec.json.decode(data, type=_Order)
    options = replace(GradeOptions.of_changed(order.options), keep=Path(order.keep))
    try:
        return _Answer(grade_beside(order.problem, order.submission, order.others, options, None))
    except BenchguardError as error:
        kind = next(name for name, each in _KINDS.items() if isinstance(error, each))
        return _Answer(kind=kind, text=one_line(str(error)))


def main() -> None:
    """The child."""
    answer_once(_graded, int(sys.argv[1]))
