"""Describe failures of a problem's code in one line with their place."""

from __future__ import annotations

from ..errors import BenchguardError, UsageError
from ..ipc.text import one_line, place_of
from .contract import Trouble
from .process import is_library
from .room import CrowdedError


class FaultError(BenchguardError):
    """The problem contradicts its own specification."""


def trouble_of(error: BaseException, doing: str) -> Trouble:
    """`doing` names the failed action, such as "case n=1024: its inputs for distribution normal"."""
    text = error_text(error)
    return Trouble(
        one_line(f"{doing}: {text}" if doing else text),
        isinstance(error, UsageError),
        isinstance(error, CrowdedError),
    )


def error_text(error: BaseException) -> str:
    """Message: the failure, its place, and what to do."""
    if isinstance(error, BenchguardError):
        return str(error)
    what = "it called exit()" if isinstance(error, SystemExit) else f"{type(error).__name__}: {error}"
    if isinstance(error, MemoryError):
        what = f"not enough memory ({error})" if str(error) else "not enough memory"
    where = place_of(error, lambda file: not is_library(file)) or place_of(error, lambda _: True)
    return f"{what}{f' at {where}' if where else ''}; fix the problem's code there"
