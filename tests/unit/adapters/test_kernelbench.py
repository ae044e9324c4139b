"""KernelBench's problems as suites: weights, inputs and precision."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchguard.adapters import kernelbench_model, load_suite, trace
from benchguard.adapters.detect import adapter_of
from benchguard.adapters.kernelbench import KernelBenchCase
from benchguard.errors import UsageError
from benchguard.problem.arrays import dtype_of, to_numpy
from benchguard.problem.errors import ProblemError
from benchguard.problem.spec import NO_SEED, Tolerance
from benchguard.problem.suite import Suite

torch = pytest.importorskip("torch")
GIVEN = Path(__file__).parent / "given" / "kernelbench_linear.py"


DRAWING = """
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        return x + 1

def get_inputs():
    return [DRAWN]

def get_init_inputs():
    return []
"""


def opened(path: Path = GIVEN, **options: str) -> Suite:
    return load_suite(str(path), "auto", {"device": "cpu", **options})


def test_weights_from_kernelbench_seed() -> None:
    """As its own two models are built; the submission's draws the same in the quarantine."""
    suite = opened()
    assert (suite.convention, suite.entry, suite.init) == (
        "module",
        "ModelNew",
        ((16, 12, -0.25), {}, "float32"),
    )
    (case,) = suite.cases
    assert [(each.name, each.role, each.shape) for each in case.spec.buffers] == [
        ("input0", "input", (8, 16)),
        ("result0", "output", (8, 12)),
    ]
    inputs = case.inputs(9, "own")
    torch.manual_seed(42)
    linear = torch.nn.Linear(16, 12).double()
    with torch.no_grad():
        right = torch.clamp(linear(inputs["input0"].double()), min=-0.25)
    expected = case.expected(inputs)["result0"]
    assert dtype_of(expected) == "float64", "the reference runs in float64"
    assert np.allclose(to_numpy(expected), right.numpy(), rtol=1e-12)
    assert case.tolerances == {"result0": Tolerance(1e-4, 1e-4)} and not case.own_verdict


def test_inputs_depend_on_seed_only() -> None:
    (case,) = opened().cases
    torch.manual_seed(3)
    first = to_numpy(case.inputs(1, "own")["input0"])
    assert np.array_equal(first, to_numpy(case.inputs(1, "own")["input0"]))
    assert not np.array_equal(first, to_numpy(case.inputs(2, "own")["input0"]))


def test_inputs_that_are_equal_for_all_seeds_are_noted(tmp_path: Path) -> None:
    """A mask cannot be declared a constant in KernelBench's files."""
    path = tmp_path / "masked.py"
    text = DRAWING.replace("self, x", "self, x, mask").replace("x + 1", "x * mask")
    path.write_text(text.replace("DRAWN", "torch.rand(64, 64), torch.ones(64, 64).tril()"))
    (case,) = opened(path).cases
    assert case.spec.unseeded == ("input1",)
    varied = opened(path, distributions="own,shifted").cases[0].inputs(3, "shifted")
    assert np.array_equal(to_numpy(varied["input1"]), np.tril(np.ones((64, 64))))
    assert [note.partition(":")[0] for note in case.spec.notes] == ["input1 is equal for all seeds"]
    path.write_text(text.replace("DRAWN", "torch.ones(64, 64), torch.ones(64, 64)"))
    (case,) = opened(path).cases
    assert case.spec.notes == (NO_SEED,)


def test_given_weights_are_constants() -> None:
    (case,) = opened(weights="given").cases
    constants = [each.name for each in case.spec.buffers if each.role == "constant"]
    assert constants == ["linear_weight", "linear_bias"]
    one, two = case.inputs(1, "own"), case.inputs(2, "own")
    assert all(np.array_equal(to_numpy(one[name]), to_numpy(two[name])) for name in constants)


def test_half_precision_model() -> None:
    (case,) = opened(precision="bfloat16").cases
    assert {each.dtype for each in case.spec.buffers} == {"bfloat16"}
    assert case.tolerances == {"result0": Tolerance(1e-2, 1e-2)}
    assert dtype_of(case.inputs(1, "own")["input0"]) == "bfloat16"


def test_model_without_float64_runs_in_float32(tmp_path: Path) -> None:
    file = tmp_path / "problem.py"
    file.write_text(GIVEN.read_text().replace("self.linear(x)", "self.linear(x) @ torch.ones(12, 12)"))
    (case,) = opened(file).cases
    assert dtype_of(case.expected(case.inputs(1, "own"))["result0"]) == "float32"


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
        to_numpy(case.expected(inputs)["result0"]), to_numpy(case.expected(inputs)["result0"])
    )


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("def get_init_inputs", "def no_init_inputs", "has no get_init_inputs; define get_init_inputs"),
        ("def get_inputs", "def no_inputs", "has no get_inputs; define get_inputs"),
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


@pytest.mark.parametrize("name", ["get_inputs", "get_init_inputs"])
def test_model_with_one_of_the_two_functions_is_detected(name: str, tmp_path: Path) -> None:
    """The adapter names the function that is missing. A format without it knows only that there is no Problem."""
    file = tmp_path / "problem.py"
    file.write_text(f"class Model: ...\ndef {name}(): ...\n")
    assert adapter_of(str(file)) == "kernelbench"


def test_invalid_options_refused() -> None:
    for options in ({"precision": "fp4"}, {"weights": "mine"}, {"size": "3"}):
        with pytest.raises(UsageError):
            opened(**options)
    with pytest.raises(UsageError, match="no such problem"):
        load_suite("/nowhere.py", "kernelbench")


def changed(folder: Path, *changes: tuple[str, str]) -> Path:
    text = GIVEN.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    file = folder / "problem.py"
    file.write_text(text)
    return file


def test_arguments_by_keyword_are_named(tmp_path: Path) -> None:
    file = changed(
        tmp_path,
        (
            "[in_features, out_features, -0.25]",
            '[[in_features], {"out_features": out_features, "low": -0.25}]',
        ),
        ("[torch.randn(batch_size, in_features)]", '{"x": torch.randn(batch_size, in_features)}'),
    )
    suite = opened(file)
    assert suite.convention == "module_keywords"
    assert suite.init == ((16,), {"out_features": 12, "low": -0.25}, "float32")
    (case,) = suite.cases
    assert [each.name for each in case.spec.read] == ["x"]
    plain = opened().cases[0]
    assert np.array_equal(
        to_numpy(case.expected(case.inputs(1, "own"))["result0"]),
        to_numpy(plain.expected(plain.inputs(1, "own"))["result0"]),
    )


@pytest.mark.parametrize(
    ("call", "operator"),
    [
        ("nn.functional.dropout(self.linear(x), 0.5)", "bernoulli"),
        ("self.linear(x) + torch.rand(12)", "rand"),
    ],
)
def test_random_forward_refused_in_one_line(tmp_path: Path, call: str, operator: str) -> None:
    file = changed(tmp_path, ("torch.clamp(self.linear(x), min=self.low)", call))
    with pytest.raises(
        ProblemError, match=f"forward is random .aten.*{operator}.*none can be graded"
    ) as caught:
        _ = opened(file).cases[0].spec
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "call",
    [
        "nn.functional.dropout(self.linear(x), 0.0)",
        "nn.functional.dropout(self.linear(x), 0.5, training=False)",
        "nn.functional.scaled_dot_product_attention(*[self.linear(x)[None, None]] * 3)[0, 0]",
    ],
)
def test_dropout_of_nothing_is_not_random(tmp_path: Path, call: str) -> None:
    file = changed(tmp_path, ("torch.clamp(self.linear(x), min=self.low)", call))
    assert opened(file).cases[0].spec.notes == ()


def test_state_kept_between_calls_is_named(tmp_path: Path) -> None:
    file = changed(
        tmp_path,
        ("self.low = low", "self.low = low\n        self.hidden = torch.zeros(1, out_features)"),
        (
            "return torch.clamp(self.linear(x), min=self.low)",
            "self.hidden = torch.tanh(self.linear(x) + self.hidden)\n        return self.hidden",
        ),
    )
    with pytest.raises(ProblemError, match=r"keeps state between calls \(hidden\)"):
        _ = opened(file).cases[0].spec


@pytest.mark.parametrize(
    ("step", "kept"),
    [
        ("self.hidden = self.hidden.to(torch.float64)", False),
        ("self.hidden = self.hidden.clone().detach()", False),
        ("self.hidden.clone().add_(1)", False),
        ("self.hidden = self.hidden.clone()\n        self.hidden.add_(1)", True),
        ("self.hidden, self.other = self.other.clone(), self.hidden.clone()", True),
        ("self.hidden = self.hidden + 1", True),
    ],
)
def test_copy_of_a_models_own_tensor_is_not_state(tmp_path: Path, step: str, kept: bool) -> None:
    state = "self.hidden, self.other = torch.ones(1, out_features), torch.zeros(1, out_features)"
    call = "return torch.clamp(self.linear(x), min=self.low)"
    file = changed(
        tmp_path,
        ("self.low = low", f"self.low = low\n        {state}"),
        (call, f"{step}\n        {call} + self.hidden"),
    )
    if kept:
        with pytest.raises(ProblemError, match="keeps state between calls"):
            _ = opened(file).cases[0].spec
    else:
        assert opened(file).cases[0].spec.notes == ()


def test_state_that_results_do_not_depend_on_is_noted(tmp_path: Path) -> None:
    file = changed(tmp_path, ("nn.Linear(in_features, out_features)", "nn.BatchNorm1d(in_features)"))
    (note,) = opened(file).cases[0].spec.notes
    assert "linear.num_batches_tracked" in note and "does not depend on" in note


def test_large_inputs_are_not_allocated_when_opened(tmp_path: Path) -> None:
    """512 TiB of inputs, of which only the shape is needed."""
    file = changed(tmp_path, ("batch_size = 8", "batch_size = 1 << 43"))
    assert opened(file).cases[0].spec.checked[0].shape == (1 << 43, 12)


@pytest.mark.parametrize(
    ("size", "drawn", "device"),
    [
        (2048, "torch.rand(64, 8)", "meta"),
        (2049, "torch.rand(64, 8)", "cpu"),
        (2048, "torch.tensor(torch.rand(512).tolist())", "cpu"),
    ],
    ids=["large", "small", "not on the device"],
)
def test_large_inputs_are_drawn_on_the_device_for_references(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, drawn: str, device: str
) -> None:
    monkeypatch.setattr(kernelbench_model, "LARGE_BYTES", size)
    path = tmp_path / "problem.py"
    path.write_text(DRAWING.replace("DRAWN", drawn))
    problem = kernelbench_model.opened(path, "meta", "float32")
    [tensor] = problem.draw()
    assert tensor.device.type == device and tensor.numel() == 512


def test_small_model_is_traced_with_data_where_that_is_quick(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    has_data: list[bool] = []
    monkeypatch.setattr(kernelbench_model.KernelBenchProblem, "_is_quick", True)
    monkeypatch.setattr(
        kernelbench_model,
        "traced",
        lambda model, call: has_data.append(bool((call() == call()).all())) or trace.traced(model, call),
    )
    path = tmp_path / "problem.py"
    path.write_text(DRAWING.replace("DRAWN", "torch.rand(3, 4)"))
    (case,) = opened(path).cases
    assert isinstance(case, KernelBenchCase)
    assert [(each.name, each.shape) for each in case.spec.buffers] == [
        ("input0", (3, 4)),
        ("result0", (3, 4)),
    ]
    assert has_data == [True]
    assert case._trace.result.is_meta, "no memory of the device is kept"


def test_model_that_looks_at_values_is_run(tmp_path: Path) -> None:
    file = changed(tmp_path, ("min=self.low", "min=float(x.max().item())"))
    assert opened(file).cases[0].spec.checked[0].shape == (8, 12)


def test_kernelbench_names_of_precisions_are_known() -> None:
    assert {each.dtype for each in opened(precision="bf16").cases[0].spec.buffers} == {"bfloat16"}
