"""Every job has exactly one outcome, whatever places do: with places that are made, without a grade."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest

from benchguard.errors import BenchguardError
from benchguard.fleet import dispatch
from benchguard.fleet.dispatch import Dispatcher, Place
from benchguard.fleet.job import Graded, Job
from benchguard.fleet.order import Answer, parse_answer
from benchguard.grade.result import Verdict
from benchguard.ipc.json_text import json_line
from tests.support.results import graded_result

Behaviour = Callable[[Job], bytes]


def answer(verdict: Verdict = "pass") -> bytes:
    return json_line(Answer(graded_result(verdict, reason="broken" if verdict == "error" else "")))


def right(job: Job) -> bytes:
    assert job.id
    return answer()


def broken(job: Job) -> bytes:
    raise ConnectionResetError(f"lost {job.id}")


@dataclass
class MadePlace:
    name: str
    slots: int = 1
    behaviour: Behaviour = right
    seen: list[str] = field(default_factory=list)
    busy: int = 0
    most: int = 0

    async def grade(self, job: Job) -> Answer:
        self.seen.append(job.id)
        self.busy += 1
        self.most = max(self.most, self.busy)
        try:
            await asyncio.sleep(0)
            return parse_answer(self.behaviour(job))
        finally:
            self.busy -= 1


@dataclass
class MadePlaces:
    places: list[Place]
    event: asyncio.Event = field(default_factory=asyncio.Event)
    joins_until: float = 0.0

    async def update(self) -> list[Place]:
        return list(self.places)

    async def changed(self) -> None:
        await self.event.wait()
        self.event.clear()

    @property
    def is_joining(self) -> bool:
        return self.joins_until > time.monotonic()


def jobs(count: int, read: list[str] | None = None) -> Iterator[Job]:
    for number in range(count):
        if read is not None:
            read.append(str(number))
        yield Job(str(number), "p.py", "s.cu", False, {"s.cu": b""})


def run(places: list[Place], count: int = 20, attempts: int = 3, patience_s: float = 0.0) -> list[Graded]:
    async def collect() -> list[Graded]:
        made = MadePlaces(places)
        return [each async for each in Dispatcher(made, attempts, patience_s).run(jobs(count))]

    return asyncio.run(collect())


def check_complete(graded: list[Graded], count: int) -> None:
    assert Counter(each.id for each in graded) == {str(n): 1 for n in range(count)}


def test_every_job_is_graded_once() -> None:
    places = [MadePlace("a", 2), MadePlace("b", 3)]
    graded = run([*places])
    check_complete(graded, 20)
    assert all(each.result is not None and each.attempts == 1 for each in graded)
    assert sorted(places[0].seen + places[1].seen, key=int) == [str(n) for n in range(20)]
    assert [place.most for place in places] == [2, 3]


def test_job_of_a_failing_place_is_graded_at_another() -> None:
    bad, good = MadePlace("bad", 2, broken), MadePlace("good")
    graded = run([bad, good])
    check_complete(graded, 20)
    assert all(each.result is not None and each.place == "good" for each in graded)
    assert set(bad.seen) <= {each.id for each in graded if each.attempts == 2}
    assert (
        len(bad.seen) == len(set(bad.seen)) <= dispatch.FAILURES_MAX + 1
    )  # the last two ran at the same time


def test_unproven_job_is_graded_once_more() -> None:
    answers = {"0": [answer("unproven"), answer()], "1": [answer("unproven")] * 2, "2": [answer("violation")]}
    graded = run([MadePlace("only", 1, lambda job: answers[job.id].pop(0))], count=3)
    check_complete(graded, 3)
    found = {each.id: (each.result.verdict, each.attempts) for each in graded if each.result is not None}
    assert found == {"0": ("pass", 2), "1": ("unproven", 2), "2": ("violation", 1)}


def test_unproven_job_without_another_attempt_keeps_its_verdict() -> None:
    (graded,) = run([MadePlace("only", 1, lambda _: answer("unproven"))], count=1, attempts=1)
    assert graded.result is not None and graded.result.verdict == "unproven"


def test_failures_beyond_the_attempts_are_no_verdict() -> None:
    places: list[Place] = [MadePlace(name, 1, broken) for name in "abcd"]
    graded = run(places, count=3)
    check_complete(graded, 3)
    assert all(each.result is None and each.attempts <= 3 for each in graded)
    assert "ConnectionResetError: lost 0" in next(each.trouble for each in graded if each.id == "0")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "invalid answer"),
        (b"\x80\x04N.", "invalid answer"),  # a pickle of None
        (b'{"result":null}', "neither a result nor a reason"),
        (json_line(Answer(trouble="no shim\nhere")), "no shim here"),
        (answer("error"), "broken"),
    ],
)
def test_answer_without_a_result_is_a_failure_of_the_place(data: bytes, text: str) -> None:
    (graded,) = run([MadePlace("a", 1, lambda _: data)], count=1, attempts=1)
    assert graded.result is None
    assert text in graded.trouble


@pytest.mark.parametrize("verdict", ["wrong", "violation", "failed", "timeout"])
def test_verdict_about_a_submission_is_not_tried_again(verdict: Verdict) -> None:
    place = MadePlace("a", 1, lambda _: answer(verdict))
    (graded,) = run([place], count=1)
    assert graded.result is not None and graded.result.verdict == verdict
    assert place.seen == ["0"]


def test_next_job_is_read_when_a_slot_is_free() -> None:
    """At most as many jobs as slots are held, so a generator of a million jobs needs no memory."""
    read: list[str] = []

    async def collect() -> list[int]:
        held = []
        places = MadePlaces([MadePlace("a", 2)])
        async for _ in Dispatcher(places).run(jobs(50, read)):
            held.append(len(read))
        return held

    held = asyncio.run(collect())
    assert [reading - (done + 1) for done, reading in enumerate(held)][:40] == pytest.approx([1] * 40, abs=1)


def test_place_that_disappears_loses_no_job() -> None:
    """A place is gone while it grades: its task fails, as Ray's does, and the job goes to the other place."""

    async def collect() -> list[Graded]:
        places = MadePlaces([])
        dying = MadePlace("dying", 2)

        def die(job: Job) -> bytes:
            if dying in places.places:
                places.places.remove(dying)
            raise ConnectionResetError(job.id)

        dying.behaviour = die
        places.places += [dying, MadePlace("other")]
        return [each async for each in Dispatcher(places).run(jobs(12))]

    graded = asyncio.run(collect())
    check_complete(graded, 12)
    assert {each.place for each in graded} == {"other"}


def test_place_that_appears_gets_work() -> None:
    async def collect() -> list[Graded]:
        places = MadePlaces([])
        late = MadePlace("late")
        asyncio.get_running_loop().call_later(0.05, lambda: (places.places.append(late), places.event.set()))
        return [each async for each in Dispatcher(places, patience_s=10).run(jobs(3))]

    graded = asyncio.run(collect())
    check_complete(graded, 3)
    assert {each.place for each in graded} == {"late"}


def test_engine_without_places_ends() -> None:
    """The jobs that were not read yet have an outcome, too."""
    graded = run([], count=5)
    check_complete(graded, 5)
    assert all("no machine was left" in each.trouble for each in graded)


def test_place_that_is_still_checked_is_waited_for_longer_than_any_patience(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dispatch, "WAIT_SECONDS", 0.02)

    async def collect() -> list[Graded]:
        places = MadePlaces([], joins_until=time.monotonic() + 60)

        async def join() -> None:
            await asyncio.sleep(0.3)
            places.places.append(MadePlace("late"))
            places.joins_until = 0.0
            places.event.set()

        joining = asyncio.ensure_future(join())
        graded = [each async for each in Dispatcher(places, 3, patience_s=0.05).run(jobs(3))]
        await joining
        return graded

    graded = asyncio.run(collect())
    check_complete(graded, 3)
    assert {each.place for each in graded} == {"late"}


def test_resting_place_works_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "REST_SECONDS", 0.05)
    monkeypatch.setattr(dispatch, "WAIT_SECONDS", 0.05)
    failures = iter(range(dispatch.FAILURES_MAX))

    def recovers(job: Job) -> bytes:
        return broken(job) if next(failures, None) is not None else right(job)

    graded = run([MadePlace("a", 1, recovers)], count=3, attempts=10, patience_s=10)
    check_complete(graded, 3)
    assert all(each.result is not None for each in graded)


def test_error_of_the_engine_reaches_the_caller() -> None:
    class NoPlaces(MadePlaces):
        async def update(self) -> list[Place]:
            raise BenchguardError("no machine can grade")

    async def collect() -> None:
        async for _ in Dispatcher(NoPlaces([])).run(jobs(1)):
            pass

    with pytest.raises(BenchguardError, match="no machine can grade"):
        asyncio.run(collect())


def test_caller_that_stops_early_ends_the_grades() -> None:
    async def collect() -> MadePlace:
        place = MadePlace("a", 2)
        stream = Dispatcher(MadePlaces([place])).run(jobs(1000))
        async for _ in stream:
            break
        await stream.aclose()  # type: ignore[attr-defined]
        return place

    place = asyncio.run(collect())
    assert place.busy == 0
    assert len(place.seen) < 10


def test_random_failures_lose_no_job_and_repeat_none() -> None:
    """200 histories of places that fail, with a fixed seed."""
    for seed in range(200):
        draw = random.Random(seed)

        def shaky(job: Job, draw: random.Random = draw) -> bytes:
            return broken(job) if draw.random() < 0.2 else right(job)

        places = [MadePlace(name, draw.randrange(1, 4), shaky) for name in "abc"[: draw.randrange(1, 4)]]
        graded = run([*places], count=15)
        check_complete(graded, 15)
        passed = [each.id for each in graded if each.result is not None]
        assert all(each.attempts <= 3 for each in graded)
        assert Counter(name for place in places for name in place.seen).total() >= len(passed)
