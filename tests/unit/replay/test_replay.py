"""benchguard.replay() around a replay process that is made up: every way in which it can go wrong is a verdict."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import pytest

import benchguard
from benchguard.capture import Capture
from benchguard.ipc.child import Ended
from benchguard.replay.collect import Progress
from benchguard.replay.confined import WaitingReplay
from benchguard.replay.protocol import (
    FAILED,
    NO_SET,
    Batch,
    Difference,
    Done,
    Event,
    Failed,
    Measured,
    Opened,
    Phase,
    Ready,
    Request,
    TimedSample,
    Verified,
    encode,
)
from benchguard.replay.replay import run_unconfined
from benchguard.replay.result import ReplayResult
from tests.support.captures import CAPTURES, GRANULE
from tests.unit.replay.fake_engine import DEVICE, OVERHEAD, PREPARED, sample

ARENA = 0x300000000000
WHOLE: list[Event] = [
    Opened(()),
    Phase("prepare"),
    Ready(DEVICE, PREPARED),
    Measured(OVERHEAD),
    Phase("sample"),
    Batch(tuple(TimedSample(sample(10.0 + n, input_set=n % 2 if n else NO_SET), n) for n in range(20))),
    Done(True, "", 0.001, 0.0025, 30, ("a note",)),
]
HEAD = "import os, sys, time; fd = int(sys.argv[1]); lines = bytes.fromhex({lines!r})\n"

Replay = Callable[..., ReplayResult]


@pytest.fixture
def replay(native: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Replay:
    """Replay a capture with a process that writes these events, then does what `program` says."""
    assert native
    path = CAPTURES["saxpy"](tmp_path / "x.ncap")

    def run(events: Sequence[Event], program: str = "", **options: object) -> ReplayResult:
        lines = b"".join(encode(event) + b"\n" for event in events)
        code = HEAD.format(lines=lines.hex()) + "os.write(fd, lines)\n" + program
        command = [sys.executable, "-I", "-S", "-c", code]
        replaying = sys.modules["benchguard.replay.replay"]
        monkeypatch.setattr(replaying, "command", lambda: command)
        monkeypatch.setattr(replaying.WaitingReplay, "replay", without_sandbox)
        return benchguard.replay(path, driver="sim", samples=20, **options)

    def without_sandbox(
        waiting: WaitingReplay,
        request: Request,
        _: object,
        memory_max: int,
        handle: Callable[[bytes], bool],
    ) -> tuple[Ended, dict[str, str]]:
        return run_unconfined(request, waiting.target, memory_max, handle), {}

    import benchguard.replay.replay  # so that it can be patched

    return run


def test_complete_replay_returns_a_result(replay: Replay) -> None:
    results: list[Progress] = []
    result = replay(WHOLE, progress=results.append)
    assert (result.verdict, result.reason, result.status) == ("pass", "", 0)
    assert result.samples == [10.0 + n for n in range(20)]
    assert result.time_us is not None and result.time_us.median == 19.5
    assert result.time_us.ci95 == (15.0, 24.0)
    assert [row.input_set for row in result.table[:3]] == [None, 1, 0]
    assert (result.device, result.overhead, result.prepared) == (DEVICE, OVERHEAD, PREPARED)
    assert result.notes == ("a note",) and result.warm_up_samples == 30
    assert "CPU driver" in result.clocks.unavailable
    assert results[-1].samples == 20
    assert result.wall_s > 0


def test_strict_replay_on_pageable_memory_adds_a_note(replay: Replay) -> None:
    """With HMM a kernel reaches every page of the process."""
    reached = Ready(msgspec.structs.replace(DEVICE, pageable=1), PREPARED, ("limit 1 is left",))
    events = [reached if isinstance(event, Ready) else event for event in WHOLE]
    assert replay(events).notes == ("limit 1 is left", "a note")
    notes = replay(events, strict=True).notes
    assert notes[0] == "limit 1 is left" and "replay process's own memory" in notes[1]


def test_killed_worker_is_an_error(replay: Replay) -> None:
    result = replay(WHOLE[:4], "os.kill(os.getpid(), 9)")
    assert result.verdict == "error" and "killed by SIGKILL" in result.reason


def test_worker_crash_while_sampling_keeps_samples(replay: Replay) -> None:
    result = replay(WHOLE[:6], "print('driver: oh', file=sys.stderr); sys.stderr.flush(); os.abort()")
    assert result.verdict == "failed"
    assert "in phase 'sample': killed by SIGABRT; last output: driver: oh" in result.reason
    assert len(result.samples) == 20


def test_worker_ending_early_is_an_error(replay: Replay) -> None:
    assert "without a result" in replay([]).reason


def test_silent_worker_times_out(replay: Replay) -> None:
    result = replay(WHOLE[:3], "time.sleep(60)", timeout=1.0)
    assert (result.verdict, result.status) == ("timeout", 124)
    assert "in phase 'prepare'" in result.reason


@pytest.mark.parametrize("garbage", ["b'hello\\n'", "b'\\0' * (3 << 20)", "lines", "b'\\xff' * 100 + b'\\n'"])
def test_worker_writing_garbage_fails(garbage: str, replay: Replay) -> None:
    result = replay(WHOLE[:6], f"os.write(fd, {garbage})\ntime.sleep(60)")
    assert (result.verdict, result.status) == ("failed", 65)
    assert "broke its protocol" in result.reason


def test_worker_failure_is_the_verdict(replay: Replay) -> None:
    result = replay([*WHOLE[:3], Failed(FAILED, "kernel saxpy: illegal address", "warm-up")])
    assert (result.verdict, result.reason) == ("failed", "kernel saxpy: illegal address")


def test_differing_memory_is_named(replay: Replay) -> None:
    different = Difference(ARENA + GRANULE, 4096, 4, 20, NO_SET, False, "00", "01")
    events = [*WHOLE[:3], Verified(1, (different,)), *WHOLE[3:]]
    result = replay(events, verify=True)
    assert (result.verdict, result.status, result.verified) == ("wrong", 1, False)
    assert f"first cuMemAlloc_v2 at {ARENA + GRANULE:#x} from offset 0x14" in result.reason
    assert result.differences[0].memory == "cuMemAlloc_v2"


def test_recorded_refusal_is_unreplayable_unless_ignored(replay: Replay) -> None:
    refused = Opened(("cuMemcpyDtoH_v2: reads",))
    assert replay([refused]).status == 4
    result = replay([refused, *WHOLE[1:]], ignore_refusals=True)
    assert result.verdict == "pass" and "cuMemcpyDtoH_v2: reads" in result.notes[0]


def test_exception_in_progress_ends_the_worker(replay: Replay) -> None:
    def stop(_: Progress) -> None:
        raise KeyboardInterrupt

    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - descriptors, not paths
    with pytest.raises(KeyboardInterrupt):
        replay(WHOLE[:3], "time.sleep(60)", progress=stop)
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


def test_capture_opened_by_the_caller_stays_open(replay: Replay, tmp_path: Path) -> None:
    del replay
    with Capture.open(CAPTURES["refused"](tmp_path / "y.ncap")) as capture:
        benchguard.replay(capture, driver="sim", samples=1, timeout=1.0)
        assert capture.fileno() >= 0 and capture.operations[0]
