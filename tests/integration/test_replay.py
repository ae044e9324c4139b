"""neutrino-bench replay and benchguard.replay() on the CPU driver, with captures whose outcome is known."""

from __future__ import annotations

import csv
import json
import os
import struct
import subprocess
import sys
import threading
from pathlib import Path

import msgspec
import pytest

import benchguard
from benchguard.capture import CaptureError
from benchguard.capture.layout import ARENA
from benchguard.errors import UsageError
from benchguard.replay.protocol import COLD
from benchguard.replay.result import Document
from benchguard.toolchain.errors import ShimError
from tests.conftest import ROOT
from tests.support.captures import CAPTURES, GRANULE, Builder, Memory, floats, saxpy_launch, saxpy_values

N = 1024
DONE = ["--driver", "sim", "--samples", "8"]


@pytest.fixture(autouse=True)
def _engine(native: Path) -> None:
    if not list((native / "replay").glob("*.so")):
        pytest.fail(f"{native}/replay is not built: run `python build.py build`")


@pytest.fixture
def saxpy(tmp_path: Path) -> Path:
    return CAPTURES["saxpy"](tmp_path / "saxpy.ncap")


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "benchguard", "replay", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        words, capture_output=True, text=True, timeout=200, check=False, env=environment, cwd=ROOT
    )


@pytest.mark.parametrize("name", [name for name in CAPTURES if name != "refused"])
def test_memory_after_a_replay_is_as_recorded(name: str, tmp_path: Path) -> None:
    outcome = run(CAPTURES[name](tmp_path / "x.ncap"), *DONE, "--verify")
    assert outcome.returncode == 0, outcome.stderr
    assert "memory equals the captured memory, byte for byte" in outcome.stdout
    assert "time of region 1, us" in outcome.stdout


@pytest.mark.parametrize(
    "option",
    [
        *(f"--cold={cold}" for cold in COLD),
        *("--icache=cold", "--icache=warm", "--flush-cache", "--rotating-count=3", "--no-prime"),
    ],
)
def test_every_replay_option_leaves_the_same_memory(option: str, saxpy: Path, tmp_path: Path) -> None:
    outcome = run(saxpy, *DONE, option, "--output", f"y={tmp_path / 'y'}")
    assert outcome.returncode == 0, outcome.stderr
    assert (tmp_path / "y").read_bytes() == floats(saxpy_values(N)[2])


@pytest.mark.quick
def test_result_document_matches_its_schema(saxpy: Path, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    assert run(saxpy, *DONE, "--verify", "--json", path, "--quiet").returncode == 0
    decoded = msgspec.json.decode(path.read_bytes(), type=Document)
    assert decoded.verdict == "pass" and decoded.trust == "replayed"
    assert len(decoded.cases[0].samples) == 8 and decoded.cases[0].time_us is not None
    assert decoded.cases[0].time_us.min > 0
    assert decoded.device is not None and decoded.overhead is not None and decoded.prepared is not None
    assert "CPU driver" in decoded.clocks.unavailable
    assert decoded.verification is not None and decoded.verification.exact


def test_cache_handling_is_in_the_result(saxpy: Path) -> None:
    """Composable Kernel's flags, where nothing empties an instruction cache: copies of the code."""
    outcome = run(saxpy, *DONE, "--flush-cache", "--rotating-count", 5, "--json", "-")
    decoded = msgspec.json.decode(outcome.stdout.encode(), type=Document)
    assert decoded.prepared is not None
    assert (decoded.prepared.copies, decoded.prepared.code_copies, decoded.prepared.flush_blocks) == (5, 8, 0)
    assert decoded.icache == "cold (8 copies of the code in turn)"
    settings = decoded.settings
    assert (settings.cold, settings.icache, settings.flush_cache, settings.rotating_count) == (
        "rotate",
        "cold",
        True,
        5,
    )
    assert "cold rotate (5 in turn), icache cold (8 copies of the code in turn), primed" in outcome.stderr


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        (["--rotating-count", 3, "--cold", "flush"], 2, "a rotating count has no effect with cold 'flush'"),
        (["--rotating-count", 0], 2, "the rotating count is 0; give 1"),
        (["--until", "soon"], 2, "soon"),
        (["--driver", "/nowhere/libcuda.so.1"], 2, "No such file or directory"),
        (["--json", "/nowhere/x.json"], 2, "/nowhere is not a folder"),
        (["--output", "y=/nowhere/y"], 2, "/nowhere is not a folder"),
        (["--raw", "/"], 2, "is a directory"),
        (["--driver", "hip-sim"], 2, "is a HIP driver, but a CUDA driver is needed"),
    ],
)
def test_invalid_option_message_is_one_line(
    saxpy: Path, options: list[object], status: int, message: str
) -> None:
    outcome = run(saxpy, "--driver", "sim", *options)
    assert outcome.returncode == status
    assert len(outcome.stderr.splitlines()) == 1
    assert message in outcome.stderr


def test_json_output_is_alone_on_stdout(saxpy: Path) -> None:
    outcome = run(saxpy, *DONE, "--json", "-")
    assert json.loads(outcome.stdout)["verdict"] == "pass"
    assert "median" in outcome.stderr


def test_quiet_option_prints_nothing(saxpy: Path) -> None:
    outcome = run(saxpy, *DONE, "--quiet")
    assert (outcome.returncode, outcome.stdout, outcome.stderr) == (0, "", "")


def test_raw_option_writes_a_row_per_sample(saxpy: Path, tmp_path: Path) -> None:
    path = tmp_path / "samples.csv"
    assert run(saxpy, *DONE, "--raw", path).returncode == 0
    rows = list(csv.DictReader(path.open()))
    assert [row["n"] for row in rows] == [str(n) for n in range(8)]
    assert all(float(row["device_us"]) > 0 and float(row["host_us"]) > 0 for row in rows)


def test_inputs_replace_recorded_memory(saxpy: Path, tmp_path: Path) -> None:
    x, y, out = tmp_path / "x", tmp_path / "y", tmp_path / "out"
    x.write_bytes(floats([3.0] * N))
    y.write_bytes(floats([1.0] * N))
    where = f"{ARENA + GRANULE:#x}"
    outcome = run(
        saxpy, *DONE, "--input", f"x={x}", "--input", f"{where}={y}", "--output", f"{where}:{4 * N}={out}"
    )
    assert outcome.returncode == 0, outcome.stderr
    assert out.read_bytes() == floats([7.0] * N)


def test_memory_difference_is_located(tmp_path: Path) -> None:
    """A capture that says the kernel left something else."""
    wrong = tmp_path / "wrong.ncap"
    after = saxpy_values(N)[2]
    after[5] += 1
    _saxpy_that_left(wrong, floats(after))
    outcome = run(wrong, *DONE, "--verify")
    assert outcome.returncode == 1
    assert f"cuMemAlloc_v2 at {ARENA + GRANULE:#x}" in outcome.stderr
    assert "from offset 0x1" in outcome.stderr and "memory that differs" in outcome.stdout


def _saxpy_that_left(path: Path, after: bytes) -> None:
    x, y, _ = map(floats, saxpy_values(N))
    with Builder(path) as builder:
        builder.device()
        builder.saxpy()
        builder.stream()
        builder.memory(Memory(ARENA, x, x))
        builder.memory(Memory(ARENA + GRANULE, y, after))
        builder.operation(saxpy_launch(ARENA, ARENA + GRANULE, N))
        builder.end()


def test_access_to_unallocated_memory_fails_the_replay(tmp_path: Path) -> None:
    path = tmp_path / "stray.ncap"
    with Builder(path) as builder:
        builder.device()
        builder.saxpy()
        builder.stream()
        builder.memory(Memory(ARENA, bytes(4 * N), bytes(4 * N)))
        builder.operation(saxpy_launch(ARENA, ARENA + 64 * GRANULE, N))
        builder.end()
    outcome = run(path, *DONE, "--quiet")
    assert outcome.returncode == 65
    assert outcome.stderr == "neutrino-bench: failed: the region failed: CUDA_ERROR_ILLEGAL_ADDRESS (700)\n"


def test_refused_capture_names_the_call(tmp_path: Path) -> None:
    path = CAPTURES["refused"](tmp_path / "x.ncap")
    outcome = run(path, *DONE, "--quiet")
    assert outcome.returncode == 4 and "cuMemcpyDtoH_v2" in outcome.stderr
    assert len(outcome.stderr.splitlines()) == 1
    outcome = run(path, *DONE, "--ignore-refusals", "--verify", "--json", "-", "--quiet")
    assert outcome.returncode == 0
    document = json.loads(outcome.stdout)
    assert document["settings"]["ignored_refusals"] and "cuMemcpyDtoH_v2" in document["notes"][0]


@pytest.mark.quick
def test_time_out_gives_its_exit_status(saxpy: Path) -> None:
    outcome = run(saxpy, "--driver", "sim", "--samples", "100000", "--timeout", "0.2", "--quiet")
    assert outcome.returncode == 124 and "raise the time-out" in outcome.stderr


def test_unconverged_replay_fails_only_if_convergence_is_required(saxpy: Path) -> None:
    never = ["--driver", "sim", "--cold", "none", "--until", "cv=0.000001", "--timeout", "12"]
    outcome = run(saxpy, *never, "--require-converged", "--quiet")
    assert outcome.returncode == 5 and "coefficient of variation" in outcome.stderr
    outcome = run(saxpy, *never, "--json", "-")
    assert outcome.returncode == 0, outcome.stderr
    result = json.loads(outcome.stdout)
    assert result["verdict"] == "pass" and result["convergence"]["converged"] is False
    assert any("coefficient of variation" in note for note in result["notes"])
    assert "note: the coefficient of variation" in outcome.stderr


def test_stop_rule_is_passed_on_and_named_in_the_output(saxpy: Path) -> None:
    outcome = run(saxpy, "--driver", "sim", "--until", "cv=1", "--json", "-")
    assert outcome.returncode == 0, outcome.stderr
    result = json.loads(outcome.stdout)
    assert "until cv=1" in outcome.stderr and result["settings"]["until"] == "cv=1"


@pytest.mark.quick
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--until", "sd=1"], "is not a stop rule"),
        (["--samples", "0"], "samples is 0; give 1"),
        (["--samples", "5", "--until", "cv=1"], "give one of them"),
        (["--cold", "hot"], "--cold"),
        (["--input", "x"], "NAME=FILE"),
        (["--input", "x=/no/such/file"], "cannot read the input"),
        (
            ["--input", "x=/dev/zero"],
            "is a pipe or a device with more than 256 MiB; write it to a file first",
        ),
        (["--input", "0xzz=/dev/null"], "not a number"),
        (["--input", "nothing=/dev/null"], "no range 'nothing'"),
        (["--output", "0x10:4=/dev/shm/no-such-output"], "not within one allocation"),
        (["--timeout", "0"], "timeout"),
    ],
)
def test_usage_error_is_one_line(arguments: list[str], said: str, saxpy: Path) -> None:
    outcome = run(saxpy, "--driver", "sim", *arguments)
    assert outcome.returncode == 2 and said in outcome.stderr
    assert len(outcome.stderr.splitlines()) == 1


def test_file_that_is_not_a_capture_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.ncap"
    path.write_bytes(b"no capture" * 100)
    outcome = run(path, *DONE)
    assert outcome.returncode not in {0, 1, 4, 5}
    assert len(outcome.stderr.splitlines()) == 1 and str(path) in outcome.stderr
    with pytest.raises(CaptureError):
        benchguard.replay(path)


# ---- the library -----------------------------------------------------------------------------------------


@pytest.mark.quick
def test_library_call_in_a_thread_returns_every_output(saxpy: Path) -> None:
    """In a thread that is not the first, as an object; every set's outputs come back."""
    results: list[benchguard.ReplayResult] = []
    sets = [struct.pack(f"<{N}f", *[float(k)] * N) for k in range(3)]

    def work() -> None:
        with benchguard.Capture.open(saxpy) as capture:
            results.append(
                benchguard.replay(
                    capture,
                    driver="sim",
                    inputs={"x": sets, "y": floats([1.0] * N)},
                    outputs=["y"],
                    samples=12,
                    keep_outputs="sets",
                )
            )

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(120)
    (result,) = results
    assert result.verdict == "pass", result.reason
    assert result.outputs["y"] == [floats([2.0 * k + 1.0] * N) for k in range(3)]
    assert {row.input_set for row in result.table} <= {0, 1, 2} and len(result.samples) == 12
    assert result.settings.input_sets == 3


def test_arrays_and_functions_are_valid_inputs(saxpy: Path) -> None:
    numpy = pytest.importorskip("numpy")
    inputs = {
        "x": lambda number: numpy.full(N, number, dtype=numpy.float32),
        "y": numpy.zeros(N, dtype=numpy.float32),
    }
    result = benchguard.replay(
        saxpy, driver="sim", inputs=inputs, outputs=["y"], samples=5, keep_outputs="sets"
    )
    outputs = [numpy.frombuffer(each, dtype=numpy.float32) for each in result.outputs["y"]]
    assert [float(each[0]) for each in outputs] == [2.0 * number for number in range(8)]


def test_seed_determines_the_input_sets(saxpy: Path) -> None:
    inputs = {"x": [floats([float(k)] * N) for k in range(4)]}

    def draw_sets(seed: int) -> list[int | None]:
        result = benchguard.replay(saxpy, driver="sim", inputs=inputs, samples=20, seed=seed)
        return [row.input_set for row in result.table]

    first = draw_sets(1)
    assert len(set(first)) > 1
    assert draw_sets(1) == first
    assert any(draw_sets(seed) != first for seed in (2, 3, 4))


@pytest.mark.parametrize(
    "options", [{"cold": "hot"}, {"icache": "hot"}, {"timeout": 0}, {"device": -1}, {"keep_outputs": "all"}]
)
def test_invalid_argument_raises_usage_error(options: dict[str, object], saxpy: Path) -> None:
    with pytest.raises(UsageError):
        benchguard.replay(saxpy, driver="sim", **options)


def test_missing_driver_raises_shim_error(saxpy: Path) -> None:
    with pytest.raises(ShimError):
        benchguard.replay(saxpy, driver="/no/such/libcuda.so.1")
