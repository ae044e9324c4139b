"""examples/problems on the CPU driver: every submission that needs neither torch nor tensor cores is recorded on
throw-away inputs, replayed on others, and right to the problem's own tolerance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchguard.judge.compare import compare
from benchguard.judge.formats import is_float, stored_dtype
from benchguard.problem import suite
from benchguard.problem.arrays import Numbers, from_bytes, to_bytes, to_numpy
from benchguard.problem.load import load
from benchguard.quarantine.runner.compilers import find_nvcc
from benchguard.replay.replay import replay
from tests.conftest import ROOT
from tests.integration.quarantined import Case, call

PROBLEMS = ROOT / "examples" / "problems"
SUBMISSIONS = PROBLEMS / "submissions"
LANGUAGES = {".cu": "cuda", ".ptx": "ptx", ".py": "python"}
NEED_A_GPU = ("torch_eager.py", "triton_kernel.py")

NAMES = sorted(path.stem for path in PROBLEMS.glob("*.py") if path.stem != "declare")
RUNNABLE = sorted(
    path for path in SUBMISSIONS.glob("*/*") if path.suffix in LANGUAGES and path.name not in NEED_A_GPU
)


def small(name: str) -> suite.TestCase:
    return load(str(PROBLEMS / f"{name}.py")).cases[0]


def memory(case: suite.TestCase, seed: int, distribution: str = "own") -> dict[str, Numbers]:
    """A set, as bytes."""
    inputs = case.inputs(seed, distribution)
    return {each.name: to_bytes(inputs[each.name], each) for each in case.spec.read}


def assert_right(case: suite.TestCase, expected: dict[str, Any], actual: dict[str, bytes]) -> None:
    for each in case.spec.checked:
        stored = from_bytes(actual[each.name], each).reshape(-1).view(stored_dtype(each.dtype))
        target = to_numpy(expected[each.name]).reshape(-1)
        target = target.astype(np.float64) if is_float(each.dtype) else target
        comparison = compare(np.ascontiguousarray(stored), target, each.dtype, case.tolerances[each.name])
        assert comparison.wrong == 0, (each.name, comparison.first)


def test_every_problem_has_submissions() -> None:
    assert len(NAMES) >= 12
    assert sorted(path.parent.name for path in SUBMISSIONS.glob("*/cuda.cu")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_problem_is_sound(name: str) -> None:
    """Fresh in every distribution, the reference finite, and what is declared is what is given."""
    for number, case in enumerate(load(str(PROBLEMS / f"{name}.py")).cases):
        assert case.name == ("small", "large")[number]
        if case.name == "large":
            continue
        for distribution in case.distributions:
            first, other = (case.inputs(seed, distribution) for seed in (1, 2))
            for each in case.spec.read:
                same = (
                    to_bytes(first[each.name], each).tobytes() == to_bytes(other[each.name], each).tobytes()
                )
                assert same == (each.role == "constant"), (distribution, each.name)
            for each in case.spec.checked:
                expected = case.expected(first)[each.name]
                assert expected.shape == each.shape
                assert np.isfinite(expected.astype(np.float64)).all()
        assert case.spec.moved_bytes


@pytest.mark.parametrize("path", RUNNABLE, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_submission_is_right(tmp_path: Path, native: Path, path: Path) -> None:
    assert (native / "sim").is_dir()
    if path.suffix == ".cu" and find_nvcc() is None:
        pytest.skip("there is no nvcc")
    if path.stem.startswith("numba"):
        pytest.importorskip("numba_cuda", reason="comes with the extra examples")
    case = small(path.parent.name)
    arguments = Case(case.spec, [memory(case, 1), memory(case, 2)])
    ran = call(tmp_path, path.read_text(), arguments, language=LANGUAGES[path.suffix]).assert_finished()
    assert len(ran.captures) == 2
    sets = [case.inputs(3, distribution) for distribution in case.distributions]
    raw = {
        each.name: [to_bytes(inputs[each.name], each).tobytes() for inputs in sets] for each in case.spec.read
    }
    result = replay(
        ran.captures[0],
        inputs=raw,
        outputs=[each.name for each in case.spec.checked],
        driver="sim",
        samples=60,
        seed=1,  # with which every set has its turn
        keep_outputs="sets",
    )
    assert result.verdict == "pass", result.reason
    for number, inputs in enumerate(sets):
        actual = {name: arguments[number] for name, arguments in result.outputs.items()}
        assert_right(case, dict(case.expected(inputs)), actual)  # type: ignore[arg-type]
