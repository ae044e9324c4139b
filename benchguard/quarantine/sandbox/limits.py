"""Resource limits of the quarantine and what it starts; memory has a watcher (watch.py).

No limit on the address space: CUDA reserves more of it than any machine has memory.
"""

from __future__ import annotations

import contextlib
import os
import resource
from pathlib import Path

from ..contract import Confine

FILES_OPEN = 65536
_BADNESS = "1000"
"""Of all processes, the kernel ends these first when memory runs out."""


def confine(wanted: Confine, processes_bounded: bool) -> str:
    """The feature "limits": "on", or why not. After the user has been changed.

    `processes_bounded`: their number has a limit already (a cgroup's).
    """
    limits = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: wanted.file_bytes,
        resource.RLIMIT_NOFILE: FILES_OPEN,
        resource.RLIMIT_NPROC: wanted.processes + _tasks_of(os.geteuid()),
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_RTPRIO: 0,
        resource.RLIMIT_NICE: 0,
    }
    with contextlib.suppress(OSError):  # only which process the kernel chooses: the watcher comes first
        Path("/proc/self/oom_score_adj").write_text(_BADNESS)
    for which, value in limits.items():
        _, hard = resource.getrlimit(which)
        lowered = value if hard == resource.RLIM_INFINITY else min(value, hard)
        try:
            resource.setrlimit(which, (lowered, lowered))
        except (OSError, ValueError) as error:
            return f"limit {which} could not be lowered to {lowered}: {error}"
    if os.geteuid() == 0 and not processes_bounded:
        return "root has no limit on its processes: they are counted from outside, ten times a second"
    return "on"


def _tasks_of(user: int) -> int:
    """Threads of a user that there are already: the limit counts them too."""
    count = 0
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if place.stat().st_uid == user:
                count += sum(1 for _ in (place / "task").iterdir())
        except OSError:
            continue
    return count
