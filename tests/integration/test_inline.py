"""`grade --inline` on the CPU driver: all cases, the timed kernels in the result, options that act on them."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest

import benchguard
from benchguard.errors import UsageError
from benchguard.findings import analyse_log
from benchguard.grade.grade import grade
from benchguard.grade.options import GradeOptions
from benchguard.grade.result import GradeResult
from benchguard.inline.result import GUARDS
from tests.conftest import ROOT
from tests.integration.option_runs import PTX, TASK

PROBLEMS = ROOT / "examples" / "problems"
SUBMISSIONS = PROBLEMS / "submissions"
NEED_A_GPU = ("torch_eager.py", "triton_kernel.py")
RUNNABLE = sorted(
    str(path.relative_to(SUBMISSIONS))
    for path in SUBMISSIONS.glob("*/*")
    if path.suffix in (".cu", ".ptx", ".py") and path.name not in NEED_A_GPU
)
SAMPLES = 4
OPTIONS = GradeOptions(driver="sim", inline=True, samples=SAMPLES, timeout=280)
pytestmark = pytest.mark.usefixtures("native")

CALL = """
import ctypes

cuda = ctypes.CDLL("libcuda.so.1")
calls, module = [0], ctypes.c_uint64()
kernel = ctypes.c_uint64()


def launch(a, b, c, n):
    if not kernel:
        assert cuda.cuModuleLoadData(ctypes.byref(module), PTX) == 0
        assert cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"solution") == 0
    values = [ctypes.c_uint64(each.data_ptr()) for each in (a, b, c)] + [ctypes.c_uint64(n)]
    places = (ctypes.c_void_p * 4)(*(ctypes.addressof(each) for each in values))
    assert cuda.cuLaunchKernel(kernel, -(-n // 256), 1, 1, 256, 1, 1, 0, None, places, None) == 0


def solution(a, b, c, n):
    calls[0] += 1
"""


HOST_FUNCTION = """
callback = ctypes.cast(ctypes.CDLL(None).getpid, ctypes.c_void_p)
"""
CASES = ("one", "two")


def written(folder: Path, body: str) -> tuple[str, Path]:
    """A problem with the cases CASES, and a submission whose solution() ends with `body`."""
    (folder / "task").mkdir()
    problem = folder / "task" / "problem.py"
    problem.write_text(TASK)
    submission = folder / "submission.py"
    submission.write_text(f"PTX = {PTX.read_bytes() + bytes(1)!r}\n{CALL}    {body}\n")
    return str(problem), submission


CHECKED = """
import numpy as np
from benchguard.problem.problem import Problem

class Checked(Problem):
    parameters = (
        {"name": "x", "type": "float", "pointer": True, "const": True},
        {"name": "y", "type": "float", "pointer": True, "const": False},
    )
    tolerances = TOLERANCES

    def __init__(self):
        super().__init__("checked")

    def reference_solution(self, x):
        return x

    def verify_result(self, expected, actual):
        return np.array_equal(expected, actual), {}

    def generate_test_cases(self):
        def make():
            return (np.random.default_rng(self.get_seed("x")).random(256, np.float32),)
        return [{"name": "small", "create_inputs": make}]
"""


@pytest.mark.parametrize("tolerances", ["None", "(1e-2, 1e-2)"])
def test_problem_with_a_check_of_its_own_is_refused(tmp_path: Path, tolerances: str) -> None:
    """Outputs are compared on the device, by tolerances, which a check of the problem's own may be stricter than."""
    problem, submission = tmp_path / "checked.py", tmp_path / "submission.py"
    problem.write_text(CHECKED.replace("TOLERANCES", tolerances))
    submission.write_text("def solution(x, y): pass\n")
    with pytest.raises(UsageError, match="this problem's own check decides"):
        grade(str(problem), submission, OPTIONS)


def assert_whole_pass(result: GradeResult) -> None:
    assert (result.verdict, result.reason, result.trust) == ("pass", "", "inline"), result.output
    assert not any(GUARDS[1] in note or GUARDS[2] in note for note in result.notes)
    for case in result.cases:
        assert case.checks is not None and (case.checks.samples, case.checks.wrong) == (SAMPLES + 1, 0)
        assert len(case.samples) == SAMPLES
        assert case.kernels and all(len(each.image_sha256) == 64 for each in case.kernels)
        assert sum(each.share for each in case.kernels) == pytest.approx(1)


def skip_without_tools(submission: Path) -> None:
    if submission.suffix == ".cu" and shutil.which("nvcc") is None:
        pytest.skip("nvcc is not installed")
    if submission.name.startswith("numba"):
        pytest.importorskip("numba_cuda")


@pytest.mark.parametrize(
    "name",
    [
        "vector_add/kernel.ptx",
        "grayscale/numba_kernel.py",
        "argmax/cuda.cu",
        "adam/cuda.cu",
        "prefix_sum/cuda.cu",
    ],
)
def test_example_passes_inline(name: str) -> None:
    """PTX, Python and CUDA C++; one output, several, in place, several launches."""
    submission = SUBMISSIONS / name
    skip_without_tools(submission)
    result = grade(PROBLEMS / f"{submission.parent.name}.py", submission, OPTIONS, cases=("small",))
    assert_whole_pass(result)


@pytest.mark.nightly
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", RUNNABLE)
def test_every_example_passes_inline_in_all_cases(name: str) -> None:
    submission = SUBMISSIONS / name
    skip_without_tools(submission)
    result = grade(
        PROBLEMS / f"{submission.parent.name}.py", submission, OPTIONS, cases=("small", "large"), timeout=800
    )
    assert [case.name for case in result.cases] == ["small", "large"]
    assert_whole_pass(result)


def test_kernels_of_each_case_are_those_of_its_samples(tmp_path: Path) -> None:
    """Launches in warm-up calls and of other cases do not count; launches are per call."""
    problem, submission = written(tmp_path, "[launch(a, b, c, n) for _ in range(3 if n == 100 else 1)]")
    submission.write_text(
        submission.read_text() + "    if calls[0] <= 2:\n        launch(a, b, c, 1000 * 256)\n"
    )
    result = grade(problem, submission, OPTIONS, cases=CASES, keep=tmp_path / "kept")
    assert_whole_pass(result)
    assert analyse_log(tmp_path / "kept" / "audit.jsonl").above_info() == []
    assert [[(each.name, each.launches, each.grid) for each in case.kernels] for case in result.cases] == [
        [("solution", 3, (1, 1, 1))],
        [("solution", 1, (1, 1, 1))],
    ]
    assert [case.sample_launches for case in result.cases] == [(3,) * SAMPLES, (1,) * SAMPLES]
    assert not any("kernels each" in note for case in result.cases for note in case.notes)


def test_samples_are_windows_of_the_log_and_their_launches_are_in_the_result(tmp_path: Path) -> None:
    """Every second call launches twice."""
    problem, submission = written(tmp_path, "[launch(a, b, c, n) for _ in range(1 + calls[0] % 2)]")
    result = grade(problem, submission, OPTIONS, cases=("one",), keep=tmp_path / "kept")
    assert_whole_pass(result)
    (case,) = result.cases
    assert sorted(case.sample_launches) == [1, 1, 2, 2] and case.sample_launches[0] == case.sample_launches[2]
    assert "the samples launch 1 to 2 kernels each, by the audit log" in case.notes
    report = analyse_log(tmp_path / "kept" / "audit.jsonl")
    assert report.windows == SAMPLES + 1  # one more than the result's: the first has no time
    assert [finding.id for finding in report.above_info()] == ["fewer-kernels"]


@pytest.mark.parametrize(("policy", "code"), [(None, 800), ("observe", 0)])
def test_host_callback_in_a_sample_is_denied_by_default(
    tmp_path: Path, policy: str | None, code: int
) -> None:
    body = 'launch(a, b, c, n); print("returned", cuda.cuLaunchHostFunc(None, callback, None))'
    problem, submission = written(tmp_path, body)
    submission.write_text(submission.read_text() + HOST_FUNCTION)
    result = grade(problem, submission, OPTIONS, cases=("one",), policy=policy)
    codes = {line.split()[1] for line in result.output.splitlines() if line.startswith("returned")}
    assert codes == {str(code)}, result.output
    assert_whole_pass(result)


def test_profiler_is_denied_in_samples_and_not_in_warm_up(tmp_path: Path) -> None:
    """The phase that the runner marks decides."""
    problem, submission = written(tmp_path, 'launch(a, b, c, n); print("returned", cuda.cuProfilerStart())')
    result = grade(problem, submission, OPTIONS, cases=("one",), keep=tmp_path / "kept")
    assert_whole_pass(result)
    codes = [line.split()[1] for line in result.output.splitlines() if line.startswith("returned")]
    warm_up = codes.index("800")
    assert warm_up >= 2 and set(codes[:warm_up]) == {"0"} and set(codes[warm_up:]) == {"800"}
    lines = [
        line for line in benchguard.read_log(tmp_path / "kept" / "audit.jsonl") if line["kind"] == "phase"
    ]
    runner = [line["phase"] for line in lines if line["label"] == "case 0"]
    assert runner == ["warm-up", "timing"]
    assert {line["phase"] for line in lines if "sample" in line["label"]} == {"timing"}


@pytest.mark.parametrize(
    ("changes", "verdict", "words"),
    [
        ({"forbid_library": ("sol*",)}, "violation", "forbidden by 'sol*'"),
        ({"forbid_library": ("libcublas*",)}, "pass", ""),
        ({"allow_images": ("libcublas*",)}, "violation", "is not allowed"),
        ({"allow_images": (hashlib.sha256(PTX.read_bytes() + bytes(1)).hexdigest(),)}, "pass", ""),
    ],
)
def test_library_options_act_inline(
    tmp_path: Path, changes: dict[str, tuple[str, ...]], verdict: str, words: str
) -> None:
    problem, submission = written(tmp_path, "launch(a, b, c, n)")
    result = grade(problem, submission, OPTIONS, cases=("one",), **changes)
    assert result.verdict == verdict and words in result.reason, result.reason


def test_library_options_do_not_pass_work_without_a_traced_launch(tmp_path: Path) -> None:
    """The submission computes on the host and copies: no kernel can be held against the pattern."""
    body = "import numpy; host = [numpy.empty(n, numpy.float32) for _ in range(2)]"
    copies = (
        "[cuda.cuMemcpyDtoH_v2(ctypes.c_void_p(to.ctypes.data), ctypes.c_uint64(each.data_ptr()), 4 * n) "
        "for to, each in zip(host, (a, b))]; total = host[0] + host[1]; "
        "cuda.cuMemcpyHtoD_v2(ctypes.c_uint64(c.data_ptr()), ctypes.c_void_p(total.ctypes.data), 4 * n)"
    )
    problem, submission = written(tmp_path, f"{body}; {copies}")
    assert grade(problem, submission, OPTIONS, cases=("one",)).verdict == "pass"
    result = grade(problem, submission, OPTIONS, cases=("one",), forbid_library=("libcublas*",))
    assert result.verdict == "failed" and "no launch" in result.reason


def test_wrong_answer_is_wrong_inline(tmp_path: Path) -> None:
    problem, submission = written(tmp_path, "pass")
    result = grade(problem, submission, OPTIONS, cases=CASES)
    assert [case.verdict for case in result.cases] == ["wrong", "wrong"]
    assert "5 of 5 outputs are wrong" in result.reason
