"""Errors of a problem's author: one line, with the file and line."""

from __future__ import annotations

import linecache
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import BenchguardError
from ..ipc.text import one_line, place_of


class ProblemError(BenchguardError):
    """The problem cannot be asked so. The message begins with FILE:LINE where there is one."""

    status = 2


@contextmanager
def blaming(path: Path, doing: str) -> Iterator[None]:
    """Run an author's code. Its exceptions become a ProblemError that names the line in `path`."""
    try:
        yield
    except BenchguardError:
        raise
    except (Exception, SystemExit) as error:  # the author's code may raise anything
        place = place_of(error, lambda file: file == str(path)) or str(path)
        reason = one_line(str(error)) or _source_of(place)
        text = f"{place}: {doing} failed: {type(error).__name__}{': ' if reason else ''}{reason}"
        raise ProblemError(text) from error


def _source_of(place: str) -> str:
    """The source at FILE:LINE; empty if it is unknown. It stands for the message that `assert` alone does not give."""
    file, _, number = place.rpartition(":")
    return one_line(linecache.getline(file, int(number)).strip()) if number.isdigit() else ""
