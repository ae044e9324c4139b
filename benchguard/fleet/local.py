"""The local engine: grades in child processes of this machine."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from ..grade.options import GradeOptions
from .child import grade_in_child
from .dispatch import Place
from .job import Job
from .order import order_bytes


@dataclass(frozen=True)
class LocalPlace:
    """This machine. More than one slot makes times depend on the other grades: only for a driver without a GPU."""

    problem: str
    options: GradeOptions
    slots: int = 1
    name: str = "this machine"

    async def grade(self, job: Job) -> bytes:
        return await grade_in_child(order_bytes(self.problem, job, self.options))


@dataclass(frozen=True)
class LocalPlaces:
    """One place, for ever."""

    place: LocalPlace

    async def update(self) -> list[Place]:
        return [self.place]

    async def changed(self) -> None:
        await asyncio.Event().wait()
