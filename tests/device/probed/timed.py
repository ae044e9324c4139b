"""Times launches of the programs beside this file."""

import os
import statistics
import sys
import time
from collections.abc import Callable

LATER = int(os.environ.get("LATER_LAUNCHES", "200"))


def launches(launch: Callable[[], None]) -> None:
    """Call it once, and LATER times more; print the first time and the median of the others, in microseconds."""
    times = []
    for _ in range(1 + LATER):
        began = time.perf_counter()
        launch()
        times.append(1e6 * (time.perf_counter() - began))
    print(f"cost: first {times[0]:.1f} later {statistics.median(times[1:]):.1f}", file=sys.stderr)
