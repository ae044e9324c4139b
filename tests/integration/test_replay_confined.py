"""Attacks of a replay process that a capture took over: each works without a sandbox and fails in a strict replay."""

from __future__ import annotations

import os
import shutil
import signal
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

import benchguard
from benchguard.capture import Capture
from benchguard.errors import UsageError
from benchguard.ipc.processes import process_start
from benchguard.quarantine.contract import FEATURES, is_full
from benchguard.quarantine.probe import features as probe
from benchguard.replay import confined
from benchguard.replay.buffers import Buffers
from benchguard.replay.options import ReplayOptions
from benchguard.replay.replay import replay_buffers
from benchguard.replay.result import ReplayResult
from tests.integration.quarantining import GOT, victim
from tests.support.captures import CAPTURES
from tests.support.waiting import wait_until

PROGRAM = Path(__file__).parent / "programs" / "hostile_driver.c"
Attack = Callable[..., ReplayResult]


@pytest.fixture
def hostile(folder: Path, compile_c: Callable[..., Path]) -> Path:
    driver = folder / "driver" / "libcuda.so.1"
    driver.parent.mkdir(mode=0o755)
    shutil.copy(compile_c("libhostile.so", PROGRAM), driver)
    return driver


@pytest.fixture
def capture(folder: Path) -> Path:
    return CAPTURES["saxpy"](folder / "x.ncap")


@pytest.fixture
def attack(hostile: Path, capture: Path) -> Attack:
    """Replay a capture with a driver that attacks."""

    def run(name: str, strict: bool, place: str = "-", number: int = 0, **options: object) -> ReplayResult:
        (hostile.parent / "attack").write_text(f"{name} {place} {number}")
        return benchguard.replay(capture, driver=str(hostile), strict=strict, **options)

    return run


def assert_refused(attack: Attack, feature: str, name: str, place: str = "-", number: int = 0) -> None:
    outside = attack(name, False, place, number)
    if GOT not in outside.reason:
        pytest.skip(f"not even an ordinary process may do it here: {outside.reason}")
    result = attack(name, True, place, number)
    if result.confinement[feature] != "on":
        pytest.skip(f"{feature}: {result.confinement[feature]}")
    # The attack is the driver of this replay, so the check of the driver (ADR 40) fails, too.
    assert result.verdict in ("failed", "error") and GOT not in result.reason
    assert "last output: REFUSED" in result.reason, result.reason


@pytest.mark.parametrize("name", ["read", "write"])
def test_files_of_the_user_are_out_of_reach(attack: Attack, folder: Path, name: str) -> None:
    private = folder / "private"
    private.mkdir(mode=0o700)
    (private / "secret").write_text("secret")
    place = private if name == "read" else folder / "new"
    assert_refused(attack, "filesystem", name, str(place))


def test_supervisor_environment_is_unreadable(attack: Attack) -> None:
    assert_refused(attack, "filesystem", "environ", number=os.getpid())


def test_supervisor_cannot_be_signalled(attack: Attack) -> None:
    assert_refused(attack, "processes", "signal", number=os.getpid())


def test_other_processes_cannot_be_traced(attack: Attack) -> None:
    with victim() as other:
        assert_refused(attack, "system calls", "trace", number=other.pid)


def test_network_is_out_of_reach(attack: Attack) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert_refused(attack, "network", "connect", number=server.getsockname()[1])


def test_capabilities_of_root_are_dropped(attack: Attack) -> None:
    assert_refused(attack, "privileges", "chroot")


def test_fork_swarm_ends(attack: Attack) -> None:
    """The user of the sandbox has a limit. Without a user of its own, the supervisor counts the processes, and their
    memory, which may reach its limit first."""
    assert GOT in attack("swarm", False).reason
    result = attack("swarm", True)
    assert GOT not in result.reason
    ends = ("REFUSED", "had more than 1024 processes", "of memory")
    assert any(each in result.reason for each in ends), result.reason


def test_daemon_ends_with_the_replay(attack: Attack, folder: Path) -> None:
    """The daemon leaves the session of the replay process."""
    assert GOT in attack("outlive", False).reason
    (daemon,) = _daemons(folder)
    os.kill(daemon, signal.SIGKILL)
    wait_until(lambda: process_start(daemon) is None)
    assert GOT in attack("outlive", True).reason
    assert _daemons(folder) == []


def _daemons(folder: Path) -> list[int]:
    """Processes that have the hostile driver mapped."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if f"{folder}/driver/" in (place / "maps").read_text():
                found.append(int(place.name))
        except OSError:
            continue
    return found


def test_strict_replay_passes_in_the_sandbox_of_a_submission(folder: Path) -> None:
    """Also with inputs and outputs in shared memory."""
    with Capture.open(CAPTURES["saxpy"](folder / "x.ncap")) as capture:
        plain = benchguard.replay(capture, driver="sim", samples=5)
        result = benchguard.replay(capture, driver="sim", samples=5, strict=True, verify=True)
    assert (plain.verdict, plain.confinement) == ("pass", {})
    assert (result.verdict, result.verified) == ("pass", True), result.reason
    assert list(result.confinement) == list(FEATURES)
    expected = probe()
    assert {name: why == "on" for name, why in result.confinement.items()} == {
        name: why == "on" for name, why in expected.items()
    }


def test_replay_that_requires_a_full_sandbox_refuses_a_partial_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A variable that is not on the list stands for a protection that this machine lacks."""
    environment = confined.quarantine_environment
    monkeypatch.setattr(
        confined, "quarantine_environment", lambda *each: {**environment(*each), "FOREIGN": "1"}
    )
    path = CAPTURES["saxpy"](folder / "x.ncap")
    result = benchguard.replay(path, strict=True, driver="sim", samples=2, require_sandbox="full")
    assert result.verdict == "error"
    assert result.reason.startswith("the replay did not start: sandbox: partial (")
    assert "unexpected variables" in result.reason and result.device is None
    assert not is_full(result.confinement)
    assert benchguard.replay(path, strict=True, driver="sim", samples=2).verdict == "pass"


def test_sandbox_is_only_required_of_strict_replays() -> None:
    with pytest.raises(UsageError, match="only a strict replay has a sandbox"):
        ReplayOptions(require_sandbox="full")


def test_memory_of_all_processes_is_limited(attack: Attack, hostile: Path, capture: Path) -> None:
    """Four processes of 128 MiB each are over a limit that none exceeds alone."""
    assert GOT in attack("memory", False).reason
    options = ReplayOptions(strict=True, driver=str(hostile))
    result = replay_buffers(capture, options, Buffers(None, None), memory_bytes=320 << 20)
    assert result.verdict in ("failed", "error") and "the replay used" in result.reason, result.reason


def test_driver_that_never_returns_ends_at_the_deadline(attack: Attack, folder: Path) -> None:
    result = attack("outstay", True, timeout=3.0)
    assert result.verdict == "timeout" and "no result within 3 s" in result.reason
    # The check of the driver (ADR 40) gets no answer either, but it is short, like the replay.
    assert any("did not answer" in note for note in result.notes)
    assert _daemons(folder) == []
