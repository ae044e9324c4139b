"""How long the replay's thread waited for a processor, by the kernel's count.

The device's clock runs on while the host cannot release or end a sample, so waits make all samples longer.
"""

from __future__ import annotations

from pathlib import Path

SCHEDSTAT = Path("/proc/thread-self/schedstat")
"""Nanoseconds on a processor, nanoseconds of waiting for one, and turns: sched-stats.rst of the Linux kernel."""


def waited_seconds() -> float:
    """Seconds since this thread began; 0 on a kernel that does not count them."""
    try:
        return int(SCHEDSTAT.read_bytes().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0
