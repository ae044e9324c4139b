"""Processes that have a device open or mapped are found; others, such as compilers, are not."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchguard.gpu import users
from benchguard.gpu.users import HARMLESS, may_use_gpu, running_threads

DEVICE = 1
"""The major number of /dev/null and /dev/zero, which stand in for a GPU's files."""

OTHERS = [each for each in HARMLESS if each != DEVICE]
WAIT = "import sys, os, mmap; {}; print('ready', flush=True); sys.stdin.read()"


@pytest.fixture
def started(request: pytest.FixtureRequest) -> Iterator[int]:
    """A process that has run a line of Python, and waits. Its standard streams are pipes."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-I", "-c", WAIT.format(request.param)]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as child:
        assert child.stdout is not None and child.stdin is not None
        assert child.stdout.readline() == "ready\n"
        yield child.pid
        child.stdin.close()


@pytest.mark.parametrize("started", ["pass"], indirect=True)
def test_process_without_a_device_is_no_user(started: int) -> None:
    assert not may_use_gpu(started)
    assert not may_use_gpu(started, OTHERS)


OPENED = "device = os.open('/dev/null', os.O_RDWR)"
IN_A_THREAD = (
    "import ctypes, threading, time; libc = ctypes.CDLL(None); done = threading.Event(); "
    "run = lambda: (libc.unshare(0x400), os.open('/dev/null', os.O_RDWR), done.set(), time.sleep(60)); "
    "threading.Thread(target=run, daemon=True).start(); done.wait()"
)


@pytest.mark.parametrize("started", [OPENED, IN_A_THREAD], ids=["opened", "thread"], indirect=True)
def test_open_device_makes_a_user(started: int) -> None:
    """In a thread with descriptors of its own (unshare(2), CLONE_FILES), too."""
    assert may_use_gpu(started, OTHERS)
    assert not may_use_gpu(started)


def test_mapped_device_makes_a_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """A closed file whose memory stays mapped is enough to give work to a GPU."""
    monkeypatch.setattr(users, "HARMLESS_MAPPINGS", (b"/dev/shm/",))
    descriptor = os.open("/dev/zero", os.O_RDWR)
    mapped = mmap.mmap(descriptor, 4096, mmap.MAP_PRIVATE)
    os.close(descriptor)
    assert may_use_gpu(os.getpid())
    mapped.close()


def test_process_that_has_ended_is_no_user() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    assert not may_use_gpu(child.pid)
    assert running_threads(child.pid) == 0


def test_process_that_cannot_be_read_may_be_a_user(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Path) -> Iterator[Path]:
        raise PermissionError

    monkeypatch.setattr(Path, "iterdir", refuse)
    assert may_use_gpu(os.getpid())


@pytest.mark.parametrize("started", ["pass"], indirect=True)
def test_threads_that_wait_do_not_run(started: int) -> None:
    assert running_threads(os.getpid()) >= 1
    until = time.monotonic() + 10
    while running_threads(started) and time.monotonic() < until:
        time.sleep(0.01)
    assert running_threads(started) == 0
