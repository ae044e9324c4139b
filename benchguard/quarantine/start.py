"""The command and the request that start a sandboxed process."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal

import msgspec

from ..errors import UsageError
from ..ipc.memory_file import memory_file
from .contract import Order, Task
from .group import Group
from .sandbox import filesystem

# Python's -I does not search the package's folder, so the folder is on the path while the stage is imported.
_START = (
    "import os, sys; sys.path += sys.argv[2].split(os.pathsep) if sys.argv[2] else []; "
    "sys.path.insert(0, sys.argv[1]); from benchguard.quarantine.sandbox.stage import main; "
    "sys.path.remove(sys.argv[1]); main(sys.argv[3:])"
)

# -S: site-packages, whose .pth files run code, are not on the path.
_START_BARE = (
    "import os, sys; sys.path += sys.argv[1].split(os.pathsep); "
    "from benchguard.quarantine.sandbox.stage import main; main(sys.argv[2:])"
)

Sandbox = Literal["any", "full", "probe"]
"""any: run with the protections that this machine has. full: run only if all are on. probe: only report them."""


def check_unreadable(folder: Path) -> None:
    """Raises UsageError for a folder that later submissions could read."""
    place = folder.resolve()
    for readable in filesystem.places((), network=False, path=_python_path()).readable:
        if place.is_relative_to(readable):
            raise UsageError(
                f"{folder} lies in {readable}, which submissions can read: a later one could read what this grade "
                "leaves; name another folder"
            )


def _python_path() -> list[str]:
    """The folders of PYTHONPATH, without this package's own."""
    package = str(Path(__file__).resolve().parents[2])
    folders = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return [each for each in folders if each and os.path.realpath(each) != package]


def command(events: int, sandbox: Sandbox, group: Group, path: Sequence[str] | None = None) -> list[str]:
    """The command that starts the stage.

    It ignores PYTHON* variables and the user's folders, but finds all installed packages, including those on
    PYTHONPATH. With `path`, it finds only modules of those folders and of the standard library.
    """
    package = str(Path(__file__).resolve().parents[2])
    cgroup = str(group.cgroup or "")
    words = [str(events), str(os.getpid()), sandbox, cgroup]
    if path is not None:
        return [sys.executable, "-I", "-S", "-c", _START_BARE, os.pathsep.join(path), *words]
    return [sys.executable, "-I", "-c", _START, package, os.pathsep.join(_python_path()), *words]


def request(order: Order | Task) -> AbstractContextManager[int]:
    """A file in memory with the order, for the stage's standard input."""
    return memory_file("neutrino-order", msgspec.json.encode(order))
