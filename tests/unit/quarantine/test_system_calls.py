"""The filter of system calls alone, without landlock: what a quarantine can do to its user's other processes and files.

Every program runs without the filter too, where its calls have their effect.
"""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import pytest

from tests.conftest import ROOT

Filter = Literal["none", "own user", "shared user"]
USER = 64111
"""A user without processes: a test that fails changes nothing of other programs."""

NUMBERS = pytest.mark.skipif(os.uname().machine != "x86_64", reason="numbers of x86-64")

PROGRAM = """
import ctypes, errno, fcntl, json, os, pyseccomp, random, shutil, sys, tempfile, threading
from pathlib import Path
sys.path.insert(0, {root!r})
from benchguard.quarantine.sandbox import system_calls
libc = ctypes.CDLL(None, use_errno=True)
outside = Path({outside!r})
if os.geteuid() == 0:
    os.setresuid({user}, {user}, {user})
if {filter!r} != "none":
    libc.prctl(38, 1, 0, 0, 0)
    assert system_calls.confine(False, {filter!r} == "shared user")[0] == "on"
said = dict()
def tried(name, function):
    try:
        function()
        said[name] = "done"
    except OSError as error:
        said[name] = errno.errorcode[error.errno]
def call(name, *arguments):
    if getattr(libc, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), name)
descriptor = os.open(outside, os.O_RDONLY)
{body}
print(json.dumps(said), flush=True)
sys.stdin.read()
"""


@contextmanager
def running(body: str, filtered: Filter, outside: Path) -> Iterator[dict[str, str]]:
    """The results of the program, which lives until the end of the block."""
    program = PROGRAM.format(root=str(ROOT), outside=str(outside), user=USER, filter=filtered, body=body)
    words = [sys.executable, "-I", "-c", program]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as child:
        assert child.stdout is not None
        yield json.loads(child.stdout.readline())


def results(body: str, filtered: Filter, outside: Path) -> dict[str, str]:
    with running(body, filtered, outside) as output:
        return output


@pytest.fixture
def outside() -> Iterator[Path]:
    """A file of another program of the same user."""
    with tempfile.TemporaryDirectory(prefix="neutrino-outside-") as name:
        path = Path(name) / "outside"
        path.write_text("untouched")
        os.utime(path, (1000, 1000))
        if os.geteuid() == 0:
            for each in (path.parent, path):
                os.chown(each, USER, USER)
        yield path


PRIORITIES = """
tried("user", lambda: call("setpriority", 2, 0, libc.getpriority(2, 0)))
tried("group", lambda: call("setpriority", 1, 0, libc.getpriority(1, 0)))
tried("itself", lambda: call("setpriority", 0, 0, libc.getpriority(0, 0)))
tried("disk of user", lambda: call("syscall", 251, 3, os.getuid(), 2 << 13 | 4))
"""


@NUMBERS
@pytest.mark.parametrize("filtered", ["own user", "shared user"])
def test_priorities_of_user_and_group_unchanged(outside: Path, filtered: Filter) -> None:
    assert results(PRIORITIES, filtered, outside) == {
        "user": "EPERM", "group": "EPERM", "itself": "done", "disk of user": "EPERM"
    }  # fmt: skip
    assert set(results(PRIORITIES, "none", outside).values()) == {"done"}


TIMES = """
tried("times", lambda: os.utime(outside, (5, 5)))
tried("by descriptor", lambda: os.utime(descriptor, (5, 5)))
tried("present", lambda: os.utime(outside))
"""


def test_times_of_outside_file_unchanged(outside: Path) -> None:
    assert results(TIMES, "shared user", outside) == {
        "times": "done", "by descriptor": "done", "present": "EPERM"
    }  # fmt: skip
    assert outside.stat().st_mtime == 1000
    assert set(results(TIMES, "none", outside).values()) == {"done"}
    assert outside.stat().st_mtime != 1000


LOCKS = """
tried("flock", lambda: fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB))
tried("record lock", lambda: fcntl.lockf(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB))
"""


@pytest.mark.parametrize("filtered", ["none", "shared user"])
def test_outside_file_lockable_by_others(outside: Path, filtered: Filter) -> None:
    with running(LOCKS, filtered, outside) as output, outside.open("r+") as stream:
        assert output == {"flock": "done", "record lock": "done"}
        for lock in (fcntl.flock, fcntl.lockf):
            if filtered == "none":
                with pytest.raises(BlockingIOError):
                    lock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            else:
                lock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)


HUGE = """
libc.mmap.restype = ctypes.c_long
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
def mapped(flags):
    if libc.mmap(None, 1 << 21, 3, flags, -1, 0) == -1:
        raise OSError(ctypes.get_errno(), "mmap")
tried("huge", lambda: mapped(0x2 | 0x20 | 0x4000 | 0x40000))
tried("huge with a size", lambda: mapped(0x2 | 0x20 | 0x4000 | 0x40000 | 21 << 26))
tried("huge file", lambda: os.memfd_create("x", os.MFD_HUGETLB))
tried("small", lambda: mapped(0x2 | 0x20))
tried("small file", lambda: os.memfd_create("x"))
"""


@pytest.mark.parametrize("filtered", ["own user", "shared user"])
def test_pages_of_the_machines_huge_pool_are_denied(outside: Path, filtered: Filter) -> None:
    without = results(HUGE, "none", outside)
    assert results(HUGE, filtered, outside) == {
        "huge": "ENOMEM", "huge with a size": "ENOMEM", "huge file": "ENOMEM", "small": "done", "small file": "done"
    }  # fmt: skip
    assert without["huge file"] == "done"


OBJECTS = """
tried("lease", lambda: fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_WRLCK))
tried("notify", lambda: fcntl.fcntl(os.open(outside.parent, os.O_RDONLY), fcntl.F_NOTIFY, fcntl.DN_ACCESS))
tried("signal", lambda: fcntl.fcntl(descriptor, fcntl.F_SETOWN, os.getpid()))
flags = ctypes.c_long()
call("ioctl", descriptor, 0x80086601, ctypes.byref(flags))
tried("flags", lambda: call("ioctl", descriptor, 0x40086602, ctypes.byref(flags)))
context = ctypes.c_ulong()
tried("asynchronous", lambda: call("syscall", 206, 1, ctypes.byref(context)))
tried("inotify", lambda: call("inotify_init1", 0))
"""


@NUMBERS
def test_leases_and_flags_of_files_and_shared_limits_denied(outside: Path) -> None:
    assert set(results(OBJECTS, "shared user", outside).values()) == {"EPERM"}
    own = results(OBJECTS, "own user", outside)
    assert own.pop("inotify") == "done"
    assert set(own.values()) == {"EPERM"}
    assert set(results(OBJECTS, "none", outside).values()) == {"done"}


HONEST = """
folder = Path(tempfile.mkdtemp())
(folder / "new").touch()
assert (folder / "new").exists()
shutil.copytree(folder, folder.with_suffix(".copy"))
for _ in range(2):
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        fcntl.lockf(lock, fcntl.LOCK_EX)
assert os.system(f"touch {folder}/new {folder}/other && cp -p {folder}/new {folder}/kept") == 0
fcntl.fcntl(descriptor, fcntl.F_SETFD, fcntl.FD_CLOEXEC)
os.nice(0)
thread = threading.Thread(target=lambda: os.sched_setaffinity(0, os.sched_getaffinity(0)))
thread.start()
thread.join()
shutil.rmtree(folder)
tried("all", lambda: None)
"""


@pytest.mark.parametrize("filtered", ["own user", "shared user"])
def test_honest_use_of_times_and_locks_works(outside: Path, filtered: Filter) -> None:
    assert results(HONEST, filtered, outside) == {"all": "done"}
