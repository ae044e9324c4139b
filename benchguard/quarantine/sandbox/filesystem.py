"""Which files the quarantine reaches: what a program, a compiler and a GPU need to read, and one folder to write."""

from __future__ import annotations

import os
import shutil
import site
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import landlock
from .landlock import DEVICE, NAMED, READ, WRITE, Ruleset

SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/usr", "/opt", "/nix/store", "/gnu/store")

# Not all of /etc: what root may read there, a quarantine that had to stay root may too.
ETC = (
    "alternatives",
    "group",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "nsswitch.conf",
    "os-release",
    "passwd",
)
ETC_NETWORK = ("hosts", "resolv.conf", "ssl", "ca-certificates", "pki", "host.conf", "gai.conf", "services")

# Not all of /proc: command lines of others are nobody's business. `self` is this very process's: what it starts has
# the rest.
PROC = (
    "cgroups",
    "cmdline",
    "cpuinfo",
    "devices",
    "driver",
    "filesystems",
    "loadavg",
    "meminfo",
    "modules",
    "self",
    "stat",
    "sys",
    "uptime",
    "version",
    "vmstat",
)
SYS = ("bus", "class", "devices", "dev", "fs/cgroup", "kernel/mm", "module")

THREADS = "/proc/self/task"
"""A CUDA driver names its threads in `comm` there, and cuInit fails where it cannot (driver 580.159.04). `mem` is there
too: another user than root cannot open it, since the process is not dumpable."""

DEVICES = ("null", "zero", "full", "random", "urandom")
GPU_DEVICES = ("nvidia*", "nvidia-caps/*", "dri/renderD*", "kfd", "dxg")
# /dev/shm is not among them: all users write there, so one submission could leave a word for the next.


@dataclass(frozen=True)
class Places:
    """`needed` are those without which nothing runs."""

    readable: tuple[str, ...]
    needed: tuple[str, ...]
    devices: tuple[str, ...]


def places(extra: Sequence[str], network: bool) -> Places:
    """Of this machine and this Python; `extra` are the submission and the shim."""
    python = _python()
    system = [*SYSTEM, *(f"/etc/{name}" for name in (*ETC, *(ETC_NETWORK if network else ())))]
    kernel = [*(f"/proc/{name}" for name in PROC), *(f"/sys/{name}" for name in SYS)]
    readable = [*system, *kernel, *_toolkits(), *_libraries(), *python, *extra]
    devices = [f"/dev/{name}" for name in DEVICES]
    devices += [str(path) for pattern in GPU_DEVICES for path in Path("/dev").glob(pattern)]
    found = dict.fromkeys(os.path.realpath(path) if path != "/proc/self" else path for path in readable)
    return Places(
        tuple(path for path in found if path != "/" and Path(path).exists()),
        tuple(dict.fromkeys(os.path.realpath(path) for path in (*python, *extra))),
        tuple(path for path in devices if Path(path).exists()),
    )


def confine(
    found: Places, scratch: str, hidden: Sequence[str], submission: Sequence[str], network: bool
) -> str:
    """The feature "filesystem": "on", or why not. For good, for this thread and all that it starts."""
    version = landlock.abi()
    if version == 0:
        return "landlock is not in this kernel, or not allowed here: every file of its user is within reach"
    buried = [place for place in hidden if place]
    try:
        rules = Ruleset(version, network)
        for place in found.readable:
            for path in beside(place, buried, submission):
                rules.allow(path, READ)
        for place in found.devices:
            rules.allow(place, DEVICE)
        rules.allow(scratch, WRITE)
        rules.allow(THREADS, NAMED)
        rules.restrict()
    except OSError as error:
        return f"landlock refused its rules: {error.strerror}"
    if version < landlock.ABI_TRUNCATE:
        return (
            f"landlock ABI {version} of this kernel does not keep files from being truncated, "
            f"{landlock.ABI_TRUNCATE} does"
        )
    return "on"


def beside(place: str, hidden: Sequence[str], always: Sequence[str] = ()) -> Iterator[str]:
    """What may be allowed of `place` so that nothing hidden is: itself, or what lies beside the hidden in it.

    What is strictly inside a hidden folder stays: a virtual environment, in the folder where a problem is too.
    """
    if place in always:
        yield place
        return
    within = [each for each in hidden if each == place or each.startswith(place.rstrip("/") + "/")]
    if not within:
        yield place
        return
    if place in within:
        return
    try:
        with os.scandir(place) as entries:
            names = [entry.path for entry in entries if not entry.is_symlink()]
    except OSError:
        return
    for path in names:
        yield from beside(path, within, always)


def _python() -> list[str]:
    """Its own folders, those that it imports from, and this package."""
    package = Path(__file__).resolve().parents[2]
    folders = [sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix]
    folders += [str(Path(sys.executable).resolve().parent), *site.getsitepackages()]
    parent = str(package.parent)
    folders += [each for each in sys.path if each and os.path.realpath(each) != parent]
    return [*(each for each in folders if Path(each).exists()), str(package)]


_OF_TOOLKITS = ("nvvm", "lib/gcc", "lib/clang")
"""What tells a toolkit's folder from somebody's own with a `bin` in it."""


def _toolkits() -> list[str]:
    """CUDA, and the compilers that are not in the system's folders."""
    found = [os.environ[name] for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    found += map(str, Path("/usr/local").glob("cuda*"))
    for name in ("nvcc", "ptxas", os.environ.get("CC") or "cc", os.environ.get("CXX") or "c++"):
        path = shutil.which(name)
        if path:
            root = Path(path).resolve().parents[1]
            found.append(path)
            found += [str(root)] if any((root / part).is_dir() for part in _OF_TOOLKITS) else []
    return found


def _libraries() -> list[str]:
    return [path for path in os.environ.get("LD_LIBRARY_PATH", "").split(":") if path]
