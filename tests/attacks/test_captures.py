"""Captures of an attack and of its honest control are replayed and compared without their problem."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import benchguard
from tests.attacks.catalogue import ATTACKS, HONEST, PROBLEMS
from tests.attacks.problems import DEEP
from tests.attacks.running import placed

pytestmark = pytest.mark.full

SETS = 14
CACHED = 100
"""The attack's cached answers take less than the honest time over this: some 0.4 ms instead of 70 ms."""


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    found = {}
    for name, path in (
        ("honest", HONEST / "mix.py"),
        ("malloc", ATTACKS / "17_by_content_heap.cu"),
        ("__cudaCDP2Malloc", ATTACKS / "17_by_content_runtime_heap.py"),
    ):
        kept = tmp_path_factory.mktemp(name) / "kept"
        with placed(path) as folder:
            benchguard.grade(f"{PROBLEMS}:Mix", folder, driver="sim", cases=("deep",), samples=8, keep=kept)
        found[name] = kept / "case-0-0.ncap"
    return found


def replayed(path: Path, samples: int, sets: int) -> benchguard.ReplayResult:
    inputs = {"x": [random.Random(n).randbytes(4 * DEEP) for n in range(sets)]} if sets else None
    return benchguard.replay(path, driver="sim", strict=True, cold="none", samples=samples, inputs=inputs)


def test_honest_capture_passes_without_one_use_inputs(captures: dict[str, Path]) -> None:
    assert replayed(captures["honest"], 10, 0).verdict == "pass"


@pytest.mark.parametrize("function", ["malloc", "__cudaCDP2Malloc"])
def test_results_kept_in_the_heap_are_no_pass_without_one_use_inputs(
    captures: dict[str, Path], function: str
) -> None:
    attack = replayed(captures[function], 10, 0)
    assert attack.verdict == "unproven" and attack.status == 8
    assert f"heap ({function}), which cannot be restored" in attack.reason and "10 or more" in attack.reason


def test_results_kept_in_the_heap_have_no_false_time_on_one_use_inputs(captures: dict[str, Path]) -> None:
    honest, attack = (replayed(captures[name], 40, SETS) for name in ("honest", "malloc"))
    assert honest.verdict == "pass" and honest.time_us is not None
    assert attack.verdict == "violation" or (
        attack.time_us is not None and attack.time_us.median > honest.time_us.median / CACHED
    )


def test_results_kept_in_the_heap_win_no_strict_comparison(captures: dict[str, Path]) -> None:
    result = benchguard.compare_captures(
        captures["honest"], captures["malloc"], strict=True, driver="sim", samples=10, blocks=3
    )
    assert (result.call, result.verdict) == (None, "unproven")
    assert result.reason.startswith(f"B ({captures['malloc']}) did not pass")


def test_capture_that_names_another_driver_chooses_no_driver() -> None:
    """Without the check, the CPU driver for HIP replays it, or the verdict is `error` where that is not built."""
    with placed(ATTACKS / "33_other_vendor.py") as folder:
        result = benchguard.grade(f"{PROBLEMS}:Mix", folder, driver="sim", cases=("small",), samples=8)
    assert result.verdict == "failed"
    assert "it names a driver of HIP, and was recorded on CUDA" in result.reason
