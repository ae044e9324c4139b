"""KernelBench's problems as suites: weights, inputs and precision."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchguard.adapters import load_suite
from benchguard.errors import UsageError
from benchguard.problem.arrays import dtype_of, to_numpy
from benchguard.problem.errors import ProblemError
from benchguard.problem.spec import Tolerance
from benchguard.problem.suite import Suite

torch = pytest.importorskip("torch")
GIVEN = Path(__file__).parent / "given" / "kernelbench_linear.py"


def opened(path: Path = GIVEN, **options: str) -> Suite:
    return load_suite(str(path), "auto", {"device": "cpu", **options})


def test_weights_from_kernelbench_seed() -> None:
    """As its own two models are built; the submission's draws the same in the quarantine."""
    suite = opened()
    assert (suite.convention, suite.entry, suite.init) == ("module", "ModelNew", (16, 12, -0.25))
    (case,) = suite.cases
    assert [(each.name, each.role, each.shape) for each in case.spec.buffers] == [
        ("input0", "input", (8, 16)),
        ("output0", "output", (8, 12)),
    ]
    inputs = case.inputs(9, "own")
    torch.manual_seed(42)
    linear = torch.nn.Linear(16, 12).double()
    with torch.no_grad():
        right = torch.clamp(linear(inputs["input0"].double()), min=-0.25)
    expected = case.expected(inputs)["output0"]
    assert dtype_of(expected) == "float64", "the reference runs in float64"
    assert np.allclose(to_numpy(expected), right.numpy(), rtol=1e-12)
    assert case.tolerances == {"output0": Tolerance(1e-4, 1e-4)} and not case.own_verdict


def test_inputs_depend_on_seed_only() -> None:
    (case,) = opened().cases
    torch.manual_seed(3)
    first = to_numpy(case.inputs(1, "own")["input0"])
    assert np.array_equal(first, to_numpy(case.inputs(1, "own")["input0"]))
    assert not np.array_equal(first, to_numpy(case.inputs(2, "own")["input0"]))


def test_given_weights_are_constants() -> None:
    (case,) = opened(weights="given").cases
    constants = [each.name for each in case.spec.buffers if each.role == "constant"]
    assert constants == ["linear_weight", "linear_bias"]
    one, two = case.inputs(1, "own"), case.inputs(2, "own")
    assert all(np.array_equal(to_numpy(one[name]), to_numpy(two[name])) for name in constants)


def test_half_precision_model() -> None:
    (case,) = opened(precision="bfloat16").cases
    assert {each.dtype for each in case.spec.buffers} == {"bfloat16"}
    assert case.tolerances == {"output0": Tolerance(1e-2, 1e-2)}
    assert dtype_of(case.inputs(1, "own")["input0"]) == "bfloat16"


def test_model_without_float64_runs_in_float32(tmp_path: Path) -> None:
    file = tmp_path / "problem.py"
    file.write_text(GIVEN.read_text().replace("self.linear(x)", "self.linear(x) @ torch.ones(12, 12)"))
    (case,) = opened(file).cases
    assert dtype_of(case.expected(case.inputs(1, "own"))["output0"]) == "float32"


def test_stateful_model_unchanged(tmp_path: Path) -> None:
    """Batch normalisation in training mode moves its averages."""
    file = tmp_path / "problem.py"
    text = GIVEN.read_text().replace("nn.Linear(in_features, out_features)", "nn.BatchNorm1d(in_features)")
    file.write_text(
        text.replace("torch.clamp(self.linear(x), min=self.low)", "self.linear(x) + self.linear.running_mean")
    )
    (case,) = opened(file).cases
    inputs = case.inputs(1, "own")
    assert np.array_equal(
        to_numpy(case.expected(inputs)["output0"]), to_numpy(case.expected(inputs)["output0"])
    )


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("def get_init_inputs", "def no_init_inputs", "has no get_init_inputs"),
        ("(batch_size, in_features)", "(batch_size, in_features + 1)", "forward failed"),
        ("in_features, out_features, -0.25]", "in_features]", "Model failed"),
        ("return [torch.randn(batch_size, in_features)]", "return ['text']", "is a str|failed"),
    ],
)
def test_mistakes_reported(tmp_path: Path, old: str, new: str, words: str) -> None:
    file = tmp_path / "problem.py"
    file.write_text(GIVEN.read_text().replace(old, new))
    with pytest.raises(ProblemError, match=words):
        _ = load_suite(str(file), "kernelbench", {"device": "cpu"}).cases[0].spec


def test_invalid_options_refused() -> None:
    for options in ({"precision": "fp4"}, {"weights": "mine"}, {"size": "3"}):
        with pytest.raises(UsageError):
            opened(**options)
    with pytest.raises(UsageError, match="no such problem"):
        load_suite("/nowhere.py", "kernelbench")
