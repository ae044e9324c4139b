"""Demangle C++ names.

A hostile process chooses kernel names, and demanglers are C code with a history of crashes on crafted names. The
demangler therefore runs in a separate, confined process; if that crashes or hangs, names stay mangled.
"""

from __future__ import annotations

import os
import select
import subprocess
import threading
import time
from collections.abc import Iterable
from contextlib import closing
from typing import IO

import msgspec

from ..ipc.compute_only import compute_only
from ..ipc.json_text import UNREADABLE
from ..ipc.own_python import own_python
from .kernel_name import display_name

ANSWER_SECONDS = 2.0
"""For all names together: a program may have thousands that take long."""

START_SECONDS = 5.0

NAME_MAX = 8192
# With substitutions a name of 240 bytes can expand to 285 MB. Longer results are dropped, and making them times out.
DEMANGLED_MAX = 32768
ANSWER_MAX = 6 * DEMANGLED_MAX + 3
"""Bytes of an answer: each character as \\uXXXX, quotation marks, and the end of the line."""

MEMORY_BYTES = 1 << 30

_SERVE = f"from {__name__} import serve; serve(sys.stdin.buffer, sys.stdout.buffer)"


class Demangler:
    """Starts the worker process at the first mangled name. Call close() at the end.

    When the worker has crashed, or has taken ANSWER_SECONDS, the other names stay mangled.
    """

    def __init__(self) -> None:
        self._left = ANSWER_SECONDS
        self._known: dict[str, str | None] = {}
        self._worker: subprocess.Popen[bytes] | None = None
        self._process: int | None = None
        self._starting = threading.Lock()
        self._dead = False

    def demangle(self, name: str) -> str | None:
        """The demangled name; None if it is not mangled, or nothing here can demangle it."""
        if not name.startswith("_Z") or len(name) > NAME_MAX or self._dead:
            return None
        if name not in self._known:
            self._known[name] = self._ask(name)
        return self._known[name]

    @property
    def process(self) -> int | None:
        """The worker's process number, also after its end; None if it never ran.

        Another thread that has listed the processes may ask which of them is the worker: the answer waits for a start
        in progress.
        """
        with self._starting:
            return self._process

    def close(self) -> None:
        if self._worker is not None:
            self._worker.kill()
            self._worker.communicate()
            self._worker = None

    def _ask(self, name: str) -> str | None:
        try:
            if self._worker is None:
                with self._starting:
                    self._worker = subprocess.Popen(
                        own_python(_SERVE), bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE
                    )
                    self._process = self._worker.pid
                assert self._worker.stdin is not None
                os.set_blocking(self._worker.stdin.fileno(), False)
                self._answer(self._worker, "_Z1fv", START_SECONDS)  # so that no hostile name has this time
            began = time.monotonic()
            answer = self._answer(self._worker, name, self._left)
            self._left = max(0.0, self._left - (time.monotonic() - began))
        except (OSError, TimeoutError, *UNREADABLE):
            self._dead = True
            self.close()
            return None
        return answer

    @staticmethod
    def _answer(worker: subprocess.Popen[bytes], name: str, seconds: float) -> str | None:
        assert worker.stdin is not None and worker.stdout is not None
        end = time.monotonic() + seconds
        request = msgspec.json.encode(name) + b"\n"
        if worker.stdin.write(request) != len(request):
            raise TimeoutError  # the pipe is full: the worker answers, but has stopped reading
        line = b""
        while (
            not line.endswith(b"\n") and len(line) <= ANSWER_MAX
        ):  # a hostile name may have taken the worker over
            if not select.select([worker.stdout], [], [], max(0.0, end - time.monotonic()))[0]:
                raise TimeoutError
            data = os.read(worker.stdout.fileno(), ANSWER_MAX)
            line += data
            if not data:
                break
        return msgspec.json.decode(line, type=str | None)


def readable_names(names: Iterable[str]) -> dict[str, str]:
    """The names as tables show them: demangled if they are mangled and the demangler knows them, without ABI tags."""
    with closing(Demangler()) as demangler:
        return {name: display_name(demangler.demangle(name) or name) for name in names}


def serve(requests: IO[bytes], answers: IO[bytes]) -> None:
    """The worker: reads one name per line, and writes its demangled form or null."""
    try:
        import cxxfilt  # noqa: PLC0415 - only the worker needs it, and it fails without libstdc++
    except (ImportError, OSError):
        cxxfilt = None
    compute_only(MEMORY_BYTES)
    for line in requests:
        name = msgspec.json.decode(line, type=str)
        demangled = None
        if cxxfilt is not None:
            try:
                demangled = cxxfilt.demangle(name)
            except cxxfilt.Error:
                demangled = None
        if demangled == name or (demangled is not None and len(demangled) > DEMANGLED_MAX):
            demangled = None
        answers.write(msgspec.json.encode(demangled) + b"\n")
        answers.flush()
