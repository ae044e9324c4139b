"""The supervisor's handle on the judge's process: ask questions over a socket pair, and kill its group at the end.

The judge runs the problem's code, which may print, raise, exit, crash or hang; each becomes a one-line message. This
module installs no signal handler and keeps no global state, so that it works in any thread of a notebook.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, TypeVar

import msgspec

from .. import exit_status
from ..errors import BenchguardError, UsageError
from ..ipc.messages import ClosedError, MessageError, receive, send
from ..ipc.own_python import own_python
from ..ipc.processes import kill_group, wait_for_end
from ..ipc.text import describe_exit, last_line
from ..problem.errors import ProblemError
from .contract import Answer, Question, Trouble, decode_answer, encode

STDERR_BYTES = 1 << 15
GRACE_SECONDS = 1.0
"""Time for the judge to end by itself after the last question."""

LATE_SECONDS = 3.0
LATE_SHARE = 0.05
"""Least time for an answer, also when no time is left: a replay may have ended just before it. Or this share of the
timeout, because large outputs take longer to check: a vector addition of 2^30 numbers lost its grade after 300 s."""

_JUDGE = "from benchguard.judge.worker import main; main(int(sys.argv[1]), int(sys.argv[2]))"
_REMOVED_PREFIXES = ("LD_", "NEUTRINO_", "CUBLAS_EMULAT")
_OF_NUMERICS = {
    "DNNL_DEFAULT_FPMATH_MODE",
    "HIPBLASLT_ALLOW_TF32",
    "JAX_DEFAULT_MATMUL_PRECISION",
    "NPY_PROMOTION_STATE",
    "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
    "XLA_FLAGS",
}
_REMOVED = frozenset({"SIM_INJECT", "PYTHONSTARTUP", "PYTHONINSPECT", *_OF_NUMERICS})
_SET = {"NVIDIA_TF32_OVERRIDE": "0", "ONEDNN_DEFAULT_FPMATH_MODE": "STRICT", "CUDA_CACHE_DISABLE": "1"}
_MALLOC = {"MALLOC_MMAP_THRESHOLD_": str(16 << 20), "MALLOC_TRIM_THRESHOLD_": str(64 << 20)}
"""For glibc, which otherwise returns a temporary array to the kernel, and takes new pages for the next one: comparing
2^27 numbers took 2.6 s, and 0.8 s with these (2 processors)."""
_PLACE = re.compile(r'^  File "([^"]+)", line (\d+)', re.MULTILINE)
_AnswerT = TypeVar("_AnswerT", bound=Answer)


def command() -> list[str]:
    """The command that starts a judge. Append a socket's descriptor and the parent's number."""
    return own_python(_JUDGE)


def judge_environment(base: Mapping[str, str]) -> dict[str, str]:
    """The judge's environment: no shim, no preloaded libraries, no less precise arithmetic in references.

    The cache of compiled PTX is off, because other processes may write to its folder. PYTHONPATH is kept. Temporary
    arrays keep their memory.
    """
    environment = {
        name: value
        for name, value in base.items()
        if name == "LD_LIBRARY_PATH" or not (name.startswith(_REMOVED_PREFIXES) or name in _REMOVED)
    }
    return {**environment, **_SET, **_MALLOC}


class JudgeProcess:
    """A context manager. Several questions may be asked at once; answers come in the same order.

    `timeout` is how long an answer is waited for, in seconds, or what `left` returns if that is less; but at least
    LATE_SECONDS, and LATE_SHARE of the timeout.
    """

    def __init__(
        self,
        timeout: float,
        *,
        left: Callable[[], float] | None = None,
        worker: Sequence[str] | None = None,
    ) -> None:
        self._timeout = timeout
        self._left = left
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
        self._end.close()  # the judge ends when its socket closes
        if kind is None and self._failure is None:
            wait_for_end(self._child, GRACE_SECONDS)
        kill_group(self._child)
        self._errors.close()

    @property
    def pid(self) -> int:
        return self._child.pid

    def ask(self, question: Question) -> None:
        """Ask without waiting for the answer. Raises BenchguardError if the judge has ended."""
        if self._failure is not None:
            raise self._failure
        try:
            send(self._end, encode(question))
        except ClosedError:
            raise self._died() from None

    def answer(self, kind: type[_AnswerT]) -> tuple[_AnswerT, list[int]]:
        """Wait for the answer to the oldest open question. The caller owns the descriptors.

        Raises UsageError or ProblemError for Trouble, after which others are answered still; BenchguardError if
        the judge died or is not done in time, after which nothing is.
        """
        if self._failure is not None:
            raise self._failure
        seconds = self._timeout
        if self._left is not None:
            seconds = min(seconds, max(LATE_SECONDS, LATE_SHARE * self._timeout, self._left()))
        try:
            data, descriptors = receive(self._end, time.monotonic() + seconds)
        except ClosedError:
            raise self._died() from None
        except TimeoutError:
            raise self._hangs(seconds, kind.__name__) from None
        except MessageError as error:
            raise self._fail(f"the judge sent a malformed message: {error}") from error
        try:
            reply = decode_answer(data)
        except msgspec.MsgspecError as error:
            _close(descriptors)
            raise self._fail(f"the judge sent a malformed answer: {error}") from error
        if isinstance(reply, kind):
            return reply, list(descriptors)
        _close(descriptors)
        if isinstance(reply, Trouble) and reply.crowded:
            raise BenchguardError(reply.text)
        if isinstance(reply, Trouble):
            raise UsageError(reply.text) if reply.usage else ProblemError(reply.text)
        raise self._fail(f"the judge answered with {type(reply).__name__}, expected {kind.__name__}")

    def _died(self) -> BenchguardError:
        wait_for_end(self._child, GRACE_SECONDS)
        kill_group(self._child)
        ended = describe_exit(self._child.returncode, last_words(self._errors.text()))
        return self._fail(f"the judge's process ended: {ended}. It runs the problem's code: look there first")

    def _hangs(self, seconds: float, awaited: str) -> BenchguardError:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._child.pid, signal.SIGABRT)  # faulthandler then prints a traceback
            wait_for_end(self._child, GRACE_SECONDS)
        kill_group(self._child)
        place = place_of_crash(self._errors.text())
        where = f", at {place}" if place else ""
        failure = self._fail(
            f"the judge did not answer within {seconds:.3g} s (waiting for {awaited}){where}; "
            "raise --timeout, or make the problem smaller"
        )
        failure.status = exit_status.TIMEOUT
        return failure

    def _fail(self, text: str) -> BenchguardError:
        """Kill the judge; all later calls raise the same error."""
        self._failure = BenchguardError(text)
        kill_group(self._child)
        return self._failure


class _Tail:
    """Keeps the end of a pipe's output. A thread reads it, so that writers never block."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        self._tail = b""
        self._thread = threading.Thread(target=self._read, name="judge's stderr", daemon=True)
        self._thread.start()

    def text(self) -> str:
        """The output of a process that has ended. Waits briefly, because an orphan may hold the pipe open."""
        self._thread.join(0.5)
        return self._tail.decode("utf-8", "replace")

    def close(self) -> None:
        self._thread.join(0.5)
        if not self._thread.is_alive():
            self._pipe.close()

    def _read(self) -> None:
        while data := os.read(self._pipe.fileno(), 1 << 16):
            self._tail = (self._tail + data)[-STDERR_BYTES:]


def last_words(stderr: str) -> str:
    """The last line of standard error; for a crash, its kind and place."""
    lines = [text for text in map(str.strip, stderr.splitlines()) if text]
    fatal = next((each for each in reversed(lines) if each.startswith("Fatal Python error")), None)
    if fatal is not None:
        place = place_of_crash(stderr)
        return f"{fatal} at {place}" if place else fatal
    return last_line(stderr)


def place_of_crash(stderr: str) -> str:
    """The innermost line of the problem's code in faulthandler's traceback."""
    dump = stderr[max(stderr.rfind("Fatal Python error"), 0) :]
    for path, number in _PLACE.findall(dump):
        if not is_library(path):
            return f"{path}:{number}"
    return ""


def is_library(path: str) -> bool:
    """Whether a file belongs to benchguard, to Python, or to an installed package."""
    return (
        path.startswith("<")
        or Path(path).is_relative_to(Path(__file__).parents[1])
        or Path(path).is_relative_to(Path(os.__file__).parent)
        or "site-packages" in path
    )


def _close(descriptors: Sequence[int]) -> None:
    for each in descriptors:
        os.close(each)
