"""Allow the quarantine to read the files that programs, compilers and GPUs need, and to write to one folder."""

from __future__ import annotations

import os
import shutil
import site
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import landlock, shared_memory
from .landlock import DEVICE, NAMED, READ, WRITE, Ruleset

SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/usr", "/opt", "/nix/store", "/gnu/store")

# Parts of /etc only: a quarantine that has to stay root could read root's secrets there.
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

# Parts of /proc only, so that other processes' command lines are hidden. `self` is resolved when the rule is made, so
# it covers this process but not its children.
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
"""A CUDA driver writes the names of its threads to `comm` there, and cuInit fails if it cannot (driver 580.159.04).
The folder contains `mem` too, which a user other than root cannot open because the process is not dumpable."""

DEVICES = ("null", "zero", "full", "random", "urandom")
GPU_DEVICES = ("nvidia*", "nvidia-caps/*", "dri/renderD*", "kfd", "dxg")
# The machine's /dev/shm is left out: all users can write there, so a submission could leave a message for the next one.


@dataclass(frozen=True)
class Places:
    """Places to allow. No program runs without those in `needed`."""

    readable: tuple[str, ...]
    needed: tuple[str, ...]
    devices: tuple[str, ...]


def places(extra: Sequence[str], network: bool, path: Sequence[str] | None = None) -> Places:
    """The places of this machine and this Python, and `extra`: the submission and the shim.

    `path` is the quarantine's sys.path besides the installed packages; None: this process's.
    """
    python = _python(sys.path if path is None else path)
    system = [*SYSTEM, *(f"/etc/{name}" for name in (*ETC, *(ETC_NETWORK if network else ())))]
    kernel = [*(f"/proc/{name}" for name in PROC), *(f"/sys/{name}" for name in SYS)]
    readable = [*system, *kernel, *_toolkits(), *_libraries(), *python, *extra]
    devices = [f"/dev/{name}" for name in DEVICES]
    devices += [str(path) for pattern in GPU_DEVICES for path in Path("/dev").glob(pattern)]
    paths = dict.fromkeys(os.path.realpath(path) if path != "/proc/self" else path for path in readable)
    return Places(
        tuple(path for path in paths if path != "/" and Path(path).exists()),
        tuple(dict.fromkeys(os.path.realpath(path) for path in (*python, *extra))),
        tuple(path for path in devices if Path(path).exists()),
    )


def confine(
    places_: Places,
    scratch: str,
    hidden: Sequence[str],
    submission: Sequence[str],
    network: bool,
    shared: bool = False,
) -> str:
    """Restrict this thread and its children for good; return "on", or the reason why the protection is off.

    `shared`: /dev/shm is the submission's own (shared_memory.py).
    """
    version = landlock.abi()
    if version == 0:
        return "this kernel has no landlock, or forbids it: the submission reaches every file of its user"
    buried = [place for place in hidden if place]
    try:
        rules = Ruleset(version, network)
        for place in places_.readable:
            for path in beside(place, buried, submission):
                rules.allow(path, READ)
        for place in places_.devices:
            rules.allow(place, DEVICE)
        rules.allow(scratch, WRITE)
        if shared:
            rules.allow(shared_memory.PLACE, WRITE)
        rules.allow(THREADS, NAMED)
        rules.restrict()
    except OSError as error:
        return f"landlock refused its rules: {error.strerror}"
    if version < landlock.ABI_TRUNCATE:
        return (
            f"this kernel has landlock ABI {version}, which does not prevent truncation of files; "
            f"{landlock.ABI_TRUNCATE} is needed"
        )
    return "on"


def beside(place: str, hidden: Sequence[str], always: Sequence[str] = ()) -> Iterator[str]:
    """Split `place` into paths that contain no hidden folder: `place` itself, or the entries beside hidden ones.

    A place strictly inside a hidden folder stays allowed, for example a virtual environment beside a problem.
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


def _python(path: Sequence[str]) -> list[str]:
    """Folders of the Python installation, of its packages, and of this package."""
    package = Path(__file__).resolve().parents[2]
    folders = [sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix]
    folders += [str(Path(sys.executable).resolve().parent), *site.getsitepackages()]
    parent = str(package.parent)
    folders += [each for each in path if each and os.path.realpath(each) != parent]
    return [*(each for each in folders if Path(each).exists()), str(package)]


_OF_TOOLKITS = ("nvvm", "lib/gcc", "lib/clang")
"""Folders that only toolkits have, unlike a user's own folder with a `bin` in it."""


def _toolkits() -> list[str]:
    """CUDA toolkits, and compilers outside the system's folders."""
    folders = [os.environ[name] for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    folders += map(str, Path("/usr/local").glob("cuda*"))
    for name in ("nvcc", "ptxas", os.environ.get("CC") or "cc", os.environ.get("CXX") or "c++"):
        path = shutil.which(name)
        if path:
            root = Path(path).resolve().parents[1]
            folders.append(path)
            folders += [str(root)] if any((root / part).is_dir() for part in _OF_TOOLKITS) else []
    return folders


def _libraries() -> list[str]:
    return [path for path in os.environ.get("LD_LIBRARY_PATH", "").split(":") if path]
