"""GPU MODE's tasks, in the forms that they come in, on a machine without a GPU."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from benchguard.adapters import gpumode_case, load_suite, time_limit
from benchguard.adapters.values import NO_SEED
from benchguard.errors import UsageError
from benchguard.grade.options import GradeOptions
from benchguard.problem.arrays import to_numpy
from benchguard.problem.errors import ProblemError
from benchguard.problem.returned import ReturnedError, replayed_case
from benchguard.problem.spec import Buffer, Form, FunctionCall, Returned, Scalar
from benchguard.problem.suite import ReturningCase, Suite
from benchguard.problem.suite import TestCase as Case
from benchguard.problem.tree import Entries, Items, Leaf, Value
from tests.conftest import ROOT
from tests.unit.adapters.tasks import (
    BARE,
    HARNESS,
    IGNORES,
    IN_PLACE,
    LAYER,
    OVERWRITES,
    PASSES,
    PASSES_YAML,
    RANDOM,
    RETURNS,
    YAML,
    write_task,
)

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


def case_of(folder: Path, reference: str, yaml: str = YAML) -> Case:
    return opened(write_task(folder, reference, yaml), cases="tests").cases[0]


def test_example_task_opened() -> None:
    """check_implementation decides; the file's seeds are replaced."""
    suite = opened(EXAMPLE)
    assert (suite.name, suite.convention, suite.entry) == ("rowscale", "data", "custom_kernel")
    assert set(suite.files) == {"task.py", "utils.py"}
    assert [case.spec.name for case in suite.cases] == ["test.0", "test.1", "benchmark.0"]
    case = suite.cases[0]
    assert roles(case) == [
        ("input0", "input"), ("input1", "input"), ("input2", "scratch"), ("result0", "output")
    ]  # fmt: skip
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
    assert np.allclose(to_numpy(expected["result0"]), right, rtol=1e-5)
    assert case.own_verdict
    assert case.verify(values, on_host(expected), {"result0": right.astype(np.float32)}) is None
    wrong = right.astype(np.float32)
    wrong[2, 5] += 0.01
    reason = case.verify(values, on_host(expected), {"result0": wrong})
    assert reason is not None and "1 elements differ, the first at (2, 5)" in reason


def test_returned_result_and_number(tmp_path: Path) -> None:
    case = case_of(tmp_path, RETURNS)
    assert roles(case) == [
        ("input0", "input"), ("input1", "input"), ("input2", "double"), ("result0", "output")
    ]  # fmt: skip
    assert case.spec.arguments[2] == Scalar("input2", "double", 2.5)
    (call,) = case.spec.calls
    assert call.arguments == (Items("tuple", (Leaf("input0"), Leaf("input1"), Value(2.5))),)
    inputs = case.inputs(3, "own")
    expected = case.expected(inputs)
    right = (to_numpy(inputs["input0"]) + to_numpy(inputs["input1"])) * np.float32(2.5)
    assert np.array_equal(to_numpy(expected["result0"]), right)
    assert case.verify(on_host(inputs), {}, {"result0": right}) is None
    assert case.verify(on_host(inputs), {}, {"result0": right + 1}) == "check_implementation: they differ"


def test_single_tensor_data_opened(tmp_path: Path) -> None:
    """Two results, one of whole numbers; a check that says words alone."""
    suite = opened(write_task(tmp_path, BARE), cases="benchmarks")
    assert [case.name for case in suite.cases] == ["benchmark.0", "benchmark.1"]
    case = suite.cases[1]
    assert roles(case) == [("input0", "input"), ("result0", "output"), ("result1", "output")]
    assert [each.dtype for each in case.spec.buffers] == ["float32", "float32", "int64"]
    assert case.spec.calls[0].arguments == (Leaf("input0"),)
    inputs = case.inputs(5, "own")
    expected = on_host(case.expected(inputs))
    assert expected["result1"] == to_numpy(inputs["input0"]).argmax()
    assert case.verify(on_host(inputs), {}, expected) is None
    expected["result1"] = expected["result1"] + 1
    assert case.verify(on_host(inputs), {}, expected) == "check_implementation: wrong: 1"


def test_uninitialised_memory_is_scratch(tmp_path: Path) -> None:
    """A submission that returns nothing has its results in the memory that the reference returns."""
    case = case_of(tmp_path, IN_PLACE)
    assert roles(case) == [
        ("input0", "input"), ("input1", "input"), ("input2", "scratch"),
        ("result0", "output"), ("result1", "output"),
    ]  # fmt: skip
    assert case.spec.returns is not None
    assert [each.buffer for each in case.spec.returns.results] == ["input1", "input2"]
    inputs = case.inputs(1, "own")
    assert set(inputs) == {"input0", "input1"}
    before = on_host(inputs)
    expected = on_host(case.expected(inputs))
    assert np.array_equal(expected["result0"], before["input0"] + before["input1"])
    assert np.array_equal(expected["result1"], 2 * before["input0"])
    assert case.verify(before, {}, expected) is None


def test_result_of_other_dtype_judged_by_the_check(tmp_path: Path) -> None:
    """The check accepts another dtype than the reference's, and rejects another shape."""
    case = case_of(tmp_path, IGNORES)
    assert roles(case) == [("input0", "input"), ("input1", "scratch"), ("result0", "output")]
    assert case.spec.returns is not None
    assert case.spec.returns.results == (Form("input1", "float32", (8,)),)
    inputs = on_host(case.inputs(1, "own"))
    result = np.cumsum(inputs["input0"]).astype(np.float32)
    check = cast(ReturningCase, case).verify_returned
    assert check(inputs, Leaf("result0"), {"result0": result}) is None
    assert check(inputs, Leaf("result0"), {"result0": result.astype(np.float64)}) is None
    reason = check(inputs, Leaf("result0"), {"result0": result.reshape(8, 1)})
    assert reason == "check_implementation: not the running sum: (8, 1)"
    reason = check(inputs, Items("tuple", (Leaf("result0"),)), {"result0": result})
    assert reason == "check_implementation: AttributeError: 'tuple' object has no attribute 'shape'"


def test_lack_of_memory_is_a_reason_unless_the_reference_lacks_it(tmp_path: Path) -> None:
    """A submission chooses how much memory a check needs, with large integers in a histogram for example."""
    line = "    wanted = ref_kernel(data)\n"
    lacks = "    if max(output.max(), data[0].max()) > 1e6:\n        raise MemoryError('bins')\n"
    case = case_of(tmp_path, IGNORES.replace(line, line + lacks))
    inputs = on_host(case.inputs(1, "own"))
    check = cast(ReturningCase, case).verify_returned
    results = {"result0": np.full(8, 1e7, np.float32)}
    assert "MemoryError: bins" in str(check(inputs, Leaf("result0"), results))
    inputs["input0"] = np.full(8, 1e7, np.float32)
    with pytest.raises(ProblemError, match="bins"):
        check(inputs, Leaf("result0"), results)


def test_broadcasting_check_accepts_an_empty_result(tmp_path: Path) -> None:
    """So the number of elements is fixed before the check is asked (tests/unit/problem/test_returned.py)."""
    broadcasts = BARE.replace(
        "wrong = [str(i) for i in range(2) if not torch.allclose(output[i].double(), expected[i].double())]",
        "wrong = [str(i) for i in range(2) if torch.not_equal(output[i], expected[i]).any()]",
    )
    assert broadcasts != BARE
    case = case_of(tmp_path, broadcasts)
    inputs = case.inputs(3, "own")
    right, nothing = on_host(case.expected(inputs)), np.zeros(0)
    assert case.verify(on_host(inputs), {}, right) is None
    assert case.verify(on_host(inputs), {}, {"result0": nothing, "result1": nothing}) is None
    given = Returned(
        Items("tuple", (Leaf("result0"), Leaf("result1"))), (Form("result0", "float64", (0,)),) * 2
    )
    with pytest.raises(ReturnedError, match=r"returned with shape \[0\]"):
        replayed_case(case.spec, given)


def test_check_over_keys_of_the_output_misses_a_result_whose_key_is_there_twice(tmp_path: Path) -> None:
    """So a dictionary with a key twice is refused before the check is asked (tests/unit/problem/test_returned.py)."""
    reference = """
import torch
def generate_input(size, seed):
    return torch.rand(size, generator=torch.Generator().manual_seed(seed))
def ref_kernel(data):
    return {"double": data * 2, "square": data * data}
def check_implementation(data, output):
    expected = ref_kernel(data)
    return all(torch.equal(output[name], expected[name]) for name in output)
"""
    case = case_of(tmp_path, reference)
    inputs = on_host(case.inputs(3, "own"))
    right = on_host(case.expected(inputs))
    assert case.verify(inputs, {}, right) is None
    assert case.verify(inputs, {}, {**right, "result1": right["result0"]}) is not None
    twice = Entries(("double", "double"), (Leaf("result0"), Leaf("result1")))
    hidden = {"result0": right["result1"], "result1": right["result0"]}
    assert cast(ReturningCase, case).verify_returned(inputs, twice, hidden) is None


def test_nested_data_opened(tmp_path: Path) -> None:
    yaml = YAML.replace('"seed": 1}', '"seed": 1, "masked": False, "kind": "plain"}')
    case = case_of(tmp_path, LAYER, yaml.partition("benchmarks")[0])
    names = ["input0", "input1", "input2_proj_weight", "input2_steps_0", "input2_steps_1_0"]
    assert [name for name, role in roles(case) if role == "input"] == names
    assert case.spec.unseeded == ("input1",) and not case.spec.notes
    (data,) = case.spec.calls[0].arguments
    assert isinstance(data, Items) and data.items[4] == Value(None)
    assert data.items[3] == Entries(("size", "kind", "scale"), (Value(8), Value("plain"), Value(2.0)))
    weights = data.items[2]
    assert isinstance(weights, Entries) and weights.keys == ("proj.weight", "steps")
    assert weights.items[0] == Leaf("input2_proj_weight", kind="parameter")
    inputs = on_host(case.inputs(4, "own"))
    expected = on_host(case.expected(inputs))
    assert case.verify(inputs, {}, expected) is None
    expected["result1"][0] += 1
    assert case.verify(inputs, {}, expected) == "check_implementation: no reason given"


def test_overwritten_input_keeps_strides_and_dtype(tmp_path: Path) -> None:
    case = case_of(tmp_path, OVERWRITES)
    assert [role for _, role in roles(case)] == ["input", "input", "input", "output"]
    a, packed, c = case.spec.read
    assert (a.strides, packed.dtype, c.strides) == ((2, 1, 16), "uint8", (8, 1, 64))
    (data,) = case.spec.calls[0].arguments
    assert isinstance(data, Items) and data.items[1] == Leaf("input1", view="float4_e2m1fn_x2")
    inputs = case.inputs(2, "own")
    assert case.verify(on_host(inputs), {}, on_host(case.expected(inputs))) is None


def test_several_functions_opened(tmp_path: Path) -> None:
    """A tensor that two functions get is one buffer; the harness has the batch size and the functions' names."""
    task = write_task(tmp_path, PASSES, PASSES_YAML)
    (task / "eval.py").write_text(HARNESS)
    suite = opened(task)
    assert (suite.entry, set(suite.files)) == ("distance_forward", set())
    (case,) = suite.cases
    assert [(each.name, each.role, each.shape) for each in case.spec.buffers] == [
        ("input0_0", "input", (6, 5)), ("input0_1", "input", (6,)), ("input1_2", "input", (6,)),
        ("result0", "output", (6,)), ("result1", "output", (6, 5)),
    ]  # fmt: skip
    x, target, scale = Leaf("input0_0"), Leaf("input0_1"), Leaf("input1_2")
    assert case.spec.calls == (
        FunctionCall((x, target), "distance_forward"),
        FunctionCall((x, target, scale), "distance_backward"),
    )
    inputs = on_host(case.inputs(1, "own"))
    expected = on_host(case.expected(inputs))
    assert case.verify(inputs, {}, expected) is None
    expected["result1"][2, 3] += 1
    assert case.verify(inputs, {}, expected) == "check_implementation: distance_backward is wrong by up to 1"
    expected["result0"] = expected["result0"].astype(np.float64)
    reason = case.verify(inputs, {}, expected)
    assert (
        reason is not None and "distance_forward returned torch.float64 [6], not torch.float32 [6]" in reason
    )


def test_inputs_without_a_seed_noted(tmp_path: Path) -> None:
    """A stored result passes such a case, in the suite too; the verdict says so."""
    fixed = BARE.replace(
        'torch.rand(size, device=torch.device("cuda:0"), generator=gen)', "torch.arange(size) / 1"
    )
    case = case_of(tmp_path, fixed)
    assert case.spec.unseeded == ("input0",)
    assert case.spec.notes == (NO_SEED,)


@pytest.mark.parametrize(
    ("drawn", "notes"), [("torch.ones", ["input1 is equal for all seeds"]), ("torch.zeros", [])]
)
def test_input_without_a_seed_beside_another_is_noted(tmp_path: Path, drawn: str, notes: list[str]) -> None:
    """A submission may keep what it computed from it. Zeros are mostly outputs that the task fills."""
    text = RETURNS.replace("torch.randn(size, size, generator=gen).cuda()", f"{drawn}(size, size)")
    case = case_of(tmp_path, text)
    assert case.spec.unseeded == ("input1",)
    assert [note.partition(":")[0] for note in case.spec.notes] == notes


DRAWS_SOMEWHERE = """
from pathlib import Path

import torch
from torch.overrides import _get_current_function_mode_stack
from torch.utils._device import DeviceContext

def generate_input(size, seed):
    on_device = any(isinstance(each, DeviceContext) for each in _get_current_function_mode_stack())
    with Path(__file__).with_name("drawn.txt").open("a") as file:
        file.write("D" if on_device else "H")
    if FAILS and on_device:
        raise RuntimeError("drawn on the device")
    torch.manual_seed(seed)
    return torch.rand(size, 8)

def ref_kernel(data):
    return data * 2

def check_implementation(data, output):
    return torch.equal(output, data * 2), "they differ"
"""


@pytest.mark.parametrize(
    ("bytes_", "fails", "drawn"), [(1, False, "DDDD"), (1, True, "DHDHDHDH"), (1 << 20, False, "DDHHH")]
)
def test_large_inputs_are_drawn_on_the_device_where_the_task_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bytes_: int, fails: bool, drawn: str
) -> None:
    monkeypatch.setattr(gpumode_case, "LARGE_BYTES", bytes_)
    case = case_of(tmp_path, DRAWS_SOMEWHERE.replace("FAILS", str(fails)))
    assert roles(case) == [("input0", "input"), ("result0", "output")]
    assert case.inputs(3, "own")["input0"].shape[1] == 8
    (file,) = tmp_path.rglob("drawn.txt")
    assert file.read_text() == drawn


def test_random_reference_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ProblemError, match=r"does not pass its own check .* operators are random cannot be graded"
    ):
        opened(write_task(tmp_path, RANDOM))


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
        (tmp_path / name / "task_py").mkdir()
        (tmp_path / name / "task_py" / "late.py").write_text(f"VALUE = {value}\n")
        write_task(tmp_path / name, late, yaml)
    one, two = (opened(tmp_path / name / "task_py").cases[0] for name in ("one", "two"))
    inputs = one.inputs(1, "own")
    double = 2 * to_numpy(one.expected(inputs)["result0"])
    assert np.allclose(to_numpy(two.expected(inputs)["result0"]), double)
    assert not {"late", "helpers", "reference"} & set(sys.modules)


def test_torch_generator_stays_a_class(tmp_path: Path) -> None:
    """torch's own modules, imported while a task runs, use torch.Generator in annotations and isinstance."""
    lines = (
        "    import torch, typing\n    typing.Optional[torch.Generator]\n"
        "    assert isinstance(torch.default_generator, torch.Generator)\n"
    )
    case = case_of(
        tmp_path,
        RETURNS.replace("def generate_input(size, seed):\n", f"def generate_input(size, seed):\n{lines}"),
    )
    assert set(case.inputs(1, "own")) == {"input0", "input1"}


def test_submission_import_refused(tmp_path: Path) -> None:
    task = write_task(tmp_path, "from submission import custom_kernel\n" + RETURNS)
    (task / "submission.py").write_text("raise SystemExit(3)\n")
    with pytest.raises(ProblemError, match=r"reference.py:1: .*does not import submissions"):
        opened(task)


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        (RETURNS.replace("def ref_kernel", "def other"), "has no ref_kernel|not defined"),
        (RETURNS.replace("return a, b, 2.5", "return a, {b}, 2.5"), r"in data, \[1\] is a set; give tensors"),
        (RETURNS.replace("return a, b, 2.5", "return a, b, float('inf')"), r"\[2\] is inf, which JSON"),
        (RETURNS.replace("return (a + b) * factor", "return object()"), "result, it is a object; return tensors"),
        (RETURNS.replace("return (a + b) * factor", "1 / 0"), "reference.py:12: the reference .* failed: Zero"),
        (RETURNS.replace("return (a + b) * factor", "return"), "the reference returns no tensor"),
        (RETURNS.replace("(size, size,", "(size + seed % 5, size,", 1), "may not depend on it|must match"),
    ],
)  # fmt: skip
def test_ungradable_task_reported(tmp_path: Path, reference: str, words: str) -> None:
    with pytest.raises(ProblemError, match=words):
        case = opened(write_task(tmp_path, reference)).cases[0]
        for seed in range(8):
            case.inputs(seed, "own")


def test_missing_module_reported_with_its_source_in_the_task_file(tmp_path: Path) -> None:
    """A task that was copied out of its suite without the file that lies above it."""
    task = write_task(tmp_path, RETURNS)
    (tmp_path / "helpers.py").unlink()
    with pytest.raises(
        ProblemError, match=r"task.yml lists ../helpers.py, which does not exist: copy it there"
    ):
        opened(task)


def test_module_beside_the_task_file_opened_where_its_source_is_missing(tmp_path: Path) -> None:
    """A task that was copied out of its suite together with the file that lay above it."""
    task = write_task(tmp_path, RETURNS)
    (tmp_path / "helpers.py").rename(task / "helpers.py")
    assert opened(task).files == {"helpers.py": task / "helpers.py"}


@pytest.mark.parametrize(
    ("yaml", "words"),
    [
        ("files: [", "invalid YAML"),
        ("- 1\n", "holds no mapping"),
        ("files: [1]\n", "files has 1"),
        ('files: [{"name": "../up.py", "source": "reference.py"}]\n', "give a path below the task's folder"),
        ("tests: {}\nbenchmarks: 3\n", "benchmarks must be a list"),
        ("ranked_timeout: soon\n", "ranked_timeout is 'soon'; give a number of seconds"),
        ("ranking_by: best\n", "ranking_by is 'best'; give last, mean, geom"),
        ("gpus: [MI300, MI355X]\n", r"is for AMD's MI300, MI355X \(task.yml\)"),
        ("multi_gpu: true\n", "runs on several GPUs"),
        ("lang: cu\n", r"is in CUDA C\+\+ \(lang: cu\)"),
        ("files:\n  - {name: helpers.py, source: ../helpers.py}\ntests: []\n", "no cases; add one"),
        ("files: !!python/object/apply:os.getcwd []\n", "invalid YAML"),
    ],
)
def test_invalid_task_file_reported(tmp_path: Path, yaml: str, words: str) -> None:
    with pytest.raises(ProblemError, match=words):
        opened(write_task(tmp_path, RETURNS, yaml))


def test_time_limit_is_the_suites(tmp_path: Path) -> None:
    """The three limits that kernelbot has for a ranked submission, of which two are its defaults here."""
    task = write_task(tmp_path, "raise SystemExit(3)\n", YAML + "ranked_timeout: 420\n")
    assert time_limit(str(task)) == time_limit(str(task / "task.yml")) == 180 + 180 + 420
    assert GradeOptions().limited(str(task)).seconds == 780
    assert GradeOptions(timeout=5).limited(str(task)).seconds == 5
    (task / "task.yml").write_text("files: [")
    assert time_limit(str(task)) is None
    assert GradeOptions().limited(str(task / "reference.py")).seconds == 300


def test_amd_task_of_a_competition_refused(tmp_path: Path) -> None:
    """A competition's list above the task says for which GPUs the task is; no code of the task runs."""
    task = write_task(tmp_path, "raise SystemExit(3)\n")
    (tmp_path / "spring.yaml").write_text("problems:\n  - {directory: task_py, gpus: [MI300]}\n")
    with pytest.raises(ProblemError, match=r"is for AMD's MI300 \(spring.yaml\)"):
        opened(task)
    (tmp_path / "spring.yaml").write_text("problems:\n  - {directory: task_py, gpus: [MI300, B200]}\n")
    with pytest.raises(ProblemError, match=r"reference.py:1: importing it failed"):
        opened(task)


def test_invalid_options_refused(tmp_path: Path) -> None:
    task = write_task(tmp_path, RETURNS)
    for options in ({"cases": "some"}, {"distributions": "odd"}, {"device": "tpu"}, {"colour": "red"}):
        with pytest.raises(UsageError):
            opened(task, **options)
    with pytest.raises(UsageError, match=r"task\.yml"):
        load_suite(str(tmp_path / "nowhere"), "gpumode")
    with pytest.raises(UsageError, match="unknown adapter"):
        load_suite(str(task), "tensara")


UNREADY = RETURNS.replace("a = torch.randn", "assert size < 16, 'a benchmark was drawn'\n    a = torch.randn")


def test_smallest_case_is_found_without_the_inputs_of_cases_with_larger_arguments(tmp_path: Path) -> None:
    """Each row of sort_py is drawn by itself: its benchmarks took 20 s, to grade a test."""
    suite = opened(write_task(tmp_path, UNREADY))
    assert suite.smallest.name == "test.0"


@pytest.mark.parametrize(
    ("tests", "smallest"),
    [
        ("[{size: 9, seed: 1}, {size: 8, seed: 2}, {size: 8, seed: 1}]", "test.1"),
        ("[{size: 8, wide: 4, seed: 1}, {size: 4, wide: 1, seed: 1}, {size: 2, wide: 9, seed: 1}]", "test.1"),
        ("[{size: 8, wide: 2, seed: 1}, {size: 9, wide: 1, seed: 1}]", "test.1"),
        ("[{size: 4, wide: 2.5, seed: 1}, {size: 2, wide: 3.5, seed: 1}]", "test.1"),
        ("[{size: 8, wide: true, seed: 1}, {size: 7, wide: false, seed: 1}]", "test.1"),
    ],
)
def test_smallest_case_is_the_one_with_the_fewest_bytes(tmp_path: Path, tests: str, smallest: str) -> None:
    reference = RETURNS.replace("(size, seed)", "(size, seed, wide=1)").replace(
        "size, size", "size, int(wide)"
    )
    yaml = YAML[: YAML.index("tests:")] + f"tests: {tests}\n"
    suite = opened(write_task(tmp_path, reference, yaml))
    assert suite.smallest.name == smallest == min(suite.cases, key=lambda case: case.input_bytes).name
