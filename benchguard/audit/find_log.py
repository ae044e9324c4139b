"""Find the log of a process that is observed already: the log's writer shares memory with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..errors import BenchguardError, UsageError
from .chain import LogError
from .compact import read_lines
from .log import FORMAT

PROC = Path("/proc")
_BEGINNING = b'{"kind":"session","format":"' + FORMAT.encode()
_MEMORY = "/memfd:neutrino-bench"


def log_of(process: int) -> Path:
    """The log that the calls of a running process go to.

    Raises:
        UsageError: there is no such process, or it is not observed.
        BenchguardError: the log's writer cannot be found or read.
    """
    shared = _shared_memory(process)
    if not shared:
        raise UsageError(
            f"process {process} is not observed: it shares no memory with neutrino-bench; "
            "start it with `neutrino-bench -- COMMAND`"
        )
    for other in _processes():
        if other != process and shared & _memories_of(other):
            for path in _open_logs(other):
                return path
    raise BenchguardError(
        f"cannot find the log of process {process}: no process that may be read here writes it; "
        "run as the user that observes it, or give the path of its log"
    )


def _shared_memory(process: int) -> set[str]:
    try:
        return _memories(PROC / str(process) / "maps")
    except FileNotFoundError as error:
        raise UsageError(f"no process {process} is running; check the number") from error
    except OSError as error:
        raise BenchguardError(
            f"cannot read the memory map of process {process}: {error.strerror}; run as its user"
        ) from error


def _memories_of(process: int) -> set[str]:
    try:
        return _memories(PROC / str(process) / "maps")
    except OSError:
        return set()


def _memories(maps: Path) -> set[str]:
    """Device and inode of each session memory that is mapped."""
    fields = (line.split(maxsplit=5) for line in maps.read_text(errors="replace").splitlines())
    return {f"{words[3]} {words[4]}" for words in fields if len(words) > 5 and words[5].startswith(_MEMORY)}


def _processes() -> Iterator[int]:
    return (int(path.name) for path in PROC.iterdir() if path.name.isdigit())


def _open_logs(process: int) -> Iterator[Path]:
    try:
        descriptors = list((PROC / str(process) / "fd").iterdir())
    except OSError:
        return
    for descriptor in descriptors:
        try:
            path = descriptor.readlink()
            if path.is_file():
                with path.open("rb") as file:
                    if next(read_lines(file, str(path)), b"").startswith(_BEGINNING):
                        yield path
        except (OSError, LogError):
            continue
