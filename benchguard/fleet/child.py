"""One grade in a child process of its own, which ends with its parent, at its deadline, or when it is cancelled."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

from ..errors import BenchguardError
from ..grade.beside import GRACE_SECONDS
from ..ipc.folders import temporary_folder
from ..ipc.memory_file import memory_file
from ..ipc.one_answer import END_SECONDS, answer_once
from ..ipc.own_python import own_python
from ..ipc.text import describe_exit, last_line, one_line
from .order import ANSWER_MAX, Answer, Order, parse_order

_STDERR_BYTES = 4096
_GRADE = "from benchguard.fleet.child import main; main()"


async def grade_in_child(order: bytes, environment: Mapping[str, str] | None = None) -> bytes:
    """Grade an order in a child process; return the answer's bytes. `environment` has variables besides this process's.

    The child ends after the time-out of the grade, its wait for the GPU, and GRACE_SECONDS. It and its process group
    are killed when this call ends or is cancelled. Raises BenchguardError if there is no answer.
    """
    parsed = parse_order(order)
    options = parsed.grade_options().limited(parsed.job.problem)
    with memory_file("neutrino-order", order) as stdin:
        child = await asyncio.create_subprocess_exec(
            *own_python(_GRADE),
            str(os.getpid()),
            stdin=stdin,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={
                **{name: value for name, value in os.environ.items() if not name.startswith("RAY_")},
                **(environment or {}),
            },
            start_new_session=True,
            limit=ANSWER_MAX,
        )
    assert child.stdout is not None and child.stderr is not None
    errors = asyncio.ensure_future(_tail(child.stderr))
    try:
        line = await asyncio.wait_for(
            child.stdout.readline(), options.seconds + options.wait_for_gpu + GRACE_SECONDS
        )
        if line.endswith(b"\n"):
            return line
        await asyncio.wait({errors}, timeout=1.0)
        words = last_line(errors.result()) if errors.done() else ""
    except (asyncio.TimeoutError, ValueError) as error:  # 3.10 has a TimeoutError of asyncio's own
        text = "is too long" if isinstance(error, ValueError) else "did not come in time"
        raise BenchguardError(f"the answer of the grade's process {text}") from error
    finally:
        status = await _end(child)
        errors.cancel()
    raise BenchguardError(f"the grade's process ended without an answer: {describe_exit(status, words)}")


async def _end(child: asyncio.subprocess.Process) -> int:
    """Give the child a moment to delete its folders, then kill its process group."""
    with contextlib.suppress(ProcessLookupError):
        child.terminate()
    try:
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(child.wait(), END_SECONDS)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
    return await child.wait()


async def _tail(stream: asyncio.StreamReader) -> str:
    """The end of a stream, read so that the pipe does not fill."""
    tail = b""
    while data := await stream.read(1 << 16):
        tail = (tail + data)[-_STDERR_BYTES:]
    return tail.decode("utf-8", "replace")


def _answer(order: Order, submission: Path) -> Answer:
    from ..grade.grade import grade, grade_into  # noqa: PLC0415 - after end_with, because the import takes a while

    if not order.archive:
        return Answer(grade(order.job.problem, submission, order.grade_options()))
    done = grade_into(order.archive, order.job.problem, submission, order.grade_options())
    return Answer(trouble=one_line(done.trouble)) if done.trouble else Answer(done.result, bundle=done.bundle)


def _graded(data: bytes) -> Answer:
    order = parse_order(data)
    with temporary_folder("neutrino-job-") as folder:
        try:
            return _answer(order, order.job.write(folder))
        except BenchguardError as error:
            return Answer(trouble=one_line(f"{type(error).__name__}: {error}"))


def main() -> None:
    """The child."""
    answer_once(_graded, int(sys.argv[1]))
