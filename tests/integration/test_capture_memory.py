"""Captures without all memory: what they can be used for, and which of them a grade makes."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from benchguard.capture import Capture, CaptureError
from benchguard.capture.layout import AllocationFlag
from benchguard.capture.pack import pack_descriptor
from benchguard.grade.grade import grade
from benchguard.grade.options import GradeOptions
from benchguard.grade.progress import GradeProgress
from benchguard.replay.replay import replay
from tests.conftest import ROOT
from tests.integration.support import DRIVER_PROGRAM, Record

PROGRAM = (
    DRIVER_PROGRAM
    + """
check(cuda.cuMemsetD32_v2(memory, 7, ctypes.c_size_t(1024)))
for number, memory_after in enumerate((True, False)):
    with benchguard.region(f"region {number}", memory_after=memory_after):
        check(cuda.cuMemsetD32_v2(memory, 8 + number, ctypes.c_size_t(1024)))
"""
)
COPIES = (
    DRIVER_PROGRAM
    + """
copy, size = ctypes.c_uint64(), 8192
check(cuda.cuMemAlloc_v2(ctypes.byref(copy), ctypes.c_size_t(size)))
for each in (memory, copy):
    check(cuda.cuMemsetD32_v2(each, 7, ctypes.c_size_t(size // 4)))
named = {"inputs": {"x": (memory.value, size)}, "outputs": {"y": (copy.value, size)}}
with benchguard.region("copy", **named, memory_after=False, memory_of_inputs=False):
    check(cuda.cuMemcpyDtoD_v2(copy, memory, ctypes.c_size_t(size)))
"""
)


def neutrino(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchguard", *map(str, words)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def recorded(record: Record, tmp_path: Path) -> Path:
    """A folder with captures x.ncap and x.2.ncap, with and without the memory after the region."""
    (tmp_path / "program.py").write_text(PROGRAM)
    outcome = record([sys.executable, "program.py"])
    assert outcome.status == 0, outcome.stderr
    return outcome.folder


def test_region_stores_the_memory_after_it_unless_it_is_not_wanted(recorded: Path) -> None:
    found = []
    for name in ("x.ncap", "x.2.ncap"):
        with Capture.open(recorded / name) as capture:
            (allocation,) = capture.allocations
            found.append((len(capture.before), len(capture.after), allocation.flags))
    both = AllocationFlag.BEFORE | AllocationFlag.AFTER
    assert found == [(1, 1, both), (1, 0, both | AllocationFlag.AFTER_UNKNOWN)]


def test_memory_that_a_capture_lacks_is_not_read_as_unchanged(recorded: Path) -> None:
    with Capture.open(recorded / "x.2.ncap") as capture:
        address = capture.allocations[0].address
        assert capture.memory(address, 4) == bytes([8, 0, 0, 0])
        with pytest.raises(CaptureError, match="no memory from after the region; record it again"):
            capture.memory(address, 4, after=True)
    shown = neutrino("inspect", recorded / "x.2.ncap").stdout
    assert "4096 B | unknown" in shown
    assert "8192 B allocated, 4096 B stored, changes unknown" in shown


def test_region_without_the_memory_after_it_is_timed_but_not_verified(recorded: Path) -> None:
    path = recorded / "x.2.ncap"
    timed = neutrino("replay", path, "--samples", "3", "--driver", "sim")
    assert timed.returncode == 0, timed.stderr
    refused = neutrino("replay", path, "--samples", "3", "--driver", "sim", "--verify")
    assert refused.returncode != 0
    assert "no memory from after the region; record it again, or leave out --verify" in refused.stderr


def test_region_without_the_memory_of_its_inputs_needs_input_sets(record: Record, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(COPIES)
    outcome = record([sys.executable, "program.py"])
    assert outcome.status == 0, outcome.stderr
    path = outcome.folder / "x.ncap"
    with Capture.open(path) as capture:
        flags = [AllocationFlag.BEFORE_UNKNOWN in each.flags for each in capture.allocations]
        stored = [run.address for run in capture.before]
        assert (flags, stored) == ([True, False], [capture.allocations[1].address])
    refused = neutrino("replay", path, "--samples", "3", "--driver", "sim")
    assert refused.returncode != 0
    assert "no memory from before the region for 8192 bytes" in refused.stderr
    elsewhere = replay(path, inputs={"y": bytes(8192)}, outputs=[], samples=3, driver="sim")
    assert elsewhere.verdict != "pass" and "no input set gives them" in elsewhere.reason
    given = [bytes([number]) * 8192 for number in (1, 2)]
    result = replay(path, inputs={"x": given}, outputs=["y"], keep_outputs="sets", samples=8, driver="sim")
    assert result.outputs["y"] == given


def test_capture_that_was_packed_without_memory_is_not_replayed(record: Record, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    outcome = record([sys.executable, "program.py"], "--keep-raw")
    (raw, _) = sorted(outcome.folder.glob(".x.ncap.*/*.nrec"))
    path, asked = tmp_path / "bare.ncap", []
    with raw.open("rb") as stream:
        pack_descriptor(stream.fileno(), path, has_memory=lambda *region: bool(asked.append(region)))
    assert asked == [("region 0", 4096)]
    with Capture.open(path) as capture:
        assert (len(capture.before), len(capture.after)) == (0, 0)
        with pytest.raises(CaptureError, match="no memory from before the region"):
            capture.memory(capture.allocations[0].address, 4)
    refused = neutrino("replay", path, "--samples", "3", "--driver", "sim")
    assert refused.returncode != 0
    assert "the capture has no memory from before the region" in refused.stderr


def test_cordon_checks_captures_without_the_memory_of_inputs() -> None:
    problem = ROOT / "examples" / "problems" / "vector_add.py"
    submission = ROOT / "examples" / "problems" / "submissions" / "vector_add" / "kernel.ptx"
    graded = grade(problem, submission, driver="sim", cases=("small",), samples=3, cordon_device=True)
    (cordon,) = [case.cordon for case in graded.cases]
    assert cordon is not None and (graded.verdict, cordon.status) == ("pass", "held"), cordon


def test_input_sets_are_freed_once_nobody_needs_them() -> None:
    problem = ROOT / "examples" / "problems" / "vector_add.py"
    submission = ROOT / "examples" / "problems" / "submissions" / "vector_add" / "kernel.ptx"
    held: dict[tuple[str, str], list[int]] = {}

    def files(kind: str) -> set[int]:
        found = set()
        for each in Path("/proc/self/fd").iterdir():
            with suppress(FileNotFoundError):  # other threads close files meanwhile
                if f"neutrino-{kind}" in str(each.readlink()):
                    found.add(each.stat().st_ino)
        return found

    kinds = ("throwaway", "secrets")
    others = [files(kind) for kind in kinds]  # that other tests of this process left

    def look(step: GradeProgress) -> None:
        held[step.case, step.phase] = [len(files(k) - known) for k, known in zip(kinds, others, strict=True)]

    options = GradeOptions(driver="sim", cases=("small", "large"), samples=3)
    assert grade(problem, submission, options, progress=look).verdict == "pass"
    assert held["large", "record"][0] == 0  # only the submission has the throw-away inputs
    assert (held["small", "sample"], held["large", "sample"]) == ([0, 2], [0, 1])


def test_kept_captures_of_a_grade_have_all_memory(tmp_path: Path) -> None:
    """They can be replayed and verified later. A grade that keeps no captures stores less, and has the same verdict."""
    problem = ROOT / "examples" / "problems" / "vector_add.py"
    submission = ROOT / "examples" / "problems" / "submissions" / "vector_add" / "kernel.ptx"
    options = GradeOptions(driver="sim", cases=("small",), samples=3, keep=tmp_path / "kept")
    kept = grade(problem, submission, options)
    assert (kept.verdict, grade(problem, submission, replace(options, keep=None)).verdict) == ("pass", "pass")
    captures = sorted((tmp_path / "kept").glob("*.ncap"))
    assert len(captures) == 2
    for path in captures:
        verified = neutrino("replay", path, "--samples", "3", "--driver", "sim", "--verify")
        assert "verified" in verified.stdout, verified.stderr
