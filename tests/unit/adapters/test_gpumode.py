"""GPU MODE's tasks, in the forms that they come in, on a machine without a GPU."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchguard.adapters import load_suite
from benchguard.errors import UsageError
from benchguard.problem.arrays import to_numpy
from benchguard.problem.errors import ProblemError
from benchguard.problem.spec import Buffer, Scalar
from benchguard.problem.suite import Suite
from benchguard.problem.suite import TestCase as Case
from tests.conftest import ROOT
from tests.unit.adapters.tasks import BARE, IN_PLACE, RETURNS, YAML, write_task

pytest.importorskip("torch")
EXAMPLE = ROOT / "examples" / "gpumode" / "rowscale"


def roles(case: Case) -> list[tuple[str, str]]:
    return [
        (each.name, each.role if isinstance(each, Buffer) else each.ctype) for each in case.spec.arguments
    ]


def opened(path: Path, **options: str) -> Suite:
    return load_suite(str(path), "auto", {"device": "cpu", **options})


def on_host(arrays: Any) -> dict[str, Any]:
    """As the judge hands them to verify."""
    return {name: np.array(to_numpy(each)) for name, each in arrays.items()}


def test_example_task_graded() -> None:
    """The output is the last value of data; check_implementation decides; the file's seeds are replaced."""
    suite = opened(EXAMPLE)
    assert (suite.name, suite.convention, suite.entry) == ("rowscale", "tuple", "custom_kernel")
    assert [case.spec.name for case in suite.cases] == ["test.0", "test.1", "benchmark.0"]
    case = suite.cases[0]
    assert roles(case) == [("input0", "input"), ("input1", "input"), ("output2", "output")]
    assert case.spec.params == {"rows": "4", "columns": "33", "seed": "4242"}
    first, same, second = (case.inputs(seed, "own") for seed in (1, 1, 2))
    assert set(first) == {"input0", "input1"} and tuple(first["input0"].shape) == (4, 33)
    assert np.array_equal(first["input0"], same["input0"])
    assert not np.array_equal(first["input0"], second["input0"])
    values = on_host(first)
    expected = case.expected(first)
    assert np.array_equal(values["input0"], first["input0"]), "inputs are left as they are"
    matrix, weights = values["input0"].astype(np.float64), values["input1"].astype(np.float64)
    right = matrix * (weights / np.abs(matrix).max(axis=1))[:, None]
    assert np.allclose(to_numpy(expected["output2"]), right, rtol=1e-5)
    assert case.own_verdict
    assert case.verify(values, on_host(expected), {"output2": right.astype(np.float32)}) is None
    wrong = right.astype(np.float32)
    wrong[2, 5] += 0.01
    reason = case.verify(values, on_host(expected), {"output2": wrong})
    assert reason is not None and "1 elements differ, the first at (2, 5)" in reason


def test_returned_outputs(tmp_path: Path) -> None:
    suite = opened(write_task(tmp_path, RETURNS), cases="tests")
    assert suite.convention == "tuple_of_inputs"
    (case,) = suite.cases
    assert roles(case) == [
        ("input0", "input"), ("input1", "input"), ("input2", "double"), ("returned0", "output")
    ]  # fmt: skip
    assert case.spec.arguments[2] == Scalar("input2", "double", 2.5)
    inputs = case.inputs(3, "own")
    expected = case.expected(inputs)
    right = (to_numpy(inputs["input0"]) + to_numpy(inputs["input1"])) * np.float32(2.5)
    assert np.array_equal(to_numpy(expected["returned0"]), right)
    assert case.verify(on_host(inputs), {}, {"returned0": right}) is None
    assert case.verify(on_host(inputs), {}, {"returned0": right + 1}) == "check_implementation: they differ"


def test_single_tensor_data(tmp_path: Path) -> None:
    """Two outputs, one of whole numbers; a check that says words alone."""
    suite = opened(write_task(tmp_path, BARE), cases="benchmarks")
    assert suite.convention == "input"
    assert [case.spec.name for case in suite.cases] == ["benchmark.0", "benchmark.1"]
    case = suite.cases[1]
    assert roles(case) == [("input0", "input"), ("returned0", "output"), ("returned1", "output")]
    assert [each.dtype for each in case.spec.buffers] == ["float32", "float32", "int64"]
    inputs = case.inputs(5, "own")
    expected = on_host(case.expected(inputs))
    assert expected["returned1"] == to_numpy(inputs["input0"]).argmax()
    assert case.verify(on_host(inputs), {}, expected) is None
    expected["returned1"] = expected["returned1"] + 1
    assert case.verify(on_host(inputs), {}, expected) == "check_implementation: wrong: 1"


def test_in_place_values_detected(tmp_path: Path) -> None:
    """Told apart from an output by what the reference makes of other values in it."""
    suite = opened(write_task(tmp_path, IN_PLACE), cases="tests")
    (case,) = suite.cases
    assert suite.convention == "tuple"
    assert roles(case) == [("input0", "input"), ("inout1", "inout"), ("output2", "output")]
    inputs = case.inputs(1, "own")
    assert set(inputs) == {"input0", "inout1"}
    before = on_host(inputs)
    expected = on_host(case.expected(inputs))
    assert np.array_equal(expected["inout1"], before["input0"] + before["inout1"])
    assert np.array_equal(expected["output2"], 2 * before["input0"])
    assert case.verify(before, {}, expected) is None


def test_distributions_only_on_request(tmp_path: Path) -> None:
    suite = opened(write_task(tmp_path, BARE), distributions="own,sparse", cases="tests")
    (case,) = suite.cases
    assert case.distributions == ("own", "sparse")
    own, sparse = (to_numpy(case.inputs(7, name)["input0"]) for name in case.distributions)
    assert len(np.unique(sparse)) < len(np.unique(own))


def test_modules_of_two_tasks_separate(tmp_path: Path) -> None:
    """Their modules have the same names, also when they import late."""
    for name, value in (("one", 1), ("two", 2)):
        (tmp_path / name).mkdir()
        late = RETURNS.replace(
            "    return (a + b) * factor", "    import late\n    return (a + b) * late.VALUE"
        )
        yaml = YAML.replace("files:\n", 'files:\n  - {"name": "late.py", "source": "late.py"}\n')
        task = write_task(tmp_path / name, late, yaml)
        (task / "late.py").write_text(f"VALUE = {value}\n")
    one, two = (opened(tmp_path / name / "task_py").cases[0] for name in ("one", "two"))
    inputs = one.inputs(1, "own")
    double = 2 * to_numpy(one.expected(inputs)["returned0"])
    assert np.allclose(to_numpy(two.expected(inputs)["returned0"]), double)
    assert not {"late", "helpers", "reference"} & set(sys.modules)


def test_submission_import_refused(tmp_path: Path) -> None:
    task = write_task(tmp_path, "from submission import custom_kernel\n" + RETURNS)
    (task / "submission.py").write_text("raise SystemExit(3)\n")
    with pytest.raises(ProblemError, match=r"reference.py:1: .*does not import submissions"):
        opened(task)


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        (RETURNS.replace("def ref_kernel", "def other"), "has no ref_kernel|not defined"),
        (RETURNS.replace("return a, b, 2.5", "return {'a': a}"), "is a dict; a gradable case"),
        (RETURNS.replace("return a, b, 2.5", "return a, (b, b), 2.5"), "is a tuple"),
        (RETURNS.replace("return (a + b) * factor", "return [[a]]"), "ref_kernel returned a list"),
        (RETURNS.replace("return (a + b) * factor", "1 / 0"), "reference.py:12: ref_kernel failed: Zero"),
        (RETURNS.replace("return (a + b) * factor", "return"), "returns nothing and changes nothing"),
        (RETURNS.replace("(size, size,", "(size + seed % 5, size,", 1), "may not depend on it|must match"),
        (IN_PLACE.replace("return a, total, torch.empty(size, device=\"cuda\")",
                          "return torch.empty(size, device=\"cuda\"), total, a")
                 .replace("a, total, out = data", "out, total, a = data"), "put outputs last"),
    ],
)  # fmt: skip
def test_ungradable_task_reported(tmp_path: Path, reference: str, words: str) -> None:
    with pytest.raises(ProblemError, match=words):
        case = opened(write_task(tmp_path, reference)).cases[0]
        for seed in range(8):
            case.inputs(seed, "own")


@pytest.mark.parametrize(
    ("yaml", "words"),
    [
        ("files: [", "invalid YAML"),
        ("- 1\n", "holds no mapping"),
        ("files: [1]\n", "files has 1"),
        ("tests: {}\nbenchmarks: 3\n", "benchmarks must be a list"),
        ("files:\n  - {name: helpers.py, source: ../helpers.py}\ntests: []\n", "no cases; add one"),
        ("files: !!python/object/apply:os.getcwd []\n", "invalid YAML"),
    ],
)
def test_invalid_task_file_reported(tmp_path: Path, yaml: str, words: str) -> None:
    with pytest.raises(ProblemError, match=words):
        opened(write_task(tmp_path, RETURNS, yaml))


def test_invalid_options_refused(tmp_path: Path) -> None:
    task = write_task(tmp_path, RETURNS)
    for options in ({"cases": "some"}, {"distributions": "odd"}, {"device": "tpu"}, {"colour": "red"}):
        with pytest.raises(UsageError):
            opened(task, **options)
    with pytest.raises(UsageError, match=r"task\.yml"):
        load_suite(str(tmp_path / "nowhere"), "gpumode")
    with pytest.raises(UsageError, match="unknown adapter"):
        load_suite(str(task), "tensara")
