"""Problems as others write them, graded on the CPU driver: the examples, and a model in KernelBench's form."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import benchguard
import benchguard.grade.grade as grades
from benchguard.grade.progress import GradeProgress
from tests.conftest import ROOT

pytest.importorskip("numba_cuda", reason="comes with the extra examples")
pytest.importorskip("torch", reason="comes with the extra torch")

EXAMPLES = ROOT / "examples"
TRIES = 3
LATE = "after the end event"
"""A machine that is busy with other things is late with everything, the CPU driver's device too."""

ISOLATED = """
import json, sys
import benchguard as pygpubench
from grayscale import generate_test_case

result = pygpubench.do_bench_isolated(sys.argv[1], generate_test_case, {"size": 48}, 6, 5, driver="sim")
print(json.dumps([result.success, result.errors, result.time_us, result.grade.submission.entry]))
"""
MODEL_NEW = """
import numba.cuda
import numpy as np

@numba.cuda.jit
def clamp(x, weight, bias, low, out):
    row, column = numba.cuda.grid(2)
    if row < out.shape[0] and column < out.shape[1]:
        total = bias[column]
        for inner in range(x.shape[1]):
            total += x[row, inner] * weight[column, inner]
        out[row, column] = max(total, low)

class ModelNew:
    '''Without torch, which does not run on the CPU driver: its state is device memory that it is given.'''

    def __init__(self, inputs, outputs, low):
        self.low = np.float32(low)
        self.weight = numba.cuda.device_array((outputs, inputs), np.float32)
        self.bias = numba.cuda.device_array(outputs, np.float32)
        self.out = numba.cuda.device_array((8, outputs), np.float32)

    def state_dict(self):
        return {"linear.weight": Parameter(self.weight), "linear.bias": Parameter(self.bias)}

    def __call__(self, x):
        clamp[(1, 1), (8, 12)](x, self.weight, self.bias, self.low, self.out)
        return self.out

class Parameter:
    def __init__(self, array):
        self.array, self.shape = array, array.shape

    def copy_(self, other):
        self.array.copy_to_device(numba.cuda.as_cuda_array(other))
"""


MEANS = """
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        return x.mean(dim=1)

def get_inputs():
    return [1 + 0.02 * torch.rand(2, 1 << 14)]

def get_init_inputs():
    return []
"""
"""Its answers differ by less than KernelBench's tolerance, which is 9 standard deviations wide."""

MEAN_TASK = """
files:
  - {"name": "submission.py", "source": "@SUBMISSION@"}
  - {"name": "reference.py", "source": "reference.py"}
lang: "py"
description: "the mean"
config: {"main": "eval.py"}
tests: [{"n": 65536, "seed": 1}]
"""
MEAN_REFERENCE = """
import torch

def generate_input(n, seed):
    return 1 + 0.03 * torch.rand(n, generator=torch.Generator().manual_seed(seed))

def ref_kernel(x):
    return x.mean().reshape(1)

def check_implementation(data, output):
    return torch.allclose(output.cpu(), ref_kernel(data), rtol=1e-3), "different"
"""
MEAN_SUBMISSION = """
import numba.cuda
import numpy as np

@numba.cuda.jit
def store(x, out):
    total = np.float32(0)
    for place in range(x.shape[0]):
        total += x[place]
    out[0] = MEAN

made = []

def custom_kernel(x):
    made or made.append(numba.cuda.device_array(1, np.float32))
    store[1, 1](x, made[0])
    return made[0]
"""

OWN_MEANS = """
import numba.cuda
import numpy as np

@numba.cuda.jit
def clear(out):
    out[numba.cuda.threadIdx.x] = 0

@numba.cuda.jit
def add(x, out):
    row, total = numba.cuda.blockIdx.x, np.float32(0)
    for column in range(numba.cuda.threadIdx.x, x.shape[1], 64):
        total += x[row, column]
    numba.cuda.atomic.add(out, row, total / np.float32(x.shape[1]))

@numba.cuda.jit
def store(out):
    out[numba.cuda.threadIdx.x] = 1.01

class ModelNew:
    def __init__(self):
        self.out = numba.cuda.device_array(2, np.float32)

    def __call__(self, x):
        if READS_INPUTS:
            clear[1, 2](self.out)
            add[2, 64](x, self.out)
        else:
            store[1, 2](self.out)
        return self.out
"""

TASK_FILES = {
    "task.yml": """
files:
  - {"name": "submission.py", "source": "@SUBMISSION@"}
  - {"name": "task.py", "source": "task.py"}
  - {"name": "reference.py", "source": "reference.py"}
tests: [{"size": 40, "seed": 1}]
benchmarks: [{"size": 64, "seed": 2}]
ranking_by: geom
""",
    "task.py": "FACTOR = 3.0\n",
    "reference.py": """
import torch
from task import FACTOR

def generate_input(size, seed):
    gen = torch.Generator(device="cuda").manual_seed(seed)
    x = torch.randn(size, device="cuda", generator=gen)
    layer = {"weight": torch.rand(size, device="cuda", generator=gen), "kind": "scaled", "bias": None}
    return [x, layer], torch.empty(size, device="cuda")

def ref_kernel(data):
    (x, layer), room = data
    assert layer["kind"] == "scaled" and layer["bias"] is None
    out = FACTOR * x.double() * layer["weight"]
    return {"out": out, "positive": (x > 0).sum()}

def check_implementation(data, output):
    wanted = ref_kernel(data)
    wrong = torch.not_equal(output["positive"], wanted["positive"]).count_nonzero()
    return torch.allclose(output["out"].double(), wanted["out"], atol=1e-5) and not wrong, f"wrong: {wrong}"
""",
}
TASK_SUBMISSION = """
import numba.cuda
import numpy as np
from task import FACTOR

try:
    import reference
except ImportError:
    reference = None
assert reference is None, "the reference is within reach"

@numba.cuda.jit
def scale(x, weight, out, positive):
    place = numba.cuda.grid(1)
    if place < x.shape[0]:
        out[place] = np.float32(FACTOR) * x[place] * weight[place]
        if x[place] > 0:
            numba.cuda.atomic.add(positive, 0, 1)

@numba.cuda.jit
def clear(positive):
    positive[0] = 0

def custom_kernel(data):
    (x, layer), room = data
    assert layer["kind"] == "scaled" and layer["bias"] is None
    pairs = numba.cuda.device_array((x.shape[0], 2), np.float32)
    positive = numba.cuda.device_array(1, np.int32)
    clear[1, 1](positive)
    scale[2, 32](*map(numba.cuda.as_cuda_array, (x, layer["weight"])), pairs[:, 1], positive)
    return {"positive": positive, "out": pairs[:, 1]}
"""
NOTHING = """
class Nothing:
    __cuda_array_interface__ = {"shape": (0,), "typestr": "<i4", "data": (0, False), "strides": None, "version": 3}

honest = custom_kernel

def custom_kernel(data):
    return {**honest(data), "positive": Nothing()}
"""
"""An attack on checks that broadcast: nothing differs from a number nowhere. The honest submission is its control."""


def run(folder: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )


def grade(folder: Path, problem: Path, submission: Path, *options: str) -> tuple[int, dict[str, Any]]:
    words = ("grade", problem, submission, "--driver", "sim", "--samples", "7", "--quiet", "--json", "-")
    for _ in range(TRIES):
        outcome = run(folder, "-m", "benchguard", *words, *options)
        assert outcome.stdout, outcome.stderr
        if LATE not in outcome.stdout:
            break
    return outcome.returncode, json.loads(outcome.stdout)


@pytest.mark.timeout(300)
def test_gpu_mode_task_is_observed(native: Path, tmp_path: Path) -> None:
    assert (native / "sim").is_dir()
    folder = EXAMPLES / "gpumode"
    status, result = grade(tmp_path, folder / "rowscale", folder / "submission.py", "--case", "test.0")
    assert (status, result["verdict"], result["reason"]) == (0, "pass", "")
    assert [case["name"] for case in result["cases"]] == ["test.0"]
    wrong = tmp_path / "submission.py"
    text = (folder / "submission.py").read_text()
    wrong.write_text(text.replace("weights[row]", "weights[0]"))
    status, result = grade(tmp_path, folder / "rowscale", wrong, "--case", "test.0")
    assert (status, result["verdict"]) == (1, "wrong")
    assert "check_implementation" in result["reason"]
    done = run(
        tmp_path, "-m", "benchguard", "grade", folder / "rowscale", wrong, "--driver", "sim", "--inline"
    )
    assert done.returncode == 2 and "this problem's own check decides" in done.stderr


@pytest.mark.timeout(300)
def test_tests_of_a_ranked_task_are_sampled_in_one_process(
    native: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert native
    monkeypatch.setattr(grades, "SIM_PLACEMENTS", 2)
    task, cases = EXAMPLES / "gpumode", ("test.0", "benchmark.0")
    for _ in range(
        5
    ):  # few samples on one-use inputs may make the time, and then no process has five of them
        result = grades.grade(
            task / "rowscale", task / "submission.py", driver="sim", samples=60, cases=cases
        )
        assert result.verdict == "pass", result.reason
        assert result.cases[0].placements is None
        assert result.settings is not None and result.settings.processes == 2
        if result.cases[1].placements is not None:
            break
    assert result.cases[1].placements is not None


@pytest.mark.timeout(300)
def test_time_of_a_ranked_task_s_test_is_not_tested(native: Path) -> None:
    assert native
    task, cases = EXAMPLES / "gpumode", ("test.0", "benchmark.0")
    result = grades.grade(task / "rowscale", task / "submission.py", driver="sim", cases=cases)
    assert result.verdict == "pass", result.reason
    test, benchmark = result.cases
    assert test.inputs is not None and benchmark.inputs is not None
    assert (test.inputs.sets, test.inputs.one_use) == (4, 2)
    assert (benchmark.inputs.sets, benchmark.inputs.one_use) == (20, 12)
    assert not test.evidence and {each.check for each in benchmark.evidence} >= {"calls in a row"}
    alone = grades.grade(task / "rowscale", task / "submission.py", driver="sim", cases=("test.0",), sets=5)
    assert alone.cases[0].inputs is not None and alone.cases[0].inputs.sets == 17 and alone.cases[0].evidence


@pytest.mark.timeout(600)
def test_gpu_mode_results_of_any_form_are_checked(native: Path, tmp_path: Path) -> None:
    """Other dtypes and shapes than the reference's, gaps, a dictionary, memory of data left unused."""
    assert (native / "sim").is_dir()
    problem, submission = tmp_path / "task", tmp_path / "submission.py"
    problem.mkdir()
    for name, text in TASK_FILES.items():
        (problem / name).write_text(text)
    submission.write_text(TASK_SUBMISSION)
    both = ("--case", "test.0", "--case", "benchmark.0")
    status, result = grade(tmp_path, problem, submission, *both)
    assert (status, result["verdict"], result["reason"]) == (0, "pass", "")
    case = result["cases"][1]
    times = case["scored_samples"] or case["samples"]
    assert result["score_s"] == pytest.approx(sum(times) / len(times) / 1e6)
    forms = result["cases"][0]["returned"]["results"]
    assert [(each["dtype"], each["shape"], each["strides"]) for each in forms] == [
        ("float32", [40], [2]), ("int32", [1], None)
    ]  # fmt: skip
    submission.write_text(TASK_SUBMISSION + NOTHING)
    status, result = grade(tmp_path, problem, submission, "--case", "test.0")
    assert (status, result["verdict"]) == (65, "failed")
    assert "returned with shape [0]; the reference's has []" in result["reason"]


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("name", "right"), [("kernel", True), ("wrong_kernel", False)])
def test_pygpubench_test_gives_its_verdict(native: Path, name: str, right: bool) -> None:
    """By the name and the call that its users know."""
    assert (native / "sim").is_dir()
    for _ in range(TRIES):
        outcome = run(EXAMPLES / "pygpubench", "-c", ISOLATED, f"submission.{name}")
        if LATE not in outcome.stderr:
            break
    assert outcome.returncode == 0, outcome.stderr
    success, errors, times, entry = json.loads(outcome.stdout)
    assert (success, errors > 0, entry) == (right, not right, name)
    assert len(times) == 6 and all(time > 0 for time in times)


@pytest.mark.timeout(300)
def test_kernelbench_model_is_observed(native: Path, tmp_path: Path) -> None:
    """Weights are given, since what draws them, torch, cannot run here."""
    assert (native / "sim").is_dir()
    problem = ROOT / "tests" / "unit" / "adapters" / "given" / "kernelbench_linear.py"
    submission = tmp_path / "submission.py"
    submission.write_text(MODEL_NEW)
    status, result = grade(tmp_path, problem, submission, "--adapter-option", "weights=given")
    assert (status, result["verdict"], result["reason"]) == (0, "pass", "")
    submission.write_text(MODEL_NEW.replace("max(total, low)", "total"))
    status, result = grade(tmp_path, problem, submission, "--adapter-option", "weights=given")
    assert (status, result["verdict"]) == (1, "wrong")


TRANSPOSED = """numba.cuda.device_array((8, outputs), np.float32, order="F")"""
GAPS = """numba.cuda.device_array((8, 2 * outputs), np.float32)[:, ::2]"""


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("mean", "verdict"), [("total / x.shape[0]", "pass"), ("1.015", "unproven")])
def test_gpu_mode_check_that_accepts_a_stored_answer_is_noted(
    native: Path, tmp_path: Path, mean: str, verdict: str
) -> None:
    assert (native / "sim").is_dir()
    task, submission = tmp_path / "task", tmp_path / "submission.py"
    task.mkdir()
    (task / "task.yml").write_text(MEAN_TASK)
    (task / "reference.py").write_text(MEAN_REFERENCE)
    submission.write_text(MEAN_SUBMISSION.replace("MEAN", mean))
    # All sets, also on a busy machine: with 10 of them, a constant for one number is found in 92 of 100 grades.
    _, result = grade(tmp_path, task, submission, "--case", "test.0", "--sets", "9")
    assert result["verdict"] == verdict, result["reason"]
    assert any("a kernel that reads no input could pass" in each for each in result["cases"][0]["notes"])


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("reads_inputs", "verdict"), [(True, "pass"), (False, "wrong")])
def test_kernelbench_answer_within_the_tolerance_of_all_sets_must_be_computed(
    native: Path, tmp_path: Path, reads_inputs: bool, verdict: str
) -> None:
    assert (native / "sim").is_dir()
    problem, submission = tmp_path / "means.py", tmp_path / "model_new.py"
    problem.write_text(MEANS)
    submission.write_text(OWN_MEANS.replace("READS_INPUTS", str(reads_inputs)))
    _, result = grade(tmp_path, problem, submission)
    assert result["verdict"] == verdict, result["reason"]
    assert any("would pass under the problem's" in each for each in result["cases"][0]["notes"])


@pytest.mark.timeout(300)
@pytest.mark.parametrize("memory", [TRANSPOSED, GAPS], ids=["transposed", "gaps"])
def test_kernelbench_output_of_other_strides_is_compared_by_elements(
    native: Path, tmp_path: Path, memory: str
) -> None:
    """As a channels-last convolution returns its result. Control: the same strides with wrong elements."""
    assert (native / "sim").is_dir()
    problem = ROOT / "tests" / "unit" / "adapters" / "given" / "kernelbench_linear.py"
    submission = tmp_path / "submission.py"
    strided = MODEL_NEW.replace("numba.cuda.device_array((8, outputs), np.float32)", memory)
    assert strided != MODEL_NEW
    submission.write_text(strided)
    status, result = grade(tmp_path, problem, submission, "--adapter-option", "weights=given")
    assert (status, result["verdict"], result["reason"]) == (0, "pass", "")
    if memory == TRANSPOSED:
        return
    submission.write_text(strided.replace("max(total, low)", "max(total, low) + (row == 7) * (column == 11)"))
    status, result = grade(tmp_path, problem, submission, "--adapter-option", "weights=given")
    assert (status, result["verdict"]) == (1, "wrong")


WAITS = """
import os, time

for _ in range(600):
    if os.path.exists(MARK):
        break
    time.sleep(0.1)
else:
    raise RuntimeError("the submission was not imported meanwhile")
"""


def test_submission_is_imported_while_the_task_of_another_suite_is_opened(
    tmp_path: Path, native: Path
) -> None:
    """Both import torch. The task's code waits until the import has begun."""
    assert native
    mark, task = tmp_path / "mark", tmp_path / "task"
    task.mkdir()
    (task / "task.yml").write_text(MEAN_TASK)
    (task / "reference.py").write_text(f"MARK = {str(mark)!r}\n{WAITS}{MEAN_REFERENCE}")
    (tmp_path / "submission.py").write_text(MEAN_SUBMISSION.replace("MEAN", "total / x.shape[0]"))

    def note(progress: GradeProgress) -> None:
        if progress.phase == "import":
            mark.write_text("")

    result = benchguard.grade(task, tmp_path / "submission.py", driver="sim", samples=5, progress=note)
    assert mark.exists() and result.verdict in {"pass", "wrong"}, result.reason
