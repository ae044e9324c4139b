"""pygpubench's test generators as suites: tolerances, arguments and mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchguard.adapters import load_suite
from benchguard.errors import UsageError
from benchguard.problem.arrays import to_numpy
from benchguard.problem.errors import ProblemError
from benchguard.problem.spec import Tolerance
from tests.conftest import ROOT

pytest.importorskip("torch")
EXAMPLE = ROOT / "examples" / "pygpubench" / "grayscale.py"
GENERATOR = """\
import torch
import pygpubench

def make(*, size, seed):
    x = torch.arange(size, device="cuda") + seed
    return (torch.empty_like(x), x, size), x * 2
"""


def test_example_task_graded() -> None:
    options = {"device": "cpu", "arguments": json.dumps({"size": 32})}
    suite = load_suite(f"{EXAMPLE}:generate_test_case", "pygpubench", options)
    assert (suite.name, suite.convention, suite.entry) == (
        "grayscale.generate_test_case", "output_first", "kernel"
    )  # fmt: skip
    (case,) = suite.cases
    assert [(each.name, each.role, each.shape) for each in case.spec.buffers] == [
        ("output", "output", (32, 32)),
        ("input0", "input", (32, 32, 3)),
    ]
    assert case.tolerances == {"output": Tolerance(atol=1e-6, rtol=1e-5)}
    one, two = case.inputs(1, "own"), case.inputs(2, "own")
    assert not np.array_equal(to_numpy(one["input0"]), to_numpy(two["input0"]))
    for inputs in (two, one):
        right = to_numpy(inputs["input0"]) @ np.float32([0.2989, 0.5870, 0.1140])
        assert np.allclose(to_numpy(case.expected(inputs)["output"]), right, rtol=1e-5)


def test_generator_in_module_with_exact_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file says pygpubench, which this package then is."""
    (tmp_path / "tests_of_mine.py").write_text(GENERATOR)
    monkeypatch.syspath_prepend(str(tmp_path))
    options = {"device": "cpu", "arguments": '{"size": 9}'}
    (case,) = load_suite("tests_of_mine.make", "pygpubench", options).cases
    assert case.tolerances == {"output": Tolerance(0, 0)}
    assert [each.name for each in case.spec.arguments] == ["output", "input0", "input1"]
    inputs = case.inputs(4, "own")
    assert np.array_equal(to_numpy(case.expected(inputs)["output"]), 2 * to_numpy(inputs["input0"]))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("return (torch.empty_like(x), x, size), x * 2", "return x", r"has to return \(output, \*inputs\)"),
        ("x * 2", "(x * 2, 1e-3)", "it has 2 items"),
        ("x * 2", "(x * 2, 'a', 1)", "are not numbers"),
        ("def make", "def other", "has no function make"),
        ("x = ", "x = 1 / 0; ", "generator.py:5: .*division"),
        ("torch.arange(size,", "torch.arange(size + seed % 3,", "may not depend on it"),
    ],
)
def test_mistakes_reported(tmp_path: Path, old: str, new: str, words: str) -> None:
    file = tmp_path / "generator.py"
    file.write_text(GENERATOR.replace(old, new))
    options = {"device": "cpu", "arguments": '{"size": 9}'}
    with pytest.raises(ProblemError, match=words):
        (case,) = load_suite(f"{file}:make", "pygpubench", options).cases
        for seed in range(8):
            case.inputs(seed, "own")


@pytest.mark.parametrize("arguments", ["{", "[1]", '{"seed": 3}'])
def test_invalid_json_arguments_refused(arguments: str) -> None:
    with pytest.raises(UsageError, match="JSON"):
        load_suite(f"{EXAMPLE}:generate_test_case", "pygpubench", {"arguments": arguments})


@pytest.mark.parametrize("spec", ["nowhere.make", "/nowhere.py:make", "make"])
def test_missing_generator_reported(spec: str) -> None:
    with pytest.raises(UsageError, match="no such test generator"):
        load_suite(spec, "pygpubench")


def test_path_without_a_function_refused() -> None:
    with pytest.raises(UsageError, match=r"names no function; give that of the test generator"):
        load_suite(str(EXAMPLE), "pygpubench")
