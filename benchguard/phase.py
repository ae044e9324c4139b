"""Say which phase a benchmark is in: rules of a policy and readers of the audit log ask for it.

    benchguard.phase("setup")
    inputs = make_inputs()
    with benchguard.phase("timing", "case 3"):
        run(inputs)

This module imports only ctypes and the standard library. It calls a function of the shim (hook/core/policy/phase.h),
which is preloaded into a program that `neutrino-bench` runs. In other processes a phase is only remembered.
"""

from __future__ import annotations

import ctypes
import os
from types import TracebackType
from typing import Literal, get_args

from .errors import UsageError

Phase = Literal["before", "setup", "warm-up", "timing", "after"]
PHASES: tuple[Phase, ...] = get_args(Phase)

_entered: list[Phase] = ["before"]
"""The phase of this process, as its only element."""


class Entered:
    """A phase that was entered. As a context manager it goes back to the phase before at the end of the block."""

    def __init__(self, before: Phase, is_marked: bool) -> None:
        self._before = before
        self.is_marked = is_marked
        """Whether the audit log has a line for it."""

    def __enter__(self) -> Entered:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        _enter(self._before, "")


def phase(name: Phase, label: str = "") -> Entered:
    """Enter a phase of the benchmark.

    Args:
        name: "before" (the first phase of every process), "setup", "warm-up", "timing" or "after".
        label: text for readers of the log, such as the name of the timed case.

    Returns:
        A context manager that goes back to the phase before.

    Raises:
        UsageError: no phase has this name.
    """
    if name not in PHASES:
        raise UsageError(f"phase {name!r} is invalid; give {', '.join(PHASES)}")
    before = _entered[0]
    return Entered(before, _enter(name, label))


def _enter(name: Phase, label: str) -> bool:
    _entered[0] = name
    if not os.environ.get("NEUTRINO_RING"):
        return False
    try:
        enter = ctypes.CDLL(None).neutrino_phase
    except AttributeError:
        return False
    enter.argtypes = [ctypes.c_char_p, ctypes.c_char_p]
    text = label.encode("utf-8", "backslashreplace").replace(b"\0", b"?")
    return bool(enter(name.encode(), text) == 0)
