"""The service grades for many threads, and tells all of them when it ends."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from benchguard.errors import BenchguardError
from benchguard.fleet import dispatch, service
from benchguard.fleet.dispatch import Place
from benchguard.fleet.job import Job, Source
from benchguard.fleet.order import Answer
from benchguard.grade.options import GradeOptions
from tests.support.results import graded_result


@dataclass
class Echo:
    """The reason of a result is the submission's source. Breaks for the source "break"."""

    name: str = "here"
    slots: int = 3
    held: threading.Event = field(default_factory=threading.Event)

    async def grade(self, job: Job) -> Answer:
        text = job.files["submission.cu"].decode()
        if text == "break":
            raise ConnectionResetError("lost")
        while text == "hold":
            self.held.set()
            await asyncio.sleep(0.01)
        return Answer(graded_result("wrong", reason=text))


@dataclass
class Echoes:
    trouble: str = ""
    place: Echo = field(default_factory=Echo)

    async def update(self) -> list[Place]:
        if self.trouble:
            raise BenchguardError(self.trouble)
        return [self.place]

    async def changed(self) -> None:
        await asyncio.Event().wait()

    @property
    def is_joining(self) -> bool:
        return False


@pytest.fixture
def problem(tmp_path: Path) -> str:
    (tmp_path / "p.py").write_text("raise SystemExit('the problem was imported')\n")
    return str(tmp_path / "p.py")


def service_over(places: Echoes, problem: str, monkeypatch: pytest.MonkeyPatch) -> service.GradeService:
    @asynccontextmanager
    async def made(*_: Any) -> AsyncIterator[Echoes]:
        yield places

    monkeypatch.setattr(service, "places_of", made)
    monkeypatch.setattr(dispatch, "REST_SECONDS", 0.0)
    return service.GradeService([problem], GradeOptions())


def test_each_thread_gets_its_own_result(problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [str(number) for number in range(40)]
    with service_over(Echoes(), problem, monkeypatch) as grades, ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda text: grades.grade(problem, Source(text, "cuda")), texts))
    assert [result.reason for result in results] == texts


def test_failed_machine_is_an_exception_and_the_service_goes_on(
    problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with service_over(Echoes(), problem, monkeypatch) as grades:
        with pytest.raises(BenchguardError, match=r"lost.*lost"):
            grades.grade(problem, Source("break", "cuda"))
        assert grades.grade(problem, Source("x", "cuda")).reason == "x"


def test_end_of_the_service_reaches_a_waiting_thread(problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    places = Echoes()
    with ThreadPoolExecutor(1) as pool:
        with service_over(places, problem, monkeypatch) as grades:
            waiting = pool.submit(grades.grade, problem, Source("hold", "cuda"))
            assert places.place.held.wait(10)
        with pytest.raises(BenchguardError, match="the service has ended"):
            waiting.result(10)
        with pytest.raises(BenchguardError, match="the service has ended"):
            grades.grade(problem, Source("late", "cuda"))


def test_engine_that_cannot_grade_ends_the_service(problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        service_over(Echoes("no machine can grade"), problem, monkeypatch) as grades,
        pytest.raises(BenchguardError, match=r"no machine can grade|the service has ended"),
    ):
        grades.grade(problem, Source("x", "cuda"))


def test_engine_that_cannot_start_is_an_error_at_once(problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    @asynccontextmanager
    async def absent(*_: Any) -> AsyncIterator[Echoes]:
        raise BenchguardError("cannot connect to the Ray cluster")
        yield

    monkeypatch.setattr(service, "places_of", absent)
    with pytest.raises(BenchguardError, match="cannot connect"):
        service.GradeService([problem], GradeOptions()).__enter__()
