"""Facts about the capture in a result."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchguard.capture import Capture
from benchguard.capture.layout import ARENA
from benchguard.errors import UsageError
from benchguard.replay.subject import Subject, subject_of
from tests.conftest import ROOT
from tests.support.captures import CAPTURES, COUNTER, GRANULE


def subject(name: str, folder: Path) -> Subject:
    with Capture.open(CAPTURES[name](folder / "x.ncap")) as capture:
        result = subject_of(capture)
        assert result.name == capture.name and len(result.name) == 64
        return result


def test_single_launch_is_one_use(tmp_path: Path) -> None:
    (use,) = subject("saxpy", tmp_path).kernels
    assert (use.name, use.grid, use.block, use.launches, use.share) == (
        "saxpy",
        (8, 1, 1),
        (128, 1, 1),
        1,
        1.0,
    )


def test_launches_of_one_shape_are_merged(tmp_path: Path) -> None:
    (use,) = subject("streams", tmp_path).kernels
    assert use.launches == 2


def test_graph_nodes_count_once_per_launch(tmp_path: Path) -> None:
    (use,) = subject("graph", tmp_path).kernels
    assert use.launches == 2


def test_capture_without_kernels_has_no_uses(tmp_path: Path) -> None:
    assert subject("copies", tmp_path).kernels == ()


def test_memory_labels_name_the_call_or_the_global(tmp_path: Path) -> None:
    result = subject("global", tmp_path)
    assert result.label(ARENA, None) == "cuMemAlloc_v2"
    assert result.label(COUNTER, 0) == "global counter"
    assert result.label(5, None) == "memory" and result.label(5, 99) == "a global"
    assert result.place(COUNTER, 4).label == "global counter"


def test_range_is_found_by_its_unique_name(tmp_path: Path) -> None:
    result = subject("saxpy", tmp_path)
    assert result.place("y", 0).address == ARENA + GRANULE
    with pytest.raises(UsageError, match="no range 'z'; it has x, y"):
        result.place("z", 0)


def test_the_package_is_cheap_and_replay_can_be_called_before_and_after_its_modules() -> None:
    program = (
        "import sys, benchguard\n"
        "assert not {'msgspec', 'click', 'cffi', 'benchguard.replay'} & set(sys.modules), sys.modules\n"
        "assert callable(benchguard.replay)\n"
        "import benchguard.replay.statistics as statistics\n"
        "assert callable(benchguard.replay) and statistics.summarise\n"
        "assert benchguard.Capture.__name__ == 'Capture' and benchguard.ReplayResult and benchguard.read_log\n"
        "try: benchguard.nothing\n"
        "except AttributeError: sys.exit(0)\n"
        "sys.exit(1)"
    )
    words = [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {[str(ROOT), *sys.path]!r}\n{program}"]
    assert subprocess.run(words, check=False, timeout=240).returncode == 0
