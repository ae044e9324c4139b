"""A submission that wants its supervisor to hang, to break, or to take in what it should not: one reason, in time."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec
import pytest

from benchguard.capture.layout import RAW_CAPTURE, RAW_CAPTURE_MAGIC, VERSION
from benchguard.ipc.processes import process_start, with_descendants
from benchguard.problem.spec import CaseSpec
from benchguard.quarantine import quarantine as supervisor
from benchguard.quarantine.contract import Quarantined, Reading
from benchguard.quarantine.private import remove
from benchguard.quarantine.raw_captures import Packed, Reader
from tests.conftest import ROOT
from tests.integration.quarantining import HEAD, confined
from tests.support.waiting import wait_until

# Which descriptor is the events' is not said, but is easily found: the pipe that is neither output.
EVENTS = """
def is_pipe(number):
    try:
        return "pipe" in os.readlink(f"/proc/self/fd/{number}")
    except OSError:
        return False
events = next(number for number in range(3, 64) if is_pipe(number))
"""


@pytest.fixture(autouse=True)
def _native(native: Path) -> None:
    assert (native / "sim").is_dir()


def run(folder: Path, program: str, timeout: float = 20, **options: object) -> Quarantined:
    return confined(folder, HEAD + EVENTS + program, timeout=timeout, **options)


@pytest.mark.parametrize(
    "program",
    [
        "time.sleep(60)",
        "os.kill(os.getpid(), signal.SIGSTOP)",
        "for n in {*range(1, 32)} - {9, 19}: signal.signal(n, signal.SIG_IGN)\nwhile True: time.sleep(1)",
        "os.closerange(0, 64)\nwhile True: pass",
        "while True: os.write(1, b'x' * 65536)",
        "os.kill(-1, signal.SIGSTOP)\ntime.sleep(60)",
    ],
    ids=["sleeps", "stops itself", "ignores signals", "closes everything", "floods its output", "stops all"],
)
def test_endless_submission_is_killed(tmp_path: Path, program: str) -> None:
    result = run(tmp_path, program, timeout=3)
    assert result.timed_out and result.status == 124
    assert result.trouble == "" and result.captures == ()
    assert len(result.output) <= 1 << 16


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("while True: os.write(events, b'x' * 65536)", "a line of more than 65536 bytes"),
        ("while True: os.write(events, b'\\n')", "malformed event"),
        (
            'while True: os.write(events, b\'{"event":"began","phase":"import"}\\n\' * 99)',
            "more than 16384 lines",
        ),
        ("os.write(events, b'[' * 60000 + b'\\n'); time.sleep(60)", "malformed event"),
        ("os.write(events, b'\\xff\\xfe\\n'); time.sleep(60)", "malformed event"),
        ('os.write(events, b\'{"event":"confined","features":{}}\\n\'); time.sleep(60)', "out of turn"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "killed by SIGSEGV"),
        (
            "print('\\x1b[2J last words', flush=True); os._exit(3)",
            "exit status 3; last output: \\x1b[2J last words",
        ),
        ("os._exit(0)", "exit status 0"),
    ],
)
def test_hostile_submission_gives_one_reason(tmp_path: Path, program: str, why: str) -> None:
    result = run(tmp_path, program)
    assert why in result.trouble, result
    assert "\n" not in result.trouble and "\x1b" not in result.trouble + result.output
    assert not result.timed_out and result.captures == ()


def test_output_of_the_submission_becomes_one_line(tmp_path: Path) -> None:
    output = b'{"event":"broke","phase":"import","text":"one\\ntwo \\u001b[31m\\u202e"}\n'
    result = run(tmp_path, f"os.write(events, {output!r}); os._exit(1)")
    assert result.broke is not None
    assert result.broke.text == "one two \\x1b[31m\\u202e"


def test_forged_events_do_not_give_a_verdict(tmp_path: Path) -> None:
    """Two regions for an unknown case: the `finished` event does not match the raw captures."""
    folder = "captures = os.environ['NEUTRINO_CAPTURE']\n"
    write = folder + "open(captures + '/1-1.nrec', 'wb').write(b'x')\n"
    result = run(tmp_path, write)
    assert result.trouble == "1 regions were recorded, 0 were asked for"


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("os.symlink('/etc/passwd', captures + '/1-1.nrec')", "is a link, or not a regular file"),
        ("os.mkfifo(captures + '/1-1.nrec')", "is a link, or not a regular file"),
        ("os.mkdir(captures + '/1-1.nrec')", "is a link, or not a regular file"),
        (
            "open(captures + '/x', 'w'); os.link(captures + '/x', captures + '/1-1.nrec')",
            "is a link, or not a regular file",
        ),
        ("for n in range(5000): open(f'{captures}/{n}', 'w')", "more than 4096 files"),
        (
            "for n in range(3): open(f'{captures}/1-{n}.nrec', 'w')",
            "3 regions were recorded, 2 were asked for",
        ),
        ("os.rename(captures, captures + '2'); os.symlink('/tmp', captures)", "replaced by something else"),
        ("os.rename(captures, captures + '2')", "cannot be read: No such file or directory"),
        ("open(captures + '/1-1.nrec', 'wb').write(b'x' * 100)", "a raw capture is broken"),
        ("open(captures + '/1-1.nrec', 'wb').write(header + b'\\0' * 64)", "a raw capture is broken"),
        (
            "stream = open(captures + '/1-1.nrec', 'wb'); stream.write(header); stream.truncate(60 << 30)",
            "a raw capture is broken",
        ),
        ("pass", "region 0/0 was not recorded"),
    ],
)
def test_hostile_raw_captures_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, why: str
) -> None:
    header = _header()
    ask_for_one_case(monkeypatch)
    result = run(tmp_path, f"captures = os.environ['NEUTRINO_CAPTURE']\nheader = {header!r}\n{program}")
    assert why in result.trouble, result
    assert result.captures == () and "\n" not in result.trouble


def _header() -> bytes:
    return struct.pack("<QII", RAW_CAPTURE_MAGIC, VERSION, 1).ljust(RAW_CAPTURE.size, b"\0")


def ask_for_one_case(monkeypatch: pytest.MonkeyPatch, **changes: object) -> None:
    """Have the reader look for a case's raw captures, though the submission is not called."""
    read_all = supervisor.read_all

    def changed(source: Path, target: Path, order: Reading, reader: Reader) -> Packed:
        wanted = msgspec.structs.replace(order, cases=(CaseSpec("small", ()),), **changes)
        return read_all(source, target, wanted, reader)

    monkeypatch.setattr(supervisor, "read_all", changed)


def test_raw_captures_after_the_deadline_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask_for_one_case(monkeypatch, deadline=0.0)
    program = f"open(os.environ['NEUTRINO_CAPTURE'] + '/1-1.nrec', 'wb').write({_header()!r})"
    found = run(tmp_path, program)
    assert found.timed_out and "were not read before the time-out" in found.trouble


def test_very_deep_folder_tree_is_removed(tmp_path: Path) -> None:
    program = """
for each in range(3000):
    os.mkdir("d")
    os.chdir("d")
os.mkdir("locked")
os.chmod("locked", 0)
"""
    result = run(tmp_path, program)
    assert result.trouble == "", result
    assert not list(tmp_path.glob("neutrino-quarantine-*"))


def test_interrupt_in_progress_leaves_no_processes(tmp_path: Path) -> None:
    """An interrupt on our side."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    note = tmp_path / "run"
    note.mkdir()
    program = """
print(os.getpid(), flush=True)
os.write(events, b'{"event":"began","phase":"import"}\\n')
time.sleep(60)
"""
    before = set(with_descendants(os.getpid()))
    with pytest.raises(KeyboardInterrupt):
        run(note, program, progress=interrupt)
    assert set(with_descendants(os.getpid())) <= before


def test_killed_supervisor_leaves_no_processes(tmp_path: Path) -> None:
    """Not even what had left its session and ignores every signal that it may."""
    daemon = """
if os.fork() == 0:
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
time.sleep(60)
"""
    program = (
        "import pathlib, sys; from tests.integration.quarantining import HEAD, confined; "
        "confined(pathlib.Path(sys.argv[1]), HEAD + sys.argv[2], timeout=60)"
    )
    words = [sys.executable, "-c", program, str(tmp_path), daemon]
    folder = Path(tempfile.mkdtemp())  # where another user may get to, as to no folder of pytest's
    folder.chmod(0o711)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(folder)}
    with subprocess.Popen(words, cwd=ROOT, env=environment) as other:
        wait_until(lambda: len(with_descendants(other.pid)) >= 4)  # supervisor, keeper, submission, daemon
        started = with_descendants(other.pid)
        other.kill()
    wait_until(lambda: all(process_start(pid) is None for pid in started))
    remove(folder)
