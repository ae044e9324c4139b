"""What the author of a problem wrote wrong: one line, with the file and the line of it."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import BenchguardError

TEXT_MAX = 500


class ProblemError(BenchguardError):
    """The problem cannot be asked so. The message begins with FILE:LINE where there is one."""

    status = 2


@contextmanager
def blaming(path: Path, doing: str) -> Iterator[None]:
    """Runs an author's code: whatever it raises becomes a ProblemError that says where in `path`."""
    try:
        yield
    except BenchguardError:
        raise
    except (Exception, SystemExit) as error:  # it may raise anything, and this process goes on
        text = f"{place_of(error, path)}: {doing} failed: {type(error).__name__}: {one_line(str(error))}"
        raise ProblemError(text) from error


def place_of(error: BaseException, path: Path) -> str:
    """PATH:LINE of the innermost frame in `path`; PATH alone if none is."""
    if isinstance(error, SyntaxError) and error.filename == str(path) and error.lineno:
        return f"{path}:{error.lineno}"
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
    return f"{path}:{frames[-1].lineno}" if frames else str(path)


def one_line(text: str) -> str:
    return " ".join(text.split())[:TEXT_MAX] or "no reason given"
