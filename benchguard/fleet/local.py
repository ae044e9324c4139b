"""The local engine: grades in child processes of this machine."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from ..grade.options import GradeOptions
from .child import grade_in_child
from .dispatch import Place
from .job import Job
from .order import Answer, order_bytes, parse_answer


@dataclass(frozen=True)
class LocalPlace:
    """This machine. Each of the `slots` is a grade. On a GPU they take turns, so that times do not depend on them."""

    options: GradeOptions
    slots: int = 1
    name: str = "this machine"

    async def grade(self, job: Job) -> Answer:
        return parse_answer(await grade_in_child(order_bytes(job, self.options)))


@dataclass(frozen=True)
class LocalPlaces:
    """One place, for ever."""

    place: Place

    async def update(self) -> list[Place]:
        return [self.place]

    async def changed(self) -> None:
        await asyncio.Event().wait()
