"""Programs that wait for their work: they get it, they are replaced if they are killed, and none is left."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from benchguard.capture import Capture
from benchguard.grade.grade import grade
from benchguard.ipc import libc
from benchguard.ipc.processes import process_start
from benchguard.problem.spec import CaseSpec
from benchguard.quarantine.contract import Confine, Reading
from benchguard.quarantine.group import Group
from benchguard.quarantine.quarantine import READING
from benchguard.quarantine.raw_captures import Reader, read_all
from benchguard.quarantine.sandbox import identity
from benchguard.quarantine.work import receive_work, send_work
from benchguard.replay import worker
from benchguard.replay.binding import open_driver
from benchguard.replay.buffers import Buffers
from benchguard.replay.confined import WaitingReplay
from benchguard.replay.contract import EngineError
from benchguard.replay.convergence import Count
from benchguard.replay.options import ReplayOptions
from benchguard.replay.protocol import NO_DRIVER, Limits, OpenDriver, Options, Request, encode
from benchguard.replay.replay import replay_buffers
from benchguard.replay.result import ReplayResult
from benchguard.replay.target import target_of
from tests.conftest import ROOT
from tests.integration.test_reader_taken_over import written_pair
from tests.support.captures import CAPTURES
from tests.support.waiting import wait_until

PR_SET_NO_NEW_PRIVS = 38


def test_work_with_more_descriptors_than_one_message_takes_arrives() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, tempfile.TemporaryFile() as file:
        numbers = [os.dup(file.fileno()) for _ in range(450)]
        try:
            send_work(ours, b'"what"', numbers)
        finally:
            for each in numbers:
                os.close(each)
        work = receive_work(theirs)
        try:
            assert work.argument == b'"what"' and list(work.descriptors) == numbers
            assert all(os.path.sameopenfile(each, file.fileno()) for each in set(work.descriptors.values()))
            assert len(set(work.descriptors.values())) == 450
        finally:
            for each in work.descriptors.values():
                os.close(each)


@pytest.fixture
def reader(native: Path) -> Iterator[Reader]:
    assert native
    with Reader(Confine("", (), memory_bytes=1 << 30), "", "any") as waiting:
        yield waiting


def answer_of(reader: Reader) -> list[bytes]:
    """The reader's answer to work that it cannot do."""
    lines: list[bytes] = []

    def handle(line: bytes) -> bool:
        lines.append(line)
        return True

    work = Reading((), (), (CaseSpec("none", ()),), time.monotonic() + 60)
    assert not reader.work(msgspec.json.encode(work), (), handle, work.deadline).trouble
    return lines


ANSWER = [b'{"event":"unreadable","text":"region 0/0 was not recorded"}']


def test_program_without_work_ends_with_its_context_and_leaves_nothing(native: Path) -> None:
    assert native
    with Reader(Confine("", ()), "", "any") as reader:
        reader.start()
        keeper, base = reader.keeper, reader.scratch.parent
        assert process_start(keeper) is not None and base.exists()
    assert process_start(keeper) is None
    wait_until(lambda: not base.exists())


def test_waiting_program_gets_its_work(reader: Reader) -> None:
    reader.start()
    keeper = reader.keeper
    assert answer_of(reader) == ANSWER and reader.keeper == keeper


def test_killed_program_is_replaced_when_its_work_comes(reader: Reader) -> None:
    reader.start()
    killed = reader.keeper
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: process_start(killed) is None)
    assert answer_of(reader) == ANSWER and reader.keeper != killed


def test_program_is_started_anew_for_each_work(reader: Reader) -> None:
    assert answer_of(reader) == answer_of(reader) == ANSWER


def test_reader_has_another_user_than_the_submission(reader: Reader) -> None:
    """The end of a quarantine kills all processes of the submission's user."""
    if os.geteuid() != 0:
        pytest.skip("only root can give a sandbox a user of its own")
    with identity.claimed_user() as submissions, reader.program(0) as program:
        assert program.order.confine.user not in (None, submissions)


def test_reader_that_waited_packs_as_one_that_did_not(reader: Reader, folder: Path) -> None:
    (folder / "raw").mkdir()
    written_pair(folder / "raw")
    order = Reading((), ("cuInit",), (CaseSpec("small", ()),), time.monotonic() + 60)
    for target in (folder / "started", folder / "waited"):
        target.mkdir()
        packed = read_all(folder / "raw", target, order, reader)
        assert packed.trouble == ""
        for number, path in enumerate(packed.captures[0]):
            with Capture.open(path) as capture:
                assert capture.meta["region"] == f"0/{number}"
        reader.start()


@pytest.mark.parametrize("prepared", ["not started", "waits", "has the driver open", "was killed"])
def test_replay_that_waited_has_the_verdict_of_one_that_did_not(folder: Path, prepared: str) -> None:
    result, keeper = replayed(folder, prepared)
    assert result.verdict == "pass" and result.verified, result.reason
    assert len(result.table) == 5 and process_start(keeper) is None


def replayed(folder: Path, prepared: str) -> tuple[ReplayResult, int]:
    capture = CAPTURES["saxpy"](folder / "x.ncap")
    options = ReplayOptions(driver="sim", strict=True, verify=True, samples=5)
    with WaitingReplay(target_of("cuda", "sim"), 0, "any") as waiting:
        if prepared != "not started":
            waiting.start()
        if prepared == "has the driver open":
            waiting.open_driver()
            assert waiting.hear(60)
        if prepared == "was killed":
            os.kill(waiting.keeper, signal.SIGKILL)
            wait_until(lambda: process_start(waiting.keeper) is None)
        result = replay_buffers(capture, options, Buffers(), waiting=waiting)
        return result, waiting.keeper


def test_waiting_replay_without_the_driver_reports_its_absence_with_the_request(folder: Path) -> None:
    capture = CAPTURES["saxpy"](folder / "x.ncap")
    target = target_of("cuda", "sim")
    options = ReplayOptions(driver="sim", strict=True, samples=5, device=7)
    with WaitingReplay(target, 7, "any") as waiting:
        waiting.start()
        waiting.open_driver()
        assert waiting.hear(60)
        result = replay_buffers(capture, options, Buffers(), waiting=waiting)
    assert result.verdict == "error" and "device 7 does not exist" in result.reason


def test_request_that_comes_while_the_driver_opens_is_answered(folder: Path) -> None:
    """The supervisor does not wait for the driver, and closes its end of the socket when it has sent the request."""
    capture = CAPTURES["saxpy"](folder / "x.ncap").open("rb")
    ours, theirs = socket.socketpair()
    request = Request(capture.fileno(), "", Options(), Limits(0, 0, 0, 0), Count(1), 0.0, None, False, False)
    with capture, ours:
        send_work(ours, encode(OpenDriver(target_of("cuda", "sim").library, 0, 1)))
        send_work(ours, encode(request), [capture.fileno()])
    received, siblings = worker._awaited(theirs.detach(), ())
    assert not siblings
    assert os.pread(received.capture, 8, 0) == b"NCAPTURE" and received.rule == request.rule
    os.close(received.capture)


@pytest.mark.parametrize(("source", "reads"), [(".version 8.0", False), (None, True)])
def test_captures_are_read_and_a_context_is_made_only_after_success(
    folder: Path, source: str | None, reads: bool
) -> None:
    problems = ROOT / "examples" / "problems"
    submission = problems / "submissions" / "vector_add" / "kernel.ptx"
    if source is not None:
        submission = folder / "broken.ptx"
        submission.write_text(source)
    phases: list[str] = []
    grade(
        problems / "vector_add.py", submission, driver="sim", progress=lambda each: phases.append(each.phase)
    )
    assert "compile" in phases and (READING in phases) == reads


def test_driver_that_is_not_there_cannot_be_opened(native: Path) -> None:
    assert native
    with pytest.raises(EngineError, match="no driver") as error:
        open_driver("/nowhere/libcuda.so.1", 0)
    assert error.value.status == NO_DRIVER


def test_keeper_that_is_left_out_survives_the_end_of_another_group() -> None:
    """In a container without new privileges a keeper looks like an orphan of the submission's."""
    with subprocess.Popen(["true"]) as keeper:
        keeper.wait()
    group = Group(64)  # it knows the children that were there before it
    killed, kept = _process_without_privileges(), _process_without_privileges()
    with group:
        group.leave_out(kept)
        assert group.end(keeper.pid) == ()
    assert process_start(killed) is None and process_start(kept) is not None
    os.kill(kept, signal.SIGKILL)
    os.waitpid(kept, 0)


def _process_without_privileges() -> int:
    child = os.fork()
    if child == 0:
        os.setsid()
        libc.prctl(PR_SET_NO_NEW_PRIVS, 1)
        while True:
            signal.pause()
    wait_until(lambda: b"NoNewPrivs:\t1" in Path(f"/proc/{child}/status").read_bytes())
    return child
