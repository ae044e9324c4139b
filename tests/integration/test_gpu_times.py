"""GPU times of launches (--gpu-time), on the CPU driver, whose events have a tick of a nanosecond."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.integration.support import Observe, Observed

PAIRS = 1024
"""Event pairs of a context (hook/cuda/time/launch_time.c)."""
FLOAT_NS = 1000
"""cuEventElapsedTime gives a float of milliseconds: its error is below a microsecond up to 8 s."""

Program = Callable[[str], Path]


def times_of(observed: Observed) -> dict[int, dict[str, Any]]:
    """The lines of GPU times by the number of their launch, which each launch has once."""
    assert observed.status == 0, observed.stderr
    lines = observed.of_kind("launch_time")
    times = {line["number"]: line for line in lines}
    assert len(times) == len(lines)
    return times


def test_gpu_times_of_all_forms_lie_within_the_programs_own_events(
    observe: Observe, program: Program, tmp_path: Path
) -> None:
    summary = tmp_path / "summary.json"
    observed = observe([program("gpu_times"), "forms"], "--gpu-time", "--summary", str(summary))
    times, own = times_of(observed), [int(word) for word in observed.stdout.split()]
    launches = observed.of_kind("launch")
    assert [line["number"] for line in launches] == list(times)
    measured = [times[line["number"]]["gpu_ns"] for line in launches]
    assert all(0 < ours <= outer + FLOAT_NS for ours, outer in zip(measured, own, strict=True))
    # Each of ours is the time of one kernel, not of a pair without a kernel: 4 times the turns take longer.
    assert min(measured[3::4]) > min(measured[::4])
    assert {times[line["number"]]["stream"] for line in launches} == {line["stream"] for line in launches}
    assert Counter(line["call"] for line in observed.of_kind("call"))["cuEventRecord"] == 2 * len(own)
    assert Counter(line["call"] for line in observed.of_kind("call"))["cuEventCreate"] == 2
    kernel = json.loads(summary.read_text())["kernels"][0]
    assert kernel["gpu"]["launches"] == len(own) and kernel["gpu"]["total_ns"] == sum(measured)
    assert "GPU total" in observed.stderr and "unmeasured: 0" in observed.stderr


def test_launch_into_a_stream_capture_has_no_gpu_time_and_the_graph_has_one_for_each_launch(
    observe: Observe, program: Program
) -> None:
    observed = observe([program("gpu_times"), "capture"], "--gpu-time")
    times = times_of(observed)
    plain, captured = observed.of_kind("launch")
    assert captured["captured"] and "number" not in captured
    graphs = observed.of_kind("graph_launch")
    assert set(times) == {plain["number"], *(line["number"] for line in graphs)} and len(times) == 3
    assert all(times[line["number"]]["graph"] == line["graph"] for line in graphs)
    assert all(line["gpu_ns"] > 0 for line in times.values())
    assert observed.stdout.split() == ["1"], "the program's graph has only the program's kernel"


@pytest.mark.full
def test_launches_of_a_context_that_is_destroyed_later_are_timed(observe: Observe, program: Program) -> None:
    observed = observe([program("gpu_times"), "contexts"], "--gpu-time")
    assert set(times_of(observed)) == {line["number"] for line in observed.of_kind("launch")}
    assert len(observed.of_kind("launch_time")) == 6


@pytest.mark.full
def test_launches_of_two_threads_are_timed_under_their_own_thread(observe: Observe, program: Program) -> None:
    observed = observe([program("gpu_times"), "threads"], "--gpu-time")
    times = times_of(observed)
    launches = {line["number"]: line["thread"] for line in observed.of_kind("launch") if "number" in line}
    assert {number: line["thread"] for number, line in times.items()} == launches
    assert len(launches) == 600 and len(set(launches.values())) == 2


@pytest.mark.full
def test_launches_beyond_the_pool_are_recorded_and_counted_as_unmeasured(
    observe: Observe, program: Program, tmp_path: Path
) -> None:
    summary = tmp_path / "summary.json"
    command = [program("gpu_times"), "queued", str(PAIRS + 76)]
    observed = observe(command, "--gpu-time", "--summary", str(summary))
    times, launches = times_of(observed), observed.of_kind("launch")
    numbered = [line for line in launches if "number" in line]
    assert len(launches) == PAIRS + 77
    assert [line["number"] for line in numbered] == [
        line["number"] for line in sorted(numbered, key=lambda line: line["time_ns"])
    ]
    assert len(numbered) == PAIRS + 1 and "number" in launches[-1], "a pair is used again"
    assert set(times) == {line["number"] for line in numbered}
    assert json.loads(summary.read_text())["gpu_unmeasured"] == 76


@pytest.mark.full
def test_log_without_the_option_has_neither_numbers_nor_times(observe: Observe, program: Program) -> None:
    observed = observe([program("gpu_times"), "forms"])
    assert not times_of(observed)
    assert all("number" not in line for line in observed.of_kind("launch"))
    assert "gpu_time" not in observed.lines[0] and "GPU total" not in observed.stderr


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--driver", "hip-sim"), "leave it out for a HIP driver"),
        (("--policy", "grading"), "--gpu-time and --policy do not go together"),
    ],
)
def test_gpu_time_that_cannot_be_measured_is_refused_before_the_command_runs(
    options: tuple[str, ...], reason: str, observe: Observe, tmp_path: Path
) -> None:
    observed = observe(["touch", str(tmp_path / "ran")], "--gpu-time", *options)
    assert observed.status == 2 and reason in observed.stderr and len(observed.stderr.splitlines()) == 1
    assert not (tmp_path / "ran").exists()
