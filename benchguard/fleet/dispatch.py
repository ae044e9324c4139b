"""Give jobs to places, one for each free slot, and give a job to another place when a place fails.

A place is a machine, or a part of one. The number of jobs that are held is the number of slots: the next job is read
when a slot is free. The order of outcomes is that in which the jobs end.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from ..errors import BenchguardError
from ..ipc.text import one_line
from .job import Graded, Job
from .order import Answer

ATTEMPTS = 3
FAILURES_MAX = 3
"""Failures of a place, one after the other, after which it rests."""

WAIT_SECONDS = 1.0
"""Longest wait before the places are looked at again."""

REST_SECONDS = 30.0
"""Time without jobs for a place that failed. A further failure gives it another rest."""


class Place(Protocol):
    """Grades orders. `slots` of them at the same time."""

    @property
    def name(self) -> str: ...

    @property
    def slots(self) -> int: ...

    async def grade(self, job: Job) -> Answer:
        """Grade a job. Any exception is a failure of the place."""
        ...


class Places(Protocol):
    """The places of an engine."""

    async def update(self) -> list[Place]:
        """The places that work now. Raises BenchguardError if there will never be one."""
        ...

    async def changed(self) -> None:
        """Return when update() may have another result."""
        ...

    @property
    def is_joining(self) -> bool:
        """Whether a place is about to join, so that jobs wait for it."""
        ...


@dataclass
class _Held:
    """A job that is being graded, or waits for another attempt. `avoided` are the places that failed it."""

    job: Job
    attempts: int = 0
    avoided: set[str] = field(default_factory=set)
    was_unproven: bool = False
    troubles: list[str] = field(default_factory=list)


@dataclass
class _State:
    place: Place
    busy: int = 0
    failures: int = 0
    rests_until: float = 0.0

    @property
    def works(self) -> bool:
        return time.monotonic() >= self.rests_until

    @property
    def free(self) -> int:
        return max(0, self.place.slots - self.busy) if self.works else 0


class Dispatcher:
    """Grades jobs at places.

    Args:
        places: where to grade.
        attempts: tries of a job. A job is tried again after a failure of its place, and once after the verdict
            `unproven`, which says that other programs may have disturbed the times.
        patience_s: longest time in seconds without any place, and none that is joining, before the jobs are given up.
    """

    def __init__(self, places: Places, attempts: int = ATTEMPTS, patience_s: float = 60.0) -> None:
        self._places, self._attempts, self._patience_s = places, attempts, patience_s
        self._states: dict[str, _State] = {}
        self._again: list[_Held] = []
        self._running: dict[asyncio.Task[Graded | None], tuple[_Held, _State]] = {}
        self._woken: asyncio.Queue[asyncio.Task[Graded | None] | None] = asyncio.Queue()
        """Grades that have ended, and None for a change of the places."""

    async def run(self, jobs: Iterator[Job | None]) -> AsyncGenerator[Graded, None]:
        """The outcome of each job, as soon as it is known. Every job has exactly one.

        Close the generator before the places end: grades run until then.

        `jobs` may give None for "none yet"; places.changed() must return when there is one.
        """
        watch = asyncio.ensure_future(self._watch())
        is_empty = False
        alone_since = time.monotonic()
        try:
            while True:
                await self._refresh()
                is_empty = self._fill(jobs, is_empty)
                if is_empty and not self._again and not self._running:
                    return
                works = any(state.works for state in self._states.values())
                if self._running or works or self._places.is_joining:
                    alone_since = time.monotonic()
                elif time.monotonic() - alone_since > self._patience_s:
                    for lost in self._give_up(jobs):
                        yield lost
                    return
                for task in await self._events():
                    graded = self._ended(task)
                    if graded is not None:
                        yield graded
                if watch.done():
                    watch.result()
        finally:
            tasks = [watch, *self._running]
            for each in tasks:
                each.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _watch(self) -> None:
        """Wake run() when places have changed."""
        while True:
            await self._places.changed()
            self._woken.put_nowait(None)

    async def _events(self) -> list[asyncio.Task[Graded | None]]:
        """Wait for an event, at most WAIT_SECONDS; return the grades that have ended."""
        ended: list[asyncio.Task[Graded | None]] = []
        with contextlib.suppress(asyncio.TimeoutError, asyncio.QueueEmpty):
            event = await asyncio.wait_for(self._woken.get(), WAIT_SECONDS)
            while True:
                if event is not None:
                    ended.append(event)
                event = self._woken.get_nowait()
        return ended

    async def _refresh(self) -> None:
        places = {place.name: place for place in await self._places.update()}
        for name in self._states.keys() - places.keys():
            del self._states[name]
        for name, place in places.items():
            self._states.setdefault(name, _State(place))

    def _fill(self, jobs: Iterator[Job | None], is_empty: bool) -> bool:
        """Give a job to each free slot; return whether there are no more new jobs."""
        for held in list(self._again):
            if (state := self._place_for(held)) is not None:
                self._again.remove(held)
                self._start(held, state)
        while any(state.free for state in self._states.values()):
            try:
                job = None if is_empty else next(jobs)
            except StopIteration:
                return True
            if job is None:
                return is_empty
            held = _Held(job)
            state = self._place_for(held)
            assert state is not None
            self._start(held, state)
        return is_empty

    def _place_for(self, held: _Held) -> _State | None:
        """The place with the most free slots, and None to wait for one. A place that failed this job only counts if no
        other works."""
        working = [state for state in self._states.values() if state.works]
        others = [state for state in working if state.place.name not in held.avoided]
        free = [state for state in others or working if state.free]
        return max(free, key=lambda state: state.free, default=None)

    def _start(self, held: _Held, state: _State) -> None:
        state.busy += 1
        held.attempts += 1
        task = asyncio.ensure_future(_grade(held, state.place))
        task.add_done_callback(self._woken.put_nowait)
        self._running[task] = (held, state)

    def _ended(self, task: asyncio.Task[Graded | None]) -> Graded | None:
        held, state = self._running.pop(task)
        state.busy -= 1
        graded = task.result()
        if graded is not None:
            state.failures = 0
            if _is_unproven(graded) and not held.was_unproven and held.attempts < self._attempts:
                held.was_unproven = True
                self._again.append(held)
                return None
            return graded
        state.failures += 1
        if state.failures >= FAILURES_MAX:
            state.rests_until = time.monotonic() + REST_SECONDS
        held.avoided.add(state.place.name)
        if held.attempts < self._attempts:
            self._again.append(held)
            return None
        return _lost(held, state.place.name)

    def _give_up(self, jobs: Iterator[Job | None]) -> Iterator[Graded]:
        for held in (*self._again, *(_Held(job) for job in jobs if job is not None)):
            held.troubles.append(f"no machine was left for {self._patience_s:g} s")
            yield _lost(held, "")
        self._again.clear()


async def _grade(held: _Held, place: Place) -> Graded | None:
    """The outcome of an attempt; None if the place failed, with the reason in `held`."""
    try:
        answer = await place.grade(held.job)
        trouble = answer.trouble
        if answer.result is not None and answer.result.verdict != "error":
            return Graded(
                held.job.id, answer.result, "", held.attempts, place.name, answer.stage, answer.bundle
            )
        if answer.result is not None:
            trouble = answer.result.reason
    except Exception as error:
        words = str(error) if isinstance(error, BenchguardError) else f"{type(error).__name__}: {error}"
        trouble = words
    held.troubles.append(f"{place.name}: {one_line(trouble)}")
    return None


def _is_unproven(graded: Graded) -> bool:
    return graded.result is not None and graded.result.verdict == "unproven"


def _lost(held: _Held, place: str) -> Graded:
    return Graded(held.job.id, None, "; ".join(held.troubles), held.attempts, place)
