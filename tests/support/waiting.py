"""Wait for a condition, however busy the machine is."""

from __future__ import annotations

import time
from collections.abc import Callable


def wait_until(condition: Callable[[], bool]) -> None:
    """Poll `condition`. If it never holds, pytest's time limit for a test ends the wait and fails the test."""
    while not condition():
        time.sleep(0.02)
