"""A submission in quarantine on the CPU driver, and the same program without one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchguard.quarantine.contract import Cases, Quarantined
from benchguard.quarantine.quarantine import quarantine
from benchguard.quarantine.submission import submission_of
from benchguard.shim.interposer import interposer_for
from tests.support.case_source import Given

GOT = "GOT IT"
HEAD = """
import ctypes, os, sys, time, signal, subprocess, socket, mmap, resource
libc = ctypes.CDLL(None, use_errno=True)
def call(result):
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
def solution(): ...
"""
TRIED = """
try:
    attack()
    print("GOT IT", flush=True)
except (OSError, ValueError) as error:
    print("REFUSED", repr(error), flush=True)
"""


def program_of(attack: str, **values: object) -> str:
    """The body of attack(), with its values as names; it fails by an OSError."""
    arguments = "".join(f"{name} = {value!r}\n" for name, value in values.items())
    body = "".join(f"    {line}\n" for line in attack.strip().splitlines())
    return f"{HEAD}{arguments}def attack():\n{body}{TRIED}"


def confined(folder: Path, program: str, **options: Any) -> Quarantined:
    """The program as a submission to a problem without cases."""
    folder.mkdir(exist_ok=True)
    path = folder / "submission.py"
    path.write_text(program)
    interposer, _, _ = interposer_for("sim")
    options = {"timeout": 60, "memory_bytes": 4 << 30, **options}
    return quarantine(
        submission_of(path, None, None, "arguments"),
        Given(Cases(())),
        interposer=interposer,
        folder=folder,
        **options,
    )


def unconfined(program: str) -> str:
    """The output of the same program outside the sandbox."""
    words = [sys.executable, "-I", "-c", program]
    result = subprocess.run(words, capture_output=True, text=True, timeout=240, check=False)
    return result.stdout + result.stderr


VICTIM = """
import ctypes, sys, time
libc = ctypes.CDLL(None)
libc.prctl(0x59616d61, ctypes.c_ulong(2**64 - 1), 0, 0, 0)  # Yama: whoever wants may trace it
word = ctypes.create_string_buffer(b"untouched")
print(ctypes.addressof(word), flush=True)
sys.stdin.read()
print(word.value.decode(), flush=True)
"""


@dataclass
class Victim:
    """A process of ours, of whose memory one word is known."""

    process: subprocess.Popen[str]
    address: int

    @property
    def pid(self) -> int:
        return self.process.pid


@contextmanager
def victim() -> Iterator[Victim]:
    words = [sys.executable, "-I", "-c", VICTIM]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield Victim(process, int(process.stdout.readline()))
        finally:
            process.kill()
