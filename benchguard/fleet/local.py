"""The local engine: grades in child processes of this machine."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..gpu.identity import visible_gpus
from ..grade.options import GradeOptions
from ..shim.driver import discover
from .child import grade_in_child
from .dispatch import Place
from .job import Job
from .order import Answer, order_bytes, parse_answer


@dataclass(frozen=True)
class LocalPlace:
    """A GPU of this machine, or the whole machine. Each of the `slots` is a grade.

    The grades of one GPU take turns, so that times do not depend on the number of slots. `environment` has the
    variables that choose the GPU. `archive` is the folder for bundles; empty for none.
    """

    options: GradeOptions
    slots: int = 1
    name: str = "this machine"
    environment: Mapping[str, str] = field(default_factory=dict)
    archive: str = ""

    async def grade(self, job: Job) -> Answer:
        return parse_answer(
            await grade_in_child(order_bytes(job, self.options, self.archive), self.environment)
        )


@dataclass(frozen=True)
class LocalPlaces:
    """The same places, for ever."""

    places: Sequence[Place]

    async def update(self) -> list[Place]:
        return list(self.places)

    async def changed(self) -> None:
        await asyncio.Event().wait()

    @property
    def is_joining(self) -> bool:
        return False


def local_places(options: GradeOptions, slots: int, one_gpu: bool, archive: str = "") -> list[LocalPlace]:
    """A place for each NVIDIA GPU that this process sees; one place if the options or the caller name a GPU, or none is
    known, and for a HIP driver.

    Raises ShimError if there is no driver.
    """
    driver = discover(options.driver)
    is_one = one_gpu or options.device or driver.is_sim or driver.api != "cuda"
    gpus = () if is_one else visible_gpus(os.environ)
    if len(gpus) < 2:
        return [LocalPlace(options, slots, archive=archive)]
    return [LocalPlace(options, slots, each, {"CUDA_VISIBLE_DEVICES": each}, archive) for each in gpus]
