"""The judge's process, as the supervisor has it: asked over a socket pair, ended with all that it started.

It runs the problem's code, which may print, raise, exit, crash or hang: each ends in one line that says so. No
signal is taken and nothing is global, so that this works in any thread of a notebook.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, TypeVar

import msgspec

from ..errors import BenchguardError, UsageError
from ..ipc.messages import ClosedError, MessageError, receive, send
from ..ipc.processes import kill_group
from ..ipc.text import describe_exit, last_line
from ..problem.errors import ProblemError
from .contract import Answer, Question, Trouble, decode_answer, encode

STDERR_BYTES = 1 << 15
GRACE_SECONDS = 1.0
"""For the judge to end by itself when there are no more questions."""

_FOLDER = Path(__file__).resolve().parents[2]
_START = (
    "import sys; folder = sys.argv.pop(1); sys.path[:] = [folder, *filter(None, sys.path)]; import benchguard; "
    "sys.path.remove(folder); sys.path.append(folder); "
    "from benchguard.judge.worker import main; main(int(sys.argv[1]), int(sys.argv[2]))"
)
_REMOVED_PREFIXES = ("LD_", "NEUTRINO_")
_REMOVED = frozenset({"SIM_INJECT", "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", "PYTHONSTARTUP", "PYTHONINSPECT"})
_SET = {"NVIDIA_TF32_OVERRIDE": "0", "CUDA_CACHE_DISABLE": "1"}
_PLACE = re.compile(r'^  File "([^"]+)", line (\d+)', re.MULTILINE)
_AnswerT = TypeVar("_AnswerT", bound=Answer)


def command() -> list[str]:
    """What starts a judge; a socket's descriptor and the number of its parent are to be added.

    The current folder, where the submission may be, is no place to import from: a torch.py in it would be trusted.
    """
    return [sys.executable, "-c", _START, str(_FOLDER)]


def judge_environment(base: Mapping[str, str]) -> dict[str, str]:
    """No shim, nothing preloaded, and no TF32 in a reference whatever its author or the caller's shell set; no
    cache of compiled PTX, which is in a folder that others may write to. PYTHONPATH is the caller's wish."""
    kept = {
        name: value
        for name, value in base.items()
        if name == "LD_LIBRARY_PATH" or not (name.startswith(_REMOVED_PREFIXES) or name in _REMOVED)
    }
    return {**kept, **_SET}


class JudgeProcess:
    """A context manager. Questions may be asked ahead; answers come in their order.

    `timeout` is how long an answer is waited for, in seconds.
    """

    def __init__(self, timeout: float, *, worker: Sequence[str] | None = None) -> None:
        self._timeout = timeout
        self._command = list(worker) if worker is not None else command()
        self._failure: BenchguardError | None = None

    def __enter__(self) -> JudgeProcess:
        self._end, theirs = socket.socketpair()
        try:
            self._child = subprocess.Popen(
                [*self._command, str(theirs.fileno()), str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=judge_environment(os.environ),
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        except OSError as error:
            self._end.close()
            raise BenchguardError(f"cannot start the judge's process {self._command[0]}: {error}") from error
        finally:
            theirs.close()
        assert self._child.stderr is not None
        self._errors = _Tail(self._child.stderr)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end.close()  # it ends at the end of its questions
        if kind is None and self._failure is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._child.wait(GRACE_SECONDS)
        kill_group(self._child)
        self._errors.close()

    @property
    def pid(self) -> int:
        return self._child.pid

    def ask(self, question: Question) -> None:
        """Without waiting. Raises BenchguardError if the judge is gone."""
        if self._failure is not None:
            raise self._failure
        try:
            send(self._end, encode(question))
        except ClosedError:
            raise self._died() from None

    def answer(self, kind: type[_AnswerT], timeout: float | None = None) -> tuple[_AnswerT, list[int]]:
        """The answer to the oldest question that has none, and its descriptors, which are the caller's.

        Raises UsageError or ProblemError for Trouble, after which others are answered still; BenchguardError if
        the judge died or is not done in time, after which nothing is.
        """
        if self._failure is not None:
            raise self._failure
        seconds = self._timeout if timeout is None else timeout
        try:
            data, descriptors = receive(self._end, time.monotonic() + seconds)
        except ClosedError:
            raise self._died() from None
        except TimeoutError:
            raise self._hangs(seconds, kind.__name__) from None
        except MessageError as error:
            raise self._fail(f"the judge's process said what is no message: {error}") from error
        try:
            found = decode_answer(data)
        except msgspec.MsgspecError as error:
            _close(descriptors)
            raise self._fail(f"the judge's process said what is no answer: {error}") from error
        if isinstance(found, kind):
            return found, list(descriptors)
        _close(descriptors)
        if isinstance(found, Trouble):
            raise UsageError(found.text) if found.usage else ProblemError(found.text)
        raise self._fail(f"the judge answered with {type(found).__name__} where {kind.__name__} is due")

    def _died(self) -> BenchguardError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(GRACE_SECONDS)
        kill_group(self._child)
        ended = describe_exit(self._child.returncode, last_words(self._errors.text()))
        return self._fail(f"the judge's process ended: {ended}. It runs the problem's code: look there first")

    def _hangs(self, seconds: float, awaited: str) -> BenchguardError:
        with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
            os.kill(self._child.pid, signal.SIGABRT)  # faulthandler then says where it was
            self._child.wait(GRACE_SECONDS)
        kill_group(self._child)
        place = place_of_crash(self._errors.text())
        where = f"; it was at {place}" if place else ""
        return self._fail(
            f"the judge did not answer within {seconds:g} s (waiting for {awaited}){where}; "
            "give it longer, or make the problem's sizes smaller"
        )

    def _fail(self, text: str) -> BenchguardError:
        """From now on every call fails so."""
        self._failure = BenchguardError(text)
        kill_group(self._child)
        return self._failure


class _Tail:
    """The last of what a pipe says, read so that who writes to it never waits."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        self._kept = b""
        self._thread = threading.Thread(target=self._read, name="judge's stderr", daemon=True)
        self._thread.start()

    def text(self) -> str:
        """Of a process that has ended. A process that it left behind may hold the pipe open."""
        self._thread.join(0.5)
        return self._kept.decode("utf-8", "replace")

    def close(self) -> None:
        self._thread.join(0.5)
        if not self._thread.is_alive():
            self._pipe.close()

    def _read(self) -> None:
        while data := os.read(self._pipe.fileno(), 1 << 16):
            self._kept = (self._kept + data)[-STDERR_BYTES:]


def last_words(stderr: str) -> str:
    """Its last line; of a crash, what it was and where."""
    lines = [text for text in map(str.strip, stderr.splitlines()) if text]
    fatal = next((each for each in reversed(lines) if each.startswith("Fatal Python error")), None)
    if fatal is not None:
        place = place_of_crash(stderr)
        return f"{fatal} at {place}" if place else fatal
    return last_line(stderr)


def place_of_crash(stderr: str) -> str:
    """Where faulthandler saw the problem's code: the innermost line that is not ours and no library's."""
    dump = stderr[max(stderr.rfind("Fatal Python error"), 0) :]
    for path, number in _PLACE.findall(dump):
        if not is_library(path):
            return f"{path}:{number}"
    return ""


def is_library(path: str) -> bool:
    """Neither a problem's file nor a user's."""
    return (
        path.startswith("<")
        or Path(path).is_relative_to(Path(__file__).parents[1])
        or Path(path).is_relative_to(Path(os.__file__).parent)
        or "site-packages" in path
    )


def _close(descriptors: Sequence[int]) -> None:
    for each in descriptors:
        os.close(each)
