"""Real commands under the shim, on a driver that does nothing."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchguard import read_log, verify_log
from benchguard.audit.supervise import failed_start
from benchguard.ipc.processes import process_start
from tests.conftest import ROOT

OVERHEAD = ROOT / "tests" / "bench" / "overhead"
CLIENT = """
#include <cuda.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int calls = argc > 1 ? atoi(argv[1]) : 1, seconds = argc > 2 ? atoi(argv[2]) : 0;
    for (int i = 0; i < calls; i++)
        cuStreamSynchronize(0);
    if (argc > 3 && fork() != 0)
        return 0;
    cuStreamSynchronize(0);
    sleep(seconds);
    return 0;
}
"""

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def driver(compile_c: Callable[..., Path], native: Path) -> Path:
    assert native.is_dir()
    return compile_c("null_driver.so", OVERHEAD / "null_driver.c", links=("-Wl,-soname,libcuda.so.1",))


@pytest.fixture
def client(compile_c: Callable[..., Path], driver: Path, tmp_path: Path) -> Path:
    source = tmp_path / "client.c"
    source.write_text(CLIENT)
    return compile_c("supervised_client", source, links=(str(driver), f"-Wl,-rpath,{driver.parent}"))


def arguments(driver: Path, log: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "benchguard", "--driver", str(driver), "--log", str(log), *options, "--"]


@pytest.fixture
def run(driver: Path, tmp_path: Path) -> Run:
    def run_(*command: str | Path, options: tuple[str, ...] = (), log: Path | None = None) -> object:
        words = [*arguments(driver, log or tmp_path / "log", *options), *map(str, command)]
        return subprocess.run(words, capture_output=True, text=True, timeout=240, check=False, cwd=ROOT)

    return run_  # type: ignore[return-value]


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
def test_exit_status_of_command_returned(run: Run, tmp_path: Path, command: list[str], status: int) -> None:
    """And the log has its beginning and its end, whatever happened."""
    result = run(*command)
    assert result.returncode == status, result.stderr
    assert "Traceback" not in result.stderr
    assert verify_log(tmp_path / "log").lines >= 2


@pytest.mark.parametrize(
    ("files", "program", "status"), [([], "tool", 127), (["tool"], "tool", 126), ([], "./tool", 126)]
)
def test_command_behind_a_folder_that_may_not_be_searched_has_a_shells_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: list[str], program: str, status: int
) -> None:
    """execvp() gives EACCES for such a folder of PATH if no other one has the program."""
    for name in files:
        (tmp_path / name).touch()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert failed_start(program, PermissionError()).status == status


def test_time_out_kills_grandchildren(run: Run, tmp_path: Path) -> None:
    result = run("sh", "-c", f"sleep 300 & echo $! > {tmp_path}/pid; wait", options=("--timeout", "0.5"))
    assert result.returncode == 124
    assert "killed after 0.5 s; raise --timeout" in result.stderr
    assert process_start(int((tmp_path / "pid").read_text())) is None


def test_signal_forwarded_to_command(driver: Path, tmp_path: Path) -> None:
    script = "trap 'exit 33' TERM; echo ready; while :; do sleep 0.05; done"
    words = [*arguments(driver, tmp_path / "log", "--quiet"), "sh", "-c", script]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=ROOT) as child:
        assert child.stdout is not None and child.stdout.readline() == "ready\n"
        child.send_signal(signal.SIGTERM)
        assert child.wait(20) == 33


def test_user_preload_kept_after_ours(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_PRELOAD", "libm.so.6")
    result = run("sh", "-c", "echo $LD_PRELOAD")
    first, second, third = result.stdout.strip().split(":")
    assert (Path(first).name, Path(second).name, third) == (
        "libneutrino_preload.so",
        "libcuda.so.1",
        "libm.so.6",
    )


@pytest.mark.full
def test_surviving_process_named_and_run_incomplete(run: Run, client: Path, tmp_path: Path) -> None:
    """The command ends, what it forked goes on: it is waited for a while, then named."""
    result = run(client, "1", "6", "fork")
    assert result.returncode == 0
    assert "INCOMPLETE" in result.stderr
    *_, end = read_log(tmp_path / "log")
    assert len(end["outlived"]) == 1 and not end["complete"]


@pytest.mark.parametrize("without", ["-i", "-u LD_PRELOAD", "-u NEUTRINO_NONCE"])
def test_child_without_shim_environment_is_named(run: Run, tmp_path: Path, without: str) -> None:
    result = run("sh", "-c", f"env {without} sleep 1.5; exit 3")
    assert result.returncode == 3
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("child processes not observed")]
    assert line.endswith(" sleep 1.5")
    *_, end = read_log(tmp_path / "log")
    assert [text.partition(" ")[2] for text in end["unobserved"]] == ["sleep 1.5"]


def test_child_with_shim_environment_is_not_named(run: Run, tmp_path: Path) -> None:
    assert "not observed" not in run("sh", "-c", "sleep 0.5; sh -c 'sleep 0.5; true'").stderr
    *_, end = read_log(tmp_path / "log")
    assert end["unobserved"] == []


def test_all_calls_logged(run: Run, client: Path, tmp_path: Path) -> None:
    assert run(client, "20000").returncode == 0
    calls = [line for line in read_log(tmp_path / "log") if line["kind"] == "call"]
    assert len(calls) == 20001
    times = [line["time_ns"] for line in calls]
    assert times == sorted(times)


def test_limited_address_space_reported(run: Run, client: Path, tmp_path: Path) -> None:
    """The image store does not fit under `ulimit -v`: the rings do, and the log says what is missing."""
    result = run("sh", "-c", f"ulimit -v 2000000; exec {client} 5")
    assert result.returncode == 0
    lines = list(read_log(tmp_path / "log"))
    assert sum(line["kind"] == "call" for line in lines) == 6
    assert ["ulimit -v" in line["text"] for line in lines if line["kind"] == "note"] == [True]


def test_full_disk_does_not_stop_command(run: Run, client: Path, tmp_path: Path) -> None:
    """It runs to its end; the one line says what to do; the status is ours."""
    full = tmp_path / "full"
    full.symlink_to("/dev/full")
    marker = tmp_path / "ended"
    result = run("sh", "-c", f"{client} 100 && touch {marker}", options=("--force",), log=full)
    assert result.returncode == 70
    assert marker.exists()
    assert result.stderr.splitlines()[-1].startswith("neutrino-bench: error: the log ")
    assert "Traceback" not in result.stderr
