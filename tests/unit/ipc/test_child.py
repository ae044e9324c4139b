"""Children that are killed, hang, or write invalid lines; none of their processes survives."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from benchguard.errors import BenchguardError
from benchguard.ipc.child import Ended, converse
from benchguard.ipc.lines import LineError
from tests.support.waiting import wait_until

LINE_MAX, LINES_MAX = 1 << 16, 20_000

HEAD = "import os, sys, time, signal; fd, parent = int(sys.argv[1]), int(sys.argv[2])\n"


def talk(
    program: str,
    seconds: float = 20.0,
    handle: Callable[[bytes], bool] | None = None,
    memory_max: int = 0,
) -> tuple[Ended, list[bytes]]:
    lines: list[bytes] = []

    def keep(text: bytes) -> bool:
        lines.append(text)
        return handle(text) if handle is not None else text != b"end"

    with Path(os.devnull).open("rb") as empty:
        ended = converse(
            [sys.executable, "-I", "-S", "-c", HEAD + program],
            environment={},
            stdin=empty.fileno(),
            descriptors=[],
            deadline=time.monotonic() + seconds,
            handle=keep,
            line_max=LINE_MAX,
            lines_max=LINES_MAX,
            memory_max=memory_max,
        )
    return ended, lines


def has_ended(pid: int) -> bool:
    """Whether a process is gone or a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_lines_handled_in_order() -> None:
    ended, lines = talk("os.write(fd, b'one\\ntw'); time.sleep(0.1); os.write(fd, b'o\\nend\\n')")
    assert lines == [b"one", b"two", b"end"]
    assert ended == Ended(0, False, "", "")


def test_lines_written_before_exit_read() -> None:
    _, lines = talk("os.write(fd, b'x\\n' * 20000); os._exit(3)")
    assert len(lines) == 20000


def test_killed_child_described() -> None:
    ended, _ = talk("print('about to go', file=sys.stderr, flush=True); os.kill(os.getpid(), 9)")
    assert ended.status == -9 and not ended.timed_out
    assert ended.describe() == "killed by SIGKILL; last output: about to go"


FILL = "memory = bytearray(b'x') * (256 << 20); os.write(fd, b'filled\\n'); time.sleep({seconds})"


def test_child_above_memory_limit_killed() -> None:
    ended, _ = talk(FILL.format(seconds=60), memory_max=128 << 20)
    assert ended.used_bytes > 128 << 20
    assert ended.status == -9 and not ended.timed_out


def test_child_below_memory_limit_unharmed() -> None:
    ended, lines = talk(FILL.format(seconds=0.3), memory_max=1 << 30)
    assert (ended.used_bytes, ended.status, lines) == (0, 0, [b"filled"])


def test_silent_exit_described() -> None:
    ended, lines = talk("os._exit(7)")
    assert (ended.status, lines, ended.describe()) == (7, [], "exit status 7")


def test_silent_child_times_out() -> None:
    ended, _ = talk("time.sleep(60)", seconds=0.5)
    assert ended.timed_out and ended.status == -9


def test_babbling_child_times_out() -> None:
    ended, _ = talk("while True: os.write(fd, b'x\\n'); time.sleep(0.01)", seconds=0.5)
    assert ended.timed_out


def test_child_that_closes_its_pipes_killed() -> None:
    ended, _ = talk("os.close(fd); os.close(2); time.sleep(60)")
    assert ended.status == -9


def test_grandchild_killed_with_child(tmp_path: Path) -> None:
    """A grandchild that holds the pipe open neither keeps us waiting nor outlives us."""
    note = tmp_path / "pid"
    ended, lines = talk(
        f"pid = os.fork()\nif not pid: time.sleep(60)\nopen({str(note)!r}, 'w').write(str(pid)); os._exit(0)"
    )
    assert (ended.status, lines) == (0, [])
    wait_until(lambda: has_ended(int(note.read_text())))


def test_endless_line_refused() -> None:
    ended, lines = talk("while True: os.write(fd, b'x' * 65536)")
    assert ended.trouble == f"it wrote a line of more than {LINE_MAX} bytes"
    assert lines == []


def test_endless_lines_refused() -> None:
    ended, lines = talk("while True: os.write(fd, b'\\n' * 65536)")
    assert "more than" in ended.trouble and len(lines) == LINES_MAX


def test_invalid_line_ends_child() -> None:
    def refuse(_: bytes) -> bool:
        raise LineError("no event")

    ended, lines = talk("os.write(fd, b'garbage\\nmore\\n'); time.sleep(60)", handle=refuse)
    assert ended.trouble == "no event" and len(lines) == 1


def test_stderr_tail_bounded() -> None:
    ended, _ = talk("os.write(2, b'a' * 1000000 + b'\\nthe last\\n')")
    assert len(ended.stderr) <= 4096 and ended.describe().endswith("the last")


def test_interrupt_kills_child() -> None:
    pids = []

    def interrupt(text: bytes) -> bool:
        pids.append(int(text))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        talk("os.write(fd, b'%d\\n' % os.getpid()); time.sleep(60)", handle=interrupt)
    wait_until(lambda: has_ended(pids[0]))


def test_converse_works_in_thread() -> None:
    results: list[Ended] = []
    thread = threading.Thread(target=lambda: results.append(talk("os.write(fd, b'end\\n')")[0]))
    thread.start()
    thread.join(30)
    assert results and results[0].status == 0


def test_no_descriptor_leaked() -> None:
    talk("os.write(fd, b'end\\n')")
    before = sorted(os.listdir("/proc/self/fd"))  # noqa: PTH208 - descriptors, not paths
    talk("os.write(fd, b'end\\n')")
    talk("time.sleep(60)", seconds=0.1)
    assert sorted(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


def test_missing_program_reported() -> None:
    with Path(os.devnull).open("rb") as empty, pytest.raises(BenchguardError, match="cannot start"):
        converse(
            ["/no/such/program"],
            environment={},
            stdin=empty.fileno(),
            descriptors=[],
            deadline=time.monotonic() + 1,
            handle=lambda _: True,
            line_max=1,
            lines_max=1,
        )


def test_child_dies_with_supervisor(tmp_path: Path) -> None:
    """The supervisor is killed, which nothing can handle; the worker must be gone too."""
    note = tmp_path / "pid"
    worker = (
        f"sys.path[:0] = {sys.path!r}\n"
        "from benchguard.ipc.processes import end_with\n"
        f"end_with(parent); open({str(note)!r}, 'w').write(str(os.getpid())); os.write(fd, b'x\\n'); time.sleep(60)"
    )
    supervisor = (
        f"import sys, os; sys.path[:0] = {sys.path!r}\n"
        "from benchguard.ipc.child import converse\n"
        f"converse([sys.executable, '-I', '-S', '-c', {HEAD + worker!r}], environment={{}}, stdin=0, "
        "descriptors=[], deadline=float('inf'), handle=lambda _: os.kill(os.getpid(), 9), line_max=9, lines_max=9)"
    )
    result = subprocess.run(
        [sys.executable, "-c", supervisor], check=False, timeout=240, stdin=subprocess.DEVNULL
    )
    assert result.returncode == -9
    wait_until(lambda: has_ended(int(note.read_text())))
