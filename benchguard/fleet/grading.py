"""Grade many submissions to a problem, on this machine or on a cluster."""

from __future__ import annotations

import asyncio
import os
import queue
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from ..errors import UsageError
from ..grade.grade import check_inputs
from ..grade.options import GradeOptions
from .cascade import CascadePlace, first_options
from .dispatch import ATTEMPTS, Dispatcher, Place, Places
from .job import Graded, Submission, jobs_of
from .local import LocalPlace, LocalPlaces, local_places
from .ray_engine import ray_places
from .vendors import apis_of, check_vendor

Engine = Literal["local", "ray"]
Say = Callable[[str], None]

ATTEMPTS_MAX = 10
PARALLEL_MAX = 64


async def grade_many(
    problem: str | os.PathLike[str],
    submissions: Iterable[Submission] | Mapping[str, Submission],
    options: GradeOptions = GradeOptions(),  # noqa: B008 - frozen
    *,
    engine: Engine = "local",
    address: str | None = None,
    cascade: bool = False,
    attempts: int = ATTEMPTS,
    say: Say = lambda _: None,
    parallel: int = 1,
    one_gpu: bool = False,
    **changes: Any,
) -> AsyncGenerator[Graded, None]:
    """Grade submissions to one problem; yield each outcome as soon as it is known.

        async for graded in benchguard.grade_many("problem.py", ["a.cu", "b.cu"], engine="ray"):
            print(graded.id, graded.result.verdict if graded.result else graded.trouble)

    Args:
        problem: PATH or PATH:NAME of the problem. With the engine "ray" it is at this path on every machine.
        submissions: paths of files or folders, or Source texts. A mapping gives them ids, else these are the numbers
            from 0. The next one is read when a machine is free, so this may be a generator.
        options: how to grade.
        engine: "local": `parallel` submissions at a time on each GPU of this machine. "ray": one on each GPU of a Ray
            cluster; with driver="sim" one on each CPU.
        address: address of a Ray cluster. None: start one on this machine.
        cascade: grade on the CPU driver first. Wrong outputs there are the verdict, with the stage "cpu"; all other
            submissions go on to a GPU.
        attempts: tries of a submission, if machines fail.
        say: called with one line about a machine that is refused or gone.
        parallel: grades at once on each GPU with the engine "local". They take turns on it.
        one_gpu: with the engine "local", use the GPU `device` only. A `device` other than 0 means this, too.
        changes: fields of GradeOptions by name, in place of those in `options`.

    Returns:
        One Graded for each submission. Its `result` is None if every attempt failed because of a machine, which is
        never a verdict about the submission. `aclose()` ends the grades that run, and waits for their end.

    Raises:
        UsageError: an option is invalid, a path does not exist, or the driver is one of another vendor than a
            submission's.
        BenchguardError: no machine can grade, or Ray does not answer.
        TypeError: `changes` names no field of GradeOptions.
    """
    options = replace(options, **changes)
    check_engine(engine, address, attempts, parallel)
    name = os.fspath(problem) if engine == "local" else str(Path(problem).resolve())
    check_inputs(options, name)
    apis = apis_of(options, engine)
    jobs = jobs_of(name, submissions, lambda each: check_vendor(each, options, apis))
    async with (
        places_of([name], options, engine, address, cascade, say, parallel, one_gpu) as places,
        aclosing(Dispatcher(places, attempts).run(jobs)) as outcomes,
    ):
        async for graded in outcomes:
            yield graded


@asynccontextmanager
async def places_of(
    problems: Sequence[str],
    options: GradeOptions,
    engine: Engine,
    address: str | None,
    cascade: bool,
    say: Say,
    parallel: int = 1,
    one_gpu: bool = False,
    archive: str = "",
) -> AsyncIterator[Places]:
    """The places of an engine. Raises UsageError for options that it cannot honour."""
    first = first_options(options) if cascade else None
    if engine == "ray":
        async with ray_places(problems, options, first, address, say) as cluster:
            yield cluster
        return
    places: Sequence[Place] = local_places(options, parallel, one_gpu, archive)
    if first is not None:
        places = [CascadePlace(LocalPlace(first, parallel), each) for each in places]
    yield LocalPlaces(places)


def check_engine(engine: str, address: str | None, attempts: int, parallel: int = 1) -> None:
    """Raises UsageError for options that do not fit together, before anything runs."""
    if engine not in ("local", "ray"):
        raise UsageError(f"unknown engine {engine!r}; give local or ray")
    if address is not None and engine != "ray":
        raise UsageError("address is for the engine ray")
    if parallel != 1 and engine != "local":
        raise UsageError(
            "parallel is for the engine local; Ray grades as many at once as the cluster has GPUs"
        )
    if not 1 <= parallel <= PARALLEL_MAX:
        raise UsageError(f"parallel is {parallel}; give 1 to {PARALLEL_MAX}")
    if not 1 <= attempts <= ATTEMPTS_MAX:
        raise UsageError(f"attempts is {attempts}; give 1 to {ATTEMPTS_MAX}")


def grade_all(
    problem: str | os.PathLike[str],
    submissions: Iterable[Submission] | Mapping[str, Submission],
    options: GradeOptions = GradeOptions(),  # noqa: B008 - frozen
    **settings: Any,
) -> Iterator[Graded]:
    """grade_many() without async: an iterator that blocks until the next outcome is known.

    Works in a program with an event loop, too, such as a notebook: the grades have a thread of their own.

    Args:
        problem: as in grade_many().
        submissions: as in grade_many(). They are read in another thread.
        options: as in grade_many().
        settings: the keyword arguments of grade_many().

    Returns:
        An iterator over the outcomes. Closing it ends the grades that run.

    Raises:
        UsageError: as grade_many().
        BenchguardError: as grade_many().
    """
    outcomes: queue.Queue[Graded | BaseException | None] = queue.Queue()
    loop = asyncio.new_event_loop()

    async def collect() -> None:
        async for graded in grade_many(problem, submissions, options, **settings):
            outcomes.put(graded)

    task = loop.create_task(collect())

    def serve() -> None:
        end: BaseException | None = None
        try:
            loop.run_until_complete(task)
        except BaseException as error:
            end = error
        finally:
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()
            outcomes.put(end)

    thread = threading.Thread(target=serve, name="grade_all")
    thread.start()
    try:
        while isinstance(outcome := outcomes.get(), Graded):
            yield outcome
        if outcome is not None:
            raise outcome
    finally:
        if thread.is_alive() and not loop.is_closed():
            loop.call_soon_threadsafe(task.cancel)
        thread.join()
