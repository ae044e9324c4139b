"""A process of ours that reads an order from its standard input, and writes one line to its standard output."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from .json_text import json_line
from .processes import end_with

END_SECONDS = 5.0
"""Time to delete folders."""


def answer_once(answer: Callable[[bytes], Any], parent: int) -> None:
    """Write the answer to the order, as JSON. The process ends with its parent, or by SIGTERM.

    Both ends are exceptions in `answer`, so that it deletes its folders, also after a SIGKILL of the parent. Output
    of a problem or a library goes to the standard error.
    """
    signal.signal(signal.SIGTERM, _end_soon)
    end_with(parent, by=signal.SIGTERM)
    out = os.dup(1)
    os.dup2(2, 1)
    line = json_line(answer(sys.stdin.buffer.read())) + b"\n"
    with os.fdopen(out, "wb") as stream:
        stream.write(line)


def _end_soon(*_: object) -> None:
    signal.alarm(int(END_SECONDS))  # kills a process that hangs
    sys.exit(1)
