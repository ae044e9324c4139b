"""The live table of a program's calls, and the same table of its log."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.integration.apis import Api, both_apis
from tests.support.service import running_service

WAITS = """
import ctypes, sys
cuda = ctypes.CDLL("libcuda.so.1")
cuda.cuInit(0)
print("ready", flush=True)
sys.stdin.readline()
for _ in range(int(sys.argv[1])):
    cuda.cuStreamSynchronize(None)
print("done", flush=True)
"""
WAITS_SILENTLY = re.sub(r"print\((.*), flush=True\)", r"open('out', 'a').write(\1)", WAITS)
Trace = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def trace(tmp_path: Path, api: Api) -> Iterator[Trace]:
    """Start `neutrino-bench trace` in a folder of its own."""
    started: list[subprocess.Popen[str]] = []

    def run(*words: str | Path, driver: str | None = api.driver) -> subprocess.Popen[str]:
        options = ["--driver", driver] if driver else []
        child = subprocess.Popen(
            [sys.executable, "-m", "benchguard", "trace", *options, *map(str, words)],
            cwd=tmp_path,
            env={**os.environ, "TZ": "UTC"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(child)
        return child

    yield run
    for child in started:
        child.kill()
        child.wait()
        for stream in (child.stdin, child.stdout, child.stderr):
            assert stream is not None
            with contextlib.suppress(OSError):
                stream.close()


def rows(text: str) -> list[str]:
    """The rows without their times, and without the program's own output and process number."""
    found = [line for line in text.splitlines() if re.match(r"\d\d:\d\d:\d\d\.\d{6} ", line)]
    return [re.sub(r"took .*", "", line[16:]) for line in found]


@both_apis
def test_live_table_equals_the_table_of_its_log(
    api: Api, trace: Trace, program: Callable[[str], Path], tmp_path: Path
) -> None:
    live = trace("--log", tmp_path / "run.jsonl", "--", program("mistakes"))
    shown, errors = live.communicate(timeout=120)
    assert live.returncode == 0, errors
    later, errors = trace(tmp_path / "run.jsonl", driver=None).communicate(timeout=60)
    assert not errors and rows(shown) == rows(later)
    allocation, free = api.call("cuMemAlloc_v2"), api.call("cuMemFree_v2")
    out_of_memory = "CUDA_ERROR_OUT_OF_MEMORY" if api.name == "cuda" else "hipErrorOutOfMemory"
    assert any(
        f"{allocation} " in row and f"[EXIT]    returned={out_of_memory}" in row for row in rows(shown)
    )
    assert any(
        f"{free} " in row and "[ENTER]" in row and "double free: freed in line" in row for row in rows(shown)
    )
    assert any("[ENTER]" in row and "kernel=scale, grid=4x1x1, block=256x1x1" in row for row in rows(shown))
    for direction in ("host to device", "device to host", "device to device"):
        assert any(f"direction={direction}" in row for row in rows(shown))


def test_status_is_that_of_the_command_and_no_log_stays(trace: Trace, tmp_path: Path) -> None:
    ended = trace("--", sys.executable, "-c", "raise SystemExit(7)")
    ended.communicate(timeout=60)
    assert ended.returncode == 7 and list(tmp_path.iterdir()) == []


def test_reader_that_ends_leaves_the_command_running(trace: Trace, tmp_path: Path) -> None:
    child = trace("--log", "run.jsonl", "--", sys.executable, "-c", WAITS_SILENTLY, "50")
    assert child.stdout is not None and child.stdin is not None and child.stderr is not None
    assert child.stdout.readline().startswith("TIME")
    child.stdout.close()
    child.stdin.write("go\n")
    child.stdin.close()
    assert child.wait(timeout=60) == 0
    assert child.stderr.read() == "" and (tmp_path / "out").read_text() == "readydone"
    assert '"kind":"end"' in (tmp_path / "run.jsonl").read_text()


def test_reader_that_does_not_read_keeps_no_program_waiting(trace: Trace, tmp_path: Path) -> None:
    """20,000 calls are 3 MB of rows; a pipe holds 64 KiB."""
    child = trace("--", sys.executable, "-c", WAITS_SILENTLY, "20000")
    assert child.stdin is not None
    child.stdin.write("go\n")
    child.stdin.flush()
    deadline = time.monotonic() + 60
    while "done" not in ((tmp_path / "out").read_text() if (tmp_path / "out").exists() else ""):
        assert time.monotonic() < deadline, "the traced program waits for the reader of its table"
        time.sleep(0.05)
    shown, _ = child.communicate(timeout=120)
    assert shown.count("cuStreamSynchronize ") == 2 * 20000


def test_head_of_a_log_ends_quietly(trace: Trace, program: Callable[[str], Path], tmp_path: Path) -> None:
    trace("--log", "run.jsonl", "--", program("mistakes")).communicate(timeout=120)
    command = f"{sys.executable} -m benchguard trace run.jsonl | head -2; exit ${{PIPESTATUS[0]}}"
    ended = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stderr, len(ended.stdout.splitlines())) == (0, "", 2)


def test_running_process_is_followed_by_its_number(trace: Trace, tmp_path: Path) -> None:
    observe = [sys.executable, "-m", "benchguard", "--driver", "sim", "--log", "run.jsonl", "-q", "--"]
    program = [sys.executable, "-c", "import os; print(os.getpid(), flush=True)\n" + WAITS, "3"]
    observed = subprocess.Popen(
        [*observe, *program],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert observed.stdin is not None and observed.stdout is not None
    number = observed.stdout.readline().strip()
    assert observed.stdout.readline() == "ready\n"
    follower = trace("--pid", number, "-t", driver=None)
    assert follower.stdout is not None
    first = [follower.stdout.readline() for _ in range(4)]
    assert any("cuInit" in line and "[EXIT]" in line for line in first), first
    observed.stdin.write("go\n")
    observed.stdin.flush()
    observed.communicate(timeout=60)
    rest, errors = follower.communicate(timeout=60)
    assert follower.returncode == 0 and errors == ""
    assert rest.count("cuStreamSynchronize ") == 6 and "[END]" in rest


STUCK = """
import ctypes, sys
cuda = ctypes.CDLL("libcuda.so.1")
cuda.cuInit(0)
context = ctypes.c_void_p()
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
cuda.cuCtxSetCurrent(context)
hold = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: sys.stdin.readline())
cuda.cuLaunchHostFunc(None, hold, None)
cuda.cuStreamSynchronize(None)
cuda.cuCtxGetDevice(ctypes.byref(ctypes.c_int()))
"""


@pytest.mark.parametrize(("options", "is_shown"), [((), True), (("--call", "cuLaunch*"), False)])
def test_call_that_waits_has_a_row_before_it_returns(
    trace: Trace, options: tuple[str, ...], is_shown: bool
) -> None:
    """The stream waits for a host function, which waits for a line that the test sends after the row came."""
    tracer = trace(*options, "--", sys.executable, "-c", STUCK)
    assert tracer.stdin is not None and tracer.stdout is not None
    rows = []
    while is_shown and "[WAIT]" not in (row := tracer.stdout.readline()):
        assert row, rows
        rows.append(row)
    assert not is_shown or "cuStreamSynchronize" in row
    rest, _ = tracer.communicate("go\n", timeout=60)
    assert tracer.returncode == 0
    assert not any("cuStreamSynchronize" in each for each in rows) and "[WAIT]" not in rest
    assert rest.count("cuStreamSynchronize ") == 2 * is_shown


def test_process_that_is_not_observed_is_refused(trace: Trace) -> None:
    with subprocess.Popen(["sleep", "60"]) as sleeper:
        refused = trace("--pid", str(sleeper.pid), driver=None)
        _, errors = refused.communicate(timeout=60)
        sleeper.kill()
    assert refused.returncode == 2 and "is not observed" in errors


def test_log_that_was_cut_short_is_shown_to_its_end(
    trace: Trace, program: Callable[[str], Path], tmp_path: Path
) -> None:
    trace("--log", "run.jsonl", "--", program("mistakes")).communicate(timeout=120)
    log = tmp_path / "run.jsonl"
    log.write_bytes(log.read_bytes()[:-300])
    cut = trace("run.jsonl", driver=None)
    shown, errors = cut.communicate(timeout=60)
    assert cut.returncode == 1 and "cut short" in errors and "cuMemFree_v2" in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "give one LOG, or -- and a COMMAND, or --pid"),
        (("run.jsonl", "more"), "unexpected extra argument"),
        (("run.jsonl", "--", "true"), "give one LOG"),
        (("--",), "give one LOG"),
        (("--pid", "1", "--", "true"), "give one LOG"),
        (("--timeout", "1", "run.jsonl"), "--timeout is for a COMMAND"),
        (("--follow", "--", "true"), "--follow is for a LOG"),
        (("--summary", "--call", "x", "run.jsonl"), "--summary"),
        (("--summary", "--errors", "run.jsonl"), "leave out --errors"),
        (("--stream", "x", "run.jsonl"), "a stream is a handle"),
        (("--path", "libcudart.so.13", "run.jsonl"), "is the CUDA runtime"),
        (("no.jsonl",), "cannot read the log no.jsonl"),
        ((sys.executable,), "is not an audit log; to run it, write: neutrino-bench trace -- "),
    ],
)
def test_words_that_do_not_fit_are_refused(
    trace: Trace, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    (tmp_path / "libcudart.so.13").touch()
    refused = trace(*words, driver=None)
    _, errors = refused.communicate(timeout=60)
    assert refused.returncode == 2 and message in errors


def test_program_of_a_service_is_followed_by_its_number(trace: Trace, tmp_path: Path) -> None:
    with running_service(tmp_path / "logs") as service:
        variables = subprocess.run(
            [sys.executable, "-m", "benchguard", "env", "--log", str(service.folder)],
            capture_output=True,
            text=True,
            check=True,
        )
        program = f'{variables.stdout}\nexec "$0" -c "$1" 3'
        served = subprocess.Popen(
            ["bash", "-c", program, sys.executable, WAITS],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert served.stdin is not None and served.stdout is not None
        assert served.stdout.readline() == "ready\n"
        follower = trace("--pid", str(served.pid), "-t", driver=None)
        assert follower.stdout is not None
        assert follower.stdout.readline().startswith("PROCESS")
        served.communicate("go\n", timeout=60)
        rest, errors = follower.communicate(timeout=60)
    assert errors == "" and rest.count("cuStreamSynchronize ") == 6 and "status not known" in rest
