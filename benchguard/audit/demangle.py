"""C++ names as people read them.

Kernel names are a hostile process's to choose, and demanglers are C code with a history of crashes on crafted
names. So the demangler runs in a process of its own; if it dies or stalls, names stay as they are.
"""

from __future__ import annotations

import resource
import select
import subprocess
import sys
from collections.abc import Iterable
from contextlib import closing
from typing import IO

import msgspec

ANSWER_SECONDS = 5.0
NAME_MAX = 8192
# Substitutions let a name of 240 bytes stand for 285 MB; a longer result is not used, nor made for long.
DEMANGLED_MAX = 32768
MEMORY_BYTES = 1 << 30


class Demangler:
    """Starts its process at the first mangled name. close() ends it."""

    def __init__(self) -> None:
        self._known: dict[str, str | None] = {}
        self._worker: subprocess.Popen[bytes] | None = None
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
        """The number of its process, while there is one."""
        worker = self._worker
        return worker.pid if worker is not None else None

    def close(self) -> None:
        if self._worker is not None:
            self._worker.kill()
            self._worker.communicate()
            self._worker = None

    def _ask(self, name: str) -> str | None:
        if self._worker is None:
            self._worker = subprocess.Popen(
                [sys.executable, "-m", __name__], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        requests, answers = self._worker.stdin, self._worker.stdout
        assert requests is not None and answers is not None
        try:
            requests.write(msgspec.json.encode(name) + b"\n")
            requests.flush()
            if not select.select([answers], [], [], ANSWER_SECONDS)[0]:
                raise TimeoutError
            return msgspec.json.decode(answers.readline(), type=str | None)
        except (OSError, TimeoutError, msgspec.DecodeError):
            self._dead = True
            self.close()
            return None


def readable_names(names: Iterable[str]) -> dict[str, str]:
    """Each name as a person reads it: demangled if it is mangled and the demangler knows it."""
    with closing(Demangler()) as demangler:
        return {name: demangler.demangle(name) or name for name in names}


def serve(requests: IO[bytes], answers: IO[bytes]) -> None:
    """The worker: one name a line in, its demangled form or null a line out."""
    try:
        import cxxfilt  # noqa: PLC0415 - fails where there is no libstdc++; only the worker needs it
    except (ImportError, OSError):
        cxxfilt = None
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
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


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
