"""Find out whether a failed run is the machine's fault: use the device once, in a process that runs only our code.

A GPU that falls off its bus, or a driver that fails, looks like a submission that fails. The submission's process may
lie, so it is not asked.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import msgspec

from ..errors import BenchguardError
from ..ipc.json_text import UNREADABLE
from ..ipc.text import one_line
from ..quarantine.confined import Program, run_confined, scratch_folder
from ..quarantine.contract import Confine, Task
from ..quarantine.sandbox import identity
from ..quarantine.use_devices import WORKER, Use, Used
from .confined import PROCESSES, environment_of, libraries_of
from .target import Target

BLAMED = ("failed", "timeout")
"""Verdicts that a broken machine leads to, too."""

CHECK_SECONDS = 60.0
MEMORY_BYTES = 8 << 30


def broken_driver(target: Target, *devices: int, seconds: float = CHECK_SECONDS) -> str:
    """Says why a device cannot be used now; empty if all work. The check runs in the sandbox of a submission."""
    try:
        trouble = _trouble(target, devices, seconds)
    except BenchguardError as error:
        trouble = str(error)
    return f"the driver of this machine does not work: {one_line(trouble)}" if trouble else ""


def _trouble(target: Target, devices: Sequence[int], seconds: float) -> str:
    answers: list[Used] = []

    def handle(line: bytes) -> bool:
        try:
            answers.append(msgspec.json.decode(line, type=Used))
        except UNREADABLE:
            answers.append(Used("its answer cannot be read"))
        return False

    use = Use(target.library, tuple(dict.fromkeys(devices)))
    with identity.claimed_user() as user, scratch_folder(user) as scratch:
        environment, added = environment_of(target, scratch)
        confine = Confine(
            scratch=str(scratch),
            readable=tuple(libraries_of(target)),
            user=user,
            memory_bytes=MEMORY_BYTES,
            processes=PROCESSES,
        )
        program = Program(
            name="the check of the driver",
            order=Task(WORKER, msgspec.Raw(msgspec.json.encode(use)), (), confine, added),
            environment=environment,
            deadline=time.monotonic() + seconds,
            line_max=1 << 16,
            lines_max=2,  # the first is the sandbox's
        )
        ended = run_confined(program, "any", handle)
    if answers:
        return answers[0].trouble
    if ended.timed_out:
        return f"no answer within {seconds:g} s"
    return ended.refusal or ended.excess or ended.trouble or ended.describe()
