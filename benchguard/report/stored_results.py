"""Results of `grade --json` and of a batch, from files that may be hostile."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

from ..errors import UsageError
from ..grade.result import GradeResult, read_result
from ..ipc.bounded_file import open_regular
from ..ipc.json_text import UNREADABLE, unique
from ..ipc.text import one_line

LINE_MAX = 256 << 20
"""Bytes of a line of a batch's results."""

_BATCH = "neutrino-bench/batch/1"
_START = f'{{"schema":"{_BATCH}"'.encode()


class _Line(msgspec.Struct, frozen=True):
    """The part of a batch's line that is read here. `result` is None if the machine failed."""

    schema: Literal["neutrino-bench/batch/1"]
    id: str
    result: GradeResult | None


def stored_results(path: Path) -> Iterator[tuple[str, GradeResult]]:
    """The name of each submission, and its result. The lines of a batch without a result are left out.

    The name is the last part of the submission's path, or of its id in a batch. Raises UsageError for other files.
    """
    try:
        with open_regular(path) as file:
            is_batch = file.read(len(_START)) == _START
        if is_batch:
            yield from _of_batch(path)
            return
        result = read_result(path)
    except OSError as error:
        raise UsageError(f"the result {path} cannot be read: {error.strerror}; check the path") from error
    except UNREADABLE as error:
        raise UsageError(
            f"{path} is not a result of `grade --json`, nor of a batch: {one_line(str(error), 200)}"
        ) from error
    yield _name(result.submission.path), result


def _of_batch(path: Path) -> Iterator[tuple[str, GradeResult]]:
    with path.open("rb") as file:
        number = 0
        while data := file.readline(LINE_MAX):
            number += 1
            try:
                line = msgspec.json.decode(unique(data), type=_Line)
            except UNREADABLE as error:
                raise UsageError(
                    f"{path}, line {number}: not a result of a batch: {one_line(str(error), 200)}; remove the line, or "
                    "start the batch again"
                ) from error
            if line.result is not None:
                yield _name(line.id), line.result


def _name(path: str) -> str:
    return Path(path).name or "submission"
