"""Find out whether a failed run is the machine's fault: use the device once, in a process that runs only our code.

A GPU that falls off its bus, or a driver that fails, looks like a submission that fails. The submission's process may
lie, so it is not asked.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

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

CHECK_SECONDS = 30.0
"""Time for the check. A driver that does not answer for so long is broken."""

OVERRUN = 0.25
"""Share of the time-out by which the check may exceed it. With what ends the processes before and after the check, a
grade of 10 s ends within 15 s."""

MEMORY_BYTES = 8 << 30


@dataclass(frozen=True)
class DriverCheck:
    """`broken` says why a device cannot be used, `doubt` why the check cannot tell. Both are empty if all work."""

    broken: str = ""
    doubt: str = ""


def check_driver(target: Target, *devices: int, timeout: float, left: float) -> DriverCheck:
    """Use the devices in the sandbox of a submission, after a run whose `timeout` has `left` seconds.

    An error of the driver counts at once. Silence counts after CHECK_SECONDS only: a submission may keep the driver
    busy for some seconds after its end, and must not buy an error with that.
    """
    seconds = check_seconds(timeout, left)
    try:
        trouble = _trouble(target, devices, seconds)
    except BenchguardError as error:
        trouble = str(error)
    if trouble is None and seconds < CHECK_SECONDS:
        return DriverCheck(
            doubt=f"the driver did not answer within {seconds:.3g} s after this failure, which is too short to tell "
            "whether it works: see whether neutrino-bench doctor ends, or raise --timeout"
        )
    if trouble is None:
        trouble = f"no answer within {seconds:g} s"
    return DriverCheck(
        broken=f"the driver of this machine does not work: {one_line(trouble)}" if trouble else ""
    )


def check_seconds(timeout: float, left: float) -> float:
    return min(CHECK_SECONDS, max(0.0, left) + OVERRUN * timeout)


def _trouble(target: Target, devices: Sequence[int], seconds: float) -> str | None:
    """Why a device cannot be used; empty if all work, and None if no answer came."""
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
        return None
    return ended.refusal or ended.excess or ended.trouble or ended.describe()
