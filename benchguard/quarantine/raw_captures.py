"""Have the raw captures that a quarantine left read in a second sandbox. The submission could write to their folder."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from ..capture import CaptureError
from ..errors import BenchguardError
from ..ipc.lines import LineError
from ..ipc.text import describe_exit, last_line, one_line
from .attend import Attendant
from .contract import READER_LINE_MAX, Broke, Confined, ReadCase, ReaderEvent, Reading, Unreadable
from .group import Group
from .reader import name_of
from .sandbox.environment import WORK, quarantine_environment
from .start import Sandbox, command, request
from .watch import Watch

_NAME = re.compile(r"[0-9]{1,10}-[0-9]{1,10}\.nrec", re.ASCII)
_ENTRIES_MAX = 4096


@dataclass(frozen=True)
class Packed:
    """`captures` and `examined` are by case; `trouble` gives the reason if captures are missing."""

    captures: tuple[tuple[Path, Path], ...] = ()
    examined: tuple[str, ...] = ()
    trouble: str = ""
    timed_out: bool = False


def read_all(source: Path, target: Path, order: Reading, sandbox: Sandbox) -> Packed:
    """Pack the raw captures in `source` into `target`, and examine them, until `order.deadline`.

    `order` lacks descriptors; its scratch folder is made here. All processes that wrote to `source` must have ended.
    Invalid contents are reported, not raised. Raises BenchguardError if the sandbox does not start.
    """
    with ExitStack() as stack:
        try:
            descriptors = stack.enter_context(_opened(source, 2 * len(order.cases)))
        except CaptureError as error:
            return Packed(trouble=str(error))
        if not order.cases:
            return Packed()
        scratch = Path(order.confine.scratch)
        scratch.mkdir(mode=0o700)
        return _Reader(msgspec.structs.replace(order, descriptors=tuple(descriptors)), target).run(sandbox)


@contextmanager
def _opened(folder: Path, most: int) -> Iterator[list[int]]:
    """Descriptors of the raw captures, sorted by name. Raises CaptureError."""
    descriptors: list[int] = []
    try:
        for path in _raw_captures(folder, most):
            descriptors.append(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK))
    except OSError as error:
        raise CaptureError(f"the raw captures cannot be read: {error.strerror}") from error
    else:
        yield descriptors
    finally:
        for each in descriptors:
            os.close(each)


def _raw_captures(folder: Path, most: int) -> list[Path]:
    found = []
    if not stat.S_ISDIR(folder.lstat().st_mode):
        raise CaptureError("the folder for raw captures was replaced by something else")
    with os.scandir(folder) as entries:
        for count, entry in enumerate(entries):
            if count >= _ENTRIES_MAX:
                raise CaptureError(f"the folder for raw captures has more than {_ENTRIES_MAX} files")
            if _NAME.fullmatch(entry.name):
                found.append(Path(entry.path))
    for path in found:
        if not _is_plain(path):
            raise CaptureError(f"the raw capture {path.name} is a link, or not a regular file")
    if len(found) > most:
        raise CaptureError(f"{len(found)} regions were recorded, {most} were asked for")
    return sorted(found)


def _is_plain(path: Path) -> bool:
    status = path.lstat()
    return stat.S_ISREG(status.st_mode) and status.st_nlink == 1


@dataclass
class _Reader:
    """The reader's process, its events and its limits."""

    order: Reading
    target: Path
    examined: list[str] = field(default_factory=list)
    trouble: str = ""
    _is_confined: bool = False

    def run(self, sandbox: Sandbox) -> Packed:
        confine = self.order.confine
        scratch = Path(confine.scratch)
        with ExitStack() as stack:
            events, events_theirs = _pipe(stack)
            output, output_theirs = _pipe(stack)
            group = stack.enter_context(Group(confine.processes))
            watch = Watch(confine.memory_bytes, confine.processes, scratch, "reading the raw captures")
            deadline = self.order.deadline
            attendant = Attendant(
                events, output, deadline, self._handle, watch, group, line_max=READER_LINE_MAX
            )
            try:
                child = subprocess.Popen(
                    command(events_theirs, sandbox, group),
                    env=quarantine_environment(os.environ, scratch, Path()),
                    cwd=scratch,
                    stdin=stack.enter_context(request(self.order)),
                    stdout=output_theirs,
                    stderr=output_theirs,
                    pass_fds=[events_theirs, *self.order.descriptors],
                    start_new_session=True,
                )
            except OSError as error:
                raise BenchguardError(f"the reader of raw captures cannot start: {error.strerror}") from error
            status, left = attendant(child)
        if attendant.timed_out or time.monotonic() > deadline:
            return Packed(trouble="the raw captures were not read before the time-out", timed_out=True)
        ended = describe_exit(128 - status if status > 128 else status, last_line(attendant.text))
        trouble = attendant.excess or attendant.trouble or self.trouble
        if not trouble and (left or not self._is_confined or len(self.examined) != len(self.order.cases)):
            trouble = f"the reader of raw captures ended early: {ended}"
        return Packed(trouble=trouble) if trouble else Packed(self._moved(scratch), tuple(self.examined))

    def _handle(self, line: bytes) -> bool:
        try:
            event = msgspec.json.decode(line, type=ReaderEvent)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise LineError(f"the reader sent a malformed event: {one_line(str(error), 200)}") from None
        if isinstance(event, Confined):
            self._is_confined = True
        elif isinstance(event, ReadCase):
            self.examined.append(event.examined)
        elif isinstance(event, Unreadable | Broke):
            self.trouble = self.trouble or one_line(event.text)
        return len(self.examined) <= len(self.order.cases)

    def _moved(self, scratch: Path) -> tuple[tuple[Path, Path], ...]:
        """Take the captures from the reader, all of whose processes have ended."""
        pairs = []
        for case in range(len(self.order.cases)):
            one, two = (self._move(scratch / WORK / name_of(case, number)) for number in (0, 1))
            pairs.append((one, two))
        return tuple(pairs)

    def _move(self, path: Path) -> Path:
        if not _is_plain(path):
            raise CaptureError(f"the reader left no file {path.name}")
        os.chown(path, os.geteuid(), os.getegid())
        path.chmod(0o600)
        return Path(shutil.move(path, self.target / path.name))


def _pipe(stack: ExitStack) -> tuple[int, int]:
    ends = os.pipe()
    for each in ends:
        stack.callback(os.close, each)
    return ends
