"""The base of the checks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from ..process import Process
from ..rules import Rule
from ..window import Window

Add = Callable[..., None]
"""add(rule, message, lines, count=1)"""


class Check:
    """One check of one process. `rules` are the findings that it can give."""

    rules: ClassVar[Sequence[Rule]] = ()

    def __init__(self, add: Add) -> None:
        self.add = add

    def window(self, window: Window) -> None:
        """Look at a window. Windows come in the order of the elapsed-time calls."""

    def finish(self, process: Process) -> None:
        """The process has ended."""


def count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def micro(nanoseconds: float) -> str:
    return f"{nanoseconds / 1000:,.1f} us"
