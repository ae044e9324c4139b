"""Starters for problems of other suites: their results have the reference's structure, and are zeros."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchguard.adapters import load_suite
from benchguard.errors import UsageError
from benchguard.problem.spec import Buffer, CaseSpec, Form, FunctionCall, Returned
from benchguard.problem.starter_suite import suite_starter
from benchguard.problem.starter_torch import torch_starter
from benchguard.problem.tree import Entries, Items, Leaf
from tests.conftest import ROOT

torch = pytest.importorskip("torch")
GIVEN = Path(__file__).parents[1] / "adapters" / "given"
CPU = {"device": "cpu"}


def run(text: str, entry: str) -> Any:
    names: dict[str, Any] = {}
    exec(compile(text, "starter.py", "exec"), names)
    return names[entry]


def test_starter_of_a_gpumode_task_returns_zeros_of_the_reference_shapes() -> None:
    suite = load_suite(str(ROOT / "examples" / "gpumode" / "rowscale"), options=CPU)
    function = run(suite_starter(suite, None), "custom_kernel")
    for case in suite.cases:
        inputs = [torch.as_tensor(each) for each in case.inputs(3, case.distributions[0]).values()]
        assert case.spec.returns is not None
        (form,) = case.spec.returns.results
        scratch = [torch.ones(each.shape) for each in case.spec.buffers if each.role == "scratch"]
        result = function((*inputs, *scratch))
        assert tuple(result.shape) == form.shape and not result.any()


@pytest.mark.parametrize("name", ["kernelbench_linear", "kernelbench_convolution"])
def test_starter_of_a_kernelbench_problem_is_a_module(name: str) -> None:
    suite = load_suite(str(GIVEN / f"{name}.py"), options=CPU)
    module = run(suite_starter(suite, "python"), "ModelNew")(1, 2, named=3)
    (case,) = suite.cases
    inputs = [torch.as_tensor(each) for each in case.inputs(3, "own").values()]
    result = module(*inputs[: sum(each.role == "input" for each in case.spec.buffers)])
    expected = next(iter(case.expected(case.inputs(3, "own")).values()))
    assert result.shape == expected.shape and not result.any()


def test_starter_of_a_leetgpu_challenge_has_its_entry_and_sizes(tmp_path: Path) -> None:
    suite = load_suite(str(GIVEN / "leetgpu_scale"), options={**CPU, "cases": "all"})
    text = suite_starter(suite, None)
    assert 'extern "C" void solve(' in text
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed")
    stub = tmp_path / "cuda_runtime.h"
    stub.write_text(
        "#include <cstddef>\n#define __global__\nstruct dim { unsigned x; };\n"
        "extern dim blockIdx, blockDim, threadIdx;\n"
    )
    (tmp_path / "x.cpp").write_text(text.replace("<<<", "; (void)(").replace(">>>", "); (void)"))
    done = subprocess.run(
        ["g++", "-fsyntax-only", "-w", f"-I{tmp_path}", str(tmp_path / "x.cpp")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "def solve(" in suite_starter(suite, "numba")


def test_language_without_returned_tensors_is_refused() -> None:
    suite = load_suite(str(GIVEN / "kernelbench_linear.py"), options=CPU)
    with pytest.raises(UsageError, match="give --lang python, not cuda"):
        suite_starter(suite, "cuda")


def spec(rows: int, result: tuple[int, ...]) -> CaseSpec:
    data = Entries(("x", 2), (Leaf("input0"), Leaf("input1")))
    return CaseSpec(
        "c",
        (
            Buffer("input0", "float32", (rows, 3)),
            Buffer("input1", "int32", (5,)),
            Buffer("result0", "float16", result, "output"),
        ),
        calls=(FunctionCall((data,)),),
        returns=Returned(Items("list", (Leaf("result0"),)), (Form("result0", "float16", result),)),
    )


def test_shape_that_varies_is_an_expression() -> None:
    text = torch_starter([spec(7, (7, 2)), spec(9, (9, 2))], "data", "custom_kernel")
    assert "[torch.zeros((data['x'].shape[0], 2), dtype=torch.float16, device=data['x'].device)]" in text


def test_shape_that_no_input_has_is_refused() -> None:
    with pytest.raises(UsageError, match="dimension 0 of result0 is 14, 19 in the test cases"):
        torch_starter([spec(7, (14,)), spec(9, (19,))], "data", "custom_kernel")


@pytest.mark.parametrize(
    ("rows", "results", "length"),
    [((64, 128), (1, 2), "shape[0] // 64"), ((7, 9), (21, 27), "shape[0] * 3")],
)
def test_shape_that_is_a_part_or_multiple_of_an_input_is_an_expression(
    rows: tuple[int, int], results: tuple[int, int], length: str
) -> None:
    specs = [spec(number, (result,)) for number, result in zip(rows, results, strict=True)]
    assert f"torch.zeros((data['x'].{length},)" in torch_starter(specs, "data", "custom_kernel")


@pytest.mark.full
def test_command_writes_a_starter_for_a_task() -> None:
    words = [sys.executable, "-m", "benchguard", "starter", "examples/gpumode/rowscale"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0 and "def custom_kernel(data):" in done.stdout, done.stderr
    refused = subprocess.run(
        [*words, "--lang", "cuda"], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert (refused.returncode, refused.stderr.count("\n")) == (
        2,
        1,
    ) and "give --lang python" in refused.stderr
