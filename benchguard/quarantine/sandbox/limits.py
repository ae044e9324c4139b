"""Resource limits of the quarantine and its children. The supervisor limits memory (watch.py).

The address space is not limited, because CUDA reserves more of it than any machine has memory.
"""

from __future__ import annotations

import contextlib
import os
import resource
from pathlib import Path

from ..contract import Confine

FILES_OPEN = 65536
_BADNESS = "1000"
"""Value of oom_score_adj: when memory runs out, the kernel kills these processes first."""


def confine(order: Confine, processes_bounded: bool) -> str:
    """Set the limits; return the feature "limits": "on", or the reason why it is off. Call it after become().

    `processes_bounded`: a cgroup limits the number of processes already.
    """
    limits = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: order.file_bytes,
        resource.RLIMIT_NOFILE: FILES_OPEN,
        resource.RLIMIT_NPROC: order.processes + _tasks_of(os.geteuid()),
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_RTPRIO: 0,
        resource.RLIMIT_NICE: 0,
    }
    with contextlib.suppress(OSError):  # not essential: the supervisor's watch strikes first
        Path("/proc/self/oom_score_adj").write_text(_BADNESS)
    for which, value in limits.items():
        _, hard = resource.getrlimit(which)
        lowered = value if hard == resource.RLIM_INFINITY else min(value, hard)
        try:
            resource.setrlimit(which, (lowered, lowered))
        except (OSError, ValueError) as error:
            return f"limit {which} could not be lowered to {lowered}: {error}"
    if os.geteuid() == 0 and not processes_bounded:
        return "root has no limit on its processes: the supervisor counts them ten times a second instead"
    return "on"


def _tasks_of(user: int) -> int:
    """The user's existing threads, which count towards the limit."""
    count = 0
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if place.stat().st_uid == user:
                count += sum(1 for _ in (place / "task").iterdir())
        except OSError:
            continue
    return count
