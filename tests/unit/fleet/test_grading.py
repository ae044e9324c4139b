"""Loops over outcomes that stop early: no grade may run on, and no place may end before its grades."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from benchguard.errors import BenchguardError
from benchguard.fleet import grading
from benchguard.fleet.grading import grade_all, grade_many
from benchguard.fleet.job import Job, Source
from benchguard.fleet.local import LocalPlaces
from benchguard.fleet.order import Answer

PROBLEM = Path(__file__).parents[3] / "examples" / "problems" / "vector_add.py"


@dataclass
class SlowPlace:
    """Loses the first job at once. The other grades never end by themselves, and take a moment to be cancelled."""

    log: list[str] = field(default_factory=list)
    name: str = "slow"
    slots: int = 2

    async def grade(self, job: Job) -> Answer:
        self.log.append("begun")
        if job.id == "0":
            await asyncio.sleep(0)
            raise BenchguardError("lost")
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.01)
            self.log.append("ended")
        raise AssertionError


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> SlowPlace:
    slow = SlowPlace()

    @asynccontextmanager
    async def places(*_: Any, **__: Any) -> AsyncIterator[LocalPlaces]:
        try:
            yield LocalPlaces([slow])
        finally:
            slow.log.append("closed")

    monkeypatch.setattr(grading, "places_of", places)
    return slow


def submissions() -> list[Source]:
    return [Source(f"// {number}", "ptx") for number in range(3)]


def check(place: SlowPlace) -> None:
    *before, last = place.log
    assert last == "closed"
    assert before.count("ended") == before.count("begun") - 1 > 0


def test_closing_ends_the_grades_that_run(place: SlowPlace) -> None:
    async def first() -> list[str]:
        outcomes = grade_many(PROBLEM, submissions(), driver="sim", attempts=1)
        assert (await outcomes.__anext__()).id == "0"
        await outcomes.aclose()
        return list(place.log)

    assert asyncio.run(first()) == place.log
    check(place)


def test_closing_the_blocking_iterator_ends_the_grades_that_run(place: SlowPlace) -> None:
    outcomes = grade_all(PROBLEM, submissions(), driver="sim", attempts=1)
    assert next(outcomes).id == "0"
    outcomes.close()  # type: ignore[attr-defined]  # a generator
    check(place)
