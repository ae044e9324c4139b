"""neutrino-bench compare with captures and with commands, on the CPU driver."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import benchguard
from benchguard.capture.layout import ARENA, Role
from benchguard.capture.model import Kernel, Launch, Range
from benchguard.errors import UsageError
from tests.conftest import ROOT
from tests.support.captures import (
    CAPTURES,
    GRANULE,
    SAXPY_LAYOUT,
    Builder,
    Memory,
    floats,
    saxpy_capture,
    saxpy_launch,
    saxpy_values,
)
from tests.support.kernels import SAXPY

N = 1024
SHORT = {"driver": "sim", "samples": 4, "blocks": 3}
MANY = 7
"""Blocks for a comparison that must be decided: with 3, a stall in one of them made the interval 4 to 4099."""
IDLE = SAXPY.replace("@%p1 bra done;", "bra done;")
"""A kernel that writes nothing."""


def capture(path: Path, *, extra: int = 0, ptx: str = SAXPY) -> Path:
    """y = 2 x + y, after `extra` launches on other memory. The captured outcome is always the right one."""
    x, y, after = map(floats, saxpy_values(N))
    places = [ARENA + number * GRANULE for number in range(3)]
    with Builder(path) as builder:
        builder.device()
        builder.add(Kernel(builder.module(ptx), 28, 12, 0, 0, 1024, "saxpy", SAXPY_LAYOUT))
        builder.stream()
        for place, memory in zip(places, [(x, x), (y, after), (bytes(4 * N), bytes(4 * N))], strict=True):
            builder.memory(Memory(place, *memory))
        for _ in range(extra):
            builder.operation(idle_launch(places[2]))
        builder.operation(saxpy_launch(places[0], places[1], N))
        builder.add(Range(places[0], 4 * N, Role.INPUT, "x", "float32", (N,)))
        builder.add(Range(places[1], 4 * N, Role.STATE, "y", "float32", (N,)))
        builder.end()
    return path


def idle_launch(place: int) -> Launch:
    """z = 2 z + z, where z is 0."""
    return saxpy_launch(place, place, N)


def run(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "benchguard", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "CUDA_VISIBLE_DEVICES": "", "COLUMNS": "100"}
    return subprocess.run(
        words, capture_output=True, text=True, timeout=200, check=False, env=environment, cwd=cwd
    )


def test_capture_with_more_work_is_slower(tmp_path: Path, native: Path) -> None:
    assert (native / "replay").is_dir()
    a, b = capture(tmp_path / "a.ncap"), capture(tmp_path / "b.ncap", extra=1000)
    result = benchguard.compare_captures(a, b, **{**SHORT, "blocks": MANY})
    assert (result.call, result.verdict, result.status) == ("SLOWER", "pass", 0)
    (case,), (pair,) = result.cases, result.pairs
    assert case.ratio > 2 and case.samples == 4 * 4 * len(case.blocks)
    assert len(case.blocks) < MANY  # the result is clear before
    assert (case.capture_a, case.capture_b) == (pair.a.sha256, pair.b.sha256)
    assert [(each.name, each.role, each.differing) for each in pair.memory] == [
        ("x", "input", 0),
        ("y", "state", 0),
    ]
    assert not result.strict and not result.outputs_checked and not pair.a.evidence


def test_different_outputs_are_measured_in_elements(tmp_path: Path, native: Path) -> None:
    assert (native / "replay").is_dir()
    other = SAXPY.replace("fma.rn.f32 %f4, %f1, %f2, %f3", "fma.rn.f32 %f4, %f1, %f2, %f2")
    a, b = capture(tmp_path / "a.ncap"), capture(tmp_path / "b.ncap", ptx=other)
    (pair,) = benchguard.compare_captures(a, b, **SHORT).pairs
    x, y = pair.memory
    largest = max(abs(left - right) for left, right in zip(*saxpy_values(N)[:2], strict=True))
    assert x.differing == 0 and y.differing > 0 and y.largest_difference == largest


@pytest.mark.parametrize(
    ("strict", "call", "verdict"), [(False, "FASTER", "pass"), (True, None, "wrong")], ids=["plain", "strict"]
)
def test_capture_that_computes_nothing_wins_only_without_strict(
    strict: bool, call: str | None, verdict: str, tmp_path: Path, native: Path
) -> None:
    """The forged capture says that its kernel gave the right outputs."""
    assert (native / "replay").is_dir()
    honest, forged = capture(tmp_path / "a.ncap", extra=1000), capture(tmp_path / "b.ncap", ptx=IDLE)
    result = benchguard.compare_captures(honest, forged, strict=strict, **SHORT)
    assert (result.call, result.verdict) == (call, verdict)
    if strict:
        assert result.status == 1 and result.reason.startswith(
            f"B ({forged}) did not pass: wrong: output 'y'"
        )
    else:
        assert [each.differing > 0 for each in result.pairs[0].memory] == [False, True]


def test_honest_captures_pass_a_strict_comparison_on_new_inputs(tmp_path: Path, native: Path) -> None:
    assert (native / "replay").is_dir()
    a, b = capture(tmp_path / "a.ncap"), capture(tmp_path / "b.ncap", extra=150)
    inputs = {"x": [floats([float(number)] * N) for number in range(12)]}
    result = benchguard.compare_captures(a, b, strict=True, inputs=inputs, **{**SHORT, "samples": 24})
    assert (result.verdict, result.reason) == ("pass", "")
    assert result.outputs_checked
    for side in (result.pairs[0].a, result.pairs[0].b):
        assert side.settings.one_use_sets == 8 and side.sandbox
        assert {"outputs", "carried results"} <= {each.check for each in side.evidence}


@pytest.mark.parametrize("name", [name for name in CAPTURES if name != "refused"])
def test_every_kind_of_capture_is_compared_with_itself(name: str, tmp_path: Path, native: Path) -> None:
    assert (native / "replay").is_dir()
    path = CAPTURES[name](tmp_path / "x.ncap")
    result = benchguard.compare_captures(path, path, **SHORT, verify=True)
    assert result.verdict == "pass" and result.pairs[0].b.verified


@pytest.mark.quick
def test_options_that_a_comparison_cannot_use_are_refused(tmp_path: Path) -> None:
    path = saxpy_capture(tmp_path / "x.ncap")
    for changes, text in [
        ({"blocks": 2}, "at least 3"),
        ({"until": "cv=1"}, "fixed number of samples"),
    ]:
        with pytest.raises(UsageError, match=text):
            benchguard.compare_captures(path, path, **changes)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="A has 2 captures, B has 1"):
        benchguard.compare_captures([path, path], [path])
    with pytest.raises(UsageError, match="is of CUDA and"):
        benchguard.compare_captures(path, hip_capture(tmp_path / "hip.ncap"))


def hip_capture(path: Path) -> Path:
    from benchguard.capture.layout import Vendor
    from benchguard.capture.model import Device, End, Meta

    with Builder(path) as builder:
        builder.add(Device(Vendor.HIP, 60000, 9, 0, 16, 0, 8 << 30, ARENA, 1 << 40, "00" * 16, "a device"))
        builder.add(Meta("region", "1"))
        builder.add(End(0, 0))
    return path


@pytest.mark.quick
def test_refused_capture_is_one_line_and_no_call(tmp_path: Path, native: Path) -> None:
    assert (native / "replay").is_dir()
    good, refused = saxpy_capture(tmp_path / "x.ncap"), CAPTURES["refused"](tmp_path / "refused.ncap")
    done = run("compare", good.name, refused.name, "--driver", "sim", "-q", cwd=tmp_path)
    assert done.returncode == 4 and done.stderr.count("\n") == 1
    assert "neutrino-bench: B (refused.ncap) did not pass: unreplayable: " in done.stderr


PROGRAM = ROOT / "examples" / "replay" / "program.py"


def test_two_commands_are_recorded_and_compared(tmp_path: Path, native: Path) -> None:
    assert (native / "replay").is_dir()
    pytest.importorskip("cuda.core")
    small, large = ([sys.executable, PROGRAM, "--size", size] for size in ("32", "768"))
    options = ("--driver", "sim", "--blocks", "3", "--samples", "3")
    done = run(
        "compare", *options, "--fail-on", "unsure", "--json", "-", "--", *small, "--vs", *large, cwd=tmp_path
    )
    document: Any = json.loads(done.stdout)  # the programs' own output goes to standard error
    assert document["cases"][0]["ratio"] > 2 and document["labels"][1].endswith("program.py --size 768")
    # On a busy machine, 3 blocks may not be enough for a call.
    assert done.returncode == {"SLOWER": 6, "UNSURE": 7}[document["call"]], done.stderr
    assert "0 of 1024 pixels differ" in done.stderr and f"B is {document['call']}" in done.stderr
    assert "keep them with --keep" in done.stderr


def test_command_is_recorded_and_replayed_in_one_go(tmp_path: Path, native: Path) -> None:
    assert (native / "replay").is_dir()
    pytest.importorskip("cuda.core")
    words = ("--driver", "sim", "--samples", "3", "--verify", "--keep", "kept")
    done = run("replay", *words, "--", sys.executable, PROGRAM, "--size", "32", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "time of region equalise, us" in done.stdout and "verified: memory equals" in done.stdout
    assert {path.name for path in (tmp_path / "kept").iterdir()} == {"capture.ncap", "capture.audit.jsonl"}


@pytest.mark.quick
@pytest.mark.parametrize(
    ("code", "status", "text"),
    [
        ("raise SystemExit(3)", 65, "the program made no driver call"),
        ("pass", 70, "the program made no driver call"),
        (None, 127, "command not found"),
    ],
)
def test_command_without_a_capture_is_one_line(
    code: str | None, status: int, text: str, tmp_path: Path, native: Path
) -> None:
    assert (native / "replay").is_dir()
    words = [sys.executable, "-c", code] if code is not None else ["no-such-program"]
    done = run("replay", "--driver", "sim", "-q", "--", *words, cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (status, 1), done.stderr
    assert text in done.stderr


def test_failed_comparison_keeps_the_captures_of_its_commands(tmp_path: Path, native: Path) -> None:
    assert (native / "replay").is_dir()
    pytest.importorskip("cuda.core")
    good = [sys.executable, PROGRAM, "--size", "32"]
    done = run("compare", "--driver", "sim", "--", *good, "--vs", sys.executable, "-c", "1/0", cwd=tmp_path)
    assert done.returncode == 65, done.stderr
    (line,) = (line for line in done.stderr.splitlines() if "the captures are kept in" in line)
    folder = Path(line.rpartition(" ")[2])
    assert {path.name for path in folder.iterdir()} == {"a.ncap", "a.audit.jsonl", "b.audit.jsonl"}
