"""A reader of raw captures that hostile bytes took over: it leaves other things than captures, and ends as expected."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchguard.capture import Capture
from benchguard.capture.layout import PAGE, AllocationFlag, Kind, Vendor
from benchguard.capture.model import Device, Meta
from benchguard.problem.spec import CaseSpec
from benchguard.quarantine.contract import Confine, Reading
from benchguard.quarantine.private import remove
from benchguard.quarantine.raw_captures import Packed, Reader, read_all
from benchguard.quarantine.reader import SMALL_BYTES
from tests.support.raw_captures import RawCaptureWriter

ARENA = 0x300000000000
DEVICE = Device(Vendor.CUDA, 13000, 9, 0, 16, 1 << 20, 1 << 33, ARENA, 1 << 40, "00112233" * 4, "a GPU")
Read = Callable[..., Packed]


def written_pair(folder: Path) -> None:
    """The raw captures of a case."""
    for number in (0, 1):
        raw = RawCaptureWriter(region=number)
        raw.add(Kind.DEVICE, DEVICE)
        raw.add(Kind.META, Meta("region", f"0/{number}"))
        raw.run(Kind.BEFORE, ARENA, bytes([1]) * PAGE)
        raw.allocation(ARENA, PAGE, AllocationFlag.BEFORE | AllocationFlag.AFTER, 1)
        raw.end()
        raw.write(folder / f"1-{number}.nrec")


@pytest.fixture
def read(native: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Read]:
    """Read the raw captures of one case. The examiner, which runs in the reader, has this body."""
    assert native
    base = Path(tempfile.mkdtemp())
    base.chmod(0o755)
    for name in ("raw", "target", "modules"):
        (base / name).mkdir(mode=0o755)
    written_pair(base / "raw")
    monkeypatch.setenv("PYTHONPATH", str(base / "modules"))

    def run(
        body: str, target: Path | None = None, replayed: tuple[int, ...] = (), small: int = SMALL_BYTES
    ) -> Packed:
        (base / "modules" / "taken_over.py").write_text(
            f"import os, shutil\nfrom benchguard.quarantine import reader\nreader.SMALL_BYTES = {small}\n"
            f"def examine(*_):\n    name = 'case-0-1.ncap'\n    {body}\n    return 'facts'\n"
        )
        order = Reading(
            raw_captures=(),
            calls=("cuInit",),
            cases=(CaseSpec("small", ()),),
            deadline=time.monotonic() + 60,
            replayed=replayed,
        )
        confine = Confine("", (str(base / "modules"),), memory_bytes=1 << 30)
        with Reader(confine, "taken_over:examine", "any") as reader:
            return read_all(base / "raw", target or base / "target", order, reader)

    yield run
    remove(base)


def test_captures_of_an_honest_reader_are_taken(read: Read) -> None:
    result = read("pass")
    assert (result.trouble, result.examined) == ("", ('"facts"',))
    for number, path in enumerate(result.captures[0]):
        assert path.stat().st_mode & 0o777 == 0o600 and path.stat().st_uid == os.geteuid()
        with Capture.open(path) as capture:
            assert capture.meta["region"] == f"0/{number}"


@pytest.mark.parametrize(
    ("replayed", "small", "packed"),
    [
        ((), 0, [1, 1]),
        ((0,), PAGE - 1, [1, 0]),
        ((1,), PAGE - 1, [0, 1]),
        ((0,), PAGE, [1, 1]),
        ((1,), PAGE, [1, 1]),
    ],
)
def test_capture_that_is_not_replayed_has_memory_only_if_it_is_small(
    read: Read, replayed: tuple[int, ...], small: int, packed: list[int]
) -> None:
    runs = []
    for path in read("pass", replayed=replayed, small=small).captures[0]:
        with Capture.open(path) as capture:
            runs.append(len(capture.before))
            assert (AllocationFlag.BEFORE_UNKNOWN in capture.allocations[0].flags) is (runs[-1] == 0)
    assert runs == packed


def test_captures_are_taken_to_another_file_system(read: Read) -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        if Path(folder).stat().st_dev == Path(tempfile.gettempdir()).stat().st_dev:
            pytest.skip("/dev/shm is on the file system of temporary files")
        result = read("pass", Path(folder))
        assert [path.stat().st_mode & 0o777 for path in result.captures[0]] == [0o600, 0o600]
        with Capture.open(result.captures[0][1]) as capture:
            assert capture.meta["region"] == "0/1"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("os.unlink(name)", "No such file or directory"),
        ("os.unlink(name); os.symlink('/etc/passwd', name)", "Too many levels of symbolic links"),
        ("os.unlink(name); os.mkdir(name)", "not a regular file"),
        ("os.unlink(name); os.mkfifo(name)", "not a regular file"),
        ("os.link(name, 'other')", "not a regular file with one name"),
        ("here = os.getcwd(); os.rename(here, here + '2'); os.symlink(here + '2', here)", "Not a directory"),
        ("here = os.getcwd(); os.rename(here, here + '2')", "No such file or directory"),
        ("here = os.getcwd(); shutil.rmtree(here); open(here, 'w')", "Not a directory"),
    ],
    ids=["missing", "link", "folder", "pipe", "two names", "linked folder", "no folder", "file for a folder"],
)
def test_replaced_captures_are_a_reason(read: Read, body: str, why: str) -> None:
    result = read(body)
    assert result.captures == () and result.trouble.startswith(
        "the reader of raw captures left no captures: "
    )
    assert why in result.trouble and "\n" not in result.trouble
