"""Programs under `neutrino-bench serve`: a log each, however they start and end."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from benchguard import read_log
from tests.integration.apis import Api, both_apis
from tests.support.service import Service, environment_for, running_service

Program = Callable[[str], Path]


@pytest.fixture
def service(tmp_path: Path, api: Api) -> Iterator[Service]:
    with running_service(tmp_path / "logs", driver=api.driver) as service:
        yield service


@pytest.fixture
def run(service: Service, api: Api) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a command with the service's variables."""
    environment = environment_for(service.folder, driver=api.driver)

    def run_(*command: str | Path, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            list(map(str, command)),
            env={**environment, **more},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    return run_


def launches(service: Service) -> list[int]:
    """The launches of each log, all of which are whole and verified."""
    counts = []
    for log in service.logs:
        lines = service.verified(log)
        assert lines[-1]["kind"] == "end"
        assert lines[-1]["complete"], lines[-1]
        counts.append(sum(line["kind"] == "launch" and line["result"] == 0 for line in lines))
    return counts


Run = Callable[..., "subprocess.CompletedProcess[str]"]


@both_apis
def test_each_program_has_its_log(service: Service, run: Run, program: Program) -> None:
    """A program that is killed, a program that forks, and a program that a shell script executes."""
    assert run(program("ends"), "kill").returncode == -signal.SIGKILL
    assert run(program("forks"), "before").returncode == 0
    assert run("sh", "-c", f"exec {program('linked')}").returncode == 0
    service.wait_for_programs(0)
    assert service.end() == 0, service.text
    assert sorted(launches(service)) == [2, 3, 3, 4]
    names = Counter(log.name.split("-")[3].removesuffix(".audit.jsonl") for log in service.logs)
    assert sum(names.values()) == 4
    assert sum(" launches, complete; log " in line for line in service.text.splitlines()) == 4


@both_apis
def test_log_names_the_program(service: Service, run: Run, program: Program) -> None:
    """The session line has the command, and the numbers that the kernel knows."""
    run(program("linked"), "2")
    service.wait_for_programs(0)
    assert service.end() == 0
    (log,) = service.logs
    session, *_, end = service.verified(log)
    assert session["command"] == [str(program("linked")), "2"]
    assert f"-{session['served']['process']}-" in log.name
    assert end["status"] is None


def test_executed_program_has_a_log_of_its_own(service: Service, run: Run, program: Program) -> None:
    assert run(program("execs"), program("linked")).returncode == 0
    service.wait_for_programs(0)
    assert service.end() == 0
    assert sorted(launches(service)) == [2, 3]
    processes = [service.verified(log)[0]["served"]["process"] for log in service.logs]
    assert len(set(processes)) == 1


def test_program_without_driver_calls_has_no_log(service: Service, run: Run) -> None:
    assert run("sh", "-c", "true; ls >/dev/null").stderr == ""
    assert service.end() == 0
    assert service.logs == []


def test_program_that_closes_every_descriptor_is_recorded(
    service: Service, run: Run, program: Program, tmp_path: Path
) -> None:
    """The shim keeps no connection whose end could be mistaken for the program's."""
    assert run(program("closes_all"), tmp_path / "own-file").returncode == 0
    service.wait_for_programs(0)
    assert service.end() == 0
    assert launches(service) == [3]


SLEEPER = """
import ctypes, sys, time
cuda = ctypes.CDLL("libcuda.so.1")
assert cuda.cuInit(0) == 0
print("ready", flush=True)
time.sleep(float(sys.argv[1]))
"""


@pytest.fixture
def sleeper(service: Service) -> Iterator[subprocess.Popen[bytes]]:
    """A program that is recorded and stays."""
    environment = environment_for(service.folder)
    process = subprocess.Popen(
        [sys.executable, "-c", SLEEPER, "60"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    yield process
    process.kill()
    process.communicate()


def test_list_leads_from_process_to_log(service: Service, sleeper: subprocess.Popen[bytes]) -> None:
    (program,) = service.programs
    assert program["process"] == sleeper.pid
    assert Path(program["log"]) in service.logs


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_ended_service_ends_the_logs_of_running_programs(
    service: Service, sleeper: subprocess.Popen[bytes], number: int
) -> None:
    """The logs are whole; they say that the program outlived them."""
    assert service.end(number) == 0, service.text
    (log,) = service.logs
    end: dict[str, Any] = service.verified(log)[-1]
    assert (end["outlived"], end["complete"]) == ([sleeper.pid], False)
    assert not service.socket.exists()


def test_killed_service_leaves_whole_logs(service: Service, sleeper: subprocess.Popen[bytes]) -> None:
    """The kernel tells the recorders that the service is gone; its socket stays, and the next service replaces it."""
    service.end(signal.SIGKILL)
    (log,) = service.logs
    with running_service(service.folder, said=service.folder.with_suffix(".second")) as second:
        assert second.socket.is_socket()
        assert service.verified(log)[-1]["outlived"] == [sleeper.pid]


def test_second_service_is_refused(service: Service) -> None:
    words = [sys.executable, "-m", "benchguard", "serve", "--log", str(service.folder), "--driver", "sim"]
    second = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert second.returncode == 70
    assert second.stderr.count("\n") == 1
    assert "another service uses" in second.stderr
    assert service.programs == []


def test_program_beyond_the_limit_is_refused(tmp_path: Path, program: Program) -> None:
    """It says so and runs; with NEUTRINO_REQUIRE its driver calls fail."""
    with running_service(tmp_path / "logs", "--max-programs", "1") as service:
        environment = environment_for(service.folder)
        first = subprocess.Popen(
            [sys.executable, "-c", SLEEPER, "60"], env=environment, stdout=subprocess.PIPE
        )
        try:
            assert first.stdout is not None
            first.stdout.readline()
            command = [str(program("linked"))]
            second = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
            third = subprocess.run(
                command, env={**environment, "NEUTRINO_REQUIRE": "1"}, capture_output=True, check=False
            )
        finally:
            first.kill()
            first.communicate()
        assert (second.returncode, second.stderr.count("\n")) == (0, 1)
        assert "1 programs are recorded; raise --max-programs" in second.stderr
        assert third.returncode != 0
        service.wait_for_programs(0)
        assert service.end() == 0
        assert len(service.logs) == 1


def test_log_ends_at_its_limit(tmp_path: Path, program: Program) -> None:
    """The log is whole, says that lines are missing, and the program runs to its end."""
    with running_service(tmp_path / "logs", "--max-log-bytes", "4K") as service:
        environment = environment_for(service.folder)
        ran = subprocess.run([str(program("linked")), "100"], env=environment, check=False, timeout=60)
        assert ran.returncode == 0
        service.wait_for_programs(0)
        assert service.end() == 0
        (log,) = service.logs
        end = service.verified(log)[-1]
        assert (end["truncated"], end["complete"], end["launches"]) == (True, False, 100)
        assert log.stat().st_size < 6 << 10


@pytest.mark.parametrize(
    ("command", "status"),
    [
        (["true"], 0),
        (["sh", "-c", "exit 9"], 9),
        (["sh", "-c", "kill -TERM $$"], 128 + signal.SIGTERM),
        (["./no-such-command"], 127),
        (["/etc/passwd"], 126),
    ],
)
def test_service_with_command_ends_with_its_status(tmp_path: Path, command: list[str], status: int) -> None:
    words = [
        sys.executable,
        "-m",
        "benchguard",
        "serve",
        "--log",
        str(tmp_path / "logs"),
        "--driver",
        "sim",
        "--",
    ]
    ran = subprocess.run([*words, *command], capture_output=True, text=True, check=False, timeout=60)
    assert ran.returncode == status, ran.stderr
    assert "Traceback" not in ran.stderr
    assert not (tmp_path / "logs" / "serve.sock").exists()


def test_terminated_service_terminates_its_command(tmp_path: Path) -> None:
    """As `docker stop` does: the command ends in its own way, and its log is whole."""
    words = [sys.executable, "-m", "benchguard", "serve", "--log", str(tmp_path), "--driver", "sim", "--"]
    with subprocess.Popen([*words, sys.executable, "-c", SLEEPER, "60"], stdout=subprocess.PIPE) as service:
        assert service.stdout is not None
        assert service.stdout.readline() == b"ready\n"
        service.terminate()
        assert service.wait(60) == 128 + signal.SIGTERM
    (log,) = tmp_path.glob("*.audit.jsonl")
    lines = list(read_log(log))
    assert (lines[-1]["outlived"], lines[-1]["complete"]) == ([], True)
