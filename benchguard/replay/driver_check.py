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
from ..quarantine.confined import Ended, Program, run_confined, scratch_folder
from ..quarantine.contract import Confine, Task
from ..quarantine.sandbox import identity
from ..quarantine.use_devices import WORKER, Use, Used
from .confined import PROCESSES, environment_of, libraries_of
from .target import Target
from .verdict import CRASHES

BLAMED = ("failed", "timeout")
"""Verdicts that a broken machine leads to, too."""

CHECK_SECONDS_MIN, CHECK_SECONDS = 1.0, 30.0
"""Time for the check. A driver that does not answer for the longer time is broken. That of an H200 took 20 s where 14
grades began at once on two GPUs."""

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

    The driver's own errors and crashes count. Silence counts after CHECK_SECONDS only, and a check that cannot run
    does not count: a submission may keep the driver or the machine's memory busy for some seconds after its end.
    """
    seconds = check_seconds(timeout, left)
    try:
        answers, ended = _ask(target, devices, seconds)
    except BenchguardError as error:
        return _doubt(f"the check did not run: {error}")
    if answers:
        return _broken(answers[0].trouble)
    if ended.timed_out and seconds >= CHECK_SECONDS:
        return _broken(f"no answer within {seconds:g} s")
    if ended.timed_out:
        return _doubt(f"it did not answer within {seconds:.3g} s")
    if ended.status in CRASHES:
        return _broken(ended.describe())
    return _doubt(ended.refusal or ended.excess or ended.trouble or ended.describe())


def _broken(trouble: str) -> DriverCheck:
    return DriverCheck(
        broken=f"the driver of this machine does not work: {one_line(trouble)}" if trouble else ""
    )


def _doubt(why: str) -> DriverCheck:
    return DriverCheck(
        doubt=f"the driver was tried after this failure, which could not tell whether it works: {one_line(why)}; see "
        "whether neutrino-bench doctor ends, or raise --timeout"
    )


def check_seconds(timeout: float, left: float) -> float:
    """`left` is negative after the time-out: ending the processes has taken a part of the overrun then."""
    return min(CHECK_SECONDS, max(CHECK_SECONDS_MIN, left + OVERRUN * timeout))


def _ask(target: Target, devices: Sequence[int], seconds: float) -> tuple[list[Used], Ended]:
    """The answer, if one came, and how the check ended. Raises BenchguardError."""
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
    return answers, ended
