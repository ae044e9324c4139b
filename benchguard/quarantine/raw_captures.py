"""Have the raw captures that a quarantine left read in a second sandbox. The submission could write to their folder."""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from ..capture import CaptureError
from ..ipc.json_text import UNREADABLE
from ..ipc.lines import LineError
from ..ipc.text import one_line
from .confined import Program, scratch_folder
from .contract import EVENTS_MAX, READER_LINE_MAX, Confine, ReadCase, ReaderEvent, Reading, ReadingStart, Task
from .reader import name_of
from .sandbox import identity
from .sandbox.environment import WORK, quarantine_environment
from .start import Sandbox
from .waiting import Waiting

_NAME = re.compile(r"([0-9]{1,10})-([0-9]{1,10})\.nrec", re.ASCII)
"""The process, and the number of the region in it."""
_ENTRIES_MAX = 4096


@dataclass(frozen=True)
class Packed:
    """`captures` and `examined` are by case; `trouble` gives the reason if captures are missing."""

    captures: tuple[tuple[Path, Path], ...] = ()
    examined: tuple[str, ...] = ()
    trouble: str = ""
    timed_out: bool = False


class Reader(Waiting):
    """The reader's process, which may start before the raw captures are there.

    `confine` has its permissions and limits, without a user and a scratch folder, which it gets when it starts.
    `examiner` is that of ReadingStart.
    """

    def __init__(self, confine: Confine, examiner: str, sandbox: Sandbox) -> None:
        super().__init__(sandbox)
        self._confine, self._examiner = confine, examiner
        self.scratch = Path()

    @contextmanager
    def program(self, channel: int) -> Iterator[Program]:
        with identity.claimed_user() as user, scratch_folder(user) as scratch:
            self.scratch = scratch
            start = ReadingStart(channel, self._examiner)
            yield Program(
                name="reading the raw captures",
                order=Task(
                    function="benchguard.quarantine.reader:main",
                    argument=msgspec.Raw(msgspec.json.encode(start)),
                    descriptors=(channel,),
                    confine=msgspec.structs.replace(self._confine, scratch=str(scratch), user=user),
                ),
                environment=quarantine_environment(os.environ, scratch, Path()),
                deadline=0.0,  # its work has one
                line_max=READER_LINE_MAX,
                lines_max=EVENTS_MAX,
            )


def read_all(source: Path, target: Path, order: Reading, reader: Reader) -> Packed:
    """Pack the raw captures in `source` into `target`, and examine them, until `order.deadline`.

    `order` lacks descriptors. All processes that wrote to `source` must have ended. Invalid contents are reported, not
    raised. Raises BenchguardError if the sandbox does not start.
    """
    with ExitStack() as stack:
        try:
            descriptors = stack.enter_context(_opened(source, 2 * len(order.cases)))
        except CaptureError as error:
            return Packed(trouble=str(error))
        if not order.cases:
            return Packed()
        return _Work(msgspec.structs.replace(order, raw_captures=tuple(descriptors)), target, reader).run()


@contextmanager
def _opened(folder: Path, most: int) -> Iterator[list[int]]:
    """Descriptors of the raw captures, in the order in which each process recorded. Raises CaptureError."""
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
    found: list[tuple[int, int, Path]] = []
    if not stat.S_ISDIR(folder.lstat().st_mode):
        raise CaptureError("the folder for raw captures was replaced by something else")
    with os.scandir(folder) as entries:
        for count, entry in enumerate(entries):
            if count >= _ENTRIES_MAX:
                raise CaptureError(f"the folder for raw captures has more than {_ENTRIES_MAX} files")
            if name := _NAME.fullmatch(entry.name):
                found.append((int(name[1]), int(name[2]), Path(entry.path)))
    paths = [path for *_, path in sorted(found)]
    for path in paths:
        if not _is_plain(path):
            raise CaptureError(f"the raw capture {path.name} is a link, or not a regular file")
    if len(paths) > most:
        raise CaptureError(f"{len(paths)} regions were recorded, {most} were asked for")
    return paths


def _is_plain(path: Path) -> bool:
    status = path.lstat()
    return stat.S_ISREG(status.st_mode) and status.st_nlink == 1


@dataclass
class _Work:
    """The reader's work and its events."""

    order: Reading
    target: Path
    reader: Reader
    examined: list[str] = field(default_factory=list)
    trouble: str = ""

    def run(self) -> Packed:
        ended = self.reader.work(
            msgspec.json.encode(self.order), self.order.raw_captures, self._handle, self.order.deadline
        )
        if ended.timed_out or time.monotonic() > self.order.deadline:
            return Packed(trouble="the raw captures were not read before the time-out", timed_out=True)
        trouble = ended.excess or ended.trouble or ended.refusal or self.trouble
        if not trouble and (ended.survived or len(self.examined) != len(self.order.cases)):
            trouble = f"the reader of raw captures ended early: {ended.describe()}"
        if trouble:
            return Packed(trouble=trouble)
        try:
            return Packed(self._moved(self.reader.scratch / WORK), tuple(self.examined))
        except CaptureError as error:
            why = str(error)
        except OSError as error:
            why = error.strerror or str(error)
        return Packed(trouble=f"the reader of raw captures left no captures: {one_line(why)}")

    def _handle(self, line: bytes) -> bool:
        try:
            event = msgspec.json.decode(line, type=ReaderEvent)
        except UNREADABLE as error:
            raise LineError(f"the reader sent a malformed event: {one_line(str(error), 200)}") from None
        if isinstance(event, ReadCase):
            self.examined.append(event.examined)
        else:
            self.trouble = self.trouble or one_line(event.text)
        return len(self.examined) <= len(self.order.cases)

    def _moved(self, work: Path) -> tuple[tuple[Path, Path], ...]:
        """Take the captures from the reader, all of whose processes have ended. Raises CaptureError, OSError.

        A reader that was taken over may have replaced files and folders by links, so none is followed.
        """
        pairs = []
        kind = os.O_DIRECTORY
        with _opened_as(kind, work.parent) as scratch, _opened_as(kind, work.name, scratch) as folder:
            for case in range(len(self.order.cases)):
                one, two = (self._move(name_of(case, number), folder) for number in (0, 1))
                pairs.append((one, two))
        return tuple(pairs)

    def _move(self, name: str, folder: int) -> Path:
        target = self.target / name
        with _opened_as(os.O_NONBLOCK, name, folder) as source:
            status = os.fstat(source)
            if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
                raise CaptureError(f"{name} is not a regular file with one name")
            os.fchown(source, os.geteuid(), os.getegid())
            os.fchmod(source, 0o600)
            try:
                os.rename(name, target, src_dir_fd=folder)
            except OSError as error:
                if error.errno != errno.EXDEV:
                    raise
                with os.fdopen(os.dup(source), "rb") as stream, target.open("xb") as copy:
                    target.chmod(0o600)
                    shutil.copyfileobj(stream, copy)
        return target


@contextmanager
def _opened_as(kind: int, path: str | Path, parent: int | None = None) -> Iterator[int]:
    """Open a file or folder, but no link. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | kind, dir_fd=parent)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
