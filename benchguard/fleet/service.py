"""A service: grades submissions of many threads, one after the other and on many machines."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from ..errors import BenchguardError
from ..grade.grade import check_inputs
from ..grade.options import GradeOptions
from ..grade.result import GradeResult
from ..quarantine.contract import Language
from .dispatch import ATTEMPTS, Dispatcher, Place, Places
from .grading import Engine, Say, check_engine, places_of
from .job import Graded, Job, Source, job_of
from .vendors import apis_of, check_vendor, languages_of


@dataclass
class _Feed:
    """The jobs that have come, as an iterator that never waits. It wakes the dispatcher as a change of its places."""

    places: Places
    jobs: deque[Job] = field(default_factory=deque)
    came: asyncio.Event = field(default_factory=asyncio.Event)

    def __iter__(self) -> Iterator[Job | None]:
        return self

    def __next__(self) -> Job | None:
        return self.jobs.popleft() if self.jobs else None

    def add(self, job: Job) -> None:
        self.jobs.append(job)
        self.came.set()

    async def update(self) -> list[Place]:
        return await self.places.update()

    @property
    def is_joining(self) -> bool:
        return self.places.is_joining

    async def changed(self) -> None:
        waits = [asyncio.ensure_future(each) for each in (self.came.wait(), self.places.changed())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waits:
                each.cancel()
        self.came.clear()


class GradeService:
    """Grades submissions, from any thread, until it is closed. Use it as a context manager.

    Args:
        problems: PATH or PATH:NAME of each problem that is asked for.
        options: how to grade.
        engine: as in grade_many(), as are `address`, `cascade`, `attempts` and `say`.
    """

    def __init__(
        self,
        problems: Sequence[str],
        options: GradeOptions,
        *,
        engine: Engine = "local",
        address: str | None = None,
        cascade: bool = False,
        attempts: int = ATTEMPTS,
        say: Say = lambda _: None,
    ) -> None:
        check_engine(engine, address, attempts)
        self._options, self._apis = options, apis_of(options, engine)
        self._paths = {each: str(Path(each).resolve()) for each in problems}
        for each in self._paths.values():
            check_inputs(options, each)
        self._attempts = attempts
        self._make: Callable[[], AbstractAsyncContextManager[Places]] = lambda: places_of(
            [*self._paths.values()], options, engine, address, cascade, say
        )
        self._loop = asyncio.new_event_loop()
        self._waiting: dict[str, Future[Graded]] = {}
        self._numbers = itertools.count()
        self._thread = threading.Thread(target=self._run, name="GradeService", daemon=True)
        self._ready: Future[_Feed] = Future()

    def __enter__(self) -> GradeService:
        """Start. Raises UsageError for options that the engine cannot honour, BenchguardError."""
        self._thread.start()
        self._feed = self._ready.result()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended by itself
            self._loop.call_soon_threadsafe(self._task.cancel)
        self._thread.join()

    @property
    def languages(self) -> frozenset[Language]:
        """The languages of submissions that its driver can run."""
        return languages_of(self._apis)

    def grade(self, problem: str, source: Source) -> GradeResult:
        """Grade a submission, and wait for it.

        Args:
            problem: one of the service's problems.
            source: the submission.

        Returns:
            The result; never one with the verdict `error`.

        Raises:
            BenchguardError: the machines failed, or the service has ended.
            UsageError: the submission is too large, or in a language that is not in `languages`.
        """
        check_vendor(source, self._options, self._apis)
        job = job_of(str(next(self._numbers)), self._paths[problem], source)
        future: Future[Graded] = Future()
        self._waiting[job.id] = future
        try:
            self._loop.call_soon_threadsafe(self._feed.add, job)
            if not self._thread.is_alive():
                raise BenchguardError("the service has ended")
            graded = future.result()
        except RuntimeError as error:
            raise BenchguardError("the service has ended") from error
        finally:
            self._waiting.pop(job.id, None)
        if graded.result is None:
            raise BenchguardError(graded.trouble)
        return graded.result

    def _run(self) -> None:
        self._task = self._loop.create_task(self._serve())
        trouble: BaseException = BenchguardError("the service has ended")
        try:
            self._loop.run_until_complete(self._task)
        except BaseException as error:
            trouble = error if isinstance(error, Exception) else trouble
        finally:
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()
            futures: list[Future[Any]] = [self._ready, *self._waiting.values()]
            for future in futures:
                if not future.done():
                    future.set_exception(trouble)

    async def _serve(self) -> None:
        async with self._make() as places:
            feed = _Feed(places)
            self._ready.set_result(feed)
            async with aclosing(Dispatcher(feed, self._attempts, float("inf")).run(feed)) as outcomes:
                async for graded in outcomes:
                    future = self._waiting.get(graded.id)
                    if future is not None:
                        future.set_result(graded)
