"""What goes wrong in a problem's code, as one line that says where."""

from __future__ import annotations

import traceback

from ..errors import BenchguardError, UsageError
from .contract import Trouble
from .process import is_library

TEXT_MAX = 600


class FaultError(BenchguardError):
    """A problem that does not do what its own specification says."""


def trouble_of(error: BaseException, doing: str) -> Trouble:
    """`doing` is what was tried: "case n=1024: its inputs for distribution normal"."""
    text = told(error)
    return Trouble(one_line(f"{doing}: {text}" if doing else text), isinstance(error, UsageError))


def told(error: BaseException) -> str:
    """What went wrong, where, and what to do."""
    if isinstance(error, BenchguardError):
        return str(error)
    what = "it called exit()" if isinstance(error, SystemExit) else f"{type(error).__name__}: {error}"
    if isinstance(error, MemoryError):
        what = f"not enough memory ({error})" if str(error) else "not enough memory"
    where = place_of(error)
    return f"{what}{f' at {where}' if where else ''}; mend the problem's code there"


def place_of(error: BaseException) -> str:
    """The innermost line of the problem's own files, else of any file; a syntax error's is its own."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not is_library(frame.filename)]
    chosen = (own or frames)[-1:]
    return f"{chosen[0].filename}:{chosen[0].lineno}" if chosen else ""


def one_line(text: str) -> str:
    """Cut in its middle where it is too long: what was done is at its start, where it happened at its end."""
    line = " ".join(text.split())
    if len(line) <= TEXT_MAX:
        return line
    half = TEXT_MAX // 2
    return f"{line[:half]} … {line[-half:]}"
