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
def test_memory_is_as_recorded(name: str, tmp_path: Path) -> None:
    done = run(CAPTURES[name](tmp_path / "x.ncap"), *DONE, "--verify")
    assert done.returncode == 0, done.stderr
    assert "memory is as recorded, byte for byte" in done.stdout
    assert "time of region 1, us" in done.stdout


@pytest.mark.parametrize(
    "option",
    [
        *(f"--cold={cold}" for cold in COLD),
        *("--icache=cold", "--icache=warm", "--flush-cache", "--rotating-count=3", "--no-prime", "--seed=7"),
    ],
)
def test_every_way_to_replay_leaves_the_same(option: str, saxpy: Path, tmp_path: Path) -> None:
    done = run(saxpy, *DONE, option, "--output", f"y={tmp_path / 'y'}")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "y").read_bytes() == floats(saxpy_values(N)[2])


def test_the_document_is_of_its_schema(saxpy: Path, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    assert run(saxpy, *DONE, "--verify", "--json", path, "--quiet").returncode == 0
    found = msgspec.json.decode(path.read_bytes(), type=Document)
    assert found.verdict == "pass" and found.trust == "replayed"
    assert len(found.cases[0].samples) == 8 and found.cases[0].time_us is not None
    assert found.cases[0].time_us.min > 0
    assert found.device is not None and found.overhead is not None and found.prepared is not None
    assert "CPU driver" in found.clocks.unavailable
    assert found.verification is not None and found.verification.exact


def test_what_was_done_to_the_caches_is_in_the_result(saxpy: Path) -> None:
    """Composable Kernel's flags, where nothing empties an instruction cache: copies of the code."""
    done = run(saxpy, *DONE, "--flush-cache", "--rotating-count", 5, "--json", "-")
    found = msgspec.json.decode(done.stdout.encode(), type=Document)
    assert found.prepared is not None
    assert (found.prepared.copies, found.prepared.code_copies, found.prepared.flush_blocks) == (5, 8, 0)
    assert found.icache == "cold (8 copies of the code in turn)"
    settings = found.settings
    assert (settings.cold, settings.icache, settings.flush_cache, settings.rotating_count) == (
        "rotate",
        "cold",
        True,
        5,
    )
    assert "cold rotate (5 in turn), icache cold (8 copies of the code in turn), primed" in done.stderr


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        (["--rotating-count", 3, "--cold", "flush"], 2, "cold 'flush' has no copies to rotate"),
        (["--rotating-count", 0], 2, "a rotating count of 0 cannot be"),
        (["--until", "soon"], 2, "soon"),
        (["--json", "/nowhere/x.json"], 2, "/nowhere is not a folder"),
        (["--output", "y=/nowhere/y"], 2, "/nowhere is not a folder"),
        (["--raw", "/"], 2, "is a directory"),
        (["--driver", "hip-sim"], 70, "is a HIP driver, but a driver of CUDA"),
    ],
)
def test_invalid_option_message_is_one_line(
    saxpy: Path, options: list[object], status: int, message: str
) -> None:
    done = run(saxpy, "--driver", "sim", *options)
    assert done.returncode == status
    assert len(done.stderr.splitlines()) == 1
    assert message in done.stderr


def test_json_has_standard_output_for_itself(saxpy: Path) -> None:
    done = run(saxpy, *DONE, "--json", "-")
    assert json.loads(done.stdout)["verdict"] == "pass"
    assert "median" in done.stderr


def test_quiet_is_quiet(saxpy: Path) -> None:
    done = run(saxpy, *DONE, "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_every_sample_is_a_row(saxpy: Path, tmp_path: Path) -> None:
    path = tmp_path / "samples.csv"
    assert run(saxpy, *DONE, "--raw", path).returncode == 0
    rows = list(csv.DictReader(path.open()))
    assert [row["n"] for row in rows] == [str(n) for n in range(8)]
    assert all(0 < float(row["device_us"]) < float(row["host_us"]) * 2 for row in rows)


def test_inputs_replace_what_was_recorded(saxpy: Path, tmp_path: Path) -> None:
    x, y, out = tmp_path / "x", tmp_path / "y", tmp_path / "out"
    x.write_bytes(floats([3.0] * N))
    y.write_bytes(floats([1.0] * N))
    where = f"{ARENA + GRANULE:#x}"
    done = run(
        saxpy, *DONE, "--input", f"x={x}", "--input", f"{where}={y}", "--output", f"{where}:{4 * N}={out}"
    )
    assert done.returncode == 0, done.stderr
    assert out.read_bytes() == floats([7.0] * N)


def test_a_wrong_memory_is_named(tmp_path: Path) -> None:
    """A capture that says the kernel left something else."""
    wrong = tmp_path / "wrong.ncap"
    after = saxpy_values(N)[2]
    after[5] += 1
    _saxpy_that_left(wrong, floats(after))
    done = run(wrong, *DONE, "--verify")
    assert done.returncode == 1
    assert f"cuMemAlloc_v2 at {ARENA + GRANULE:#x}" in done.stderr
    assert "from offset 0x1" in done.stderr and "memory that differs" in done.stdout


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


def test_memory_it_was_never_given(tmp_path: Path) -> None:
    path = tmp_path / "stray.ncap"
    with Builder(path) as builder:
        builder.device()
        builder.saxpy()
        builder.stream()
        builder.memory(Memory(ARENA, bytes(4 * N), bytes(4 * N)))
        builder.operation(saxpy_launch(ARENA, ARENA + 64 * GRANULE, N))
        builder.end()
    done = run(path, *DONE, "--quiet")
    assert done.returncode == 70
    assert len(done.stderr.splitlines()) == 1 and done.stderr.startswith("neutrino-bench: error: ")


def test_a_refused_capture_names_the_call(tmp_path: Path) -> None:
    path = CAPTURES["refused"](tmp_path / "x.ncap")
    done = run(path, *DONE, "--quiet")
    assert done.returncode == 4 and "cuMemcpyDtoH_v2" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    done = run(path, *DONE, "--ignore-refusals", "--verify", "--json", "-", "--quiet")
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert found["settings"]["ignored_refusals"] and "cuMemcpyDtoH_v2" in found["notes"][0]


def test_a_time_out(saxpy: Path) -> None:
    done = run(saxpy, "--driver", "sim", "--samples", "100000", "--timeout", "0.2", "--quiet")
    assert done.returncode == 124 and "raise the time-out" in done.stderr


def test_what_does_not_converge_says_so(saxpy: Path) -> None:
    done = run(saxpy, "--driver", "sim", "--until", "cv=0.000001", "--timeout", "12", "--quiet")
    assert done.returncode == 5 and "coefficient of variation" in done.stderr


def test_a_wide_rule_converges(saxpy: Path) -> None:
    done = run(saxpy, "--driver", "sim", "--until", "cv=1")
    assert done.returncode in {0, 5}, done.stderr
    assert "until cv=1" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--until", "sd=1"], "is no rule"),
        (["--samples", "0"], "0 samples"),
        (["--samples", "5", "--until", "cv=1"], "give one of them"),
        (["--cold", "hot"], "--cold"),
        (["--input", "x"], "NAME=FILE"),
        (["--input", "x=/no/such/file"], "cannot read the input"),
        (["--input", "0xzz=/dev/null"], "no number"),
        (["--input", "nothing=/dev/null"], "no range 'nothing'"),
        (["--output", "0x10:4=/tmp/x"], "not within one allocation"),
        (["--timeout", "0"], "--timeout"),
    ],
)
def test_mistakes_are_one_line(arguments: list[str], said: str, saxpy: Path) -> None:
    done = run(saxpy, "--driver", "sim", *arguments)
    assert done.returncode == 2 and said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_file_that_is_no_capture(tmp_path: Path) -> None:
    path = tmp_path / "x.ncap"
    path.write_bytes(b"no capture" * 100)
    done = run(path, *DONE)
    assert done.returncode not in {0, 1, 4, 5}
    assert len(done.stderr.splitlines()) == 1 and str(path) in done.stderr
    with pytest.raises(CaptureError):
        benchguard.replay(path)


# ---- the library -----------------------------------------------------------------------------------------


def test_from_a_notebook(saxpy: Path) -> None:
    """In a thread that is not the first, as an object; every set's outputs come back."""
    found: list[benchguard.ReplayResult] = []
    sets = [struct.pack(f"<{N}f", *[float(k)] * N) for k in range(3)]

    def work() -> None:
        with benchguard.Capture.open(saxpy) as capture:
            found.append(
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
    (result,) = found
    assert result.verdict == "pass", result.reason
    assert result.outputs["y"] == [floats([2.0 * k + 1.0] * N) for k in range(3)]
    assert {row.input_set for row in result.table} <= {0, 1, 2} and len(result.samples) == 12
    assert result.settings.input_sets == 3


def test_arrays_and_functions_are_inputs(saxpy: Path) -> None:
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


def test_the_same_seed_draws_the_same_sets(saxpy: Path) -> None:
    inputs = {"x": [floats([float(k)] * N) for k in range(4)]}

    def drawn(seed: int) -> list[int | None]:
        result = benchguard.replay(saxpy, driver="sim", inputs=inputs, samples=20, seed=seed)
        return [row.input_set for row in result.table]

    one = drawn(1)
    assert len(set(one)) > 1
    assert sorted(one, key=str) != one or drawn(2) != one


@pytest.mark.parametrize(
    "options", [{"cold": "hot"}, {"icache": "hot"}, {"timeout": 0}, {"device": -1}, {"keep_outputs": "all"}]
)
def test_what_cannot_be_asked(options: dict[str, object], saxpy: Path) -> None:
    with pytest.raises(UsageError):
        benchguard.replay(saxpy, driver="sim", **options)


def test_a_driver_that_is_not_there(saxpy: Path) -> None:
    with pytest.raises(ShimError):
        benchguard.replay(saxpy, driver="/no/such/libcuda.so.1")
