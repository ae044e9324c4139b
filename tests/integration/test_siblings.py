"""A replay in several processes: their samples, their ends, and the sandbox of each, on the CPU driver."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

import benchguard.replay.replay as module
from benchguard.ipc.processes import process_start, with_descendants
from benchguard.quarantine.confined import Program, run_confined, scratch_folder
from benchguard.quarantine.contract import Confine, Task
from benchguard.replay.buffers import Buffers, SharedInputs, SlotPool
from benchguard.replay.confined import WaitingReplay, environment_of
from benchguard.replay.options import ReplayOptions
from benchguard.replay.replay import replay_buffers
from benchguard.replay.result import ReplayResult
from benchguard.replay.target import target_of
from benchguard.replay.worker import folders
from tests.support.captures import CAPTURES, floats
from tests.support.waiting import wait_until
from tests.unit.replay.test_shared import ONE_USE, SETS, SLOTS, STRIDE, Checker, N, memory

SAMPLES = 40

PROBE = """
import json, os, socket

def found():
    def status(key):
        lines = open("/proc/self/status").read().splitlines()
        return next(line.split()[1] for line in lines if line.startswith(key + ":"))

    def refused(attempt):
        try:
            attempt()
        except OSError as error:
            return type(error).__name__
        return "allowed"

    return {
        "no new privileges": status("NoNewPrivs"),
        "system calls": status("Seccomp"),
        "hidden file": refused(lambda: open(HIDDEN).read()),
        "other file": refused(lambda: open(OTHER, "w")),
        "network": refused(lambda: socket.create_connection(("127.0.0.1", PORT), 1)),
        "names of its threads": refused(lambda: open("/proc/self/comm").read()),
    }

def main(argument, events):
    with socket.socket(fileno=int(argument)) as end:
        theirs = json.loads(end.recv(1 << 16))
    os.write(events, json.dumps([found(), theirs]).encode() + b"\\n")

def sibling(descriptor):
    with socket.socket(fileno=descriptor) as end:
        end.sendall(json.dumps(found()).encode())
"""


def replayed(
    folder: Path,
    processes: int,
    before: Callable[[WaitingReplay], None],
    during: Callable[[WaitingReplay, str], None] = lambda _, __: None,
) -> ReplayResult:
    """saxpy, in place: the judge sees that every sample's y is 2 x + y of its set."""
    capture = CAPTURES["saxpy"](folder / "x.ncap")
    places = {"x": (0, 4 * N), "y": (4 * N, 4 * N)}
    looked: list[tuple[int, int, bool]] = []

    def look(number: int, input_set: int, content: bytes) -> None:
        looked.append((number, input_set, content[: 4 * N] == floats([2.0 * input_set + 1] * N)))

    target = target_of("cuda", "sim")
    with (
        memory(SETS * STRIDE) as pool,
        memory(SLOTS * STRIDE) as outputs,
        WaitingReplay(target, 0, "any", processes) as waiting,
    ):
        for number in range(SETS):
            os.pwrite(pool, floats([float(number)] * N) + floats([1.0] * N), number * STRIDE)
        checker = Checker(outputs, STRIDE, look)
        checker.start()
        buffers = Buffers(
            inputs=SharedInputs(pool, SETS, ONE_USE, STRIDE, places),
            slots=SlotPool(outputs, SLOTS, STRIDE, {"y": (0, 4 * N)}, checker.announce, checker.release),
        )
        before(waiting)
        options = ReplayOptions(driver="sim", cold="none", strict=True, samples=SAMPLES, timeout=60)
        result = replay_buffers(
            capture,
            options,
            buffers,
            lambda progress: during(waiting, progress.phase),
            waiting=waiting,
            processes=processes,
        )
        assert process_start(waiting.keeper) is None
        os.close(checker.announce)
        checker.join(10)
        for descriptor in (checker.announced, checker.release, checker.releasing):
            os.close(descriptor)
    assert [number for number, _, _ in looked] == list(range(len(looked)))
    assert all(right for _, _, right in looked)
    return result


def family(waiting: WaitingReplay) -> list[int]:
    """The processes of a replay that waits: the keeper's child, then the siblings."""
    return with_descendants(waiting.keeper)[1:]


def not_started(_: WaitingReplay) -> None:
    pass


def with_contexts(waiting: WaitingReplay) -> None:
    waiting.start()
    waiting.open_driver()
    assert waiting.hear(60) and not waiting.uses_gpu


def with_one_context(waiting: WaitingReplay) -> None:
    waiting.wanted = 1
    with_contexts(waiting)


@pytest.mark.parametrize("before", [not_started, with_contexts, with_one_context])
@pytest.mark.parametrize("processes", [1, 3])
def test_every_process_takes_its_share_of_samples_and_its_outputs_are_right(
    native: Path, folder: Path, processes: int, before: Callable[[WaitingReplay], None]
) -> None:
    assert native
    result = replayed(folder, processes, before)
    assert result.verdict == "pass", result.reason
    counts = Counter(row.process for row in result.table)
    assert sorted(counts) == list(range(processes)) and sum(counts.values()) == SAMPLES
    assert max(counts.values()) <= -(-SAMPLES // processes) and result.settings.processes == processes
    assert sorted(row.input_set or 0 for row in result.table if row.one_use) == [3, 4, 5]


def test_siblings_without_room_for_their_states_end_before_the_replay(
    native: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert native
    monkeypatch.setattr(module, "TOGETHER_BYTES_MAX", 0)
    pids: list[int] = []

    def note(waiting: WaitingReplay) -> None:
        with_contexts(waiting)
        pids.extend(family(waiting))

    result = replayed(folder, 3, note)
    assert result.verdict == "pass" and {row.process for row in result.table} == {0}
    assert len(pids) == 3 and result.settings.processes == 1
    assert all(process_start(pid) is None for pid in pids)


ENDED = "a process of the replay ended; grade again, or with --placements 1"


def kill_last(waiting: WaitingReplay) -> None:
    with_contexts(waiting)
    last = family(waiting)[-1]
    os.kill(last, signal.SIGKILL)
    wait_until(lambda: Path(f"/proc/{last}/stat").read_text().split()[2] == "Z")


def test_sibling_that_was_killed_before_leaves_its_samples_to_the_others(native: Path, folder: Path) -> None:
    assert native
    result = replayed(folder, 3, kill_last)
    assert result.verdict == "pass" and {row.process for row in result.table} == {0, 1}
    assert f"one process fewer takes samples, because it could not be prepared: {ENDED}" in result.notes


def test_sibling_that_is_killed_between_samples_is_an_error(native: Path, folder: Path) -> None:
    assert native

    def kill(waiting: WaitingReplay, phase: str) -> None:
        if phase == "overhead":
            os.kill(family(waiting)[-1], signal.SIGKILL)

    result = replayed(folder, 2, not_started, kill)
    assert (result.verdict, result.reason) == ("error", ENDED)


def test_siblings_end_with_the_process_that_started_them(native: Path) -> None:
    assert native
    with WaitingReplay(target_of("cuda", "sim"), 0, "any", 3) as waiting:
        with_contexts(waiting)
        first, *others = family(waiting)
        os.kill(first, signal.SIGKILL)
        wait_until(lambda: all(process_start(pid) is None for pid in others))


def test_sibling_is_confined_as_the_process_that_starts_it(folder: Path) -> None:
    hidden, other = folder / "hidden", folder / "other"
    hidden.mkdir()
    (hidden / "key").write_text("secret")
    other.write_text("")
    code = folder / "code"
    code.mkdir(mode=0o755)
    with socket.create_server(("127.0.0.1", 0)) as server, scratch_folder(None) as scratch:
        known = {"HIDDEN": str(hidden / "key"), "OTHER": str(other), "PORT": server.getsockname()[1]}
        head = "".join(f"{name} = {value!r}\n" for name, value in known.items())
        (code / "probe.py").write_text(head + PROBE)
        ours, theirs = socket.socketpair()
        with ours, theirs:
            order = Task(
                function="probe:main",
                argument=msgspec.Raw(str(ours.fileno()).encode()),
                descriptors=(ours.fileno(),),
                confine=Confine(str(scratch), (str(code),), (str(hidden),)),
                sibling="probe:sibling",
                siblings=(theirs.fileno(),),
            )
            environment, _ = environment_of(target_of("cuda", "sim"), scratch)
            lines: list[bytes] = []
            program = Program(
                "the probe", order, environment, time.monotonic() + 60, 1 << 16, 10, [*folders(), str(code)]
            )
            ended = run_confined(program, "any", lambda line: lines.append(line) is None)
    assert lines, ended
    own, of_sibling = json.loads(lines[0])
    assert of_sibling == own
    assert own["hidden file"] == own["other file"] == "PermissionError" and own["network"] != "allowed"
    assert (own["no new privileges"], own["system calls"]) == ("1", "2")
    assert own["names of its threads"] == "allowed"
