"""Programs under `neutrino-bench serve`: a log each, however they start and end."""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from benchguard import read_log
from benchguard.serve import layout
from benchguard.serve.client import list_programs
from benchguard.serve.layout import Status
from benchguard.serve.messages import parse_answer
from benchguard.shim.interposer import interposer_for
from tests.integration.apis import Api, both_apis
from tests.support.service import Service, environment_for, running_service
from tests.support.waiting import wait_until

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
    """The number of launches in each log. All logs must be verified and have an end line."""
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


def test_doctor_says_whether_the_service_answers(service: Service) -> None:
    """In an environment of the service, in one that lacks the shim, and after the service has ended."""
    environment = environment_for(service.folder)

    def finding(**more: str) -> dict[str, str]:
        words = [sys.executable, "-m", "benchguard", "doctor", "--json"]
        ran = subprocess.run(
            words, env={**environment, **more}, capture_output=True, check=False, timeout=120
        )
        found: list[dict[str, str]] = json.loads(ran.stdout)["findings"]
        return next(each for each in found if each["subject"] == "service")

    assert (finding()["level"], "answers" in finding()["found"]) == ("ok", True)
    assert finding(LD_PRELOAD="")["found"].endswith("LD_PRELOAD lacks the shim")
    assert service.end() == 0
    assert (finding()["level"], "no service answers" in finding()["found"]) == ("fail", True)


# --- hostile clients ------------------------------------------------------------------------------------------


def connect(service: Service) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.settimeout(20)
    connection.connect(str(service.socket))
    return connection


def attach_request(**changes: Any) -> bytes:
    """A request as the shim's, but for the changes."""
    surface = hashlib.sha256(interposer_for("sim")[0].shim.with_name("surface.json").read_bytes()).digest()
    words = {"magic": layout.MAGIC, "version": layout.VERSION, "kind": 1, "surface": surface, "format": 1}
    words |= {"process": 1, "size": 4, **changes}
    return layout.REQUEST.pack(*words.values()) + b"abc\0"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"magic": 5}, "unknown format"),
        ({"version": 9}, "another version"),
        ({"kind": 7}, "another version"),
        ({"format": 77}, "records of format 77"),
        ({"size": 4000}, "wrong size"),
        ({"surface": bytes(32)}, "not for the driver of the service"),
    ],
)
def test_malformed_request_is_refused(
    service: Service, run: Run, program: Program, change: dict[str, Any], reason: str
) -> None:
    """The service goes on, and records the next program."""
    with connect(service) as connection:
        connection.send(attach_request(**change))
        status, text = parse_answer(connection.recv(4096))
    assert (status, reason in text) == (Status.REFUSED, True), text
    assert run(program("linked")).stderr == ""
    service.wait_for_programs(0)
    assert service.end() == 0
    assert launches(service) == [3]
    assert "refused a program: " in service.text


def test_hostile_connections_do_not_hold_the_service(service: Service, run: Run, program: Program) -> None:
    """Silent connections, oversized messages, unrequested descriptors, and a client that never reads."""
    silent = [connect(service) for _ in range(60)]
    with connect(service) as large, connect(service) as giver:
        large.send(bytes(100_000))
        socket.send_fds(giver, [attach_request(magic=1)], [0, 1, 2])
    before = len(list(Path(f"/proc/{service.process.pid}/fd").iterdir()))
    assert run(program("linked")).stderr == ""
    for connection in silent:
        connection.close()
    service.wait_for_programs(0)
    after = len(list(Path(f"/proc/{service.process.pid}/fd").iterdir()))
    assert after < before
    assert service.end() == 0
    assert launches(service) == [3]


def test_hostile_memory_of_a_program_harms_its_own_log_only(
    service: Service, run: Run, program: Program, sleeper: subprocess.Popen[bytes]
) -> None:
    """A client fills its session with noise; a program beside it has a whole log."""
    with connect(service) as connection:
        connection.send(attach_request())
        data, descriptors, _, _ = socket.recv_fds(connection, 4096, 4)
        assert parse_answer(data)[0] == Status.GRANTED
        (descriptor,) = descriptors
        with pytest.raises(OSError):
            os.ftruncate(descriptor, 0)
        size = os.fstat(descriptor).st_size
        with mmap.mmap(descriptor, size) as memory:
            os.close(descriptor)
            memory[: 64 << 20] = random.Random(5).randbytes(1 << 20) * 64
    assert run(program("linked")).stderr == ""
    sleeper.kill()
    service.wait_for_programs(1)  # this process itself is the hostile program, and stays
    assert service.end() == 0
    hostile = [log for log in service.logs if f"-{os.getpid()}-" in log.name]
    ends = [service.verified(log)[-1] for log in service.logs if log not in hostile]
    assert sorted((end["launches"], end["complete"]) for end in ends) == [(0, True), (3, True)]
    assert service.verified(hostile[0])[-1]["complete"] is False


def test_session_count_of_a_process_is_limited(service: Service) -> None:
    """Each session has a recorder process: one client must not fork the service's machine full."""
    answers, kept = [], []
    for _ in range(12):
        with connect(service) as connection:
            connection.send(attach_request())
            data, descriptors, _, _ = socket.recv_fds(connection, 4096, 4)
            answers.append(parse_answer(data)[0])
            kept += [mmap.mmap(descriptor, 4096) for descriptor in descriptors]
            for descriptor in descriptors:
                os.close(descriptor)
    assert answers.count(Status.GRANTED) == len(kept) == 8
    assert service.end() == 0
    for memory in kept:
        memory.close()


def test_program_with_a_cleaned_environment_is_named(service: Service) -> None:
    """It has the driver and not the shim. Its parent, which has both, and a child without a driver are not named."""
    driver = interposer_for("sim")[0].driver
    cleaned = f"import ctypes, time; ctypes.CDLL({str(driver)!r}).cuInit(0); time.sleep(60)"
    parent = f"""
import ctypes, subprocess, sys
assert ctypes.CDLL("libcuda.so.1").cuInit(0) == 0
children = [["-c", {cleaned!r}], ["-c", "import time; time.sleep(60)"]]
started = [subprocess.Popen([sys.executable, *words], env={{}}) for words in children]
print(*(each.pid for each in started), flush=True)
sys.stdin.read()
for each in started:
    each.kill()
    each.wait()
"""
    process = subprocess.Popen(
        [sys.executable, "-c", parent],
        env=environment_for(service.folder),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    user, other = process.stdout.readline().split()
    wait_until(lambda: list_programs(service.socket)["unobserved"] != {})
    time.sleep(1)
    assert set(list_programs(service.socket)["unobserved"]) == {user}
    process.communicate("")
    assert service.end() == 0
    named = [line for line in service.text.splitlines() if "uses the driver without the shim" in line]
    assert len(named) == 1
    assert f"process {user} (" in named[0]
    assert other


def test_service_without_readers_goes_on(tmp_path: Path, program: Program) -> None:
    """Its standard error is a pipe that is closed after the first line."""
    words = [sys.executable, "-m", "benchguard", "serve", "--log", str(tmp_path / "logs"), "--driver", "sim"]
    with subprocess.Popen(words, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        assert b"serving at" in process.stderr.readline()
        process.stderr.close()
        service = Service(process, tmp_path / "logs", tmp_path / "none")
        environment = environment_for(service.folder)
        for _ in range(2):
            assert subprocess.run([str(program("linked"))], env=environment, check=False).returncode == 0
        service.wait_for_programs(0)
        assert service.end() == 0
    assert launches(service) == [3, 3]


LAUNCHES_LOGGED = """
format = "neutrino-bench/policy/1"
name = "launches"

[[rule]]
name = "every launch"
call = ["cuLaunchKernel"]
action = "log"
"""


@pytest.mark.parametrize(("when", "decisions"), [("before", [2, 3]), ("after", [4])])
def test_forked_child_obeys_the_policy_of_its_own_session(
    tmp_path: Path, program: Program, when: str, decisions: list[int]
) -> None:
    """The table of the policy is in the session, which a forked child leaves for one of its own."""
    policy = tmp_path / "policy.toml"
    policy.write_text(LAUNCHES_LOGGED)
    with running_service(tmp_path / "logs", "--policy", str(policy)) as service:
        ran = subprocess.run(
            [str(program("forks")), when],
            env=environment_for(service.folder), capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        assert (ran.returncode, ran.stderr) == (0, "")
        service.wait_for_programs(0)
        assert service.end() == 0, service.text
    logs = [service.verified(log) for log in service.logs]
    assert all(lines[0]["policy"]["name"] == "launches" for lines in logs)
    counts = [sum(line["kind"] == "decision" for line in lines) for lines in logs]
    assert sorted(count for count in counts if count) == decisions


NO_LAUNCHES = LAUNCHES_LOGGED.replace("log", "deny").replace('name = "launches"', 'name = "no launches"')


def ask(folder: Path, program: Path, *options: str, **more: str) -> tuple[int, str]:
    """Status and standard error of a program with the variables of `env` and these options."""
    environment = {**environment_for(folder, *options), **more}
    ran = subprocess.run(
        [str(program)], env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    return ran.returncode, ran.stderr


def test_programs_of_a_service_obey_the_policies_that_they_ask_for(tmp_path: Path, program: Program) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(NO_LAUNCHES)
    with running_service(tmp_path / "logs") as service:
        linked = program("linked")
        for options, status in ((("--policy", str(policy)), 1), (("--policy", "observe"), 0), ((), 0)):
            assert ask(service.folder, linked, *options)[0] == status
        service.wait_for_programs(0)
        assert service.end() == 0, service.text
    logs = [service.verified(log) for log in service.logs]
    names = [None if lines[0]["policy"] is None else lines[0]["policy"]["name"] for lines in logs]
    assert sorted(names, key=str) == [None, "no launches", "observe"]
    (denied,) = [lines for lines, name in zip(logs, names, strict=True) if name == "no launches"]
    assert denied[-1]["denied"] >= 1 and denied[-1]["launches"] == 0


def test_program_without_the_policy_that_it_asks_for_gets_no_call_through(
    tmp_path: Path, program: Program
) -> None:
    """The honest control: the same program runs with a policy that the service has."""
    policy = tmp_path / "policy.toml"
    policy.write_text(NO_LAUNCHES)
    with running_service(tmp_path / "logs") as service:
        linked = program("linked")
        assert ask(service.folder, linked, "--policy", "observe")[0] == 0
        for digest, reason in (
            ("0" * 64, "does not have the policy"),
            ("../../etc/passwd", "NEUTRINO_POLICY is not a SHA-256"),
            ("0" * 65, "NEUTRINO_POLICY is not a SHA-256"),
        ):
            status, said = ask(service.folder, linked, "--policy", "observe", NEUTRINO_POLICY=digest)
            assert status == 1 and reason in said and "driver calls fail" in said
        (stored,) = (ask(service.folder, linked, "--policy", str(policy)), service.folder / "policies")[
            1
        ].iterdir()
        stored.write_text(LAUNCHES_LOGGED)  # other rules under the name of the first
        os.utime(stored)
        service.wait_for_programs(0)
    with running_service(tmp_path / "logs") as service:
        status, said = ask(service.folder, linked, NEUTRINO_POLICY=stored.stem, NEUTRINO_REQUIRE="1")
        assert status == 1 and "does not have the policy" in said
        stored.unlink()
        os.mkfifo(stored)
        status, said = ask(service.folder, linked, NEUTRINO_POLICY=stored.stem, NEUTRINO_REQUIRE="1")
        assert status == 1 and "does not have the policy" in said


def test_policy_of_the_service_is_obeyed_whatever_a_program_asks_for(
    tmp_path: Path, program: Program
) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(NO_LAUNCHES)
    with running_service(tmp_path / "logs", "--policy", str(policy)) as service:
        linked = program("linked")
        status, said = ask(service.folder, linked, "--policy", "observe")
        assert status == 1 and "another policy than no launches" in said
        assert ask(service.folder, linked, "--policy", str(policy))[0] == 1
        service.wait_for_programs(0)
        assert service.end() == 0, service.text
    assert [service.verified(log)[0]["policy"]["name"] for log in service.logs] == ["no launches"]


def test_env_refuses_policies_and_paths_that_a_service_could_not_have(tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(LAUNCHES_LOGGED)
    broken = tmp_path / "broken.toml"
    broken.write_text(LAUNCHES_LOGGED.replace("log", "forbid"))
    (tmp_path / "file").write_text("")
    words = [sys.executable, "-m", "benchguard", "env", "--driver", "sim", "--policy"]
    for more, reason in (
        ((str(policy), "--socket", "s"), "give --log FOLDER, too"),
        ((str(policy), "--log", str(tmp_path / "file")), "file"),
        ((str(broken), "--log", str(tmp_path / "x")), f"{broken}:8: "),
        (("gradin", "--log", str(tmp_path / "x")), "no policy file gradin"),
        (("observe", "--log", "/dev/null/x"), "/dev/null is not a folder"),
        (("observe", "--socket", str(tmp_path / "file")), "is not a socket"),
    ):
        ran = subprocess.run([*words, *more], capture_output=True, text=True, check=False, timeout=60)
        assert ran.returncode == 2 and ran.stdout == "" and reason in ran.stderr, ran.stderr
