"""A cascade: the CPU driver first, and a GPU only for submissions that are not wrong there.

Only wrong outputs decide in the first stage. The CPU driver refuses instructions and libraries that it does not have,
and compiles for its own architecture, so every other verdict may be about the CPU driver: such a submission goes on.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import msgspec

from ..errors import BenchguardError, UsageError
from ..grade.options import GradeOptions
from ..shim.vendors import CUDA, HIP
from .dispatch import Place
from .job import Job
from .order import Answer

FIRST_SAMPLES = 8
FIRST_SECONDS = 60.0
"""Time-out of the first stage. The CPU driver interprets kernels, so a time-out there is no verdict either."""


@dataclass
class CascadePlace:
    """A place of two stages, which work at the same time on different submissions."""

    first: Place
    final: Place
    _gates: tuple[asyncio.Semaphore, asyncio.Semaphore] = field(init=False)

    def __post_init__(self) -> None:
        self._gates = asyncio.Semaphore(self.first.slots), asyncio.Semaphore(self.final.slots)

    @property
    def name(self) -> str:
        return self.final.name

    @property
    def slots(self) -> int:
        return self.first.slots + self.final.slots

    async def grade(self, job: Job) -> Answer:
        async with self._gates[0]:
            try:
                answer = await self.first.grade(job)
            except BenchguardError:  # the second stage finds out whether the machine works
                answer = Answer(trouble="none")
        if answer.result is not None and answer.result.verdict == "wrong":
            return msgspec.structs.replace(answer, stage="cpu")
        async with self._gates[1]:
            return await self.final.grade(job)


def first_options(options: GradeOptions) -> GradeOptions:
    """The options of the first stage. Raises UsageError if there cannot be two stages."""
    if options.driver in (CUDA.sim_spec, HIP.sim_spec):
        raise UsageError(
            "a cascade ends on a GPU; leave out cascade, or name another driver than the CPU driver"
        )
    return GradeOptions(
        adapter=options.adapter,
        adapter_options=options.adapter_options,
        language=options.language,
        entry=options.entry,
        convention=options.convention,
        warm_up=options.warm_up,
        cases=options.cases,
        driver="sim",
        samples=FIRST_SAMPLES,
        timeout=FIRST_SECONDS,
        memory_bytes=options.memory_bytes,
        network=options.network,
        require_sandbox=options.require_sandbox,
        policy=options.policy,
    )
