"""Replays, successful and failing, with an engine and a CPU driver built with a sanitizer."""

from __future__ import annotations

import os
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest

from benchguard.capture.layout import ARENA
from tests.sanitize.test_sanitized import FOLDER, OPTIONS
from tests.support.captures import CAPTURES, GRANULE
from tests.unit.replay.engine_captures import (
    ENDLESS,
    FOLLOW,
    crossing_capture,
    integers,
    one_kernel,
    scattered_capture,
)
from tests.unit.replay.engine_support import COLD, FAILED, TIMEOUT, assert_exact, replayed
from tests.unit.replay.test_engine_strict import temporary_capture

pytestmark = pytest.mark.skipif(not FOLDER, reason="run by `python build.py sanitize`")


def sanitized(capture: Path, *steps: list[Any], **options: Any) -> list[Any]:
    """Like replayed(), but a sanitizer report ends the child with a status that fails the test."""
    folder = Path(str(FOLDER)) / "address-undefined"
    names = ("libasan.so", "libubsan.so")
    compiler = os.environ.get("CC", "cc")
    items = [
        subprocess.run(
            [compiler, f"-print-file-name={each}"], capture_output=True, text=True, check=True
        ).stdout
        for each in names
    ]
    preload = ":".join(each.strip() for each in items)
    return replayed(
        capture,
        *steps,
        library=str(folder / "replay" / "libneutrino_replay.so"),
        driver=str(folder / "sim" / "libcuda.so.1"),
        environment={**OPTIONS, "LD_PRELOAD": preload},
        **options,
    )


@pytest.mark.parametrize("name", sorted(set(CAPTURES) - {"refused"}))
@pytest.mark.parametrize("cold", sorted(COLD))
def test_operations_of_every_kind_run_in_every_mode(tmp_path: Path, name: str, cold: str) -> None:
    path = CAPTURES[name](tmp_path / "x.ncap")
    results = sanitized(
        path, ["verify"], ["measure", 3], ["overhead"], ["recorded", ARENA, 4], ["warm", True], ["measure", 1],
        cold=cold, cold_code=True,
    )  # fmt: skip
    assert_exact(results[1])
    assert len(results[2]) == 3 and len(results[4]) == 8 and len(results[6]) == 1


@pytest.mark.parametrize("name", sorted(set(CAPTURES) - {"refused"}))
def test_strict_replays_run_clean(tmp_path: Path, name: str) -> None:
    path = CAPTURES[name](tmp_path / "x.ncap")
    place = ARENA + 2 * GRANULE if name == "reads" else ARENA  # the host may not read what outputs overwrite
    output: list[Any] = ["output", place + 1, 21]
    results = sanitized(
        path,
        ["verify"],
        output,
        ["measure", 3],
        ["overhead"],
        cold="none",
        cold_code=True,
        strict=True,
        guard=True,
    )
    assert_exact(results[1])
    assert len(results[3]) == 3


def test_strict_temporaries_run_clean(tmp_path: Path) -> None:
    path = temporary_capture(tmp_path / "x.ncap")
    assert len(sanitized(path, ["measure", 3], strict=True, guard=True)[1]) == 3


def test_inputs_and_outputs_run_clean(tmp_path: Path) -> None:
    path = scattered_capture(tmp_path / "x.ncap")
    at = ARENA + 3 * GRANULE
    steps: list[list[Any]] = [
        ["output", at, 4096],
        ["input", 0, at, integers([70]).hex()],
        ["samples", 3, at, 4],
    ]
    assert {left for _, left in sanitized(path, *steps, cold="rotate")[3]} == {integers([71]).hex()}


def test_crossing_streams_run_clean(tmp_path: Path) -> None:
    assert_exact(sanitized(crossing_capture(tmp_path / "x.ncap"), ["verify"])[1])


def test_failed_replay_is_closed(tmp_path: Path) -> None:
    path = one_kernel(tmp_path / "x.ncap", FOLLOW, "follow", struct.pack("<Q", ARENA + 64 * GRANULE))
    assert sanitized(path, ["once", 0xFFFFFFFF])[1]["status"] == FAILED


def test_hanging_replay_is_closed(tmp_path: Path) -> None:
    path = one_kernel(tmp_path / "x.ncap", ENDLESS, "endless", bytes(4))
    assert sanitized(path, ["measure", 1], timeout_ms=500)[1]["status"] == TIMEOUT


@pytest.mark.parametrize(
    "call", ["cuMemCreate:2", "cuMemAlloc_v2:2", "cuGraph*", "cuEventCreate:5", "cuMemHostAlloc:2"]
)
def test_partial_preparation_is_undone(tmp_path: Path, call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIM_INJECT", f"{call}=fail(999)")
    (refused,) = sanitized(CAPTURES["graph"](tmp_path / "x.ncap"), cold="remap")
    assert refused["status"] == FAILED
